//! Which sets meet another one at all.
//!
//! Two sets that share enough must share a bundle among the first of both, the rarest first,
//! and so early that what follows is still enough: what the complete join looks for
//! ([`prefix`](super::prefix)). Where many shingles are in many documents, as the short words
//! of Thai are, nearly every document could have a partner by what it shares with all others
//! together, but hardly one meets another like that. The others need no numbers, no index and
//! no comparing.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::collection::{Group, GroupScope, Groups, for_each_bucket};
use crate::error::Error;
use crate::score::SetBound;
use crate::sets::SummedSets;
use crate::settings::Memory;

/// Sets with a bundle up to which each two of them are looked at; more are taken to meet.
const LOOKED_AT_MAX: usize = 64;
/// The part of the memory that first bundles may take; beyond it, all sets are taken to meet.
const MEMORY_SHARE: u64 = 8;

/// A bundle among the first of a set.
#[derive(Clone, Copy)]
struct First {
    sum: u64,
    group: u32,
    /// What the set has from there on.
    rest: u32,
}

/// Tells of those groups that `counts` whether their sets meet another: false only if they do
/// not.
pub(super) fn meets(
    sets: &SummedSets,
    groups: &Groups,
    sizes: &[u32],
    counts: &[bool],
    (bound, scope): (SetBound, &GroupScope),
    memory: &Memory,
) -> Result<Vec<bool>, Error> {
    let most = (memory.bytes / MEMORY_SHARE / size_of::<First>() as u64 / 2).min(1 << 31);
    let mut firsts: Vec<First> = Vec::new();
    let mut is_too_much = false;
    sets.for_each(|set| {
        let Some(group) = groups.of(set.document).filter(|g| counts[g.index()]) else {
            return;
        };
        if groups.first(group) != set.document || is_too_much {
            return;
        }
        let least = bound.shared_with_smaller(sizes[group.index()]);
        let mut rest = set.in_bundles;
        for &(sum, weight) in set.bundles {
            if rest < least {
                break;
            }
            let group = group.0;
            firsts.push(First { sum, group, rest });
            rest -= weight;
        }
        is_too_much = firsts.len() as u64 > most;
    })?;
    if is_too_much {
        return Ok(counts.to_vec());
    }
    let meets: Vec<AtomicBool> = counts.iter().map(|_| AtomicBool::new(false)).collect();
    let is_known = |first: &First| meets[first.group as usize].load(Ordering::Relaxed);
    let tell = |first: &First| meets[first.group as usize].store(true, Ordering::Relaxed);
    let numbers: Vec<u32> = (0..firsts.len() as u32).collect();
    for_each_bucket(
        &numbers,
        |number| {
            let sum = firsts[number as usize].sum;
            sum.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        },
        || (),
        |(), bucket| {
            let of = |number: u32| &firsts[number as usize];
            if bucket.len() > LOOKED_AT_MAX {
                bucket.iter().for_each(|&number| tell(of(number)));
                return;
            }
            for (index, &one) in bucket.iter().enumerate() {
                for &two in &bucket[index + 1..] {
                    let (one, two) = (of(one), of(two));
                    if is_known(one) && is_known(two) {
                        continue;
                    }
                    let [left, right] = [one, two].map(|first| sizes[first.group as usize]);
                    let needed = bound.shared(left, right);
                    if needed <= one.rest.min(two.rest)
                        && scope.admits(Group(one.group), Group(two.group))
                    {
                        tell(one);
                        tell(two);
                    }
                }
            }
        },
        |(), ()| (),
    );
    Ok(meets.into_iter().map(AtomicBool::into_inner).collect())
}
