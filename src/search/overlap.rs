//! What two sets share, counted 64 bundles at a time.
//!
//! Each bundle has a bit. Bundles that occur together have bits close together, so that a set
//! is a short list of words of 64 bits, and what two sets share is counted word by word.

use crate::sets::Jagged;

/// Sixty-four neighbouring bits, of which a set has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    /// Which sixty-four.
    index: u32,
    /// What the set weighs from here on.
    rest: u32,
    bits: u64,
}

/// Sets that can be compared.
#[derive(Debug, Default)]
pub(crate) struct PackedSets {
    sets: Jagged<Bits>,
    /// The bundles' weights in binary: for each sixty-four, a mask of those bits whose bundle
    /// has 1 in its weight, one of those that have 2, 4, and so on.
    weights: Jagged<u64>,
}

impl PackedSets {
    /// These sets, and the weight of each bit.
    pub(crate) fn new(sets: Jagged<Bits>, weights: &[u32]) -> Self {
        Self {
            sets,
            weights: Jagged::made(
                weights.len().div_ceil(64),
                || (),
                |(), index, masks| {
                    let end = weights.len().min(index * 64 + 64);
                    masks.extend(binary_masks(&weights[index * 64..end]));
                },
            ),
        }
    }

    /// Appends the set with these bits, which it puts into order.
    pub(crate) fn pack(bits: &mut [u32], weights: &[u32], packed: &mut Vec<Bits>) {
        bits.sort_unstable();
        let weight = |&bit: &u32| weights[bit as usize];
        let mut rest: u32 = bits.iter().map(weight).sum();
        for same in bits.chunk_by(|a, b| a / 64 == b / 64) {
            packed.push(Bits {
                index: same[0] / 64,
                rest,
                bits: same.iter().fold(0, |bits, bit| bits | 1 << (bit % 64)),
            });
            rest -= same.iter().map(weight).sum::<u32>();
        }
    }

    /// A set, packed.
    pub(crate) fn get(&self, set: usize) -> &[Bits] {
        self.sets.get(set)
    }

    /// How many shingles a set of the same bits shares with one of these, if they are at least
    /// so many. It is given up as soon as too few can follow.
    pub(crate) fn shared_at_least(&self, left: &[Bits], right: usize, least: u32) -> Option<u32> {
        let right = self.sets.get(right);
        let (mut i, mut j) = (0, 0);
        let mut shared = 0;
        while i < left.len() && j < right.len() {
            let (a, b) = (left[i], right[j]);
            if shared + a.rest.min(b.rest) < least {
                return None;
            }
            if a.index == b.index {
                shared += self.weight(a.index, a.bits & b.bits);
            }
            i += usize::from(a.index <= b.index);
            j += usize::from(b.index <= a.index);
        }
        (shared >= least).then_some(shared)
    }

    #[inline]
    fn weight(&self, index: u32, bits: u64) -> u32 {
        let masks = self.weights.get(index as usize);
        let mut weight = (bits & masks[0]).count_ones();
        for (power, mask) in masks.iter().enumerate().skip(1) {
            weight += (bits & mask).count_ones() << power;
        }
        weight
    }

    /// Calls `each` with every bundle of a set, as its bit, and its weight.
    pub(crate) fn for_each_bundle(&self, set: usize, mut each: impl FnMut(u32, u32)) {
        for word in self.sets.get(set) {
            let mut bits = word.bits;
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                each(word.index * 64 + bit, self.weight(word.index, 1 << bit));
            }
        }
    }
}

/// The masks of up to 64 weights.
fn binary_masks(weights: &[u32]) -> impl Iterator<Item = u64> {
    let most = weights.iter().copied().max().unwrap_or(0).max(1);
    (0..=most.ilog2()).map(move |power| {
        let mask =
            |mask, (bit, weight): (usize, &u32)| mask | u64::from(weight >> power & 1) << bit;
        weights.iter().enumerate().fold(0, mask)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn what_sets_share_is_the_weight_of_what_they_have_in_common(
            weights in proptest::collection::vec(1_u32..3000, 1..300),
            sets in proptest::collection::vec(
                proptest::collection::vec(any::<prop::sample::Index>(), 0..90), 2..6,
            ),
        ) {
            let sets: Vec<BTreeSet<u32>> = sets
                .iter()
                .map(|set| set.iter().map(|bit| bit.index(weights.len()) as u32).collect())
                .collect();
            let mut lists = Jagged::default();
            for set in &sets {
                let mut bits: Vec<u32> = set.iter().rev().copied().collect();
                lists.push(|packed| PackedSets::pack(&mut bits, &weights, packed));
            }
            let packed = PackedSets::new(lists, &weights);
            for (left, a) in sets.iter().enumerate() {
                for (right, b) in sets.iter().enumerate() {
                    let shared: u32 = a.intersection(b).map(|&bit| weights[bit as usize]).sum();
                    for least in [0, shared / 2, shared, shared + 1, shared * 2] {
                        let found = packed.shared_at_least(packed.get(left), right, least);
                        prop_assert_eq!(found, (shared >= least).then_some(shared));
                    }
                }
            }
        }
    }
}
