//! The similar pairs of a collection, with identical documents kept as groups:
//! twenty thousand copies of a page are one group, not two hundred million pairs.

use std::ops::Range;

use crate::collection::{Group, Groups, OneParty, Scope, Sides};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::{Measure, Score};
use crate::search::{Link, Links};

/// Two documents and how similar they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The document that came first.
    pub left: DocumentId,
    /// The document that came later.
    pub right: DocumentId,
    /// How similar they are.
    pub score: Score,
    /// For containment: the share of each that is found in the other.
    pub shares: Option<[Score; 2]>,
    /// Shingles, or positions, that they share, and those of each.
    pub shared: u32,
    /// Shingles, or positions, of each.
    pub sizes: [u32; 2],
}

/// All pairs of a collection.
#[derive(Debug)]
pub struct Pairs {
    pub(crate) groups: Groups,
    /// Shingles, or positions, of each group's members.
    pub(crate) sizes: Vec<u32>,
    pub(crate) links: Links,
    pub(crate) measure: Measure,
    /// Shingles, or positions, that a pair shares at the least.
    pub(crate) min_shared: u32,
    pub(crate) scope: Scope,
    /// The party of each group, if there are any.
    pub(crate) parties: Option<Vec<OneParty>>,
    /// Documents that can be a pair's left one: those before this.
    pub(crate) own: u32,
}

/// Room to look for a document's partners in.
#[derive(Default)]
pub(crate) struct Partners {
    links: Vec<Link>,
    /// Documents, and what they share.
    found: Vec<(DocumentId, u32)>,
}

impl Pairs {
    /// What the scores are.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Cuts the pairs into runs of documents with about so many pairs each: those from `start`
    /// to the one given back, or `None` at the end.
    pub(crate) fn next_run(&self, start: u32, pairs: usize) -> Option<u32> {
        let mut document = start;
        let mut count = 0;
        while document < self.own && count < pairs {
            if let Some(group) = self.groups.of(DocumentId(document)) {
                count += self.groups.members(group).len() + self.links.count(group);
            }
            document += 1;
        }
        (document > start).then_some(document)
    }

    /// Calls `each` with every pair whose left document is one of these, in input order of the
    /// left document, then of the right.
    pub(crate) fn for_each_in(
        &self,
        run: Range<u32>,
        partners: &mut Partners,
        mut each: impl FnMut(Pair),
    ) -> Result<(), Error> {
        for left in run.map(DocumentId) {
            let from = match self.scope.sides {
                Sides::All => DocumentId(left.0 + 1),
                Sides::Across(first) => first,
            };
            self.for_each_partner(left, from, partners, &mut each)?;
        }
        Ok(())
    }

    /// Calls `each` with this document, on the left, and every one from `from` on that is
    /// similar to it, in input order.
    pub(crate) fn for_each_partner(
        &self,
        document: DocumentId,
        from: DocumentId,
        Partners { links, found }: &mut Partners,
        mut each: impl FnMut(Pair),
    ) -> Result<(), Error> {
        let Some(group) = self.groups.of(document) else {
            return Ok(());
        };
        let size = self.sizes[group.index()];
        found.clear();
        let is_compared = |other: Group| match &self.parties {
            None => true,
            Some(parties) => parties[group.index()].admits(parties[other.index()]),
        };
        if is_compared(group) {
            self.extend_from(from, group, size, found);
        }
        let links = self.links.of(group, links)?;
        if !links.is_empty() {
            for &(to, shared) in links {
                self.extend_from(from, Group(to), shared, found);
            }
            // Runs in order, which a merging sort joins in no time.
            found.sort_by_key(|&(partner, _)| partner);
        }
        let is_partner = |&&(partner, _): &&(DocumentId, u32)| {
            partner != document && self.scope.admits(document, partner)
        };
        for &(partner, shared) in found.iter().filter(is_partner) {
            let other = self.groups.of(partner).unwrap_or(group);
            let sizes = [size, self.sizes[other.index()]];
            each(self.pair([document, partner], shared, sizes));
        }
        Ok(())
    }

    /// Two documents that share so much, with their sizes.
    fn pair(&self, [left, right]: [DocumentId; 2], shared: u32, sizes: [u32; 2]) -> Pair {
        Pair {
            left,
            right,
            score: self.measure.score(shared, sizes),
            shares: (self.measure == Measure::Containment)
                .then(|| sizes.map(|size| Score::new(shared, size))),
            shared,
            sizes,
        }
    }

    /// Two documents of a pair that was met before, when they shared so much.
    pub(crate) fn again(&self, both: [DocumentId; 2], shared: u32) -> Option<Pair> {
        let [left, right] = both.map(|document| self.groups.of(document));
        let sizes = [left?, right?].map(|group| self.sizes[group.index()]);
        Some(self.pair(both, shared, sizes))
    }

    /// Documents that can be a pair's left one.
    pub fn own_documents(&self) -> u64 {
        u64::from(self.own)
    }

    /// Calls `each` with every pair, in input order of the left document, then of
    /// the right.
    pub fn for_each(&self, each: impl FnMut(Pair)) -> Result<(), Error> {
        self.for_each_in(0..self.own, &mut Partners::default(), each)
    }

    /// All pairs in a list: for small collections and tests.
    pub fn to_vec(&self) -> Result<Vec<Pair>, Error> {
        let mut all = Vec::new();
        self.for_each(|pair| all.push(pair))?;
        Ok(all)
    }

    /// Adds the members of a group from a document on. A set without shingles is like
    /// no other, and copies may have too few.
    fn extend_from(
        &self,
        document: DocumentId,
        group: Group,
        shared: u32,
        found: &mut Vec<(DocumentId, u32)>,
    ) {
        if shared < self.min_shared.max(1) {
            return;
        }
        let members = self.groups.members(group);
        let from = members.partition_point(|&member| member < document);
        found.extend(members[from..].iter().map(|&member| (member, shared)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::search::{LinkWriter, Match};

    #[test]
    fn groups_are_expanded_in_input_order() {
        // Documents 0, 2, 4 are the same, and so are 1 and 3; the two groups match. The last
        // has no shingle.
        let groups = Groups::new(
            6,
            |document| document.0 < 5,
            |document| u64::from(document.0 % 2) << 40,
            |one, two| one.0 % 2 == two.0 % 2,
        );
        let writer = LinkWriter::new(groups.len(), &Memory::unlimited());
        let found = Match {
            one: Group(0),
            two: Group(1),
            shared: 4,
        };
        writer.push(&mut vec![found]).unwrap();
        let pairs = Pairs {
            sizes: vec![5; groups.len()],
            groups,
            links: writer.finish().unwrap(),
            measure: Measure::MinHash,
            min_shared: 0,
            scope: Scope::default(),
            parties: None,
            own: 6,
        };
        let found: Vec<(u32, u32, String)> = pairs
            .to_vec()
            .unwrap()
            .iter()
            .map(|pair| (pair.left.0, pair.right.0, pair.score.to_string()))
            .collect();
        let expected = [
            (0, 1, "0.8"),
            (0, 2, "1.0"),
            (0, 3, "0.8"),
            (0, 4, "1.0"),
            (1, 2, "0.8"),
            (1, 3, "1.0"),
            (1, 4, "0.8"),
            (2, 3, "0.8"),
            (2, 4, "1.0"),
            (3, 4, "0.8"),
        ];
        assert_eq!(found, expected.map(|(l, r, s)| (l, r, s.to_owned())));
    }
}
