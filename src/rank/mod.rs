//! Documents by their likeness to a gold standard: the cosine of vectors of terms.
//!
//! Documents are scored as they are read, and nothing but ids and scores is kept, of the best or
//! of all. Only where terms are weighed by the documents of the same run that have them, scores
//! must wait until all are counted ([`waiting`]).

mod best;
mod counts;
mod digest;
mod gold;
mod scoring;
mod waiting;

use crate::score::DocumentFrequencies;
use crate::settings::{Combine, RankOrder, RankSettings};
use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::{Error, ErrorKind};
use crate::observer::{Expected, Observer, Phase};
use crate::read::Input;
use crate::run::floor::Purpose;
use crate::run::in_pool;
use crate::run::reading::{Ids, Numbered, Reading, Wants};
use crate::score::{Cosine, Weight};
use crate::settings::Settings;
use crate::shingle::{Case, ShingleSettings, Shingles, Tokens, Windows, shingler};
use crate::stats::Stats;
use best::{Best, BestLinks, Entry};
use counts::Counts;
use digest::{RankBatch, RankDigest, Wanted};
pub use gold::Gold;
use gold::GoldTerms;
use scoring::{Scored, Scoring, Vector};
use waiting::Waiting;

/// A document or a link with its score, as [`rank_documents`] gives it.
#[derive(Clone, Debug)]
pub struct Ranked<'a> {
    /// Its id, or where it leads.
    pub url: &'a str,
    /// How like the gold standard it is.
    pub score: Cosine,
    /// The gold standard that it is most like, where there are several.
    pub gold: Option<&'a str>,
    /// The terms that add most to the score, with their shares of it, if they are asked for.
    pub terms: Option<Vec<(&'a str, f64)>>,
    /// Nothing more is at hand: what was given so far should be handed on.
    pub is_last_at_hand: bool,
}

/// What [`rank_documents`] gives back.
#[derive(Debug)]
pub struct Ranking {
    /// What was done.
    pub stats: Stats,
    /// How many documents have each term, if that was asked for.
    pub frequencies: Option<DocumentFrequencies>,
}

/// Compares each document with gold standards by the cosine of their vectors of terms, and gives
/// all to `each`, the best first, or as they come. Ends when `each` breaks.
///
/// Terms are words as they are for shingles, but for stopwords: what `settings.shingle` says of
/// windows does not count. How is in `settings.rank`.
///
/// ```
/// use std::io::Cursor;
/// use std::ops::ControlFlow;
/// use simdup::{Gold, Input, Quiet, Settings, rank_documents};
///
/// let documents = "{\"url\":\"a\",\"text\":\"sand\"}\n{\"url\":\"b\",\"text\":\"Sea, sky!\"}\n";
/// let gold = Gold {
///     name: "gold".into(),
///     inputs: vec![Input::from_reader("gold", Cursor::new("sky sea"))],
/// };
/// let mut best = vec![];
/// rank_documents(
///     vec![Input::from_reader("documents", Cursor::new(documents))],
///     vec![gold],
///     &Settings::default(),
///     &Quiet,
///     |ranked| {
///         best.push(format!("{} {}", ranked.score, ranked.url));
///         ControlFlow::Continue(())
///     },
/// )?;
/// assert_eq!(best, ["1.0 b", "0.0 a"]);
/// # Ok::<(), simdup::Error>(())
/// ```
///
/// # Errors
/// If a gold standard cannot be read or has no term; if reading is to stop at the first bad
/// record, there are too many documents, or a temporary file cannot be written.
///
/// # Performance
/// Time grows with the text. Memory is up to 18 bytes a document, and the ids and 80 bytes of
/// each that is to be sorted.
pub fn rank_documents(
    inputs: Vec<Input>,
    gold: Vec<Gold>,
    settings: &Settings,
    observer: &dyn Observer,
    mut each: impl FnMut(Ranked<'_>) -> ControlFlow<()> + Send,
) -> Result<Ranking, Error> {
    let mut settings = settings.clone();
    let rank = settings.rank.get_or_insert_default().clone();
    let ShingleSettings::Tokens {
        tokens: Tokens::Words { stopwords },
        case: Case::Fold,
        windows,
    } = &mut settings.shingle
    else {
        let what = "terms are words, capitals or not";
        return Err(Error::in_file("settings", ErrorKind::Settings(what)));
    };
    *windows = Windows::of(1);
    let stopwords = stopwords.clone();
    check(&rank, &gold)?;
    settings.read.page.links = rank.outlinks.is_some();
    settings.read.live = rank.order == RankOrder::Input;
    let settings = &settings;
    in_pool(settings, || {
        observer.phase(Phase::Reading);
        let joined = rank.combine == Combine::Joined;
        let (gold, gold_bytes) = GoldTerms::read(gold, joined, settings, observer, &stopwords)?;
        let run = Run {
            settings,
            rank: &rank,
            gold: &gold,
            observer,
            least: rank
                .threshold
                .map_or(0.0, |least| least.to_string().parse().unwrap_or(0.0)),
        };
        let mut ranking = run.rank(inputs, &mut each)?;
        ranking.stats.counts.input_bytes += gold_bytes;
        Ok(ranking)
    })
}

/// Refuses what cannot be.
fn check(rank: &RankSettings, gold: &[Gold]) -> Result<(), Error> {
    let counts_own = rank.weight == Weight::TfIdf && rank.frequencies.is_none();
    let share = rank.outlinks.map_or(0.0, |outlinks| outlinks.anchor);
    for (possible, what) in [
        (!gold.is_empty(), "there is no gold standard"),
        (rank.order != RankOrder::Top(0), "the best are at least one"),
        (
            rank.order != RankOrder::Input || !counts_own,
            "documents that are scored as they come are not counted yet: tfidf needs frequencies",
        ),
        (
            (0.0..=1.0).contains(&share),
            "the share of a link's own words is 0 to 1",
        ),
        (
            rank.outlinks.is_none() || rank.explain == 0,
            "of links no terms are known",
        ),
    ] {
        if !possible {
            return Err(Error::in_file("settings", ErrorKind::Settings(what)));
        }
    }
    Ok(())
}

/// What a ranking goes by.
struct Run<'a> {
    settings: &'a Settings,
    rank: &'a RankSettings,
    gold: &'a GoldTerms,
    observer: &'a dyn Observer,
    /// The least score.
    least: f64,
}

type Each<'e> = dyn FnMut(Ranked<'_>) -> ControlFlow<()> + Send + 'e;

impl Run<'_> {
    fn rank(&self, inputs: Vec<Input>, each: &mut Each<'_>) -> Result<Ranking, Error> {
        let Self { settings, rank, .. } = *self;
        let wants = Wants {
            ids: Ids::Seen,
            ..Wants::default()
        };
        let mut reading = Reading::new(settings, self.observer, wants, Purpose::Ranks);
        let waits = rank.weight == Weight::TfIdf && rank.frequencies.is_none();
        let scoring = (!waits).then(|| {
            let frequencies = rank.frequencies.as_deref();
            let is_weighed = rank.weight == Weight::TfIdf;
            Scoring::new(self.gold, rank, frequencies.filter(|_| is_weighed))
        });
        let shingler = shingler(&settings.shingle);
        let wanted = Wanted {
            terms: waits || rank.counts_frequencies,
            spellings: rank.counts_frequencies,
            links: rank.outlinks.map(|outlinks| outlinks.anchor),
        };
        let digest = || RankDigest {
            scoring: scoring.as_ref(),
            wanted,
            shingler: &*shingler,
            counts: Counts::default(),
            vector: Vector::default(),
            shingles: Shingles::default(),
            scratch: String::new(),
            batch: RankBatch::default(),
        };
        let memory = settings.memory();
        let mut frequencies = wanted.terms.then(DocumentFrequencies::default);
        let mut waiting = waits.then(|| Waiting::new(&memory));
        let mut waiting_documents = Vec::new();
        let mut results = Results::new(self, each);
        reading.read(inputs, digest, |numbered, mut batch| {
            if let Some(frequencies) = &mut frequencies {
                let counted = count(&numbered, &batch, frequencies, waiting.as_mut());
                if let Err(error) = counted {
                    return ControlFlow::Break(Some(error));
                }
                frequencies.spell(std::mem::take(&mut batch.spellings));
            }
            let taken = match waits {
                true => {
                    waiting_documents.extend(waiting_of(&numbered, batch));
                    ControlFlow::Continue(())
                }
                false => results.add(&numbered, batch),
            };
            taken.map_break(|()| None)
        })?;
        if let (Some(waiting), Some(frequencies)) = (waiting, &frequencies) {
            self.observer.phase(Phase::Comparing);
            let started = Instant::now();
            reading.stats.counts.spilled = waiting.is_spilled();
            let documents: usize = waiting_documents.iter().map(WaitingDocument::bytes).sum();
            reading.add_to_floor(documents as u64 + waiting.bytes());
            let scoring = Scoring::new(self.gold, rank, Some(frequencies));
            let expected = Expected::Documents(waiting_documents.len() as u64);
            self.observer.expect(expected);
            results.add_waiting(&scoring, waiting, frequencies, waiting_documents)?;
            reading.stats.seconds.candidates = started.elapsed();
        }
        let counted = frequencies.as_ref().map_or(0, DocumentFrequencies::bytes);
        reading.add_to_floor(results.bytes() + counted);
        reading.tell();
        let started = Instant::now();
        reading.stats.counts.ranked = results.finish();
        reading.stats.seconds.write = started.elapsed();
        Ok(Ranking {
            stats: reading.stats,
            frequencies: frequencies.filter(|_| rank.counts_frequencies),
        })
    }
}

/// After so many documents it is told how far it is.
const TOLD_EVERY: u64 = 1024;

/// A document that waits for its score.
struct WaitingDocument {
    url: Box<str>,
    links: Vec<Box<str>>,
}

impl WaitingDocument {
    fn bytes(&self) -> usize {
        let links: usize = self.links.iter().map(|link| link.len() + 32).sum();
        size_of::<Self>() + self.url.len() + 16 + links
    }
}

/// Counts the documents of a block, and keeps the terms of those that wait.
fn count(
    numbered: &Numbered<'_>,
    batch: &RankBatch,
    frequencies: &mut DocumentFrequencies,
    mut waiting: Option<&mut Waiting<'_>>,
) -> Result<(), Error> {
    // Only what waits has vectors of links beside those of documents.
    let shares_words = batch.lengths.len() > batch.documents.len();
    let mut lengths = batch.lengths.iter();
    let mut terms = &batch.terms[..];
    let mut take = || {
        let length = lengths.next().map_or(0, |&length| length as usize);
        let (some, rest) = terms.split_at(length);
        terms = rest;
        some
    };
    for (document, ranked) in numbered.documents.iter().zip(&batch.documents) {
        let own = take();
        let links = if shares_words { ranked.links } else { 0 };
        if document.is_none() {
            for _ in 0..links {
                take();
            }
            continue;
        }
        frequencies.add_document();
        let own = own
            .iter()
            .map(|&(word, count)| (frequencies.add_term(word), count));
        match &mut waiting {
            Some(waiting) => waiting.add(own)?,
            None => own.for_each(drop),
        }
        for _ in 0..links {
            let link = take().iter();
            let link = link.map(|&(word, count)| (frequencies.number(word), count));
            if let Some(waiting) = &mut waiting {
                waiting.add(link)?;
            }
        }
    }
    Ok(())
}

fn waiting_of(numbered: &Numbered<'_>, batch: RankBatch) -> Vec<WaitingDocument> {
    let mut links = batch.links.into_iter();
    let mut waiting = Vec::new();
    let urls = numbered.block_urls.iter().zip(numbered.documents);
    for ((url, number), document) in urls.zip(batch.documents) {
        let links = links.by_ref().take(document.links);
        let links: Vec<Box<str>> = links.map(|link| link.url).collect();
        if number.is_some() {
            waiting.push(WaitingDocument {
                url: url.into(),
                links,
            });
        }
    }
    waiting
}

/// What has been scored, on its way out.
struct Results<'r, 'e> {
    run: &'r Run<'r>,
    each: &'r mut Each<'e>,
    kept: Kept,
    count: u64,
    /// So many were given to `each` that have a score above 0.
    ranked: u64,
}

/// What is kept of what was scored.
enum Kept {
    Documents(Best),
    Links(BestLinks),
    /// No more than a block has.
    Nothing(Vec<Entry>),
}

impl<'r, 'e> Results<'r, 'e> {
    fn new(run: &'r Run<'r>, each: &'r mut Each<'e>) -> Self {
        let top = match run.rank.order {
            RankOrder::Top(top) => top,
            RankOrder::Best | RankOrder::Input => usize::MAX,
        };
        let kept = match (run.rank.order, run.rank.outlinks) {
            (RankOrder::Input, _) => Kept::Nothing(Vec::new()),
            (_, Some(_)) => Kept::Links(BestLinks::new(top)),
            (_, None) => Kept::Documents(Best::new(top)),
        };
        Self {
            run,
            each,
            kept,
            count: 0,
            ranked: 0,
        }
    }

    /// Takes the documents of a block.
    fn add(&mut self, numbered: &Numbered<'_>, batch: RankBatch) -> ControlFlow<()> {
        let mut links = batch.links.into_iter();
        let urls = numbered.block_urls.iter().zip(numbered.documents);
        for ((url, number), document) in urls.zip(batch.documents) {
            let links = links.by_ref().take(document.links);
            match (number, self.run.rank.outlinks) {
                (None, _) => links.for_each(drop),
                (_, Some(_)) => links.for_each(|link| self.take(&link.url, link.scored, &[])),
                (_, None) => self.take(url, document.scored, &document.terms),
            }
        }
        match &mut self.kept {
            Kept::Nothing(entries) => {
                let entries = std::mem::take(entries);
                self.give(&entries)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Takes those that have waited.
    fn add_waiting(
        &mut self,
        scoring: &Scoring<'_>,
        waiting: Waiting<'_>,
        frequencies: &DocumentFrequencies,
        documents: Vec<WaitingDocument>,
    ) -> Result<(), Error> {
        let share = self.run.rank.outlinks.map(|outlinks| outlinks.anchor);
        let mut documents = documents.into_iter();
        let mut links = Vec::new().into_iter();
        let mut parent = Scored::default();
        let observer = self.run.observer;
        let mut done = 0_u64;
        waiting.score(scoring, frequencies, |vector, scored| {
            // The vector of a link, if links have any and one is left.
            if let Some(link) = links.next() {
                let link: Box<str> = link;
                let score = parent.score.mixed(scored.score, share.unwrap_or(0.0));
                self.take(&link, Scored { score, ..parent }, &[]);
                return Ok(());
            }
            let Some(document) = documents.next() else {
                return Ok(());
            };
            done += 1;
            if done.is_multiple_of(TOLD_EVERY) {
                observer.progress(0, done);
            }
            match share {
                None => {
                    let terms = scoring.explain(vector, scored);
                    self.take(&document.url, scored, &terms);
                }
                Some(share) if share > 0.0 => {
                    parent = scored;
                    links = document.links.into_iter();
                }
                Some(_) => {
                    for link in document.links {
                        self.take(&link, scored, &[]);
                    }
                }
            }
            Ok(())
        })
    }

    fn take(&mut self, url: &str, scored: Scored, terms: &[(u32, f64)]) {
        // A link may have a better score on another page.
        if !matches!(self.kept, Kept::Links(_)) && scored.score.as_f64() < self.run.least {
            return;
        }
        let number = self.count;
        self.count += 1;
        let entry = || Entry {
            scored,
            number,
            url: url.into(),
            terms: terms.into(),
        };
        match &mut self.kept {
            Kept::Documents(best) if best.admits(scored, number) => best.add(entry()),
            Kept::Documents(_) => {}
            Kept::Links(best) => best.add(url, scored),
            Kept::Nothing(entries) => entries.push(entry()),
        }
    }

    fn give(&mut self, entries: &[Entry]) -> ControlFlow<()> {
        let gold = self.run.gold;
        let is_named = gold.names().len() > 1 && self.run.rank.combine == Combine::Max;
        for (index, entry) in entries.iter().enumerate() {
            let Scored { score, gold: best } = entry.scored;
            self.ranked += u64::from(score.as_f64() > 0.0);
            let terms = || {
                let terms = entry.terms.iter();
                terms.map(|&(term, share)| (gold.spelling(term), share))
            };
            (self.each)(Ranked {
                url: &entry.url,
                score,
                gold: is_named.then(|| &*gold.names()[best as usize]),
                terms: (self.run.rank.explain > 0).then(|| terms().collect()),
                is_last_at_hand: index + 1 == entries.len(),
            })?;
        }
        ControlFlow::Continue(())
    }

    fn bytes(&self) -> u64 {
        match &self.kept {
            Kept::Documents(best) => best.bytes(),
            Kept::Links(best) => best.bytes(),
            Kept::Nothing(_) => 0,
        }
    }

    /// Gives what was kept, and tells how many were given that have a score above 0.
    fn finish(mut self) -> u64 {
        let entries = match std::mem::replace(&mut self.kept, Kept::Nothing(Vec::new())) {
            Kept::Documents(best) => best.into_sorted(),
            Kept::Links(best) => {
                let mut links = best.into_sorted();
                links.retain(|link| link.scored.score.as_f64() >= self.run.least);
                links
            }
            Kept::Nothing(_) => Vec::new(),
        };
        // Whoever breaks has seen enough.
        let _ = self.give(&entries);
        self.ranked
    }
}
