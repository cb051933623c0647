//! How far Broder's score can be off: it is a share of k positions, each of which two signatures
//! share with the probability of the documents' Jaccard similarity.

use serde::Serialize;

use super::Threshold;

/// What the scores of a run are worth as estimates of the Jaccard similarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The standard deviation of a score, for documents whose similarity is the threshold.
    pub deviation: f64,
    /// The share of the pairs found that are expected to be below the threshold.
    pub expected_wrong: f64,
    /// The share of the pairs at or above the threshold that are expected not to be found. What is
    /// below the threshold is not searched: its scores are taken to be as frequent as those just
    /// above it, and where they are more frequent, more is missed.
    pub expected_missed: f64,
}

impl Estimate {
    /// The standard deviation of a score of so many positions at a similarity.
    pub fn deviation(similarity: f64, positions: usize) -> f64 {
        (similarity * (1.0 - similarity) / positions as f64).sqrt()
    }

    /// By how many pairs share each number of positions, from none to all.
    ///
    /// Of similarities that are all as likely, the one behind m of k positions has a beta
    /// distribution, and is below t with the chance that more than m of k + 1 trials succeed, each
    /// with the chance t.
    pub(crate) fn new(scores: &[u64], threshold: Threshold) -> Option<Self> {
        let positions = scores
            .len()
            .checked_sub(1)
            .filter(|&positions| positions > 0)?;
        let needed = threshold.needed(positions).min(positions);
        let similarity = threshold.as_f64();
        let below = chances_below(positions, similarity);
        let deviation = Self::deviation(similarity, positions);
        let found: u64 = scores[needed..].iter().sum();
        let pairs = || (needed..=positions).map(|shared| (scores[shared] as f64, below[shared]));
        let wrong: f64 = pairs().map(|(count, below)| count * below).sum();
        // Documents that are the same say nothing of those that are nearly alike.
        let near = needed
            ..(needed + (2.0 * deviation * positions as f64).ceil() as usize + 1).min(positions);
        let near_count: u64 = scores[near.clone()].iter().sum();
        let frequency = near_count as f64 / near.len().max(1) as f64;
        let missed: f64 = below[..needed]
            .iter()
            .map(|below| frequency * (1.0 - below))
            .sum();
        let right = found as f64 - wrong;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Some(Self {
            deviation,
            expected_wrong: share(wrong, found as f64),
            expected_missed: share(missed, right + missed),
        })
    }
}

/// The chance that the similarity is below the threshold, for each number of shared positions.
fn chances_below(positions: usize, threshold: f64) -> Vec<f64> {
    let trials = positions + 1;
    let (yes, no) = (threshold.ln(), (1.0 - threshold).ln());
    let mut ways = 0.0_f64;
    let mut chances: Vec<f64> = Vec::with_capacity(trials + 1);
    for successes in 0..=trials {
        let failures = trials - successes;
        // What happens never, or always, is no power.
        let power = |chance: f64, times: usize| {
            if times == 0 {
                0.0
            } else {
                chance * times as f64
            }
        };
        chances.push((ways + power(yes, successes) + power(no, failures)).exp());
        ways += (failures as f64 / (successes + 1) as f64).ln();
    }
    // More than m successes, for each m.
    let mut below = vec![0.0; positions + 1];
    let mut sum = 0.0;
    for shared in (0..=positions).rev() {
        sum += chances[shared + 1];
        below[shared] = sum.min(1.0);
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where all similarities are as likely, by summing over them.
    #[test]
    fn the_shares_are_those_of_a_sum_over_similarities() {
        for (positions, text) in [(20, "0.75"), (128, "0.75"), (64, "0.5"), (10, "1")] {
            let threshold: Threshold = text.parse().unwrap();
            let needed = threshold.needed(positions);
            let steps = 20_000;
            let (mut found, mut wrong, mut right, mut missed) = (0.0, 0.0, 0.0, 0.0);
            for step in 0..steps {
                let similarity = (f64::from(step) + 0.5) / f64::from(steps);
                // From the likelier end, for the other may be too small to be a number.
                let is_high = similarity > 0.5;
                let likely = similarity.max(1.0 - similarity);
                let mut chance = likely.powi(positions as i32);
                let mut at_least = 0.0;
                for step in 0..=positions {
                    let shared = if is_high { positions - step } else { step };
                    if shared >= needed {
                        at_least += chance;
                    }
                    chance *= (positions - step) as f64 / (step + 1) as f64;
                    chance *= (1.0 - likely) / likely;
                }
                found += at_least;
                if similarity >= threshold.as_f64() {
                    right += 1.0;
                    missed += 1.0 - at_least;
                } else {
                    wrong += at_least;
                }
            }
            let estimate = Estimate::new(&vec![1000; positions + 1], threshold).unwrap();
            assert!(
                (estimate.expected_wrong - wrong / found).abs() < 1e-3,
                "{estimate:?}"
            );
            if right > 0.0 {
                assert!(
                    (estimate.expected_missed - missed / right).abs() < 1e-2,
                    "{estimate:?}"
                );
            }
        }
    }

    #[test]
    fn copies_are_neither_wrong_nor_missed() {
        let mut scores = vec![0; 129];
        scores[128] = 500;
        let estimate = Estimate::new(&scores, Threshold::default()).unwrap();
        assert!(estimate.expected_wrong < 1e-9);
        assert_eq!(estimate.expected_missed, 0.0);
        assert!((estimate.deviation - 0.0383).abs() < 1e-4);
        assert_eq!(Estimate::new(&[], Threshold::default()), None);
        assert!(Estimate::new(&[0; 4097], Threshold::default()).is_some());
    }
}
