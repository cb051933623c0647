//! What a threshold does to precision and recall, over all thresholds.

use super::figures::Tally;

/// Pairs with one score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Labelled {
    /// Their score.
    pub(crate) score: f64,
    /// Whether they are true.
    pub(crate) is_true: bool,
    /// How many they are.
    pub(crate) pairs: u64,
}

/// The threshold at which F1 is best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BestF1 {
    /// The highest such threshold.
    pub(crate) threshold: f64,
    /// F1 there.
    pub(crate) f1: f64,
    /// What is found there.
    pub(crate) tally: Tally,
}

/// Thresholds that make a difference, the highest first, and what is found at each.
pub(crate) type Curve = Vec<(f64, Tally)>;

/// What is found at each threshold. `unseen` pairs are
/// true besides, and have a score below all others.
pub(crate) fn precision_recall(pairs: &mut [Labelled], unseen: u64) -> Curve {
    pairs.sort_by(|one, two| two.score.total_cmp(&one.score));
    let is_true = |pair: &&Labelled| pair.is_true;
    let truth: u64 = pairs.iter().filter(is_true).map(|pair| pair.pairs).sum();
    let mut tally = Tally {
        missed: truth + unseen,
        ..Tally::default()
    };
    let mut curve = Vec::new();
    for same in pairs.chunk_by(|one, two| one.score == two.score) {
        for pair in same {
            tally.count(true, pair.is_true, pair.pairs);
            tally.missed -= if pair.is_true { pair.pairs } else { 0 };
        }
        curve.push((same[0].score, tally));
    }
    curve
}

/// The best F1 of all thresholds; `None` if nothing is true.
pub(crate) fn best_f1(curve: &[(f64, Tally)]) -> Option<BestF1> {
    let mut best: Option<BestF1> = None;
    for &(threshold, tally) in curve {
        let f1 = tally.f1();
        if f1 > best.map_or(0.0, |best| best.f1) {
            best = Some(BestF1 {
                threshold,
                f1,
                tally,
            });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn best(pairs: &mut [Labelled], unseen: u64) -> Option<BestF1> {
        best_f1(&precision_recall(pairs, unseen))
    }

    #[test]
    fn the_best_threshold_is_that_of_scikit_learn() {
        // p, r, t = precision_recall_curve([0,0,1,1,0,1], [.1,.4,.35,.8,.7,.7]); max of 2pr/(p+r)
        let scores = [0.1, 0.4, 0.35, 0.8, 0.7, 0.7];
        let labels = [false, false, true, true, false, true];
        let mut pairs: Vec<Labelled> = scores
            .into_iter()
            .zip(labels)
            .map(|(score, is_true)| Labelled {
                score,
                is_true,
                pairs: 1,
            })
            .collect();
        let best = best(&mut pairs, 0).unwrap();
        assert!((best.f1 - 0.75).abs() < 1e-15, "{best:?}");
        assert_eq!(best.threshold, 0.35);
    }

    proptest! {
        #[test]
        fn the_best_is_the_best_of_every_threshold(
            pairs in proptest::collection::vec((0_u8..10, any::<bool>(), 1_u64..4), 0..30),
            unseen in 0_u64..5,
        ) {
            let mut pairs: Vec<Labelled> = pairs
                .into_iter()
                .map(|(score, is_true, pairs)| Labelled { score: f64::from(score) / 10.0, is_true, pairs })
                .collect();
            let at = |threshold: f64| {
                let mut tally = Tally { missed: unseen, ..Tally::default() };
                for pair in &pairs {
                    tally.count(pair.score >= threshold, pair.is_true, pair.pairs);
                }
                tally.f1()
            };
            let expected = (0..10).map(|t| at(f64::from(t) / 10.0)).fold(0.0, f64::max);
            let found = best(&mut pairs.clone(), unseen);
            prop_assert_eq!(found.map_or(0.0, |best| best.f1), expected);
            if let Some(best) = found {
                prop_assert_eq!(at(best.threshold), best.f1);
            }
            pairs.clear();
        }
    }
}
