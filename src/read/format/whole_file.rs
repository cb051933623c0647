//! A file is a document, its path the id.

use super::content::content;
use crate::document::Document;
use crate::document::RECORD_BYTES_MAX;
use crate::error::{Error, ErrorKind};
use crate::read::ReadSettings;
use crate::read::cut::blocks::Block;
use crate::read::format::{Cut, Format, Head, without_bom};
use crate::read::text::encoding;
use crate::read::text::encoding::{InputEncoding, encoding_of_damaged};

pub(in crate::read) struct Text;

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
        let result = block
            .text(text, settings)
            .or_else(|_| {
                let found = match bom {
                    0 => encoding_of_damaged(text, settings.encoding, false),
                    _ => InputEncoding::by_utf8_mark(text),
                };
                encoding::text(text, found, settings.encoding)
            })
            .map_err(|byte| (bom + byte, ErrorKind::Utf8))
            .and_then(|decoded| {
                let notes = decoded.notes(block.first_byte + bom as u64);
                let content = content(decoded.text, settings).map_err(|kind| (bom, kind))?;
                Ok(Document {
                    record: block.bytes,
                    notes,
                    ..Document::new(block.file.to_string(), content)
                })
            })
            .map_err(|(byte, kind)| block.error(0, byte, kind));
        each(result);
    }
}
