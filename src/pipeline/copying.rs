//! Reads a collection once more, for its records as they came.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::in_pool;
use super::ordered::{self, Work};
use crate::document::{Content, Document};
use crate::error::Error;
use crate::read::{Cutter, Input, InputFormat, Piece, Stream};
use crate::settings::Settings;

/// How records are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Byte for byte as they came; of plain text files, their names.
    AsTheyCame,
    /// As a JSON object a line.
    Json,
}

/// Calls `each` with every record that could be used, in input order, as when the
/// collection was read before: its number among them, and its bytes.
pub fn copy_documents(
    inputs: Vec<Input>,
    settings: &Settings,
    chosen: Chosen,
    mut each: impl FnMut(usize, InputFormat, &[u8]) -> Result<(), Error> + Send,
) -> Result<usize, Error> {
    let taken = Arc::new(AtomicU64::new(0));
    let lanes = inputs.into_iter().map(|input| {
        let cutter = Cutter::new(input.name(), &settings.read);
        (Stream::new(input, &taken), cutter)
    });
    let mut count = 0;
    let mut failed = None;
    in_pool(settings, || {
        let copying = Copying { settings, chosen };
        ordered::in_order(&copying, lanes, |records: Records| {
            let mut start = 0;
            for end in records.ends {
                let result = each(count, records.format, &records.bytes[start..end]);
                start = end;
                count += 1;
                if let Err(error) = result {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        Ok(())
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(count),
    }
}

struct Copying<'a> {
    settings: &'a Settings,
    chosen: Chosen,
}

/// The records of a block.
struct Records {
    format: InputFormat,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Work for Copying<'_> {
    type Source = Stream;
    type Joint = Cutter;
    type Piece = Piece;
    type Scratch = ();
    type Output = Records;

    fn take(&self, stream: &mut Stream, piece: &mut Piece) -> bool {
        stream.next(piece)
    }

    fn prepare(&self, piece: &mut Piece) {
        piece.unpack();
    }

    fn join(&self, cutter: &mut Cutter, piece: &mut Piece) -> ControlFlow<()> {
        cutter.cut(piece);
        match cutter.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn scratch(&self) {}

    fn work(&self, piece: &mut Piece, (): &mut (), give: &mut dyn FnMut(Records)) {
        for block in piece.blocks() {
            let mut records = Records {
                format: block.format,
                bytes: Vec::with_capacity(block.bytes.len()),
                ends: Vec::new(),
            };
            block.documents(&self.settings.read, &mut |document| {
                // What is wrong with the others was said when they were read before.
                if let Ok(document) = document {
                    self.append(block.format, &document, &mut records.bytes);
                    records.ends.push(records.bytes.len());
                }
            });
            give(records);
        }
    }

    fn bytes(records: &Records) -> usize {
        records.bytes.len()
    }
}

impl Copying<'_> {
    fn append(&self, format: InputFormat, document: &Document<'_>, bytes: &mut Vec<u8>) {
        match (self.chosen, format) {
            (Chosen::AsTheyCame, InputFormat::Text) => {
                bytes.extend_from_slice(document.url.as_bytes());
                bytes.push(b'\n');
            }
            (Chosen::AsTheyCame, _) | (Chosen::Json, InputFormat::Jsonl) => {
                bytes.extend_from_slice(document.record);
            }
            (Chosen::Json, _) => {
                let mut object = serde_json::Map::new();
                object.insert("url".into(), document.url.as_ref().into());
                let text = match &document.content {
                    Content::Text(text) => text.as_ref().into(),
                    Content::Items(items) => items.iter().map(AsRef::as_ref).collect(),
                };
                object.insert("text".into(), text);
                bytes.extend_from_slice(serde_json::Value::Object(object).to_string().as_bytes());
                bytes.push(b'\n');
            }
        }
    }
}
