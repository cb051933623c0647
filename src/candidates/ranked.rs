//! Sets in the form in which they are joined, identical ones only once.
//!
//! Each bundle has two numbers. Its rank is for finding candidates: the rarer, the
//! lower, so that a set's first bundles are those that few others have. Its bit is
//! for comparing them: bundles that occur together get bits close together, so
//! that a set is a short list of words of 64 bits, and what two sets share is
//! counted word by word.

use rayon::prelude::*;

use super::identical::{Groups, collapse};
use crate::score::SetBound;
use crate::sets::{Bundle, BundleSets};
use crate::sketch::{Row, combine};

/// A bundle in a set, and what the set has from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The bundle's rank: the rarer, the lower.
    pub rank: u32,
    /// Shingles of the set in this bundle and in all of higher rank.
    pub rest: u32,
}

/// Sixty-four neighbouring bits, of which a set has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    index: u32,
    bits: u64,
}

/// The sets of the groups' first rows.
#[derive(Debug)]
pub struct RankedSets {
    sizes: Vec<u32>,
    prefixes: Lists<Item>,
    words: Lists<Word>,
    /// The bundles' weights in binary: for each word, a mask of those bits whose
    /// bundle has 1 in its weight, one of those that have 2, 4, and so on.
    weights: Lists<u64>,
    ranks: usize,
}

/// Lists back to back.
#[derive(Debug)]
struct Lists<T> {
    all: Vec<T>,
    ends: Vec<usize>,
}

impl<T: Copy> Lists<T> {
    fn new(lists: impl Iterator<Item = Vec<T>>) -> Self {
        let mut all = Vec::new();
        let ends = lists
            .map(|list| {
                all.extend_from_slice(&list);
                all.len()
            })
            .collect();
        Self { all, ends }
    }

    fn get(&self, index: usize) -> &[T] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.all[start..self.ends[index]]
    }
}

impl RankedSets {
    /// Number of sets.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// True if there is no set.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Shingles in a set, those in no bundle included.
    pub fn size(&self, set: usize) -> u32 {
        self.sizes[set]
    }

    /// The sizes of all sets.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The first bundles of a set, the rarest first: those with one of which every
    /// set that is similar enough and no larger must begin.
    pub fn prefix(&self, set: usize) -> &[Item] {
        self.prefixes.get(set)
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// How many shingles two sets share.
    pub fn shared(&self, left: usize, right: usize) -> u32 {
        let (left, right) = (self.words.get(left), self.words.get(right));
        let (mut i, mut j) = (0, 0);
        let mut shared = 0;
        while i < left.len() && j < right.len() {
            let (a, b) = (left[i], right[j]);
            if a.index == b.index {
                shared += self.weight(a.index, a.bits & b.bits);
            }
            i += usize::from(a.index <= b.index);
            j += usize::from(b.index <= a.index);
        }
        shared
    }

    #[inline]
    fn weight(&self, index: u32, bits: u64) -> u32 {
        let masks = self.weights.get(index as usize);
        let mut weight = (bits & masks[0]).count_ones();
        for (power, mask) in masks.iter().enumerate().skip(1) {
            weight += (bits & mask).count_ones() << power;
        }
        weight
    }

    /// Calls `each` with every bundle of a set, as its bit, and its weight.
    pub(super) fn for_each_bundle(&self, set: usize, mut each: impl FnMut(u32, u32)) {
        for word in self.words.get(set) {
            let mut bits = word.bits;
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                each(word.index * 64 + bit, self.weight(word.index, 1 << bit));
            }
        }
    }
}

/// Rows with the same set, in groups. A row that has a shingle of its own is alone.
pub fn groups(sets: &BundleSets) -> Groups {
    let shared: Vec<bool> = (0..sets.len())
        .into_par_iter()
        .map(|row| sets.size(row) > 0 && sets.is_shared(row))
        .collect();
    collapse(
        sets.len() as u32,
        |Row(row)| match shared[row as usize] {
            true => sets
                .bundles(row as usize)
                .iter()
                .fold(0, |hash, &bundle| combine(hash, bundle as i32)),
            // Far apart from each other, so that they are not compared.
            false => combine(1, row as i32),
        },
        |Row(a), Row(b)| {
            let (a, b) = (a as usize, b as usize);
            a == b || (shared[a] && shared[b] && sets.bundles(a) == sets.bundles(b))
        },
    )
}

/// Ranks the bundles of the groups' first rows, whose prefixes are those of
/// `bound`. Bundles that only one of them has are dropped: they match nothing.
pub fn rank(sets: &BundleSets, groups: &Groups, bound: SetBound) -> RankedSets {
    let rows: Vec<usize> = groups.representatives().map(|row| row.0 as usize).collect();
    let numbers = Numbers::new(sets, &rows);
    let ranks = numbers.by_rarity();
    let (prefixes, words): (Vec<_>, Vec<_>) = (0..rows.len())
        .into_par_iter()
        .map_init(Vec::new, |own, set| {
            numbers.of_bundles(sets.bundles(rows[set]), own);
            let least = bound.shared_with_smaller(sets.size(rows[set]));
            let prefix = numbers.prefix(own, &ranks, least);
            own.sort_unstable();
            (prefix, words(own))
        })
        .unzip();
    RankedSets {
        sizes: rows.iter().map(|&row| sets.size(row)).collect(),
        prefixes: Lists::new(prefixes.into_iter()),
        words: Lists::new(words.into_iter()),
        weights: Lists::new(numbers.weights.chunks(64).map(masks)),
        ranks: ranks.len(),
    }
}

fn words(bits: &[u32]) -> Vec<Word> {
    bits.chunk_by(|a, b| a / 64 == b / 64)
        .map(|word| Word {
            index: word[0] / 64,
            bits: word.iter().fold(0, |bits, bit| bits | 1 << (bit % 64)),
        })
        .collect()
}

/// The masks of 64 weights.
fn masks(weights: &[u32]) -> Vec<u64> {
    let most = weights.iter().copied().max().unwrap_or(0).max(1);
    (0..=most.ilog2())
        .map(|power| {
            let mask =
                |mask, (bit, weight): (usize, &u32)| mask | u64::from(weight >> power & 1) << bit;
            weights.iter().enumerate().fold(0, mask)
        })
        .collect()
}

/// Each bundle that more than one set has, with a number: its bit.
struct Numbers {
    /// The number of each bundle, or that it has none.
    of: Vec<u32>,
    /// For each number: how many sets have it, and its weight.
    sets: Vec<u32>,
    weights: Vec<u32>,
}

const NO_NUMBER: u32 = u32::MAX;

impl Numbers {
    /// Bundles are numbered in the order in which they are met. Sets that have much
    /// in common are likely to have their lowest bundle in common: in that order
    /// they stand together, and so do the numbers of their bundles.
    fn new(sets: &BundleSets, rows: &[usize]) -> Self {
        let mut order = rows.to_vec();
        order.par_sort_unstable_by_key(|&row| (sets.bundles(row).first().copied(), row));
        let mut counts = vec![0_u32; sets.weights().len()];
        for &bundle in order.iter().flat_map(|&row| sets.bundles(row)) {
            counts[bundle as usize] += 1;
        }
        let mut numbers = Self {
            of: vec![NO_NUMBER; counts.len()],
            sets: Vec::new(),
            weights: Vec::new(),
        };
        for &bundle in order.iter().flat_map(|&row| sets.bundles(row)) {
            let bundle = bundle as usize;
            if counts[bundle] > 1 && numbers.of[bundle] == NO_NUMBER {
                numbers.of[bundle] = numbers.sets.len() as u32;
                numbers.sets.push(counts[bundle]);
                numbers.weights.push(sets.weights()[bundle]);
            }
        }
        numbers
    }

    /// The rank of each number: the rarest first; among equals, by number.
    fn by_rarity(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.sets.len() as u32).collect();
        order.par_sort_unstable_by_key(|&number| (self.sets[number as usize], number));
        let mut ranks = vec![0; order.len()];
        for (rank, &number) in order.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        ranks
    }

    /// Replaces what `own` holds with the numbers of these bundles.
    fn of_bundles(&self, bundles: &[Bundle], own: &mut Vec<u32>) {
        own.clear();
        let numbers = bundles.iter().map(|&bundle| self.of[bundle as usize]);
        own.extend(numbers.filter(|&number| number != NO_NUMBER));
    }

    /// The bundles of lowest rank, up to where less than `least` is left.
    fn prefix(&self, own: &[u32], ranks: &[u32], least: u32) -> Vec<Item> {
        let weight = |&number: &u32| self.weights[number as usize];
        let all: u32 = own.iter().map(weight).sum();
        if all < least {
            return Vec::new();
        }
        let mut ranked: Vec<(u32, u32)> = own
            .iter()
            .map(|number| (ranks[*number as usize], weight(number)))
            .collect();
        // A prefix is short as a rule: sorting the lowest third is mostly enough.
        let third = ranked.len() / 3;
        if third > 0 {
            ranked.select_nth_unstable(third);
            ranked[..third].sort_unstable();
            let lowest: u32 = ranked[..third].iter().map(|&(_, weight)| weight).sum();
            if all - lowest >= least {
                ranked[third..].sort_unstable();
            }
        } else {
            ranked.sort_unstable();
        }
        let mut rest = all;
        ranked
            .into_iter()
            .map_while(|(rank, weight)| {
                let item = (rest >= least).then_some(Item { rank, rest });
                rest = rest.saturating_sub(weight);
                item
            })
            .collect()
    }
}
