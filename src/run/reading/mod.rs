//! From inputs to a collection. Inputs are read, cut into blocks and digested by all threads
//! at once; what is left of a block comes back in input order, its documents numbered.

mod batch;
mod collector;
mod digest;
mod digesting;
mod known;
mod shared;
pub(crate) mod signatures;

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub(crate) use batch::Numbered;
use collector::Collector;
pub(crate) use digest::Digest;
use digest::{ListDigest, TemplateDigest};
use digesting::Digesting;
pub use known::Present;
pub(crate) use known::{HasIds, Known};
use shared::SharedFiles;
use signatures::{Repetitions, SignatureDigest};

use super::Inputs;
use super::floor::{Counted, Floor, Purpose};
use super::folders::{FolderWatch, Folders};
use super::ordered;
use super::records::{KeptRecords, RecordForm};
use super::sample::{Sample, SampleSettings, Sampled};
use crate::collection::{
    Collection, Descriptions, Features, Parties, Records, Scope, SeenIds, Sides, Twins, Urls,
};
use crate::document::DocumentId;
use crate::error::Error;
use crate::memory::Memory;
use crate::observer::{Observer, Phase};
use crate::read::{self, Head, Input, InputFormat};
use crate::score::Measure;
use crate::search::{Way, way};
use crate::sets::{ListBlock, ShingleLists};
use crate::settings::PartyBy;
use crate::settings::{Settings, Strictness, WordLimits};
use crate::shingle::Template;
use crate::shingle::shingler;
use crate::sketch::Signatures;
use crate::stats::Stats;

/// What is to be known of documents besides what they are compared by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wants {
    /// How long their texts are.
    pub(crate) lengths: bool,
    /// What the settings' field holds.
    pub(crate) values: bool,
    /// Which record is which document, and which are none.
    pub(crate) records: bool,
    /// Which records of archives are no documents.
    pub(crate) others: bool,
    /// Which file each is from.
    pub(crate) files: bool,
    /// Whether those are compared with each other, too, that are left when some went because of the
    /// other side.
    pub(crate) rest: bool,
    /// Their records, in this form, for as long as they fit into an eighth of the memory.
    pub(crate) kept: Option<RecordForm>,
    /// How their records will be written.
    pub(crate) written: Written,
    /// What of their ids.
    pub(crate) ids: Ids,
    /// Some of them with their texts.
    pub(crate) sample: Option<SampleSettings>,
}

/// How records are written once all is read. What cannot be is refused as soon as it is met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Written {
    /// Not as they came.
    #[default]
    Otherwise,
    /// To one output, which has one format.
    Together,
    /// Those of each input to an output of its own.
    Apart,
}

/// Why an input of a format has no output of its own.
pub(crate) fn why_not_apart(format: InputFormat) -> Option<&'static str> {
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
pub(crate) enum Ids {
    /// All of them.
    #[default]
    Kept,
    /// No more than whether they were met before.
    Seen,
    /// Nothing: an id may come again.
    Passed,
}

/// The part of the memory that kept records may take.
const KEPT_SHARE: u64 = 8;

/// What has been read so far.
pub(crate) struct Reading<'a> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    wants: Wants,
    urls: Urls,
    /// In place of the ids, if they are not wanted.
    seen: Option<SeenIds>,
    /// The index that they are added to, and those of them whose ids it has.
    pub(crate) known: Option<Known<'a>>,
    pub(crate) present: Vec<DocumentId>,
    pub(crate) stats: Stats,
    descriptions: Descriptions,
    records: Option<Records>,
    /// The documents' records, if they are to be kept.
    pub(crate) kept: Option<KeptRecords>,
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
    pub(crate) template: Template,
    /// Files that are read for both sides, if there are some.
    shared: Option<SharedFiles>,
    /// Documents that were drawn, if some are wanted.
    pub(crate) sample: Option<Sample>,
    /// What is made of them, to compare the documents with.
    pub(crate) planting: Option<Planting<'a>>,
}

/// What is compared with the documents that it is made of.
pub(crate) struct Planting<'a> {
    /// How it is read.
    pub(crate) settings: &'a Settings,
    pub(crate) make: Box<dyn FnOnce(Vec<Sampled>) -> Input + Send>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
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
            shared: None,
            sample: wants.sample.map(Sample::new),
            planting: None,
        }
    }

    /// What is left of the memory for all that can go to files.
    fn rest_bytes(&self) -> u64 {
        let memory = self.settings.memory.as_ref();
        memory.map_or(u64::MAX, |memory| self.floor.rest(memory.bytes))
    }

    /// The same, with the place of the files.
    pub(crate) fn rest_memory(&self) -> Memory {
        Memory {
            bytes: self.rest_bytes(),
            ..self.settings.memory()
        }
    }

    /// Bytes of ids, or of what is kept in their place.
    fn id_bytes(&self) -> usize {
        let seen = self.seen.as_ref().map_or(0, SeenIds::bytes);
        self.urls.bytes() + seen
    }

    /// The ids of all documents so far.
    pub(crate) fn urls(&self) -> &Urls {
        &self.urls
    }

    /// Counts what must be in memory besides.
    pub(crate) fn add_to_floor(&mut self, bytes: u64) {
        self.floor.add(&Counted {
            id_bytes: bytes,
            ..Counted::default()
        });
    }

    /// Counts what is decided of the documents so far while the rest is compared, if it is.
    pub(crate) fn add_rest_to_floor(&mut self) {
        const KEEPER_BYTES: u64 = 24;
        if self.wants.rest {
            self.add_to_floor(self.stats.counts.documents * KEEPER_BYTES);
        }
    }

    /// Says how much memory is the least, and what is missing, once all is read.
    pub(crate) fn tell(&mut self) {
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

    /// Returns what was read, in numbers, where no collection is made of it.
    #[cfg(feature = "worker")]
    pub(crate) fn into_stats(mut self) -> Stats {
        self.tell();
        self.stats.counts.grouped = self.parties.as_ref().map_or(0, Parties::documents) as u64;
        self.stats
    }

    /// Reads everything into a collection: first the documents, then what they are compared
    /// with.
    pub(crate) fn collection(&mut self, mut inputs: Inputs) -> Result<Collection, Error> {
        self.observer.phase(Phase::Reading);
        let settings = self.settings;
        self.take_out(std::mem::take(&mut inputs.templates))?;
        // Without all of the other side the answer would be another, and nobody would know.
        inputs.against.iter().flatten().try_for_each(Input::check)?;
        self.shared = SharedFiles::of(&inputs);
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
                self.add_to_floor(lists.table_bytes());
                self.stats.counts.spilled = lists.is_spilled();
                let lists = Box::new(lists);
                (Features::Shingles { lists, signatures }, own)
            }
        };
        let twins = self.shared.take().map(|shared| {
            self.add_to_floor(shared.bytes());
            Arc::new(shared.finder.finish())
        });
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
        Ok(self.finish(features, sides, twins))
    }

    /// What was read, as a collection.
    pub(crate) fn finish(
        &mut self,
        features: Features,
        sides: Sides,
        twins: Option<Arc<Twins>>,
    ) -> Collection {
        self.stats.counts.groups = self.parties.as_ref().map_or(0, Parties::len) as u64;
        self.stats.counts.grouped = self.parties.as_ref().map_or(0, Parties::documents) as u64;
        self.stats.folders = self.folders.take().and_then(|folders| folders.notes());
        let scope = Scope {
            sides,
            parties: self.parties.take().map(Arc::new),
            twins,
        };
        let started = Instant::now();
        let empty = std::mem::take(&mut self.empty);
        let has_limit = self.settings.memory.is_some();
        let settings = &Settings {
            memory: has_limit.then(|| self.rest_memory()),
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
    /// them is kept. All of a template counts, however long it is, and one that cannot be read is an
    /// error.
    pub(crate) fn take_out(&mut self, templates: Vec<Input>) -> Result<(), Error> {
        if templates.is_empty() {
            return Ok(());
        }
        let settings = &Settings {
            words: WordLimits::default(),
            strictness: Strictness::Stop,
            ..self.settings.clone()
        };
        let mut reading =
            Reading::new(settings, self.observer, Wants::default(), Purpose::Sketches);
        reading.parties = None;
        let mut template = Template::default();
        reading.read(templates, TemplateDigest::default, |_, shingles| {
            template.extend(shingles);
            ControlFlow::Continue(())
        })?;
        self.floor.add(reading.floor.counted());
        // Its table is the largest when it is made anew, twice as large, and filled from the old one.
        let entry_bytes = size_of::<crate::shingle::Shingle>() + 1;
        self.add_to_floor((template.capacity() * entry_bytes * 3 / 2) as u64);
        self.template = template;
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
        if inputs.against.is_some() {
            self.add_rest_to_floor();
        }
        // An id may come again on the other side, whose records are of no interest.
        self.urls.forget();
        let (records, kept) = (self.records.take(), self.kept.take());
        self.wants.written = Written::Otherwise;
        let folders = self.folders.take();
        let mut against = inputs.against.unwrap_or_default();
        if let Some(shared) = &mut self.shared {
            shared.start_right(&against);
        }
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
    pub(crate) fn read<D: Digest>(
        &mut self,
        inputs: Vec<Input>,
        digest: impl Fn() -> D + Sync,
        keep: impl FnMut(Numbered<'_>, D::Output) -> ControlFlow<Option<Error>> + Send,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let settings = self.settings;
        self.stats.counts.repeated_files += inputs.iter().map(Input::repeats).sum::<u64>();
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
                files: self.shared.is_some(),
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
        match failed.or_else(|| self.stats.texts.nothing_printed()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
