//! Documents that are identical, collapsed into groups. The first of a group stands for all
//! of it, and the others come back on output.

use super::buckets::for_each_bucket;
use crate::document::DocumentId;

/// A group's place among the groups, which are in the order of their first documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group(pub(crate) u32);

impl Group {
    /// Stands for the group of a document that has none, as nothing can be like it.
    const NONE: Self = Self(u32::MAX);

    /// Its place as an index into tables.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Documents in groups, each in one at the most.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By document.
    of: Vec<Group>,
    /// Documents in order of group, then of input.
    members: Vec<DocumentId>,
    /// Where each group starts in `members`, and the end.
    starts: Vec<u32>,
}

impl Groups {
    /// Groups the first so many documents, of those that `counts`, by `is_same`. Documents that
    /// are the same have the same `hash`.
    pub(crate) fn new(
        documents: usize,
        counts: impl Fn(DocumentId) -> bool,
        hash: impl Fn(DocumentId) -> u64 + Sync,
        is_same: impl Fn(DocumentId, DocumentId) -> bool + Sync,
    ) -> Self {
        let all: Vec<u32> = (0..documents as u32)
            .filter(|&document| counts(DocumentId(document)))
            .collect();
        let copies: Vec<(u32, u32)> = for_each_bucket(
            &all,
            |document| hash(DocumentId(document)),
            Vec::new,
            |copies, bucket| {
                // One first document nearly always: two if different ones have one hash.
                let mut firsts: Vec<u32> = Vec::new();
                for &document in bucket {
                    let is_same = |&&first: &&u32| is_same(DocumentId(first), DocumentId(document));
                    match firsts.iter().find(is_same) {
                        Some(&first) => copies.push((document, first)),
                        None => firsts.push(document),
                    }
                }
            },
            |mut one, mut two| {
                one.append(&mut two);
                one
            },
            |_| {},
        );
        let mut first_of = vec![None; documents];
        for document in all {
            first_of[document as usize] = Some(document);
        }
        for (document, first) in copies {
            first_of[document as usize] = Some(first);
        }
        Self::numbered(&first_of)
    }

    /// The same with groups joined: each with the first one that it is the same as, or with
    /// itself.
    pub(crate) fn joined(&self, same_as: &[Group]) -> Self {
        let first_of: Vec<Option<u32>> = self
            .of
            .iter()
            .map(|&group| {
                let first = same_as.get(group.index())?;
                Some(self.first(*first).0)
            })
            .collect();
        Self::numbered(&first_of)
    }

    /// Returns the groups without some of their documents, which are then in none.
    pub(super) fn without(&self, is_left_out: impl Fn(DocumentId) -> bool) -> Self {
        let mut firsts: Vec<Option<u32>> = vec![None; self.len()];
        let first_of: Vec<Option<u32>> = (0..)
            .zip(&self.of)
            .map(|(document, group)| {
                let first = firsts.get_mut(group.index())?;
                (!is_left_out(DocumentId(document))).then(|| *first.get_or_insert(document))
            })
            .collect();
        Self::numbered(&first_of)
    }

    fn numbered(first_of: &[Option<u32>]) -> Self {
        let mut of: Vec<Group> = Vec::with_capacity(first_of.len());
        let mut starts = vec![0_u32];
        for (document, first) in first_of.iter().enumerate() {
            let group = match *first {
                None => Group::NONE,
                Some(first) if first as usize == document => {
                    starts.push(0);
                    Group(starts.len() as u32 - 2)
                }
                Some(first) => of[first as usize],
            };
            if group != Group::NONE {
                starts[group.index() + 1] += 1;
            }
            of.push(group);
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut members = vec![DocumentId(0); starts[starts.len() - 1] as usize];
        for (document, group) in of.iter().enumerate() {
            if let Some(place) = next.get_mut(group.index()) {
                members[*place as usize] = DocumentId(document as u32);
                *place += 1;
            }
        }
        Self {
            of,
            members,
            starts,
        }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// All groups.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Group> {
        (0..self.len() as u32).map(Group)
    }

    /// Documents that are in a group after another.
    pub(crate) fn copies(&self) -> usize {
        self.members.len() - self.len()
    }

    /// The group that a document is in, unless it is like no other for certain.
    pub(crate) fn of(&self, document: DocumentId) -> Option<Group> {
        let group = self.of[document.index()];
        (group != Group::NONE).then_some(group)
    }

    /// The documents of a group, in order.
    pub(crate) fn members(&self, group: Group) -> &[DocumentId] {
        let index = group.index();
        &self.members[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The first document of a group.
    pub(crate) fn first(&self, group: Group) -> DocumentId {
        self.members[self.starts[group.index()] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_documents_and_no_others_are_together(
            contents in proptest::collection::vec(0_u8..9, 0..40),
            hashes in 1_u64..5,
            joined in 0_u8..5,
        ) {
            let content = |document: DocumentId| contents[document.index()];
            let groups = Groups::new(
                contents.len(),
                |document| content(document) > 0,
                |document| (u64::from(content(document)) % hashes) << 33,
                |one, two| content(one) == content(two),
            );
            let check = |groups: &Groups, content: &dyn Fn(DocumentId) -> u8| {
                let all = || (0..contents.len() as u32).map(DocumentId);
                let firsts: Vec<DocumentId> = groups.iter().map(|group| groups.first(group)).collect();
                prop_assert!(firsts.is_sorted());
                for group in groups.iter() {
                    let expected: Vec<DocumentId> = all()
                        .filter(|&document| content(document) == content(groups.first(group)))
                        .collect();
                    prop_assert_eq!(groups.members(group), &expected[..]);
                    prop_assert!(expected.iter().all(|&document| groups.of(document) == Some(group)));
                }
                prop_assert!(all().all(|d| groups.of(d).is_none() == (content(d) == 0)));
                prop_assert_eq!(groups.copies() + groups.len(), all().filter(|&d| content(d) > 0).count());
                Ok(())
            };
            check(&groups, &content)?;
            // Contents that differ by a small number become the same.
            let coarse = |document: DocumentId| match content(document) {
                0 => 0,
                content => content / (joined + 1) + 1,
            };
            let same_as: Vec<Group> = groups
                .iter()
                .map(|group| {
                    let is_same = |other: &Group| coarse(groups.first(*other)) == coarse(groups.first(group));
                    groups.iter().find(is_same).unwrap()
                })
                .collect();
            check(&groups.joined(&same_as), &coarse)?;
            let rest = |document: DocumentId| match document.0 % 3 {
                0 => 0,
                _ => content(document),
            };
            check(&groups.without(|document| document.0 % 3 == 0), &rest)?;
        }
    }
}
