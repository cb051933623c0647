//! The complete join of sets: every pair at or above the threshold, for certain.
//!
//! Each set's bundles are in one order, the rarest first. Two sets that share
//! enough must share a bundle early in both lists: so early that what follows is
//! still enough (prefix filter: Chaudhuri, Ganti, Kaushik, ICDE 2006; Bayardo, Ma,
//! Srikant, WWW 2007). Sets are taken in order of size, and each is held against
//! the smaller ones whose prefix has a bundle of its own; a bit per set tells which
//! of them have been seen. Where they meet first, what is left in both lists bounds
//! what they can share (positional filter: Xiao, Wang, Lin, Yu, WWW 2008). What
//! remains is compared.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::ranked::{Item, RankedSets};
use super::{Match, Method, RowSides, SearchStats};
use crate::score::SetBound;
use crate::sketch::Row;

/// Sets that a thread takes at a time.
const SETS_AT_ONCE: usize = 64;

/// A set in the list of those that have a bundle in their prefix.
#[derive(Clone, Copy, Debug, Default)]
struct Posting {
    /// The set, by its place in order of size.
    place: u32,
    /// What the set has from there on.
    rest: u32,
}

/// An index over the prefixes of all sets.
pub struct PrefixIndex<'a> {
    sets: &'a RankedSets,
    bound: SetBound,
    /// Sets in order of size.
    order: Vec<u32>,
    sizes: Vec<u32>,
    postings: Vec<Posting>,
    /// Where each rank's postings start, and the end.
    starts: Vec<usize>,
}

impl<'a> PrefixIndex<'a> {
    /// Files every set under the bundles of its prefix.
    pub fn new(sets: &'a RankedSets, bound: SetBound) -> Self {
        let mut order: Vec<u32> = (0..sets.len() as u32).collect();
        order.par_sort_unstable_by_key(|&set| (sets.size(set as usize), set));
        let mut starts = vec![0; sets.ranks() + 1];
        for set in 0..sets.len() {
            for item in prefix(sets.prefix(set), bound.shared_with_larger(sets.size(set))) {
                starts[item.rank as usize + 1] += 1;
            }
        }
        for rank in 1..starts.len() {
            starts[rank] += starts[rank - 1];
        }
        let mut next = starts.clone();
        let mut postings = vec![Posting::default(); starts[sets.ranks()]];
        for (place, &set) in order.iter().enumerate() {
            let set = set as usize;
            let least = bound.shared_with_larger(sets.size(set));
            for item in prefix(sets.prefix(set), least) {
                let slot = &mut next[item.rank as usize];
                postings[*slot] = Posting {
                    place: place as u32,
                    rest: item.rest,
                };
                *slot += 1;
            }
        }
        Self {
            sizes: order.iter().map(|&set| sets.size(set as usize)).collect(),
            sets,
            bound,
            order,
            postings,
            starts,
        }
    }

    /// How many postings a search will look at, at the most.
    pub fn hits(&self) -> u64 {
        (0..self.sets.len())
            .into_par_iter()
            .map(|set| {
                let prefix = self.sets.prefix(set);
                prefix
                    .iter()
                    .map(|item| self.postings_of(item.rank).len() as u64)
                    .sum::<u64>()
            })
            .sum()
    }

    fn postings_of(&self, rank: u32) -> &[Posting] {
        &self.postings[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }

    /// Every pair of sets, across `sides`, that share enough, in order of
    /// left, then right.
    pub fn search(&self, sides: &RowSides) -> (Vec<Match>, SearchStats) {
        let next = AtomicUsize::new(0);
        let found = rayon::broadcast(|_| {
            let mut probe = Probe::new(self);
            loop {
                // From the largest sets down, so that no thread is left with them.
                let taken = next.fetch_add(SETS_AT_ONCE, Ordering::Relaxed);
                if taken >= self.order.len() {
                    return (probe.matches, probe.stats);
                }
                let end = self.order.len() - taken;
                for place in end.saturating_sub(SETS_AT_ONCE)..end {
                    probe.set(place, sides);
                }
            }
        });
        let mut matches = Vec::new();
        let mut stats = SearchStats {
            method: Method::Prefix,
            ..SearchStats::default()
        };
        for (mut some, counted) in found {
            matches.append(&mut some);
            stats = stats.merge(counted);
        }
        matches.par_sort_unstable_by_key(|found| (found.left, found.right));
        (matches, stats)
    }
}

/// The bundles before which two sets that share `least` must meet.
fn prefix(items: &[Item], least: u32) -> &[Item] {
    &items[..items.partition_point(|item| item.rest >= least)]
}

/// One thread's search.
struct Probe<'a> {
    index: &'a PrefixIndex<'a>,
    /// A bit for each set that has been met by the current one.
    met: Vec<u64>,
    touched: Vec<u32>,
    /// Sets to compare with.
    candidates: Vec<u32>,
    matches: Vec<Match>,
    stats: SearchStats,
}

impl<'a> Probe<'a> {
    fn new(index: &'a PrefixIndex<'a>) -> Self {
        Self {
            index,
            met: vec![0; index.order.len().div_ceil(64)],
            touched: Vec::new(),
            candidates: Vec::new(),
            matches: Vec::new(),
            stats: SearchStats::default(),
        }
    }

    /// Finds the matches of a set among those before it in order of size.
    fn set(&mut self, place: usize, sides: &RowSides) {
        let index = self.index;
        let size = index.sizes[place];
        let least_size = index.bound.smaller_size(size);
        let first = index.sizes[..place].partition_point(|&smaller| smaller < least_size) as u32;
        for item in index.sets.prefix(index.order[place] as usize) {
            let postings = index.postings_of(item.rank);
            let from = postings.partition_point(|posting| posting.place < first);
            for posting in &postings[from..] {
                if posting.place as usize >= place {
                    break;
                }
                self.meet(place, item, posting);
            }
        }
        for &met in &self.touched {
            self.met[met as usize / 64] = 0;
        }
        self.stats.candidates += self.touched.len() as u64;
        self.touched.clear();
        let mut candidates = std::mem::take(&mut self.candidates);
        for other in candidates.drain(..) {
            self.compare(place, other as usize, sides);
        }
        self.candidates = candidates;
    }

    #[inline]
    fn meet(&mut self, place: usize, item: &Item, posting: &Posting) {
        self.stats.hits += 1;
        let (word, bit) = (posting.place as usize / 64, 1 << (posting.place % 64));
        if self.met[word] & bit != 0 {
            return;
        }
        self.met[word] |= bit;
        self.touched.push(posting.place);
        let sizes = &self.index.sizes;
        let needed = self
            .index
            .bound
            .shared(sizes[place], sizes[posting.place as usize]);
        if item.rest.min(posting.rest) >= needed {
            self.candidates.push(posting.place);
        } else {
            self.stats.fell_by_rest += 1;
        }
    }

    fn compare(&mut self, place: usize, other: usize, sides: &RowSides) {
        let index = self.index;
        let (one, two) = (index.order[place], index.order[other]);
        let (left, right) = (Row(one.min(two)), Row(one.max(two)));
        if !sides.across(left, right) {
            return;
        }
        self.stats.merges += 1;
        let needed = index.bound.shared(index.sizes[place], index.sizes[other]);
        let shared = index.sets.shared(one as usize, two as usize);
        if shared >= needed {
            self.matches.push(Match {
                left,
                right,
                shared,
            });
        }
    }
}
