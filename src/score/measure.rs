//! What a score is a share of, and what a threshold on it asks of the sizes and
//! the overlap of two sets. All in integers.

use serde::Serialize;

use super::{Score, Threshold};

/// The kinds of score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Positions in which two signatures agree, of all.
    #[default]
    MinHash,
    /// Shingles that two sets share, of those in either.
    Jaccard,
    /// Shingles that two sets share, of the smaller set's.
    Containment,
}

impl Measure {
    /// The score itself, or the one that it estimates.
    pub(crate) fn exact(self) -> Self {
        match self {
            Self::MinHash => Self::Jaccard,
            Self::Jaccard | Self::Containment => self,
        }
    }

    /// The score of two sets, or signatures, that have `shared` elements of so
    /// many each.
    pub(crate) fn score(self, shared: u32, sizes: [u32; 2]) -> Score {
        let [left, right] = sizes;
        match self {
            Self::MinHash | Self::Containment => Score::new(shared, left.min(right)),
            Self::Jaccard => Score::new(shared, left + right - shared),
        }
    }
}

/// A measure of sets with its threshold: what two sets must share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetBound {
    measure: Measure,
    threshold: Threshold,
    min_shared: u32,
}

impl SetBound {
    /// Sets count whose `measure` is at least the threshold.
    pub(crate) fn new(measure: Measure, threshold: Threshold) -> Self {
        Self {
            measure,
            threshold,
            min_shared: 0,
        }
    }

    /// The same bound for pairs that share at least so many elements, whatever their score.
    pub(crate) fn with_min_shared(self, min_shared: u32) -> Self {
        Self { min_shared, ..self }
    }

    /// Whether sets at the threshold that share this many elements are a pair. Those that share too
    /// few are found all the same, so that they can be counted.
    pub(crate) fn keeps(self, shared: u32) -> bool {
        shared >= self.min_shared.max(1)
    }

    /// The measure.
    pub(crate) fn measure(self) -> Measure {
        self.measure
    }

    /// The threshold.
    pub(crate) fn threshold(self) -> Threshold {
        self.threshold
    }

    /// What sets of these sizes must share at the least.
    pub(crate) fn shared(self, left: u32, right: u32) -> u32 {
        match self.measure {
            // i ≥ t (l + r - i) is the same as i (1 + t) ≥ t (l + r).
            Measure::Jaccard => self
                .threshold
                .part_of_one_more(u64::from(left) + u64::from(right)),
            Measure::MinHash | Measure::Containment => {
                self.threshold.needed(left.min(right) as usize) as u32
            }
        }
    }

    /// What a set of this size must share with any set that is no smaller.
    pub(crate) fn shared_with_larger(self, size: u32) -> u32 {
        self.shared(size, size)
    }

    /// What a set of this size must share with any set that is no larger: at least
    /// one shingle, whatever the smaller set's size.
    pub(crate) fn shared_with_smaller(self, size: u32) -> u32 {
        match self.measure {
            Measure::Jaccard => self.threshold.needed(size as usize) as u32,
            Measure::MinHash | Measure::Containment => 1,
        }
    }

    /// The least size of a set that can match a larger one of this size.
    pub(crate) fn smaller_size(self, size: u32) -> u32 {
        self.shared_with_smaller(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The bound is where the score starts to be admitted.
        #[test]
        fn the_bound_is_exact(
            left in 1_u32..2000, right in 1_u32..2000, hundredths in 5_u32..=100, jaccard in any::<bool>(),
        ) {
            let measure = if jaccard { Measure::Jaccard } else { Measure::Containment };
            let threshold: Threshold = format!("{}.{:02}", hundredths / 100, hundredths % 100).parse().unwrap();
            let bound = SetBound::new(measure, threshold);
            let shared = bound.shared(left, right);
            let admits = |shared: u32| threshold.admits(measure.score(shared, [left, right]));
            let most = left.min(right);
            prop_assert!(shared > most || admits(shared));
            prop_assert!(shared == 0 || shared - 1 > most || !admits(shared - 1));
            let (small, large) = (left.min(right), left.max(right));
            if shared <= most {
                prop_assert!(shared >= bound.shared_with_larger(small));
                prop_assert!(shared >= bound.shared_with_smaller(large));
                prop_assert!(small >= bound.smaller_size(large));
            }
        }
    }
}
