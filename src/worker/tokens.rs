//! What documents have in common, as tokens in one order for all of them: the rare ones first.
//!
//! Documents that are similar enough share many tokens, and the first that they share, in
//! whatever order, is among the first few of each: of n shingles by Jaccard similarity among the
//! n - ⌈t·n⌉ + 1 first, and for the smaller of two sets among the n - ⌈2t/(1+t)·n⌉ + 1 first; of k
//! positions by Broder's score, of which m must agree, among the k - m + 1 first. If what is
//! common comes last, those who share no more than a frame have no such token in common.
//!
//! Which are common is known from a sample: the order must be the same for all, not true.

use super::keys::{MISSED_BY_PREFIX, spread};
use crate::score::{Measure, Threshold};
use crate::settings::Settings;
use crate::shingle::{Shingle, ShingleSet};
use crate::sketch::{Sketcher, Value, combine, sketcher};

/// Makes tokens of documents.
pub(super) struct Tokens {
    of: Of,
}

enum Of {
    /// Each different one.
    Shingles,
    /// Each with its value.
    Positions {
        sketcher: Box<dyn Sketcher>,
        values: Vec<Value>,
    },
}

impl Tokens {
    pub(super) fn new(settings: &Settings) -> Self {
        let of = match settings.measure {
            Measure::MinHash => Of::Positions {
                sketcher: sketcher(&settings.sketch),
                values: Vec::new(),
            },
            _ => Of::Shingles,
        };
        Self { of }
    }

    /// The tokens of a document, which has shingles.
    pub(super) fn of(&mut self, shingles: &[Shingle]) -> Vec<u64> {
        match &mut self.of {
            Of::Shingles => {
                let set = ShingleSet::new(shingles.to_vec());
                set.as_slice().iter().map(|s| spread(s.0)).collect()
            }
            Of::Positions { sketcher, values } => {
                values.clear();
                sketcher.sketch(shingles, values);
                let token = |(position, &value)| spread(combine(position, value));
                (0..).zip(values.iter()).map(token).collect()
            }
        }
    }
}

/// Tokens that many documents have, with about how many.
#[derive(Debug, Default)]
pub(super) struct Common {
    counts: ahash::HashMap<u64, u64>,
    /// The low bits of all tokens, as most that are asked for are none of these.
    bits: Vec<u64>,
}

/// Low bits of a token by which it is looked up.
const LOW_BITS: u32 = 21;

impl Common {
    /// Tokens at the most; those of most documents stay.
    const MAX: usize = 1 << 16;

    pub(super) fn add(&mut self, token: u64, count: u64) {
        let known = self.counts.entry(token).or_default();
        *known = known.saturating_add(count);
        if self.counts.len() > 16 * Self::MAX {
            self.counts = self.most(Self::MAX).into_iter().collect();
        }
    }

    /// As many that the most documents have, by token.
    pub(super) fn most(&self, count: usize) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = self.counts.iter().map(|(&t, &c)| (t, c)).collect();
        all.sort_unstable_by_key(|&(token, count)| (std::cmp::Reverse(count), drawn(token)));
        all.truncate(count.min(Self::MAX));
        all.sort_unstable();
        all
    }

    /// Makes ready for questions.
    pub(super) fn prepare(&mut self) {
        self.bits = vec![0; 1 << (LOW_BITS - 6)];
        for &token in self.counts.keys() {
            let low = low(token);
            self.bits[low / 64] |= 1 << (low % 64);
        }
    }

    /// What is not common has none.
    fn count(&self, token: u64) -> u64 {
        let low = low(token);
        match self.bits.get(low / 64) {
            Some(bits) if bits >> (low % 64) & 1 == 1 => {
                self.counts.get(&token).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }
}

/// An order of tokens that says nothing of their own. If some of many equally common ones are
/// taken for common, those that are not must be as even as all are: the chance that the first
/// shared one of them stands far behind follows from that.
pub(super) fn drawn(token: u64) -> u64 {
    let mixed = (token ^ token >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb)
}

fn low(token: u64) -> usize {
    (token & ((1 << LOW_BITS) - 1)) as usize
}

/// A token under which a document is filed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Filed {
    pub(super) token: u64,
    /// How many of its document come before it.
    pub(super) before: u32,
    /// How many its document has.
    pub(super) size: u32,
}

/// How much must be shared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed {
    measure: Measure,
    threshold: Threshold,
}

impl Needed {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            measure: settings.measure,
            threshold: settings.threshold,
        }
    }

    /// Tokens that two documents of so many must share.
    fn shared(self, one: u32, two: u32) -> u64 {
        let shared = match self.measure {
            Measure::MinHash => self.threshold.needed(one as usize) as u64,
            _ => {
                let both = u64::from(one) + u64::from(two);
                self.threshold.part_of_one_more(both).into()
            }
        };
        shared.max(1)
    }

    /// How far the first shared token of a document of so many may stand, whatever the other is.
    fn first(self, size: usize) -> usize {
        size + 1 - self.threshold.needed(size).max(1)
    }

    /// The same for the smaller of two.
    fn first_of_smaller(self, size: u32) -> u32 {
        (u64::from(size) + 1).saturating_sub(self.shared(size, size)) as u32
    }

    /// Whether a token under which two documents are filed may be the first that they share:
    /// whether enough comes behind it.
    pub(super) fn may_be_first(self, one: Filed, two: Filed) -> bool {
        let smaller = if one.size <= two.size { one } else { two };
        let behind = |filed: Filed| u64::from(filed.size.saturating_sub(filed.before));
        smaller.before < self.first_of_smaller(smaller.size)
            && behind(one).min(behind(two)) >= self.shared(one.size, two.size)
    }

    /// Whether it may be with any larger one.
    pub(super) fn may_be_first_of_smaller(self, filed: Filed) -> bool {
        filed.before < self.first_of_smaller(filed.size)
    }
}

/// The first tokens of a document, under which it is filed. If it must not be certain, fewer
/// will do where most are rare: these stand in the order of hashes, so that the first that is
/// shared stands behind m of them with the chance (1 - j)^m, where j is the least share of the
/// rare ones of both that is shared.
pub(super) fn prefix(
    tokens: &[u64],
    common: &Common,
    needed: Needed,
    is_certain: bool,
) -> Vec<Filed> {
    let size = tokens.len();
    let counted = |&token: &u64| (common.count(token), token);
    let mut tokens: Vec<(u64, u64)> = tokens.iter().map(counted).collect();
    let mut length = needed.first(size);
    if !is_certain && needed.measure != Measure::MinHash {
        let rare = tokens.iter().filter(|(count, _)| *count == 0).count();
        let threshold = needed.threshold.as_f64();
        let share = rare as f64 / size as f64;
        let shared = 1.0 - (1.0 - threshold) / (threshold * share);
        if shared > 0.0 {
            let enough = (MISSED_BY_PREFIX.ln() / (1.0 - shared).ln())
                .ceil()
                .max(1.0) as usize;
            if enough <= rare {
                length = length.min(enough);
            }
        }
    }
    if length < size {
        tokens.select_nth_unstable(length);
        tokens.truncate(length);
    }
    tokens.sort_unstable();
    let filed = |(before, (_, token))| Filed {
        token,
        before,
        size: size as u32,
    };
    (0..).zip(tokens).map(filed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(measure: Measure) -> Settings {
        Settings {
            measure,
            ..Settings::default()
        }
    }

    proptest::proptest! {
        /// Whatever two sets are that are similar enough, and whatever is held for common, they
        /// are filed under a token that may be the first they share.
        #[test]
        fn what_is_similar_is_filed_together(
            shared in proptest::collection::hash_set(0_u64..1000, 1..60),
            one in proptest::collection::hash_set(1000_u64..2000, 0..20),
            two in proptest::collection::hash_set(2000_u64..3000, 0..20),
            common in proptest::collection::hash_map(0_u64..3000, 1_u64..5, 0..600),
        ) {
            let settings = settings(Measure::Jaccard);
            let needed = Needed::new(&settings);
            let mut known = Common::default();
            common.into_iter().for_each(|(token, count)| known.add(spread(token), count));
            known.prepare();
            let filed = |own: &std::collections::HashSet<u64>| {
                let all: Vec<Shingle> = shared.iter().chain(own).map(|&s| Shingle(s)).collect();
                prefix(&Tokens::new(&settings).of(&all), &known, needed, true)
            };
            let union = shared.len() + one.len() + two.len();
            if shared.len() >= settings.threshold.needed(union) {
                let (one, two) = (filed(&one), filed(&two));
                let meet = |x: &Filed| two.iter().any(|y| {
                    let is_asked = needed.may_be_first_of_smaller(*x)
                        || needed.may_be_first_of_smaller(*y);
                    x.token == y.token && is_asked && needed.may_be_first(*x, *y)
                });
                assert!(one.iter().any(meet));
            }
        }
    }

    #[test]
    fn a_frame_does_not_bring_documents_together() {
        let settings = settings(Measure::Jaccard);
        let needed = Needed::new(&settings);
        let mut common = Common::default();
        (0..160).for_each(|token| common.add(spread(token), 1000));
        common.prepare();
        let filed = |number: u64| {
            let own = (0..40).map(|n| 1000 * number + n);
            let all: Vec<Shingle> = (0..160).chain(own).map(Shingle).collect();
            prefix(&Tokens::new(&settings).of(&all), &common, needed, false)
        };
        let (one, two) = (filed(1), filed(2));
        assert_eq!(one.len(), 51);
        for x in &one {
            for y in two.iter().filter(|y| y.token == x.token) {
                assert!(!needed.may_be_first(*x, *y));
            }
        }
    }

    /// Of a frame larger than what is told of it, the rest is taken for rare: it must not be the
    /// part of it that comes last.
    #[test]
    fn a_frame_of_which_a_part_is_known_still_brings_versions_together() {
        let settings = settings(Measure::Jaccard);
        let needed = Needed::new(&settings);
        let mut all = Common::default();
        (0..6000).for_each(|token| all.add(spread(token), 60));
        let mut common = Common::default();
        let told = all.most(4096).into_iter();
        told.for_each(|(token, count)| common.add(token, count));
        common.prepare();
        let filed = |number: u64| {
            let own = (0..800).map(|n| 10_000 * number + n);
            let all: Vec<Shingle> = (0..6000).chain(own).map(Shingle).collect();
            prefix(&Tokens::new(&settings).of(&all), &common, needed, false)
        };
        for number in 1..20 {
            let (one, two) = (filed(number), filed(number + 1));
            let meet = |x: &Filed| {
                let same = |y: &&Filed| x.token == y.token && needed.may_be_first(*x, **y);
                two.iter().any(|y| same(&y))
            };
            assert!(one.iter().any(meet));
        }
    }

    #[test]
    fn fewer_tokens_do_where_all_are_rare() {
        let settings = settings(Measure::Jaccard);
        let tokens: Vec<u64> = (0..10_000).map(spread).collect();
        let needed = Needed::new(&settings);
        let count = |is_certain| {
            let filed = prefix(&tokens, &Common::default(), needed, is_certain);
            filed.len()
        };
        assert_eq!(count(true), 2_501);
        assert!(count(false) < 31, "{}", count(false));
    }
}
