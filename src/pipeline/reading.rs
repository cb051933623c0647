//! From inputs to a collection. Inputs are read, cut into blocks and digested by all threads
//! at once; what is left of a block comes back in input order, its documents numbered.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Inputs;
use super::ordered::{self, Work};
use super::records::{KeptRecords, RecordBlock, RecordForm};
use super::sketches::{Repetitions, SignatureBatch, SignatureDigest};
use crate::candidates::{Way, way};
use crate::collection::{
    Added, Collection, Descriptions, Fate, Features, Records, Scope, UrlHash, UrlHasher, Urls,
    record_print,
};
use crate::document::{Content, Document, DocumentId, FieldValue};
use crate::error::{Error, ErrorKind};
use crate::observer::{Observer, Phase};
use crate::read::{Block, Cutter, Input, Piece, Stream};
use crate::score::Measure;
use crate::sets::{ListBlock, ShingleLists};
use crate::settings::{Settings, Strictness};
use crate::shingle::{Shingle, Shingler, Shingles, shingler};
use crate::sketch::Signatures;
use crate::stats::{Counts, Stats};

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

/// Lists of shingles, and signatures if they are wanted too. Blocks that have been kept are
/// filled again: fresh memory is dear.
struct ListDigest<'s> {
    block: ListBlock,
    signatures: Option<SignatureDigest>,
    spare: &'s Mutex<Vec<ListBlock>>,
}

impl Digest for ListDigest<'_> {
    type Output = (ListBlock, Option<SignatureBatch>);

    fn document(&mut self, shingles: &[Shingle]) {
        self.block.push(shingles);
        if let Some(signatures) = &mut self.signatures {
            signatures.document(shingles);
        }
    }

    fn take(&mut self) -> Self::Output {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let block = std::mem::replace(&mut self.block, spare.pop().unwrap_or_default());
        (block, self.signatures.as_mut().map(Digest::take))
    }

    fn bytes((block, signatures): &Self::Output) -> usize {
        block.bytes() + signatures.as_ref().map_or(0, SignatureDigest::bytes)
    }
}

/// What is to be known of documents besides what they are compared by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    /// How long their texts are.
    pub(super) lengths: bool,
    /// What the settings' field holds.
    pub(super) values: bool,
    /// Which record is which document.
    pub(super) records: bool,
    /// Their records, in this form, for as long as they fit into an eighth of the memory.
    pub(super) kept: Option<RecordForm>,
}

/// What has been read so far.
pub(super) struct Reading<'a> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    wants: Wants,
    urls: Urls,
    pub(super) stats: Stats,
    descriptions: Descriptions,
    records: Option<Records>,
    /// The documents' records, if they are to be kept.
    pub(super) kept: Option<KeptRecords>,
    /// Documents without a shingle.
    empty: Vec<DocumentId>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(settings: &'a Settings, observer: &'a dyn Observer, wants: Wants) -> Self {
        let kept_bytes_max = settings.memory().bytes / 8;
        Self {
            settings,
            observer,
            wants,
            urls: Urls::default(),
            stats: Stats {
                settings: settings.clone(),
                ..Stats::default()
            },
            descriptions: Descriptions::default(),
            records: wants.records.then(Records::default),
            kept: wants
                .kept
                .map(|form| KeptRecords::new(form, kept_bytes_max)),
            empty: Vec::new(),
        }
    }

    /// Reads everything into a collection: first the documents, then what they are compared
    /// with.
    pub(super) fn collection(&mut self, inputs: Inputs) -> Result<Collection, Error> {
        self.observer.phase(Phase::Reading);
        let settings = self.settings;
        let is_across = inputs.against.is_some();
        let (features, own) = match settings.measure {
            Measure::MinHash => {
                let mut signatures = Signatures::new(settings.sketch.positions());
                let digest = || SignatureDigest::new(&settings.sketch, Repetitions::Count);
                let own = self.both(inputs, digest, |_, documents, batch| {
                    for (_, _, signature) in batch.signatures(documents) {
                        signatures.push(signature);
                    }
                    ControlFlow::Continue(())
                })?;
                (Features::Signatures(signatures), own)
            }
            Measure::Jaccard | Measure::Containment => {
                let mut lists = ShingleLists::new(&settings.memory());
                let is_sketched = matches!(way(settings), Way::Bands(_));
                let mut signatures =
                    is_sketched.then(|| Signatures::new(settings.sketch.positions()));
                let spare = Mutex::default();
                let digest = || ListDigest {
                    block: ListBlock::default(),
                    signatures: is_sketched
                        .then(|| SignatureDigest::new(&settings.sketch, Repetitions::Count)),
                    spare: &spare,
                };
                let own = self.both(inputs, digest, |_, documents, (mut block, sketched)| {
                    if let Err(error) = lists.push(&block, documents) {
                        return ControlFlow::Break(Some(error));
                    }
                    if let (Some(signatures), Some(sketched)) = (&mut signatures, sketched) {
                        for (_, _, signature) in sketched.signatures(documents) {
                            signatures.push(signature);
                        }
                    }
                    block.clear();
                    let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
                    spare.push(block);
                    ControlFlow::Continue(())
                })?;
                lists.finish()?;
                self.stats.counts.spilled = lists.is_spilled();
                let lists = Box::new(lists);
                (Features::Shingles { lists, signatures }, own)
            }
        };
        let scope = match is_across {
            true => Scope::Across(own),
            false => Scope::All,
        };
        let started = Instant::now();
        let empty = std::mem::take(&mut self.empty);
        let mut collection = Collection::new(
            settings,
            std::mem::take(&mut self.urls),
            features,
            scope,
            |document| empty.binary_search(&document).is_ok(),
        );
        collection.descriptions = std::mem::take(&mut self.descriptions);
        collection.records = self.records.take();
        self.stats.seconds.candidates += started.elapsed();
        Ok(collection)
    }

    /// Reads the documents and what they are compared with, and gives the first of those.
    fn both<D: Digest>(
        &mut self,
        inputs: Inputs,
        digest: impl Fn() -> D + Sync,
        mut keep: impl FnMut(&Urls, &[Option<DocumentId>], D::Output) -> ControlFlow<Option<Error>>
        + Send,
    ) -> Result<DocumentId, Error> {
        self.read(inputs.documents, &digest, &mut keep)?;
        let own = DocumentId(self.urls.len() as u32);
        // An id may come again on the other side, whose records are of no interest.
        self.urls.forget();
        let (records, kept) = (self.records.take(), self.kept.take());
        self.read(inputs.against.unwrap_or_default(), &digest, &mut keep)?;
        (self.records, self.kept) = (records, kept);
        self.urls.forget();
        Ok(own)
    }

    /// Reads inputs. Each block's digest goes to `keep`, with the ordinals of its documents; a
    /// document whose id was met before has none.
    pub(super) fn read<D: Digest>(
        &mut self,
        inputs: Vec<Input>,
        digest: impl Fn() -> D + Sync,
        keep: impl FnMut(&Urls, &[Option<DocumentId>], D::Output) -> ControlFlow<Option<Error>> + Send,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let settings = self.settings;
        let taken = Arc::new(AtomicU64::new(self.stats.counts.input_bytes));
        let digesting = Digesting {
            settings,
            shingler: shingler(&settings.shingle),
            digest,
            url_hasher: self.urls.hasher().clone(),
            wants: Wants {
                records: self.records.is_some(),
                kept: self.kept.as_ref().map(KeptRecords::form),
                ..self.wants
            },
            taken: &taken,
            output: PhantomData,
        };
        let lanes = inputs.into_iter().map(|input| {
            let cutter = Cutter::new(input.name(), &settings.read);
            (Stream::new(input, &settings.read, &taken), cutter)
        });
        let mut collector = Collector {
            reading: self,
            keep,
            numbers: Vec::new(),
            failed: None,
        };
        ordered::in_order(&digesting, lanes, |batch| collector.add(batch));
        let failed = collector.failed;
        self.stats.counts.input_bytes = taken.load(Ordering::Relaxed);
        self.stats.seconds.read_and_sketch += started.elapsed();
        match failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// How blocks become digests.
struct Digesting<'a, D, M> {
    settings: &'a Settings,
    shingler: Box<dyn Shingler>,
    /// Makes a thread's digest.
    digest: M,
    url_hasher: UrlHasher,
    wants: Wants,
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
struct Scratch<D> {
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
        // A huge record may have blown it up.
        piece.clear();
    }

    fn bytes(batch: &Batch<D::Output>) -> usize {
        batch.digest.as_ref().map_or(0, D::bytes)
            + batch.urls.len()
            + size_of_val(&batch.documents[..])
            + size_of_val(&batch.prints[..])
            + size_of_val(&batch.lengths[..])
            + batch.records.as_ref().map_or(0, RecordBlock::bytes)
            + batch.values.iter().map(value_bytes).sum::<usize>()
            + batch.problems.iter().map(Error::bytes).sum::<usize>()
    }
}

fn value_bytes(value: &Option<FieldValue>) -> usize {
    let text = match value {
        Some(FieldValue::Text(text)) => text.len(),
        _ => 0,
    };
    size_of_val(value) + text
}

impl<D: Digest, M> Digesting<'_, D, M> {
    fn batch(&self, block: &Block<'_>, scratch: &mut Scratch<D>) -> Batch<D::Output> {
        let started = Instant::now();
        let Scratch { digest, shingles } = scratch;
        let wants = self.wants;
        let mut batch = Batch {
            file: wants.records.then(|| Arc::clone(block.file)),
            records: wants.kept.map(|_| RecordBlock::new(block)),
            record_bytes: block.bytes.len() as u64,
            passed_over: block.passed_over(),
            input_bytes: self.taken.load(Ordering::Relaxed),
            ..Batch::default()
        };
        block.documents(&self.settings.read, &mut |document| {
            if let (Some(records), Some(form)) = (&mut batch.records, wants.kept) {
                records.push(form, document.as_ref().ok());
            }
            if wants.records {
                let print = document
                    .as_ref()
                    .map(|document| record_print(document.record));
                batch.prints.push(print.ok());
            }
            match document {
                Ok(document) => {
                    self.shingler.shingle(&document.content, shingles);
                    digest.document(shingles.as_slice());
                    batch.urls.push_str(&document.url);
                    batch.documents.push(BatchDocument {
                        url_end: batch.urls.len(),
                        url_hash: self.url_hasher.hash(&document.url),
                        has_shingle: !shingles.as_slice().is_empty(),
                        is_short: shingles.is_short(),
                    });
                    if wants.lengths {
                        batch.lengths.push(length(&document));
                    }
                    if wants.values {
                        batch.values.push(document.value);
                    }
                }
                Err(error) => batch.problems.push(error),
            }
        });
        batch.digest = Some(digest.take());
        batch.sketching = started.elapsed();
        batch
    }
}

/// Characters in a document's text.
fn length(document: &Document<'_>) -> u64 {
    let texts: &[Cow<'_, str>] = match &document.content {
        Content::Text(text) => std::slice::from_ref(text),
        Content::Items(items) => items,
    };
    texts.iter().map(|text| text.chars().count() as u64).sum()
}

/// What is left of a block.
struct Batch<T> {
    urls: String,
    documents: Vec<BatchDocument>,
    lengths: Vec<u64>,
    values: Vec<Option<FieldValue>>,
    /// The input, and what its records were, if records are to be known: `None` for one that
    /// could not be used.
    file: Option<Arc<str>>,
    prints: Vec<Option<u64>>,
    records: Option<RecordBlock>,
    /// `None` if there is only a problem.
    digest: Option<T>,
    problems: Vec<Error>,
    input_bytes: u64,
    record_bytes: u64,
    passed_over: u64,
    reading: Duration,
    sketching: Duration,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self {
            urls: String::new(),
            documents: Vec::new(),
            lengths: Vec::new(),
            values: Vec::new(),
            file: None,
            prints: Vec::new(),
            records: None,
            digest: None,
            problems: Vec::new(),
            input_bytes: 0,
            record_bytes: 0,
            passed_over: 0,
            reading: Duration::ZERO,
            sketching: Duration::ZERO,
        }
    }
}

struct BatchDocument {
    url_end: usize,
    url_hash: UrlHash,
    has_shingle: bool,
    is_short: bool,
}

/// Takes batches in input order, numbers the documents, and hands them on.
struct Collector<'r, 'a, K> {
    reading: &'r mut Reading<'a>,
    keep: K,
    numbers: Vec<Option<DocumentId>>,
    failed: Option<Error>,
}

impl<K> Collector<'_, '_, K> {
    fn add<T>(&mut self, batch: Batch<T>) -> ControlFlow<()>
    where
        K: FnMut(&Urls, &[Option<DocumentId>], T) -> ControlFlow<Option<Error>>,
    {
        let reading = &mut *self.reading;
        reading.stats.counts.record_bytes += batch.record_bytes;
        reading.stats.counts.passed_over += batch.passed_over;
        reading.stats.seconds.read_busy += batch.reading;
        reading.stats.seconds.sketch_busy += batch.sketching;
        for error in batch.problems {
            if error.is_fatal() || reading.settings.strictness == Strictness::Stop {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            reading.stats.counts.skipped += 1;
            reading.observer.problem(&error);
        }
        if let (Some(kept), Some(records)) = (&mut reading.kept, batch.records) {
            kept.add(records);
        }
        self.numbers.clear();
        let mut prints = batch.prints.iter().copied();
        if let (Some(records), Some(file)) = (&mut self.reading.records, &batch.file) {
            records.start(file);
        }
        let mut url_start = 0;
        for (index, document) in batch.documents.iter().enumerate() {
            let url = &batch.urls[url_start..document.url_end];
            url_start = document.url_end;
            let (fate, number) = self.number(url, document)?;
            self.numbers.push(number);
            let reading = &mut *self.reading;
            if let Some(records) = &mut reading.records {
                records.push(&mut prints, fate);
            }
            if number.is_some() {
                reading
                    .descriptions
                    .lengths
                    .extend(batch.lengths.get(index));
                let value = batch.values.get(index).cloned();
                reading.descriptions.values.extend(value);
            }
        }
        if let Some(records) = &mut self.reading.records {
            records.push_unreadable(&mut prints);
        }
        let reading = &mut *self.reading;
        reading
            .observer
            .progress(batch.input_bytes, reading.stats.counts.documents);
        match batch.digest {
            Some(digest) => (self.keep)(&reading.urls, &self.numbers, digest)
                .map_break(|error| self.failed = error),
            None => ControlFlow::Continue(()),
        }
    }

    fn number(
        &mut self,
        url: &str,
        document: &BatchDocument,
    ) -> ControlFlow<(), (Fate, Option<DocumentId>)> {
        let reading = &mut *self.reading;
        let counts = &mut reading.stats.counts;
        let added = match is_full(counts) {
            true => Added::Full,
            false => reading.urls.add_hashed(url, document.url_hash),
        };
        match added {
            Added::New(id) => {
                counts.documents += 1;
                counts.short += u64::from(document.is_short);
                if !document.has_shingle {
                    counts.empty += u64::from(!document.is_short);
                    reading.empty.push(id);
                }
                ControlFlow::Continue((Fate::Document(id), Some(id)))
            }
            Added::Repeated(first) => {
                counts.repeated_ids += 1;
                ControlFlow::Continue((Fate::Repeated(first), None))
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
