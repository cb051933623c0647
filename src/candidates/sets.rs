//! A collection's shingles, ready to be joined: documents without a partner dropped, sets
//! that are the same collapsed, shingles bundled.

use std::ops::Range;
use std::sync::OnceLock;

use super::meeting::meets;
use super::rarity::SetsByRarity;
use crate::collection::{Collection, Group, Groups, Role, Scope};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::SetBound;
use crate::sets::{Common, Print, ShingleLists, SummedSets, drop_partnerless};

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
    bound: SetBound,
    /// Bundles that may be joined at once.
    bundles_max: u64,
    /// All sets, once they were asked for.
    all: OnceLock<LoadedSets>,
}

/// Bytes that a bundle of a set takes while sets are joined.
const JOINED_BYTES: u64 = 48;

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
        let joined = groups.joined(&same_sets(groups, sets.prints()));
        sets.forget_prints();
        let mut prepared = Self {
            sizes: joined
                .iter()
                .map(|group| lists.length(joined.first(group)))
                .collect(),
            has_partner: vec![false; joined.len()],
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
        prepared.has_partner = meets(
            &prepared.sets,
            &prepared.groups,
            &prepared.sizes,
            &prepared.has_partner,
            (bound, &collection.scope().of_groups(&prepared.groups)),
            &memory,
        )?;
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

    /// Cuts `order` into runs whose sets can be joined with those of another run within the
    /// memory: one, as a rule.
    pub(crate) fn runs(&self, order: &[Group]) -> Vec<Range<usize>> {
        let mut counts = vec![0_u32; self.groups.len()];
        let mut all = 0;
        for (document, bundles) in self.sets.bundle_counts() {
            if let Some(group) = self.groups.of(document) {
                counts[group.index()] = bundles;
                all += u64::from(bundles);
            }
        }
        if all <= self.bundles_max {
            return std::iter::once(0..order.len()).collect();
        }
        let mut runs = Vec::new();
        let (mut start, mut sum) = (0, 0);
        for (place, group) in order.iter().enumerate() {
            let own = u64::from(counts[group.index()]);
            if place > start && sum + own > self.bundles_max / 2 {
                runs.push(start..place);
                (start, sum) = (place, 0);
            }
            sum += own;
        }
        runs.push(start..order.len());
        runs
    }

    /// The sets of all groups.
    pub(crate) fn load_all(&self) -> Result<&LoadedSets, Error> {
        if self.all.get().is_none() {
            let _ = self.all.set(self.load(|_| true)?);
        }
        Ok(self.all.get_or_init(LoadedSets::default))
    }

    /// The sets of those groups that are `wanted`.
    pub(crate) fn load(&self, wanted: impl Fn(Group) -> bool) -> Result<LoadedSets, Error> {
        let is_wanted = |document: DocumentId| {
            self.groups.of(document).is_some_and(|group| {
                self.has_partner(group) && self.groups.first(group) == document && wanted(group)
            })
        };
        let sets = SetsByRarity::new(&self.sets.numbered(is_wanted)?, self.bound);
        // All of them are in a group.
        let group = |&document: &DocumentId| self.groups.of(document).unwrap_or(Group(0));
        Ok(LoadedSets {
            groups: sets.documents().iter().map(group).collect(),
            sets,
        })
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
fn roles(groups: &Groups, scope: &Scope, documents: usize) -> Vec<Role> {
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
