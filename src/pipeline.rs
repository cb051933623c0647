//! The order of the stages.
//!
//! read → shingle → sketch → candidates → score → write
//!
//! Up to what is kept of each document, text is streamed ([`reading`]). For
//! Broder's score that is a signature; for exact scores it is the shingles, which
//! become sets of bundles when all are there. What follows works on those.

mod clusters;
mod copying;
mod kept;
mod ordered;
mod reading;

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use crate::candidates::bands::{self, Layout};
use crate::candidates::identical::{Group, Groups, collapse};
use crate::candidates::least;
use crate::candidates::prefix::PrefixIndex;
use crate::candidates::ranked::{self, RankedSets};
use crate::candidates::recall::{self, Bands};
use crate::candidates::{Match, RecallAt, RowSides, SearchStats};
use crate::cluster::Assigned;
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::pairs::{Collection, Pairs, Sides};
use crate::read::Input;
use crate::score::{Measure, SetBound, shared_at_least};
use crate::sets::{ListBlock, ListWriter};
use crate::settings::{Finding, Settings};
use crate::shingle::Shingle;
use crate::sketch::{Row, Signatures, SketchSettings, Sketcher, Value, combine, sketcher};
use crate::stats::Stats;
use crate::urls::Urls;
use crate::write::{OutputFormat, PairLines};
pub use clusters::{Clustered, PairCluster, Removed, ScoredPair, cluster_documents, cluster_pairs};
pub use copying::{Chosen, KeptRecords, copy_documents};
use kept::KeptShingles;
use reading::{Described, Digest, read_all};

/// What to read: documents, and perhaps others to compare them with.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The documents.
    pub documents: Vec<Input>,
    /// What the documents are compared with, if not with each other.
    pub against: Option<Vec<Input>>,
    /// How the documents' records are to be kept for [`copy_documents`], if at all; those
    /// that take more than an eighth of the memory are not.
    pub keep: Option<Chosen>,
}

impl From<Vec<Input>> for Inputs {
    fn from(documents: Vec<Input>) -> Self {
        Self {
            documents,
            against: None,
            keep: None,
        }
    }
}

/// What [`find_pairs`] found.
#[derive(Debug)]
pub struct Similar {
    /// The ids of all documents; those of `against` come last.
    pub urls: Urls,
    /// The pairs at or above the threshold.
    pub pairs: Pairs,
    /// The documents' records, if they were to be kept.
    pub kept: Option<KeptRecords>,
    /// What the run did.
    pub stats: Stats,
}

/// Finds the pairs of documents whose score is at least the threshold:
///
/// 1. read: inputs, in order, into documents; an id met again is skipped;
/// 2. shingle: each document's text into the hashes of its windows of words;
/// 3. sketch: the shingles into a signature; or, for exact scores, all shingles
///    into sets of bundles;
/// 4. candidates: what is identical is collapsed; the rest is found by bands of
///    positions or by the prefixes of the sets;
/// 5. score: what a candidate's signatures or sets have in common.
///
/// ```
/// use simdup::{Input, Quiet, Settings, find_pairs};
///
/// let collection = r#"
/// {"url": "a", "text": "one ship came into the harbour at dawn with a torn sail"}
/// {"url": "b", "text": "the bakery on the corner sells out of rye before eight"}
/// {"url": "c", "text": "One ship came into the harbour at dawn, with a torn sail!"}
/// "#;
/// let inputs = vec![Input::from_reader("collection", collection.as_bytes())];
/// let similar = find_pairs(inputs, &Settings::default(), &Quiet)?;
/// let pairs = similar.pairs.to_vec();
/// assert_eq!(pairs.len(), 1);
/// assert_eq!(similar.urls.get(pairs[0].left), "a");
/// assert_eq!(similar.urls.get(pairs[0].right), "c");
/// assert_eq!(pairs[0].score.to_string(), "1.0");
/// # Ok::<(), simdup::Error>(())
/// ```
pub fn find_pairs(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Similar, Error> {
    let mut run = Run::new(inputs.into(), settings, observer);
    in_pool(settings, || {
        let pairs = match settings.measure {
            Measure::MinHash => run.by_signatures()?,
            Measure::Jaccard | Measure::Containment => run.by_sets()?,
        };
        Ok(Similar {
            urls: run.urls,
            pairs,
            kept: run.kept,
            stats: run.stats,
        })
    })
}

/// Pairs that a thread writes at a time.
const PAIRS_AT_ONCE: usize = 4096;

/// Writes all pairs in order, and gives back how many there are.
pub fn write_pairs(
    similar: &mut Similar,
    format: OutputFormat,
    output: &mut (dyn Write + Send),
) -> Result<u64, io::Error> {
    let started = Instant::now();
    let Similar {
        urls, pairs, stats, ..
    } = similar;
    let (urls, pairs) = (&*urls, &*pairs);
    let header = PairLines::new(format, urls).header(pairs.measure());
    let mut result = output.write_all(header.as_bytes());
    let mut count = 0;
    let writing = Writing {
        format,
        urls,
        pairs,
    };
    // Nothing else can fail here.
    let written = in_pool(&stats.settings, || {
        let lanes = std::iter::once((Row(0), ()));
        ordered::in_order(&writing, lanes, |(text, more)| {
            count += more;
            result = output.write_all(&text);
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        Ok(())
    });
    written.map_err(io::Error::other)?;
    result?;
    output.flush()?;
    stats.counts.pairs = count;
    stats.seconds.write = started.elapsed();
    Ok(count)
}

/// How pairs become lines.
struct Writing<'a> {
    format: OutputFormat,
    urls: &'a Urls,
    pairs: &'a Pairs,
}

impl<'a> ordered::Work for Writing<'a> {
    type Source = Row;
    type Joint = ();
    type Piece = Range<Row>;
    type Scratch = PairLines<'a>;
    type Output = (Vec<u8>, u64);

    fn take(&self, start: &mut Row, run: &mut Range<Row>) -> bool {
        let Some(end) = self.pairs.next_run(*start, PAIRS_AT_ONCE) else {
            return false;
        };
        *run = *start..end;
        *start = end;
        true
    }

    fn join(&self, (): &mut (), _: &mut Range<Row>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn scratch(&self) -> PairLines<'a> {
        PairLines::new(self.format, self.urls)
    }

    fn work(
        &self,
        run: &mut Range<Row>,
        lines: &mut PairLines<'a>,
        give: &mut dyn FnMut((Vec<u8>, u64)),
    ) {
        let (mut text, mut count) = (Vec::new(), 0);
        self.pairs.for_each_in(run.clone(), |pair| {
            lines.pair(&pair, &mut text);
            count += 1;
        });
        give((text, count));
    }

    fn bytes((text, _): &(Vec<u8>, u64)) -> usize {
        text.len()
    }
}

/// A document with its signature, as [`sketch_documents`] gives it.
#[derive(Clone, Copy, Debug)]
pub struct Sketched<'a> {
    /// Its id.
    pub url: &'a str,
    /// How many distinct shingles it has.
    pub shingles: usize,
    /// Its signature.
    pub signature: &'a [Value],
}

/// Sketches all documents that have a shingle and gives them to `each` in input
/// order, as they come; nothing but the ids is kept. Ends when `each` breaks.
pub fn sketch_documents(
    inputs: Vec<Input>,
    settings: &Settings,
    observer: &dyn Observer,
    mut each: impl FnMut(Sketched<'_>) -> ControlFlow<()> + Send,
) -> Result<Stats, Error> {
    let mut run = Run::new(inputs.into(), settings, observer);
    in_pool(settings, || {
        let digest = || SignatureDigest::new(&settings.sketch, Repetitions::Drop);
        run.read(digest, |urls, documents, batch| {
            for (document, shingles, signature) in batch.signatures(documents) {
                each(Sketched {
                    url: urls.get(document),
                    shingles,
                    signature,
                })
                .map_break(|()| None)?;
            }
            ControlFlow::Continue(())
        })?;
        Ok(run.stats)
    })
}

fn in_pool<T: Send>(
    settings: &Settings,
    run: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    settings.check()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.thread_count())
        .build()
        .map_err(|error| Error::in_file("-", ErrorKind::Threads(error.to_string())))?;
    pool.install(run)
}

/// What all ways of finding pairs have in common.
struct Run<'a> {
    inputs: Inputs,
    settings: &'a Settings,
    observer: &'a dyn Observer,
    urls: Urls,
    stats: Stats,
    /// Documents before those of `against`.
    documents: usize,
    /// What else is to be known of each row.
    described: Option<Described>,
    /// The documents' records, if they are to be kept.
    kept: Option<KeptRecords>,
}

impl<'a> Run<'a> {
    fn new(inputs: Inputs, settings: &'a Settings, observer: &'a dyn Observer) -> Self {
        let memory = settings.memory.as_ref();
        let kept_bytes_max = memory.map_or(u64::MAX, |memory| memory.bytes / 8);
        let kept = inputs
            .keep
            .map(|chosen| KeptRecords::new(chosen, kept_bytes_max));
        Self {
            kept,
            inputs,
            settings,
            observer,
            urls: Urls::default(),
            stats: Stats {
                settings: settings.clone(),
                ..Stats::default()
            },
            documents: 0,
            described: None,
        }
    }

    /// Reads everything: first the documents, then what they are compared with.
    fn read<D: Digest>(
        &mut self,
        digest: impl Fn() -> D + Sync,
        mut keep: impl FnMut(&Urls, &[Option<DocumentId>], D::Output) -> ControlFlow<Option<Error>>
        + Send,
    ) -> Result<(), Error> {
        let Inputs {
            documents, against, ..
        } = std::mem::take(&mut self.inputs);
        let mut kept = None;
        for (inputs, is_first) in [(documents, true), (against.unwrap_or_default(), false)] {
            // An id may come again on the other side.
            self.urls.forget();
            read_all(inputs, self, &digest, &mut keep)?;
            if is_first {
                self.documents = self.urls.len();
                kept = self.kept.take();
            }
        }
        self.kept = kept;
        self.urls.forget();
        self.observer.searching();
        Ok(())
    }

    /// Which rows are compared; they belong to these documents.
    fn sides(&self, documents: &[Option<DocumentId>], compared: bool) -> Sides {
        if !compared {
            return Sides::One;
        }
        let first = documents
            .iter()
            .position(|document| document.is_some_and(|id| id.index() >= self.documents));
        Sides::Across(Row(first.unwrap_or(documents.len()) as u32))
    }

    /// Broder's score: the share of positions in which two signatures agree.
    fn by_signatures(&mut self) -> Result<Pairs, Error> {
        let settings = self.settings;
        let compared = self.inputs.against.is_some();
        let mut signatures = Signatures::new(settings.sketch.positions());
        let digest = || SignatureDigest::new(&settings.sketch, Repetitions::Count);
        self.read(digest, |_, documents, batch| {
            for (document, _, signature) in batch.signatures(documents) {
                signatures.push(document, signature);
            }
            ControlFlow::Continue(())
        })?;
        let started = Instant::now();
        let documents: Vec<_> = signatures.documents().map(Some).collect();
        let sides = self.sides(&documents, compared);
        let groups = collapse(
            signatures.len() as u32,
            |row| signatures.row(row).iter().copied().fold(0, combine),
            |left, right| signatures.row(left) == signatures.row(right),
        );
        let rows: Vec<Row> = groups.representatives().collect();
        let positions = signatures.positions();
        let needed = settings.threshold.needed(positions);
        let row_sides = match group_sides(&groups, sides) {
            RowSides::One => RowSides::One,
            RowSides::Two(of) => {
                let of_row = |row| of[groups.of(Row(row)).0 as usize];
                RowSides::Two((0..signatures.len() as u32).map(of_row).collect())
            }
        };
        let score = |left: Row, right: Row| {
            shared_at_least(signatures.row(left), signatures.row(right), needed)
        };
        let (mut matches, search) = bands::search(
            &signatures,
            &rows,
            Layout::Lossless,
            needed,
            &row_sides,
            score,
        );
        drop(signatures);
        for found in &mut matches {
            found.left = group_row(&groups, found.left);
            found.right = group_row(&groups, found.right);
        }
        let sizes = vec![positions as u32; groups.len()];
        let collection = Collection {
            documents,
            groups,
            sizes,
            measure: Measure::MinHash,
            sides,
        };
        Ok(self.finish(collection, &matches, search, started))
    }

    /// Exact scores of sets.
    fn by_sets(&mut self) -> Result<Pairs, Error> {
        let Compared {
            documents,
            groups,
            sides,
            found,
        } = self.compare_sets()?;
        let started = Instant::now();
        let (sizes, matches, search) = match found {
            Found::Matches {
                sizes,
                matches,
                search,
                ..
            } => (sizes, matches, search),
            // Only clusters make do with less.
            Found::Lists { sizes, .. } | Found::Stars { sizes, .. } => {
                (sizes, Vec::new(), SearchStats::default())
            }
            Found::Sets(sets) => {
                let bound = SetBound::new(self.settings.measure, self.settings.threshold);
                let (matches, search) = self.join(&sets, bound, &group_sides(&groups, sides));
                (sets.sizes().to_vec(), matches, search)
            }
        };
        let collection = Collection {
            documents,
            groups,
            sizes,
            measure: self.settings.measure,
            sides,
        };
        Ok(self.finish(collection, &matches, search, started))
    }

    /// Reads all, and finds what is similar by the least shingles where that is little;
    /// elsewhere it makes sets of bundles, in which to look for it.
    fn compare_sets(&mut self) -> Result<Compared, Error> {
        let compared = self.compare_lists()?;
        match compared.found {
            Found::Lists { shingles, .. } => {
                self.bundle(compared.documents, compared.sides, shingles)
            }
            _ => Ok(compared),
        }
    }

    /// Reads all, and finds what is similar by the least shingles where that is little;
    /// elsewhere nothing is known yet but which lists are the same.
    fn compare_lists(&mut self) -> Result<Compared, Error> {
        let settings = self.settings;
        let compared = self.inputs.against.is_some();
        let mut shingles = KeptShingles::new(settings);
        let mut documents: Vec<Option<DocumentId>> = Vec::new();
        let digest = || ListWriter::new(settings.least_shingles());
        self.read(digest, |_, numbers, block| {
            documents.extend_from_slice(numbers);
            match shingles.push(block, numbers) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(Some(error)),
            }
        })?;
        let sides = self.sides(&documents, compared);
        let bound = SetBound::new(settings.measure, settings.threshold);
        let Some(lists) = shingles.lists() else {
            return self.bundle(documents, sides, shingles);
        };
        let started = Instant::now();
        let collection = least::Collection {
            lists,
            is_excluded: &|row| documents[row.0 as usize].is_none(),
            sides: &|groups| group_sides(groups, sides),
        };
        let found = least::search(&collection, settings.threshold, bound);
        let compared = match found {
            Some(found) => (
                found.groups,
                Found::Matches {
                    sizes: found.sizes,
                    matches: found.matches,
                    search: found.stats,
                    shingles,
                },
            ),
            None => {
                let groups = least::groups(&collection);
                let length = |row: Row| lists.list(row.0 as usize).len() as u32;
                let sizes = groups.representatives().map(length).collect();
                (groups, Found::Lists { sizes, shingles })
            }
        };
        self.stats.seconds.candidates += started.elapsed();
        let (groups, found) = compared;
        Ok(Compared {
            documents,
            groups,
            sides,
            found,
        })
    }

    /// Makes sets of bundles.
    fn bundle(
        &mut self,
        documents: Vec<Option<DocumentId>>,
        sides: Sides,
        shingles: KeptShingles,
    ) -> Result<Compared, Error> {
        let settings = self.settings;
        let bound = SetBound::new(settings.measure, settings.threshold);
        let started = Instant::now();
        let sets = shingles.into_sets()?;
        self.stats.counts.spilled = sets.is_spilled();
        let sets = sets.into_bundles(settings.common.of(self.urls.len()))?;
        let groups = ranked::groups(&sets);
        let ranked = ranked::rank(&sets, &groups, bound);
        self.stats.seconds.bundle = started.elapsed();
        Ok(Compared {
            documents,
            groups,
            sides,
            found: Found::Sets(ranked),
        })
    }

    /// The matches among sets, by the complete join unless bands are asked for and
    /// cost less.
    fn join(
        &self,
        sets: &RankedSets,
        bound: SetBound,
        sides: &RowSides,
    ) -> (Vec<Match>, SearchStats) {
        let settings = self.settings;
        let threshold = settings.threshold.as_f64();
        let positions = settings.sketch.positions();
        let by_bands = |bands| {
            recall::search(
                sets,
                &settings.sketch,
                bands,
                settings.threshold,
                bound,
                sides,
            )
        };
        let bands = match (settings.measure, settings.finding) {
            (Measure::Jaccard, Finding::Bands(bands)) => return by_bands(bands),
            (Measure::Jaccard, Finding::Recall(recall)) if recall < 1.0 => {
                Bands::for_recall(positions, threshold, recall)
            }
            _ => None,
        };
        let index = PrefixIndex::new(sets, bound);
        if let Some(bands) = bands
            && index.hits() > recall::hits_worth_it(sets, bands)
        {
            drop(index);
            return by_bands(bands);
        }
        let (matches, mut stats) = index.search(sides);
        stats.recall = recall::scores_to_state(settings.threshold)
            .map(|score| RecallAt { score, chance: 1.0 })
            .collect();
        (matches, stats)
    }

    fn finish(
        &mut self,
        collection: Collection,
        matches: &[Match],
        search: SearchStats,
        started: Instant,
    ) -> Pairs {
        let counts = &mut self.stats.counts;
        counts.identical = (collection.groups.rows() - collection.groups.len()) as u64;
        counts.candidates = search.candidates;
        self.stats.search = search;
        let pairs = Pairs::new(collection, matches);
        self.stats.seconds.candidates += started.elapsed();
        pairs
    }
}

/// A collection for exact scores, and what is known of its sets.
struct Compared {
    documents: Vec<Option<DocumentId>>,
    groups: Groups,
    sides: Sides,
    found: Found,
}

enum Found {
    /// All that is similar, which is little.
    Matches {
        sizes: Vec<u32>,
        matches: Vec<Match>,
        search: SearchStats,
        shingles: KeptShingles,
    },
    /// Too much is similar; shingles as they came, and how many each group has.
    Lists {
        sizes: Vec<u32>,
        shingles: KeptShingles,
    },
    /// Stars, found without looking for all that is similar.
    Stars {
        assigned: Assigned,
        sizes: Vec<u32>,
        search: SearchStats,
    },
    /// The sets in which to look for it.
    Sets(RankedSets),
}

/// A row's group, as the row that stands for it among the groups.
fn group_row(groups: &Groups, row: Row) -> Row {
    Row(groups.of(row).0)
}

/// On which sides each group, by number, has members.
fn group_sides(groups: &Groups, sides: Sides) -> RowSides {
    let Sides::Across(first) = sides else {
        return RowSides::One;
    };
    let side = |row: &Row| match *row < first {
        true => RowSides::LEFT,
        false => RowSides::RIGHT,
    };
    let of_group = |group| {
        let members = groups.members(Group(group));
        members.iter().fold(0, |sides, row| sides | side(row))
    };
    RowSides::Two((0..groups.len() as u32).map(of_group).collect())
}

/// Whether a shingle that a document repeats counts again in its number of
/// shingles. A signature does not care, and finding them takes time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repetitions {
    Count,
    Drop,
}

/// Signatures of the documents of a block.
struct SignatureDigest {
    sketcher: Box<dyn Sketcher>,
    repetitions: Repetitions,
    batch: SignatureBatch,
}

#[derive(Default)]
struct SignatureBatch {
    values: Vec<Value>,
    /// For each document, where its signature ends, and its number of shingles.
    documents: Vec<(usize, usize)>,
}

impl SignatureDigest {
    fn new(settings: &SketchSettings, repetitions: Repetitions) -> Self {
        Self {
            sketcher: sketcher(settings),
            repetitions,
            batch: SignatureBatch::default(),
        }
    }
}

impl Digest for SignatureDigest {
    type Output = SignatureBatch;

    fn document(&mut self, shingles: &[Shingle]) {
        if !shingles.is_empty() {
            self.sketcher.sketch(shingles, &mut self.batch.values);
        }
        let count = match self.repetitions {
            Repetitions::Count => shingles.len(),
            Repetitions::Drop => crate::shingle::ShingleSet::new(shingles.to_vec())
                .as_slice()
                .len(),
        };
        self.batch.documents.push((self.batch.values.len(), count));
    }

    fn take(&mut self) -> SignatureBatch {
        std::mem::take(&mut self.batch)
    }

    fn bytes(batch: &SignatureBatch) -> usize {
        size_of_val(&batch.values[..]) + size_of_val(&batch.documents[..])
    }
}

impl SignatureBatch {
    /// The documents that count and have shingles: ordinal, number of shingles,
    /// signature.
    fn signatures(
        &self,
        documents: &[Option<DocumentId>],
    ) -> impl Iterator<Item = (DocumentId, usize, &[Value])> {
        let mut start = 0;
        documents
            .iter()
            .zip(&self.documents)
            .filter_map(move |(document, &(end, shingles))| {
                let signature = &self.values[start..end];
                start = end;
                let document = (*document)?;
                (!signature.is_empty()).then_some((document, shingles, signature))
            })
    }
}

impl Digest for ListWriter {
    type Output = ListBlock;

    fn document(&mut self, shingles: &[Shingle]) {
        self.push(shingles);
    }

    fn take(&mut self) -> ListBlock {
        self.take()
    }

    fn bytes(block: &ListBlock) -> usize {
        block.bytes()
    }
}
