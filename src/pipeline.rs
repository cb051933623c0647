//! The order of the stages, the batches and the threads.
//!
//! read → shingle → sketch → candidates → score → write
//!
//! Up to the signatures, text is streamed: threads take turns to unpack a block
//! of records, and each parses, shingles and sketches the block it has unpacked.
//! Only ids and signatures are kept. What follows works on those.

mod ordered;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::candidates::{bands, identical};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::pairs::Pairs;
use crate::read::{Block, Blocks, Input};
use crate::score::{Score, shared_positions};
use crate::settings::{Settings, Strictness};
use crate::shingle::{Shingler, Shingles, shingler};
use crate::sketch::{Row, Signatures, Sketcher, Value, combine, sketcher};
use crate::stats::Stats;
use crate::urls::{Added, Urls};

/// What [`find_pairs`] found.
#[derive(Debug)]
pub struct Similar {
    /// The ids of all documents.
    pub urls: Urls,
    /// The pairs at or above the threshold.
    pub pairs: Pairs,
    /// What the run did.
    pub stats: Stats,
}

/// Finds every pair of documents whose score is at least the threshold:
///
/// 1. read: inputs, in order, into documents; an id met again is skipped;
/// 2. shingle: each document's text into the hashes of its windows of words;
/// 3. sketch: the shingles into a signature;
/// 4. candidates: identical signatures are collapsed, the others filed by bands
///    of positions, so many that no pair is missed;
/// 5. score: the share of positions in which a candidate's signatures agree.
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
    inputs: Vec<Input>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Similar, Error> {
    in_pool(settings, || {
        let mut signatures = Signatures::new(settings.sketch.positions());
        let keep = |document: Sketched<'_>| {
            if !document.signature.is_empty() {
                signatures.push(document.id, document.signature);
            }
            ControlFlow::Continue(())
        };
        let (mut urls, mut stats) =
            sketch_all(inputs, settings, observer, Repetitions::Count, keep)?;
        urls.freeze();
        observer.searching();
        let started = Instant::now();
        let pairs = similar_signatures(signatures, settings, &mut stats);
        stats.seconds.candidates = started.elapsed();
        Ok(Similar { urls, pairs, stats })
    })
}

/// A document with its signature, as [`sketch_documents`] gives it.
#[derive(Clone, Copy, Debug)]
pub struct Sketched<'a> {
    /// Its ordinal.
    pub id: DocumentId,
    /// Its id.
    pub url: &'a str,
    /// How many distinct shingles it has.
    pub shingles: usize,
    /// Its signature; empty if it has no shingle.
    pub signature: &'a [Value],
}

/// Sketches all documents and gives them to `each` in input order, as they come;
/// nothing but the ids is kept. Ends when `each` breaks.
pub fn sketch_documents(
    inputs: Vec<Input>,
    settings: &Settings,
    observer: &dyn Observer,
    each: impl FnMut(Sketched<'_>) -> ControlFlow<()> + Send,
) -> Result<Stats, Error> {
    in_pool(settings, || {
        sketch_all(inputs, settings, observer, Repetitions::Drop, each).map(|(_, stats)| stats)
    })
}

fn in_pool<T: Send>(
    settings: &Settings,
    run: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .build()
        .map_err(|error| Error::in_file("-", ErrorKind::Threads(error.to_string())))?;
    pool.install(run)
}

/// Reads, shingles and sketches everything, with all threads.
fn sketch_all(
    inputs: Vec<Input>,
    settings: &Settings,
    observer: &dyn Observer,
    repetitions: Repetitions,
    each: impl FnMut(Sketched<'_>) -> ControlFlow<()> + Send,
) -> Result<(Urls, Stats), Error> {
    let started = Instant::now();
    let mut blocks = Blocks::new(inputs, &settings.read);
    let shingler = shingler(&settings.shingle);
    let mut collector = Collector {
        settings,
        observer,
        each,
        urls: Urls::default(),
        stats: Stats {
            settings: settings.clone(),
            ..Stats::default()
        },
        failed: None,
    };
    ordered::map_in_order(
        |piece: &mut Piece| {
            let started = Instant::now();
            let more = blocks.fill(&mut piece.block);
            piece.input_bytes = blocks.bytes_taken();
            piece.reading = started.elapsed();
            more
        },
        |piece, sketching: &mut Sketching<'_>| sketching.block(piece),
        |batch| collector.add(batch),
        || Sketching {
            settings,
            shingler: &*shingler,
            sketcher: sketcher(&settings.sketch),
            repetitions,
            shingles: Shingles::default(),
        },
    );
    let Collector {
        urls,
        mut stats,
        failed,
        ..
    } = collector;
    stats.seconds.read_and_sketch = started.elapsed();
    match failed {
        Some(error) => Err(error),
        None => Ok((urls, stats)),
    }
}

/// Whether a shingle that a document repeats counts again in its number of
/// shingles. A signature does not care, and finding them takes time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repetitions {
    Count,
    Drop,
}

/// A block on its way from reading to sketching.
#[derive(Default)]
struct Piece {
    block: Block,
    /// Bytes taken from all inputs when the block had been read.
    input_bytes: u64,
    reading: Duration,
}

/// What a thread needs to sketch blocks.
struct Sketching<'a> {
    settings: &'a Settings,
    shingler: &'a dyn Shingler,
    sketcher: Box<dyn Sketcher>,
    repetitions: Repetitions,
    shingles: Shingles,
}

impl Sketching<'_> {
    fn block(&mut self, piece: &mut Piece) -> Batch {
        let started = Instant::now();
        let mut batch = Batch::default();
        let block = &piece.block;
        block.documents(&self.settings.read, &mut |document| match document {
            Ok(document) => {
                self.shingler.shingle(&document.content, &mut self.shingles);
                batch.add(&document.url, &self.shingles, &mut *self.sketcher);
                if self.repetitions == Repetitions::Drop {
                    batch.set_shingles(self.shingles.to_set().as_slice().len());
                }
            }
            Err(error) => batch.problems.push(error),
        });
        batch.record_bytes = block.bytes.len() as u64;
        batch.problems.extend(piece.block.problem.take());
        batch.input_bytes = piece.input_bytes;
        batch.reading = piece.reading;
        batch.sketching = started.elapsed();
        batch
    }
}

/// The sketched documents of a block.
#[derive(Default)]
struct Batch {
    urls: String,
    documents: Vec<BatchDocument>,
    values: Vec<Value>,
    problems: Vec<Error>,
    input_bytes: u64,
    record_bytes: u64,
    reading: Duration,
    sketching: Duration,
}

struct BatchDocument {
    url_end: usize,
    values_end: usize,
    shingles: usize,
    is_short: bool,
}

impl Batch {
    fn add(&mut self, url: &str, shingles: &Shingles, sketcher: &mut dyn Sketcher) {
        self.urls.push_str(url);
        let all = shingles.as_slice();
        if !all.is_empty() {
            sketcher.sketch(all, &mut self.values);
        }
        self.documents.push(BatchDocument {
            url_end: self.urls.len(),
            values_end: self.values.len(),
            shingles: all.len(),
            is_short: shingles.is_short(),
        });
    }

    /// Corrects the number of shingles of the last document.
    fn set_shingles(&mut self, shingles: usize) {
        if let Some(last) = self.documents.last_mut() {
            last.shingles = shingles;
        }
    }
}

/// Takes batches in input order, numbers the documents, and hands them on.
struct Collector<'a, E> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    each: E,
    urls: Urls,
    stats: Stats,
    failed: Option<Error>,
}

impl<E: FnMut(Sketched<'_>) -> ControlFlow<()>> Collector<'_, E> {
    fn add(&mut self, batch: Batch) -> ControlFlow<()> {
        self.stats.counts.input_bytes = batch.input_bytes;
        self.stats.counts.record_bytes += batch.record_bytes;
        self.stats.seconds.read_busy += batch.reading;
        self.stats.seconds.sketch_busy += batch.sketching;
        for error in batch.problems {
            if self.settings.strictness == Strictness::Stop {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            self.stats.counts.skipped += 1;
            self.observer.problem(&error);
        }
        let (mut url_start, mut values_start) = (0, 0);
        for document in &batch.documents {
            let url = &batch.urls[url_start..document.url_end];
            let signature = &batch.values[values_start..document.values_end];
            (url_start, values_start) = (document.url_end, document.values_end);
            self.add_document(url, signature, document)?;
        }
        self.observer
            .progress(batch.input_bytes, self.stats.counts.documents);
        ControlFlow::Continue(())
    }

    fn add_document(
        &mut self,
        url: &str,
        signature: &[Value],
        document: &BatchDocument,
    ) -> ControlFlow<()> {
        let counts = &mut self.stats.counts;
        let id = match self.urls.add(url) {
            Added::New(id) => id,
            Added::Repeated(_) => {
                counts.repeated_ids += 1;
                return ControlFlow::Continue(());
            }
            Added::Full => {
                self.failed = Some(Error::in_file(url, ErrorKind::TooManyDocuments));
                return ControlFlow::Break(());
            }
        };
        counts.documents += 1;
        counts.empty += u64::from(signature.is_empty());
        counts.short += u64::from(document.is_short);
        (self.each)(Sketched {
            id,
            url,
            shingles: document.shingles,
            signature,
        })
    }
}

/// The pairs of signatures that agree in enough positions.
fn similar_signatures(signatures: Signatures, settings: &Settings, stats: &mut Stats) -> Pairs {
    let positions = signatures.positions();
    let groups = identical::collapse(
        signatures.len() as u32,
        |row| signatures.row(row).iter().copied().fold(0, combine),
        |left, right| signatures.row(left) == signatures.row(right),
    );
    stats.counts.identical = (signatures.len() - groups.len()) as u64;
    let rows: Vec<Row> = groups.representatives().collect();
    let needed = settings.threshold.needed(positions);
    let score = |left, right| {
        let shared = shared_positions(signatures.row(left), signatures.row(right));
        (shared as usize >= needed).then(|| Score::new(shared, positions as u32))
    };
    let (matches, search) = bands::search(&signatures, &rows, needed, score);
    stats.counts.candidates = search.candidates;
    stats.search = search;
    let within = Score::new(positions as u32, positions as u32);
    Pairs::new(signatures.into_documents(), groups, &matches, within)
}
