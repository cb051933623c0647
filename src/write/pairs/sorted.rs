//! Pairs by their scores: all of them, in a temporary file beyond a share of the memory, or the
//! best so many, and no more are kept.

use std::collections::BinaryHeap;

use crate::error::Error;
use crate::memory::Memory;
use crate::score::Score;
use crate::spill::SortedRuns;
use crate::write::{Listing, PairOrder};

/// A pair by its numbers, the left one in 64 bits, and what they share; ordered as it is listed.
type Entry = ((u64, (u64, u32)), u32);

/// The part of the memory that pairs may take, and bytes of one.
const MEMORY_SHARE: u64 = 4;
const ENTRY_BYTES: u64 = size_of::<Entry>() as u64;

/// Pairs that are to be listed in another order than that in which they come.
pub(crate) struct SortedPairs {
    order: PairOrder,
    memory: Memory,
    kept: Kept,
    added: u64,
}

enum Kept {
    All(Vec<Entry>, SortedRuns),
    /// The best, of which the worst is on top.
    Best(BinaryHeap<Entry>, usize),
}

impl SortedPairs {
    pub(crate) fn new(listing: &Listing, memory: Memory) -> Self {
        Self {
            order: listing.order,
            memory,
            kept: match listing.top {
                Some(top) => Kept::Best(BinaryHeap::new(), top),
                None => Kept::All(Vec::new(), SortedRuns::default()),
            },
            added: 0,
        }
    }

    /// Adds a pair; they come in input order.
    pub(crate) fn push(
        &mut self,
        (left, right): (u64, u32),
        score: Score,
        shared: u32,
    ) -> Result<(), Error> {
        // Scores are not negative: their bits are in the order of the numbers.
        let entry = ((!score.as_f64().to_bits(), (left, right)), shared);
        self.added += 1;
        match &mut self.kept {
            Kept::Best(best, top) => {
                if best.len() < *top {
                    best.push(entry);
                } else if let Some(mut worst) = best.peek_mut()
                    && entry < *worst
                {
                    *worst = entry;
                }
                Ok(())
            }
            Kept::All(waiting, runs) => {
                waiting.push(entry);
                match waiting.len() as u64 * ENTRY_BYTES > self.memory.bytes / MEMORY_SHARE {
                    true => runs.push(waiting, &self.memory),
                    false => Ok(()),
                }
            }
        }
    }

    /// How many pairs are listed.
    pub(crate) fn len(&self) -> u64 {
        match &self.kept {
            Kept::All(..) => self.added,
            Kept::Best(best, _) => best.len() as u64,
        }
    }

    /// How many are not.
    pub(crate) fn others(&self) -> u64 {
        self.added - self.len()
    }

    /// Calls `each` with every pair that is listed, in order, and what they share.
    pub(crate) fn for_each(
        self,
        mut each: impl FnMut((u64, u32), u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut each = |((_, pair), shared): Entry| each(pair, shared);
        match self.kept {
            Kept::Best(best, _) => {
                let mut best = best.into_sorted_vec();
                if self.order == PairOrder::Input {
                    best.sort_unstable_by_key(|&((_, pair), _)| pair);
                }
                best.into_iter().try_for_each(each)
            }
            Kept::All(mut waiting, mut runs) => {
                if runs.is_empty() {
                    waiting.sort_unstable();
                    return waiting.into_iter().try_for_each(&mut each);
                }
                runs.push(&mut waiting, &self.memory)?;
                runs.for_each(each)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    fn listed(listing: &Listing, shared: &[u32], bytes: u64) -> Vec<(u64, u32)> {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory {
            bytes,
            temp_dir: folder.path().to_owned(),
        };
        let mut sorted = SortedPairs::new(listing, memory);
        for (number, &shared) in shared.iter().enumerate() {
            let pair = (number as u64 / 5, number as u32 % 5);
            sorted.push(pair, Score::new(shared, 10), shared).unwrap();
        }
        let mut listed = vec![];
        let count = sorted.len();
        sorted
            .for_each(|pair, of_pair| {
                assert_eq!(of_pair, shared[pair.0 as usize * 5 + pair.1 as usize]);
                listed.push(pair);
                Ok(())
            })
            .unwrap();
        assert_eq!(count, listed.len() as u64);
        listed
    }

    proptest! {
        #[test]
        fn pairs_come_as_from_a_sort(
            shared in proptest::collection::vec(0_u32..=10, 0..300),
            top in proptest::option::of(0_usize..20),
            by_score in any::<bool>(),
            bytes in prop_oneof![Just(u64::MAX), Just(4000_u64)],
        ) {
            prop_assume!(by_score || top.is_some());
            let order = if by_score { PairOrder::Score } else { PairOrder::Input };
            let mut expected: Vec<usize> = (0..shared.len()).collect();
            expected.sort_by_key(|&number| Reverse(shared[number]));
            expected.truncate(top.unwrap_or(usize::MAX));
            if !by_score {
                expected.sort_unstable();
            }
            let expected: Vec<(u64, u32)> =
                expected.iter().map(|&number| (number as u64 / 5, number as u32 % 5)).collect();
            let listing = Listing { order, top, ..Listing::default() };
            prop_assert_eq!(listed(&listing, &shared, bytes), expected);
        }
    }
}
