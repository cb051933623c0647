//! Pairs that are known and accepted, by their ids in whatever order. A path is the same with and
//! without `./` before it, and an id that reads as the text of another is the same as that.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::id_text;

/// Pairs that are known, and which of them were met again.
#[derive(Debug, Default)]
pub struct Accepted {
    /// The lesser id of each pair, with the greater ones.
    pairs: HashMap<Box<str>, HashMap<Box<str>, usize>>,
    /// The pairs as they were first named, and whether they were met.
    named: Vec<([Box<str>; 2], AtomicBool)>,
}

impl Accepted {
    /// Adds a pair.
    pub fn add(&mut self, left: &str, right: &str) {
        let [lesser, greater] = in_order(left, right);
        let greater_ids = match self.pairs.get_mut(&*lesser) {
            Some(known) => known,
            None => self.pairs.entry(lesser.into()).or_default(),
        };
        if !greater_ids.contains_key(&*greater) {
            greater_ids.insert(greater.into(), self.named.len());
            let names = [left, right].map(Box::from);
            self.named.push((names, AtomicBool::new(false)));
        }
    }

    /// How many were met.
    pub fn met(&self) -> u64 {
        self.named.len() as u64 - self.not_met().count() as u64
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Whether a pair is known, which is remembered.
    pub fn meet(&self, left: &str, right: &str) -> bool {
        let [lesser, greater] = in_order(left, right);
        let greater_ids = self.pairs.get(&*lesser);
        let known = greater_ids.and_then(|ids| ids.get(&*greater));
        if let Some(&known) = known {
            self.named[known].1.store(true, Ordering::Relaxed);
        }
        known.is_some()
    }

    /// Pairs that were not met, as they were named.
    pub fn not_met(&self) -> impl Iterator<Item = [&str; 2]> {
        let is_missing = |named: &&([Box<str>; 2], AtomicBool)| !named.1.load(Ordering::Relaxed);
        let missing = self.named.iter().filter(is_missing);
        missing.map(|([left, right], _)| [&**left, &**right])
    }
}

/// Two ids as they are looked up, the lesser one first.
fn in_order<'a>(left: &'a str, right: &'a str) -> [Cow<'a, str>; 2] {
    let mut ids = [left, right].map(|id| id_text::decoded(id.trim_start_matches("./")));
    ids.sort_unstable();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_ids_does_not_matter() {
        let mut accepted = Accepted::default();
        for (left, right) in [("b", "a"), ("a", "b"), ("a", "c"), ("x", "y")] {
            accepted.add(left, right);
        }
        assert_eq!(accepted.len(), 3);
        assert!(accepted.meet("a", "b") && accepted.meet("b", "a"));
        assert!(accepted.meet("c", "a"));
        assert!(!accepted.meet("b", "c") && !accepted.meet("a", "a"));
        assert_eq!(accepted.not_met().collect::<Vec<_>>(), [["x", "y"]]);
        assert!(accepted.meet("./y", "x"));
        accepted.add("./src/a.c", "src/b.c");
        assert!(accepted.meet("src/b.c", "src/a.c"));
    }

    #[test]
    fn an_id_is_met_as_text_wrote_it() {
        let mut accepted = Accepted::default();
        // Read from a line of text, where both ids of a document are printed as the second.
        accepted.add("http://a.ru/x y", "http://a.ru/%D0%BF");
        assert!(accepted.meet("http://a.ru/x%20y", "http://a.ru/%D0%BF"));
        assert!(accepted.meet("http://a.ru/x y", "http://a.ru/%D0%BF"));
        assert!(!accepted.meet("http://a.ru/x y", "http://a.ru/п"));
    }
}
