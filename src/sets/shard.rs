//! Shingles filed by shard: by their highest bits.
//!
//! A shard is a list of words. A document's shingles in it stand together, after a
//! word that says which document, counted within the block, and how many.

use crate::shingle::Shingle;

/// Bits of a shingle that tell its shard.
const SHARD_BITS: u32 = 5;
/// Number of shards: few enough that a document has some shingles in each, many
/// enough that a shard is small beside the collection.
pub(super) const SHARDS: usize = 1 << SHARD_BITS;

/// The bits of a shingle below those that tell its shard, moved to the top.
pub(super) fn within_shard(word: u64) -> u64 {
    word << SHARD_BITS
}

/// The word before a document's shingles.
pub(super) fn header(row: u32, count: u32) -> u64 {
    u64::from(row) << 32 | u64::from(count)
}

/// The row, counted from `base`, and the number of shingles that a header tells.
pub(super) fn read_header(word: u64) -> (u32, usize) {
    ((word >> 32) as u32, word as u32 as usize)
}

/// The shingles of a block of documents, by shard.
#[derive(Debug)]
pub struct Sharded {
    /// Shingles of each document, repetitions included.
    pub(super) counts: Vec<u32>,
    pub(super) shards: Vec<Vec<u64>>,
}

/// Files the shingles of one document after the other.
#[derive(Debug)]
pub struct ShardWriter {
    counts: Vec<u32>,
    shards: Vec<Vec<u64>>,
    /// Where the current document's header stands in each shard, if it has one.
    headers: [usize; SHARDS],
}

const NO_HEADER: usize = usize::MAX;

impl Default for ShardWriter {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            shards: vec![Vec::new(); SHARDS],
            headers: [NO_HEADER; SHARDS],
        }
    }
}

impl ShardWriter {
    /// Files a document's shingles.
    pub fn push(&mut self, shingles: &[Shingle]) {
        let row = self.counts.len() as u32;
        self.headers.fill(NO_HEADER);
        for shingle in shingles {
            let index = (shingle.0 >> (64 - SHARD_BITS)) as usize;
            let shard = &mut self.shards[index];
            if self.headers[index] == NO_HEADER {
                self.headers[index] = shard.len();
                shard.push(header(row, 0));
            }
            shard[self.headers[index]] += 1;
            // Zero is what stands in the place of a shingle that is dropped.
            shard.push(shingle.0.max(1));
        }
        self.counts.push(shingles.len() as u32);
    }

    /// What has been filed since the last time.
    pub fn take(&mut self) -> Sharded {
        Sharded {
            counts: std::mem::take(&mut self.counts),
            shards: self
                .shards
                .iter_mut()
                .map(|shard| {
                    let filed = shard.as_slice().to_vec();
                    shard.clear();
                    filed
                })
                .collect(),
        }
    }
}

/// Calls `each` with the row and the words of every document in a block.
pub(super) fn for_each_run(words: &[u64], first: u32, mut each: impl FnMut(u32, &[u64])) {
    let mut rest = words;
    while let Some((&head, behind)) = rest.split_first() {
        let (row, count) = read_header(head);
        let (run, behind) = behind.split_at(count);
        each(first + row, run);
        rest = behind;
    }
}
