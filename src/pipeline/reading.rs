//! From inputs to a collection. Inputs are read, cut into blocks and digested by all threads
//! at once; what is left of a block comes back in input order, its documents numbered.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Inputs;
use super::floor::{Counted, Floor, Purpose};
use super::folders::{FolderWatch, Folders};
use super::index::Present;
use super::ordered::{self, Work};
use super::records::{KeptRecords, RecordBlock, RecordForm};
use super::sample::{Drawn, Sample, SampleSettings, Sampled};
use super::sketches::{Repetitions, SignatureBatch, SignatureDigest};
use crate::candidates::{Way, way};
use crate::collection::{
    Added, Collection, Descriptions, Fate, Features, Parties, PartyBy, Records, Scope, SeenIds,
    SeenRecord, Sides, UrlHash, UrlHasher, Urls,
};
use crate::document::{Content, Document, DocumentId, FieldValue};
use crate::error::{Error, ErrorKind, Place};
use crate::explain::Template;
use crate::index::Index;
use crate::observer::{Observer, Phase};
use crate::read::{
    self, Block, Charset, Cutter, Head, Input, InputFormat, Piece, Stream, field_text,
};
use crate::score::Measure;
use crate::sets::{ListBlock, ShingleLists};
use crate::settings::{Memory, Settings, Strictness};
use crate::shingle::{Shingle, Shingler, Shingles, shingler};
use crate::sketch::Signatures;
use crate::stats::{Counts, Stats};

/// What a thread makes of the shingles of each document of a block.
pub(super) trait Digest {
    /// What is left of a block.
    type Output: Send;

    /// Takes the next document of the block; it may have no shingle.
    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]);

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

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        self.block.push(shingles);
        if let Some(signatures) = &mut self.signatures {
            signatures.document(document, shingles);
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

/// All shingles, as they come.
#[derive(Default)]
struct TemplateDigest(Vec<Shingle>);

impl Digest for TemplateDigest {
    type Output = Vec<Shingle>;

    fn document(&mut self, _: &Document<'_>, shingles: &[Shingle]) {
        self.0.extend_from_slice(shingles);
    }

    fn take(&mut self) -> Vec<Shingle> {
        std::mem::take(&mut self.0)
    }

    fn bytes(shingles: &Vec<Shingle>) -> usize {
        size_of_val(&shingles[..])
    }
}

/// What is to be known of documents besides what they are compared by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    /// How long their texts are.
    pub(super) lengths: bool,
    /// What the settings' field holds.
    pub(super) values: bool,
    /// Which record is which document, and which are none.
    pub(super) records: bool,
    /// Which records of archives are no documents.
    pub(super) others: bool,
    /// Their records, in this form, for as long as they fit into an eighth of the memory.
    pub(super) kept: Option<RecordForm>,
    /// How their records will be written.
    pub(super) written: Written,
    /// What of their ids.
    pub(super) ids: Ids,
    /// Some of them with their texts.
    pub(super) sample: Option<SampleSettings>,
}

/// How records are written once all is read. What cannot be is refused as soon as it is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Written {
    /// Not as they came.
    #[default]
    Otherwise,
    /// To one output, which has one format.
    Together,
    /// Those of each input to an output of its own.
    Apart,
}

/// Why an input of a format has no output of its own.
pub(super) fn why_not_apart(format: InputFormat) -> Option<&'static str> {
    match format {
        InputFormat::Parquet => Some(
            "Parquet is not written; `--output FILE.jsonl` in its place writes the ids and texts \
             that are kept, and `--removed FILE` which rows go",
        ),
        _ => format.is_file().then_some(
            "a file of text or HTML is one document, and no records of it are written; without \
             --output-dir, the paths of the files to keep are printed, as for `xargs cp -t DIR`",
        ),
    }
}

/// What is kept of ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ids {
    /// All of them.
    #[default]
    Kept,
    /// No more than whether they were met before.
    Seen,
    /// Nothing: an id may come again.
    Passed,
}

/// An index that documents are added to.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) index: &'a Index,
    /// What becomes of documents whose ids it has.
    pub(super) present: Present,
}

/// The part of the memory that kept records may take.
const KEPT_SHARE: u64 = 8;

/// What has been read so far.
pub(super) struct Reading<'a> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    wants: Wants,
    urls: Urls,
    /// In place of the ids, if they are not wanted.
    seen: Option<SeenIds>,
    /// The index that they are added to, and those of them whose ids it has.
    pub(super) known: Option<Known<'a>>,
    pub(super) present: Vec<DocumentId>,
    pub(super) stats: Stats,
    descriptions: Descriptions,
    records: Option<Records>,
    /// The documents' records, if they are to be kept.
    pub(super) kept: Option<KeptRecords>,
    /// Documents without a shingle.
    empty: Vec<DocumentId>,
    floor: Floor,
    /// The format of what is written together, and what stands before its first record.
    written: Option<(InputFormat, Arc<Head>)>,
    /// The text fields that some document has.
    fields: u64,
    /// The party of each document, if there are any.
    parties: Option<Parties>,
    /// The FILEs that their folders are in, if folders make them.
    folders: Option<FolderWatch>,
    /// What does not count in any document.
    pub(super) template: Template,
    /// Documents that were drawn, if some are wanted.
    pub(super) sample: Option<Sample>,
    /// What is made of them, to compare the documents with.
    pub(super) planting: Option<Planting<'a>>,
}

/// What is compared with the documents that it is made of.
pub(super) struct Planting<'a> {
    /// How it is read.
    pub(super) settings: &'a Settings,
    pub(super) make: Box<dyn FnOnce(Vec<Sampled>) -> Input + Send>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        observer: &'a dyn Observer,
        wants: Wants,
        purpose: Purpose,
    ) -> Self {
        Self {
            settings,
            observer,
            wants,
            urls: Urls::default(),
            seen: (wants.ids == Ids::Seen).then(SeenIds::default),
            known: None,
            present: Vec::new(),
            stats: Stats {
                settings: settings.clone(),
                ..Stats::default()
            },
            descriptions: Descriptions::default(),
            records: wants.records.then(Records::default),
            kept: wants.kept.map(KeptRecords::new),
            empty: Vec::new(),
            floor: Floor::new(settings, wants, purpose),
            written: None,
            fields: 0,
            parties: settings.party_by.as_ref().map(|_| Parties::default()),
            folders: matches!(settings.party_by, Some(PartyBy::Folder(_)))
                .then(FolderWatch::default),
            template: Template::default(),
            sample: wants.sample.map(Sample::new),
            planting: None,
        }
    }

    /// What is left of the memory for all that can go to files.
    fn rest_bytes(&self) -> u64 {
        let memory = self.settings.memory.as_ref();
        memory.map_or(u64::MAX, |memory| self.floor.rest(memory.bytes))
    }

    /// Bytes of ids, or of what is kept in their place.
    fn id_bytes(&self) -> usize {
        let seen = self.seen.as_ref().map_or(0, SeenIds::bytes);
        self.urls.bytes() + seen
    }

    /// The ids of all documents so far.
    pub(super) fn urls(&self) -> &Urls {
        &self.urls
    }

    /// The ids of all documents, and which record is which, once all is read.
    pub(super) fn take(&mut self) -> (Urls, Option<Records>) {
        (std::mem::take(&mut self.urls), self.records.take())
    }

    /// Counts what must be in memory besides.
    pub(super) fn add_to_floor(&mut self, bytes: u64) {
        self.floor.add(&Counted {
            id_bytes: bytes,
            ..Counted::default()
        });
    }

    /// Says how much memory is the least, and what is missing, once all is read.
    pub(super) fn tell(&mut self) {
        let (bytes, memory) = (self.floor.bytes(), self.settings.memory().bytes);
        self.stats.floor_memory_bytes = bytes;
        if self.stats.counts.documents > 0 {
            let names = &self.settings.read.text_fields;
            let is_missing = |&(place, name): &(usize, &String)| {
                // One that is named twice counts where it is named first.
                self.fields >> place & 1 == 0 && !names[..place].contains(name)
            };
            let missing = names.iter().enumerate().take(64).filter(is_missing);
            self.stats.missing_fields = missing.map(|(_, name)| name.clone()).collect();
        }
        if bytes > memory {
            self.observer.floor(bytes, memory);
        }
    }

    /// Reads everything into a collection: first the documents, then what they are compared
    /// with.
    pub(super) fn collection(&mut self, mut inputs: Inputs) -> Result<Collection, Error> {
        self.observer.phase(Phase::Reading);
        let settings = self.settings;
        self.take_out(std::mem::take(&mut inputs.templates))?;
        let has_against = inputs.against.is_some();
        let is_across = has_against || self.planting.is_some();
        let (features, own) = match settings.measure {
            Measure::MinHash => {
                let mut signatures = Signatures::new(settings.sketch.positions());
                let digest = || SignatureDigest::new(&settings.sketch, Repetitions::Count);
                let own = self.both(inputs, digest, |numbered, batch| {
                    for (_, _, signature) in batch.signatures(numbered.documents) {
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
                let spare_max = 2 * settings.thread_count();
                let own = self.both(inputs, digest, |numbered, (mut block, sketched)| {
                    let Numbered {
                        documents, rest, ..
                    } = numbered;
                    let added = lists.push(&block, documents);
                    if let Err(error) = added.and_then(|()| lists.limit(rest)) {
                        return ControlFlow::Break(Some(error));
                    }
                    if let (Some(signatures), Some(sketched)) = (&mut signatures, sketched) {
                        for (_, _, signature) in sketched.signatures(documents) {
                            signatures.push(signature);
                        }
                    }
                    block.clear();
                    let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
                    if spare.len() < spare_max {
                        spare.push(block);
                    }
                    ControlFlow::Continue(())
                })?;
                lists.finish()?;
                self.stats.counts.spilled = lists.is_spilled();
                let lists = Box::new(lists);
                (Features::Shingles { lists, signatures }, own)
            }
        };
        self.tell();
        if has_against {
            let counts = &mut self.stats.counts;
            counts.against = counts.documents - u64::from(own.0);
            counts.documents = u64::from(own.0);
        }
        let sides = match is_across {
            true => Sides::Across(own),
            false => Sides::All,
        };
        Ok(self.finish(features, sides))
    }

    /// What was read, as a collection.
    pub(super) fn finish(&mut self, features: Features, sides: Sides) -> Collection {
        self.stats.counts.groups = self.parties.as_ref().map_or(0, Parties::len) as u64;
        self.stats.counts.grouped = self.parties.as_ref().map_or(0, Parties::documents) as u64;
        self.stats.folders = self.folders.take().and_then(|folders| folders.notes());
        let scope = Scope {
            sides,
            parties: self.parties.take().map(Arc::new),
        };
        let started = Instant::now();
        let empty = std::mem::take(&mut self.empty);
        let settings = &Settings {
            memory: self.settings.memory.as_ref().map(|memory| Memory {
                bytes: self.rest_bytes(),
                ..memory.clone()
            }),
            ..self.settings.clone()
        };
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
        collection
    }

    /// Reads templates, whose shingles are taken out of what is read from now on: nothing else of
    /// them is kept, and what was wrong is counted.
    pub(super) fn take_out(&mut self, templates: Vec<Input>) -> Result<(), Error> {
        if templates.is_empty() {
            return Ok(());
        }
        let mut reading = Reading::new(
            self.settings,
            self.observer,
            Wants::default(),
            Purpose::Sketches,
        );
        reading.parties = None;
        let mut template = Template::default();
        reading.read(templates, TemplateDigest::default, |_, shingles| {
            template.extend(shingles);
            ControlFlow::Continue(())
        })?;
        self.template = template;
        self.stats.counts.skipped += reading.stats.counts.skipped;
        self.stats.counts.input_bytes += reading.stats.counts.input_bytes;
        Ok(())
    }

    /// Reads the documents and what they are compared with, and gives the first of those.
    fn both<D: Digest>(
        &mut self,
        inputs: Inputs,
        digest: impl Fn() -> D + Sync,
        mut keep: impl FnMut(Numbered<'_>, D::Output) -> ControlFlow<Option<Error>> + Send,
    ) -> Result<DocumentId, Error> {
        self.read(inputs.documents, &digest, &mut keep)?;
        let own = DocumentId(self.urls.len() as u32);
        // An id may come again on the other side, whose records are of no interest.
        self.urls.forget();
        let (records, kept) = (self.records.take(), self.kept.take());
        self.wants.written = Written::Otherwise;
        let folders = self.folders.take();
        let mut against = inputs.against.unwrap_or_default();
        if let (Some(planting), Some(sample)) = (self.planting.take(), &mut self.sample) {
            against.push((planting.make)(sample.take()));
            self.sample = None;
            self.settings = planting.settings;
        }
        self.read(against, &digest, &mut keep)?;
        (self.records, self.kept) = (records, kept);
        self.folders = folders;
        self.urls.forget();
        Ok(own)
    }

    /// Reads inputs. Each block's digest goes to `keep`, with its documents.
    pub(super) fn read<D: Digest>(
        &mut self,
        inputs: Vec<Input>,
        digest: impl Fn() -> D + Sync,
        keep: impl FnMut(Numbered<'_>, D::Output) -> ControlFlow<Option<Error>> + Send,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let settings = self.settings;
        let taken = Arc::new(AtomicU64::new(self.stats.counts.input_bytes));
        let window_bytes = AtomicU64::new(0);
        let template = std::mem::take(&mut self.template);
        let sample = self.sample.as_ref().map(|sample| sample.settings);
        let sample_bound = Arc::new(AtomicU64::new(u64::MAX));
        if let Some(sample) = &mut self.sample {
            sample.bound = Arc::clone(&sample_bound);
        }
        let folders = match (&self.parties, &settings.party_by) {
            (Some(_), Some(PartyBy::Folder(_))) => Folders::new(&inputs),
            _ => Folders::default(),
        };
        let digesting = Digesting {
            settings,
            window_bytes: &window_bytes,
            template: &template,
            known: self.known,
            folders,
            shingler: shingler(&settings.shingle),
            digest,
            url_hasher: self.urls.hasher().clone(),
            wants: Wants {
                records: self.records.is_some(),
                kept: self.kept.as_ref().map(KeptRecords::form),
                sample,
                ..self.wants
            },
            sample_bound: &sample_bound,
            taken: &taken,
            output: PhantomData,
        };
        let waiting_max = self.floor.waiting_max(settings.memory().bytes);
        let opened = AtomicUsize::new(0);
        let lanes = read::open(inputs, &settings.read, &taken).inspect(|_| {
            opened.fetch_add(1, Ordering::Relaxed);
        });
        let mut collector = Collector {
            reading: self,
            folders: &digesting.folders,
            keep,
            numbers: Vec::new(),
            failed: None,
        };
        ordered::in_order(&digesting, waiting_max, lanes, |batch| {
            let windows = window_bytes.load(Ordering::Relaxed);
            let opened = opened.load(Ordering::Relaxed);
            collector.reading.floor.add_windows(opened, windows);
            collector.add(batch)
        });
        let failed = collector.failed;
        // So that it is the same in every run, whoever was last.
        let windows = window_bytes.load(Ordering::Relaxed);
        self.floor
            .add_windows(opened.load(Ordering::Relaxed), windows);
        self.template = template;
        self.stats.counts.input_bytes = taken.load(Ordering::Relaxed);
        self.stats.seconds.read_and_sketch += started.elapsed();
        match failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The documents of a block, as they were numbered.
pub(super) struct Numbered<'a> {
    /// The ids of all documents so far, unless only their hashes are kept.
    pub(super) urls: &'a Urls,
    /// The ids of the block's documents.
    pub(super) block_urls: BlockUrls<'a>,
    /// The ordinal of each of the block's documents, unless its id was met before.
    pub(super) documents: &'a [Option<DocumentId>],
    /// What is left of the memory for all that can go to files.
    pub(super) rest: u64,
}

/// The ids of the documents of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockUrls<'a> {
    urls: &'a str,
    documents: &'a [BatchDocument],
}

impl<'a> BlockUrls<'a> {
    /// They, in order.
    pub(super) fn iter(self) -> impl Iterator<Item = &'a str> {
        let mut start = 0;
        self.documents.iter().map(move |document| {
            let url = &self.urls[start..document.url_end];
            start = document.url_end;
            url
        })
    }
}

/// How blocks become digests.
struct Digesting<'a, D, M> {
    settings: &'a Settings,
    template: &'a Template,
    known: Option<Known<'a>>,
    /// The inputs in whose folders documents are, if folders make parties.
    folders: Folders,
    shingler: Box<dyn Shingler>,
    /// Makes a thread's digest.
    digest: M,
    url_hasher: UrlHasher,
    wants: Wants,
    taken: &'a AtomicU64,
    /// The largest window of all inputs so far.
    window_bytes: &'a AtomicU64,
    /// What is known of the documents that are drawn.
    sample_bound: &'a AtomicU64,
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
            give(Batch {
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
        let has_others = wants.records || wants.others;
        let has_file = has_others || matches!(self.settings.party_by, Some(PartyBy::Folder(_)));
        let mut batch = Batch {
            file: has_file.then(|| Arc::clone(block.file)),
            records: wants.kept.map(|_| RecordBlock::new(block)),
            form: (wants.written != Written::Otherwise && !block.bytes.is_empty()).then(|| Form {
                format: block.format,
                head: Arc::clone(block.head),
                file: Arc::clone(block.file),
                is_transcoded: block.charset == Some(Charset::UTF_8),
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
                    if let Some(guess) = document.guess {
                        *batch.guesses.entry(guess).or_default() += 1;
                        batch.guessed.get_or_insert_with(|| Arc::clone(block.file));
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
                    let mut is_template = false;
                    if !self.template.is_empty() && !shingles.as_slice().is_empty() {
                        shingles.retain(|shingle| !self.template.contains(&shingle));
                        is_template = shingles.as_slice().is_empty();
                    }
                    if let Some(party_by) = &self.settings.party_by {
                        batch.parties.push(self.party(party_by, block, &document));
                    }
                    let is_known = self.known.map(|known| known.index.find(&document.url));
                    let is_known = match is_known {
                        None | Some(Ok(None)) => false,
                        Some(Ok(Some(_))) => true,
                        Some(Err(error)) => {
                            batch.problems.push(error);
                            false
                        }
                    };
                    digest.document(&document, shingles.as_slice());
                    batch.counted.record(document.record, shingles);
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
                        batch.lengths.push(length(&document));
                    }
                    if wants.values {
                        batch.values.push(document.value);
                    }
                }
                Err(error) => batch.problems.push(error),
            }
        });
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

/// Characters in a document's text.
pub(super) fn length(document: &Document<'_>) -> u64 {
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
    /// The party of each, if there are any.
    parties: Vec<Option<Box<str>>>,
    /// The input, if it or its records are to be known, and these.
    file: Option<Arc<str>>,
    seen: Vec<SeenRecord>,
    records: Option<RecordBlock>,
    /// What its records are like, if they are to be written.
    form: Option<Form>,
    /// Those that may be drawn.
    drawn: Vec<Drawn>,
    /// `None` if there is only a problem.
    digest: Option<T>,
    /// The text fields that some of the documents have.
    fields: u64,
    problems: Vec<Error>,
    counted: Counted,
    passed_over: u64,
    kept_first: u64,
    passed_over_records: u64,
    format: Option<&'static str>,
    /// The numbers of those, and what they are, if they are to be known.
    others: Vec<(u64, &'static str)>,
    /// Documents by the encoding that was guessed of them.
    guesses: BTreeMap<&'static str, u64>,
    /// The input, if there are such.
    guessed: Option<Arc<str>>,
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
            lengths: Vec::new(),
            values: Vec::new(),
            parties: Vec::new(),
            file: None,
            seen: Vec::new(),
            records: None,
            form: None,
            drawn: Vec::new(),
            digest: None,
            fields: 0,
            problems: Vec::new(),
            counted: Counted::default(),
            passed_over: 0,
            kept_first: 0,
            passed_over_records: 0,
            format: None,
            others: Vec::new(),
            guesses: BTreeMap::new(),
            guessed: None,
            input_bytes: 0,
            record_bytes: 0,
            reading: Duration::ZERO,
            sketching: Duration::ZERO,
        }
    }
}

/// What the records of a block are like.
struct Form {
    format: InputFormat,
    /// What stands before the first record of the input.
    head: Arc<Head>,
    file: Arc<str>,
    /// They were not UTF-8, and had to be made that to be cut.
    is_transcoded: bool,
}

pub(super) struct BatchDocument {
    url_end: usize,
    url_hash: UrlHash,
    has_shingle: bool,
    is_short: bool,
    /// It has too few words or too many.
    is_left_out: bool,
    /// Nothing is left of it without the templates.
    is_template: bool,
    /// The index that it is added to has its id.
    is_known: bool,
}

/// Takes batches in input order, numbers the documents, and hands them on.
struct Collector<'r, 'a, K> {
    reading: &'r mut Reading<'a>,
    folders: &'r Folders,
    keep: K,
    numbers: Vec<Option<DocumentId>>,
    failed: Option<Error>,
}

impl<K> Collector<'_, '_, K> {
    fn add<T>(&mut self, batch: Batch<T>) -> ControlFlow<()>
    where
        K: FnMut(Numbered<'_>, T) -> ControlFlow<Option<Error>>,
    {
        let reading = &mut *self.reading;
        reading.stats.counts.record_bytes += batch.record_bytes;
        reading.stats.counts.passed_over += batch.passed_over;
        reading.stats.counts.kept_first += batch.kept_first;
        reading.stats.counts.passed_over_records += batch.passed_over_records;
        reading.stats.formats.extend(batch.format);
        reading.fields |= batch.fields;
        if let (None, Some(file)) = (&reading.stats.first_guessed, &batch.guessed) {
            reading.stats.first_guessed = Some(file.to_string());
        }
        for (guess, documents) in batch.guesses {
            *reading.stats.guessed_encodings.entry(guess).or_default() += documents;
        }
        reading.stats.seconds.read_busy += batch.reading;
        reading.stats.seconds.sketch_busy += batch.sketching;
        let mut others = batch.others.into_iter().peekable();
        let tell_of_other = |(number, what): (u64, &'static str)| {
            if let Some(file) = &batch.file {
                let place = Place {
                    file: Arc::clone(file),
                    record: Some(number),
                    byte: None,
                };
                reading.observer.passed_over(&place, what);
            }
        };
        for error in batch.problems {
            let record = error.place.record.unwrap_or(u64::MAX);
            while let Some(other) = others.next_if(|&(number, _)| number < record) {
                tell_of_other(other);
            }
            if error.is_fatal() || reading.settings.strictness == Strictness::Stop {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            reading.stats.counts.skipped += 1;
            reading.observer.problem(&error);
        }
        others.for_each(tell_of_other);
        let rest = reading.rest_bytes();
        if let (Some(kept), Some(records)) = (&mut reading.kept, batch.records) {
            kept.add(records, rest / KEPT_SHARE);
        }
        self.numbers.clear();
        let mut seen = batch.seen.iter().copied();
        if let (Some(records), Some(file)) = (&mut self.reading.records, &batch.file) {
            records.start(file);
        }
        if let Some(form) = batch.form.filter(|_| !batch.documents.is_empty()) {
            self.check_form(form, batch.documents.len() as u64)?;
        }
        let id_bytes = self.reading.id_bytes();
        let value_bytes: usize = batch.values.iter().map(value_bytes).sum();
        let mut url_start = 0;
        for (index, document) in batch.documents.iter().enumerate() {
            let url = &batch.urls[url_start..document.url_end];
            url_start = document.url_end;
            let (fate, number) = self.number(url, document)?;
            self.numbers.push(number);
            let reading = &mut *self.reading;
            if let Some(records) = &mut reading.records {
                records.push(&mut seen, fate);
            }
            if number.is_some() {
                reading
                    .descriptions
                    .lengths
                    .extend(batch.lengths.get(index));
                let value = batch.values.get(index).cloned();
                reading.descriptions.values.extend(value);
                if let (Some(parties), Some(party)) =
                    (&mut reading.parties, batch.parties.get(index))
                {
                    let place = parties.push(party.as_deref());
                    if let (Some(watch), Some(name)) = (&mut reading.folders, &batch.file)
                        && let Some(file) = self.folders.file(name)
                    {
                        watch.add(file, name, place.zip(party.as_deref()));
                    }
                }
            }
        }
        if let Some(records) = &mut self.reading.records {
            records.push_unreadable(&mut seen);
        }
        let reading = &mut *self.reading;
        if let Some(sample) = &mut reading.sample {
            for drawn in batch.drawn {
                if let Some(document) = self.numbers.get(drawn.place).copied().flatten() {
                    sample.add(drawn, document);
                }
            }
        }
        reading.floor.add(&Counted {
            documents: self.numbers.iter().flatten().count() as u64,
            id_bytes: (reading.id_bytes() - id_bytes + value_bytes) as u64,
            ..batch.counted
        });
        reading
            .observer
            .progress(batch.input_bytes, reading.stats.counts.documents);
        match batch.digest {
            Some(digest) => {
                let numbered = Numbered {
                    urls: &reading.urls,
                    block_urls: BlockUrls {
                        urls: &batch.urls,
                        documents: &batch.documents,
                    },
                    documents: &self.numbers,
                    rest: reading.rest_bytes(),
                };
                (self.keep)(numbered, digest).map_break(|error| self.failed = error)
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// Refuses what cannot be written, and takes note of what is not written as it came.
    fn check_form(&mut self, form: Form, documents: u64) -> ControlFlow<()> {
        let reading = &mut *self.reading;
        let Form {
            format, head, file, ..
        } = form;
        if form.is_transcoded && !format.is_file() {
            let transcoded = &mut reading.stats.transcoded;
            transcoded.get_or_insert_with(|| (file.to_string(), 0)).1 += documents;
        }
        let refused = match reading.wants.written {
            Written::Otherwise => None,
            Written::Apart => why_not_apart(format).map(ErrorKind::NoShard),
            Written::Together => {
                let format = format.written();
                let first = reading.written.get_or_insert((format, Arc::clone(&head)));
                let is_like = first.0 == format && first.1.is_like(&head);
                (!is_like).then_some(ErrorKind::MixedFormats)
            }
        };
        match refused {
            None => ControlFlow::Continue(()),
            Some(kind) => {
                self.failed = Some(Error::in_file(&file, kind));
                ControlFlow::Break(())
            }
        }
    }

    fn number(
        &mut self,
        url: &str,
        document: &BatchDocument,
    ) -> ControlFlow<(), (Fate, Option<DocumentId>)> {
        let reading = &mut *self.reading;
        let counts = &mut reading.stats.counts;
        if let Some(known) = reading.known.filter(|_| document.is_known) {
            match known.present {
                Present::Replace => {}
                Present::Skip => {
                    counts.present_ids += 1;
                    return ControlFlow::Continue((Fate::Repeated(DocumentId(0)), None));
                }
                Present::Refuse => {
                    let what = format!(
                        "the index has a document of the id {url} already; --replace takes this \
                         one instead, --skip leaves it out. Nothing was added"
                    );
                    let index = known.index.folder().to_string_lossy();
                    self.failed = Some(Error::in_file(&index, ErrorKind::Index(what)));
                    return ControlFlow::Break(());
                }
            }
        }
        let added = match (is_full(counts), &mut reading.seen) {
            (true, _) => Added::Full,
            (false, _) if reading.wants.ids == Ids::Passed => {
                Added::New(DocumentId(counts.documents as u32))
            }
            (false, Some(seen)) => seen.add(url),
            (false, None) => reading.urls.add_hashed(url, document.url_hash),
        };
        match added {
            Added::New(id) => {
                if document.is_known {
                    counts.present_ids += 1;
                    reading.present.push(id);
                }
                counts.documents += 1;
                counts.short += u64::from(document.is_short);
                counts.left_out += u64::from(document.is_left_out);
                counts.template_only += u64::from(document.is_template);
                if !document.has_shingle {
                    let is_known =
                        document.is_short || document.is_left_out || document.is_template;
                    counts.empty += u64::from(!is_known);
                    if reading.wants.ids == Ids::Kept {
                        reading.empty.push(id);
                    }
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
