//! Precision, recall and F1.

use std::ops::AddAssign;

/// Pairs that were found or should have been. The figures are those of scikit-learn, 0 where
/// they would divide by nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Found, and true.
    pub hits: u64,
    /// Found, but not true.
    pub false_alarms: u64,
    /// True, but not found.
    pub missed: u64,
}

impl Tally {
    /// How many were found.
    pub fn found(&self) -> u64 {
        self.hits + self.false_alarms
    }

    /// How many are true.
    pub fn truth(&self) -> u64 {
        self.hits + self.missed
    }

    /// The share of what was found that is true.
    pub fn precision(&self) -> f64 {
        share(self.hits, self.found())
    }

    /// The share of what is true that was found.
    pub fn recall(&self) -> f64 {
        share(self.hits, self.truth())
    }

    /// The harmonic mean of both.
    pub fn f1(&self) -> f64 {
        share(2 * self.hits, self.found_and_true())
    }

    /// What F1 is a share of.
    pub fn found_and_true(&self) -> u64 {
        self.found() + self.truth()
    }

    /// Counts so many pairs.
    pub(crate) fn count(&mut self, is_found: bool, is_true: bool, pairs: u64) {
        match (is_found, is_true) {
            (true, true) => self.hits += pairs,
            (true, false) => self.false_alarms += pairs,
            (false, true) => self.missed += pairs,
            (false, false) => {}
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.false_alarms += other.false_alarms;
        self.missed += other.missed;
    }
}

fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_figures_are_those_of_scikit_learn() {
        // precision_recall_fscore_support([1]*7+[0]*5, [1,1,1,1,0,0,0, 1,1,0,0,0], average="binary")
        let tally = Tally {
            hits: 4,
            false_alarms: 2,
            missed: 3,
        };
        assert!((tally.precision() - 0.666_666_666_666_666_6).abs() < 1e-15);
        assert!((tally.recall() - 0.571_428_571_428_571_4).abs() < 1e-15);
        assert!((tally.f1() - 0.615_384_615_384_615_4).abs() < 1e-15);
        let nothing = Tally::default();
        assert_eq!(
            (nothing.precision(), nothing.recall(), nothing.f1()),
            (0.0, 0.0, 0.0)
        );
    }

    proptest! {
        #[test]
        fn f1_is_the_harmonic_mean(hits in 0_u64..99, false_alarms in 0_u64..99, missed in 0_u64..99) {
            let tally = Tally { hits, false_alarms, missed };
            let (p, r) = (tally.precision(), tally.recall());
            let expected = if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 };
            prop_assert!((tally.f1() - expected).abs() < 1e-12);
        }
    }
}
