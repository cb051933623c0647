//! Sets as lists of bundles in order of rarity, identical sets only once: the form
//! in which sets are joined.

use hashbrown::HashTable;
use rayon::prelude::*;

use super::identical::{Groups, collapse};
use crate::sets::{Bundle, BundleSets};
use crate::sketch::{Row, combine};

/// A bundle in a set, and what the set has from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The bundle's rank: the rarer, the lower.
    pub rank: u32,
    /// Shingles in it.
    pub weight: u32,
    /// Shingles of the set in this bundle and all that follow.
    pub rest: u32,
}

/// The sets of the groups' first rows.
#[derive(Debug)]
pub struct RankedSets {
    sizes: Vec<u32>,
    items: Vec<Item>,
    /// Where each set starts in `items`, and the end.
    starts: Vec<usize>,
    ranks: usize,
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

    /// The bundles of a set, the rarest first.
    pub fn items(&self, set: usize) -> &[Item] {
        &self.items[self.starts[set]..self.starts[set + 1]]
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
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
            true => sets.bundles(row as usize).iter().fold(0, |hash, bundle| {
                let low = combine(hash, bundle.key as i32);
                combine(low, (bundle.key >> 32) as i32)
            }),
            // Far apart from each other, so that they are not compared.
            false => combine(1, row as i32),
        },
        |Row(a), Row(b)| {
            let (a, b) = (a as usize, b as usize);
            a == b || (shared[a] && shared[b] && sets.bundles(a) == sets.bundles(b))
        },
    )
}

/// Ranks the bundles of the groups' first rows. Bundles that only one of them has
/// are dropped: they match nothing.
pub fn rank(sets: &BundleSets, groups: &Groups) -> RankedSets {
    let rows: Vec<usize> = groups.representatives().map(|row| row.0 as usize).collect();
    let numbers = Numbers::new(sets, &rows);
    let ranks = numbers.by_rarity();
    let per_set: Vec<Vec<Item>> = rows
        .par_iter()
        .map(|&row| numbers.ranked(sets.bundles(row), &ranks.of))
        .collect();
    let mut starts = Vec::with_capacity(rows.len() + 1);
    let mut items = Vec::with_capacity(per_set.iter().map(Vec::len).sum());
    starts.push(0);
    for set in per_set {
        items.extend_from_slice(&set);
        starts.push(items.len());
    }
    RankedSets {
        sizes: rows.iter().map(|&row| sets.size(row)).collect(),
        items,
        starts,
        ranks: ranks.count,
    }
}

/// Each distinct bundle with a number, and how many sets have it.
struct Numbers {
    table: HashTable<(u64, u32)>,
    hasher: ahash::RandomState,
    sets: Vec<u32>,
}

struct Ranks {
    /// The rank of each number; those that one set has come last.
    of: Vec<u32>,
    /// Ranks that more than one set has.
    count: usize,
}

impl Numbers {
    fn new(sets: &BundleSets, rows: &[usize]) -> Self {
        let mut numbers = Self {
            table: HashTable::new(),
            hasher: ahash::RandomState::new(),
            sets: Vec::new(),
        };
        let Self {
            table,
            hasher,
            sets: counts,
        } = &mut numbers;
        for bundle in rows.iter().flat_map(|&row| sets.bundles(row)) {
            let entry = table.entry(
                hasher.hash_one(bundle.key),
                |&(key, _)| key == bundle.key,
                |&(key, _)| hasher.hash_one(key),
            );
            let &(_, number) = entry
                .or_insert_with(|| {
                    counts.push(0);
                    (bundle.key, counts.len() as u32 - 1)
                })
                .get();
            counts[number as usize] += 1;
        }
        numbers
    }

    /// The rarest first; among equals, the first met.
    fn by_rarity(&self) -> Ranks {
        let mut order: Vec<u32> = (0..self.sets.len() as u32).collect();
        let alone = |number: u32| self.sets[number as usize] == 1;
        order.par_sort_unstable_by_key(|&number| {
            (alone(number), self.sets[number as usize], number)
        });
        let mut of = vec![0; order.len()];
        for (rank, &number) in order.iter().enumerate() {
            of[number as usize] = rank as u32;
        }
        let count = order.partition_point(|&number| !alone(number));
        Ranks { of, count }
    }

    fn ranked(&self, bundles: &[Bundle], ranks: &[u32]) -> Vec<Item> {
        let mut items: Vec<Item> = bundles
            .iter()
            .filter_map(|bundle| {
                let hash = self.hasher.hash_one(bundle.key);
                let &(_, number) = self.table.find(hash, |&(key, _)| key == bundle.key)?;
                (self.sets[number as usize] > 1).then(|| Item {
                    rank: ranks[number as usize],
                    weight: bundle.weight,
                    rest: 0,
                })
            })
            .collect();
        items.sort_unstable_by_key(|item| item.rank);
        let mut rest = 0;
        for item in items.iter_mut().rev() {
            rest += item.weight;
            item.rest = rest;
        }
        items
    }
}
