//! Documents become part of an index.

use crate::run::reading::Present;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::pairs::{Similar, similar};
use crate::collection::{Features, Sides};
use crate::document::{Document, DocumentId};
use crate::error::{Error, ErrorKind};
use crate::index::matching::enough;
use crate::index::{
    Enough, Index, IndexWriter, KeyBlock, Lookups, Numbers, Remembered, Searcher, Spot, Writer,
};
use crate::memory::Memory;
use crate::observer::{Observer, Phase, Quiet};
use crate::read::{Input, json_value};
use crate::run::floor::Purpose;
use crate::run::in_pool;
use crate::run::reading::{Digest, Known, Reading, Wants};
use crate::score::{Measure, Score};
use crate::sets::{ListBlock, ShingleLists};
use crate::settings::Settings;
use crate::shingle::Shingle;
use crate::spill::SortedRuns;
use crate::stats::Stats;
use crate::write::pairs::sorted::SortedPairs;
use crate::write::pairs::write_pair_lines;
use crate::write::{IdLines, Listing, NamedWriter, PairFacts};

/// How documents are added.
#[derive(Clone, Debug, Default)]
pub struct Adding {
    /// What becomes of those whose ids are there.
    pub present: Present,
    /// Whether the pairs that they bring are wanted.
    pub pairs: bool,
    /// Who adds.
    pub writer: Writer,
}

/// The part of the memory that documents may take which wait to be written.
const RUN_SHARE: u64 = 3;

impl Index {
    /// Makes an index of documents, in a folder that is not there or empty.
    ///
    /// # Errors
    /// If there is something, if it cannot be written, or as for
    /// [`find_pairs`](crate::find_pairs). There is no index then.
    pub fn create(
        folder: &Path,
        inputs: Vec<Input>,
        settings: &Settings,
        writer: &Writer,
        observer: &dyn Observer,
    ) -> Result<Stats, Error> {
        in_pool(settings, || {
            let remembered = Remembered::of(settings);
            let mut index = IndexWriter::create(folder, remembered, writer)?;
            let mut reading = Reading::new(settings, observer, Wants::default(), Purpose::Index);
            observer.phase(Phase::Reading);
            let missing = read_into(&mut reading, inputs, settings, &mut index)?;
            reading.stats.missing_stored_fields = missing;
            let counts = &reading.stats.counts;
            if counts.documents == 0 && counts.skipped > 0 {
                // An empty index would be in the way of the next attempt.
                let what = "no document could be read, and no index was made".into();
                let name = folder.to_string_lossy();
                return Err(Error::in_file(&name, ErrorKind::Index(what)));
            }
            observer.phase(Phase::Writing);
            index.commit()?;
            Ok(reading.stats)
        })
    }

    /// Adds documents: all of them or, if something fails, none.
    ///
    /// # Errors
    /// If the index is being written by others, if it is damaged or cannot be written, or as for
    /// [`find_pairs`](crate::find_pairs).
    pub fn add(
        folder: &Path,
        inputs: Vec<Input>,
        settings: &Settings,
        adding: &Adding,
        observer: &dyn Observer,
    ) -> Result<AddedPairs, Error> {
        in_pool(settings, || {
            let writer = IndexWriter::open(folder, &adding.writer)?;
            let settings = writer.index().settings(settings)?;
            match adding.pairs {
                true => with_pairs(writer, inputs, &settings, adding, observer),
                false => without_pairs(writer, inputs, &settings, adding, observer),
            }
        })
    }

    /// Removes documents: all of them or, if some are not there, none. Gives back the ids that
    /// are not there.
    ///
    /// # Errors
    /// If the index is being written by others, is damaged, or cannot be written.
    pub fn remove<'a>(
        folder: &Path,
        ids: impl IntoIterator<Item = &'a str>,
        writer: &Writer,
    ) -> Result<Vec<String>, Error> {
        let mut index = IndexWriter::open(folder, writer)?;
        let mut unknown = Vec::new();
        for id in ids {
            match index.index().find(id)? {
                Some(spot) => index.remove(spot),
                None => unknown.push(id.to_owned()),
            }
        }
        if unknown.is_empty() {
            index.commit()?;
            index.merge_tiers()?;
        }
        Ok(unknown)
    }

    /// Merges all segments into one, without what was removed.
    ///
    /// # Errors
    /// As for [`Index::remove`].
    pub fn compact(folder: &Path, settings: &Settings, writer: &Writer) -> Result<(), Error> {
        in_pool(settings, || {
            let mut index = IndexWriter::open(folder, writer)?;
            index.limit(settings.memory().bytes / RUN_SHARE);
            index.compact()
        })
    }
}

/// Keys of documents, and fields that are kept of them.
struct KeyDigest<'a> {
    block: KeyBlock,
    stored: &'a StoredFields<'a>,
}

/// The fields that are kept of documents, and which of them were met.
struct StoredFields<'a> {
    names: &'a [String],
    met: Vec<AtomicBool>,
}

impl<'a> StoredFields<'a> {
    fn new(settings: &'a Settings) -> Self {
        let names = &settings.stored_fields;
        Self {
            names,
            met: names.iter().map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// The fields of a record that are kept, as a JSON object; nothing if it has none.
    fn of(&self, record: &[u8]) -> String {
        let mut object = serde_json::Map::new();
        for (name, met) in self.names.iter().zip(&self.met) {
            if let Some(value) = json_value(record, name) {
                object.insert(name.clone(), value);
                met.store(true, Ordering::Relaxed);
            }
        }
        match object.is_empty() {
            true => String::new(),
            false => serde_json::Value::Object(object).to_string(),
        }
    }

    /// Those that no document has, if there was any.
    fn missing(&self, stats: &Stats) -> Vec<String> {
        let fields = self.names.iter().zip(&self.met);
        let missing =
            fields.filter(|(_, met)| stats.counts.documents > 0 && !met.load(Ordering::Relaxed));
        missing.map(|(name, _)| name.clone()).collect()
    }
}

impl Digest for KeyDigest<'_> {
    type Output = KeyBlock;

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        self.block.push(shingles, &self.stored.of(document.record));
    }

    fn take(&mut self) -> KeyBlock {
        std::mem::take(&mut self.block)
    }

    fn bytes(block: &KeyBlock) -> usize {
        block.bytes()
    }
}

/// Keys of documents, their shingles as they come, and what the index has that is similar.
struct AddDigest<'a> {
    stored: &'a StoredFields<'a>,
    index: &'a Index,
    enough: Enough,
    searcher: Searcher,
    block: AddBlock,
}

#[derive(Default)]
struct AddBlock {
    keys: KeyBlock,
    lists: ListBlock,
    /// Documents by their places in the block, with what they share.
    found: Vec<(u32, Spot, u32)>,
    sizes: Vec<u32>,
    lookups: Lookups,
    failed: Option<Error>,
}

impl Digest for AddDigest<'_> {
    type Output = AddBlock;

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        let Self {
            stored,
            index,
            enough,
            searcher,
            block,
        } = self;
        block.keys.push(shingles, &stored.of(document.record));
        block.lists.push(shingles);
        let document = block.sizes.len() as u32;
        let keys = block.keys.last();
        block.sizes.push(keys.len() as u32);
        let found = &mut block.found;
        let searched = index.search(keys, None, *enough, searcher, |spot, shared| {
            found.push((document, spot, shared.shared));
        });
        if let Err(error) = searched {
            block.failed.get_or_insert(error);
        }
    }

    fn take(&mut self) -> AddBlock {
        self.block.lookups = std::mem::take(&mut self.searcher.lookups);
        std::mem::take(&mut self.block)
    }

    fn bytes(block: &AddBlock) -> usize {
        block.keys.bytes()
            + block.lists.bytes()
            + size_of_val(&block.found[..])
            + size_of_val(&block.sizes[..])
    }
}

/// Reads documents into an index, and gives the fields to store that none of them has.
fn read_into(
    reading: &mut Reading<'_>,
    inputs: Vec<Input>,
    settings: &Settings,
    writer: &mut IndexWriter,
) -> Result<Vec<String>, Error> {
    let stored = StoredFields::new(settings);
    let digest = || KeyDigest {
        block: KeyBlock::default(),
        stored: &stored,
    };
    reading.read(inputs, digest, |numbered, block| {
        writer.limit(numbered.rest / RUN_SHARE);
        let added = writer.push(&block, numbered.documents, |id| numbered.urls.get(id));
        match added {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Some(error)),
        }
    })?;
    reading.add_to_floor(writer.commit_bytes());
    reading.tell();
    Ok(stored.missing(&reading.stats))
}

/// Removes the documents that new ones take the place of, and gives them back in order.
fn remove_replaced(
    reading: &Reading<'_>,
    before: &Index,
    writer: &mut IndexWriter,
) -> Result<Vec<Spot>, Error> {
    let mut replaced = Vec::new();
    for &document in &reading.present {
        replaced.extend(before.find(reading.urls().get(document))?);
    }
    replaced.sort_unstable();
    for &spot in &replaced {
        writer.remove(spot);
    }
    Ok(replaced)
}

fn without_pairs(
    mut writer: IndexWriter,
    inputs: Vec<Input>,
    settings: &Settings,
    adding: &Adding,
    observer: &dyn Observer,
) -> Result<AddedPairs, Error> {
    let before = &Arc::clone(writer.index());
    let mut reading = Reading::new(settings, observer, Wants::default(), Purpose::Index);
    reading.known = Some(Known {
        ids: &**before,
        present: adding.present,
    });
    observer.phase(Phase::Reading);
    read_into(&mut reading, inputs, settings, &mut writer)?;
    remove_replaced(&reading, before, &mut writer)?;
    observer.phase(Phase::Writing);
    writer.commit()?;
    let stats = reading.stats;
    Ok(AddedPairs {
        writer,
        stats,
        pairs: None,
    })
}

fn with_pairs(
    mut writer: IndexWriter,
    inputs: Vec<Input>,
    settings: &Settings,
    adding: &Adding,
    observer: &dyn Observer,
) -> Result<AddedPairs, Error> {
    let enough = enough(settings)?;
    let before = &Arc::clone(writer.index());
    let mut reading = Reading::new(settings, observer, Wants::default(), Purpose::IndexPairs);
    reading.known = Some(Known {
        ids: &**before,
        present: adding.present,
    });
    let numbers = before.numbers()?;
    let mut lists = ShingleLists::new(&settings.memory());
    let mut matches = Matches::new(&settings.memory());
    let mut sizes: Vec<u32> = Vec::new();
    let mut pruned_by_min_shared = 0;
    let stored = StoredFields::new(settings);
    let digest = || AddDigest {
        stored: &stored,
        index: before,
        enough,
        searcher: Searcher::default(),
        block: AddBlock::default(),
    };
    observer.phase(Phase::Reading);
    reading.read(inputs, digest, |numbered, block| {
        let keep = || {
            if let Some(error) = block.failed {
                return Err(error);
            }
            pruned_by_min_shared += block.lookups.pruned_by_min_shared;
            writer.limit(numbered.rest / RUN_SHARE);
            writer.push(&block.keys, numbered.documents, |id| numbered.urls.get(id))?;
            lists.push(&block.lists, numbered.documents)?;
            lists.limit(numbered.rest)?;
            for (document, size) in numbered.documents.iter().zip(&block.sizes) {
                sizes.extend(document.map(|_| size));
            }
            for (place, spot, shared) in block.found {
                let Some(document) = numbered.documents[place as usize] else {
                    continue;
                };
                matches.push(numbers.of(spot), document, shared)?;
            }
            Ok(())
        };
        match keep() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Some(error)),
        }
    })?;
    lists.finish()?;
    reading.add_to_floor(writer.commit_bytes() + lists.table_bytes());
    reading.tell();
    let replaced = remove_replaced(&reading, before, &mut writer)?;
    observer.phase(Phase::Comparing);
    matches.finish()?;
    reading.stats.counts.spilled = lists.is_spilled();
    let features = Features::Shingles {
        lists: Box::new(lists),
        signatures: None,
    };
    let collection = reading.finish(features, Sides::All, None);
    let stats = std::mem::take(&mut reading.stats);
    let mut similar = similar(collection, stats, observer)?;
    similar.stats.search.pruned_by_min_shared += pruned_by_min_shared;
    observer.phase(Phase::Writing);
    writer.commit()?;
    let stats = similar.stats.clone();
    Ok(AddedPairs {
        pairs: Some(NewPairs {
            before: Arc::clone(before),
            numbers,
            replaced,
            matches,
            sizes,
            similar,
        }),
        writer,
        stats,
    })
}

/// Lines that are written at a time, about.
const LINES_BYTES: usize = 1 << 16;

/// Documents of the index and new ones that are similar, in order of the former.
struct Matches {
    waiting: Vec<((u32, u32), u32)>,
    runs: SortedRuns,
    memory: Memory,
}

/// The part of the memory that matches may take, and bytes of one.
const MATCHES_SHARE: u64 = 4;
const MATCH_BYTES: u64 = 12;

impl Matches {
    fn new(memory: &Memory) -> Self {
        Self {
            waiting: Vec::new(),
            runs: SortedRuns::default(),
            memory: memory.clone(),
        }
    }

    fn push(&mut self, number: u32, document: DocumentId, shared: u32) -> Result<(), Error> {
        self.waiting.push(((number, document.0), shared));
        match self.waiting.len() as u64 * MATCH_BYTES > self.memory.bytes / MATCHES_SHARE {
            true => self.runs.push(&mut self.waiting, &self.memory),
            false => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.waiting.sort_unstable();
        match self.runs.is_empty() {
            true => Ok(()),
            false => self.runs.push(&mut self.waiting, &self.memory),
        }
    }

    fn for_each(
        &self,
        mut each: impl FnMut(u32, DocumentId, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut each = |((number, document), shared)| each(number, DocumentId(document), shared);
        self.waiting.iter().copied().try_for_each(&mut each)?;
        self.runs.for_each(each)
    }
}

/// Documents that have been added, and the pairs that they bring.
pub struct AddedPairs {
    /// What was read.
    pub stats: Stats,
    writer: IndexWriter,
    pairs: Option<NewPairs>,
}

struct NewPairs {
    /// The index as it was before.
    before: Arc<Index>,
    numbers: Numbers,
    /// Documents of it that others took the place of, in order.
    replaced: Vec<Spot>,
    matches: Matches,
    /// Shingles of the new ones.
    sizes: Vec<u32>,
    /// The pairs of the new ones.
    similar: Similar,
}

/// New documents are numbered behind all that an index can have.
const NEW: u64 = 1 << 32;

/// What two documents share, and how many shingles each has.
struct Shared {
    shared: u32,
    sizes: [u32; 2],
}

impl Shared {
    fn facts(&self, measure: Measure) -> PairFacts<'static> {
        let Self { shared, sizes } = *self;
        PairFacts {
            score: measure.score(shared, sizes),
            shares: (measure == Measure::Containment)
                .then(|| sizes.map(|size| Score::new(shared, size))),
            shared,
            sizes,
            places: Default::default(),
        }
    }
}

impl NewPairs {
    /// Calls `each` with every pair of an older document, by its number, and a new one.
    fn for_each_older(
        &self,
        mut each: impl FnMut(u32, DocumentId, Shared) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.matches.for_each(|number, document, shared| {
            let spot = self.numbers.spot(number);
            if self.replaced.binary_search(&spot).is_ok() {
                return Ok(());
            }
            let sizes = [self.before.size(spot)?, self.sizes[document.index()]];
            each(number, document, Shared { shared, sizes })
        })
    }

    fn size_of_older(&self, number: u32) -> Result<u32, Error> {
        self.before.size(self.numbers.spot(number))
    }
}

impl AddedPairs {
    /// Writes the pairs between the new documents and all that are in the index, as a run over
    /// all would: in the order of the left document, then of the right, older documents first.
    /// Gives back how many.
    ///
    /// # Errors
    /// If they cannot be written, or the index is damaged.
    pub fn write(&mut self, listing: &Listing, output: NamedWriter<'_>) -> Result<u64, Error> {
        let Some(pairs) = &mut self.pairs else {
            return Ok(0);
        };
        let measure = pairs.similar.pairs.measure();
        let mut lines = IdLines::new(listing);
        let failed = |error, name: &str| Error::in_file(name, ErrorKind::Write(error));
        let NamedWriter { name, writer } = output;
        if !listing.is_counted {
            let header = lines.header(measure == Measure::Containment);
            let written = writer.write_all(header.as_bytes());
            written.map_err(|error| failed(error, name))?;
        }
        let (mut count, mut text) = (0, Vec::new());
        let mut left = None;
        let mut put =
            |id: &dyn Fn() -> Result<String, Error>, number, right: &str, pair: &Shared| {
                count += 1;
                if listing.is_counted {
                    return Ok(());
                }
                if left != Some(number) {
                    left = Some(number);
                    lines.left(&id()?);
                }
                lines.pair(right, &pair.facts(measure), &mut text);
                if text.len() > LINES_BYTES {
                    writer
                        .write_all(&text)
                        .map_err(|error| failed(error, name))?;
                    text.clear();
                }
                Ok(())
            };
        let NewPairs { similar, .. } = &*pairs;
        if listing.is_in_order() {
            pairs.for_each_older(|number, document, pair| {
                let id = || {
                    pairs
                        .before
                        .id(pairs.numbers.spot(number))
                        .map(str::to_owned)
                };
                put(&id, u64::from(number), similar.urls.get(document), &pair)
            })?;
            writer
                .write_all(&text)
                .map_err(|error| failed(error, name))?;
            let output = NamedWriter { name, writer };
            count += write_pair_lines(&mut pairs.similar, listing, output, &Quiet)?;
        } else {
            let mut sorted = SortedPairs::new(listing, self.stats.settings.memory());
            pairs.for_each_older(|number, document, pair| {
                let both = (u64::from(number), document.0);
                sorted.push(both, pair.facts(measure).score, pair.shared)
            })?;
            let mut result = Ok(());
            similar.pairs.for_each(|pair| {
                if result.is_ok() {
                    let both = (NEW + u64::from(pair.left.0), pair.right.0);
                    result = sorted.push(both, pair.score, pair.shared);
                }
            })?;
            result?;
            sorted.for_each(|(number, right), shared| {
                let right = DocumentId(right);
                let right_size = pairs.sizes[right.index()];
                let (own, left_size) = match number.checked_sub(NEW) {
                    Some(own) => (Some(DocumentId(own as u32)), pairs.sizes[own as usize]),
                    None => (None, pairs.size_of_older(number as u32)?),
                };
                let id = || match own {
                    Some(own) => Ok(similar.urls.get(own).to_owned()),
                    None => {
                        let spot = pairs.numbers.spot(number as u32);
                        pairs.before.id(spot).map(str::to_owned)
                    }
                };
                let pair = Shared {
                    shared,
                    sizes: [left_size, right_size],
                };
                put(&id, number, similar.urls.get(right), &pair)
            })?;
            writer
                .write_all(&text)
                .map_err(|error| failed(error, name))?;
        }
        self.stats.counts.pairs = count;
        Ok(count)
    }

    /// Merges segments, if it is time to.
    ///
    /// # Errors
    /// If the index is damaged, or cannot be written. What was added is there all the same.
    pub fn finish(mut self) -> Result<Stats, Error> {
        drop(self.pairs.take());
        let settings = self.stats.settings.clone();
        in_pool(&settings, || self.writer.merge_tiers())?;
        Ok(self.stats)
    }
}
