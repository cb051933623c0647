//! What the shingles of a shard have in common: how each becomes a number, and a sum
//! that tells which documents it is in.
//!
//! Most shingles occur once. A bit for each tells most of those, and they are
//! dropped. The others are regrouped by their next bits into pieces so small that a
//! table over one stays in the cache.

use super::shard::{for_each_run, header, read_header, within_shard};

/// A shingle in more documents than this is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// However many.
    Keep,
    /// This many.
    Documents(u32),
}

impl Common {
    /// Whether so many documents are too many.
    fn covers(self, documents: u32) -> bool {
        matches!(self, Self::Documents(most) if documents > most)
    }
}

/// Shingles in a piece of a shard that is looked at by itself: few enough that the
/// table over them stays in the cache.
const PIECE_SHINGLES: usize = 2048;
/// What is known of a shard's shingles.
#[derive(Debug, Default)]
pub(super) struct ShardSums {
    /// For each shingle that several documents have, the sum of their numbers.
    pub(super) sums: Vec<u64>,
    /// A row for each shingle that its set has less than was thought: one repeated,
    /// or too common.
    pub(super) less: Vec<u32>,
}

/// Replaces each shingle of a shard by its number among those that several
/// documents have, counted from 1, and drops the others.
pub(super) fn sum_shard(
    blocks: &mut [(u32, &mut Vec<u64>)],
    excluded: &[bool],
    common: Common,
) -> ShardSums {
    let twice = Twice::new(blocks);
    if !twice.is_dense() {
        for (_, words) in blocks.iter_mut() {
            twice.retain(words);
        }
    }
    drop(twice);
    let pieces = Pieces::new(blocks);
    let mut filed = pieces.file(blocks);
    let mut sums = ShardSums::default();
    let mut table = Table::default();
    for piece in 0..pieces.count() {
        let range = pieces.starts[piece]..pieces.starts[piece + 1];
        let (words, rows) = (&mut filed.words[range.clone()], &filed.rows[range]);
        table.sum(words, rows, excluded, common, &mut sums);
    }
    pieces.put_back(blocks, &filed.words);
    sums
}

/// A shard's shingles regrouped by their next bits.
struct Pieces {
    bits: u32,
    /// Where each piece starts, and the end.
    starts: Vec<usize>,
}

struct Filed {
    words: Vec<u64>,
    rows: Vec<u32>,
}

impl Pieces {
    fn new(blocks: &[(u32, &mut Vec<u64>)]) -> Self {
        let total: usize = blocks.iter().map(|(_, words)| words.len()).sum();
        let bits = (total / PIECE_SHINGLES).next_power_of_two().ilog2().min(20);
        let mut pieces = Self {
            bits,
            starts: vec![0; (1 << bits) + 1],
        };
        for (first, words) in blocks {
            for_each_run(words, *first, |_, run| {
                for &word in run {
                    let piece = pieces.piece(word);
                    pieces.starts[piece + 1] += 1;
                }
            });
        }
        for piece in 1..pieces.starts.len() {
            pieces.starts[piece] += pieces.starts[piece - 1];
        }
        pieces
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn piece(&self, word: u64) -> usize {
        // In two steps, as no bits at all is a shift by 64.
        (within_shard(word) >> 1 >> (63 - self.bits)) as usize
    }

    fn file(&self, blocks: &[(u32, &mut Vec<u64>)]) -> Filed {
        let total = self.starts[self.count()];
        let mut next = self.starts.clone();
        let mut filed = Filed {
            words: vec![0; total],
            rows: vec![0; total],
        };
        for (first, words) in blocks {
            for_each_run(words, *first, |row, run| {
                for &word in run {
                    let place = &mut next[self.piece(word)];
                    filed.words[*place] = word;
                    filed.rows[*place] = row;
                    *place += 1;
                }
            });
        }
        filed
    }

    /// Rewrites the blocks with the numbers that stand where their shingles were
    /// filed; without those that are zero.
    fn put_back(&self, blocks: &mut [(u32, &mut Vec<u64>)], numbers: &[u64]) {
        let mut next = self.starts.clone();
        for (_, words) in blocks {
            rewrite(words, |word| {
                let place = &mut next[self.piece(word)];
                *place += 1;
                numbers[*place - 1]
            });
        }
    }
}

/// Replaces every shingle of a block by what `new` makes of it; zero drops it.
fn rewrite(words: &mut Vec<u64>, mut new: impl FnMut(u64) -> u64) {
    let mut kept = 0;
    let mut at = 0;
    while at < words.len() {
        let (row, count) = read_header(words[at]);
        let run = at + 1..at + 1 + count;
        at = run.end;
        let start = kept;
        kept += 1;
        for index in run {
            let word = new(words[index]);
            words[kept] = word;
            kept += usize::from(word != 0);
        }
        words[start] = header(row, (kept - start - 1) as u32);
        if kept == start + 1 {
            kept = start;
        }
    }
    words.truncate(kept);
    words.shrink_to_fit();
}

/// Bits that tell which shingles may occur more than once. Most do not, and need
/// not be looked at again.
struct Twice {
    once: Vec<u64>,
    twice: Vec<u64>,
    mask: usize,
}

/// Bits for each shingle of a shard, if they fit into a cache.
const BITS_PER_SHINGLE: usize = 8;
/// A megabyte for each of the two masks.
const BITS_MAX: usize = 1 << 23;

impl Twice {
    fn new(blocks: &[(u32, &mut Vec<u64>)]) -> Self {
        let total: usize = blocks.iter().map(|(_, words)| words.len()).sum();
        let bits = (total * BITS_PER_SHINGLE)
            .next_power_of_two()
            .clamp(64, BITS_MAX);
        let mut masks = Self {
            once: vec![0; bits / 64],
            twice: vec![0; bits / 64],
            mask: bits - 1,
        };
        for (first, words) in blocks {
            for_each_run(words, *first, |_, run| {
                for &word in run {
                    let (index, bit) = masks.bit(word);
                    masks.twice[index] |= masks.once[index] & bit;
                    masks.once[index] |= bit;
                }
            });
        }
        masks
    }

    /// By the lowest bits: the highest tell shards and pieces.
    fn bit(&self, word: u64) -> (usize, u64) {
        let bit = word as usize & self.mask;
        (bit / 64, 1 << (bit % 64))
    }

    /// Whether most shingles would stay, so that dropping the others is no gain.
    fn is_dense(&self) -> bool {
        let count = |bits: &[u64]| {
            bits.iter()
                .map(|bits| u64::from(bits.count_ones()))
                .sum::<u64>()
        };
        count(&self.twice) * 2 > count(&self.once)
    }

    /// Drops what occurs once for certain.
    fn retain(&self, words: &mut Vec<u64>) {
        rewrite(words, |word| {
            let (index, bit) = self.bit(word);
            if self.twice[index] & bit != 0 {
                word
            } else {
                0
            }
        });
    }
}

/// The distinct shingles of a piece.
#[derive(Default)]
struct Table {
    slots: Vec<Slot>,
    /// The slot of each shingle of the piece, or that it does not count.
    slot_of: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    shingle: u64,
    sum: u64,
    /// Documents so far; an empty slot has none.
    documents: u32,
    last_row: u32,
    number: u32,
}

const NONE: u32 = u32::MAX;

impl Table {
    /// Replaces `words` by their numbers; by zero where there is one document only,
    /// where a document repeats itself, and where a shingle is too common. Rows come
    /// in ascending order.
    fn sum(
        &mut self,
        words: &mut [u64],
        rows: &[u32],
        excluded: &[bool],
        common: Common,
        sums: &mut ShardSums,
    ) {
        let mask = (words.len() * 2).next_power_of_two() - 1;
        self.slots.clear();
        self.slots.resize(mask + 1, Slot::default());
        self.slot_of.clear();
        for (&word, &row) in words.iter().zip(rows) {
            if excluded[row as usize] {
                self.slot_of.push(NONE);
                continue;
            }
            let mut index = word as usize & mask;
            while self.slots[index].documents > 0 && self.slots[index].shingle != word {
                index = (index + 1) & mask;
            }
            let slot = &mut self.slots[index];
            if slot.documents > 0 && slot.last_row == row {
                sums.less.push(row);
                self.slot_of.push(NONE);
                continue;
            }
            slot.shingle = word;
            slot.last_row = row;
            slot.documents += 1;
            slot.sum = slot.sum.wrapping_add(number_of(row));
            self.slot_of.push(index as u32);
        }
        for ((word, &row), &slot) in words.iter_mut().zip(rows).zip(&self.slot_of) {
            *word = match self.slots.get_mut(slot as usize) {
                None => 0,
                Some(slot) if common.covers(slot.documents) => {
                    sums.less.push(row);
                    0
                }
                Some(slot) if slot.documents == 1 => 0,
                Some(slot) => slot.number(&mut sums.sums),
            };
        }
    }
}

impl Slot {
    /// The shingle's number, from 1; given when it is first asked for.
    fn number(&mut self, sums: &mut Vec<u64>) -> u64 {
        if self.number == 0 {
            sums.push(self.sum);
            self.number = sums.len() as u32;
        }
        u64::from(self.number)
    }
}

/// A random number for each row. Sums over different rows differ, but for the
/// accident that two 64-bit hashes agree.
fn number_of(row: u32) -> u64 {
    let mut x = (u64::from(row) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
