//! Which side of a comparison something is on.

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
    pub(crate) const BOTH: Self = Self(3);

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
