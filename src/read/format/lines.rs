//! A line is a document, its place (`file:line`) the id. The cutting at line
//! ends serves JSONL too.

use memchr::{memchr, memchr_iter};

use super::content::content;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::read::cut::blocks::Block;
use crate::read::format::{Cut, Format, Head, without_bom};
use crate::read::{BLOCK_RECORDS_MAX, ReadSettings};

pub(in crate::read) struct Lines;

impl Format for Lines {
    fn cut(&self, bytes: &[u8], ended: bool, _: &Head) -> Cut {
        cut_at_line_end(bytes, ended)
    }

    fn record_end(&self) -> Option<u8> {
        Some(b'\n')
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        for_each_line(block, |line| each(line.whole));
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        for_each_line(
            block,
            |Line {
                 record,
                 start,
                 text,
                 whole,
             }| {
                each(match block.text(text, settings) {
                    Ok(decoded) => {
                        let notes = decoded.notes(block.first_byte + start as u64);
                        content(decoded.text, settings)
                            .map(|content| Document {
                                record: whole,
                                number: record,
                                notes,
                                ..Document::new(block.place_id(record), content)
                            })
                            .map_err(|kind| block.error(record, start, kind))
                    }
                    Err(byte) => Err(block.error(record, start + byte, ErrorKind::Utf8)),
                });
            },
        );
    }
}

/// All whole lines, or as many as a block may have.
pub(in crate::read) fn cut_at_line_end(bytes: &[u8], ended: bool) -> Cut {
    let mut cut = Cut::default();
    for end in memchr_iter(b'\n', bytes).take(BLOCK_RECORDS_MAX as usize) {
        cut.bytes = end + 1;
        cut.records += 1;
    }
    if ended && cut.records < BLOCK_RECORDS_MAX && cut.bytes < bytes.len() {
        cut.bytes = bytes.len();
        cut.records += 1;
    }
    cut
}

/// A line of a block.
pub(in crate::read) struct Line<'a> {
    /// Its number in the block.
    pub(in crate::read) record: u64,
    /// Where its text starts in the block.
    pub(in crate::read) start: usize,
    /// The line without its end, and without a byte order mark.
    pub(in crate::read) text: &'a [u8],
    /// All of it.
    pub(in crate::read) whole: &'a [u8],
}

/// Calls `each` with every line.
pub(in crate::read) fn for_each_line<'a>(block: &Block<'a>, mut each: impl FnMut(Line<'a>)) {
    let mut start = 0;
    let mut record = 0;
    while start < block.bytes.len() {
        let rest = &block.bytes[start..];
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let whole = &rest[..length];
        let line = match block.first_byte == 0 && start == 0 {
            true => without_bom(whole),
            false => whole,
        };
        let behind_bom = start + whole.len() - line.len();
        each(Line {
            record,
            start: behind_bom,
            text: line.strip_suffix(b"\r").unwrap_or(line),
            whole: &rest[..rest.len().min(length + 1)],
        });
        start += length + 1;
        record += 1;
    }
}
