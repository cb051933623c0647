//! Bitmaps that bound what two sets can share.
//!
//! Each shingle of a set flips one of the bits of its bitmap. Where two bitmaps differ, so do
//! the sets: they have at least as many shingles that are not in both as there are such bits
//! (the bitmap filter of Sandes, Teodoro and Melo, 2020).

use rayon::prelude::*;

use super::rarity::SetsByRarity;

/// Words of a bitmap: as many as a line of a cache has.
const WORDS: usize = 8;

/// A bitmap for each set.
pub(crate) struct Parities(Vec<[u64; WORDS]>);

impl Parities {
    /// Of all shingles that other sets may have.
    pub(crate) fn new(sets: &SetsByRarity) -> Self {
        Self(
            (0..sets.len())
                .into_par_iter()
                .map(|place| {
                    let mut bits = [0; WORDS];
                    sets.for_each_bundle(place, |bundle, weight| {
                        let mut state = u64::from(bundle);
                        for _ in 0..weight {
                            // Any spread will do that is the same for all sets.
                            state = (state ^ state >> 29)
                                .wrapping_add(1)
                                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
                            bits[(state >> 61) as usize] ^= 1 << (state >> 55 & 63);
                        }
                    });
                    bits
                })
                .collect(),
        )
    }

    /// No less than what two sets share.
    #[inline]
    pub(crate) fn at_most(&self, sets: &SetsByRarity, one: usize, two: usize) -> u32 {
        let words = self.0[one].iter().zip(&self.0[two]);
        let differing: u32 = words.map(|(one, two)| (one ^ two).count_ones()).sum();
        let alone = sets.alone(one) + sets.alone(two);
        let both = sets.sizes()[one] + sets.sizes()[two];
        (both - differing - alone) / 2
    }
}
