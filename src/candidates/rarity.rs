//! Sets in the form in which they are joined: in order of size, each with its rarest bundles
//! first.

use rayon::prelude::*;

use crate::document::DocumentId;
use crate::score::{PackedSets, SetBound};
use crate::sets::{Bundle, BundleSets, Jagged};

/// A bundle in a set, and what the set has from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The bundle's rank: the rarer, the lower.
    pub(crate) rank: u32,
    /// Shingles of the set in this bundle and in all of higher rank.
    pub(crate) rest: u32,
}

/// Sets in order of size; among equals, of their documents. A set is known by its place.
#[derive(Debug, Default)]
pub(crate) struct SetsByRarity {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// Shingles of each set that are in no bundle.
    alone: Vec<u32>,
    prefixes: Jagged<Item>,
    packed: PackedSets,
    ranks: usize,
}

impl SetsByRarity {
    /// Orders the sets. Of each, those bundles stand in its prefix that every set which is
    /// similar enough, as `bound` has it, and no larger must have one of. Bundles that only
    /// one of the sets has are left out: they match nothing.
    pub(crate) fn new(sets: &BundleSets, bound: SetBound) -> Self {
        let mut order: Vec<u32> = (0..sets.documents.len() as u32).collect();
        order.par_sort_unstable_by_key(|&set| (sets.sizes[set as usize], set));
        let numbers = Numbers::new(sets);
        let ranks = numbers.by_rarity();
        let sizes: Vec<u32> = order.iter().map(|&set| sets.sizes[set as usize]).collect();
        let prefixes = Jagged::made(
            order.len(),
            || (Vec::new(), Vec::new()),
            |(own, ranked), place, prefix| {
                numbers.of_bundles(sets.bundles.get(order[place] as usize), own);
                let least = bound.shared_with_smaller(sizes[place]);
                numbers.prefix(own, &ranks, least, ranked, prefix);
            },
        );
        let packed = PackedSets::new(
            order.len(),
            &numbers.weights,
            || (),
            |(), place, own| numbers.of_bundles(sets.bundles.get(order[place] as usize), own),
        );
        let alone = order
            .par_iter()
            .map(|&set| {
                let bundles = sets.bundles.get(set as usize).iter();
                let is_shared = |bundle: &&Bundle| numbers.of[**bundle as usize] != NO_NUMBER;
                let weight = |bundle: &Bundle| sets.weights[*bundle as usize];
                let shared: u32 = bundles.filter(is_shared).map(weight).sum();
                sets.sizes[set as usize] - shared
            })
            .collect();
        Self {
            documents: order
                .iter()
                .map(|&set| sets.documents[set as usize])
                .collect(),
            sizes,
            alone,
            prefixes,
            packed,
            ranks: ranks.len(),
        }
    }

    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The documents of all sets, by place.
    pub(crate) fn documents(&self) -> &[DocumentId] {
        &self.documents
    }

    /// Shingles in each set, by place.
    pub(crate) fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Shingles of a set that no other has.
    pub(crate) fn alone(&self, place: usize) -> u32 {
        self.alone[place]
    }

    /// The first bundles of a set, the rarest first.
    pub(crate) fn prefix(&self, place: usize) -> &[Item] {
        self.prefixes.get(place)
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bundles of all prefixes, repetitions included.
    pub(crate) fn items(&self) -> usize {
        self.prefixes.all().len()
    }

    /// How many shingles two sets share.
    #[inline]
    pub(crate) fn shared(&self, left: usize, right: usize) -> u32 {
        self.packed.shared(left, right)
    }

    /// Calls `each` with every bundle of a set, by number, and its weight.
    pub(crate) fn for_each_bundle(&self, place: usize, each: impl FnMut(u32, u32)) {
        self.packed.for_each_bundle(place, each);
    }
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
    fn new(sets: &BundleSets) -> Self {
        let mut order: Vec<usize> = (0..sets.documents.len()).collect();
        order.par_sort_unstable_by_key(|&set| (sets.bundles.get(set).first().copied(), set));
        let mut counts = vec![0_u32; sets.weights.len()];
        for &bundle in sets.bundles.all() {
            counts[bundle as usize] += 1;
        }
        let mut numbers = Self {
            of: vec![NO_NUMBER; counts.len()],
            sets: Vec::new(),
            weights: Vec::new(),
        };
        for &bundle in order.iter().flat_map(|&set| sets.bundles.get(set)) {
            let bundle = bundle as usize;
            if counts[bundle] > 1 && numbers.of[bundle] == NO_NUMBER {
                numbers.of[bundle] = numbers.sets.len() as u32;
                numbers.sets.push(counts[bundle]);
                numbers.weights.push(sets.weights[bundle]);
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

    /// Appends the bundles of lowest rank, up to where less than `least` is left. `ranked` is
    /// room to work in.
    fn prefix(
        &self,
        own: &[u32],
        ranks: &[u32],
        least: u32,
        ranked: &mut Vec<(u32, u32)>,
        prefix: &mut Vec<Item>,
    ) {
        let weight = |&number: &u32| self.weights[number as usize];
        let all: u32 = own.iter().map(weight).sum();
        if all < least {
            return;
        }
        ranked.clear();
        let of_number = |number: &u32| (ranks[*number as usize], weight(number));
        ranked.extend(own.iter().map(of_number));
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
        for &(rank, weight) in ranked.iter() {
            if rest < least {
                break;
            }
            prefix.push(Item { rank, rest });
            rest = rest.saturating_sub(weight);
        }
    }
}
