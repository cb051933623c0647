//! Parts of a collection, each read by itself, for those who put them together elsewhere: what
//! is made of the shingles of each document, and later some of the documents once more. A
//! document is known by its ordinal among those of its part, whatever its id.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::floor::Purpose;
use super::folders::Folders;
use super::in_pool;
use super::ordered::{self, WaitingMax, Work};
use super::reading::{Digest, Ids, Reading, Wants};
use super::records::{RecordBlock, RecordForm};
use crate::document::{Content, Document, FieldValue};
use crate::error::Error;
use crate::observer::Observer;
use crate::read::{self, Block, Cutter, Head, Input, InputFormat, Piece, Stream, field_text};
use crate::settings::{PartyBy, Settings};
use crate::shingle::Shingle;
use crate::stats::Stats;

/// Makes something of each document. Each thread has one.
pub(crate) trait Maker: Send {
    /// What is made.
    type Made: Send;

    /// Makes it; the document may have no shingle.
    fn make(&mut self, document: &Document<'_>, shingles: &[Shingle]) -> Self::Made;

    /// About how much memory it takes.
    fn bytes(made: &Self::Made) -> usize;
}

/// What a maker has made of the documents of a block.
struct Making<M: Maker> {
    maker: M,
    made: Vec<M::Made>,
}

impl<M: Maker> Digest for Making<M> {
    type Output = Vec<M::Made>;

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        self.made.push(self.maker.make(document, shingles));
    }

    fn take(&mut self) -> Vec<M::Made> {
        std::mem::take(&mut self.made)
    }

    fn bytes(made: &Vec<M::Made>) -> usize {
        made.iter().map(M::bytes).sum()
    }
}

/// Reads a part, and gives what is made of each document to `each`, in input order. Ids may come
/// again: whether they do is not for one part to tell. Returns what was read, in numbers.
pub(crate) fn make_of_each<M: Maker>(
    inputs: Vec<Input>,
    templates: Vec<Input>,
    settings: &Settings,
    observer: &dyn Observer,
    maker: impl Fn() -> M + Sync,
    mut each: impl FnMut(M::Made) + Send,
) -> Result<Stats, Error> {
    let wants = Wants {
        others: true,
        ids: Ids::Passed,
        ..Wants::default()
    };
    let mut reading = Reading::new(settings, observer, wants, Purpose::Sketches);
    in_pool(settings, || {
        reading.take_out(templates)?;
        let digest = || Making {
            maker: maker(),
            made: Vec::new(),
        };
        reading.read(inputs, digest, |_, made| {
            made.into_iter().for_each(&mut each);
            ControlFlow::Continue(())
        })?;
        Ok(reading.into_stats())
    })
}

/// What is wanted of documents that are read once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Their texts.
    Contents,
    /// Their records, as they are written.
    Records,
}

/// A document that is read once more.
pub(crate) struct DocumentAgain<'a> {
    pub(crate) ordinal: u64,
    pub(crate) url: &'a str,
    /// As a list, if it is one of items.
    pub(crate) texts: &'a [String],
    /// Characters in all of them.
    pub(crate) length: u64,
    pub(crate) value: Option<&'a FieldValue>,
    pub(crate) party: Option<&'a str>,
    /// The record, or nothing.
    pub(crate) record: &'a [u8],
    /// Its number in its file, from 1.
    pub(crate) record_number: u64,
    pub(crate) file: &'a str,
    pub(crate) format: InputFormat,
    /// Its file has nothing in it.
    pub(crate) is_blank: bool,
    pub(crate) head: &'a Arc<Head>,
}

/// Reads a part once more, as [`make_of_each`] read it, and gives all documents to `each` in
/// input order.
pub(crate) fn read_again(
    inputs: Vec<Input>,
    settings: &Settings,
    again: Again,
    mut each: impl FnMut(DocumentAgain<'_>) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let taken = Arc::new(AtomicU64::new(0));
    let mut result = Ok(());
    let mut ordinal = 0;
    let mut give = |batch: &Batch| {
        let mut start = 0;
        for (index, document) in batch.documents.iter().enumerate() {
            let end = batch.records.end(index);
            each(DocumentAgain {
                ordinal,
                url: &document.url,
                texts: &document.texts,
                length: document.length,
                value: document.value.as_ref(),
                party: document.party.as_deref(),
                record: batch.records.between(start, end),
                record_number: document.number,
                file: batch.records.file(),
                format: batch.records.format(),
                is_blank: batch.records.is_blank(),
                head: batch.records.head(),
            })?;
            start = end;
            ordinal += 1;
        }
        Ok(())
    };
    let folders = match settings.party_by {
        Some(PartyBy::Folder(_)) => Folders::new(&inputs),
        _ => Folders::default(),
    };
    in_pool(settings, || {
        let lanes = read::open(inputs, &settings.read, &taken);
        let reading = ReadingAgain {
            settings,
            again,
            folders,
        };
        let waiting_max = WaitingMax::of(settings.memory().bytes);
        ordered::in_order(&reading, waiting_max, lanes, |batch: Batch| {
            result = give(&batch);
            super::unless_failed(&result)
        });
        Ok(())
    })?;
    result
}

struct ReadingAgain<'a> {
    settings: &'a Settings,
    again: Again,
    folders: Folders,
}

/// The documents of a block.
struct Batch {
    documents: Vec<Kept>,
    records: RecordBlock,
}

#[derive(Default)]
struct Kept {
    url: Box<str>,
    number: u64,
    texts: Vec<String>,
    length: u64,
    value: Option<FieldValue>,
    party: Option<Box<str>>,
}

impl ReadingAgain<'_> {
    fn batch(&self, block: &Block<'_>) -> Batch {
        let mut batch = Batch {
            documents: Vec::new(),
            records: RecordBlock::new(block),
        };
        block.documents(&self.settings.read, &mut |document| {
            // What is wrong with some was said when they were read before.
            let Ok(document) = document else {
                return;
            };
            match self.again {
                Again::Records => {
                    let form = RecordForm::AsTheyCame;
                    batch.records.push(form, Some(&document));
                    batch.documents.push(Kept::default());
                }
                Again::Contents => {
                    batch.records.push(RecordForm::AsTheyCame, None);
                    let number = block.first_record + document.number + 1;
                    batch.documents.push(Kept {
                        number,
                        ..self.kept(block, document)
                    });
                }
            }
        });
        batch
    }

    fn kept(&self, block: &Block<'_>, document: Document<'_>) -> Kept {
        let length = document.length();
        let party = match &self.settings.party_by {
            Some(PartyBy::Field(_)) => document.party.as_ref().map(field_text).map(Into::into),
            Some(PartyBy::Folder(level)) => self.folders.of(block.file, *level).map(Into::into),
            // These are known from the id.
            Some(PartyBy::Host | PartyBy::Pattern(_)) | None => None,
        };
        Kept {
            url: document.url.as_ref().into(),
            texts: match document.content {
                Content::Text(text) => vec![text.into_owned()],
                Content::Items(items) => items.into_iter().map(Into::into).collect(),
            },
            length,
            value: document.value,
            party,
            number: 0,
        }
    }
}

impl Work for ReadingAgain<'_> {
    type Source = Stream;
    type Joint = Cutter;
    type Piece = Piece;
    type Scratch = ();
    type Output = Batch;

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

    fn work(&self, piece: &mut Piece, (): &mut (), give: &mut dyn FnMut(Batch)) {
        for block in piece.blocks() {
            give(self.batch(&block));
        }
        piece.clear();
    }

    fn bytes(batch: &Batch) -> usize {
        let of_one = |kept: &Kept| kept.texts.iter().map(String::len).sum::<usize>();
        batch.records.bytes() + batch.documents.iter().map(of_one).sum::<usize>()
    }

    fn piece_bytes(&self, piece: &Piece) -> usize {
        2 * piece.huge_bytes()
    }

    fn joint_bytes(&self, cutter: &Cutter) -> usize {
        cutter.huge_bytes()
    }
}
