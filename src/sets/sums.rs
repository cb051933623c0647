//! The bundles of chunks: shingles of a chunk that occur in the same chunks, and so in the same
//! documents.
//!
//! To find them, each shingle is given the sum of a random number for every chunk that it is
//! in: the same for shingles in the same chunks, and for no others. Above it stands how many
//! chunks these are, so that sums are in order of rarity. Shingles may be in the same
//! documents by way of different chunks: then they are in different bundles, which is no harm.

use super::chunks::ChunkId;
use super::lists::{Chunks, ShingleLists};
use super::shards::{Layout, Shards};
use super::spill::{Spill, Store, Stored};
use super::uses::ChunkUses;
use crate::error::Error;
use crate::settings::Memory;

/// What a shingle is told by its shard.
mod answer {
    /// It is in no other chunk.
    pub(super) const ALONE: u64 = 0;
    /// It does not count: the chunk repeats it.
    pub(super) const REPEATED: u64 = 1;
    /// The least sum that stands for a bundle.
    pub(super) const BUNDLE_MIN: u64 = 2;
}

/// The bundles of all chunks that somebody has.
pub(super) struct ChunkBundles {
    stretches: Vec<Stretch>,
    spill: Option<Spill>,
}

/// The bundles of some consecutive chunks.
#[derive(Default)]
struct Stretch {
    /// The first chunk.
    first: u32,
    /// Of each chunk, shingles that only one document has.
    alone: Vec<u8>,
    /// Where each chunk's bundles end.
    ends: Vec<u32>,
    bundles: Stored<(u64, u32)>,
}

/// What the shards tell of the chunks of a stretch.
#[derive(Default)]
struct Told {
    chunks: Vec<ChunkId>,
    alone: Vec<u8>,
    bundles: Vec<(u64, u32)>,
    ends: Vec<u32>,
}

impl Told {
    /// Takes a chunk with what became of its shingles.
    fn push(&mut self, chunk: ChunkId, answers: &[u64], uses: &ChunkUses) {
        let mut alone = 0;
        let start = self.bundles.len();
        // Neighbours are mostly of one bundle.
        for same in answers.chunk_by(|one, two| one == two) {
            let count = same.len() as u32;
            match same[0] {
                answer::REPEATED => {}
                answer::ALONE => alone += count,
                sum => self.bundles.push((sum, count)),
            }
        }
        // What is in this chunk alone is a bundle too, if several documents have it.
        if alone > 0 && uses.of(chunk).is_twice() {
            self.bundles.push((sum_of_chunk(chunk), alone));
            alone = 0;
        }
        sort_and_add(&mut self.bundles, start);
        self.chunks.push(chunk);
        self.alone.push(alone as u8);
        self.ends.push(self.bundles.len() as u32);
    }
}

/// Puts what is from `start` on into order, and adds up what is the same.
fn sort_and_add(bundles: &mut Vec<(u64, u32)>, start: usize) {
    bundles[start..].sort_unstable_by_key(|&(sum, _)| sum);
    let mut kept = start;
    for index in start + 1..bundles.len() {
        match bundles[kept].0 == bundles[index].0 {
            true => bundles[kept].1 += bundles[index].1,
            false => {
                kept += 1;
                bundles[kept] = bundles[index];
            }
        }
    }
    if start < bundles.len() {
        bundles.truncate(kept + 1);
    }
}

/// The part of the memory that the bundles of chunks may take before they go to a file.
const BUNDLES_SHARE: u64 = 8;

impl ChunkBundles {
    pub(super) fn new(
        lists: &ShingleLists,
        uses: &ChunkUses,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let shards = Shards::new(lists, uses, memory)?;
        let layout = shards.layout();
        let store = Store::new(memory, BUNDLES_SHARE);
        let stretches = shards.answer(
            Tables::default,
            |tables, blocks| tables.answer(blocks, layout),
            |told: &mut Told, chunk, answers| told.push(chunk, answers, uses),
            |chunks, told| {
                let mut stretch = Stretch {
                    first: chunks.start as u32,
                    alone: vec![0; chunks.len()],
                    ends: vec![0; chunks.len()],
                    bundles: store.keep(told.bundles)?,
                };
                for (index, chunk) in told.chunks.iter().enumerate() {
                    let place = chunk.index() - chunks.start;
                    stretch.alone[place] = told.alone[index];
                    stretch.ends[place] = told.ends[index];
                }
                // Those that nobody has end where the ones before them do.
                let mut end = 0;
                for place in &mut stretch.ends {
                    end = end.max(*place);
                    *place = end;
                }
                Ok(stretch)
            },
        )?;
        Ok(Self {
            stretches,
            spill: store.finish(),
        })
    }

    /// Appends the bundles of a document that has these chunks, each once and in order of sums,
    /// and gives the number of its shingles that are in none.
    pub(super) fn bundles_of(
        &self,
        chunks: Chunks<'_>,
        bundles: &mut Vec<(u64, u32)>,
    ) -> Result<u32, Error> {
        let start = bundles.len();
        let mut alone = 0;
        let mut buffer = Vec::new();
        for chunk in chunks {
            let is_before = |stretch: &Stretch| stretch.first <= chunk.id.0;
            let stretch = &self.stretches[self.stretches.partition_point(is_before) - 1];
            let place = (chunk.id.0 - stretch.first) as usize;
            alone += u32::from(stretch.alone[place]);
            let from = if place == 0 {
                0
            } else {
                stretch.ends[place - 1]
            };
            let range = from as usize..stretch.ends[place] as usize;
            let own = stretch
                .bundles
                .part(self.spill.as_ref(), range, &mut buffer)?;
            bundles.extend_from_slice(own);
        }
        bundles[start..].sort_unstable_by_key(|&(sum, _)| sum);
        // Two chunks may have a bundle: the document has it once.
        let mut kept = start;
        for index in start..bundles.len() {
            if kept == start || bundles[kept - 1].0 != bundles[index].0 {
                bundles[kept] = bundles[index];
                kept += 1;
            }
        }
        bundles.truncate(kept);
        Ok(alone)
    }
}

/// What a thread needs to work on shards.
#[derive(Default)]
struct Tables {
    shingles: SumTable<Occurrences>,
    /// The entry of each shingle in turn, and where those of each block end.
    entry_of: Vec<u32>,
    ends: Vec<usize>,
}

/// The chunks that a shingle is in.
#[derive(Clone, Copy, Default)]
struct Occurrences {
    sum: u64,
    last: u32,
    chunks: u32,
}

/// Stands for an entry where a chunk repeats a shingle.
const REPEATED: u32 = u32::MAX;

impl Tables {
    /// Replaces the words of a shard, which are in several blocks, by an answer for each
    /// shingle.
    fn answer(&mut self, blocks: &mut [&mut [u64]], layout: Layout) {
        self.shingles.clear();
        self.entry_of.clear();
        for block in &mut *blocks {
            let (mut chunk, mut number) = (u32::MAX, 0);
            layout.for_each(block, |next, shingle| {
                if next != chunk {
                    chunk = next;
                    number = random_number(chunk);
                }
                let (entry, occurrences) = self.shingles.entry(shingle);
                if occurrences.last == chunk && occurrences.chunks > 0 {
                    self.entry_of.push(REPEATED);
                    return;
                }
                occurrences.last = chunk;
                occurrences.sum = occurrences.sum.wrapping_add(number);
                occurrences.chunks += 1;
                self.entry_of.push(entry);
            });
            self.ends.push(self.entry_of.len());
        }
        let mut start = 0;
        for (block, end) in blocks.iter_mut().zip(self.ends.drain(..)) {
            for (word, &entry) in block.iter_mut().zip(&self.entry_of[start..end]) {
                *word = match self.shingles.value(entry) {
                    None => answer::REPEATED,
                    Some(Occurrences { chunks: 1, .. }) => answer::ALONE,
                    Some(occurrences) => sum_of(occurrences.chunks, occurrences.sum),
                };
            }
            start = end;
        }
    }
}

/// The sum of what is in a chunk alone.
fn sum_of_chunk(chunk: ChunkId) -> u64 {
    sum_of(1, random_number(chunk.0))
}

/// A sum below how many chunks it is of, the more the higher; never one of the other answers.
fn sum_of(chunks: u32, sum: u64) -> u64 {
    const RARITY_BITS: u32 = 8;
    // Sixteen steps for each doubling.
    let doublings = chunks.ilog2();
    let steps = (u64::from(chunks) << 4 >> doublings) & 15;
    let rarity = (u64::from(doublings) << 4 | steps).min((1 << RARITY_BITS) - 1);
    (rarity << (64 - RARITY_BITS) | sum >> RARITY_BITS).max(answer::BUNDLE_MIN)
}

/// A random number for each number. Sums over different ones differ, but for the accident that
/// two 64-bit hashes agree.
pub(super) fn random_number(number: u32) -> u64 {
    let mut x = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A table of 64-bit hashes, each with a value, in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct SumTable<V> {
    /// The entry near the place that a hash tells, counted from 1; zero for none.
    slots: Vec<u32>,
    entries: Vec<(u64, V)>,
}

/// Slots that a table starts with, and how it grows.
const SLOTS_MIN: usize = 1 << 12;
const SLOTS_GROWTH: usize = 4;

impl<V: Copy + Default> SumTable<V> {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.slots.fill(0);
    }

    /// The values, in the order of the entries.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The value of an entry.
    #[inline]
    fn value(&self, entry: u32) -> Option<&V> {
        self.entries.get(entry as usize).map(|(_, value)| value)
    }

    /// The entry of a hash, and its value.
    #[inline]
    pub(super) fn entry(&mut self, hash: u64) -> (u32, &mut V) {
        if self.entries.len() * 2 >= self.slots.len() {
            let slots = (self.slots.len() * SLOTS_GROWTH).max(SLOTS_MIN);
            self.slots.resize(slots, 0);
            self.file();
        }
        let mut slot = self.slot(hash);
        loop {
            match self.slots[slot] {
                0 => {
                    self.entries.push((hash, V::default()));
                    self.slots[slot] = self.entries.len() as u32;
                    break;
                }
                entry if self.entries[entry as usize - 1].0 == hash => break,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
        let entry = self.slots[slot] - 1;
        (entry, &mut self.entries[entry as usize].1)
    }

    /// The entry of a hash, if there is one.
    #[inline]
    pub(super) fn find(&self, hash: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(hash);
        loop {
            match self.slots[slot] {
                0 => return None,
                entry if self.entries[entry as usize - 1].0 == hash => return Some(entry - 1),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Puts the entries into the order of their hashes.
    pub(super) fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|&(hash, _)| hash);
        self.file();
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let spread = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - self.slots.len().ilog2())) as usize
    }

    /// Files all entries anew.
    fn file(&mut self) {
        self.slots.fill(0);
        for index in 0..self.entries.len() {
            let mut slot = self.slot(self.entries[index].0);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }
}
