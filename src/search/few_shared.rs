//! Pairs at the threshold that share too few shingles: they are left out, and counted.

use std::sync::atomic::{AtomicU64, Ordering};

use super::PreparedSets;
use crate::collection::{Group, Groups, Scope};
use crate::score::SetBound;

/// Leaves out pairs of groups that share too few shingles, and counts their pairs of documents.
pub(crate) struct FewShared<'a> {
    bound: SetBound,
    scope: &'a Scope,
    groups: &'a Groups,
    left_out: AtomicU64,
}

impl<'a> FewShared<'a> {
    /// Nothing is left out yet but copies of documents that have too few shingles.
    pub(crate) fn new(prepared: &'a PreparedSets, scope: &'a Scope) -> Self {
        let (bound, groups) = (prepared.bound(), &prepared.groups);
        let has_too_few = |group: &Group| {
            let size = prepared.sizes[group.index()];
            size > 0 && !bound.keeps(size)
        };
        let copies = groups.iter().filter(has_too_few);
        let copies = copies.map(|group| scope.pairs_within(groups.members(group)));
        Self {
            bound,
            scope,
            groups,
            left_out: AtomicU64::new(copies.sum()),
        }
    }

    /// Whether two groups that share this many shingles are similar.
    #[inline]
    pub(crate) fn keeps(&self, one: Group, two: Group, shared: u32) -> bool {
        let is_kept = self.bound.keeps(shared);
        if !is_kept {
            let [one, two] = [one, two].map(|group| self.groups.members(group));
            let pairs = self.scope.pairs_between(one, two);
            self.left_out.fetch_add(pairs, Ordering::Relaxed);
        }
        is_kept
    }

    /// Pairs of documents that were left out.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}
