//! A collection's shingles, ready to be joined: documents without a partner dropped, sets
//! that are the same collapsed, shingles bundled.

use rayon::prelude::*;

use super::blocks::{Cell, OtherSets, cells};
use super::meeting::Meeting;
use super::rarity::{Ranking, SetsByRarity};
use crate::collection::{Collection, Group, Groups, Scope};
use crate::document::DocumentId;
use crate::error::Error;
use crate::memory::Memory;
use crate::observer::{Expected, Observer, Phase, WorkCount};
use crate::score::SetBound;
use crate::sets::Role;
use crate::sets::{
    Common, ListPlaces, Print, SetAt, ShingleLists, SummedSet, SummedSets, drop_partnerless,
};

/// The sets of a collection.
pub(crate) struct PreparedSets {
    sets: SummedSets,
    /// Documents with the same set.
    pub(crate) groups: Groups,
    /// Shingles in each group's set. For a group that is like no other, repeated shingles may count
    /// several times, unless [`Self::count_copies`] has counted them.
    pub(crate) sizes: Vec<u32>,
    /// Where the set of each group is that can have a partner.
    places: Vec<SetAt>,
    has_partner: Vec<bool>,
    /// The first group of those that each may be similar to, however many steps away.
    neighbourhoods: Vec<Group>,
    bound: SetBound,
    memory: Memory,
}

impl PreparedSets {
    /// Prepares the sets of a collection whose shingles are `lists`.
    pub(crate) fn new(
        collection: &Collection,
        lists: &ShingleLists,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let settings = collection.settings();
        let groups = collection.groups();
        let bound = settings.bound();
        let memory = settings.memory();
        let common = settings.common.of(collection.compared());
        let mut roles = roles(groups, collection.scope(), lists.len());
        if common == Common::Keep {
            drop_partnerless(lists, &mut roles, collection.scope().is_across(), bound)?;
        }
        let copies = |document| match groups.of(document) {
            Some(group) => groups.members(group).len() as u32,
            None => 0,
        };
        let mut sets = {
            let documents = roles.iter().filter(|role| **role != Role::NONE).count();
            let expected = Expected::Preparation(documents as u64);
            let count = WorkCount::new(observer, expected, SummedSets::WORK);
            SummedSets::new(lists, &roles, copies, common, (&memory, &count))?
        };
        // From here on it is comparing: how much there is to compare is told once it is known.
        observer.phase(Phase::Comparing);
        let joined = groups.joined(&same_sets(groups, sets.take_prints()));
        let mut prepared = Self {
            sizes: joined
                .iter()
                .map(|group| lists.length(joined.first(group)))
                .collect(),
            places: vec![SetAt::default(); joined.len()],
            has_partner: vec![false; joined.len()],
            neighbourhoods: Vec::new(),
            groups: joined,
            sets,
            bound,
            memory: memory.clone(),
        };
        for at in prepared.sets.places() {
            let (document, size) = prepared.sets.document(at);
            if let Some(group) = prepared.groups.of(document)
                && prepared.groups.first(group) == document
            {
                prepared.places[group.index()] = at;
                prepared.sizes[group.index()] = size;
                prepared.has_partner[group.index()] = size > 0;
            }
        }
        let meeting = Meeting {
            sets: &prepared.sets,
            groups: &prepared.groups,
            sizes: &prepared.sizes,
            counts: &prepared.has_partner,
            bound,
            scope: &collection.scope().of_groups(&prepared.groups),
        };
        let components = meeting.components(&memory)?;
        prepared.neighbourhoods = prepared
            .groups
            .iter()
            .map(|group| Group(components.find(group.0)))
            .collect();
        let mut is_alone = vec![true; prepared.groups.len()];
        for (group, root) in prepared.groups.iter().zip(&prepared.neighbourhoods) {
            if *root != group {
                is_alone[root.index()] = false;
                is_alone[group.index()] = false;
            }
        }
        for (has_partner, is_alone) in prepared.has_partner.iter_mut().zip(is_alone) {
            *has_partner &= !is_alone;
        }
        Ok(prepared)
    }

    /// Counts the shingles of copies that are like no other document: these have no set.
    pub(crate) fn count_copies(&mut self, lists: &ShingleLists) -> Result<(), Error> {
        let mut is_uncounted = vec![true; self.groups.len()];
        for at in self.sets.places() {
            let (document, _) = self.sets.document(at);
            if let Some(group) = self.groups.of(document) {
                is_uncounted[group.index()] = false;
            }
        }
        let is_copied = |group: &Group| self.groups.members(*group).len() > 1;
        let groups = self.groups.iter();
        let groups: Vec<Group> = groups
            .filter(|group| is_uncounted[group.index()] && is_copied(group))
            .collect();
        if groups.is_empty() {
            return Ok(());
        }
        let places = ListPlaces::new(lists)?;
        let counted = groups.par_iter().map_init(Vec::new, |shingles, &group| {
            places.shingles(self.groups.first(group), shingles)?;
            shingles.sort_unstable();
            shingles.dedup();
            Ok(shingles.len() as u32)
        });
        let counted: Vec<u32> = counted.collect::<Result<_, Error>>()?;
        for (group, size) in groups.into_iter().zip(counted) {
            self.sizes[group.index()] = size;
        }
        Ok(())
    }

    /// Whether a group's documents have shingles enough to be in a pair.
    pub(crate) fn can_be_paired(&self, group: Group) -> bool {
        self.bound.keeps(self.sizes[group.index()])
    }

    /// What two sets must share.
    pub(crate) fn bound(&self) -> SetBound {
        self.bound
    }

    /// Groups whose sets can have a partner.
    pub(crate) fn with_partner(&self) -> impl Iterator<Item = Group> {
        self.groups.iter().filter(|group| self.has_partner(*group))
    }

    /// Whether a group's set can have a partner.
    pub(crate) fn has_partner(&self, group: Group) -> bool {
        self.has_partner[group.index()]
    }

    /// Bundles of each group, of those that can have a partner.
    pub(super) fn bundle_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.groups.len()];
        for (document, count) in self.sets.bundle_counts() {
            if let Some(group) = self.with_set(document) {
                counts[group.index()] = count;
            }
        }
        counts
    }

    /// No less than the number of different bundles.
    pub(super) fn distinct_bundles_max(&self) -> u64 {
        self.sets.distinct_max()
    }

    /// The first of all groups that a group may be similar to, however many steps away.
    pub(super) fn neighbourhood(&self, group: Group) -> Group {
        self.neighbourhoods[group.index()]
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The group whose set a document's is, if it can have a partner.
    fn with_set(&self, document: DocumentId) -> Option<Group> {
        let group = self.groups.of(document)?;
        (self.has_partner(group) && self.groups.first(group) == document).then_some(group)
    }

    /// Number of stretches that sets are in.
    pub(super) fn stretches(&self) -> usize {
        self.sets.stretches().len()
    }

    /// Calls `each` with every group whose set is in a stretch, and its set.
    pub(super) fn for_each_of(
        &self,
        stretch: usize,
        buffer: &mut Vec<(u64, u32)>,
        mut each: impl FnMut(Group, SummedSet<'_>),
    ) -> Result<(), Error> {
        self.sets.for_each_of(stretch, buffer, |_, set| {
            if let Some(group) = self.with_set(set.document) {
                each(group, set);
            }
        })
    }

    /// How many shingles the sets of two groups share that can have a partner.
    pub(crate) fn shared(&self, one: Group, two: Group) -> Result<u32, Error> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let left = self.sets.get(self.places[one.index()], &mut left)?.bundles;
        let right = self.sets.get(self.places[two.index()], &mut right)?.bundles;
        let (mut i, mut j) = (0, 0);
        let mut shared = 0;
        while i < left.len() && j < right.len() {
            let ((a, weight), (b, _)) = (left[i], right[j]);
            shared += weight * u32::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        Ok(shared)
    }

    /// Whether all that must be in memory together fits into it.
    pub(crate) fn fits(&self) -> bool {
        let order: Vec<Group> = self.with_partner().collect();
        let cells = cells(self, &order);
        cells.iter().all(|cell| cell.blocks.len() == 1)
    }

    /// If all fits, calls `each` with sets that are similar to no others, and the places of
    /// their groups in `order`, until there are no more.
    pub(crate) fn for_each_cell(
        &self,
        order: &[Group],
        mut each: impl FnMut(&LoadedSets, &[u32]),
    ) -> Result<(), Error> {
        let mut is_in = vec![false; self.groups.len()];
        for places in cells(self, order).iter().flat_map(|cell| &cell.blocks) {
            let groups = || places.iter().map(|&place| order[place as usize]);
            groups().for_each(|group| is_in[group.index()] = true);
            let (loaded, _) = self.load(&is_in, 2)?;
            each(&loaded, places);
            groups().for_each(|group| is_in[group.index()] = false);
        }
        Ok(())
    }

    /// Calls `each` with the sets of a block, and those that must be held against it, until there
    /// are no more.
    pub(super) fn for_each_block(
        &self,
        order: &[Group],
        observer: &dyn Observer,
        mut each: impl FnMut(&LoadedSets, Option<OtherSets<'_>>, &WorkCount<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut is_in = vec![false; self.groups.len()];
        let mut is_other = vec![false; self.groups.len()];
        let cells = cells(self, order);
        let work = cells.iter().map(Cell::work).sum();
        let count = WorkCount::new(observer, Expected::Documents(order.len() as u64), work);
        for cell in cells {
            let groups = |places: &[u32]| -> Vec<Group> {
                places.iter().map(|&place| order[place as usize]).collect()
            };
            for group in groups(&cell.blocks.concat()) {
                is_other[group.index()] = true;
            }
            for (number, places) in cell.blocks.iter().enumerate() {
                for group in groups(places) {
                    is_in[group.index()] = true;
                    is_other[group.index()] = false;
                }
                let is_last = number + 1 == cell.blocks.len();
                let (block, ranking) = self.load(&is_in, if is_last { 2 } else { 1 })?;
                let others = OtherSets {
                    prepared: self,
                    block: &block,
                    ranking: &ranking,
                    is_other: &is_other,
                };
                each(&block, (!is_last).then_some(others), &count)?;
                for group in groups(places) {
                    is_in[group.index()] = false;
                }
            }
        }
        Ok(())
    }

    /// The sets of those groups that are wanted, with the bundles that at least so many of them
    /// have.
    fn load(&self, is_wanted: &[bool], sets_min: u32) -> Result<(LoadedSets, Ranking), Error> {
        let is_wanted = |document: DocumentId| {
            let group = self.with_set(document);
            group.is_some_and(|group| is_wanted[group.index()])
        };
        let (sets, ranking) = SetsByRarity::new(&self.sets, is_wanted, sets_min, self.bound)?;
        // All of them are in a group.
        let group = |&document: &DocumentId| self.groups.of(document).unwrap_or(Group(0));
        let groups = sets.documents().iter().map(group).collect();
        Ok((LoadedSets { sets, groups }, ranking))
    }
}

/// Sets in memory, ready to be joined.
pub(crate) struct LoadedSets {
    pub(crate) sets: SetsByRarity,
    /// The group of each set, by place.
    pub(crate) groups: Vec<Group>,
}

impl LoadedSets {
    /// The place of each group's set, of so many groups.
    pub(crate) fn places(&self, groups: usize) -> Vec<u32> {
        let mut places = vec![Self::NOWHERE; groups];
        for (place, group) in (0..).zip(&self.groups) {
            places[group.index()] = place;
        }
        places
    }

    /// Stands for the place of a group whose set is not among these.
    pub(crate) const NOWHERE: u32 = u32::MAX;
}

/// The first document of each group has the part that its group has; the others have none.
fn roles(groups: &Groups, scope: &Scope, documents: usize) -> Vec<Role> {
    let scope = scope.of_groups(groups);
    let mut roles = vec![Role::NONE; documents];
    for group in groups.iter() {
        roles[groups.first(group).index()] = scope.role(group);
    }
    roles
}

/// For each group, the first one that has the same set.
fn same_sets(groups: &Groups, mut prints: Vec<(Print, DocumentId)>) -> Vec<Group> {
    let mut same_as: Vec<Group> = groups.iter().collect();
    prints.par_sort_unstable();
    for same in prints.chunk_by(|one, two| one.0 == two.0) {
        let mut own = same.iter().filter_map(|&(_, document)| groups.of(document));
        if let Some(first) = own.next() {
            own.for_each(|group| same_as[group.index()] = first);
        }
    }
    same_as
}
