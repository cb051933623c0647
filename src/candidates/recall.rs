//! Bands for sets: fewer candidates than the complete join may have, and a recall
//! that is stated.
//!
//! The sets' signatures are filed under b bands of r positions each. A pair with
//! Jaccard similarity t agrees in one band at least with the chance
//! 1 - (1 - t^r)^b. Of the candidates, those fall whose sizes forbid the
//! threshold, and those of whose positions so few agree that the binomial
//! distribution all but rules it out; the rest are merged.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::bands::{self, Layout};
use super::ranked::RankedSets;
use super::{Match, RecallAt, RowSides, SearchStats};
use crate::document::DocumentId;
use crate::score::{SetBound, Threshold, shared_at_least};
use crate::shingle::Shingle;
use crate::sketch::{Row, Signatures, SketchSettings, sketcher};

/// Bands for a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// Number of bands.
    pub bands: usize,
    /// Positions in each.
    pub rows: usize,
}

/// The share of what may be missed that goes to the filter by positions.
const FILTER_SHARE: f64 = 0.01;

impl Bands {
    /// The longest bands that find a pair at the threshold with the chance `recall`.
    pub fn for_recall(positions: usize, threshold: f64, recall: f64) -> Option<Self> {
        let missed = (1.0 - recall) * (1.0 - FILTER_SHARE);
        (1..=positions)
            .rev()
            .map(|rows| Self {
                bands: positions / rows,
                rows,
            })
            .find(|bands| 1.0 - bands.chance(threshold) <= missed)
    }

    /// The chance that a pair with this similarity agrees in a band.
    pub fn chance(self, similarity: f64) -> f64 {
        1.0 - (1.0 - similarity.powi(self.rows as i32)).powi(self.bands as i32)
    }

    /// The chance to find a pair at the threshold, and a little above.
    pub fn curve(self, threshold: Threshold, filtered: f64) -> Vec<RecallAt> {
        scores_to_state(threshold)
            .map(|score| RecallAt {
                score,
                chance: self.chance(score) * (1.0 - filtered),
            })
            .collect()
    }
}

/// The scores whose chance is stated: the threshold, and a little above.
pub fn scores_to_state(threshold: Threshold) -> impl Iterator<Item = f64> {
    let threshold = threshold.as_f64();
    [0.0, 0.05, 0.1]
        .into_iter()
        .map(move |above| ((threshold + above) * 1e6).round() / 1e6)
        .filter(|&score| score <= 1.0)
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

/// The pairs of sets, across `sides`, that agree in a band and share enough.
pub fn search(
    sets: &RankedSets,
    sketch: &SketchSettings,
    layout: Bands,
    threshold: Threshold,
    bound: SetBound,
    sides: &RowSides,
) -> (Vec<Match>, SearchStats) {
    let missed = (1.0 - layout.chance(threshold.as_f64())).clamp(1e-12, 1e-3) * FILTER_SHARE;
    let needed = reach(sketch.positions(), threshold.as_f64(), missed);
    let signatures = signatures(sets, sketch);
    // A set without a bundle matches nothing.
    let rows: Vec<Row> = (0..sets.len() as u32)
        .map(Row)
        .filter(|row| !sets.prefix(row.0 as usize).is_empty())
        .collect();
    let [by_size, by_positions, merges] = [const { AtomicU64::new(0) }; 3];
    let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
    let layout_of = Layout::Chosen {
        bands: layout.bands,
        rows: layout.rows,
    };
    let (matches, mut stats) = bands::search(
        &signatures,
        &rows,
        layout_of,
        needed,
        sides,
        |left, right| {
            let (one, two) = (left.0 as usize, right.0 as usize);
            let least = bound.shared(sets.size(one), sets.size(two));
            if least > sets.size(one).min(sets.size(two)) {
                count(&by_size);
                return None;
            }
            let agreeing = shared_at_least(signatures.row(left), signatures.row(right), needed);
            if agreeing.is_none() {
                count(&by_positions);
                return None;
            }
            count(&merges);
            let shared = sets.shared(one, two);
            (shared >= least).then_some(shared)
        },
    );
    stats.recall = layout.curve(threshold, missed);
    stats.fell_by_size = by_size.into_inner();
    stats.fell_by_positions = by_positions.into_inner();
    stats.merges = merges.into_inner();
    (matches, stats)
}

/// The hits from which on the complete join would cost more. Sketching a shingle
/// takes the time of two hits, and filing a signature in a band that of twenty; and
/// pairs that are similar meet in many bands, each time to be compared, so that the
/// complete join is ahead unless its hits are many times that.
pub fn hits_worth_it(sets: &RankedSets, layout: Bands) -> u64 {
    let shingles: u64 = sets.sizes().iter().map(|&size| u64::from(size)).sum();
    256 * (2 * shingles + 20 * (sets.len() * layout.bands) as u64)
}

/// Signatures of the sets. Which shingles a bundle holds is not known any more,
/// only how many: as many stand for them, the same in every set that has the
/// bundle; and others, of its own, for the shingles that only one set has.
pub fn signatures(sets: &RankedSets, sketch: &SketchSettings) -> Signatures {
    let rows: Vec<Vec<i32>> = (0..sets.len())
        .into_par_iter()
        .map_init(
            || (sketcher(sketch), Vec::new()),
            |(sketcher, shingles), set| {
                shingles.clear();
                sets.for_each_bundle(set, |bit, weight| {
                    let bundle = u64::from(bit) << 1;
                    shingles.extend((0..weight).map(|n| stand_in(bundle, n)));
                });
                let own = sets.size(set) - shingles.len() as u32;
                shingles.extend((0..own).map(|n| stand_in((set as u64) << 1 | 1, n)));
                let mut values = Vec::with_capacity(sketch.positions());
                if shingles.is_empty() {
                    values.resize(sketch.positions(), 0);
                } else {
                    sketcher.sketch(shingles, &mut values);
                }
                values
            },
        )
        .collect();
    let mut signatures = Signatures::new(sketch.positions());
    for (set, values) in rows.iter().enumerate() {
        signatures.push(DocumentId(set as u32), values);
    }
    signatures
}

fn stand_in(bundle: u64, number: u32) -> Shingle {
    Shingle(
        (bundle << 32 | u64::from(number))
            .wrapping_add(0x6a09_e667_f3bc_c909)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15),
    )
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
    fn the_reach_is_the_quantile_of_the_binomial() {
        // Of 20 positions at 0.75, fewer than 10 agree with chance 0.0039.
        assert_eq!(reach(20, 0.75, 0.0038), 9);
        assert_eq!(reach(20, 0.75, 0.0040), 10);
        assert_eq!(reach(20, 1.0, 0.1), 20);
        assert_eq!(reach(1, 0.5, 0.1), 0);
    }
}
