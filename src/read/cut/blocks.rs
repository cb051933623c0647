//! Pieces of an input on their way from reading to documents, and the blocks of
//! whole records that they are cut into.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::buffer::{Buffer, huge_bytes};
use crate::document::{Document, TextNotes};
use crate::error::{Error, ErrorKind, Place};
use crate::read::ReadSettings;
use crate::read::format::content::are_pages;
use crate::read::format::{Head, InputFormat};
use crate::read::open::compression::gzip;
use crate::read::open::compression::gzip::{Chunk, Gunzip};
use crate::read::text::encoding;
use crate::read::text::encoding::{Decoded, InputEncoding};

/// Part of an input. Made to be filled again and again, so that its buffers are
/// allocated once.
#[derive(Debug, Default)]
pub struct Piece {
    pub(in crate::read) content: Buffer,
    /// What the content is unpacked from, or is to be.
    pub(in crate::read) packed: Option<Chunk>,
    /// The state behind it, if it was unpacked apart from other pieces.
    pub(in crate::read) apart: Option<Gunzip>,
    /// Kept for when it is needed again.
    pub(in crate::read) spare: Chunk,
    /// What starts with this piece, if something does.
    pub(in crate::read) start: Option<Start>,
    /// How that ends behind this piece, if it does.
    pub(in crate::read) end: Option<End>,
    pub(in crate::read) blocks: Blocks,
    pub(in crate::read) window_bytes: u64,
    /// A file of a directory that has no text, and is left out.
    pub passed_over: bool,
    /// The input could not be read as it came, and was kept first.
    pub(crate) kept_first: bool,
    /// What happened behind the last of the blocks.
    pub problem: Option<Error>,
}

/// An input, or a member of one, that starts.
#[derive(Debug)]
pub(in crate::read) struct Start {
    pub(in crate::read) name: Arc<str>,
    /// The format, where it is known without looking.
    pub(in crate::read) format: Option<InputFormat>,
    /// The encoding, where it is known.
    pub(in crate::read) encoding: Option<InputEncoding>,
    /// How all of it is read.
    pub(in crate::read) notes: TextNotes,
    /// A command makes the text of a file that is not empty.
    pub(in crate::read) is_printed: bool,
    /// Nobody named it: it was found in a directory, or in an archive.
    pub(in crate::read) is_found: bool,
    /// Only what is in it counts, if it is an archive.
    pub(in crate::read) if_archive: bool,
    /// Others may follow.
    pub(in crate::read) is_member: bool,
    /// Records and bytes of the file before it, if it is a part of one.
    pub(in crate::read) first_record: u64,
    pub(in crate::read) first_byte: u64,
}

/// How an input ends.
#[derive(Debug)]
pub(in crate::read) enum End {
    /// Nothing follows.
    Whole,
    /// It could not be opened.
    Unopened(io::Error),
    /// It could not be read on.
    Unreadable(io::Error),
    /// It could not be unpacked.
    Damaged(io::Error),
    /// It is of no use.
    Refused(ErrorKind),
}

/// The blocks of a piece, by what they have in common and by what they have not.
#[derive(Debug)]
pub(in crate::read) struct Blocks {
    pub(in crate::read) file: Arc<str>,
    pub(in crate::read) format: InputFormat,
    pub(in crate::read) encoding: InputEncoding,
    pub(in crate::read) notes: TextNotes,
    pub(in crate::read) is_printed: bool,
    pub(in crate::read) head: Arc<Head>,
    pub(in crate::read) spans: Vec<Span>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            file: "".into(),
            format: InputFormat::Text,
            encoding: InputEncoding::default(),
            notes: TextNotes::default(),
            is_printed: false,
            head: Arc::default(),
            spans: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(in crate::read) struct Span {
    pub(in crate::read) bytes: Range<usize>,
    pub(in crate::read) first_record: u64,
    pub(in crate::read) first_byte: u64,
}

impl Piece {
    /// Unpacks what can be unpacked apart from other pieces. Any thread may do it.
    pub(crate) fn unpack(&mut self) {
        if let Some(chunk) = &self.packed {
            self.apart = gzip::unpack_whole(chunk, &mut self.content);
        }
    }

    /// The blocks that the piece was cut into.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..).map_while(|index| self.block(index))
    }

    /// One of them.
    pub fn block(&self, index: usize) -> Option<Block<'_>> {
        let span = self.blocks.spans.get(index)?;
        let Blocks {
            file,
            format,
            encoding,
            notes,
            is_printed,
            head,
            ..
        } = &self.blocks;
        Some(Block {
            bytes: &self.content.bytes[span.bytes.clone()],
            file,
            format: *format,
            encoding: *encoding,
            notes: *notes,
            is_printed: *is_printed,
            head,
            first_record: span.first_record,
            first_byte: span.first_byte,
        })
    }

    /// Bytes of its content that are more than is usual: those of a huge record.
    pub fn huge_bytes(&self) -> usize {
        huge_bytes(self.content.end)
    }

    /// The largest window that the input's compression has looked back through so far.
    pub fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Empties the piece, to be filled anew. A piece that is to wait does not keep the
    /// memory of a huge record.
    pub(crate) fn clear(&mut self) {
        self.content.clear();
        if let Some(chunk) = self.packed.take() {
            self.spare = chunk;
        }
        self.apart = None;
        self.start = None;
        self.end = None;
        self.passed_over = false;
        self.kept_first = false;
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
    /// The encoding of its lines.
    pub(crate) encoding: InputEncoding,
    /// How all of it was read.
    pub(in crate::read) notes: TextNotes,
    /// A command made it of a file that is not empty.
    pub(crate) is_printed: bool,
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
        let is_told = self.format.tells_html() || (self.format.has_fields() && are_pages(settings));
        let html = settings.html.filter(|_| !is_told);
        let notes = match self.format.is_text() {
            true => self.notes,
            false => TextNotes {
                suspect: None,
                ..self.notes
            },
        };
        if html.is_none() && notes == TextNotes::default() {
            return rules.documents(self, settings, each);
        }
        rules.documents(self, settings, &mut |document| {
            each(document.map(|document| {
                let document = match html {
                    Some(html) => html.in_document(document, &settings.page),
                    None => document,
                };
                Document {
                    notes: notes.or(document.notes),
                    ..document
                }
            }));
        });
    }

    /// The text that some bytes of the block are, or where they are none.
    pub(in crate::read) fn text<'b>(
        &self,
        bytes: &'b [u8],
        settings: &ReadSettings,
    ) -> Result<Decoded<'b>, usize> {
        encoding::text(bytes, self.encoding, settings.encoding)
    }

    /// The block's records in order, as they came: as many as [`Block::documents`] gives.
    pub fn records(&self, each: &mut dyn FnMut(&[u8])) {
        self.format.rules().records(self, each);
    }

    /// Records of the block that are well, but no documents: the number of each in its input, from
    /// 1, and what it is.
    pub fn passed_over(&self, each: &mut dyn FnMut(u64, &'static str)) {
        let rules = self.format.rules();
        rules.passed_over(self, &mut |number, what| {
            each(self.first_record + number + 1, what);
        });
    }

    /// An error in the block's `record`th record (from 0), at `byte` of the block.
    pub(in crate::read) fn error(&self, record: u64, byte: usize, kind: ErrorKind) -> Error {
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
    pub(in crate::read) fn place_id(&self, record: u64) -> String {
        format!("{}:{}", self.file, self.first_record + record + 1)
    }
}
