//! A line is a document, its place (`file:line`) the id. The cutting at line
//! ends serves JSONL too.

use memchr::{memchr, memchr_iter, memrchr};

use super::ReadSettings;
use super::block::Block;
use super::format::{Cut, Format, without_bom};
use super::items::content;
use crate::document::Document;
use crate::error::{Error, ErrorKind};

pub(super) struct Lines;

impl Format for Lines {
    fn cut(&self, bytes: &[u8], ended: bool) -> Cut {
        cut_at_line_end(bytes, ended)
    }

    fn record_end(&self) -> Option<u8> {
        Some(b'\n')
    }

    fn documents<'a>(
        &self,
        block: &'a Block,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'a>, Error>),
    ) {
        for_each_line(block, |record, start, line| {
            each(
                std::str::from_utf8(line)
                    .map_err(|_| ErrorKind::Utf8)
                    .and_then(|line| content(line.into(), settings))
                    .map(|content| Document {
                        url: block.place_id(record).into(),
                        content,
                    })
                    .map_err(|kind| block.error(record, start, kind)),
            );
        });
    }
}

pub(super) fn cut_at_line_end(bytes: &[u8], ended: bool) -> Cut {
    let whole = if ended {
        bytes.len()
    } else {
        memrchr(b'\n', bytes).map_or(0, |end| end + 1)
    };
    let last_is_open = whole > 0 && bytes[whole - 1] != b'\n';
    Cut {
        bytes: whole,
        records: memchr_iter(b'\n', &bytes[..whole]).count() as u64 + u64::from(last_is_open),
        end: None,
    }
}

/// Calls `each` with the number of the line in the block, where it starts, and
/// the line without its end.
pub(super) fn for_each_line<'a>(block: &'a Block, mut each: impl FnMut(u64, usize, &'a [u8])) {
    let mut start = 0;
    let mut record = 0;
    while start < block.bytes.len() {
        let rest = &block.bytes[start..];
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let mut line = &rest[..length];
        if block.first_byte == 0 && start == 0 {
            line = without_bom(line);
        }
        each(record, start, line.strip_suffix(b"\r").unwrap_or(line));
        start += length + 1;
        record += 1;
    }
}
