//! How often each word of a document occurs, by its hash.
//!
//! Two different words of a document and a gold standard together have the same hash of 64 bits
//! with a chance of n² / 2⁶⁵ for n words: of a million, once in 40 million runs.

use crate::shingle::Shingle;

/// A table with open addressing, filled and emptied for each document: a thread has one.
#[derive(Debug)]
pub(super) struct Counts {
    slots: Vec<Slot>,
    /// The places that are filled, in the order of their words.
    used: Vec<u32>,
    /// Bits of a hash that do not tell its place.
    shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    word: u64,
    /// Nothing is here if it is zero.
    count: u32,
}

/// Slots at the start, as a power of two.
const BITS_MIN: u32 = 8;
/// Slots that are kept for the next document.
const BITS_KEPT_MAX: u32 = 18;

impl Default for Counts {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); 1 << BITS_MIN],
            used: Vec::new(),
            shift: u64::BITS - BITS_MIN,
        }
    }
}

impl Counts {
    /// Adds words.
    pub(super) fn add(&mut self, words: &[Shingle]) {
        if self.used.is_empty() {
            // As few places as may do, so that they are near.
            let bits = words.len().max(1).ilog2() + 1;
            let most = self.slots.len().ilog2();
            self.shift = u64::BITS - bits.clamp(BITS_MIN, most);
        }
        for &Shingle(word) in words {
            let place = place(&self.slots, self.shift, word);
            let slot = &mut self.slots[place];
            slot.count += 1;
            if slot.count == 1 {
                slot.word = word;
                self.used.push(place as u32);
                if 2 * self.used.len() > 1 << (u64::BITS - self.shift) {
                    self.resize(u64::BITS - self.shift + 1);
                }
            }
        }
    }

    /// Takes all words out, in the order in which they came, each with its count.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u64, u32)) {
        for &place in &self.used {
            let slot = std::mem::take(&mut self.slots[place as usize]);
            each(slot.word, slot.count);
        }
        self.used.clear();
        if self.slots.len() > 1 << BITS_KEPT_MAX {
            *self = Self::default();
        }
    }

    fn resize(&mut self, bits: u32) {
        let mut slots = vec![Slot::default(); self.slots.len().max(1 << bits)];
        self.shift = u64::BITS - bits;
        for used in &mut self.used {
            let slot = self.slots[*used as usize];
            let place = place(&slots, self.shift, slot.word);
            slots[place] = slot;
            *used = place as u32;
        }
        self.slots = slots;
    }
}

/// Where a word is, or would be. Half of the places are empty.
#[inline]
fn place(slots: &[Slot], shift: u32, word: u64) -> usize {
    let mask = u64::MAX >> shift;
    let mut place = (word >> shift) as usize;
    while slots[place].count != 0 && slots[place].word != word {
        place = (place + 1) & mask as usize;
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
                    0..9000,
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
