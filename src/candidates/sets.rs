//! A collection's shingles, ready to be joined: documents without a partner dropped, sets
//! that are the same collapsed, shingles bundled.

use std::sync::OnceLock;

use super::meeting::Meeting;
use super::rarity::SetsByRarity;
use crate::collection::{Collection, Group, Groups, Role, Scope};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::SetBound;
use crate::sets::{Common, Print, ShingleLists, SummedSets, drop_partnerless};
use crate::settings::Memory;

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
    memory: Memory,
    /// All sets, once they were asked for.
    all: OnceLock<LoadedSets>,
}

/// The part of the memory that sets may take while they are joined; bytes that a bundle of a set
/// takes then, and that a bundle takes by itself.
const MEMORY_SHARE: u64 = 2;
const BUNDLE_BYTES: u64 = 12;
const DISTINCT_BUNDLE_BYTES: u64 = 72;

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
            memory: memory.clone(),
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
    /// memory is short, as many neighbourhoods to a cell as fit into it.
    pub(crate) fn cells(&self, order: &[Group]) -> Vec<Cell> {
        // Of each group; then of all that a group stands for.
        let mut bundles = vec![0_u64; self.groups.len()];
        for (document, count) in self.sets.bundle_counts() {
            if let Some(group) = self.groups.of(document).filter(|g| self.has_partner(*g)) {
                bundles[group.index()] = u64::from(count);
            }
        }
        let all: u64 = bundles.iter().sum();
        let distinct = self.sets.distinct_max().min(all);
        let bytes = all * BUNDLE_BYTES + distinct * DISTINCT_BUNDLE_BYTES;
        let cells = bytes.div_ceil((self.memory.bytes / MEMORY_SHARE).max(1));
        if cells <= 1 {
            let places = (0..order.len() as u32).collect();
            return vec![Cell { runs: vec![places] }];
        }
        let most = all / cells;
        let mut of_neighbourhoods = vec![0_u64; self.groups.len()];
        for group in order {
            of_neighbourhoods[self.neighbourhoods[group.index()].index()] += bundles[group.index()];
        }
        let mut cells = Cells {
            most,
            cells: Vec::new(),
            open: None,
            cell_of: vec![u32::MAX; self.groups.len()],
        };
        for (place, group) in (0..).zip(order) {
            let neighbourhood = self.neighbourhoods[group.index()].index();
            let cell = cells.of(neighbourhood, of_neighbourhoods[neighbourhood]);
            cell.push(place, bundles[group.index()], most);
        }
        cells.cells.into_iter().map(|filled| filled.cell).collect()
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
        let sets = SetsByRarity::new(&self.sets, is_wanted, self.bound)?;
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

/// Cells while they are filled.
struct Cells {
    /// Bundles that may be in a cell.
    most: u64,
    cells: Vec<Filled>,
    /// The cell that takes neighbourhoods in.
    open: Option<usize>,
    /// The cell of each neighbourhood.
    cell_of: Vec<u32>,
}

/// A cell, with the bundles of its neighbourhoods, and of its last run.
#[derive(Default)]
struct Filled {
    cell: Cell,
    bundles: u64,
    in_run: u64,
}

impl Cells {
    /// The cell of a neighbourhood that has so many bundles.
    fn of(&mut self, neighbourhood: usize, bundles: u64) -> &mut Filled {
        if self.cell_of[neighbourhood] == u32::MAX {
            let open = self
                .open
                .filter(|&open| self.cells[open].bundles + bundles <= self.most);
            let cell = open.unwrap_or(self.cells.len());
            if open.is_none() {
                self.cells.push(Filled::default());
                if bundles <= self.most {
                    self.open = Some(cell);
                }
            }
            self.cells[cell].bundles += bundles;
            self.cell_of[neighbourhood] = cell as u32;
        }
        &mut self.cells[self.cell_of[neighbourhood] as usize]
    }
}

impl Filled {
    /// Adds a group that has so many bundles. Two runs may have `most` together.
    fn push(&mut self, place: u32, bundles: u64, most: u64) {
        let is_full = self.bundles > most && self.in_run + bundles > most / 2;
        match self.cell.runs.last_mut().filter(|_| !is_full) {
            Some(run) => run.push(place),
            None => {
                self.cell.runs.push(vec![place]);
                self.in_run = 0;
            }
        }
        self.in_run += bundles;
    }
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
