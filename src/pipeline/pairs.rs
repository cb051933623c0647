//! From inputs to pairs.

use std::io;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use super::floor::Purpose;
use super::ordered::{self, WaitingMax, Work};
use super::reading::{Reading, Wants};
use super::{Inputs, in_pool, unless_failed};
use crate::candidates::{Found, search};
use crate::collection::{Collection, Urls};
use crate::error::{Error, ErrorKind};
use crate::observer::{Observer, Phase};
use crate::pairs::{Pairs, Partners};
use crate::score::Measure;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::write::{IdLines, NamedWriter, OutputFormat, PairLines};

/// What [`find_pairs`] found.
#[derive(Debug)]
pub struct Similar {
    /// The ids of all documents; those of `against` come last.
    pub urls: Urls,
    /// The pairs at or above the threshold.
    pub pairs: Pairs,
    /// What the run did.
    pub stats: Stats,
}

/// Finds the pairs of documents whose score is at least the threshold:
///
/// 1. read: inputs, in order, into documents; an id met again is skipped;
/// 2. shingle: each document's text into the hashes of its windows of words;
/// 3. sketch: the shingles into a signature; or, for exact scores, all shingles are kept;
/// 4. candidates: what is identical is collapsed; the rest is found by bands of
///    positions, or by the rarest shingles of the sets;
/// 5. score: what a candidate's signatures or sets have in common.
///
/// # Errors
/// If reading is to stop at the first bad record, or a temporary file cannot be written.
///
/// # Performance
/// Time grows with the text and with the answer. What does not fit into the memory of the
/// settings goes to temporary files.
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
/// let pairs = similar.pairs.to_vec()?;
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
    let settings = &settings.with_value_field(None);
    let mut reading = Reading::new(settings, observer, Wants::default(), Purpose::Pairs);
    let inputs = inputs.into();
    in_pool(settings, || {
        let collection = reading.collection(inputs)?;
        observer.phase(Phase::Comparing);
        similar(collection, reading.stats)
    })
}

/// All pairs of a collection.
pub(super) fn similar(collection: Collection, mut stats: Stats) -> Result<Similar, Error> {
    let started = Instant::now();
    let found = search(&collection)?;
    let (urls, pairs) = pairs_of(collection, found, &mut stats);
    stats.seconds.candidates += started.elapsed();
    Ok(Similar { urls, pairs, stats })
}

/// What was found, as pairs of the collection's documents.
pub(super) fn pairs_of(collection: Collection, found: Found, stats: &mut Stats) -> (Urls, Pairs) {
    let (measure, scope, own) = (
        collection.settings().measure,
        collection.scope().clone(),
        collection.own(),
    );
    let (urls, groups, _) = collection.into_parts();
    let groups = found.groups.unwrap_or(groups);
    let pairs = Pairs {
        parties: scope.parties_of(&groups),
        groups,
        sizes: found.sizes,
        links: found.links,
        measure,
        scope,
        own,
    };
    stats.counts.identical = pairs.groups.copies() as u64;
    stats.counts.candidates = found.stats.candidates;
    stats.search = found.stats;
    (urls, pairs)
}

/// Pairs that a thread writes at a time.
const PAIRS_AT_ONCE: usize = 4096;

/// Writes all pairs in order, and gives back how many there are.
pub fn write_pairs(
    similar: &mut Similar,
    format: OutputFormat,
    output: NamedWriter<'_>,
) -> Result<u64, Error> {
    let header = IdLines::new(format).header(similar.pairs.measure() == Measure::Containment);
    let written = output.writer.write_all(header.as_bytes());
    written.map_err(|error| output.failed(error))?;
    write_pair_lines(similar, format, output)
}

/// The same without what comes before the first pair.
pub(super) fn write_pair_lines(
    similar: &mut Similar,
    format: OutputFormat,
    output: NamedWriter<'_>,
) -> Result<u64, Error> {
    let started = Instant::now();
    let Similar { urls, pairs, stats } = similar;
    let (urls, pairs) = (&*urls, &*pairs);
    let NamedWriter { name, writer } = output;
    let failed = |error: io::Error| Error::in_file(name, ErrorKind::Write(error));
    let mut count = 0;
    let mut result = Ok(());
    let writing = Writing {
        format,
        urls,
        pairs,
    };
    in_pool(&stats.settings, || {
        let lanes = std::iter::once((0, ()));
        let waiting_max = WaitingMax::of(stats.settings.memory().bytes);
        ordered::in_order(&writing, waiting_max, lanes, |lines| {
            result = lines.and_then(|(text, more)| {
                count += more;
                writer.write_all(&text).map_err(failed)
            });
            unless_failed(&result)
        });
        Ok(())
    })?;
    result?;
    writer.flush().map_err(failed)?;
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

/// Lines, and how many.
type Lines = Result<(Vec<u8>, u64), Error>;

impl<'a> Work for Writing<'a> {
    /// The next document.
    type Source = u32;
    type Joint = ();
    type Piece = Range<u32>;
    type Scratch = (PairLines<'a>, Partners);
    type Output = Lines;

    fn take(&self, start: &mut u32, run: &mut Range<u32>) -> bool {
        let Some(end) = self.pairs.next_run(*start, PAIRS_AT_ONCE) else {
            return false;
        };
        *run = *start..end;
        *start = end;
        true
    }

    fn join(&self, (): &mut (), _: &mut Range<u32>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn scratch(&self) -> Self::Scratch {
        (PairLines::new(self.format, self.urls), Partners::default())
    }

    fn work(
        &self,
        run: &mut Range<u32>,
        (lines, partners): &mut Self::Scratch,
        give: &mut dyn FnMut(Lines),
    ) {
        /// Lines that are handed on at a time, about: a document may have very many partners.
        const LINES_BYTES: usize = 1 << 20;
        let (mut text, mut count) = (Vec::new(), 0);
        let result = self.pairs.for_each_in(run.clone(), partners, |pair| {
            lines.pair(&pair, &mut text);
            count += 1;
            if text.len() > LINES_BYTES {
                give(Ok((std::mem::take(&mut text), std::mem::take(&mut count))));
            }
        });
        give(result.map(|()| (text, count)));
    }

    fn bytes(lines: &Lines) -> usize {
        lines.as_ref().map_or(0, |(text, _)| text.len())
    }
}
