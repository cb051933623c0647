//! Who is compared with whom.

use super::identical::{Group, Groups};
use crate::document::DocumentId;

/// Who is compared with whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All with all.
    #[default]
    All,
    /// Those before this document with those from it on.
    Across(DocumentId),
}

impl Scope {
    /// The part that a document has in it.
    pub(crate) fn role(self, document: DocumentId) -> Role {
        match self {
            Self::All => Role::LEFT,
            Self::Across(first) if document < first => Role::LEFT,
            Self::Across(_) => Role::RIGHT,
        }
    }

    /// Whether some are not compared.
    pub(crate) fn is_across(self) -> bool {
        self != Self::All
    }

    /// The parts that groups have in it.
    pub(crate) fn of_groups(self, groups: &Groups) -> GroupScope {
        if self == Self::All {
            return GroupScope { roles: None };
        }
        let role = |group| {
            let members = groups.members(group).iter();
            members.fold(Role::NONE, |role, &member| role.and(self.role(member)))
        };
        GroupScope {
            roles: Some(groups.iter().map(role).collect()),
        }
    }
}

/// On which side of a comparison something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Role(pub(crate) u8);

impl Role {
    /// It is not compared at all.
    pub(crate) const NONE: Self = Self(0);
    /// On the left, or anywhere if all are compared with all.
    pub(crate) const LEFT: Self = Self(1);
    /// On the right.
    pub(crate) const RIGHT: Self = Self(2);
    const BOTH: Self = Self(3);

    /// Of what has both roles.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that it is compared with.
    pub(crate) fn others(self) -> Self {
        match self {
            Self::LEFT => Self::RIGHT,
            Self::RIGHT => Self::LEFT,
            both => both,
        }
    }
}

/// Which groups are compared with which.
#[derive(Clone, Debug)]
pub(crate) struct GroupScope {
    /// `None` if all are.
    roles: Option<Vec<Role>>,
}

impl GroupScope {
    /// Of groups that have these parts.
    #[cfg(test)]
    pub(crate) fn of(roles: Vec<Role>) -> Self {
        Self { roles: Some(roles) }
    }

    /// The part that a group has.
    pub(crate) fn role(&self, group: Group) -> Role {
        match &self.roles {
            None => Role::LEFT,
            Some(roles) => roles[group.index()],
        }
    }

    /// Whether two groups are compared.
    #[inline]
    pub(crate) fn admits(&self, one: Group, two: Group) -> bool {
        match &self.roles {
            None => true,
            Some(roles) => roles[one.index()].and(roles[two.index()]) == Role::BOTH,
        }
    }

    /// Whether any two of these are compared.
    pub(crate) fn admits_any(&self, groups: &[u32]) -> bool {
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
