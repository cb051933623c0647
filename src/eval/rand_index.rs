//! The adjusted Rand index (Hubert, Arabie 1985): how far two partitions of the same documents
//! agree, 1 if they are the same, 0 as often as by chance.

use std::collections::HashMap;
use std::ops::AddAssign;

use crate::collection::Components;

/// Pairs of documents that two partitions have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandTally {
    /// Pairs that both have together.
    pub both: u64,
    /// Pairs that the first has together.
    pub first: u64,
    /// Pairs that the second has together.
    pub second: u64,
    /// Documents.
    pub documents: u64,
}

impl AddAssign for RandTally {
    fn add_assign(&mut self, other: Self) {
        self.both += other.both;
        self.first += other.first;
        self.second += other.second;
        self.documents += other.documents;
    }
}

impl RandTally {
    /// The index. As in scikit-learn, it is 1 if no pair is on any side.
    pub fn adjusted(&self) -> f64 {
        let all = pairs(self.documents) as i128;
        let [both, first, second] = [self.both, self.first, self.second].map(i128::from);
        // Pairs apart in both, in the second only, in the first only: scikit-learn's matrix.
        let (missed, extra) = (first - both, second - both);
        let neither = all - both - missed - extra;
        if missed == 0 && extra == 0 {
            return 1.0;
        }
        let part = 2.0 * (both as f64 * neither as f64 - missed as f64 * extra as f64);
        let whole = (both + missed) as f64 * (missed + neither) as f64
            + (both + extra) as f64 * (extra + neither) as f64;
        part / whole
    }
}

impl RandTally {
    /// Pairs on either side, which the index weighs.
    pub fn pairs(&self) -> u64 {
        self.first + self.second
    }
}

/// Pairs of so many.
fn pairs(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

/// What two partitions have together, by parts that have no document in common with another: for
/// each document its class in both. A document in the first at `None` is alone there.
pub fn rand_tallies(first: &[Option<u32>], second: &[u32]) -> Vec<RandTally> {
    let documents = first.len();
    let count = |tallies: &mut HashMap<(u32, u32), u64>, key| *tallies.entry(key).or_default() += 1;
    let components = Components::new(documents);
    let (mut cells, mut firsts, mut seconds) = (HashMap::new(), HashMap::new(), HashMap::new());
    // The first document of each class.
    let (mut first_of, mut second_of) = (HashMap::new(), HashMap::new());
    for (document, (class, &cluster)) in (0..).zip(first.iter().zip(second)) {
        if let Some(class) = *class {
            components.join(*first_of.entry(class).or_insert(document), document);
        }
        components.join(*second_of.entry(cluster).or_insert(document), document);
    }
    for (document, (class, &cluster)) in (0..).zip(first.iter().zip(second)) {
        let part = components.find(document);
        count(&mut seconds, (part, cluster));
        if let Some(class) = *class {
            count(&mut firsts, (part, class));
            // A cell is of one part.
            count(&mut cells, (class, cluster));
        }
    }
    let mut tallies: HashMap<u32, RandTally> = HashMap::new();
    for document in 0..documents as u32 {
        tallies
            .entry(components.find(document))
            .or_default()
            .documents += 1;
    }
    for ((class, _), size) in cells {
        let part = first_of
            .get(&class)
            .map_or(0, |&first| components.find(first));
        tallies.entry(part).or_default().both += pairs(size);
    }
    for ((part, _), size) in firsts {
        tallies.entry(part).or_default().first += pairs(size);
    }
    for ((part, _), size) in seconds {
        tallies.entry(part).or_default().second += pairs(size);
    }
    let mut parts: Vec<(u32, RandTally)> = tallies.into_iter().collect();
    parts.sort_unstable_by_key(|&(part, _)| part);
    parts.into_iter().map(|(_, tally)| tally).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index(first: &[u32], second: &[u32]) -> f64 {
        let first: Vec<Option<u32>> = first.iter().copied().map(Some).collect();
        let mut all = RandTally::default();
        for tally in rand_tallies(&first, second) {
            all += tally;
        }
        all.adjusted()
    }

    #[test]
    fn the_index_is_that_of_scikit_learn() {
        for (first, second, expected) in [
            // adjusted_rand_score(…)
            (vec![0, 0, 1, 2], vec![0, 0, 1, 1], 0.571_428_571_428_571_4),
            (vec![0, 0, 1, 1], vec![0, 1, 0, 1], -0.5),
            (
                vec![0, 0, 0, 1, 1, 1, 2, 2, 3],
                vec![0, 0, 1, 1, 2, 2, 3, 3, 3],
                0.343_75,
            ),
            (vec![0, 1, 2], vec![5, 6, 7], 1.0),
            (vec![0, 0, 0], vec![1, 1, 1], 1.0),
        ] {
            let found = index(&first, &second);
            assert!(
                (found - expected).abs() < 1e-12,
                "{first:?} {second:?} {found}"
            );
        }
    }

    proptest! {
        #[test]
        fn it_is_what_counting_all_pairs_says(
            classes in proptest::collection::vec((proptest::option::of(0_u32..6), 0_u32..6), 2..30),
        ) {
            let (first, second): (Vec<_>, Vec<_>) = classes.into_iter().unzip();
            let mut expected = RandTally { documents: first.len() as u64, ..RandTally::default() };
            for one in 0..first.len() {
                for two in one + 1..first.len() {
                    let a = first[one].is_some() && first[one] == first[two];
                    let b = second[one] == second[two];
                    expected.first += u64::from(a);
                    expected.second += u64::from(b);
                    expected.both += u64::from(a && b);
                }
            }
            let mut all = RandTally::default();
            for tally in rand_tallies(&first, &second) {
                all += tally;
            }
            prop_assert_eq!(all, expected);
            // By the textbook's formula.
            let n = expected.documents as f64;
            let chance = expected.first as f64 * expected.second as f64 / (n * (n - 1.0) / 2.0);
            let most = (expected.first + expected.second) as f64 / 2.0;
            if (most - chance).abs() > 1e-9 {
                let index = (expected.both as f64 - chance) / (most - chance);
                prop_assert!((all.adjusted() - index).abs() < 1e-9);
            }
        }
    }
}
