//! Who is compared with whom.

use crate::sets::Role;
use std::sync::Arc;

use super::identical::{Group, Groups};
use super::party::{OneParty, Parties};
use super::twins::Twins;
use crate::document::DocumentId;

/// Who is compared with whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) sides: Sides,
    /// Those of one party are not compared; `None` if there are none.
    pub(crate) parties: Option<Arc<Parties>>,
    /// Documents that are on both sides, which are no pairs; `None` if there are none.
    pub(crate) twins: Option<Arc<Twins>>,
}

/// Which side is compared with which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sides {
    /// All with all.
    #[default]
    All,
    /// Those before this document with those from it on.
    Across(DocumentId),
}

impl Sides {
    /// The part that a document has in it.
    fn role(self, document: DocumentId) -> Role {
        match self {
            Self::All => Role::LEFT,
            Self::Across(first) if document < first => Role::LEFT,
            Self::Across(_) => Role::RIGHT,
        }
    }
}

impl Scope {
    /// Whether there are two sides.
    pub(crate) fn is_across(&self) -> bool {
        self.sides != Sides::All
    }

    /// Whether two documents, if they are on sides that are compared, may be a pair; `one` is on
    /// the left, if there are sides.
    #[inline]
    pub(crate) fn admits(&self, one: DocumentId, two: DocumentId) -> bool {
        let parties = self.parties.as_ref();
        let twins = self.twins.as_ref();
        parties.is_none_or(|parties| parties.admits(one, two))
            && twins.is_none_or(|twins| !twins.are(one, two))
    }

    /// Counts the pairs that are compared of one document of each of two groups.
    pub(crate) fn pairs_between(&self, one: &[DocumentId], two: &[DocumentId]) -> u64 {
        match self.sides {
            Sides::All => self.admitted(one, two),
            Sides::Across(first) => {
                let [one, two] = [one, two].map(|members| {
                    members.split_at(members.partition_point(|&member| member < first))
                });
                self.admitted(one.0, two.1) + self.admitted(two.0, one.1)
            }
        }
    }

    /// Counts the pairs that are compared of two documents of a group.
    pub(crate) fn pairs_within(&self, members: &[DocumentId]) -> u64 {
        match self.sides {
            Sides::All => {
                // Each pair is counted from both sides, and each document may be with itself.
                let own = members
                    .iter()
                    .filter(|&&member| self.admits(member, member));
                (self.admitted(members, members) - own.count() as u64) / 2
            }
            Sides::Across(first) => {
                let own = members.partition_point(|&member| member < first);
                self.admitted(&members[..own], &members[own..])
            }
        }
    }

    /// Counts the pairs of one document of either list that may be a pair.
    fn admitted(&self, one: &[DocumentId], two: &[DocumentId]) -> u64 {
        let all = one.len() as u64 * two.len() as u64;
        let parties = self.parties.as_ref();
        let of_one_party = parties.map_or(0, |parties| parties.pairs_of_one(one, two));
        let of_twins = self.twins.as_ref().map_or(0, |twins| {
            let is_in = |other: &DocumentId| two.binary_search(other).is_ok();
            let counts = |&one: &DocumentId| {
                let twin = twins.of(one).filter(is_in);
                twin.is_some_and(|two| parties.is_none_or(|parties| parties.admits(one, two)))
            };
            one.iter().filter(|one| counts(one)).count() as u64
        });
        all - of_one_party - of_twins
    }

    /// The parts that groups have in it.
    pub(crate) fn of_groups(&self, groups: &Groups) -> GroupScope {
        let role = |group| {
            let members = groups.members(group).iter();
            members.fold(Role::NONE, |role, &member| {
                role.and(self.sides.role(member))
            })
        };
        GroupScope {
            roles: self.is_across().then(|| groups.iter().map(role).collect()),
            parties: self.parties_of(groups),
        }
    }

    /// The party of each group, if there are any.
    pub(crate) fn parties_of(&self, groups: &Groups) -> Option<Vec<OneParty>> {
        let parties = self.parties.as_ref()?;
        let of = |group| parties.of_all(groups.members(group));
        Some(groups.iter().map(of).collect())
    }
}

/// Which groups are compared with which.
#[derive(Clone, Debug)]
pub(crate) struct GroupScope {
    /// On which sides each is; `None` if there are none.
    roles: Option<Vec<Role>>,
    /// The party that all of each are of; `None` if there are none.
    parties: Option<Vec<OneParty>>,
}

impl GroupScope {
    /// Of groups that have these parts.
    #[cfg(test)]
    pub(crate) fn of(roles: Vec<Role>) -> Self {
        Self {
            roles: Some(roles),
            parties: None,
        }
    }

    /// The part that a group has.
    pub(crate) fn role(&self, group: Group) -> Role {
        match &self.roles {
            None => Role::LEFT,
            Some(roles) => roles[group.index()],
        }
    }

    /// Whether two groups are compared: false only if no document of the one is compared with
    /// one of the other.
    #[inline]
    pub(crate) fn admits(&self, one: Group, two: Group) -> bool {
        if let Some(parties) = &self.parties
            && !parties[one.index()].admits(parties[two.index()])
        {
            return false;
        }
        match &self.roles {
            None => true,
            Some(roles) => roles[one.index()].and(roles[two.index()]) == Role::BOTH,
        }
    }

    /// Whether any two of these may be compared.
    pub(crate) fn admits_any(&self, groups: &[u32]) -> bool {
        if let (Some(parties), Some(&first)) = (&self.parties, groups.first()) {
            let first = parties[first as usize];
            if !groups
                .iter()
                .any(|&group| parties[group as usize].admits(first))
            {
                return false;
            }
        }
        match &self.roles {
            None => true,
            Some(roles) => {
                let role = |&group: &u32| roles[group as usize];
                groups.iter().map(role).fold(Role::NONE, Role::and) == Role::BOTH
            }
        }
    }

    /// The places in `groups` of those on the side that has fewer: every pair that is compared
    /// has one of them. `None` if that is no help.
    pub(crate) fn fewer(&self, groups: &[u32]) -> Option<Vec<bool>> {
        let roles = self.roles.as_ref()?;
        let on = |side: Role| -> Vec<bool> {
            let is_on = |&group: &u32| roles[group as usize].0 & side.0 != 0;
            groups.iter().map(is_on).collect()
        };
        let count = |places: &Vec<bool>| places.iter().filter(|&&is_on| is_on).count();
        [on(Role::LEFT), on(Role::RIGHT)]
            .into_iter()
            .min_by_key(count)
    }
}
