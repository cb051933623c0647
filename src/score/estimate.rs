//! How far Broder's score can be off: it is a share of k positions, each of which two signatures
//! share with the probability of the documents' Jaccard similarity.

use serde::Serialize;

use super::Threshold;

/// What the scores of a run are worth as estimates of the Jaccard similarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The standard deviation of a score, for documents whose similarity is the threshold.
    pub deviation: f64,
    /// The share of the pairs found that are expected to be below the threshold. How frequent
    /// similarities are is taken to rise or fall below the threshold as it does just above it.
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
        let wrong = Tilted::of(scores, needed, similarity).map_or_else(
            || pairs().map(|(count, below)| count * below).sum(),
            |tilted| tilted.wrong(scores),
        );
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

/// How frequent similarities are: as e^(c·s), with the c that makes what is found just above the
/// threshold the likeliest.
struct Tilted {
    needed: usize,
    threshold: f64,
    c: f64,
    /// Pairs that would share all positions, if similarities go on like that. Copies are more.
    all: f64,
}

/// Similarities that are summed over.
const STEPS: usize = 1000;
/// How steep it may be, and how steep it is thought to be before anything is known: pairs that are
/// few do not tell.
const STEEPEST: i32 = 60;
const STEEPNESS: f64 = 20.0;

impl Tilted {
    /// `None` if there is nothing but copies to tell by.
    fn of(scores: &[u64], needed: usize, threshold: f64) -> Option<Self> {
        let positions = scores.len() - 1;
        let deviation = Estimate::deviation(threshold, positions);
        let window = (4.0 * deviation * positions as f64).ceil() as usize;
        let near = needed..(needed + window.max(3) + 1).min(positions);
        if near.is_empty() {
            return None;
        }
        let chances: Vec<Vec<f64>> = near.clone().map(|m| chances_of(m, positions)).collect();
        let count: u64 = scores[near.clone()].iter().sum();
        let mut best = (f64::NEG_INFINITY, 0.0, 0.0);
        for c in (-STEEPEST..=STEEPEST).map(f64::from) {
            let frequencies = frequencies(c, threshold);
            let share = |chances: &Vec<f64>| -> f64 {
                chances
                    .iter()
                    .zip(&frequencies)
                    .map(|(one, two)| one * two)
                    .sum()
            };
            let shares: Vec<f64> = chances.iter().map(share).collect();
            let sum: f64 = shares.iter().sum();
            let counted = near.clone().zip(&shares);
            let likelihood: f64 = counted
                .map(|(m, share)| scores[m] as f64 * (share / sum).ln())
                .sum();
            let likelihood = likelihood - c * c / (2.0 * STEEPNESS * STEEPNESS);
            if likelihood > best.0 {
                best = (likelihood, c, sum);
            }
        }
        let (_, c, sum) = best;
        let mut tilted = Self {
            needed,
            threshold,
            c,
            all: 0.0,
        };
        let [below, above] = tilted.shares(positions, positions);
        tilted.all = count as f64 * (below + above) / sum;
        Some(tilted)
    }

    /// How often so many positions are shared, by similarities below the threshold and by others.
    fn shares(&self, shared: usize, positions: usize) -> [f64; 2] {
        let mut shares = [0.0; 2];
        let frequencies = frequencies(self.c, self.threshold);
        let chances = chances_of(shared, positions);
        for ((step, chance), frequency) in chances.iter().enumerate().zip(&frequencies) {
            shares[usize::from(similarity_of(step) >= self.threshold)] += chance * frequency;
        }
        shares
    }

    /// Of the pairs found, those that are expected to be below the threshold.
    fn wrong(&self, scores: &[u64]) -> f64 {
        let positions = scores.len() - 1;
        let wrong = |shared: usize| {
            let count = match shared == positions {
                true => self.all.min(scores[shared] as f64),
                false => scores[shared] as f64,
            };
            match self.shares(shared, positions) {
                [below, above] if below + above > 0.0 => count * below / (below + above),
                _ => 0.0,
            }
        };
        let met = (self.needed..=positions).filter(|&shared| scores[shared] > 0);
        met.map(wrong).sum()
    }
}

fn similarity_of(step: usize) -> f64 {
    (step as f64 + 0.5) / STEPS as f64
}

fn frequencies(c: f64, threshold: f64) -> Vec<f64> {
    let frequency = |step| (c * (similarity_of(step) - threshold)).exp();
    (0..STEPS).map(frequency).collect()
}

/// The chance that so many of the positions are shared, for each similarity.
fn chances_of(shared: usize, positions: usize) -> Vec<f64> {
    let other = positions - shared;
    let fewer = shared.min(other);
    let ways: f64 = (0..fewer)
        .map(|at| ((positions - at) as f64 / (at + 1) as f64).ln())
        .sum();
    let chance = |step| {
        let similarity = similarity_of(step);
        let [yes, no] = [similarity.ln(), (1.0 - similarity).ln()];
        (ways + yes * shared as f64 + no * other as f64).exp()
    };
    (0..STEPS).map(chance).collect()
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

    /// It was stated twice as high as it is where pairs become fewer below the threshold, and half
    /// as high where they become more.
    #[test]
    fn wrong_pairs_are_as_many_as_the_trend_says() {
        for (c, positions, text) in [(7.0, 20, "0.75"), (-9.0, 64, "0.5"), (4.0, 128, "0.75")] {
            let threshold: Threshold = text.parse().unwrap();
            let needed = threshold.needed(positions);
            let frequencies = frequencies(c, threshold.as_f64());
            let (mut wrong, mut found) = (0.0, 0.0);
            let mut scores = vec![0; positions + 1];
            for (shared, count) in scores.iter_mut().enumerate().skip(needed) {
                let mut sum = 0.0;
                for (step, chance) in chances_of(shared, positions).iter().enumerate() {
                    sum += chance * frequencies[step];
                    if similarity_of(step) < threshold.as_f64() {
                        wrong += chance * frequencies[step];
                    }
                }
                found += sum;
                *count = (sum * 1000.0).round() as u64;
            }
            // Copies do not count among what may be wrong.
            let copies = (found * 1000.0) as u64;
            scores[positions] += copies;
            let expected = wrong / (2.0 * found);
            let estimate = Estimate::new(&scores, threshold).unwrap();
            assert!(
                (estimate.expected_wrong / expected - 1.0).abs() < 0.1,
                "{estimate:?} {expected}"
            );
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
