//! What bands of a signature find: the chance that is stated for a recall short of 1.
//!
//! Signatures are filed under b bands of r positions each. A pair with Jaccard similarity t
//! agrees in one band at least with the chance 1 - (1 - t^r)^b.

use super::RecallAt;
use crate::score::Threshold;
use crate::sketch::Bands;

/// The share of what may be missed that goes to the filter by positions.
const FILTER_SHARE: f64 = 0.01;

impl Bands {
    /// The longest bands that find a pair at the threshold with the chance `recall`.
    pub(crate) fn for_recall(positions: usize, threshold: f64, recall: f64) -> Option<Self> {
        let missed = (1.0 - recall) * (1.0 - FILTER_SHARE);
        (1..=positions)
            .rev()
            .map(|rows| Self {
                bands: positions / rows,
                rows,
            })
            .find(|bands| 1.0 - bands.chance(threshold) <= missed)
    }

    /// The chance to find a pair at the threshold, and a little above.
    pub(crate) fn curve(self, threshold: Threshold, filtered: f64) -> Vec<RecallAt> {
        scores_to_state(threshold)
            .map(|score| RecallAt {
                score,
                chance: self.chance(score) * (1.0 - filtered),
            })
            .collect()
    }
}

/// The scores whose chance is stated: the threshold, and a little above.
pub(super) fn scores_to_state(threshold: Threshold) -> impl Iterator<Item = f64> {
    let threshold = threshold.as_f64();
    [0.0, 0.05, 0.1]
        .into_iter()
        .map(move |above| ((threshold + above) * 1e6).round() / 1e6)
        .filter(|&score| score <= 1.0)
}

/// Positions that two signatures must have in common if a pair at the threshold is to be lost
/// for it only with a chance that hardly counts beside what the bands miss; and that chance.
pub(crate) fn positions_needed(positions: usize, threshold: f64, bands: Bands) -> (usize, f64) {
    let lost = (1.0 - bands.chance(threshold)).clamp(1e-12, 1e-3) * FILTER_SHARE;
    (reach(positions, threshold, lost), lost)
}

/// The most positions of which a pair with similarity `t` has fewer than so many
/// in common with a chance of no more than `chance`.
fn reach(positions: usize, t: f64, chance: f64) -> usize {
    if t >= 1.0 {
        return positions;
    }
    let mut logarithm = positions as f64 * (1.0 - t).ln();
    let mut sum = 0.0;
    for shared in 0..positions {
        sum += logarithm.exp();
        if sum > chance {
            return shared;
        }
        let ratio = (positions - shared) as f64 / (shared + 1) as f64;
        logarithm += (ratio * t / (1.0 - t)).ln();
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bands_that_keep_the_recall_are_taken() {
        let bands = Bands::for_recall(128, 0.75, 0.99999).unwrap();
        assert_eq!(bands, Bands { bands: 32, rows: 4 });
        assert!(bands.chance(0.75) >= 0.99999);
        let longer = Bands { bands: 25, rows: 5 };
        assert!(longer.chance(0.75) < 0.99999);
        assert_eq!(Bands::for_recall(4, 0.3, 0.99999), None);
        assert_eq!(Bands::for_recall(16, 1.0, 0.9).unwrap().rows, 16);
    }

    #[test]
    fn bands_are_cut_without_a_rest() {
        let of = |positions| -> Vec<(usize, usize)> {
            let all = Bands::divisors(positions);
            all.iter().map(|bands| (bands.bands, bands.rows)).collect()
        };
        assert_eq!(of(6), [(1, 6), (2, 3), (3, 2), (6, 1)]);
        let threshold = Bands { bands: 20, rows: 5 }.threshold();
        assert!((threshold - 0.549_280_271_653_059).abs() < 1e-12);
    }

    #[test]
    fn the_reach_is_the_quantile_of_the_binomial() {
        // Of 20 positions at 0.75, fewer than 10 agree with chance 0.0039.
        assert_eq!(reach(20, 0.75, 0.0038), 9);
        assert_eq!(reach(20, 0.75, 0.0040), 10);
        assert_eq!(reach(20, 1.0, 0.1), 20);
        assert_eq!(reach(1, 0.5, 0.1), 0);
    }
}
