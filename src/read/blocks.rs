//! Pieces of an input on their way from reading to documents, and the blocks of
//! whole records that they are cut into.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::ReadSettings;
use super::buffer::Buffer;
use super::format::{Head, InputFormat};
use super::gzip::{self, Chunk, Gunzip};
use crate::document::Document;
use crate::error::{Error, ErrorKind, Place};

/// Part of an input. Made to be filled again and again, so that its buffers are
/// allocated once.
#[derive(Debug, Default)]
pub struct Piece {
    pub(super) content: Buffer,
    /// What the content is unpacked from, or is to be.
    pub(super) packed: Option<Chunk>,
    /// The state behind it, if it was unpacked apart from other pieces.
    pub(super) apart: Option<Gunzip>,
    /// Kept for when it is needed again.
    pub(super) spare: Chunk,
    /// How the input ends behind this piece, if it does.
    pub(super) end: Option<End>,
    /// The format, if it is the stream that knows it.
    pub(super) format: Option<InputFormat>,
    pub(super) blocks: Blocks,
    /// What happened behind the last of the blocks.
    pub problem: Option<Error>,
}

/// How an input ends.
#[derive(Debug)]
pub(super) enum End {
    /// Nothing follows.
    Whole,
    /// It could not be opened.
    Unopened(io::Error),
    /// It could not be read on.
    Unreadable(io::Error),
    /// It could not be unpacked.
    Damaged(io::Error),
    /// It is not what it seems.
    Unfit(ErrorKind),
}

/// The blocks of a piece, by what they have in common and by what they have not.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) file: Arc<str>,
    pub(super) format: InputFormat,
    pub(super) head: Arc<Head>,
    pub(super) spans: Vec<Span>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            file: "".into(),
            format: InputFormat::Text,
            head: Arc::default(),
            spans: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Span {
    pub(super) bytes: Range<usize>,
    pub(super) first_record: u64,
    pub(super) first_byte: u64,
}

impl Piece {
    /// Unpacks what can be unpacked apart from other pieces. Any thread may do it.
    pub fn unpack(&mut self) {
        if let Some(chunk) = &self.packed {
            self.apart = gzip::unpack_whole(chunk, &mut self.content);
        }
    }

    /// The blocks that the piece was cut into.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let Blocks {
            file,
            format,
            head,
            spans,
        } = &self.blocks;
        spans.iter().map(|span| Block {
            bytes: &self.content.bytes[span.bytes.clone()],
            file,
            format: *format,
            head,
            first_record: span.first_record,
            first_byte: span.first_byte,
        })
    }

    /// Empties the piece, to be filled anew. A piece that is to wait does not keep the
    /// memory of a huge record.
    pub fn clear(&mut self) {
        self.content.clear();
        if let Some(chunk) = self.packed.take() {
            self.spare = chunk;
        }
        self.apart = None;
        self.end = None;
        self.format = None;
        self.blocks.spans.clear();
        self.problem = None;
    }
}

/// Whole records of one input, with their place in it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The records' bytes, back to back.
    pub bytes: &'a [u8],
    /// The input's name.
    pub file: &'a Arc<str>,
    /// The format of the records.
    pub format: InputFormat,
    /// What stands before the first record of the input.
    pub(crate) head: &'a Arc<Head>,
    /// Records of this input before the block.
    pub first_record: u64,
    /// Bytes of this input before the block.
    pub first_byte: u64,
}

impl Block<'_> {
    /// The block's records in order, each a document or what is wrong with it.
    pub fn documents(
        &self,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        let rules = self.format.rules();
        match settings.html {
            Some(html) if !self.format.tells_html() => {
                rules.documents(self, settings, &mut |document| {
                    each(document.map(|document| html.in_document(document)));
                });
            }
            _ => rules.documents(self, settings, each),
        }
    }

    /// The block's records in order, as they came: as many as [`Block::documents`] gives.
    pub fn records(&self, each: &mut dyn FnMut(&[u8])) {
        self.format.rules().records(self, each);
    }

    /// Records of the block that are well, but no documents.
    pub(crate) fn passed_over(&self) -> u64 {
        self.format.rules().passed_over(self)
    }

    /// An error in the block's `record`th record (from 0), at `byte` of the block.
    pub(super) fn error(&self, record: u64, byte: usize, kind: ErrorKind) -> Error {
        Error {
            place: Place {
                file: Arc::clone(self.file),
                record: Some(self.first_record + record + 1),
                byte: Some(self.first_byte + byte as u64),
            },
            kind,
        }
    }

    /// The id of a record that has none of its own: its place.
    pub(super) fn place_id(&self, record: u64) -> String {
        format!("{}:{}", self.file, self.first_record + record + 1)
    }
}
