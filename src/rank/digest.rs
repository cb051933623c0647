//! What a thread makes of the documents of a block: their scores, or if those must wait until
//! all documents have been counted, their terms.

use std::collections::HashMap;

use super::counts::Counts;
use super::scoring::{Scored, Scoring, Vector};
use crate::document::{Content, Document, Link};
use crate::read::url_words;
use crate::run::reading::Digest;
use crate::shingle::{Case, Shingle, Shingler, Shingles, words_spelled};

/// What is wanted of documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Their terms, with the counts: to be scored later, or to count documents.
    pub(super) terms: bool,
    /// How their terms are spelled.
    pub(super) spellings: bool,
    /// Their links, with this share of what they say themselves.
    pub(super) links: Option<f64>,
}

/// The documents of a block.
#[derive(Debug, Default)]
pub(super) struct RankBatch {
    pub(super) documents: Vec<RankedDocument>,
    pub(super) links: Vec<RankedLink>,
    /// The terms of all vectors: of each document, and where it is wanted, of its links.
    pub(super) terms: Vec<(u64, u32)>,
    /// How many terms each vector has.
    pub(super) lengths: Vec<u32>,
    pub(super) spellings: HashMap<u64, Box<str>, ahash::RandomState>,
}

#[derive(Debug)]
pub(super) struct RankedDocument {
    pub(super) scored: Scored,
    pub(super) terms: Box<[(u32, f64)]>,
    /// How many of the block's links are on it.
    pub(super) links: usize,
}

#[derive(Debug)]
pub(super) struct RankedLink {
    pub(super) url: Box<str>,
    pub(super) scored: Scored,
}

pub(super) struct RankDigest<'a> {
    /// `None` if scores must wait.
    pub(super) scoring: Option<&'a Scoring<'a>>,
    pub(super) wanted: Wanted,
    pub(super) shingler: &'a dyn Shingler,
    pub(super) counts: Counts,
    pub(super) vector: Vector,
    pub(super) shingles: Shingles,
    pub(super) scratch: String,
    pub(super) batch: RankBatch,
}

impl RankDigest<'_> {
    /// Scores what has been counted, or keeps it.
    fn score(&mut self, keeps: bool) -> Scored {
        let Self {
            scoring,
            counts,
            vector,
            batch,
            ..
        } = self;
        let scoring = *scoring;
        vector.length = 0;
        vector.shared.clear();
        let before = batch.terms.len();
        match (scoring, keeps) {
            (Some(scoring), false) => scoring.vector(counts, vector),
            (scoring, _) => counts.drain(|word, count| {
                batch.terms.push((word, count));
                if let Some(scoring) = scoring {
                    scoring.add(vector, word, count);
                }
            }),
        }
        if keeps {
            batch.lengths.push((batch.terms.len() - before) as u32);
        }
        scoring.map_or_else(Scored::default, |scoring| scoring.score(vector))
    }

    fn links(&mut self, links: &[Link], parent: Scored, share: f64) -> usize {
        let first = self.batch.links.len();
        let mut known: HashMap<&str, usize, ahash::RandomState> = HashMap::default();
        for link in links {
            let mut scored = parent;
            if share > 0.0 {
                let words = [link.text.as_str(), "\n", &url_words(&link.url)].concat();
                self.shingler
                    .shingle(&Content::Text(words.into()), &mut self.shingles);
                self.counts.add(self.shingles.as_slice());
                let own = self.score(self.scoring.is_none());
                scored.score = parent.score.mixed(own.score, share);
            }
            match known.get(link.url.as_str()) {
                // Those that must wait are joined then.
                Some(&index) if self.scoring.is_some() => {
                    let best = &mut self.batch.links[index].scored;
                    if scored.score > best.score {
                        *best = scored;
                    }
                }
                _ => {
                    known.insert(&link.url, self.batch.links.len());
                    self.batch.links.push(RankedLink {
                        url: link.url.as_str().into(),
                        scored,
                    });
                }
            }
        }
        self.batch.links.len() - first
    }
}

impl Digest for RankDigest<'_> {
    type Output = RankBatch;

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        self.counts.add(shingles);
        let scored = self.score(self.wanted.terms);
        let terms = match self.scoring {
            Some(scoring) => scoring.explain(&self.vector, scored),
            None => Vec::new(),
        };
        if self.wanted.spellings {
            let spellings = &mut self.batch.spellings;
            words_spelled(
                &document.content,
                Case::Fold,
                &mut self.scratch,
                |word, hash| {
                    spellings.entry(hash).or_insert_with(|| word.into());
                },
            );
        }
        let links = match self.wanted.links {
            Some(share) => self.links(&document.links, scored, share),
            None => 0,
        };
        self.batch.documents.push(RankedDocument {
            scored,
            terms: terms.into(),
            links,
        });
    }

    fn take(&mut self) -> RankBatch {
        self.shingles.trim();
        std::mem::take(&mut self.batch)
    }

    fn bytes(batch: &RankBatch) -> usize {
        let terms = |document: &RankedDocument| size_of_val(&document.terms[..]);
        size_of_val(&batch.documents[..])
            + batch.documents.iter().map(terms).sum::<usize>()
            + size_of_val(&batch.links[..])
            + batch.links.iter().map(|link| link.url.len()).sum::<usize>()
            + size_of_val(&batch.terms[..])
            + size_of_val(&batch.lengths[..])
            + batch
                .spellings
                .values()
                .map(|word| word.len() + 32)
                .sum::<usize>()
    }
}
