//! Scores, the threshold they are held against, and how each kind is computed.
//!
//! A score is a ratio of integers, so that it can be compared with a threshold
//! without rounding and prints the same everywhere. Scoring does not know how
//! candidates were found.

mod cosine;
mod digits;
mod estimate;
mod frequencies;
mod measure;
mod minhash;
mod threshold;

use std::cmp::Ordering;
use std::fmt;

pub(crate) use cosine::squared_idf;
pub use cosine::{Cosine, Weight};
pub use digits::Digits;
pub use estimate::Estimate;
pub use frequencies::DocumentFrequencies;
pub use measure::Measure;
pub(crate) use measure::SetBound;
pub(crate) use minhash::shared_at_least;
#[cfg(test)]
pub(crate) use minhash::shared_positions;
pub use threshold::{InvalidThreshold, Threshold};

/// How similar two documents are: `part` of `whole`.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    part: u32,
    whole: u32,
}

impl Score {
    /// All of it.
    pub(crate) const WHOLE: Self = Self { part: 1, whole: 1 };

    /// `part` of `whole`, which is not zero and not less than `part`.
    pub fn new(part: u32, whole: u32) -> Self {
        debug_assert!(whole > 0 && part <= whole);
        Self { part, whole }
    }

    /// The nearest floating-point number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.part) / f64::from(self.whole)
    }

    /// A number that is rarely the same for two scores, for tables of them.
    pub(crate) fn spread(self) -> u32 {
        self.part ^ self.whole.wrapping_mul(0x9e37_79b9) >> 16
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: Self, b: Self| u64::from(a.part) * u64::from(b.whole);
        cross(*self, *other).cmp(&cross(*other, *self))
    }
}

/// The least score that zmij is asked to print: it would print much smaller ones
/// with an exponent.
const FAST_PRINT_MIN: f64 = 1e-4;

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.as_f64(), f)
    }
}

/// The shortest decimal that reads back as the same number, with at least one
/// digit after the point: `0.9`, `0.85`, `1.0`. The only way a score is printed.
fn print(score: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match score {
        0.0 => f.write_str("0.0"),
        small if small < FAST_PRINT_MIN => write!(f, "{small}"),
        score => f.write_str(zmij::Buffer::new().format_finite(score)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_print_in_their_shortest_form() {
        for (part, whole, text) in [
            (18, 20, "0.9"),
            (17, 20, "0.85"),
            (20, 20, "1.0"),
            (0, 20, "0.0"),
            (1, 3, "0.3333333333333333"),
            (1, 4_000_000, "0.00000025"),
        ] {
            assert_eq!(Score::new(part, whole).to_string(), text);
        }
    }

    #[test]
    fn scores_print_as_the_standard_library_prints_them() {
        for whole in 1..300 {
            for part in 1..whole {
                let score = Score::new(part, whole);
                assert_eq!(score.to_string(), score.as_f64().to_string());
            }
        }
    }

    #[test]
    fn scores_compare_as_ratios() {
        assert_eq!(Score::new(3, 4), Score::new(15, 20));
        assert!(Score::new(2, 3) < Score::new(3, 4));
    }
}
