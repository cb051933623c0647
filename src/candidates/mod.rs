//! Which documents are worth comparing, and what they share. Knows signatures and
//! sets; not text, ids or output.
//!
//! The ways of finding candidates are siblings here: [`bands`] of a signature's
//! positions, for Broder's score and for a recall short of 1; the [`prefix`] join
//! of sets, which misses nothing; the [`least`] shingles of documents, where few are
//! similar. [`identical`] comes before any of them, so that
//! copies cost nothing.

pub mod bands;
mod filing;
pub mod growing;
pub mod identical;
pub mod least;
mod membership;
pub mod prefix;
pub mod ranked;
pub mod recall;

use serde::Serialize;

use crate::sketch::Row;

/// Two rows, or sets, that are similar enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The earlier row.
    pub left: Row,
    /// The later row.
    pub right: Row,
    /// Positions, or shingles, that they share.
    pub shared: u32,
}

/// Which rows are compared with which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowSides {
    /// All with all.
    One,
    /// Only across: for each row, whether it stands on the left, the right, or both.
    Two(Vec<u8>),
}

impl RowSides {
    /// A row with documents on the left.
    pub const LEFT: u8 = 1;
    /// A row with documents on the right.
    pub const RIGHT: u8 = 2;
    const BOTH: u8 = Self::LEFT | Self::RIGHT;

    /// Whether two rows are compared.
    #[inline]
    pub fn across(&self, one: Row, two: Row) -> bool {
        match self {
            Self::One => true,
            Self::Two(of) => of[one.0 as usize] | of[two.0 as usize] == Self::BOTH,
        }
    }

    /// Whether any two of these rows are compared.
    fn any_across(&self, rows: &[Row]) -> bool {
        match self {
            Self::One => true,
            Self::Two(of) => {
                rows.iter().fold(0, |sides, row| sides | of[row.0 as usize]) == Self::BOTH
            }
        }
    }

    /// The places in `rows` of those on the side that has fewer: every pair across
    /// has one of them. `None` if that is no help.
    fn fewer(&self, rows: &[Row]) -> Option<Vec<bool>> {
        let Self::Two(of) = self else {
            return None;
        };
        let on = |side: u8| -> Vec<bool> {
            let is_on = |row: &Row| of[row.0 as usize] & side != 0;
            rows.iter().map(is_on).collect()
        };
        let count = |places: &Vec<bool>| places.iter().filter(|&&is_on| is_on).count();
        [on(Self::LEFT), on(Self::RIGHT)]
            .into_iter()
            .min_by_key(count)
    }
}

/// How candidates were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Bands of positions.
    #[default]
    Bands,
    /// The complete join.
    Prefix,
    /// Shared least shingles.
    Least,
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
    /// Bundles of sets that met in the index, repetitions included.
    pub hits: u64,
    /// Pairs that were looked at.
    pub candidates: u64,
    /// Of those, the pairs that fell because of their sizes, …
    pub fell_by_size: u64,
    /// … because too few positions agree, …
    pub fell_by_positions: u64,
    /// … and because too little is left where they meet.
    pub fell_by_rest: u64,
    /// Pairs whose sets were merged.
    pub merges: u64,
    /// Rows in the fullest bucket.
    pub largest_bucket: usize,
    /// Buckets too full to compare all with all, which further positions split.
    pub split_buckets: u64,
    /// Buckets with 2, 3 to 4, 5 to 8, … rows.
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
    fn count_bucket(&mut self, rows: usize) {
        let class = (rows - 1).ilog2() as usize;
        if self.bucket_sizes.len() <= class {
            self.bucket_sizes.resize(class + 1, 0);
        }
        self.bucket_sizes[class] += 1;
        self.largest_bucket = self.largest_bucket.max(rows);
    }

    fn merge(mut self, other: Self) -> Self {
        self.hits += other.hits;
        self.candidates += other.candidates;
        self.fell_by_size += other.fell_by_size;
        self.fell_by_positions += other.fell_by_positions;
        self.fell_by_rest += other.fell_by_rest;
        self.merges += other.merges;
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
