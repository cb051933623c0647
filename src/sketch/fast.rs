//! Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017).
//!
//! In each round every shingle is thrown into one position by a hash function of
//! that round's own, and a position keeps the least of what falls into it in the
//! first round in which anything does. Most documents fill all positions in the
//! first rounds, so that a shingle costs one hash whatever the number of
//! positions. What is still empty after the last round is filled position by
//! position, each with a hash function of its own over all shingles.
//!
//! A position's value is thus the least element of an order on (round, shingle)
//! that does not depend on the document: two documents agree there if and only
//! if the least element of their union is in both, which has the probability of
//! their Jaccard similarity. That holds because the rounds are the same for
//! every document; stopping early when nothing is empty only saves work.
//!
//! A document that leaves positions empty although it is long says the same again and
//! again: the distinct shingles are few then, and are all that is looked at from there on.
//!
//! All constants are frozen: signatures are stored and compared across machines.

use std::collections::HashSet;

use super::{Sketcher, Value};
use crate::shingle::Shingle;

/// Bits of an entry that hold the round, above those of the shingle's hash. The
/// most rounds there can be is 4096 / 8, and one more stands for the filling.
const ROUND_BITS: u32 = 10;
/// Larger than every entry.
const EMPTY: u64 = u64::MAX;

/// Shingles per position from which a long document is known. So many distinct ones
/// leave none of `k` positions empty but with a chance of `k * exp(-32)`.
const LONG: usize = 32;

pub(super) struct Fast {
    rounds: usize,
    /// What a round, or a position in the filling, mixes into its hashes.
    salts: Vec<u64>,
    /// Scratch: the least entry of each position.
    least: Vec<u64>,
}

impl Fast {
    pub(super) fn new(positions: usize, seed: u64) -> Self {
        let rounds = (positions / 8).max(8);
        let mut state = mix(seed ^ 0x73_69_6d_64_75_70);
        let salts = (0..rounds + positions)
            .map(|_| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                mix(state)
            })
            .collect();
        Self {
            rounds,
            salts,
            least: vec![EMPTY; positions],
        }
    }

    fn throw(&mut self, round: usize, shingles: &[Shingle]) {
        let salt = self.salts[round];
        let least = self.least.as_mut_slice();
        let positions = least.len() as u128;
        for shingle in shingles {
            let product = u128::from(mix(shingle.0 ^ salt)) * positions;
            let least = &mut least[(product >> 64) as usize];
            // Without a branch, which would be a surprise too often.
            *least = (*least).min(entry(round, product as u64));
        }
    }

    fn fill(&mut self, position: usize, shingles: &[Shingle]) {
        let salt = self.salts[self.rounds + position];
        let least = shingles.iter().map(|shingle| mix(shingle.0 ^ salt)).min();
        self.least[position] = entry(self.rounds, least.unwrap_or(EMPTY));
    }
}

impl Sketcher for Fast {
    fn sketch(&mut self, shingles: &[Shingle], values: &mut Vec<Value>) {
        self.least.fill(EMPTY);
        self.throw(0, shingles);
        let distinct: Vec<Shingle>;
        let mut shingles = shingles;
        if shingles.len() > LONG * self.least.len() && self.least.contains(&EMPTY) {
            let mut set = HashSet::<Shingle, ahash::RandomState>::default();
            // One by one, as room for all of them would be much too much.
            for &shingle in shingles {
                set.insert(shingle);
            }
            distinct = set.into_iter().collect();
            shingles = &distinct;
        }
        let mut round = 1;
        while round < self.rounds && self.least.contains(&EMPTY) {
            self.throw(round, shingles);
            round += 1;
        }
        for position in 0..self.least.len() {
            if self.least[position] == EMPTY {
                self.fill(position, shingles);
            }
        }
        // The entry's low bits are as random as the shingle, but its high bits
        // are small for long documents: mixing makes all alike.
        values.extend(self.least.iter().map(|&least| mix(least) as Value));
    }
}

/// The round above, the hash below. Never [`EMPTY`], as no round is all ones.
#[inline]
fn entry(round: usize, hash: u64) -> u64 {
    (round as u64) << (64 - ROUND_BITS) | hash >> ROUND_BITS
}

/// A bijection of 64 bits whose output bits each depend on all input bits: the
/// finaliser that David Stafford published as variant 13 (2011).
#[inline]
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signature(positions: usize, seed: u64, shingles: &[Shingle]) -> Vec<Value> {
        let mut values = vec![];
        Fast::new(positions, seed).sketch(shingles, &mut values);
        values
    }

    /// Shingles that look like hashes, from a counter.
    fn shingles(range: std::ops::Range<u64>) -> Vec<Shingle> {
        range
            .map(|n| Shingle(mix(n.wrapping_mul(0x2545_f491_4f6c_dd1d))))
            .collect()
    }

    #[test]
    fn signatures_are_frozen() {
        let three = [Shingle(1), Shingle(2), Shingle(3)];
        assert_eq!(
            signature(4, 0, &three),
            [-361_433_826, 99_082_754, -858_277_205, -1_365_700_603]
        );
        assert_eq!(
            signature(4, 1, &three),
            [
                1_617_462_991,
                -1_348_824_434,
                -1_252_664_376,
                -1_337_369_664
            ]
        );
        assert_eq!(
            signature(4, 0, &shingles(0..100)),
            [721_934_809, 667_599_079, -1_439_896_957, 2_145_722_712]
        );
        // One shingle in 12 positions leaves some to be filled one by one.
        assert_eq!(
            signature(12, 0, &[Shingle(7)]),
            [
                -624_221_888,
                -280_613_444,
                1_139_707_783,
                -276_853_001,
                2_079_046_488,
                -1_420_754_100,
                -940_926_310,
                -1_873_316_642,
                -1_303_712_926,
                -1_217_507_766,
                -1_470_303_392,
                992_886_109
            ]
        );
    }

    /// The definition: the whole schedule for every document, no stopping.
    fn twin(positions: usize, seed: u64, shingles: &[Shingle]) -> Vec<Value> {
        let fast = Fast::new(positions, seed);
        let mut least = vec![EMPTY; positions];
        for shingle in shingles {
            for round in 0..fast.rounds {
                let product = u128::from(mix(shingle.0 ^ fast.salts[round])) * positions as u128;
                let position = (product >> 64) as usize;
                least[position] = least[position].min(entry(round, product as u64));
            }
            for (least, salt) in least.iter_mut().zip(&fast.salts[fast.rounds..]) {
                *least = (*least).min(entry(fast.rounds, mix(shingle.0 ^ salt)));
            }
        }
        least.iter().map(|&least| mix(least) as Value).collect()
    }

    proptest! {
        #[test]
        fn stopping_early_changes_nothing(
            all in proptest::collection::vec(any::<u64>().prop_map(Shingle), 1..200),
            positions in prop_oneof![1_usize..300, Just(4096)],
            seed in any::<u64>(),
        ) {
            prop_assert_eq!(signature(positions, seed, &all), twin(positions, seed, &all));
        }

        #[test]
        fn order_and_repetition_do_not_matter(
            mut all in proptest::collection::vec(any::<u64>().prop_map(Shingle), 1..60),
            seed in any::<u64>(),
        ) {
            let expected = signature(20, seed, &all);
            all.extend_from_within(..all.len() / 2);
            all.reverse();
            prop_assert_eq!(signature(20, seed, &all), expected);
        }
    }

    #[test]
    fn one_word_repeated_is_not_thrown_again_and_again() {
        let few = shingles(0..3);
        for count in [LONG * 20 / 3, LONG * 20] {
            let many: Vec<Shingle> = few.iter().copied().cycle().take(3 * count).collect();
            assert_eq!(signature(20, 0, &many), signature(20, 0, &few));
            assert_eq!(signature(20, 0, &many), twin(20, 0, &few));
        }
    }

    /// The mean over many seeds of a score is the Jaccard similarity, within
    /// three standard errors, and its variance at most classical MinHash's.
    #[test]
    fn the_estimate_is_unbiased() {
        for (size, positions, seeds) in [
            (3_u64, 20, 4000),
            (3, 128, 1500),
            (20, 20, 4000),
            (20, 128, 1500),
            (200, 20, 2000),
            (200, 128, 1000),
            (5000, 20, 300),
            (5000, 128, 300),
        ] {
            let shared = size * 3 / 4;
            let a = shingles(0..size);
            let b = shingles(size - shared..2 * size - shared);
            let jaccard = shared as f64 / (2 * size - shared) as f64;
            let scores: Vec<f64> = (0..seeds)
                .map(|seed| {
                    let (a, b) = (
                        signature(positions, seed, &a),
                        signature(positions, seed, &b),
                    );
                    let equal = a.iter().zip(&b).filter(|(a, b)| a == b).count();
                    equal as f64 / positions as f64
                })
                .collect();
            let n = seeds as f64;
            let mean = scores.iter().sum::<f64>() / n;
            let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let error = (mean - jaccard).abs() / (variance / n).sqrt();
            assert!(
                error < 3.0,
                "{size} shingles, {positions} positions: {error}"
            );
            let classical = jaccard * (1.0 - jaccard) / positions as f64;
            assert!(
                variance < classical * 1.15,
                "{size} {positions}: {}",
                variance / classical
            );
        }
    }
}
