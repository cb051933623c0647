//! What keys have in common, told by sums.
//!
//! Each key is given the sum of a random number for every owner that has it: the same for keys
//! that the same owners have, and for no others. Above it stands how many owners these are, so
//! that sums are in order of rarity.

use super::shards::Layout;

/// What a key is told by its shard.
pub(super) mod answer {
    /// No other owner has it.
    pub(crate) const ALONE: u64 = 0;
    /// It does not count: its owner repeats it.
    pub(crate) const REPEATED: u64 = 1;
    /// The least sum.
    pub(crate) const SUM_MIN: u64 = 2;
}

/// What a thread needs to work on shards.
#[derive(Default)]
pub(super) struct Sums {
    keys: SumTable<Owners>,
    /// The entry of each key in turn, and where those of each block end.
    entry_of: Vec<u32>,
    ends: Vec<usize>,
    /// The answers for a block.
    answers: Vec<u64>,
}

/// Who has a key.
#[derive(Clone, Copy, Default)]
struct Owners {
    sum: u64,
    last: u32,
    count: u32,
}

impl Owners {
    /// Adds an owner, whose random number this is; false if it is one already. Keys come in order
    /// of owners.
    #[inline]
    fn add(&mut self, owner: u32, number: u64) -> bool {
        if self.last == owner && self.count > 0 {
            return false;
        }
        self.last = owner;
        self.sum = self.sum.wrapping_add(number);
        self.count += 1;
        true
    }

    fn answer(&self) -> u64 {
        match self.count {
            1 => answer::ALONE,
            count => sum_of(count, self.sum),
        }
    }
}

/// Stands for an entry where an owner repeats a key.
const REPEATED: u32 = u32::MAX;
/// Stands for the last owner of a key that nobody was met with. There are fewer owners.
const NOBODY: u32 = u32::MAX;

impl Sums {
    /// Replaces the words of a shard, which are in several blocks, by an answer for each key, and
    /// gives the number of keys.
    pub(super) fn answer(&mut self, blocks: &mut [&mut [u64]], layout: Layout) -> usize {
        self.keys.clear();
        self.entry_of.clear();
        for block in &mut *blocks {
            let (mut owner, mut number) = (u32::MAX, 0);
            layout.for_each(block, |next, key| {
                if next != owner {
                    owner = next;
                    number = random_number(owner);
                }
                let (entry, owners) = self.keys.entry(key);
                let is_new = owners.add(owner, number);
                self.entry_of.push(if is_new { entry } else { REPEATED });
            });
            self.ends.push(self.entry_of.len());
        }
        let mut start = 0;
        for (block, end) in blocks.iter_mut().zip(self.ends.drain(..)) {
            for (word, &entry) in block.iter_mut().zip(&self.entry_of[start..end]) {
                *word = match self.keys.value(entry) {
                    None => answer::REPEATED,
                    Some(owners) => owners.answer(),
                };
            }
            start = end;
        }
        self.keys.entries.len()
    }

    /// Begins with a shard that is looked at a block at a time, twice: first all of its blocks are
    /// counted, in order, then all are answered. It takes memory for different keys only.
    pub(super) fn start(&mut self) {
        self.keys.clear();
    }

    /// Counts the keys of a block.
    pub(super) fn count(&mut self, block: &[u64], layout: Layout) {
        let (mut owner, mut number) = (u32::MAX, 0);
        layout.for_each(block, |next, key| {
            if next != owner {
                owner = next;
                number = random_number(owner);
            }
            self.keys.entry(key).1.add(owner, number);
        });
    }

    /// Ends the counting, and gives the number of keys.
    pub(super) fn end_count(&mut self) -> usize {
        for (_, owners) in &mut self.keys.entries {
            owners.last = NOBODY;
        }
        self.keys.entries.len()
    }

    /// Replaces the words of a block by an answer for each key.
    pub(super) fn answer_block(&mut self, block: &mut [u64], layout: Layout) {
        self.answers.clear();
        layout.for_each(block, |owner, key| {
            let owners = self.keys.entry(key).1;
            let is_new = std::mem::replace(&mut owners.last, owner) != owner;
            let answer = if is_new {
                owners.answer()
            } else {
                answer::REPEATED
            };
            self.answers.push(answer);
        });
        block[..self.answers.len()].copy_from_slice(&self.answers);
    }
}

/// The sum of what only this one has.
pub(super) fn sum_of_one(owner: u32) -> u64 {
    sum_of(1, random_number(owner))
}

/// A sum below how many owners it is of, the more the higher; never one of the other answers.
fn sum_of(owners: u32, sum: u64) -> u64 {
    const RARITY_BITS: u32 = 8;
    // Sixteen steps for each doubling.
    let doublings = owners.ilog2();
    let steps = (u64::from(owners) << 4 >> doublings) & 15;
    let rarity = (u64::from(doublings) << 4 | steps).min((1 << RARITY_BITS) - 1);
    (rarity << (64 - RARITY_BITS) | sum >> RARITY_BITS).max(answer::SUM_MIN)
}

/// A random number for each number. Sums over different ones differ, but for the accident that
/// two 64-bit hashes agree.
fn random_number(number: u32) -> u64 {
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
const SLOTS_MIN: usize = 1 << 9;
const SLOTS_GROWTH: usize = 4;

impl<V: Copy + Default> SumTable<V> {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.slots.fill(0);
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

    /// The value of a hash, if there is one.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> Option<V> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(hash);
        loop {
            match self.slots[slot] {
                0 => return None,
                entry => match self.entries[entry as usize - 1] {
                    (found, value) if found == hash => return Some(value),
                    _ => slot = (slot + 1) & (self.slots.len() - 1),
                },
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::shards::Layout;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_one_by_one_are_answered_as_all_at_once(
            blocks in proptest::collection::vec(
                proptest::collection::vec((0_u32..3, 0_u64..12), 0..40), 1..6,
            ),
        ) {
            let layout = Layout::with_bits(6);
            let mut owner = 0;
            let mut all: Vec<Vec<u64>> = blocks
                .iter()
                .map(|keys| {
                    let mut words = vec![];
                    for (index, &(steps, key)) in keys.iter().enumerate() {
                        owner += steps;
                        if index == 0 {
                            words.push(u64::from(owner) << 6 | 63);
                        }
                        let steps = if index == 0 { 0 } else { steps };
                        words.push(key << 6 | u64::from(steps));
                    }
                    words
                })
                .collect();
            let mut one_by_one = all.clone();
            let mut sums = Sums::default();
            let keys = {
                let mut blocks: Vec<&mut [u64]> = all.iter_mut().map(|block| &mut block[..]).collect();
                sums.answer(&mut blocks, layout)
            };
            sums.start();
            one_by_one.iter().for_each(|block| sums.count(block, layout));
            prop_assert_eq!(sums.end_count(), keys);
            one_by_one.iter_mut().for_each(|block| sums.answer_block(block, layout));
            prop_assert_eq!(one_by_one, all);
        }
    }
}
