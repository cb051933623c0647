//! The complete join of sets: every pair at or above the threshold, for certain.
//!
//! Each set's bundles are in one order, the rarest first. Two sets that share
//! enough must share a bundle early in both lists: so early that what follows is
//! still enough (prefix filter: Chaudhuri, Ganti, Kaushik, ICDE 2006; Bayardo, Ma,
//! Srikant, WWW 2007). Sets are taken in order of size, and each is held against
//! the smaller ones whose prefix has a bundle of its own; a bit per set tells which
//! of them have been seen. Where they meet first, what is left in both lists bounds
//! what they can share (positional filter: Xiao, Wang, Lin, Yu, WWW 2008). Where nearly
//! all sets meet nearly all others, a bitmap of each bounds it too. What remains is compared.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::parity::Parities;
use super::rarity::{Item, Ranked, SetsByRarity};
use super::work::Work;
use super::{Method, SearchStats};
use crate::error::Error;
use crate::observer::WorkCount;
use crate::score::SetBound;

/// Sets that a thread takes at a time.
const SETS_AT_ONCE: usize = 64;
/// If a set would meet others more than so many times as often as there are others, all of
/// them are looked at instead.
const MEETINGS_PER_SET: usize = 2;
/// Bitmaps are worth making if there are more than so many meetings for each bundle of a set.
const MEETINGS_PER_ITEM: usize = 64;

/// A set in the list of those that have a bundle in their prefix.
#[derive(Clone, Copy, Debug, Default)]
struct Posting {
    place: u32,
    /// What the set has from there on.
    rest: u32,
}

/// Which sets an index is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Those that are no larger than the one that asks.
    Smaller,
    /// All.
    Any,
}

/// Sets filed under the bundles of their prefixes. It can grow while it is asked.
pub(crate) struct PrefixIndex<'a> {
    sets: &'a SetsByRarity,
    bound: SetBound,
    asked: Asked,
    postings: Vec<Posting>,
    /// Where each rank's postings start, and end so far.
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl<'a> PrefixIndex<'a> {
    /// An index with room for all of `sets`, and none of them in it.
    pub(crate) fn new(sets: &'a SetsByRarity, bound: SetBound, asked: Asked) -> Self {
        let mut index = Self {
            sets,
            bound,
            asked,
            postings: Vec::new(),
            starts: vec![0; sets.ranks() + 1],
            ends: Vec::new(),
        };
        for place in 0..sets.len() {
            for item in index.filed(place) {
                index.starts[item.rank as usize + 1] += 1;
            }
        }
        for rank in 1..index.starts.len() {
            index.starts[rank] += index.starts[rank - 1];
        }
        index.ends = index.starts[..sets.ranks()].to_vec();
        index.postings = vec![Posting::default(); index.starts[sets.ranks()]];
        index
    }

    /// The bundles that a set is filed under.
    fn filed(&self, place: usize) -> &'a [Item] {
        let items = self.sets.prefix(place);
        match self.asked {
            Asked::Any => items,
            Asked::Smaller => {
                let least = self.bound.shared_with_larger(self.sets.sizes()[place]);
                &items[..items.partition_point(|item| item.rest >= least)]
            }
        }
    }

    /// Adds a set, once.
    pub(crate) fn add(&mut self, place: usize) {
        for item in self.filed(place) {
            let end = &mut self.ends[item.rank as usize];
            self.postings[*end] = Posting {
                place: place as u32,
                rest: item.rest,
            };
            *end += 1;
        }
    }

    fn postings_of(&self, rank: u32) -> &[Posting] {
        &self.postings[self.starts[rank as usize]..self.ends[rank as usize]]
    }

    /// How often sets would meet if each were asked for.
    fn meetings(&self) -> usize {
        (0..self.sets.len())
            .flat_map(|place| self.sets.prefix(place))
            .map(|item| self.postings_of(item.rank).len())
            .sum()
    }
}

/// What a thread needs to ask an index.
pub(crate) struct Probe {
    /// A bit for each set that has been met by the current one.
    met: Vec<u64>,
    touched: Vec<u32>,
    pub(crate) stats: SearchStats,
}

impl Probe {
    /// For an index of so many sets.
    pub(crate) fn new(sets: usize) -> Self {
        Self {
            met: vec![0; sets.div_ceil(64)],
            touched: Vec::new(),
            stats: SearchStats::default(),
        }
    }

    /// Whether a set is met for the first time.
    #[inline]
    fn is_new(&mut self, place: u32) -> bool {
        let (word, bit) = (place as usize / 64, 1 << (place % 64));
        let is_new = self.met[word] & bit == 0;
        if is_new {
            self.met[word] |= bit;
            self.touched.push(place);
        }
        is_new
    }

    fn forget(&mut self) {
        self.stats.candidates += self.touched.len() as u64;
        for place in self.touched.drain(..) {
            self.met[place as usize / 64] = 0;
        }
    }

    /// Calls `each` with every set in the index that is similar to another one and that is
    /// `wanted`, and what they share.
    pub(crate) fn similar(
        &mut self,
        index: &PrefixIndex<'_>,
        set: Ranked<'_>,
        mut wanted: impl FnMut(usize) -> bool,
        mut each: impl FnMut(usize, u32),
    ) {
        let sets = index.sets;
        for item in set.prefix {
            for posting in index.postings_of(item.rank) {
                self.stats.hits += 1;
                if !self.is_new(posting.place) {
                    continue;
                }
                let other = posting.place as usize;
                let other_size = sets.sizes()[other];
                let needed = index.bound.shared(set.size, other_size);
                if needed > set.size.min(other_size) {
                    self.stats.fell_by_size += 1;
                } else if item.rest.min(posting.rest) < needed {
                    self.stats.fell_by_rest += 1;
                } else if wanted(other) {
                    self.stats.merges += 1;
                    if let Some(shared) = sets.shared_at_least(set, other, needed) {
                        each(other, shared);
                    }
                }
            }
        }
        self.forget();
    }

    /// Calls `each` with every set before the one at `place` that is similar to it and is
    /// `wanted`, and what they share.
    fn smaller(
        &mut self,
        index: &PrefixIndex<'_>,
        parities: Option<&Parities>,
        place: usize,
        wanted: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, u32),
    ) {
        let sets = index.sets;
        let sizes = sets.sizes();
        let least_size = index.bound.smaller_size(sizes[place]);
        let first = sizes[..place].partition_point(|&size| size < least_size);
        let mut compare = |probe: &mut Self, other: usize, needed: u32| {
            if !wanted(other) {
                return;
            }
            if parities.is_some_and(|parities| parities.at_most(sets, place, other) < needed) {
                probe.stats.fell_by_parity += 1;
                return;
            }
            probe.stats.merges += 1;
            if let Some(shared) = sets.shared_at_least(sets.get(place), other, needed) {
                each(other, shared);
            }
        };
        let within = |postings: &[Posting]| {
            let from = postings.partition_point(|posting| (posting.place as usize) < first);
            let to = postings.partition_point(|posting| (posting.place as usize) < place);
            from..to
        };
        let meetings = |item: &Item| within(index.postings_of(item.rank)).len();
        if parities.is_some()
            && sets.prefix(place).iter().map(meetings).sum::<usize>()
                > MEETINGS_PER_SET * (place - first)
        {
            self.stats.candidates += (place - first) as u64;
            for other in first..place {
                let needed = index.bound.shared(sizes[place], sizes[other]);
                compare(self, other, needed);
            }
            return;
        }
        for item in sets.prefix(place) {
            let postings = index.postings_of(item.rank);
            for posting in &postings[within(postings)] {
                self.stats.hits += 1;
                if !self.is_new(posting.place) {
                    continue;
                }
                let other = posting.place as usize;
                let needed = index.bound.shared(sizes[place], sizes[other]);
                match item.rest.min(posting.rest) >= needed {
                    true => compare(self, other, needed),
                    false => self.stats.fell_by_rest += 1,
                }
            }
        }
        self.forget();
    }
}

/// Two sets that are similar enough, by their places, and what they share.
pub(crate) type PlacePair = (usize, usize, u32);

/// Every pair of sets that share enough and is `wanted`. Each thread hands over what it has
/// found, some at a time and in any order, to `take`.
pub(crate) fn for_each_pair(
    sets: &SetsByRarity,
    bound: SetBound,
    wanted: impl Fn(usize, usize) -> bool + Sync,
    count: &WorkCount<'_>,
    take: impl Fn(&mut Vec<PlacePair>) -> Result<(), Error> + Sync,
) -> Result<SearchStats, Error> {
    const PAIRS_AT_ONCE: usize = 1 << 14;
    let work = Work::new(sets, (0..sets.len()).map(Some));
    let mut index = PrefixIndex::new(sets, bound, Asked::Smaller);
    (0..sets.len()).for_each(|place| index.add(place));
    let index = index;
    let parities =
        (index.meetings() > MEETINGS_PER_ITEM * sets.items()).then(|| Parities::new(sets));
    let next = AtomicUsize::new(0);
    let found = rayon::broadcast(|_| -> Result<SearchStats, Error> {
        let mut probe = Probe::new(sets.len());
        let mut pairs: Vec<PlacePair> = Vec::new();
        loop {
            // From the largest sets down, so that no thread is left with them.
            let taken = next.fetch_add(SETS_AT_ONCE, Ordering::Relaxed);
            if taken >= sets.len() {
                take(&mut pairs)?;
                return Ok(probe.stats);
            }
            let end = sets.len() - taken;
            let run = end.saturating_sub(SETS_AT_ONCE)..end;
            for place in run.clone() {
                probe.smaller(
                    &index,
                    parities.as_ref(),
                    place,
                    |other| wanted(place, other),
                    |other, shared| pairs.push((place, other, shared)),
                );
            }
            if pairs.len() >= PAIRS_AT_ONCE {
                take(&mut pairs)?;
            }
            count.add(work.of(run));
        }
    });
    let mut stats = SearchStats {
        method: Method::Prefix,
        ..SearchStats::default()
    };
    for counted in found {
        stats = stats.merge(counted?);
    }
    Ok(stats)
}
