//! Reads a collection once more, for its records as they came.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::in_pool;
use super::ordered::{self, Work};
use crate::document::{Content, Document};
use crate::error::Error;
use crate::read::{Block, Cutter, Input, InputFormat, Piece, Stream};
use crate::settings::Settings;

/// How records are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Byte for byte as they came; of plain text files, their names.
    AsTheyCame,
    /// As a JSON object a line.
    Json,
}

/// Records that were kept when a collection was first read.
#[derive(Debug)]
pub struct KeptRecords {
    chosen: Chosen,
    /// In input order; `None` if they do not fit into memory.
    blocks: Option<Vec<Records>>,
    bytes_left: u64,
}

impl KeptRecords {
    /// Keeps so much.
    pub(super) fn new(chosen: Chosen, bytes_max: u64) -> Self {
        Self {
            chosen,
            blocks: Some(Vec::new()),
            bytes_left: bytes_max,
        }
    }

    pub(super) fn chosen(&self) -> Chosen {
        self.chosen
    }

    pub(super) fn add(&mut self, records: Records) {
        match self.bytes_left.checked_sub(records.bytes.len() as u64) {
            Some(left) => self.bytes_left = left,
            None => self.blocks = None,
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.push(records);
        }
    }
}

/// Calls `each` with every record that could be used, in input order, as when the
/// collection was read before: its number among them, and its bytes. If they were all
/// `kept` then, nothing is read.
pub fn copy_documents(
    inputs: Vec<Input>,
    settings: &Settings,
    chosen: Chosen,
    kept: Option<KeptRecords>,
    mut each: impl FnMut(usize, InputFormat, &[u8]) -> Result<(), Error> + Send,
) -> Result<usize, Error> {
    if let Some(blocks) = kept.and_then(|kept| kept.blocks) {
        let mut count = 0;
        for records in blocks {
            for record in records.iter() {
                each(count, records.format, record)?;
                count += 1;
            }
        }
        return Ok(count);
    }
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
            for record in records.iter() {
                let result = each(count, records.format, record);
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
#[derive(Debug)]
pub(super) struct Records {
    format: InputFormat,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Records {
    pub(super) fn new(block: &Block<'_>) -> Self {
        Self {
            format: block.format,
            bytes: Vec::with_capacity(block.bytes.len()),
            ends: Vec::new(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.bytes[start..end])
    }

    /// Adds a document's record.
    pub(super) fn push(&mut self, chosen: Chosen, document: &Document<'_>) {
        let bytes = &mut self.bytes;
        match (chosen, self.format) {
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
        self.ends.push(self.bytes.len());
    }
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
            let mut records = Records::new(&block);
            block.documents(&self.settings.read, &mut |document| {
                // What is wrong with the others was said when they were read before.
                if let Ok(document) = document {
                    records.push(self.chosen, &document);
                }
            });
            give(records);
        }
    }

    fn bytes(records: &Records) -> usize {
        records.bytes.len()
    }
}
