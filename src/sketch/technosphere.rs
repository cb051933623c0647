//! The Technosphere course's signature: at position i the shingle whose hash has
//! the least remainder modulo the i-th number; the first in the document wins a
//! tie.

use super::{Sketcher, Value};
use crate::shingle::Shingle;

pub(super) const MODULI: [i32; 20] = [
    1663, 1999, 2203, 2381, 2411, 2657, 2789, 2843, 2861, 2909, 2953, 3169, 3217, 3259, 3491, 3467,
    3469, 3499, 3511, 27_644_437,
];

pub(super) struct Technosphere;

impl Sketcher for Technosphere {
    fn sketch(&mut self, shingles: &[Shingle], values: &mut Vec<Value>) {
        values.extend(MODULI.iter().filter_map(|&modulus| {
            shingles
                .iter()
                .map(|shingle| shingle.0 as i32)
                .min_by_key(|hash| hash.rem_euclid(modulus))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_non_negative_remainder_wins_and_the_first_of_equals() {
        let shingles =
            [-1, 1663 * 2 + 5, 5, 1663 + 5].map(|hash: i32| Shingle(u64::from(hash as u32)));
        let mut values = vec![];
        Technosphere.sketch(&shingles, &mut values);
        assert_eq!(values.len(), 20);
        assert_eq!(values[0], 1663 * 2 + 5);
        assert_eq!(values[19], 5);
    }
}
