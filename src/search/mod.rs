//! Which documents are worth comparing, and what they share. Knows collections; not text, ids
//! or output.
//!
//! The ways of finding candidates are siblings here: [`bands`] of a signature's positions, for
//! Broder's score and where a recall short of 1 is asked for; the [`prefix`] join of sets,
//! which misses nothing. [`choice`] is the one place that chooses.

pub(crate) mod bands;
mod blocks;
mod choice;
mod few_shared;
mod links;
mod meeting;
mod overlap;
mod parity;
pub(crate) mod prefix;
pub(crate) mod rarity;
mod recall;
mod sets;
pub(crate) mod work;

use serde::Serialize;

pub(crate) use bands::GroupSignatures;
#[cfg(feature = "worker")]
pub(crate) use bands::lossless_bands;
pub(crate) use choice::{Found, OfGroups, Way, search, search_positions, search_sets, state, way};
pub(crate) use few_shared::FewShared;
pub(crate) use links::{Link, LinkWriter, Links, Match};
pub(crate) use recall::positions_needed;
pub(crate) use sets::{LoadedSets, PreparedSets};

/// How candidates were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Bands of positions.
    #[default]
    Bands,
    /// The complete join.
    Prefix,
}

/// How the search went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchStats {
    /// How candidates were found.
    pub method: Method,
    /// The chance that a pair with this score is found.
    pub recall: Vec<RecallAt>,
    /// Keys that each signature was filed under.
    pub bands: usize,
    /// Positions in each key, at the least.
    pub rows: usize,
    /// Documents that can have a partner, copies not counted.
    pub with_partner: u64,
    /// Bundles of sets that met in the index, repetitions included.
    pub hits: u64,
    /// Pairs that were looked at.
    pub candidates: u64,
    /// Of those, the pairs that fell because of their sizes, …
    pub fell_by_size: u64,
    /// … because too few positions agree, …
    pub fell_by_positions: u64,
    /// … because too little is left where they meet, …
    pub fell_by_rest: u64,
    /// … and because their bitmaps differ too much.
    pub fell_by_parity: u64,
    /// Pairs whose sets were compared.
    pub merges: u64,
    /// Pairs of documents that reach the threshold and were left out because they share too few
    /// shingles. Clusters count those that were compared.
    pub pruned_by_min_shared: u64,
    /// Groups in the fullest bucket.
    pub largest_bucket: usize,
    /// Buckets too full to compare all with all, which further positions split.
    pub split_buckets: u64,
    /// Buckets with 2, 3 to 4, 5 to 8, … groups.
    pub bucket_sizes: Vec<u64>,
}

/// A point of the recall curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecallAt {
    /// A score.
    pub score: f64,
    /// The chance that a pair with it is found.
    pub chance: f64,
}

impl SearchStats {
    fn count_bucket(&mut self, groups: usize) {
        let class = (groups - 1).ilog2() as usize;
        if self.bucket_sizes.len() <= class {
            self.bucket_sizes.resize(class + 1, 0);
        }
        self.bucket_sizes[class] += 1;
        self.largest_bucket = self.largest_bucket.max(groups);
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.hits += other.hits;
        self.candidates += other.candidates;
        self.fell_by_size += other.fell_by_size;
        self.fell_by_positions += other.fell_by_positions;
        self.fell_by_rest += other.fell_by_rest;
        self.fell_by_parity += other.fell_by_parity;
        self.merges += other.merges;
        self.pruned_by_min_shared += other.pruned_by_min_shared;
        self.split_buckets += other.split_buckets;
        self.largest_bucket = self.largest_bucket.max(other.largest_bucket);
        let classes = self.bucket_sizes.len().max(other.bucket_sizes.len());
        self.bucket_sizes.resize(classes, 0);
        for (mine, theirs) in self.bucket_sizes.iter_mut().zip(other.bucket_sizes) {
            *mine += theirs;
        }
        self
    }
}
