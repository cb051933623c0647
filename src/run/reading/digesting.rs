//! How blocks of records become batches: documents are shingled and digested, by all threads.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::batch::{Batch, BatchDocument, Form, value_bytes};
use super::{Digest, Known, Wants, Written};
use crate::collection::{SeenRecord, UrlHasher};
use crate::document::{Content, Document};
use crate::error::{Error, ErrorKind};
use crate::read::{Block, Cutter, InputEncoding, Piece, Stream, field_text};
use crate::run::floor::Counted;
use crate::run::folders::Folders;
use crate::run::ordered::Work;
use crate::run::records::RecordBlock;
use crate::run::sample::Drawn;
use crate::settings::PartyBy;
use crate::settings::Settings;
use crate::shingle::Template;
use crate::shingle::{Shingler, Shingles};

/// Memory for each byte that stands before the first record: as it was read, as it is kept, and
/// the names in it, each with its place.
const HEAD_COPIES: u64 = 8;

/// How blocks become digests.
pub(super) struct Digesting<'a, D, M> {
    pub(super) settings: &'a Settings,
    pub(super) template: &'a Template,
    pub(super) known: Option<Known<'a>>,
    /// The inputs in whose folders documents are, if folders make parties.
    pub(super) folders: Folders,
    pub(super) shingler: Box<dyn Shingler>,
    /// Makes a thread's digest.
    pub(super) digest: M,
    pub(super) url_hasher: UrlHasher,
    pub(super) wants: Wants,
    pub(super) taken: &'a AtomicU64,
    /// The largest window of all inputs so far.
    pub(super) window_bytes: &'a AtomicU64,
    /// What is known of the documents that are drawn.
    pub(super) sample_bound: &'a AtomicU64,
    pub(super) output: PhantomData<fn() -> D>,
}

/// A piece and the time it took.
#[derive(Default)]
pub(super) struct TimedPiece {
    piece: Piece,
    reading: Duration,
}

/// What a thread needs to digest blocks.
pub(super) struct Scratch<D> {
    digest: D,
    shingles: Shingles,
}

impl<D: Digest, M: Fn() -> D + Sync> Work for Digesting<'_, D, M> {
    type Source = Stream;
    type Joint = Cutter;
    type Piece = TimedPiece;
    type Scratch = Scratch<D>;
    type Output = Batch<D::Output>;

    fn take(&self, stream: &mut Stream, TimedPiece { piece, reading }: &mut TimedPiece) -> bool {
        let started = Instant::now();
        let taken = stream.next(piece);
        self.window_bytes
            .fetch_max(piece.window_bytes(), Ordering::Relaxed);
        *reading = started.elapsed();
        taken
    }

    fn prepare(&self, TimedPiece { piece, reading }: &mut TimedPiece) {
        let started = Instant::now();
        piece.unpack();
        *reading += started.elapsed();
    }

    fn join(
        &self,
        cutter: &mut Cutter,
        TimedPiece { piece, reading }: &mut TimedPiece,
    ) -> ControlFlow<()> {
        let started = Instant::now();
        cutter.cut(piece);
        *reading += started.elapsed();
        match cutter.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn scratch(&self) -> Scratch<D> {
        Scratch {
            digest: (self.digest)(),
            shingles: Shingles::default(),
        }
    }

    fn work(
        &self,
        TimedPiece { piece, reading }: &mut TimedPiece,
        scratch: &mut Scratch<D>,
        give: &mut dyn FnMut(Batch<D::Output>),
    ) {
        let problem = piece.problem.take();
        let kept_first = u64::from(piece.kept_first);
        let mut index = 0;
        while let Some(block) = piece.block(index) {
            let batch = self.batch(&block, scratch);
            index += 1;
            if piece.block(index).is_none() {
                // What a huge record took is given back before what is left of it waits.
                piece.clear();
                scratch.shingles.trim();
            }
            give(Batch {
                reading: std::mem::take(reading),
                ..batch
            });
        }
        if problem.is_some() || piece.passed_over || kept_first > 0 {
            let too_long = match problem.as_ref().map(|error| &error.kind) {
                Some(ErrorKind::TooLong(bytes)) => *bytes,
                _ => 0,
            };
            give(Batch {
                counted: Counted {
                    other_bytes_max: too_long,
                    ..Counted::default()
                },
                kept_first,
                problems: problem.into_iter().collect(),
                passed_over: u64::from(piece.passed_over),
                input_bytes: self.taken.load(Ordering::Relaxed),
                reading: std::mem::take(reading),
                ..Batch::default()
            });
        }
        piece.clear();
    }

    fn bytes(batch: &Batch<D::Output>) -> usize {
        batch.digest.as_ref().map_or(0, D::bytes)
            + batch.urls.len()
            + size_of_val(&batch.documents[..])
            + size_of_val(&batch.seen[..])
            + size_of_val(&batch.others[..])
            + size_of_val(&batch.lengths[..])
            + batch.records.as_ref().map_or(0, RecordBlock::bytes)
            + batch.drawn.iter().map(Drawn::bytes).sum::<usize>()
            + batch.values.iter().map(value_bytes).sum::<usize>()
            + batch.problems.iter().map(Error::bytes).sum::<usize>()
            + size_of_val(&batch.parties[..])
            + batch
                .parties
                .iter()
                .flatten()
                .map(|party| party.len())
                .sum::<usize>()
    }

    fn piece_bytes(&self, TimedPiece { piece, .. }: &TimedPiece) -> usize {
        piece.huge_bytes() * (1 + self.settings.shingle.bytes_per_byte())
    }

    fn joint_bytes(&self, cutter: &Cutter) -> usize {
        cutter.huge_bytes()
    }
}

impl<D: Digest, M> Digesting<'_, D, M> {
    fn batch(&self, block: &Block<'_>, scratch: &mut Scratch<D>) -> Batch<D::Output> {
        let started = Instant::now();
        let Scratch { digest, shingles } = scratch;
        let wants = self.wants;
        let has_others = wants.records || wants.others;
        let has_file =
            has_others || wants.files || matches!(self.settings.party_by, Some(PartyBy::Folder(_)));
        let mut batch = Batch {
            file: has_file.then(|| Arc::clone(block.file)),
            records: wants.kept.map(|_| RecordBlock::new(block)),
            form: (wants.written != Written::Otherwise && !block.bytes.is_empty()).then(|| Form {
                format: block.format,
                head: Arc::clone(block.head),
                file: Arc::clone(block.file),
                is_transcoded: block.encoding == InputEncoding::Transcoded,
            }),
            record_bytes: block.bytes.len() as u64,
            format: Some(block.format.name()),
            input_bytes: self.taken.load(Ordering::Relaxed),
            ..Batch::default()
        };
        block.passed_over(&mut |number, what| {
            batch.passed_over_records += 1;
            if has_others {
                batch.others.push((number, what));
            }
        });
        block.documents(&self.settings.read, &mut |document| {
            if let (Some(records), Some(form)) = (&mut batch.records, wants.kept) {
                records.push(form, document.as_ref().ok());
            }
            if wants.records {
                batch.seen.push(SeenRecord::new(block, &document));
            }
            batch.counted.records += 1;
            match document {
                Ok(document) => {
                    batch.fields |= document.fields;
                    batch.texts.add(document.notes, block.file);
                    if block.is_printed {
                        let is_silent = match &document.content {
                            Content::Text(text) => text.trim().is_empty(),
                            Content::Items(items) => items.is_empty(),
                        };
                        batch.texts.add_printed(is_silent, block.file);
                    }
                    let is_left_out = self.settings.words.is_some()
                        && !self
                            .settings
                            .words
                            .admit(shingles.count_words(&document.content));
                    match is_left_out {
                        true => shingles.clear(),
                        false => self.shingler.shingle(&document.content, shingles),
                    }
                    batch.counted.record(document.record, shingles);
                    let mut is_template = false;
                    if !self.template.is_empty() && !shingles.as_slice().is_empty() {
                        shingles.retain(|shingle| !self.template.contains(&shingle));
                        is_template = shingles.as_slice().is_empty();
                    }
                    if let Some(party_by) = &self.settings.party_by {
                        batch.parties.push(self.party(party_by, block, &document));
                    }
                    let is_known = match self.known.map(|known| known.ids.has(&document.url)) {
                        None => false,
                        Some(Ok(is_known)) => is_known,
                        Some(Err(error)) => {
                            batch.problems.push(error);
                            false
                        }
                    };
                    digest.document(&document, shingles.as_slice());
                    batch.urls.push_str(&document.url);
                    batch.documents.push(BatchDocument {
                        url_end: batch.urls.len(),
                        url_hash: self.url_hasher.hash(&document.url),
                        has_shingle: !shingles.as_slice().is_empty(),
                        is_short: shingles.is_short(),
                        is_left_out,
                        is_template,
                        is_known,
                    });
                    if let Some(sample) = wants.sample
                        && !shingles.as_slice().is_empty()
                    {
                        let place = batch.documents.len() - 1;
                        let drawn = Drawn::new(&document, place, sample, self.sample_bound);
                        batch.drawn.extend(drawn);
                    }
                    if wants.lengths {
                        batch.lengths.push(document.length());
                    }
                    if wants.values {
                        batch.values.push(document.value);
                    }
                }
                Err(error) => batch.problems.push(error),
            }
        });
        batch.counted.other_bytes_max = block.head.bytes.len() as u64 * HEAD_COPIES;
        if batch.documents.is_empty() {
            // Bad records are held as others are.
            batch.counted.record_bytes_max = block.bytes.len() as u64;
        }
        batch.digest = Some(digest.take());
        batch.sketching = started.elapsed();
        batch
    }
}

impl<D, M> Digesting<'_, D, M> {
    /// The party of a document, if it has one.
    fn party(
        &self,
        party_by: &PartyBy,
        block: &Block<'_>,
        document: &Document<'_>,
    ) -> Option<Box<str>> {
        match party_by {
            PartyBy::Folder(level) => self.folders.of(block.file, *level).map(Into::into),
            PartyBy::Field(_) => document.party.as_ref().map(field_text).map(Into::into),
            PartyBy::Host | PartyBy::Pattern(_) => party_by.of_url(&document.url).map(Into::into),
        }
    }
}
