//! A collection's shingles, ready to be joined: documents without a partner dropped, sets
//! that are the same collapsed, shingles bundled.

use std::sync::OnceLock;

use super::meeting::Meeting;
use super::rarity::SetsByRarity;
use crate::collection::{Collection, Group, Groups, Role, Scope};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::SetBound;
use crate::sets::{BundleSets, Common, Print, ShingleLists, SummedSets, drop_partnerless};

/// The sets of a collection.
pub(crate) struct PreparedSets {
    sets: SummedSets,
    /// Documents with the same set.
    pub(crate) groups: Groups,
    /// Shingles in each group's set. Of a group that is like no other, only whether it is zero
    /// is sure.
    pub(crate) sizes: Vec<u32>,
    /// Whether a group's set can have a partner.
    has_partner: Vec<bool>,
    /// The first group of those that each may be similar to, however many steps away.
    neighbourhoods: Vec<Group>,
    bound: SetBound,
    /// Bundles that may be joined at once.
    bundles_max: u64,
    /// All sets, once they were asked for.
    all: OnceLock<LoadedSets>,
}

/// Bytes that a bundle of a set takes while sets are joined.
const JOINED_BYTES: u64 = 32;

impl PreparedSets {
    /// Prepares the sets of a collection whose shingles are `lists`.
    pub(crate) fn new(collection: &Collection, lists: &ShingleLists) -> Result<Self, Error> {
        let settings = collection.settings();
        let groups = collection.groups();
        let bound = SetBound::new(settings.measure, settings.threshold);
        let memory = settings.memory();
        let common = settings.common.of(collection.urls().len());
        let mut roles = roles(groups, collection.scope(), lists.len());
        if common == Common::Keep {
            drop_partnerless(lists, &mut roles, collection.scope().is_across(), bound)?;
        }
        let copies = |document| match groups.of(document) {
            Some(group) => groups.members(group).len() as u32,
            None => 0,
        };
        let mut sets = SummedSets::new(lists, &roles, copies, common, &memory)?;
        let joined = groups.joined(&same_sets(groups, &sets.take_prints()));
        let mut prepared = Self {
            sizes: joined
                .iter()
                .map(|group| lists.length(joined.first(group)))
                .collect(),
            has_partner: vec![false; joined.len()],
            neighbourhoods: Vec::new(),
            groups: joined,
            sets,
            bound,
            bundles_max: memory.bytes / 2 / JOINED_BYTES,
            all: OnceLock::new(),
        };
        for (document, size) in prepared.sets.sizes() {
            if let Some(group) = prepared.groups.of(document)
                && prepared.groups.first(group) == document
            {
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

    /// Cuts `order` into cells: nothing in one is similar to anything in another. One, as a rule; if
    /// memory is short, as many neighbourhoods as fit into it.
    pub(crate) fn cells(&self, order: &[Group]) -> Vec<Cell> {
        let mut counts = vec![0_u32; self.groups.len()];
        let mut all = 0;
        for (document, bundles) in self.sets.bundle_counts() {
            if let Some(group) = self.groups.of(document).filter(|g| self.has_partner(*g)) {
                counts[group.index()] = bundles;
                all += u64::from(bundles);
            }
        }
        if all <= self.bundles_max {
            let places = (0..order.len() as u32).collect();
            return vec![Cell { runs: vec![places] }];
        }
        let mut bundles = vec![0_u64; self.groups.len()];
        for group in order {
            let root = self.neighbourhoods[group.index()];
            bundles[root.index()] += u64::from(counts[group.index()]);
        }
        let mut cells: Vec<Cell> = Vec::new();
        let mut cell_of = vec![u32::MAX; self.groups.len()];
        // The cell that takes neighbourhoods in, and the bundles that it has; and the bundles that
        // the last run of each cell has.
        let (mut open, mut open_bundles) = (u32::MAX, u64::MAX);
        let mut in_run: Vec<u64> = Vec::new();
        for (place, group) in (0..).zip(order) {
            let root = self.neighbourhoods[group.index()].index();
            if cell_of[root] == u32::MAX {
                let is_new = open_bundles.saturating_add(bundles[root]) > self.bundles_max;
                if is_new {
                    cells.push(Cell::default());
                    in_run.push(0);
                }
                cell_of[root] = match is_new {
                    true => cells.len() as u32 - 1,
                    false => open,
                };
                if is_new && bundles[root] <= self.bundles_max {
                    (open, open_bundles) = (cell_of[root], 0);
                }
                open_bundles = open_bundles.saturating_add(match cell_of[root] == open {
                    true => bundles[root],
                    false => 0,
                });
            }
            let number = cell_of[root] as usize;
            let own = u64::from(counts[group.index()]);
            let cell = &mut cells[number];
            let is_too_large = bundles[root] > self.bundles_max;
            if cell.runs.is_empty() || (is_too_large && in_run[number] + own > self.bundles_max / 2)
            {
                cell.runs.push(Vec::new());
                in_run[number] = 0;
            }
            in_run[number] += own;
            if let Some(run) = cell.runs.last_mut() {
                run.push(place);
            }
        }
        cells
    }

    /// The sets of all groups.
    pub(crate) fn load_all(&self) -> Result<&LoadedSets, Error> {
        if self.all.get().is_none() {
            let _ = self.all.set(self.load(|_| true)?);
        }
        Ok(self.all.get_or_init(LoadedSets::default))
    }

    /// The sets of those groups that are `wanted`.
    pub(crate) fn load(&self, wanted: impl Fn(Group) -> bool + Sync) -> Result<LoadedSets, Error> {
        let is_wanted = |document: DocumentId| {
            self.groups.of(document).is_some_and(|group| {
                self.has_partner(group) && self.groups.first(group) == document && wanted(group)
            })
        };
        let sets = SetsByRarity::new(&BundleSets::load(&self.sets, is_wanted)?, self.bound);
        // All of them are in a group.
        let group = |&document: &DocumentId| self.groups.of(document).unwrap_or(Group(0));
        Ok(LoadedSets {
            groups: sets.documents().iter().map(group).collect(),
            sets,
        })
    }
}

/// Groups that are joined with each other, and with no others.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// The places in the order of some of them. If they are too many for the memory, several
    /// runs, every two of which must be joined.
    pub(crate) runs: Vec<Vec<u32>>,
}

/// Sets in memory, ready to be joined.
#[derive(Default)]
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
fn roles(groups: &Groups, scope: Scope, documents: usize) -> Vec<Role> {
    let scope = scope.of_groups(groups);
    let mut roles = vec![Role::NONE; documents];
    for group in groups.iter() {
        roles[groups.first(group).index()] = scope.role(group);
    }
    roles
}

/// For each group, the first one that has the same set.
fn same_sets(groups: &Groups, prints: &[(DocumentId, Print)]) -> Vec<Group> {
    let mut same_as: Vec<Group> = groups.iter().collect();
    let mut firsts = std::collections::HashMap::<Print, Group, ahash::RandomState>::default();
    for (document, print) in prints {
        if let Some(group) = groups.of(*document) {
            same_as[group.index()] = *firsts.entry(*print).or_insert(group);
        }
    }
    same_as
}
