//! Which sets meet, and so what must be joined together.
//!
//! Two sets that share enough must share a bundle among the first of both, the rarest first,
//! and so early that what follows is still enough: what the complete join looks for
//! ([`prefix`](super::prefix)). Where many shingles are in many documents, as the short words
//! of Thai are, nearly every document could have a partner by what it shares with all others
//! together, but hardly one meets another like that. The others need no numbers, no index and
//! no comparing. And those that do meet fall apart into many neighbourhoods, as a rule, none of
//! which needs to be in memory together with another.

use crate::collection::Components;
use crate::collection::{Group, GroupScope, Groups, for_each_bucket};
use crate::error::Error;
use crate::memory::Memory;
use crate::score::SetBound;
use crate::sets::SummedSets;

/// Sets with a bundle up to which each two of them are looked at. Of more, those of similar sizes
/// are taken to meet.
const LOOKED_AT_MAX: usize = 64;
/// The part of the memory that first bundles may take at a time, and bytes of each while they
/// are put together.
const MEMORY_SHARE: u64 = 8;
const FIRST_BYTES: u64 = 32;

/// A bundle among the first of a set.
#[derive(Clone, Copy)]
struct First {
    sum: u64,
    group: u32,
    /// What the set has from there on.
    rest: u32,
}

/// Joins those groups whose sets meet, of those that count.
pub(super) struct Meeting<'a> {
    pub(super) sets: &'a SummedSets,
    pub(super) groups: &'a Groups,
    pub(super) sizes: &'a [u32],
    pub(super) counts: &'a [bool],
    pub(super) bound: SetBound,
    pub(super) scope: &'a GroupScope,
}

impl Meeting<'_> {
    /// The neighbourhoods: two sets that share enough are in the same.
    pub(super) fn components(&self, memory: &Memory) -> Result<Components, Error> {
        let components = Components::new(self.groups.len());
        let mut all = 0;
        self.for_each_first(|_| all += 1)?;
        let rounds = (all * FIRST_BYTES)
            .div_ceil((memory.bytes / MEMORY_SHARE).max(1))
            .next_power_of_two();
        let key = |first: &First| first.sum.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // By bits that are not the highest: those tell the bucket.
        let round_of = |first: &First| key(first) >> 16 & (rounds - 1);
        let mut firsts: Vec<First> = Vec::with_capacity((all / rounds) as usize);
        for round in 0..rounds {
            firsts.clear();
            self.for_each_first(|first| {
                if round_of(&first) == round {
                    firsts.push(first);
                }
            })?;
            let numbers: Vec<u32> = (0..firsts.len() as u32).collect();
            for_each_bucket(
                &numbers,
                |number| key(&firsts[number as usize]),
                Vec::new,
                |own: &mut Vec<First>, bucket| {
                    own.clear();
                    own.extend(bucket.iter().map(|&number| firsts[number as usize]));
                    self.join(own, &components);
                },
                |one, _| one,
                |_| {},
            );
        }
        Ok(components)
    }

    fn for_each_first(&self, mut each: impl FnMut(First)) -> Result<(), Error> {
        self.sets.for_each(|set| {
            let Some(group) = self.groups.of(set.document) else {
                return;
            };
            if !self.counts[group.index()] || self.groups.first(group) != set.document {
                return;
            }
            let least = self.bound.shared_with_smaller(self.sizes[group.index()]);
            let mut rest = set.in_bundles;
            for &(sum, weight) in set.bundles {
                if rest < least {
                    break;
                }
                let group = group.0;
                each(First { sum, group, rest });
                rest -= weight;
            }
        })
    }

    /// Joins what meets of sets that have a bundle.
    fn join(&self, firsts: &mut [First], components: &Components) {
        let size = |first: &First| self.sizes[first.group as usize];
        let are_alike = |one: &First, two: &First| {
            self.bound.shared(size(one), size(two)) <= one.rest.min(two.rest)
        };
        if firsts.len() > LOOKED_AT_MAX {
            // If two are of similar sizes, so are all between them.
            firsts.sort_unstable_by_key(|first| (size(first), first.group));
            for two in firsts.windows(2) {
                let [left, right] = [size(&two[0]), size(&two[1])];
                if self.bound.shared(left, right) <= left.min(right) {
                    components.join(two[0].group, two[1].group);
                }
            }
            return;
        }
        for (index, one) in firsts.iter().enumerate() {
            for two in &firsts[index + 1..] {
                if components.find(one.group) != components.find(two.group)
                    && are_alike(one, two)
                    && self.scope.admits(Group(one.group), Group(two.group))
                {
                    components.join(one.group, two.group);
                }
            }
        }
    }
}
