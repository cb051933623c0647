//! A few bits of each document, by which two that are far from similar are told apart, so that a
//! token that both have does not link them.
//!
//! By Jaccard similarity: of 128 positions of a signature one bit each. Of two documents at the
//! threshold t, each is the same with the chance (1 + t) / 2; fewer are than [`Alike`] asks for
//! with a chance of no more than is allowed. By Broder's score: of each position four bits, which
//! are the same where the positions agree.

use super::keys::MISSED_BY_BITS;
use crate::score::Measure;
use crate::settings::Settings;
use crate::shingle::Shingle;
use crate::sketch::{SketchSettings, Sketcher, Value, sketcher};

/// Positions that are asked for one bit each.
const POSITIONS: usize = 128;
/// Positions of which four bits fit.
const POSITIONS_OF_FOUR: usize = 32;
/// Another family of hash functions than that of keys.
const SEED: u64 = 0x7369_676e;

/// Makes the bits.
pub(super) struct Signer {
    sketcher: Box<dyn Sketcher>,
    values: Vec<Value>,
    bits: u32,
}

impl Signer {
    pub(super) fn new(settings: &Settings) -> Self {
        let (sketch, bits) = match settings.measure {
            Measure::MinHash => (settings.sketch, 4),
            _ => {
                let (hashes, seed) = (POSITIONS, SEED);
                (SketchSettings::Fast { hashes, seed }, 1)
            }
        };
        Self {
            sketcher: sketcher(&sketch),
            values: Vec::new(),
            bits,
        }
    }

    /// The bits of a document, which has shingles.
    pub(super) fn sign(&mut self, shingles: &[Shingle]) -> u128 {
        self.values.clear();
        self.sketcher.sketch(shingles, &mut self.values);
        let mask = (1_u128 << self.bits) - 1;
        let places = 128 / self.bits as usize;
        let values = self.values.iter().take(places);
        values.fold(0, |sign, &value| {
            // The lower bits of a value are as even as it is; a few of all of them are more so.
            let mixed = u64::from(value as u32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            sign << self.bits | u128::from(mixed) & mask
        })
    }
}

/// Who may be similar by their bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alike {
    /// All, as nothing may be left to chance, or bits tell nothing.
    Unknown,
    /// Those of which so many bits are the same.
    Bits(u32),
    /// Those of whose positions so many are the same, of how many.
    Positions { needed: u32, of: u32 },
}

impl Alike {
    pub(super) fn new(settings: &Settings, is_certain: bool) -> Self {
        match settings.measure {
            Measure::MinHash => {
                let of = settings.sketch.positions();
                let needed = settings.threshold.needed(of) as u32;
                match of <= POSITIONS_OF_FOUR {
                    true => Self::Positions {
                        needed,
                        of: of as u32,
                    },
                    false => Self::Unknown,
                }
            }
            _ if is_certain => Self::Unknown,
            _ => Self::Bits(least_same(settings.threshold.as_f64())),
        }
    }

    pub(super) fn may_be(self, one: u128, two: u128) -> bool {
        let differing = one ^ two;
        match self {
            Self::Unknown => true,
            Self::Bits(least) => differing.count_zeros() >= least,
            Self::Positions { needed, of } => {
                let any = differing | differing >> 1;
                let any = (any | any >> 2) & (u128::MAX / 15);
                of - any.count_ones().min(of) >= needed
            }
        }
    }
}

/// The most bits of which it may be asked that they are the same, so that of those at the
/// threshold no more are missed than is allowed.
fn least_same(threshold: f64) -> u32 {
    let same = (1.0 + threshold) / 2.0;
    // The chance that none are the same, then one, and so on; as logarithms, since it is tiny.
    let mut chance = POSITIONS as f64 * (1.0 - same).ln();
    let mut less = 0.0;
    for count in 0..POSITIONS {
        less += chance.exp();
        if less > MISSED_BY_BITS {
            return count as u32;
        }
        let left = (POSITIONS - count) as f64 / (count + 1) as f64;
        chance += left.ln() + same.ln() - (1.0 - same).ln();
    }
    POSITIONS as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shingles(from: u64, to: u64) -> Vec<Shingle> {
        (from..to)
            .map(|n| Shingle(n.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ n << 40))
            .collect()
    }

    #[test]
    fn what_is_similar_is_alike_and_what_is_far_from_it_is_not() {
        for measure in [Measure::Jaccard, Measure::MinHash] {
            let settings = Settings {
                measure,
                sketch: SketchSettings::Fast {
                    hashes: 20,
                    seed: 1,
                },
                ..Settings::default()
            };
            let mut signer = Signer::new(&settings);
            let alike = Alike::new(&settings, false);
            let mut taken_for_alike = 0;
            for start in 0..100 {
                let start = start * 10_000;
                let one = signer.sign(&shingles(start, start + 800));
                // 0.95 of both.
                let two = signer.sign(&shingles(start + 20, start + 820));
                assert!(measure != Measure::Jaccard || alike.may_be(one, two));
                // 0.03 of both.
                let far = signer.sign(&shingles(start + 750, start + 1550));
                taken_for_alike += u32::from(alike.may_be(one, far));
                assert!(alike.may_be(one, one));
            }
            assert!(taken_for_alike < 5, "{taken_for_alike}");
        }
    }

    #[test]
    fn as_many_bits_are_asked_for_as_chance_allows() {
        // By the binomial distribution, from a table of its logarithms.
        let factorial: Vec<f64> = (0..=POSITIONS)
            .scan(0.0, |sum, n| {
                *sum += (n.max(1) as f64).ln();
                Some(*sum)
            })
            .collect();
        for threshold in [0.0, 0.3, 0.75, 0.9, 0.99] {
            let same: f64 = (1.0 + threshold) / 2.0;
            let at = |n: usize| {
                let ways = factorial[POSITIONS] - factorial[n] - factorial[POSITIONS - n];
                let rest = (POSITIONS - n) as f64;
                (ways + n as f64 * same.ln() + rest * (1.0 - same).ln()).exp()
            };
            let least = least_same(threshold) as usize;
            let missed: f64 = (0..least).map(at).sum();
            assert!(missed <= MISSED_BY_BITS && missed + at(least) > MISSED_BY_BITS);
        }
        assert!(
            (80..100).contains(&least_same(0.75)),
            "{}",
            least_same(0.75)
        );
        assert_eq!(least_same(1.0), 128);
    }

    #[test]
    fn positions_are_counted() {
        let alike = Alike::Positions { needed: 15, of: 20 };
        let one = u128::MAX;
        let differing =
            |count: u32| (0..count).fold(one, |sign, n| sign ^ (1 + n as u128 % 15) << (4 * n));
        assert!(alike.may_be(one, differing(5)) && !alike.may_be(one, differing(6)));
    }
}
