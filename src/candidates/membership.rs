//! How many shingles of one list are in another.

use crate::shingle::Shingle;

/// A set of shingles that can be asked which others it has: a bit for each shingle
/// answers nearly always, and a table where it does not.
#[derive(Default)]
pub(super) struct Membership {
    bits: Vec<u64>,
    bit_mask: usize,
    /// Shingles, each near the place that its lowest bits tell; zero where there is none.
    slots: Vec<u64>,
    slot_mask: usize,
    /// For each slot, the last list that was seen to have it.
    seen: Vec<u32>,
    lists_seen: u32,
    is_table_loaded: bool,
}

/// Bits for each shingle: few enough to stay in the cache, and enough that one in
/// sixty-four is taken for another at the most.
const BITS_PER_SHINGLE: usize = 64;
/// Slots for each shingle: so many that most are where they are looked for first.
const SLOTS_PER_SHINGLE: usize = 4;
/// Shingles that may be repeated and are looked for one by one.
const SUSPECTS_MAX: usize = 32;

impl Membership {
    /// The number of different shingles in a list.
    pub(super) fn distinct(&mut self, list: &[Shingle]) -> u32 {
        self.clear_bits(list);
        // Without a branch: where a bit is set already, a shingle is likely repeated.
        let mut suspects = [0; SUSPECTS_MAX];
        let mut count = 0;
        for (place, &shingle) in list.iter().enumerate() {
            let (index, bit) = self.bit(shingle);
            suspects[count % SUSPECTS_MAX] = place;
            count += usize::from(self.bits[index] & bit != 0);
            self.bits[index] |= bit;
        }
        if count >= SUSPECTS_MAX {
            return self.load_table(list);
        }
        let is_repeated = |&&place: &&usize| list[..place].contains(&list[place]);
        let repeated = suspects[..count].iter().filter(is_repeated).count();
        (list.len() - repeated) as u32
    }

    /// Holds the shingles of this list, and nothing else.
    pub(super) fn load(&mut self, list: &[Shingle]) {
        self.clear_bits(list);
        self.is_table_loaded = false;
        for &shingle in list {
            let (index, bit) = self.bit(shingle);
            self.bits[index] |= bit;
        }
    }

    fn clear_bits(&mut self, list: &[Shingle]) {
        let bits = (list.len() * BITS_PER_SHINGLE).next_power_of_two().max(64);
        self.bits.clear();
        self.bits.resize(bits / 64, 0);
        self.bit_mask = bits - 1;
    }

    /// Puts the list into the table, and gives the number of different shingles.
    fn load_table(&mut self, list: &[Shingle]) -> u32 {
        let slots = (list.len() * SLOTS_PER_SHINGLE).next_power_of_two();
        self.slots.clear();
        self.slots.resize(slots, 0);
        self.slot_mask = slots - 1;
        self.seen.clear();
        self.seen.resize(slots, 0);
        self.lists_seen = 0;
        self.is_table_loaded = true;
        let mut count = 0;
        for &shingle in list {
            let slot = self.slot(shingle);
            count += u32::from(self.slots[slot] == 0);
            self.slots[slot] = key(shingle);
        }
        count
    }

    /// By other bits than the slots.
    #[inline]
    fn bit(&self, shingle: Shingle) -> (usize, u64) {
        let bit = (shingle.0 >> 32) as usize & self.bit_mask;
        (bit / 64, 1 << (bit % 64))
    }

    /// Where a shingle is, or would be.
    #[inline]
    fn slot(&self, shingle: Shingle) -> usize {
        let mut slot = shingle.0 as usize & self.slot_mask;
        while self.slots[slot] != 0 && self.slots[slot] != key(shingle) {
            slot = (slot + 1) & self.slot_mask;
        }
        slot
    }

    #[inline]
    fn may_have(&self, shingle: Shingle) -> bool {
        let (index, bit) = self.bit(shingle);
        self.bits[index] & bit != 0
    }

    /// No less than the number of different shingles of the list that are in the set.
    pub(super) fn at_most(&self, list: &[Shingle]) -> u32 {
        let may_have = |&shingle: &Shingle| u32::from(self.may_have(shingle));
        list.iter().map(may_have).sum()
    }

    /// The number of different shingles of the list that are in the set, which is that
    /// of `own`.
    pub(super) fn shared(&mut self, own: &[Shingle], list: &[Shingle], has_repeated: bool) -> u32 {
        if !self.is_table_loaded {
            self.load_table(own);
        }
        self.lists_seen += 1;
        let mut shared = 0;
        for &shingle in list {
            if !self.may_have(shingle) {
                continue;
            }
            let slot = self.slot(shingle);
            let is_there = self.slots[slot] != 0;
            if has_repeated && is_there {
                let is_new =
                    std::mem::replace(&mut self.seen[slot], self.lists_seen) != self.lists_seen;
                shared += u32::from(is_new);
            } else {
                shared += u32::from(is_there);
            }
        }
        shared
    }
}

/// What stands for a shingle in a slot: never zero. Two shingles of all are the same
/// then.
#[inline]
fn key(shingle: Shingle) -> u64 {
    shingle.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shingle(number: u64) -> Shingle {
        Shingle(number.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    proptest! {
        #[test]
        fn what_two_lists_share_is_counted_once(
            lists in proptest::collection::vec(
                proptest::collection::vec((0_u64..60).prop_map(shingle), 0..90), 2..6,
            ),
        ) {
            let set = |list: &[Shingle]| -> BTreeSet<u64> { list.iter().map(|s| s.0).collect() };
            let mut membership = Membership::default();
            for left in &lists {
                prop_assert_eq!(membership.distinct(left) as usize, set(left).len());
                membership.load(left);
                for right in &lists {
                    let shared = set(left).intersection(&set(right)).count() as u32;
                    prop_assert!(membership.at_most(right) >= shared);
                    prop_assert_eq!(membership.shared(left, right, true), shared);
                    let distinct: Vec<Shingle> = set(right).into_iter().map(Shingle).collect();
                    prop_assert_eq!(membership.shared(left, &distinct, false), shared);
                }
            }
        }
    }
}
