//! The best of what was scored, in order: the best first, ties in input order.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::scoring::Scored;
use crate::shingle::token_hash;

/// Something that was scored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) scored: Scored,
    /// Its place in the input.
    pub(super) number: u64,
    pub(super) url: Box<str>,
    /// The terms that add most to the score, with their shares.
    pub(super) terms: Box<[(u32, f64)]>,
}

/// Better ones are less.
fn order(one: (Scored, u64), other: (Scored, u64)) -> Ordering {
    let [one_score, other_score] = [one, other].map(|(scored, _)| scored.score.as_f64());
    other_score.total_cmp(&one_score).then(one.1.cmp(&other.1))
}

impl Entry {
    fn key(&self) -> (Scored, u64) {
        (self.scored, self.number)
    }
}

/// What is the best so far: all, or no more than twice the number that is asked for.
#[derive(Debug)]
pub(super) struct Best {
    top: usize,
    entries: Vec<Entry>,
    /// The last of the best, if there are enough of them: what comes behind it need not be kept.
    last: Option<(Scored, u64)>,
}

/// Entries that are kept at the least before the others are dropped.
const DROP_MIN: usize = 1024;

impl Best {
    /// The best so many; `usize::MAX` for all.
    pub(super) fn new(top: usize) -> Self {
        Self {
            top,
            entries: Vec::new(),
            last: None,
        }
    }

    /// Whether something may be among the best.
    pub(super) fn admits(&self, scored: Scored, number: u64) -> bool {
        self.last
            .is_none_or(|last| order((scored, number), last).is_lt())
    }

    /// Takes something that is new.
    pub(super) fn add(&mut self, entry: Entry) {
        if !self.admits(entry.scored, entry.number) {
            return;
        }
        self.entries.push(entry);
        if self.entries.len() >= self.top.saturating_mul(2).max(DROP_MIN) {
            self.drop_others();
        }
    }

    fn drop_others(&mut self) {
        if self.entries.len() > self.top {
            let compare = |one: &Entry, other: &Entry| order(one.key(), other.key());
            let (_, last, _) = self.entries.select_nth_unstable_by(self.top - 1, compare);
            self.last = Some(last.key());
            self.entries.truncate(self.top);
        }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> u64 {
        let each = |entry: &Entry| {
            let beyond = entry.url.len() + 16 + size_of_val(&entry.terms[..]);
            (size_of::<Entry>() + beyond) as u64
        };
        self.entries.iter().map(each).sum()
    }

    /// They, the best first.
    pub(super) fn into_sorted(mut self) -> Vec<Entry> {
        self.drop_others();
        self.entries
            .sort_unstable_by(|one, other| order(one.key(), other.key()));
        self.entries
    }
}

/// Links, each with the best of its scores; ties in the order in which links are first seen.
#[derive(Debug)]
pub(super) struct BestLinks {
    top: usize,
    known: HashMap<Box<str>, (Scored, u64), ahash::RandomState>,
    last: Option<(Scored, u64)>,
    /// When each link was first seen, by its hash, if not all are kept. A collision changes no
    /// more than the order of a tie.
    first: HashMap<u64, u64, ahash::RandomState>,
    count: u64,
}

impl BestLinks {
    /// The best so many; `usize::MAX` for all.
    pub(super) fn new(top: usize) -> Self {
        Self {
            top,
            known: HashMap::default(),
            last: None,
            first: HashMap::default(),
            count: 0,
        }
    }

    /// Takes a link from a page.
    pub(super) fn add(&mut self, url: &str, scored: Scored) {
        if let Some((best, _)) = self.known.get_mut(url) {
            if scored.score > best.score {
                *best = scored;
            }
            return;
        }
        let mut number = self.count;
        if self.top < usize::MAX {
            number = *self
                .first
                .entry(token_hash(url.as_bytes()))
                .or_insert(number);
        }
        self.count += 1;
        if self
            .last
            .is_some_and(|last| order((scored, number), last).is_gt())
        {
            return;
        }
        self.known.insert(url.into(), (scored, number));
        if self.known.len() >= self.top.saturating_mul(2).max(DROP_MIN) {
            let mut keys: Vec<(Scored, u64)> = self.known.values().copied().collect();
            let (_, last, _) =
                keys.select_nth_unstable_by(self.top - 1, |one, other| order(*one, *other));
            let last = *last;
            self.known.retain(|_, key| order(*key, last).is_le());
            self.last = Some(last);
        }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> u64 {
        let urls: usize = self.known.keys().map(|url| url.len() + 64).sum();
        (urls + self.first.capacity() * 17) as u64
    }

    /// They, the best first.
    pub(super) fn into_sorted(self) -> Vec<Entry> {
        let mut best = Best::new(self.top);
        for (url, (scored, number)) in self.known {
            best.add(Entry {
                scored,
                number,
                url,
                terms: Box::default(),
            });
        }
        best.into_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Cosine;
    use proptest::prelude::*;

    fn scored(part: u128) -> Scored {
        Scored {
            score: Cosine::new(part, 10, 10),
            gold: 0,
        }
    }

    proptest! {
        #[test]
        fn the_best_are_the_first_of_all(
            parts in proptest::collection::vec(0_u128..9, 0..3000),
            top in 1_usize..1200,
        ) {
            let mut best = Best::new(top);
            let mut all = vec![];
            for (number, &part) in (0..).zip(&parts) {
                let entry = Entry {
                    scored: scored(part),
                    number,
                    url: number.to_string().into(),
                    terms: Box::default(),
                };
                best.add(entry.clone());
                all.push(entry);
                prop_assert!(best.entries.len() < 2 * top.max(DROP_MIN));
            }
            all.sort_by(|one, other| {
                other.scored.score.as_f64().total_cmp(&one.scored.score.as_f64())
            });
            all.truncate(top);
            prop_assert_eq!(best.into_sorted(), all);
        }

        #[test]
        fn the_best_links_are_the_first_of_all(
            links in proptest::collection::vec((0_u128..9, 0_u32..2000), 0..4000),
            top in 1_usize..1200,
        ) {
            let (mut best, mut all) = (BestLinks::new(top), BestLinks::new(usize::MAX));
            let mut twin: Vec<(u32, Scored)> = vec![];
            for &(part, link) in &links {
                best.add(&link.to_string(), scored(part));
                all.add(&link.to_string(), scored(part));
                match twin.iter_mut().find(|(known, _)| *known == link) {
                    Some((_, known)) if known.score >= scored(part).score => {}
                    Some((_, known)) => *known = scored(part),
                    None => twin.push((link, scored(part))),
                }
            }
            twin.sort_by(|one, other| {
                other.1.score.as_f64().total_cmp(&one.1.score.as_f64())
            });
            let plain = |entries: Vec<Entry>| -> Vec<(u32, Scored)> {
                let entries = entries.into_iter();
                entries.map(|entry| (entry.url.parse().unwrap(), entry.scored)).collect()
            };
            prop_assert_eq!(&plain(all.into_sorted()), &twin);
            twin.truncate(top);
            prop_assert_eq!(plain(best.into_sorted()), twin);
        }
    }
}
