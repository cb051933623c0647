//! From pairs to lines: those that are listed, in their order.

pub(crate) mod file_lines;
pub(crate) mod sorted;

use std::io;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use crate::collection::Urls;
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::{Expected, Observer, Phase};
use crate::pairs::Similar;
use crate::pairs::{Pair, Pairs, Partners};
use crate::run::ordered;
use crate::run::ordered::{WaitingMax, Work};
use crate::run::{in_pool, unless_failed};
use crate::score::{Estimate, Measure};
use crate::write::pairs::file_lines::FileLines;
use crate::write::pairs::sorted::SortedPairs;
use crate::write::{IdLines, ListFormat, Listing, NamedWriter, PairLines};

pub use file_lines::TextFiles;

/// Pairs that were listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// How many.
    pub pairs: u64,
    /// Of how many, where no more than the best were asked for.
    pub of: u64,
}

/// Lists the pairs, and gives back how many there are. The lines of files are told where a
/// listing has them.
pub fn write_pairs(
    similar: &mut Similar,
    listing: &Listing,
    files: &TextFiles,
    output: NamedWriter<'_>,
    observer: &dyn Observer,
) -> Result<Listed, Error> {
    observer.phase(Phase::Writing);
    let lines = IdLines::new(listing);
    if !listing.is_counted {
        let header = lines.header(similar.pairs.measure() == Measure::Containment);
        let written = output.writer.write_all(header.as_bytes());
        written.map_err(|error| output.failed(error))?;
    }
    let has_places = listing.columns.lines || !matches!(listing.format, ListFormat::Rows(_));
    if listing.is_in_order() {
        let documents = similar.pairs.own_documents();
        observer.expect(Expected::Documents(documents));
    }
    if listing.is_in_order() && !has_places {
        let pairs = write_pair_lines(similar, listing, output, observer)?;
        return Ok(Listed { pairs, of: pairs });
    }
    let started = Instant::now();
    let NamedWriter { name, writer } = output;
    let failed = |error: io::Error| Error::in_file(name, ErrorKind::Write(error));
    let Similar {
        urls,
        pairs,
        stats,
        template,
        records,
    } = similar;
    let (urls, pairs) = (&*urls, &*pairs);
    let mut places = FileLines::new(files, &stats.settings, template, records.as_ref());
    let mut lines = PairLines::new(listing, urls);
    let (mut text, mut count, mut bytes) = (Vec::new(), 0, 0);
    let is_in_order = listing.is_in_order();
    let mut scores = Scores::of(pairs);
    let mut put = |pair: Pair| {
        let of_files = match has_places {
            true => {
                let both = [pair.left, pair.right];
                places.of(both, both.map(|document| urls.get(document)))
            }
            false => Default::default(),
        };
        lines.pair(&pair, of_files, &mut text);
        count += 1;
        if has_places || count % PAIRS_AT_ONCE as u64 == 0 {
            let done = match is_in_order {
                true => u64::from(pair.left.0),
                false => count,
            };
            observer.progress(bytes + text.len() as u64, done);
        }
        if text.len() < TEXT_BYTES {
            return Ok(());
        }
        let written = writer.write_all(&text).map_err(failed);
        bytes += text.len() as u64;
        text.clear();
        written
    };
    let mut others = 0;
    let accepts = |pair: &Pair| listing.accepts(urls.get(pair.left), urls.get(pair.right));
    if is_in_order {
        let mut result = Ok(());
        pairs.for_each(|pair| {
            scores.add(&pair);
            if result.is_ok() && !accepts(&pair) {
                result = put(pair);
            }
        })?;
        result?;
    } else {
        let mut sorted = SortedPairs::new(listing, stats.settings.memory());
        let mut result = Ok(());
        pairs.for_each(|pair| {
            scores.add(&pair);
            if result.is_ok() && !accepts(&pair) {
                let both = (u64::from(pair.left.0), pair.right.0);
                result = sorted.push(both, pair.score, pair.shared);
            }
        })?;
        result?;
        observer.expect(Expected::Pairs(sorted.len()));
        others = sorted.others();
        sorted.for_each(|(left, right), shared| {
            let both = [DocumentId(left as u32), DocumentId(right)];
            pairs.again(both, shared).map_or(Ok(()), &mut put)
        })?;
    }
    text.extend_from_slice(lines.end().as_bytes());
    writer.write_all(&text).map_err(failed)?;
    writer.flush().map_err(failed)?;
    stats.counts.pairs = count;
    stats.estimate = Estimate::new(&scores.0, stats.settings.threshold);
    stats.seconds.write = started.elapsed();
    Ok(Listed {
        pairs: count,
        of: count + others,
    })
}

/// How many pairs have each number of positions in common, where they are compared by positions.
#[derive(Default)]
struct Scores(Vec<u64>);

impl Scores {
    fn of(pairs: &Pairs) -> Self {
        let positions = match pairs.measure() {
            Measure::MinHash => pairs.sizes.first().map_or(0, |&size| size as usize + 1),
            Measure::Jaccard | Measure::Containment => 0,
        };
        Self(vec![0; positions])
    }

    fn add(&mut self, pair: &Pair) {
        if let Some(count) = self.0.get_mut(pair.shared as usize) {
            *count += 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own += more;
        }
    }
}
/// Bytes that are written at a time.
const TEXT_BYTES: usize = 1 << 16;

/// Pairs that a thread writes at a time.
const PAIRS_AT_ONCE: usize = 4096;

/// The same in input order, without what comes before the first pair.
pub(crate) fn write_pair_lines(
    similar: &mut Similar,
    listing: &Listing,
    output: NamedWriter<'_>,
    observer: &dyn Observer,
) -> Result<u64, Error> {
    let started = Instant::now();
    let Similar {
        urls, pairs, stats, ..
    } = similar;
    let (urls, pairs) = (&*urls, &*pairs);
    let NamedWriter { name, writer } = output;
    let failed = |error: io::Error| Error::in_file(name, ErrorKind::Write(error));
    let (mut count, mut bytes) = (0, 0);
    let mut scores = Scores::of(pairs);
    let mut result = Ok(());
    let writing = Writing {
        listing,
        urls,
        pairs,
    };
    in_pool(&stats.settings, || {
        let lanes = std::iter::once((0, ()));
        let waiting_max = WaitingMax::of(stats.settings.memory().bytes);
        ordered::in_order(&writing, waiting_max, lanes, |lines| {
            result = lines.and_then(|lines| {
                count += lines.count;
                bytes += lines.text.len() as u64;
                scores.merge(&lines.scores);
                observer.progress(bytes, u64::from(lines.documents));
                writer.write_all(&lines.text).map_err(failed)
            });
            unless_failed(&result)
        });
        Ok(())
    })?;
    result?;
    writer.flush().map_err(failed)?;
    stats.counts.pairs = count;
    stats.estimate = Estimate::new(&scores.0, stats.settings.threshold);
    stats.seconds.write = started.elapsed();
    Ok(count)
}

/// How pairs become lines.
struct Writing<'a> {
    listing: &'a Listing,
    urls: &'a Urls,
    pairs: &'a Pairs,
}

/// Lines of some pairs.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    count: u64,
    scores: Scores,
    /// Documents up to here.
    documents: u32,
}

impl<'a> Work for Writing<'a> {
    /// The next document.
    type Source = u32;
    type Joint = ();
    type Piece = Range<u32>;
    type Scratch = (PairLines<'a>, Partners);
    type Output = Result<Lines, Error>;

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
        (PairLines::new(self.listing, self.urls), Partners::default())
    }

    fn work(
        &self,
        run: &mut Range<u32>,
        (lines, partners): &mut Self::Scratch,
        give: &mut dyn FnMut(Result<Lines, Error>),
    ) {
        /// Lines that are handed on at a time, about: a document may have very many partners.
        const LINES_BYTES: usize = 1 << 20;
        let none = || Lines {
            scores: Scores::of(self.pairs),
            documents: run.end,
            ..Lines::default()
        };
        let mut made = none();
        let listing = self.listing;
        let result = self.pairs.for_each_in(run.clone(), partners, |pair| {
            made.scores.add(&pair);
            if listing.accepted.is_some()
                && listing.accepts(self.urls.get(pair.left), self.urls.get(pair.right))
            {
                return;
            }
            made.count += 1;
            if !listing.is_counted {
                lines.pair(&pair, Default::default(), &mut made.text);
                if made.text.len() > LINES_BYTES {
                    give(Ok(std::mem::replace(&mut made, none())));
                }
            }
        });
        give(result.map(|()| made));
    }

    fn bytes(lines: &Result<Lines, Error>) -> usize {
        lines.as_ref().map_or(0, |lines| lines.text.len())
    }
}
