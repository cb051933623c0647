//! The keys under which a document is filed: documents that are similar enough have one in
//! common.
//!
//! By Broder's score, of k positions m must agree: of k - m + 1 bands one is untouched, and
//! nothing is missed. By exact Jaccard similarity, a pair at the threshold t agrees in a band of r
//! positions with the chance t^r, and in none of b bands with (1 - t^r)^b, of which no more is
//! allowed than [`MISSED_BY_KEYS`]. Where nothing may be missed, a document of n shingles is filed
//! under the n - ⌈t·n⌉ + 1 least of them: those that share ⌈t·n⌉ have one of these in common,
//! wherever in the order of hashes that they share they stand.

use super::sign::{Alike, LONG, Layout, Sign};
use super::tokens::{Common, Filed, Needed, Tokens, drawn, prefix};
use crate::score::Measure;
use crate::search::lossless_bands;
use crate::settings::Settings;
use crate::shingle::Shingle;
use crate::sketch::Bands;
use crate::sketch::{SketchSettings, Sketcher, Value, combine, sketcher};

/// The chance with which a pair at the threshold may be missed: by its keys half of it, by each of
/// its two prefixes an eighth, and an eighth by its bits, few or many.
pub(super) const MISSED_MAX: f64 = 1e-12;
const MISSED_BY_KEYS: f64 = MISSED_MAX / 2.0;
pub(super) const MISSED_BY_PREFIX: f64 = MISSED_MAX / 8.0;
pub(super) const MISSED_BY_BITS: f64 = MISSED_MAX / 8.0;
/// Positions of a signature at the most.
const POSITIONS_MAX: usize = 4096;
/// Positions of a band at the most.
const ROWS_MAX: usize = 8;
/// The family of hash functions of signatures that serve only to find what is similar.
const SEED: u64 = 0x73_69_6d_64_75_70;
/// Bits of a key.
pub(super) const KEY_BITS: u32 = 48;

/// How many keys a document has, where that may be chosen. More are of longer bands, which link
/// fewer that are not similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// At the threshold 0.75, 35 bands of two positions.
    Few,
    /// At the threshold 0.75, 75 bands of four.
    Many,
}

impl Keys {
    /// Keys at the most, if bands of more than one position are to be taken.
    fn most(self) -> usize {
        match self {
            Self::Few => 40,
            Self::Many => 100,
        }
    }
}

/// How documents are filed.
pub(super) struct Filing {
    way: Way,
    /// Which bits of a document are kept besides.
    layout: Option<Layout>,
}

enum Way {
    /// Under bands of a signature.
    Bands {
        sketcher: Box<dyn Sketcher>,
        bands: Vec<Vec<u16>>,
        values: Vec<Value>,
    },
    /// Under their least shingles.
    Least { tokens: Tokens, needed: Needed },
}

impl Filing {
    pub(super) fn new(settings: &Settings, is_certain: bool, keys: Keys) -> Self {
        let threshold = settings.threshold;
        let (sketch, bands) = match settings.measure {
            Measure::MinHash => {
                let positions = settings.sketch.positions();
                let differences = positions - threshold.needed(positions);
                (settings.sketch, lossless_bands(positions, differences))
            }
            _ => {
                let bands = bands_for(threshold.as_f64(), keys).filter(|_| !is_certain);
                let Some(Bands { bands, rows }) = bands else {
                    return Self {
                        way: Way::Least {
                            tokens: Tokens::new(settings),
                            needed: Needed::new(settings),
                        },
                        layout: None,
                    };
                };
                let positions: Vec<u16> = (0..(bands * rows) as u16).collect();
                let sketch = SketchSettings::Fast {
                    hashes: positions.len(),
                    seed: SEED,
                };
                (sketch, positions.chunks(rows).map(Into::into).collect())
            }
        };
        // Few positions of those that are to be few tell too little.
        let is_told = settings.measure == Measure::MinHash || keys == Keys::Many;
        let layout = Layout::new(settings.measure, sketch.positions(), LONG);
        let layout = layout.filter(|layout| {
            let alike = Alike::new(settings, is_certain, Some(*layout));
            alike.tells_apart(*layout)
        });
        Self {
            way: Way::Bands {
                sketcher: sketcher(&sketch),
                bands,
                values: Vec::new(),
            },
            layout: layout.filter(|_| is_told),
        }
    }

    /// The bits of documents that are kept, if any are.
    pub(super) fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// The bits of the document whose keys were asked for last.
    pub(super) fn sign(&self) -> Option<Sign<LONG>> {
        match (&self.way, self.layout) {
            (Way::Bands { values, .. }, Some(layout)) => Some(layout.sign(values)),
            _ => None,
        }
    }

    /// The keys of a document, which has shingles.
    pub(super) fn keys(&mut self, shingles: &[Shingle]) -> Vec<u64> {
        match &mut self.way {
            Way::Bands {
                sketcher,
                bands,
                values,
            } => {
                values.clear();
                sketcher.sketch(shingles, values);
                let key = |(number, band): (usize, &Vec<u16>)| {
                    let start = number as u64;
                    let band = band.iter().map(|&position| values[usize::from(position)]);
                    spread(band.fold(start, combine))
                };
                bands.iter().enumerate().map(key).collect()
            }
            Way::Least { tokens, needed } => {
                let tokens = tokens.of(shingles);
                let filed = prefix(&tokens, &Common::default(), *needed, true);
                // The least, but not in the least of the ranges that keys are dealt out by.
                let key = |filed: Filed| drawn(filed.token) >> (u64::BITS - KEY_BITS);
                filed.into_iter().map(key).collect()
            }
        }
    }
}

/// Of the bands that miss no more than is allowed the longest of which there are not too many;
/// bands of one position, if there are none. Nothing, if it would be more of these than a signature
/// may have.
pub(super) fn bands_for(threshold: f64, keys: Keys) -> Option<Bands> {
    let count = |rows: usize| {
        // The logarithm of the chance that a band differs; of tiny thresholds too.
        let differs = (-threshold.powi(rows as i32)).ln_1p();
        (MISSED_BY_KEYS.ln() / differs).ceil().max(1.0) as usize
    };
    let rows = (2..=ROWS_MAX)
        .rev()
        .find(|&rows| count(rows) <= keys.most());
    let rows = rows.unwrap_or(1);
    let bands = count(rows);
    (bands <= POSITIONS_MAX).then_some(Bands { bands, rows })
}

/// A key of few bits, evenly spread.
pub(super) fn spread(key: u64) -> u64 {
    let product = u128::from(key ^ 0x2d35_8dcc_aa6c_78a5) * 0x8bb8_4b93_962e_acc9;
    ((product as u64) ^ (product >> 64) as u64) >> (64 - KEY_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_miss_no_more_than_is_allowed() {
        for (keys, bands, rows) in [(Keys::Few, 35, 2), (Keys::Many, 75, 4)] {
            for ten_thousandths in 1..=10_000 {
                let threshold = f64::from(ten_thousandths) / 10_000.0;
                let Some(Bands { bands, rows }) = bands_for(threshold, keys) else {
                    assert!(threshold < 0.01, "{threshold}");
                    continue;
                };
                let missed = (1.0 - threshold.powi(rows as i32)).powi(bands as i32);
                assert!(
                    missed <= MISSED_BY_KEYS * 1.000_001,
                    "{threshold}: {missed:e}"
                );
            }
            assert_eq!(bands_for(0.75, keys), Some(Bands { bands, rows }));
        }
    }

    /// Keys are dealt out by ranges, of which none may get most.
    #[test]
    fn the_least_shingles_are_spread_over_all_ranges() {
        let settings = Settings {
            measure: Measure::Jaccard,
            ..Settings::default()
        };
        let shingles: Vec<Shingle> = (0..4000).map(Shingle).collect();
        let keys = Filing::new(&settings, true, Keys::Many).keys(&shingles);
        assert_eq!(keys.len(), 1001);
        let low = keys.iter().filter(|key| **key >> (KEY_BITS - 2) == 0);
        assert!((200..300).contains(&low.count()));
    }

    proptest::proptest! {
        /// Whatever two sets are that are similar enough, one of the least of each is the same.
        #[test]
        fn the_least_shingles_miss_nothing(
            shared in proptest::collection::hash_set(0_u64..1000, 1..40),
            one in proptest::collection::hash_set(1000_u64..2000, 0..20),
            two in proptest::collection::hash_set(2000_u64..3000, 0..20),
        ) {
            let settings = Settings {
                measure: Measure::Jaccard,
                ..Settings::default()
            };
            let of = |own: &std::collections::HashSet<u64>| -> Vec<Shingle> {
                shared.iter().chain(own).map(|&shingle| Shingle(shingle)).collect()
            };
            let union = shared.len() + one.len() + two.len();
            if shared.len() >= settings.threshold.needed(union) {
                let mut filing = Filing::new(&settings, true, Keys::Many);
                let (one, two) = (filing.keys(&of(&one)), filing.keys(&of(&two)));
                assert!(one.iter().any(|key| two.contains(key)));
            }
        }
    }
}
