//! Which documents have a chunk: as much of it as needs to be known.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use super::chunks::ChunkId;
use super::lists::ShingleLists;
use crate::document::DocumentId;
use crate::error::Error;
use crate::sets::Role;

/// Who has a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use(u8);

impl Use {
    /// Nobody.
    pub(super) const NONE: Self = Self(0);
    const TWICE: u8 = 4;

    /// The roles of those that have it.
    pub(super) fn role(self) -> Role {
        Role(self.0 & !Self::TWICE)
    }

    /// Whether several documents have it, or one has it several times.
    pub(super) fn is_twice(self) -> bool {
        self.0 & Self::TWICE != 0
    }

    /// Whether a document of this role is compared with another one that has it.
    pub(super) fn is_shared(self, role: Role, is_across: bool) -> bool {
        match is_across {
            true => self.role().0 & role.others().0 != 0,
            false => self.is_twice(),
        }
    }
}

/// Who has each chunk.
#[derive(Debug)]
pub(crate) struct ChunkUses(Vec<Use>);

impl ChunkUses {
    /// By the documents that have a role.
    pub(crate) fn new(
        lists: &ShingleLists,
        role: impl Fn(DocumentId) -> Role + Sync,
    ) -> Result<Self, Error> {
        let uses: Vec<AtomicU8> = (0..lists.chunks()).map(|_| AtomicU8::new(0)).collect();
        let has_role = |document: usize| role(DocumentId(document as u32)) != Role::NONE;
        lists.fold(
            |slice| slice.documents().any(has_role),
            || (),
            |(), lists| {
                for (document, chunks) in lists.documents() {
                    let role = role(document);
                    if role == Role::NONE {
                        continue;
                    }
                    for chunk in chunks {
                        let used = &uses[chunk.id.index()];
                        if used.fetch_or(role.0, Ordering::Relaxed) != 0 {
                            used.fetch_or(Use::TWICE, Ordering::Relaxed);
                        }
                    }
                }
                Ok(())
            },
        )?;
        Ok(Self(
            uses.into_iter()
                .map(|used| Use(used.into_inner()))
                .collect(),
        ))
    }

    /// Who has a chunk.
    #[inline]
    pub(super) fn of(&self, chunk: ChunkId) -> Use {
        self.0[chunk.index()]
    }

    /// How many of these somebody has.
    pub(super) fn count(&self, chunks: Range<usize>) -> usize {
        let used = self.0[chunks].iter();
        used.filter(|&&used| used != Use::NONE).count()
    }

    /// Whether anybody has any of these.
    pub(super) fn any(&self, chunks: Range<usize>) -> bool {
        self.0[chunks].iter().any(|&used| used != Use::NONE)
    }
}
