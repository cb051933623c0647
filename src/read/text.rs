//! A file is a document, its path the id.

use super::blocks::Block;
use super::content::content;
use super::format::{Cut, Format, Head, without_bom};
use super::{RECORD_BYTES_MAX, ReadSettings, utf8};
use crate::document::Document;
use crate::error::{Error, ErrorKind};

pub(super) struct Text;

impl Format for Text {
    fn cut(&self, bytes: &[u8], ended: bool, _: &Head) -> Cut {
        if ended && bytes.len() <= RECORD_BYTES_MAX {
            Cut {
                bytes: bytes.len(),
                records: 1,
                ..Cut::default()
            }
        } else {
            Cut::default()
        }
    }

    fn record_end(&self) -> Option<u8> {
        None
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        each(block.bytes);
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        let text = without_bom(block.bytes);
        let bom = block.bytes.len() - text.len();
        each(
            utf8::text(text)
                .map_err(|byte| (bom + byte, ErrorKind::Utf8))
                .and_then(|text| content(text, settings).map_err(|kind| (bom, kind)))
                .map(|content| Document {
                    url: block.file.to_string().into(),
                    content,
                    record: block.bytes,
                    value: None,
                })
                .map_err(|(byte, kind)| block.error(0, byte, kind)),
        );
    }
}
