//! The order of the stages.
//!
//! read → shingle → sketch → candidates → score → write
//!
//! Up to what is kept of each document, text is streamed ([`reading`]). For
//! Broder's score that is a signature; for exact scores it is the shingles, which
//! become sets of bundles when all are there. What follows works on those.

mod clusters;
mod copying;
mod exact;
mod kept;
mod ordered;
mod reading;
mod signatures;

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use crate::candidates::bands::{self, Layout};
use crate::candidates::identical::{Group, Groups, collapse};
use crate::candidates::{Match, RowSides, SearchStats};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::{Observer, Phase};
use crate::pairs::{Collection, Pairs, Sides};
use crate::read::Input;
use crate::score::{Measure, shared_at_least};
use crate::settings::Settings;
use crate::sketch::{Row, Signatures, Value, combine};
use crate::stats::Stats;
use crate::urls::Urls;
use crate::write::{OutputFormat, PairLines};
pub use clusters::{Clustered, Removed, cluster_documents};
pub use copying::{Chosen, KeptRecords, copy_documents};
use reading::{Described, Digest, read_all};
use signatures::{Repetitions, SignatureDigest};

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
        self.observer.phase(Phase::Comparing);
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
