//! An index of sets that grows while it is asked: what of the sets in it is similar to
//! another, for certain. For clusters, which need not know every pair.
//!
//! As in the complete join ([`prefix`](super::prefix)), sets that share enough meet early
//! in both of their lists. As sets come in any order of size, each is filed under all
//! bundles by which a set of any size can meet it.

use super::ranked::RankedSets;
use crate::score::SetBound;

#[derive(Clone, Copy, Default)]
struct Posting {
    set: u32,
    /// What the set has from there on.
    rest: u32,
}

/// The sets that have been added.
pub struct GrowingIndex<'a> {
    sets: &'a RankedSets,
    bound: SetBound,
    postings: Vec<Posting>,
    /// Where each rank's postings start, and end so far.
    starts: Vec<usize>,
    ends: Vec<usize>,
    /// A bit for each set that has been met by the current one.
    met: Vec<u64>,
    touched: Vec<u32>,
}

impl<'a> GrowingIndex<'a> {
    /// An index with room for all of `sets`, and none of them in it.
    pub fn new(sets: &'a RankedSets, bound: SetBound) -> Self {
        let mut starts = vec![0; sets.ranks() + 1];
        for set in 0..sets.len() {
            for item in sets.prefix(set) {
                starts[item.rank as usize + 1] += 1;
            }
        }
        for rank in 1..starts.len() {
            starts[rank] += starts[rank - 1];
        }
        Self {
            postings: vec![Posting::default(); starts[sets.ranks()]],
            ends: starts.clone(),
            starts,
            sets,
            bound,
            met: vec![0; sets.len().div_ceil(64)],
            touched: Vec::new(),
        }
    }

    /// Adds a set, once.
    pub fn add(&mut self, set: u32) {
        for item in self.sets.prefix(set as usize) {
            let end = &mut self.ends[item.rank as usize];
            self.postings[*end] = Posting {
                set,
                rest: item.rest,
            };
            *end += 1;
        }
    }

    /// Calls `each` with every set in the index that is similar to `set` and that is
    /// `wanted`, and what they share; not with itself.
    pub fn similar(
        &mut self,
        set: u32,
        mut wanted: impl FnMut(u32) -> bool,
        each: &mut dyn FnMut(u32, u32),
    ) {
        let sets = self.sets;
        let size = sets.size(set as usize);
        for item in sets.prefix(set as usize) {
            let rank = item.rank as usize;
            for posting in &self.postings[self.starts[rank]..self.ends[rank]] {
                let (word, bit) = (posting.set as usize / 64, 1 << (posting.set % 64));
                if self.met[word] & bit != 0 {
                    continue;
                }
                self.met[word] |= bit;
                self.touched.push(posting.set);
                let other = sets.size(posting.set as usize);
                let needed = self.bound.shared(size, other);
                let possible = size.min(other).min(item.rest).min(posting.rest);
                if posting.set == set || possible < needed || !wanted(posting.set) {
                    continue;
                }
                let shared = sets.shared(set as usize, posting.set as usize);
                if shared >= needed {
                    each(posting.set, shared);
                }
            }
        }
        for set in self.touched.drain(..) {
            self.met[set as usize / 64] = 0;
        }
    }
}
