//! The keepers among some sets, to be asked which of them are similar to another set.

use super::score;
use crate::collection::Group;
use crate::score::Score;
use crate::search::prefix::{Asked, PrefixIndex, Probe};
use crate::search::{LoadedSets, PreparedSets, SearchStats};

pub(super) struct KeeperIndex<'a> {
    prepared: &'a PreparedSets,
    loaded: &'a LoadedSets,
    /// Where the set of each group is among those that are loaded.
    places: Vec<u32>,
    index: PrefixIndex<'a>,
    probe: Probe,
}

impl<'a> KeeperIndex<'a> {
    /// No keeper yet.
    pub(super) fn new(prepared: &'a PreparedSets, loaded: &'a LoadedSets) -> Self {
        Self {
            prepared,
            loaded,
            places: loaded.places(prepared.groups.len()),
            index: PrefixIndex::new(&loaded.sets, prepared.bound(), Asked::Any),
            probe: Probe::new(loaded.sets.len()),
        }
    }

    /// Where its set is, if it is loaded.
    pub(super) fn place(&self, group: Group) -> Option<usize> {
        let place = self.places[group.index()];
        (place != LoadedSets::NOWHERE).then_some(place as usize)
    }

    /// Adds a keeper. If its set is not loaded, it can have no partner.
    pub(super) fn add(&mut self, group: Group) {
        if let Some(place) = self.place(group) {
            self.index.add(place);
        }
    }

    /// Calls `each` with every keeper that is similar to a group.
    pub(super) fn for_each_similar(&mut self, group: Group, mut each: impl FnMut(Group, Score)) {
        let Some(place) = self.place(group) else {
            return;
        };
        let (prepared, loaded) = (self.prepared, self.loaded);
        let found = |other: usize, shared| {
            let other = loaded.groups[other];
            if prepared.bound().keeps(shared) {
                each(other, score(prepared, group, other, shared));
            }
        };
        let set = loaded.sets.get(place);
        self.probe.similar(&self.index, set, |_| true, found);
    }

    /// How the search went.
    pub(super) fn into_stats(self) -> SearchStats {
        self.probe.stats
    }
}
