//! Sets in the form in which they are joined: in order of size, each with its rarest bundles
//! first.

use rayon::prelude::*;

use crate::document::DocumentId;
use crate::error::Error;
use crate::score::SetBound;
use crate::search::overlap::{Bits, PackedSets};
use crate::sets::{Jagged, Numbers, SummedSet, SummedSets};

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
    /// one of. With a `sets_min` of 2, bundles that only one of the sets has are left out: they
    /// match nothing, unless other sets are held against these.
    pub(crate) fn new(
        sets: &SummedSets,
        wanted: impl Fn(DocumentId) -> bool + Sync,
        sets_min: u32,
        bound: SetBound,
    ) -> Result<(Self, Ranking), Error> {
        let (numbers, mut order) = Numbers::new(sets, wanted, sets_min)?;
        order.par_sort_unstable_by_key(|&at| (sets.document(at).1, at));
        let ranking = Ranking::new(numbers, bound);
        let made: Vec<Made> = order
            .par_chunks(SETS_AT_ONCE)
            .map_init(
                || (Vec::new(), RankedSet::default()),
                |(buffer, ranked), some| {
                    let mut made = Made::default();
                    for &at in some {
                        ranking.rank(&sets.get(at, buffer)?, ranked);
                        made.alone.push(ranked.alone);
                        made.prefixes
                            .push(|items| items.extend_from_slice(&ranked.prefix));
                        made.packed
                            .push(|packed| packed.extend_from_slice(&ranked.packed));
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
        let sets = Self {
            documents: order.iter().map(|&at| sets.document(at).0).collect(),
            sizes: order.iter().map(|&at| sets.document(at).1).collect(),
            alone,
            prefixes: Jagged::joined(prefixes),
            packed: PackedSets::new(Jagged::joined(packed), &ranking.numbers.weights),
            ranks: ranking.ranks.len(),
        };
        Ok((sets, ranking))
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

    /// A set, to be held against others.
    pub(crate) fn get(&self, place: usize) -> Ranked<'_> {
        Ranked {
            size: self.sizes[place],
            prefix: self.prefix(place),
            packed: self.packed.get(place),
        }
    }

    /// How many shingles a set shares with the one at `place`, if they are at least so many.
    #[inline]
    pub(crate) fn shared_at_least(
        &self,
        left: Ranked<'_>,
        place: usize,
        least: u32,
    ) -> Option<u32> {
        self.packed.shared_at_least(left.packed, place, least)
    }

    /// Calls `each` with every bundle of a set, by number, and its weight.
    pub(crate) fn for_each_bundle(&self, place: usize, each: impl FnMut(u32, u32)) {
        self.packed.for_each_bundle(place, each);
    }
}

/// A set in the form in which it is held against others.
#[derive(Clone, Copy)]
pub(crate) struct Ranked<'a> {
    pub(crate) size: u32,
    /// Its first bundles, the rarest first.
    pub(crate) prefix: &'a [Item],
    packed: &'a [Bits],
}

/// A set by itself in that form, with room to make it.
#[derive(Default)]
pub(crate) struct RankedSet {
    size: u32,
    /// Shingles that are in no bundle that has a number.
    alone: u32,
    prefix: Vec<Item>,
    packed: Vec<Bits>,
    numbers: Vec<u32>,
    ranked: Vec<(u32, u32)>,
}

impl RankedSet {
    pub(crate) fn get(&self) -> Ranked<'_> {
        Ranked {
            size: self.size,
            prefix: &self.prefix,
            packed: &self.packed,
        }
    }
}

/// How bundles are ranked.
pub(crate) struct Ranking {
    numbers: Numbers,
    /// The rank of each number: the rarest first; among equals, by number.
    ranks: Vec<u32>,
    bound: SetBound,
}

impl Ranking {
    fn new(numbers: Numbers, bound: SetBound) -> Self {
        let mut order: Vec<u32> = (0..numbers.sets.len() as u32).collect();
        order.par_sort_unstable_by_key(|&number| (numbers.sets[number as usize], number));
        let mut ranks = vec![0; order.len()];
        for (rank, &number) in (0..).zip(&order) {
            ranks[number as usize] = rank;
        }
        Self {
            numbers,
            ranks,
            bound,
        }
    }

    /// Ranks a set.
    pub(crate) fn rank(&self, set: &SummedSet<'_>, made: &mut RankedSet) {
        made.numbers.clear();
        let numbers = set.bundles.iter().map(|&(sum, _)| self.numbers.of(sum));
        made.numbers
            .extend(numbers.filter(|&number| number != Numbers::NONE));
        let weight = |&number: &u32| self.numbers.weights[number as usize];
        let shared: u32 = made.numbers.iter().map(weight).sum();
        made.size = set.size;
        made.alone = set.size - shared;
        made.prefix.clear();
        made.ranked.clear();
        let least = self.bound.shared_with_smaller(set.size);
        if shared >= least {
            let ranked = |number: &u32| (self.ranks[*number as usize], weight(number));
            made.ranked.extend(made.numbers.iter().map(ranked));
            prefix(&mut made.ranked, shared, least, &mut made.prefix);
        }
        made.packed.clear();
        PackedSets::pack(&mut made.numbers, &self.numbers.weights, &mut made.packed);
    }
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
