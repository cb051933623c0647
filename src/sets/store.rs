//! All shingles of a collection, by shard, in memory or in a temporary file; and
//! how the shingles of a shard become sums that tell which documents they are in.

use std::path::PathBuf;

use rayon::prelude::*;

use super::bundle::{BundleSets, Bundles};
use super::shard::{SHARDS, Sharded, header, read_header, within_shard};
use super::spill::{Segment, Spill};
use crate::error::Error;

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
/// Bytes that a shingle takes while its shard is worked on, table and all.
const WORKING_BYTES: u64 = 40;

/// The shingles of a collection.
#[derive(Debug)]
pub struct ShingleSets {
    memory_bytes_max: u64,
    temp_dir: PathBuf,
    spill: Option<Spill>,
    /// Runs of consecutive blocks; all but the last are in the file.
    parts: Vec<Part>,
    buffered_words: u64,
    /// Shingles of each row, repetitions included at first.
    sizes: Vec<u32>,
    /// Rows that do not count: their document's id was met before.
    excluded: Vec<bool>,
}

/// Some consecutive blocks.
#[derive(Debug, Default)]
struct Part {
    /// For each block, its first row and number of rows.
    blocks: Vec<(u32, u32)>,
    /// For each shard, its words block by block.
    shards: Vec<Words>,
}

/// The words of a shard, with a header before each block's: its number of words.
#[derive(Debug)]
enum Words {
    InMemory(Vec<Vec<u64>>),
    OnDisk(Segment),
}

impl Part {
    fn new() -> Self {
        Self {
            blocks: Vec::new(),
            shards: (0..SHARDS).map(|_| Words::InMemory(Vec::new())).collect(),
        }
    }
}

impl ShingleSets {
    /// An empty collection that goes to a file in `temp_dir` beyond
    /// `memory_bytes_max`.
    pub fn new(memory_bytes_max: u64, temp_dir: PathBuf) -> Self {
        Self {
            memory_bytes_max,
            temp_dir,
            spill: None,
            parts: vec![Part::new()],
            buffered_words: 0,
            sizes: Vec::new(),
            excluded: Vec::new(),
        }
    }

    /// Adds a block of documents, each of which becomes a row; those that are
    /// `excluded` become rows that match nothing.
    pub fn push(&mut self, block: Sharded, excluded: &[bool]) -> Result<(), Error> {
        let first = self.sizes.len() as u32;
        let rows = block.counts.len() as u32;
        self.sizes.extend_from_slice(&block.counts);
        self.excluded.extend_from_slice(excluded);
        self.buffered_words += block
            .shards
            .iter()
            .map(|shard| shard.len() as u64)
            .sum::<u64>();
        if let Some(part) = self.parts.last_mut() {
            part.blocks.push((first, rows));
            for (shard, words) in part.shards.iter_mut().zip(block.shards) {
                if let Words::InMemory(blocks) = shard {
                    blocks.push(words);
                }
            }
        }
        // A quarter of the memory, as blocks on their way here and working on the
        // shards need some too.
        if self.buffered_words * 8 > self.memory_bytes_max / 4 {
            self.spill_last()?;
        }
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.sizes.len()
    }

    /// Whether some of the shingles are in a file.
    pub fn is_spilled(&self) -> bool {
        self.spill.is_some()
    }

    fn spill_last(&mut self) -> Result<(), Error> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::create(&self.temp_dir)?),
        };
        if let Some(part) = self.parts.last_mut() {
            for shard in &mut part.shards {
                if let Words::InMemory(blocks) = shard {
                    *shard = Words::OnDisk(write(spill, blocks)?);
                }
            }
            self.parts.push(Part::new());
        }
        self.buffered_words = 0;
        Ok(())
    }

    /// The sets as bundles. `common` shingles count in no set.
    pub fn into_bundles(mut self, common: Common) -> Result<BundleSets, Error> {
        let total: u64 = self.sizes.iter().map(|&size| u64::from(size)).sum();
        let bytes_per_shard = total * WORKING_BYTES / SHARDS as u64 + 1;
        let at_once =
            (self.memory_bytes_max / 2 / bytes_per_shard).clamp(1, SHARDS as u64) as usize;
        let mut sums = Vec::with_capacity(SHARDS);
        for first in (0..SHARDS).step_by(at_once) {
            let shards = first..(first + at_once).min(SHARDS);
            sums.append(&mut self.sum_shards(shards, common)?);
        }
        let bundles = Bundles::new(&sums);
        drop(sums);
        let mut blocks = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let shards = part
                .shards
                .into_iter()
                .map(|words| self.load(words, part.blocks.len()))
                .collect::<Result<Vec<_>, Error>>()?;
            let gathered = part.blocks.par_iter().enumerate();
            blocks.par_extend(
                gathered.map(|(block, &(_, rows))| bundles.gather(&shards, block, rows)),
            );
        }
        Ok(BundleSets::new(self.sizes, blocks, bundles.weights))
    }

    /// Puts numbers in the place of shingles, in some shards.
    fn sum_shards(
        &mut self,
        shards: std::ops::Range<usize>,
        common: Common,
    ) -> Result<Vec<ShardSums>, Error> {
        let mut loaded: Vec<Vec<Vec<Vec<u64>>>> = Vec::new();
        for shard in shards.clone() {
            let mut blocks = Vec::with_capacity(self.parts.len());
            for part in 0..self.parts.len() {
                let taken = std::mem::replace(
                    &mut self.parts[part].shards[shard],
                    Words::InMemory(Vec::new()),
                );
                blocks.push(self.load(taken, self.parts[part].blocks.len())?);
            }
            loaded.push(blocks);
        }
        let firsts: Vec<u32> = self
            .parts
            .iter()
            .flat_map(|part| part.blocks.iter().map(|&(first, _)| first))
            .collect();
        let excluded = &self.excluded;
        let sums: Vec<ShardSums> = loaded
            .par_iter_mut()
            .map(|parts| {
                let mut blocks: Vec<(u32, &mut Vec<u64>)> = firsts
                    .iter()
                    .copied()
                    .zip(parts.iter_mut().flatten())
                    .collect();
                sum_shard(&mut blocks, excluded, common)
            })
            .collect();
        for &row in sums.iter().flat_map(|sums| &sums.less) {
            self.sizes[row as usize] -= 1;
        }
        for (shard, parts) in shards.zip(loaded) {
            let last = parts.len() - 1;
            for (part, blocks) in parts.into_iter().enumerate() {
                self.parts[part].shards[shard] = match &mut self.spill {
                    Some(spill) if part < last => Words::OnDisk(write(spill, &blocks)?),
                    _ => Words::InMemory(blocks),
                };
            }
        }
        Ok(sums)
    }

    /// A shard's words, block by block.
    fn load(&self, words: Words, blocks: usize) -> Result<Vec<Vec<u64>>, Error> {
        match (words, &self.spill) {
            (Words::InMemory(words), _) => Ok(words),
            (Words::OnDisk(_), None) => Ok(vec![Vec::new(); blocks]),
            (Words::OnDisk(segment), Some(spill)) => {
                let words = spill.read(segment)?;
                let mut rest = &words[..];
                let mut all = Vec::with_capacity(blocks);
                while let Some((&count, behind)) = rest.split_first() {
                    let (block, behind) = behind.split_at(count as usize);
                    all.push(block.to_vec());
                    rest = behind;
                }
                Ok(all)
            }
        }
    }
}

fn write(spill: &mut Spill, blocks: &[Vec<u64>]) -> Result<Segment, Error> {
    let counts: Vec<[u64; 1]> = blocks.iter().map(|block| [block.len() as u64]).collect();
    spill.write(
        counts
            .iter()
            .zip(blocks)
            .flat_map(|(count, block)| [&count[..], &block[..]]),
    )
}

/// What is known of a shard's shingles.
#[derive(Debug, Default)]
pub(super) struct ShardSums {
    /// For each shingle that several documents have, the sum of their numbers.
    pub(super) sums: Vec<u64>,
    /// A row for each shingle that its set has less than was thought: one repeated,
    /// or too common.
    less: Vec<u32>,
}

/// Replaces each shingle of a shard by its number among those that several
/// documents have, counted from 1, and drops the others.
fn sum_shard(blocks: &mut [(u32, &mut Vec<u64>)], excluded: &[bool], common: Common) -> ShardSums {
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

    /// Drops what occurs once for certain. Shingle 0 is dropped too where it is:
    /// there it stands for nothing, and its set keeps its size.
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
