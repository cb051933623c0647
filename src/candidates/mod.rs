//! Which documents are worth comparing. Knows signatures and what scores a
//! candidate; not text, ids or output.
//!
//! The ways of finding candidates are siblings here: [`bands`] for Broder's
//! score. [`identical`] comes before any of them, so that copies cost nothing.

pub mod bands;
pub mod identical;

use serde::Serialize;

use crate::score::Score;
use crate::sketch::Row;

/// Two rows that share a key, and what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The earlier row.
    pub left: Row,
    /// The later row.
    pub right: Row,
    /// How similar they are.
    pub score: Score,
}

/// How the search went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SearchStats {
    /// Keys that each signature was filed under.
    pub bands: usize,
    /// Comparisons of two signatures.
    pub candidates: u64,
    /// Rows in the fullest bucket.
    pub largest_bucket: usize,
    /// Buckets too full to compare all with all, which further positions split.
    pub split_buckets: u64,
    /// Buckets with 2, 3 to 4, 5 to 8, … rows.
    pub bucket_sizes: Vec<u64>,
}

impl SearchStats {
    fn count_bucket(&mut self, rows: usize) {
        let class = (rows - 1).ilog2() as usize;
        if self.bucket_sizes.len() <= class {
            self.bucket_sizes.resize(class + 1, 0);
        }
        self.bucket_sizes[class] += 1;
        self.largest_bucket = self.largest_bucket.max(rows);
    }

    fn merge(mut self, other: Self) -> Self {
        self.candidates += other.candidates;
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
