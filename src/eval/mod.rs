//! How good an answer is: what was found, held against a truth, becomes figures. Does not know
//! how things were found, nor how figures are written.
//!
//! Precision is the share of what was found that is true, recall the share of what is true that
//! was found, F1 their harmonic mean. Where there is nothing to take a share of, they are 0, as
//! scikit-learn has it.

mod bands;
mod best;
mod bootstrap;
mod candidates;
mod documents;
mod edits;
mod figures;
mod given;
mod hashes;
mod inject;
mod judge;
mod rand_index;
mod row;
mod searched;
mod shingles;
mod threshold;
mod tune;
mod valley;

pub(crate) use best::{BestF1, Curve, Labelled, best_f1, precision_recall};
pub use bootstrap::{Confidence, Interval, confidence};
pub(crate) use bootstrap::{PARTS_MAX, part_of};
use documents::{Each, read, read_without};
pub use documents::{EvalSettings, Evaluated, Sweep, TruthSource, eval_documents};
pub(crate) use edits::{EditKind, RATES_PERCENT, edited};
pub use figures::Tally;
pub use rand_index::{RandTally, rand_tallies};
pub use row::{Cell, MeasuredCurve, Plot, PlotPoint, Row};
pub use tune::{Advice, tune_documents};
pub(crate) use valley::valley;

/// The deviation that Broder's estimate of this similarity has by k positions, if they agree
/// independently of each other. Those of one signature have a little less.
pub(crate) fn predicted_deviation(similarity: f64, positions: usize) -> f64 {
    (similarity * (1.0 - similarity) / positions as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_the_binomial() {
        // sqrt(0.75 * 0.25 / 20)
        assert!((predicted_deviation(0.75, 20) - 0.096_824_583_655_185_42).abs() < 1e-15);
        assert_eq!(predicted_deviation(1.0, 20), 0.0);
    }
}
