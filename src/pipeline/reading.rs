//! Reading and shingling a collection with all threads, down to what is kept of
//! each document.
//!
//! Each thread reads a piece of an input, and parses, shingles and digests it. What
//! is left of a block comes back in input order, its documents numbered.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Run;
use super::copying::{Chosen, KeptRecords, Records};
use super::ordered::{self, Work};
use crate::document::{Content, Document, DocumentId, FieldValue};
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::read::{Block, Cutter, Input, Piece, Stream};
use crate::settings::{Settings, Strictness};
use crate::shingle::{Shingle, Shingler, Shingles, shingler};
use crate::stats::{Counts, Stats};
use crate::urls::{Added, UrlHash, UrlHasher, Urls};

/// What a thread makes of the shingles of each document of a block.
pub(super) trait Digest {
    /// What is left of a block.
    type Output: Send;

    /// Takes the next document of the block; it may have no shingle.
    fn document(&mut self, shingles: &[Shingle]);

    /// Ends the block.
    fn take(&mut self) -> Self::Output;

    /// About how much memory it takes.
    fn bytes(output: &Self::Output) -> usize;
}

/// Reads all inputs. Each block's digest goes to `keep`, with the ordinals of its
/// documents; a document whose id was met before has none.
pub(super) fn read_all<D: Digest>(
    inputs: Vec<Input>,
    run: &mut Run<'_>,
    digest: &(impl Fn() -> D + Sync),
    keep: impl FnMut(&Urls, &[Option<DocumentId>], D::Output) -> ControlFlow<Option<Error>> + Send,
) -> Result<(), Error> {
    let started = Instant::now();
    let Run {
        settings,
        observer,
        urls,
        stats,
        described,
        kept,
        ..
    } = run;
    let settings: &Settings = settings;
    let taken = Arc::new(AtomicU64::new(stats.counts.input_bytes));
    let reading = Reading {
        settings,
        shingler: shingler(&settings.shingle),
        digest,
        url_hasher: urls.hasher().clone(),
        describes: described.is_some(),
        keeps: kept.as_ref().map(KeptRecords::chosen),
        taken: &taken,
        output: PhantomData,
    };
    let mut collector = Collector {
        settings,
        observer: *observer,
        keep,
        urls,
        stats,
        described,
        kept,
        numbers: Vec::new(),
        failed: None,
    };
    let lanes = inputs.into_iter().map(|input| {
        let cutter = Cutter::new(input.name(), &settings.read);
        (Stream::new(input, &taken), cutter)
    });
    ordered::in_order(&reading, lanes, |batch| collector.add(batch));
    let failed = collector.failed;
    stats.counts.input_bytes = taken.load(Ordering::Relaxed);
    stats.seconds.read_and_sketch += started.elapsed();
    match failed {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// How inputs become digests.
struct Reading<'a, D, M> {
    settings: &'a Settings,
    shingler: Box<dyn Shingler>,
    /// Makes a thread's digest.
    digest: M,
    url_hasher: UrlHasher,
    describes: bool,
    keeps: Option<Chosen>,
    taken: &'a AtomicU64,
    output: PhantomData<fn() -> D>,
}

/// A piece and the time it took.
#[derive(Default)]
struct TimedPiece {
    piece: Piece,
    reading: Duration,
}

/// What a thread needs to digest blocks.
struct Digesting<D> {
    digest: D,
    shingles: Shingles,
}

impl<D: Digest, M: Fn() -> D + Sync> Work for Reading<'_, D, M> {
    type Source = Stream;
    type Joint = Cutter;
    type Piece = TimedPiece;
    type Scratch = Digesting<D>;
    type Output = Batch<D::Output>;

    fn take(&self, stream: &mut Stream, TimedPiece { piece, reading }: &mut TimedPiece) -> bool {
        let started = Instant::now();
        let taken = stream.next(piece);
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

    fn scratch(&self) -> Digesting<D> {
        Digesting {
            digest: (self.digest)(),
            shingles: Shingles::default(),
        }
    }

    fn work(
        &self,
        TimedPiece { piece, reading }: &mut TimedPiece,
        scratch: &mut Digesting<D>,
        give: &mut dyn FnMut(Batch<D::Output>),
    ) {
        let problem = piece.problem.take();
        for block in piece.blocks() {
            let batch = self.batch(&block, scratch);
            give(Batch {
                reading: std::mem::take(reading),
                ..batch
            });
        }
        if problem.is_some() {
            give(Batch {
                problems: problem.into_iter().collect(),
                input_bytes: self.taken.load(Ordering::Relaxed),
                reading: std::mem::take(reading),
                ..Batch::default()
            });
        }
        // The next piece may be long in coming.
        piece.clear();
    }

    fn bytes(batch: &Batch<D::Output>) -> usize {
        let digest = batch.digest.as_ref().map_or(0, D::bytes);
        let problems: usize = batch.problems.iter().map(Error::bytes).sum();
        let descriptions: usize = batch.descriptions.iter().map(Description::bytes).sum();
        let records = match &batch.records {
            Some(_) => batch.record_bytes as usize,
            None => 0,
        };
        let documents = batch.urls.len() + size_of_val(&batch.documents[..]);
        digest + problems + descriptions + records + documents
    }
}

impl<D: Digest, M> Reading<'_, D, M> {
    fn batch(&self, block: &Block<'_>, scratch: &mut Digesting<D>) -> Batch<D::Output> {
        let started = Instant::now();
        let Digesting { digest, shingles } = scratch;
        let mut batch = Batch {
            file: self.describes.then(|| Arc::clone(block.file)),
            records: self.keeps.map(|_| Records::new(block)),
            record_bytes: block.bytes.len() as u64,
            input_bytes: self.taken.load(Ordering::Relaxed),
            ..Batch::default()
        };
        block.documents(&self.settings.read, &mut |document| match document {
            Ok(document) => {
                self.shingler.shingle(&document.content, shingles);
                let is_short = shingles.is_short();
                let shingles = shingles.as_slice();
                digest.document(shingles);
                batch.urls.push_str(&document.url);
                batch.documents.push(BatchDocument {
                    url_end: batch.urls.len(),
                    url_hash: self.url_hasher.hash(&document.url),
                    is_empty: shingles.is_empty() && !is_short,
                    is_short,
                });
                if let (Some(records), Some(chosen)) = (&mut batch.records, self.keeps) {
                    records.push(chosen, &document);
                }
                if self.describes {
                    batch.descriptions.push(Description::of(document));
                }
            }
            Err(error) => batch.problems.push(error),
        });
        batch.digest = Some(digest.take());
        batch.sketching = started.elapsed();
        batch
    }
}

/// What is known of each row, besides its shingles, for choosing between documents and
/// telling of them.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub(super) rows: Vec<Description>,
    /// The inputs, each with its first row.
    pub(super) files: Vec<(Arc<str>, usize)>,
}

impl Described {
    fn add(&mut self, file: Arc<str>, mut rows: Vec<Description>) {
        if self
            .files
            .last()
            .is_none_or(|(last, _)| !Arc::ptr_eq(last, &file))
        {
            self.files.push((file, self.rows.len()));
        }
        self.rows.append(&mut rows);
    }
}

/// What is known of a document.
#[derive(Debug)]
pub(super) struct Description {
    /// Characters in its text.
    pub(super) length: u64,
    pub(super) value: Option<FieldValue>,
    /// How its text begins.
    pub(super) sample: Box<str>,
}

/// Characters of a sample.
const SAMPLE_CHARS: usize = 60;

impl Description {
    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        let value = match &self.value {
            Some(FieldValue::Text(text)) => text.len(),
            _ => 0,
        };
        size_of::<Self>() + self.sample.len() + value
    }

    fn of(document: Document<'_>) -> Self {
        let texts: &[Cow<'_, str>] = match &document.content {
            Content::Text(text) => std::slice::from_ref(text),
            Content::Items(items) => items,
        };
        let sample = texts.first().map_or("", |text| text.trim_start());
        let end = sample
            .char_indices()
            .nth(SAMPLE_CHARS)
            .map_or(sample.len(), |(at, _)| at);
        Self {
            length: texts.iter().map(|text| text.chars().count() as u64).sum(),
            value: document.value,
            sample: sample[..end].into(),
        }
    }
}

/// What is left of a block.
struct Batch<T> {
    urls: String,
    documents: Vec<BatchDocument>,
    descriptions: Vec<Description>,
    /// The input, if documents are described.
    file: Option<Arc<str>>,
    records: Option<Records>,
    /// `None` if there is only a problem.
    digest: Option<T>,
    problems: Vec<Error>,
    input_bytes: u64,
    record_bytes: u64,
    reading: Duration,
    sketching: Duration,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self {
            urls: String::new(),
            documents: Vec::new(),
            descriptions: Vec::new(),
            file: None,
            records: None,
            digest: None,
            problems: Vec::new(),
            input_bytes: 0,
            record_bytes: 0,
            reading: Duration::ZERO,
            sketching: Duration::ZERO,
        }
    }
}

struct BatchDocument {
    url_end: usize,
    url_hash: UrlHash,
    is_empty: bool,
    is_short: bool,
}

/// Takes batches in input order, numbers the documents, and hands them on.
struct Collector<'a, K> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    keep: K,
    urls: &'a mut Urls,
    stats: &'a mut Stats,
    described: &'a mut Option<Described>,
    kept: &'a mut Option<KeptRecords>,
    numbers: Vec<Option<DocumentId>>,
    failed: Option<Error>,
}

impl<K> Collector<'_, K> {
    fn add<T>(&mut self, batch: Batch<T>) -> ControlFlow<()>
    where
        K: FnMut(&Urls, &[Option<DocumentId>], T) -> ControlFlow<Option<Error>>,
    {
        self.stats.counts.record_bytes += batch.record_bytes;
        self.stats.seconds.read_busy += batch.reading;
        self.stats.seconds.sketch_busy += batch.sketching;
        for error in batch.problems {
            if self.settings.strictness == Strictness::Stop || error.is_fatal() {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            self.stats.counts.skipped += 1;
            self.observer.problem(&error);
        }
        if let (Some(kept), Some(records)) = (&mut *self.kept, batch.records) {
            kept.add(records);
        }
        if let (Some(described), Some(file)) = (&mut *self.described, batch.file) {
            described.add(file, batch.descriptions);
        }
        self.numbers.clear();
        let mut url_start = 0;
        for document in &batch.documents {
            let url = &batch.urls[url_start..document.url_end];
            url_start = document.url_end;
            let number = self.number(url, document)?;
            self.numbers.push(number);
        }
        self.observer
            .progress(batch.input_bytes, self.stats.counts.documents);
        match batch.digest {
            Some(digest) => {
                (self.keep)(self.urls, &self.numbers, digest).map_break(|error| self.failed = error)
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn number(
        &mut self,
        url: &str,
        document: &BatchDocument,
    ) -> ControlFlow<(), Option<DocumentId>> {
        let counts = &mut self.stats.counts;
        let added = match is_full(counts) {
            true => Added::Full,
            false => self.urls.add_hashed(url, document.url_hash),
        };
        match added {
            Added::New(id) => {
                counts.documents += 1;
                counts.empty += u64::from(document.is_empty);
                counts.short += u64::from(document.is_short);
                ControlFlow::Continue(Some(id))
            }
            Added::Repeated(_) => {
                counts.repeated_ids += 1;
                ControlFlow::Continue(None)
            }
            Added::Full => {
                self.failed = Some(Error::in_file(url, ErrorKind::TooManyDocuments));
                ControlFlow::Break(())
            }
        }
    }
}

/// Whether what follows would have no number. Each document has one, those too whose ids
/// were met before.
fn is_full(counts: &Counts) -> bool {
    counts.documents + counts.repeated_ids >= u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_documents_than_numbers_are_refused_repeated_or_not() {
        let most = u64::from(u32::MAX);
        let counts = |documents, repeated_ids| Counts {
            documents,
            repeated_ids,
            ..Counts::default()
        };
        assert!(!is_full(&counts(1, most - 2)));
        for counts in [counts(1, most - 1), counts(most, 0), counts(most, most)] {
            assert!(is_full(&counts));
        }
    }
}
