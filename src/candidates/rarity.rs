//! Sets in the form in which they are joined: in order of size, each with its rarest bundles
//! first.

use rayon::prelude::*;

use crate::document::DocumentId;
use crate::error::Error;
use crate::score::{Bits, PackedSets, SetBound};
use crate::sets::{Jagged, Numbers, SummedSets};

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

/// Sets that a thread makes at a time.
const SETS_AT_ONCE: usize = 1 << 8;

/// What a thread makes.
#[derive(Default)]
struct Made {
    alone: Vec<u32>,
    prefixes: Jagged<Item>,
    packed: Jagged<Bits>,
}

impl SetsByRarity {
    /// Orders the sets of those documents that are `wanted`. Of each, those bundles stand in its
    /// prefix that every set which is similar enough, as `bound` has it, and no larger must have
    /// one of. Bundles that only one of the sets has are left out: they match nothing.
    pub(crate) fn new(
        sets: &SummedSets,
        wanted: impl Fn(DocumentId) -> bool + Sync,
        bound: SetBound,
    ) -> Result<Self, Error> {
        let (numbers, mut order) = Numbers::new(sets, wanted)?;
        order.par_sort_unstable_by_key(|&at| (sets.document(at).1, at));
        let ranks = ranks(&numbers);
        let made: Vec<Made> = order
            .par_chunks(SETS_AT_ONCE)
            .map_init(
                || (Vec::new(), Vec::new(), Vec::new()),
                |(buffer, own, ranked), some| {
                    let mut made = Made::default();
                    for &at in some {
                        let set = sets.get(at, buffer)?;
                        own.clear();
                        let in_others = set.bundles.iter().map(|&(sum, _)| numbers.of(sum));
                        own.extend(in_others.filter(|&number| number != Numbers::NONE));
                        let weight = |&number: &u32| numbers.weights[number as usize];
                        let shared: u32 = own.iter().map(weight).sum();
                        made.alone.push(set.size - shared);
                        let least = bound.shared_with_smaller(set.size);
                        ranked.clear();
                        if shared >= least {
                            let of_number = |n: &u32| (ranks[*n as usize], weight(n));
                            ranked.extend(own.iter().map(of_number));
                        }
                        made.prefixes
                            .push(|items| prefix(ranked, shared, least, items));
                        made.packed.push(|packed| PackedSets::pack(own, packed));
                    }
                    Ok(made)
                },
            )
            .collect::<Result<_, Error>>()?;
        let (mut alone, mut prefixes, mut packed) = (Vec::new(), Vec::new(), Vec::new());
        for mut some in made {
            alone.append(&mut some.alone);
            prefixes.push(some.prefixes);
            packed.push(some.packed);
        }
        Ok(Self {
            documents: order.iter().map(|&at| sets.document(at).0).collect(),
            sizes: order.iter().map(|&at| sets.document(at).1).collect(),
            alone,
            prefixes: Jagged::joined(prefixes),
            packed: PackedSets::new(Jagged::joined(packed), &numbers.weights),
            ranks: ranks.len(),
        })
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

/// The rank of each number: the rarest first; among equals, by number.
fn ranks(numbers: &Numbers) -> Vec<u32> {
    let mut order: Vec<u32> = (0..numbers.sets.len() as u32).collect();
    order.par_sort_unstable_by_key(|&number| (numbers.sets[number as usize], number));
    let mut ranks = vec![0; order.len()];
    for (rank, &number) in (0..).zip(&order) {
        ranks[number as usize] = rank;
    }
    ranks
}

/// Appends the bundles of lowest rank, up to where less than `least` is left of `all` shingles.
/// `ranked` has the rank and weight of each bundle.
fn prefix(ranked: &mut [(u32, u32)], all: u32, least: u32, prefix: &mut Vec<Item>) {
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
