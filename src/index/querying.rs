//! What an index holds that is similar to documents.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use serde::Serialize;

use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::index::matching::{enough, own_spot, score};
use crate::index::{Enough, Index, Key, Lookups, Searcher, Spot, keys_of};
use crate::observer::{Observer, Phase};
use crate::read::Input;
use crate::run::floor::Purpose;
use crate::run::in_pool;
use crate::run::reading::{Digest, Ids, Reading, Wants};
use crate::run::records::write_json;
use crate::score::{Measure, Score, Threshold};
use crate::settings::Settings;
use crate::shingle::Shingle;
use crate::stats::Stats;

/// What is asked of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Query {
    /// What counts.
    pub wanted: Wanted,
    /// No more than so many, the best.
    pub top: Option<usize>,
    /// Whether the best come first, and not in the order of the index.
    pub best_first: bool,
    /// Whether answers have the records that they are about.
    pub records: bool,
    /// Whether a document is left out whose id was met before.
    pub each_id_once: bool,
}

/// Which documents of an index count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Wanted {
    /// Those whose score is at least the threshold of the settings.
    #[default]
    Similar,
    /// Those that have at least this share of the shingles that are asked about.
    Overlap {
        /// The share.
        share: Threshold,
        /// The chance with which one that has just that share is found; `None` for all.
        chance: Option<Threshold>,
    },
}

/// What was found for a document.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Its id.
    pub url: &'a str,
    /// What is similar.
    pub found: &'a [Found<'a>],
    /// Its record as a JSON object, if that was asked for.
    pub record: &'a [u8],
    /// Whether nothing more can be said until more is read.
    pub is_last: bool,
}

/// A document of an index that is similar to one that was asked about.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Its id.
    pub url: &'a str,
    /// How similar they are.
    pub score: Score,
    /// The share of each, of the one that was asked about first, that is found in the other.
    pub shares: [Score; 2],
    /// Shingles that they share.
    pub shared: u32,
    /// Shingles of each.
    pub sizes: [u32; 2],
}

/// What asking took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QueryStats {
    /// What was read.
    #[serde(flatten)]
    pub stats: Stats,
    /// Shingles that were looked up.
    pub lookups: u64,
    /// Shingles that were not, as nothing could be found by them.
    pub lookups_spared: u64,
}

impl QueryStats {
    fn add(&mut self, lookups: Lookups) {
        self.lookups += lookups.made;
        self.lookups_spared += lookups.spared;
        self.stats.counts.candidates += lookups.candidates;
        self.stats.search.pruned_by_min_shared += lookups.pruned_by_min_shared;
    }
}

/// A question as an index understands it.
#[derive(Clone, Copy)]
struct Asked {
    enough: Enough,
    /// `None` for the share of what is asked about.
    measure: Option<Measure>,
    top: Option<usize>,
    best_first: bool,
}

impl Asked {
    fn new(query: &Query, settings: &Settings) -> Result<Self, Error> {
        let (enough, measure) = match query.wanted {
            Wanted::Similar => (enough(settings)?, Some(settings.measure)),
            Wanted::Overlap { share, chance } => {
                let chance = chance.map(Threshold::as_f64);
                (Enough::Overlap { share, chance }, None)
            }
        };
        Ok(Self {
            enough,
            measure,
            top: query.top,
            best_first: query.best_first,
        })
    }

    /// What is found for a document of these keys, but for one.
    fn ask(
        self,
        index: &Index,
        keys: &[Key],
        but: Option<Spot>,
        searcher: &mut Searcher,
        found: &mut Vec<Hit>,
    ) -> Result<(), Error> {
        let start = found.len();
        let size = keys.len() as u32;
        index.search(keys, but, self.enough, searcher, |spot, shared| {
            found.push(Hit {
                spot,
                score: score(self.measure, shared.shared, [size, shared.size]),
                shares: [size, shared.size].map(|size| Score::new(shared.shared, size)),
                shared: shared.shared,
                sizes: [size, shared.size],
            });
        })?;
        if self.top.is_some() || self.best_first {
            found[start..].sort_by_key(|hit| (Reverse(hit.score), hit.spot));
        }
        if let Some(top) = self.top {
            found.truncate(start.saturating_add(top));
        }
        if self.top.is_some() && !self.best_first {
            found[start..].sort_by_key(|hit| hit.spot);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Hit {
    spot: Spot,
    score: Score,
    shares: [Score; 2],
    shared: u32,
    sizes: [u32; 2],
}

impl Index {
    /// Asks for each document what the index holds that is similar to it. The document of the index
    /// that has its id is the same document, and no answer. `each` is given the answers in input
    /// order, as they come, until it breaks.
    ///
    /// # Errors
    /// If the index is damaged, or as for [`find_pairs`](crate::find_pairs).
    ///
    /// # Performance
    /// Nothing is kept of the documents, nor of their ids.
    pub fn query(
        &self,
        inputs: Vec<Input>,
        settings: &Settings,
        query: &Query,
        observer: &dyn Observer,
        mut each: impl FnMut(Answer<'_>) -> ControlFlow<()> + Send,
    ) -> Result<QueryStats, Error> {
        let mut settings = self.settings(settings)?;
        settings.read.live = true;
        let settings = &settings;
        let asked = Asked::new(query, settings)?;
        let wants = Wants {
            ids: match query.each_id_once {
                true => Ids::Kept,
                false => Ids::Passed,
            },
            ..Wants::default()
        };
        let mut reading = Reading::new(settings, observer, wants, Purpose::Ranks);
        let mut asking = QueryStats::default();
        observer.phase(Phase::Reading);
        in_pool(settings, || {
            let digest = || QueryDigest {
                index: self,
                asked,
                has_records: query.records,
                searcher: Searcher::default(),
                keys: Vec::new(),
                block: QueryBlock::default(),
            };
            let mut found = Vec::new();
            reading.read(inputs, digest, |numbered, block| {
                if let Some(error) = block.failed {
                    return ControlFlow::Break(Some(error));
                }
                asking.add(block.lookups);
                let last = block.documents.len().saturating_sub(1);
                let mut start = (0, 0);
                let documents = numbered.block_urls.iter().zip(&block.documents);
                for (place, (url, &end)) in documents.enumerate() {
                    if numbered.documents[place].is_none() {
                        start = end;
                        continue;
                    }
                    if let Err(error) = self.named(&block.hits[start.0..end.0], &mut found) {
                        return ControlFlow::Break(Some(error));
                    }
                    asking.stats.counts.pairs += found.len() as u64;
                    let answer = Answer {
                        url,
                        found: &found,
                        record: &block.records[start.1..end.1],
                        is_last: place == last,
                    };
                    each(answer).map_break(|()| None)?;
                    start = end;
                }
                ControlFlow::Continue(())
            })?;
            reading.tell();
            Ok(())
        })?;
        let asked = std::mem::replace(&mut asking.stats, reading.stats);
        asking.stats.counts.candidates = asked.counts.candidates;
        asking.stats.counts.pairs = asked.counts.pairs;
        asking.stats.search.pruned_by_min_shared = asked.search.pruned_by_min_shared;
        Ok(asking)
    }

    /// Asks what is similar to a document of the index, which itself is not.
    ///
    /// # Errors
    /// If there is no such document, or the index is damaged.
    pub fn query_id(
        &self,
        id: &str,
        settings: &Settings,
        query: &Query,
        mut each: impl FnMut(Answer<'_>) -> ControlFlow<()>,
    ) -> Result<QueryStats, Error> {
        let settings = &self.settings(settings)?;
        let asked = Asked::new(query, settings)?;
        let Some(spot) = self.find(id)? else {
            let what = format!("the index has no document of the id {id}");
            let name = self.folder().to_string_lossy();
            return Err(Error::in_file(&name, ErrorKind::Index(what)));
        };
        let (mut keys, mut hits, mut found) = (Vec::new(), Vec::new(), Vec::new());
        self.keys(spot, &mut keys)?;
        let mut searcher = Searcher::default();
        asked.ask(self, &keys, Some(spot), &mut searcher, &mut hits)?;
        self.named(&hits, &mut found)?;
        let mut asking = QueryStats::default();
        asking.stats.settings = settings.clone();
        asking.add(searcher.lookups);
        asking.stats.counts.pairs = found.len() as u64;
        let _ = each(Answer {
            url: id,
            found: &found,
            record: &[],
            is_last: true,
        });
        Ok(asking)
    }

    /// Replaces `found` with what was hit.
    fn named<'a>(&'a self, hits: &[Hit], found: &mut Vec<Found<'a>>) -> Result<(), Error> {
        found.clear();
        for hit in hits {
            found.push(Found {
                url: self.id(hit.spot)?,
                score: hit.score,
                shares: hit.shares,
                shared: hit.shared,
                sizes: hit.sizes,
            });
        }
        Ok(())
    }
}

/// What is found for the documents of a block.
struct QueryDigest<'a> {
    index: &'a Index,
    asked: Asked,
    has_records: bool,
    searcher: Searcher,
    keys: Vec<Key>,
    block: QueryBlock,
}

#[derive(Default)]
struct QueryBlock {
    hits: Vec<Hit>,
    records: Vec<u8>,
    /// For each document, where what was found and its record end.
    documents: Vec<(usize, usize)>,
    lookups: Lookups,
    failed: Option<Error>,
}

impl Digest for QueryDigest<'_> {
    type Output = QueryBlock;

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        keys_of(shingles, &mut self.keys);
        let hits = &mut self.block.hits;
        let asked = own_spot(self.index, &document.url).and_then(|own| {
            self.asked
                .ask(self.index, &self.keys, own, &mut self.searcher, hits)
        });
        if let Err(error) = asked {
            self.block.failed.get_or_insert(error);
        }
        if self.has_records {
            write_json(document, &mut self.block.records);
        }
        let ends = (self.block.hits.len(), self.block.records.len());
        self.block.documents.push(ends);
    }

    fn take(&mut self) -> QueryBlock {
        self.block.lookups = std::mem::take(&mut self.searcher.lookups);
        std::mem::take(&mut self.block)
    }

    fn bytes(block: &QueryBlock) -> usize {
        size_of_val(&block.hits[..]) + block.records.len() + size_of_val(&block.documents[..])
    }
}
