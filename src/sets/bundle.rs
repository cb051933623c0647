//! Sets as lists of bundles.

use rayon::prelude::*;

use super::shard::for_each_run;
use super::sum::ShardSums;

/// A bundle: shingles that occur in the same documents.
///
/// The lowest bundle of a set is a random choice of its bundles, the same for all
/// sets that have it: sets with much in common are likely to have it in common.
pub type Bundle = u32;

/// The sets of all rows.
#[derive(Debug)]
pub struct BundleSets {
    sizes: Vec<u32>,
    /// The rows' bundles, a block of rows at a time.
    blocks: Vec<Gathered>,
    /// For each row, its block and its place in it.
    places: Vec<(u32, u32)>,
    /// Shingles in each bundle.
    weights: Vec<u32>,
}

impl BundleSets {
    pub(super) fn new(sizes: Vec<u32>, blocks: Vec<Gathered>, weights: Vec<u32>) -> Self {
        let places = (0_u32..)
            .zip(&blocks)
            .flat_map(|(block, gathered)| {
                (0..gathered.ends.len() as u32).map(move |at| (block, at))
            })
            .collect();
        Self {
            sizes,
            blocks,
            places,
            weights,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Number of shingles in a row's set, those in no bundle included.
    pub fn size(&self, row: usize) -> u32 {
        self.sizes[row]
    }

    /// The bundles of a row, in ascending order.
    pub fn bundles(&self, row: usize) -> &[Bundle] {
        let (block, at) = self.places[row];
        self.blocks[block as usize].row(at as usize)
    }

    /// Shingles in each bundle.
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// Whether all of a row's shingles are in bundles: none is its own.
    pub fn is_shared(&self, row: usize) -> bool {
        let weight = |&bundle: &Bundle| self.weights[bundle as usize];
        self.bundles(row).iter().map(weight).sum::<u32>() == self.sizes[row]
    }
}

/// Sums that are sorted at once, if there are no more parts than [`PARTS_MAX`].
const SORTED_AT_ONCE: usize = 1 << 22;
/// Most parts, as each looks at all sums.
const PARTS_MAX: usize = 16;

/// Which bundle each shingle is in, of those that several documents have.
pub(super) struct Bundles {
    /// Shard by shard, by the shingle's number in the shard.
    of: Vec<Vec<Bundle>>,
    pub(super) weights: Vec<u32>,
}

impl Bundles {
    /// Shingles with the same sum are in the same documents. Sums are sorted a part
    /// of their range at a time, so that not all are copied at once.
    pub(super) fn new(shards: &[ShardSums]) -> Self {
        let total: usize = shards.iter().map(|shard| shard.sums.len()).sum();
        let parts = (total / SORTED_AT_ONCE).next_power_of_two().min(PARTS_MAX);
        let mut bundles = Self {
            of: shards
                .iter()
                .map(|shard| vec![0; shard.sums.len()])
                .collect(),
            weights: Vec::new(),
        };
        for part in 0..parts as u64 {
            // In two steps, as one part only is a shift by 64.
            let is_in_part = |sum: u64| sum >> 1 >> (63 - parts.ilog2()) == part;
            let mut sums: Vec<(u64, u32, u32)> = (0..shards.len())
                .into_par_iter()
                .flat_map_iter(|shard| {
                    (0_u32..)
                        .zip(&shards[shard].sums)
                        .filter(|&(_, &sum)| is_in_part(sum))
                        .map(move |(number, &sum)| (sum, shard as u32, number))
                })
                .collect();
            sums.par_sort_unstable();
            for equal in sums.chunk_by(|a, b| a.0 == b.0) {
                for &(_, shard, number) in equal {
                    bundles.of[shard as usize][number as usize] = bundles.weights.len() as u32;
                }
                bundles.weights.push(equal.len() as u32);
            }
        }
        bundles
    }

    /// Collects the bundles of a block's rows from all shards.
    pub(super) fn gather(&self, shards: &[Vec<Vec<u64>>], block: usize, rows: u32) -> Gathered {
        let shards: Vec<(&[Bundle], &[u64])> = self
            .of
            .iter()
            .zip(shards)
            .filter_map(|(of, shard)| Some((of.as_slice(), shard.get(block)?.as_slice())))
            .collect();
        let mut starts = vec![0; rows as usize + 1];
        for (_, words) in &shards {
            for_each_run(words, 0, |row, run| starts[row as usize + 1] += run.len());
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut next = starts.clone();
        let mut bundles: Vec<Bundle> = vec![0; starts[rows as usize]];
        for (of, words) in &shards {
            for_each_run(words, 0, |row, run| {
                let place = &mut next[row as usize];
                for &word in run {
                    // Numbers in words count from 1.
                    bundles[*place] = of[word as usize - 1];
                    *place += 1;
                }
            });
        }
        let mut gathered = Gathered {
            bundles: Vec::new(),
            ends: Vec::with_capacity(rows as usize),
        };
        for row in 0..rows as usize {
            let own = &mut bundles[starts[row]..starts[row + 1]];
            own.sort_unstable();
            let distinct = own.chunk_by(|a, b| a == b).map(|equal| equal[0]);
            gathered.bundles.extend(distinct);
            gathered.ends.push(gathered.bundles.len());
        }
        gathered.bundles.shrink_to_fit();
        gathered
    }
}

/// The sets of one block.
#[derive(Debug)]
pub(super) struct Gathered {
    bundles: Vec<Bundle>,
    ends: Vec<usize>,
}

impl Gathered {
    fn row(&self, row: usize) -> &[Bundle] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bundles[start..self.ends[row]]
    }
}
