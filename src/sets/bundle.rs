//! Sets as lists of bundles.

use super::store::for_each_run;

/// A bundle of a set: shingles that occur in the same documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Which documents: the same number for the same documents.
    pub key: u64,
    /// How many shingles.
    pub weight: u32,
}

/// The sets of all rows.
#[derive(Debug, Default)]
pub struct BundleSets {
    sizes: Vec<u32>,
    bundles: Vec<Bundle>,
    /// Where each row's bundles end.
    ends: Vec<usize>,
}

impl BundleSets {
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

    /// The bundles of a row, in order of key.
    pub fn bundles(&self, row: usize) -> &[Bundle] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bundles[start..self.ends[row]]
    }

    /// Bundles of all rows.
    pub fn total_bundles(&self) -> usize {
        self.bundles.len()
    }

    /// Whether all of a row's shingles are in bundles: none is its own.
    pub fn is_shared(&self, row: usize) -> bool {
        let weight: u32 = self.bundles(row).iter().map(|bundle| bundle.weight).sum();
        weight == self.sizes[row]
    }

    pub(super) fn append(&mut self, block: Gathered) {
        let start = self.bundles.len();
        self.bundles.extend_from_slice(&block.bundles);
        self.ends.extend(block.ends.iter().map(|end| start + end));
    }

    pub(super) fn finish(&mut self, sizes: Vec<u32>) {
        self.sizes = sizes;
    }
}

/// The sets of one block.
pub(super) struct Gathered {
    bundles: Vec<Bundle>,
    ends: Vec<usize>,
}

/// Collects the sums of a block's rows from all shards, and counts equal ones.
pub(super) fn gather(shards: &[Vec<Vec<u64>>], block: usize, rows: u32) -> Gathered {
    let shards: Vec<&[u64]> = shards
        .iter()
        .filter_map(|shard| shard.get(block).map(Vec::as_slice))
        .collect();
    let mut starts = vec![0; rows as usize + 1];
    for words in &shards {
        for_each_run(words, 0, |row, run| starts[row as usize + 1] += run.len());
    }
    for row in 1..starts.len() {
        starts[row] += starts[row - 1];
    }
    let mut next = starts.clone();
    let mut sums = vec![0_u64; starts[rows as usize]];
    for words in &shards {
        for_each_run(words, 0, |row, run| {
            let place = &mut next[row as usize];
            sums[*place..*place + run.len()].copy_from_slice(run);
            *place += run.len();
        });
    }
    let mut gathered = Gathered {
        bundles: Vec::new(),
        ends: Vec::with_capacity(rows as usize),
    };
    for row in 0..rows as usize {
        let own = &mut sums[starts[row]..starts[row + 1]];
        own.sort_unstable();
        gathered
            .bundles
            .extend(own.chunk_by(|a, b| a == b).map(|equal| Bundle {
                key: equal[0],
                weight: equal.len() as u32,
            }));
        gathered.ends.push(gathered.bundles.len());
    }
    gathered
}
