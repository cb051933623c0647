//! Some pairs of many: the best, the worst, or a sample.

/// Some pairs of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// So many with the highest scores, those first.
    Best(usize),
    /// So many with the lowest scores, those first.
    Worst(usize),
    /// So many, as chance has it; in input order. The same seed gives the same ones.
    Sample(usize, u64),
}

/// What is chosen so far, each with its rank and its place in the input; the lowest ranks count.
pub(crate) struct Chosen<T> {
    choice: Choice,
    met: u64,
    kept: Vec<(u64, u64, T)>,
    /// What is not below this is not chosen.
    bound: Option<u64>,
}

impl<T> Chosen<T> {
    pub(crate) fn new(choice: Choice) -> Self {
        Self {
            choice,
            met: 0,
            kept: Vec::new(),
            bound: None,
        }
    }

    fn most(&self) -> usize {
        match self.choice {
            Choice::Best(most) | Choice::Worst(most) | Choice::Sample(most, _) => most,
        }
    }

    pub(crate) fn add(&mut self, score: f64, item: impl FnOnce() -> T) {
        // Scores are not negative: their bits are in the order of the numbers.
        let rank = match self.choice {
            Choice::Best(_) => !score.to_bits(),
            Choice::Worst(_) => score.to_bits(),
            Choice::Sample(_, seed) => mixed(seed, self.met),
        };
        self.met += 1;
        // Of equal ones the first counts.
        if self.bound.is_some_and(|bound| rank >= bound) {
            return;
        }
        self.kept.push((rank, self.met, item()));
        if self.kept.len() >= 2 * self.most().max(1) {
            self.cut();
        }
    }

    /// Forgets what is certainly not chosen.
    fn cut(&mut self) {
        self.kept.sort_unstable_by_key(|kept| (kept.0, kept.1));
        self.kept.truncate(self.most());
        if self.kept.len() == self.most() {
            self.bound = Some(self.kept.last().map_or(0, |last| last.0));
        }
    }

    pub(crate) fn finish(mut self) -> Vec<T> {
        self.cut();
        if matches!(self.choice, Choice::Sample(..)) {
            self.kept.sort_unstable_by_key(|kept| kept.1);
        }
        self.kept.into_iter().map(|(.., item)| item).collect()
    }
}

/// A number that looks like chance, by two numbers (splitmix64: Steele, Lea and Flood, 2014).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for multiplier in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(multiplier);
    }
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chosen(choice: Choice, scores: &[u32]) -> Vec<usize> {
        let mut chosen = Chosen::new(choice);
        for (index, &score) in scores.iter().enumerate() {
            chosen.add(f64::from(score) / 10.0, || index);
        }
        chosen.finish()
    }

    proptest! {
        #[test]
        fn the_best_and_the_worst_are_those_of_a_sort(
            scores in proptest::collection::vec(0_u32..=10, 0..60),
            most in 0_usize..20,
        ) {
            let mut best: Vec<usize> = (0..scores.len()).collect();
            best.sort_by_key(|&index| std::cmp::Reverse(scores[index]));
            best.truncate(most);
            prop_assert_eq!(chosen(Choice::Best(most), &scores), best);
            let mut worst: Vec<usize> = (0..scores.len()).collect();
            worst.sort_by_key(|&index| scores[index]);
            worst.truncate(most);
            prop_assert_eq!(chosen(Choice::Worst(most), &scores), worst);
        }

        #[test]
        fn a_sample_is_of_all_and_the_same_for_its_seed(seed in any::<u64>(), most in 0_usize..20) {
            let scores = [7; 50];
            let sample = chosen(Choice::Sample(most, seed), &scores);
            prop_assert_eq!(sample.len(), most);
            prop_assert!(sample.is_sorted());
            prop_assert_eq!(sample, chosen(Choice::Sample(most, seed), &scores));
        }
    }
}
