//! Bits of each document, by which two that are far from similar are told apart without their
//! texts.
//!
//! By Jaccard similarity: of each position of a signature one bit. Of two documents at the
//! threshold t, each is the same with the chance (1 + t) / 2; more differ than [`Alike`] allows
//! with a chance of no more than [`MISSED_BY_BITS`]. By Broder's score: of each position four bits,
//! or one where there are many, which are the same where the positions agree.

use super::keys::MISSED_BY_BITS;
use crate::score::Measure;
use crate::settings::Settings;
use crate::shingle::Shingle;
use crate::sketch::{SketchSettings, Sketcher, Value, sketcher};

/// Words that bits fill at the most: few go with each token, more with each document.
pub(super) const SHORT: usize = 2;
pub(super) const LONG: usize = 8;
/// Another family of hash functions than that of keys.
const SEED: u64 = 0x7369_676e;

/// Bits of a document; those that are not used are 0.
pub(super) type Sign<const WORDS: usize> = [u64; WORDS];

/// Which bits are taken of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    positions: usize,
    bits: usize,
}

impl Layout {
    /// Of so many positions, of which the first will do by Jaccard similarity, and all are needed by
    /// Broder's score: nothing, if those do not fit.
    pub(super) fn new(measure: Measure, positions: usize, words: usize) -> Option<Self> {
        let room = words * u64::BITS as usize;
        match measure {
            Measure::MinHash if positions > room => None,
            Measure::MinHash if 4 * positions <= room => Some(Self { positions, bits: 4 }),
            _ => Some(Self {
                positions: positions.min(room),
                bits: 1,
            }),
        }
    }

    /// Bytes that are used.
    pub(super) fn bytes(self) -> usize {
        (self.positions * self.bits).div_ceil(8)
    }

    pub(super) fn sign<const WORDS: usize>(self, values: &[Value]) -> Sign<WORDS> {
        let mut sign = [0; WORDS];
        let of_word = u64::BITS as usize / self.bits;
        let values = values.get(..self.positions).unwrap_or(values);
        for (word, values) in sign.iter_mut().zip(values.chunks(of_word)) {
            *word = values.iter().rev().fold(0, |word, &value| {
                // A few of all bits of a value are more even than its lowest.
                let mixed = u64::from(value as u32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                word << self.bits | mixed & ((1 << self.bits) - 1)
            });
        }
        sign
    }
}

/// Makes short ones.
pub(super) struct Signer {
    sketcher: Box<dyn Sketcher>,
    values: Vec<Value>,
    /// Nothing, if bits tell nothing.
    layout: Option<Layout>,
}

impl Signer {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            sketcher: sketcher(&Self::sketch(settings)),
            values: Vec::new(),
            layout: Self::layout(settings),
        }
    }

    fn sketch(settings: &Settings) -> SketchSettings {
        match settings.measure {
            Measure::MinHash => settings.sketch,
            _ => SketchSettings::Fast {
                hashes: SHORT * u64::BITS as usize,
                seed: SEED,
            },
        }
    }

    pub(super) fn layout(settings: &Settings) -> Option<Layout> {
        let positions = Self::sketch(settings).positions();
        Layout::new(settings.measure, positions, SHORT)
    }

    /// The bits of a document, which has shingles.
    pub(super) fn sign(&mut self, shingles: &[Shingle]) -> Sign<SHORT> {
        let Some(layout) = self.layout else {
            return [0; SHORT];
        };
        self.values.clear();
        self.sketcher.sketch(shingles, &mut self.values);
        layout.sign(&self.values)
    }
}

/// Who may be similar by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alike {
    /// All, as nothing may be left to chance, or bits tell nothing.
    Unknown,
    /// Those of which so many bits differ at the most.
    Bits(u32),
    /// Those of which so many times four bits differ at the most.
    Fours(u32),
}

impl Alike {
    pub(super) fn new(settings: &Settings, is_certain: bool, layout: Option<Layout>) -> Self {
        let Some(Layout { positions, bits }) = layout else {
            return Self::Unknown;
        };
        match settings.measure {
            Measure::MinHash => {
                let most = positions.saturating_sub(settings.threshold.needed(positions));
                match bits {
                    4 => Self::Fours(most as u32),
                    _ => Self::Bits(most as u32),
                }
            }
            _ if is_certain => Self::Unknown,
            _ => Self::Bits(most_differing(settings.threshold.as_f64(), positions)),
        }
    }

    /// Whether those that share nothing are nearly always told apart: where what is similar shares
    /// little, so many may differ as do of any two.
    pub(super) fn tells_apart(self, layout: Layout) -> bool {
        let positions = layout.positions as f64;
        // How many differ of two that share nothing, by more than chance takes away.
        let differing = |same: f64| {
            let deviation = (positions * same * (1.0 - same)).sqrt();
            positions * (1.0 - same) - 4.0 * deviation
        };
        match self {
            Self::Unknown => false,
            Self::Bits(most) => f64::from(most) < differing(1.0 / 2.0),
            Self::Fours(most) => f64::from(most) < differing(1.0 / 16.0),
        }
    }

    #[inline(always)]
    pub(super) fn may_be<const WORDS: usize>(self, one: &Sign<WORDS>, two: &Sign<WORDS>) -> bool {
        match self {
            Self::Unknown => true,
            Self::Bits(most) => differ_in_no_more(one, two, most, u64::count_ones),
            Self::Fours(most) => differ_in_no_more(one, two, most, |word| {
                let any = word | word >> 1;
                ((any | any >> 2) & (u64::MAX / 15)).count_ones()
            }),
        }
    }
}

/// Whether there is no more to count in the words that differ. Most are told apart by the first.
#[inline(always)]
fn differ_in_no_more<const WORDS: usize>(
    one: &Sign<WORDS>,
    two: &Sign<WORDS>,
    most: u32,
    count: impl Fn(u64) -> u32,
) -> bool {
    let first = WORDS.min(3);
    let counted = |words: std::ops::Range<usize>| -> u32 {
        words.map(|word| count(one[word] ^ two[word])).sum()
    };
    let of_first = counted(0..first);
    of_first <= most && of_first + counted(first..WORDS) <= most
}

/// The fewest of so many bits that may differ, so that of those at the threshold no more are missed
/// than is allowed.
fn most_differing(threshold: f64, bits: usize) -> u32 {
    let same = (1.0 + threshold) / 2.0;
    // The chance that none are the same, then one, and so on; as logarithms, since it is tiny.
    let mut chance = bits as f64 * (1.0 - same).ln();
    let mut missed = 0.0;
    for count in 0..bits {
        missed += chance.exp();
        if missed > MISSED_BY_BITS {
            return (bits - count) as u32;
        }
        let left = (bits - count) as f64 / (count + 1) as f64;
        chance += left.ln() + same.ln() - (1.0 - same).ln();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shingles(from: u64, to: u64) -> Vec<Shingle> {
        (from..to)
            .map(|n| Shingle(n.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ n << 40))
            .collect()
    }

    fn settings(measure: Measure, hashes: usize) -> Settings {
        Settings {
            measure,
            sketch: SketchSettings::Fast { hashes, seed: 1 },
            ..Settings::default()
        }
    }

    #[test]
    fn what_is_similar_is_alike_and_what_is_far_from_it_is_not() {
        for measure in [Measure::Jaccard, Measure::MinHash] {
            let settings = settings(measure, 20);
            let mut signer = Signer::new(&settings);
            let alike = Alike::new(&settings, false, Signer::layout(&settings));
            let mut taken_for_alike = 0;
            for start in 0..100 {
                let start = start * 10_000;
                let one = signer.sign(&shingles(start, start + 800));
                // 0.95 of both.
                let two = signer.sign(&shingles(start + 20, start + 820));
                assert!(measure != Measure::Jaccard || alike.may_be(&one, &two));
                // 0.03 of both.
                let far = signer.sign(&shingles(start + 750, start + 1550));
                taken_for_alike += u32::from(alike.may_be(&one, &far));
                assert!(alike.may_be(&one, &one));
            }
            assert!(taken_for_alike < 5, "{taken_for_alike}");
        }
    }

    #[test]
    fn as_many_bits_may_differ_as_chance_asks_for() {
        for bits in [1, 63, 128, 300, 512] {
            // By the binomial distribution, from a table of its logarithms.
            let factorial: Vec<f64> = (0..=bits)
                .scan(0.0, |sum, n| {
                    *sum += (n.max(1) as f64).ln();
                    Some(*sum)
                })
                .collect();
            for threshold in [0.0, 0.3, 0.75, 0.9, 0.99] {
                let same: f64 = (1.0 + threshold) / 2.0;
                let at = |n: usize| {
                    let ways = factorial[bits] - factorial[n] - factorial[bits - n];
                    let rest = (bits - n) as f64;
                    (ways + n as f64 * same.ln() + rest * (1.0 - same).ln()).exp()
                };
                let least = bits - most_differing(threshold, bits) as usize;
                let missed: f64 = (0..least).map(at).sum();
                assert!(missed <= MISSED_BY_BITS && missed + at(least) > MISSED_BY_BITS);
            }
            assert_eq!(most_differing(1.0, bits), 0);
        }
        assert!((75..95).contains(&most_differing(0.75, 300)));
    }

    proptest::proptest! {
        /// By Broder's score nothing is left to chance, however many positions there are.
        #[test]
        fn those_of_whose_positions_enough_agree_are_alike(
            one in proptest::collection::vec(0..3, 1..400),
            changed in proptest::collection::vec(proptest::bool::weighted(0.3), 400),
        ) {
            let settings = settings(Measure::MinHash, one.len());
            let two: Vec<Value> =
                one.iter().zip(&changed).map(|(&value, &is)| value + Value::from(is)).collect();
            let agreeing = one.iter().zip(&two).filter(|(x, y)| x == y).count();
            let layout = Layout::new(Measure::MinHash, one.len(), LONG);
            let alike = Alike::new(&settings, true, layout);
            let sign = |values: &[Value]| layout.unwrap().sign::<LONG>(values);
            if agreeing >= settings.threshold.needed(one.len()) {
                assert!(alike.may_be(&sign(&one), &sign(&two)));
            }
        }
    }

    #[test]
    fn bits_tell_nothing_where_what_is_similar_shares_little() {
        let tells = |measure, positions, threshold: &str| {
            let settings = Settings {
                threshold: threshold.parse().unwrap(),
                ..settings(measure, positions)
            };
            let layout = Layout::new(measure, positions, LONG).unwrap();
            Alike::new(&settings, false, Some(layout)).tells_apart(layout)
        };
        assert!(tells(Measure::Jaccard, 300, "0.75") && tells(Measure::Jaccard, 267, "0.65"));
        assert!(!tells(Measure::Jaccard, 198, "0.5") && !tells(Measure::Jaccard, 80, "0.3"));
        assert!(tells(Measure::MinHash, 20, "0.75") && tells(Measure::MinHash, 200, "0.75"));
        assert!(!tells(Measure::MinHash, 200, "0.5"));
    }

    #[test]
    fn times_four_bits_are_counted() {
        let alike = Alike::Fours(5);
        let one = [u64::MAX; SHORT];
        let differing = |count: usize| {
            (0..count).fold(one, |mut sign, n| {
                sign[n / 16] ^= (1 + n as u64 % 15) << (4 * (n % 16));
                sign
            })
        };
        assert!(alike.may_be(&one, &differing(5)) && !alike.may_be(&one, &differing(6)));
    }

    #[test]
    fn bits_are_as_many_as_fit() {
        let bytes = |measure, positions| Layout::new(measure, positions, LONG).map(Layout::bytes);
        assert_eq!(bytes(Measure::Jaccard, 300), Some(38));
        assert_eq!(bytes(Measure::Jaccard, 1000), Some(64));
        assert_eq!(bytes(Measure::MinHash, 20), Some(10));
        assert_eq!(bytes(Measure::MinHash, 512), Some(64));
        assert_eq!(bytes(Measure::MinHash, 513), None);
    }
}
