//! How often each word of a document occurs, by its hash.
//!
//! Two different words of a document and a gold standard together have the same hash of 64 bits
//! with a chance of n² / 2⁶⁵ for n words: of a million, once in 40 million runs.

use crate::shingle::Shingle;

/// A table with open addressing, filled and emptied for each document: a thread has one.
#[derive(Debug, Default)]
pub(super) struct Counts {
    slots: Vec<Slot>,
    /// The places that are filled, in the order of their words; what is behind them is left over.
    used: Vec<u32>,
    used_count: usize,
    /// Bits of a hash that do not tell its place.
    shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    word: u64,
    /// Nothing is here if it is zero.
    count: u32,
}

/// Words that are added at a time: there is room for all of them to be different, so that the
/// loop need not ask.
const WORDS_AT_ONCE: usize = 1 << 14;
/// Slots that are kept for the next document.
const SLOTS_KEPT_MAX: usize = 1 << 18;

impl Counts {
    /// Adds words.
    pub(super) fn add(&mut self, words: &[Shingle]) {
        for some in words.chunks(WORDS_AT_ONCE) {
            self.make_room(some.len());
            self.add_some(some);
        }
    }

    /// Few words are new, or most: nothing here is decided by a branch on that.
    fn add_some(&mut self, words: &[Shingle]) {
        // In registers, whatever is written to memory.
        let (slots, used) = (&mut self.slots[..], &mut self.used[..]);
        let (mut used_count, shift) = (self.used_count, self.shift);
        for &Shingle(word) in words {
            let place = place(slots, shift, word);
            let slot = &mut slots[place];
            used[used_count] = place as u32;
            used_count += usize::from(slot.count == 0);
            slot.word = word;
            slot.count += 1;
        }
        self.used_count = used_count;
    }

    /// Makes room for so many more, so that half of all places stay empty at the least. Of what
    /// is there as little is used as may do, so that it is near.
    fn make_room(&mut self, more: usize) {
        let most = self.used_count + more;
        // The last is written and not counted.
        if self.used.len() <= most {
            self.used.resize(most + 1, 0);
        }
        let bits = (2 * most).ilog2() + 1;
        if self.used_count == 0 {
            if self.slots.len() < 1 << bits {
                self.slots = vec![Slot::default(); 1 << bits];
            }
            self.shift = u64::BITS - bits;
        } else if 2 * most > 1 << (u64::BITS - self.shift) {
            self.spread(bits);
        }
    }

    fn spread(&mut self, bits: u32) {
        let mut slots = vec![Slot::default(); self.slots.len().max(1 << bits)];
        self.shift = u64::BITS - bits;
        for used in &mut self.used[..self.used_count] {
            let slot = self.slots[*used as usize];
            let place = place(&slots, self.shift, slot.word);
            slots[place] = slot;
            *used = place as u32;
        }
        self.slots = slots;
    }

    /// Takes all words out, in the order in which they came, each with its count.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u64, u32)) {
        for &place in &self.used[..self.used_count] {
            let slot = std::mem::take(&mut self.slots[place as usize]);
            each(slot.word, slot.count);
        }
        self.used_count = 0;
        if self.slots.len() > SLOTS_KEPT_MAX {
            *self = Self::default();
        }
    }
}

/// Where a word is, or would be. There is always an empty place.
#[inline]
fn place(slots: &[Slot], shift: u32, word: u64) -> usize {
    let mask = (u64::MAX >> shift) as usize;
    let mut place = (word >> shift) as usize;
    while slots[place].count != 0 && slots[place].word != word {
        place = (place + 1) & mask;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn counts_are_counts(
            documents in proptest::collection::vec(
                proptest::collection::vec(
                    prop_oneof![0_u64..9, (0_u64..9).prop_map(|n| n << 60), any::<u64>()],
                    0..20_000,
                ),
                1..4,
            ),
        ) {
            let mut counts = Counts::default();
            for words in documents {
                let mut twin: HashMap<u64, u32> = HashMap::new();
                let mut order = vec![];
                for &word in &words {
                    let count = twin.entry(word).or_default();
                    if *count == 0 {
                        order.push(word);
                    }
                    *count += 1;
                }
                counts.add(&words.iter().map(|&word| Shingle(word)).collect::<Vec<_>>());
                let mut found = vec![];
                counts.drain(|word, count| found.push((word, count)));
                let expected: Vec<_> = order.iter().map(|word| (*word, twin[word])).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
