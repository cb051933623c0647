//! The similar pairs of a collection, with identical documents kept as groups:
//! twenty thousand copies of a page are one group, not two hundred million pairs.

use std::ops::ControlFlow;

use crate::candidates::Match;
use crate::candidates::identical::{Group, Groups};
use crate::document::DocumentId;
use crate::score::Score;
use crate::sketch::Row;

/// Two documents and how similar they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The document that came first.
    pub left: DocumentId,
    /// The document that came later.
    pub right: DocumentId,
    /// How similar they are.
    pub score: Score,
}

/// All pairs of a collection.
#[derive(Debug)]
pub struct Pairs {
    documents: Vec<DocumentId>,
    groups: Groups,
    /// The score of two members of one group.
    within: Score,
    /// Matches between groups, from both sides, in order of the first group.
    links: Vec<Link>,
    /// Where each group's links start, and the end.
    starts: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    to: Group,
    score: Score,
}

impl Pairs {
    /// From matches between the first rows of groups. `documents` has the
    /// document of each row, `within` is the score of two members of a group.
    pub(crate) fn new(
        documents: Vec<DocumentId>,
        groups: Groups,
        matches: &[Match],
        within: Score,
    ) -> Self {
        let mut starts = vec![0; groups.len() + 1];
        let ends = |found: &Match| [groups.of(found.left), groups.of(found.right)];
        for group in matches.iter().flat_map(ends) {
            starts[group.0 as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let nothing = Link {
            to: Group(0),
            score: within,
        };
        let mut links = vec![nothing; matches.len() * 2];
        for found in matches {
            let [left, right] = ends(found);
            for (from, to) in [(left, right), (right, left)] {
                let place = &mut next[from.0 as usize];
                let score = found.score;
                links[*place] = Link { to, score };
                *place += 1;
            }
        }
        Self {
            documents,
            groups,
            within,
            links,
            starts,
        }
    }

    /// Calls `each` with every pair, in input order of the left document, then of
    /// the right, until it breaks.
    pub fn try_for_each<B>(&self, mut each: impl FnMut(Pair) -> ControlFlow<B>) -> ControlFlow<B> {
        let mut partners: Vec<(Row, Score)> = Vec::new();
        for row in (0..self.documents.len() as u32).map(Row) {
            let group = self.groups.of(row);
            partners.clear();
            self.extend_after(row, group, self.within, &mut partners);
            let links =
                &self.links[self.starts[group.0 as usize]..self.starts[group.0 as usize + 1]];
            if !links.is_empty() {
                for link in links {
                    self.extend_after(row, link.to, link.score, &mut partners);
                }
                // Runs in order, which a merging sort joins in no time.
                partners.sort_by_key(|&(partner, _)| partner);
            }
            let left = self.documents[row.0 as usize];
            for &(partner, score) in &partners {
                let right = self.documents[partner.0 as usize];
                each(Pair { left, right, score })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// All pairs in a list: for small collections and tests.
    pub fn to_vec(&self) -> Vec<Pair> {
        let mut all = Vec::new();
        let _: ControlFlow<()> = self.try_for_each(|pair| {
            all.push(pair);
            ControlFlow::Continue(())
        });
        all
    }

    fn extend_after(&self, row: Row, group: Group, score: Score, partners: &mut Vec<(Row, Score)>) {
        let members = self.groups.members(group);
        let after = members.partition_point(|&member| member <= row);
        partners.extend(members[after..].iter().map(|&member| (member, score)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::identical::collapse;

    #[test]
    fn groups_are_expanded_in_input_order() {
        // Rows 0, 2, 4 are the same, and so are 1 and 3; the two groups match.
        let groups = collapse(
            6,
            |row| u64::from(row.0 % 2),
            |a, b| a.0 % 2 == b.0 % 2 && a.0 < 5 && b.0 < 5,
        );
        let matches = [Match {
            left: Row(0),
            right: Row(1),
            score: Score::new(4, 5),
        }];
        // A document without shingles has no row: the ordinals skip 2.
        let documents = [0, 1, 3, 4, 5, 6].map(DocumentId).to_vec();
        let pairs = Pairs::new(documents, groups, &matches, Score::new(5, 5));
        let found: Vec<(u32, u32, String)> = pairs
            .to_vec()
            .iter()
            .map(|pair| (pair.left.0, pair.right.0, pair.score.to_string()))
            .collect();
        let expected = [
            (0, 1, "0.8"),
            (0, 3, "1.0"),
            (0, 4, "0.8"),
            (0, 5, "1.0"),
            (1, 3, "0.8"),
            (1, 4, "1.0"),
            (1, 5, "0.8"),
            (3, 4, "0.8"),
            (3, 5, "1.0"),
            (4, 5, "0.8"),
        ];
        assert_eq!(found, expected.map(|(l, r, s)| (l, r, s.to_owned())));
    }
}
