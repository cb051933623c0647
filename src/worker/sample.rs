//! What is common in a task: the tokens of some of its documents, counted. Which documents is
//! decided by hashes of their lists, so that it does not depend on threads, and copies count once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tokens::{Common, drawn};

/// Documents that are looked at.
const DOCUMENTS: usize = 512;
/// Tokens of a document that are looked at.
const TOKENS: usize = 1 << 13;
/// Tokens that are told of a task.
const TOLD: usize = 4096;

/// Up to which hash documents are wanted. It only falls.
#[derive(Debug)]
pub(super) struct Limit(AtomicU64);

impl Limit {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }

    pub(super) fn admits(&self, list: u128) -> bool {
        (list >> 64) as u64 <= self.0.load(Ordering::Relaxed)
    }
}

/// The documents with the least hashes.
#[derive(Default)]
pub(super) struct Sample {
    documents: BTreeMap<u128, Vec<u64>>,
}

impl Sample {
    /// What is kept of the tokens of a document.
    pub(super) fn tokens(mut tokens: Vec<u64>) -> Vec<u64> {
        tokens.sort_unstable_by_key(|&token| drawn(token));
        tokens.truncate(TOKENS);
        tokens
    }

    pub(super) fn add(&mut self, list: u128, tokens: Vec<u64>, limit: &Limit) {
        self.documents.insert(list, tokens);
        if self.documents.len() > DOCUMENTS {
            self.documents.pop_last();
            if let Some((&last, _)) = self.documents.last_key_value() {
                limit.0.store((last >> 64) as u64, Ordering::Relaxed);
            }
        }
    }

    /// Tokens that more than one of the sample has, and how many of so many documents may have
    /// them.
    pub(super) fn common(&self, of: usize) -> Vec<(u64, u64)> {
        let mut common = Common::default();
        let all = self.documents.values().flatten();
        all.for_each(|&token| common.add(token, 1));
        let scaled = |count: u64| count * of as u64 / self.documents.len().max(1) as u64;
        let told = common.most(TOLD).into_iter();
        told.filter(|&(_, count)| count > 1)
            .map(|(token, count)| (token, scaled(count)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_is_told_whatever_the_order() {
        let list = |number: u64| u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64;
        let common = |numbers: &mut dyn Iterator<Item = u64>| {
            let (limit, mut sample) = (Limit::new(), Sample::default());
            for number in numbers {
                if limit.admits(list(number)) {
                    let tokens = vec![7, 100 + number, u64::from(number % 2 == 0)];
                    sample.add(list(number), Sample::tokens(tokens), &limit);
                }
            }
            sample.common(10_000)
        };
        let forth = common(&mut (0..10_000));
        assert_eq!(forth, common(&mut (0..10_000).rev()));
        assert_eq!(forth.len(), 3);
        let about = |token| forth.iter().find(|known| known.0 == token).unwrap().1;
        assert_eq!(about(7), 10_000);
        assert!((4_000..6_000).contains(&about(1)), "{}", about(1));
    }
}
