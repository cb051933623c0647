//! The similar pairs of a collection, with identical documents kept as groups:
//! twenty thousand copies of a page are one group, not two hundred million pairs.

use std::ops::Range;

use crate::candidates::Match;
use crate::candidates::identical::{Group, Groups};
use crate::document::DocumentId;
use crate::score::{Measure, Score};
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
    /// For containment: the share of each that is found in the other.
    pub shares: Option<[Score; 2]>,
}

/// All pairs of a collection.
#[derive(Debug)]
pub struct Pairs {
    collection: Collection,
    /// Matches between groups, from both sides, in order of the first group.
    links: Vec<Link>,
    /// Where each group's links start, and the end.
    starts: Vec<usize>,
}

/// Which rows are compared with which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// All with all.
    One,
    /// Those before this row with those from it on.
    Across(Row),
}

#[derive(Clone, Copy, Debug)]
struct Link {
    to: Group,
    shared: u32,
}

/// What is known of a collection's rows, apart from their matches.
#[derive(Debug)]
pub(crate) struct Collection {
    /// The document of each row; `None` if it does not count.
    pub(crate) documents: Vec<Option<DocumentId>>,
    /// Rows that are identical.
    pub(crate) groups: Groups,
    /// Shingles, or positions, of each group's members.
    pub(crate) sizes: Vec<u32>,
    pub(crate) measure: Measure,
    pub(crate) sides: Sides,
}

impl Pairs {
    /// From matches between groups, by number.
    pub(crate) fn new(collection: Collection, matches: &[Match]) -> Self {
        let mut starts = vec![0; collection.groups.len() + 1];
        for found in matches {
            starts[found.left.0 as usize + 1] += 1;
            starts[found.right.0 as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let nothing = Link {
            to: Group(0),
            shared: 0,
        };
        let mut links = vec![nothing; matches.len() * 2];
        for found in matches {
            let (left, right) = (found.left.0, found.right.0);
            for (from, to) in [(left, right), (right, left)] {
                let place = &mut next[from as usize];
                links[*place] = Link {
                    to: Group(to),
                    shared: found.shared,
                };
                *place += 1;
            }
        }
        Self {
            collection,
            links,
            starts,
        }
    }

    /// What the scores are.
    pub fn measure(&self) -> Measure {
        self.collection.measure
    }

    /// For each record that could be used, in input order, its document; `None` if its
    /// id was met before. Not those of another side.
    pub fn records(&self) -> &[Option<DocumentId>] {
        &self.collection.documents[..self.left_rows() as usize]
    }

    /// The rows that have a pair's left document among them.
    fn left_rows(&self) -> u32 {
        match self.collection.sides {
            Sides::One => self.collection.documents.len() as u32,
            Sides::Across(first) => first.0,
        }
    }

    /// Cuts the pairs into runs of rows with about so many pairs each: the rows
    /// from `start` to the one given back, or `None` at the end.
    pub(crate) fn next_run(&self, start: Row, pairs: usize) -> Option<Row> {
        let end = Row(self.left_rows());
        let mut row = start;
        let mut count = 0;
        while row < end && count < pairs {
            let group = self.collection.groups.of(row);
            let linked = self.links_of(group).iter().map(|link| link.to);
            let members = |group| self.collection.groups.members(group).len();
            count += members(group) + linked.map(members).sum::<usize>();
            row.0 += 1;
        }
        (row > start).then_some(row)
    }

    fn links_of(&self, group: Group) -> &[Link] {
        &self.links[self.starts[group.0 as usize]..self.starts[group.0 as usize + 1]]
    }

    /// Calls `each` with every pair whose left document is in these rows, in input
    /// order of the left document, then of the right.
    pub(crate) fn for_each_in(&self, run: Range<Row>, mut each: impl FnMut(Pair)) {
        let rows = &self.collection;
        let mut partners: Vec<(Row, u32)> = Vec::new();
        let first_right = match rows.sides {
            Sides::One => Row(0),
            Sides::Across(first) => first,
        };
        for row in (run.start.0..run.end.0).map(Row) {
            let Some(left) = rows.documents[row.0 as usize] else {
                continue;
            };
            let group = rows.groups.of(row);
            let size = rows.sizes[group.0 as usize];
            let from = Row(row.0 + 1).max(first_right);
            partners.clear();
            self.extend_from(from, group, size, &mut partners);
            let links = self.links_of(group);
            if !links.is_empty() {
                for link in links {
                    self.extend_from(from, link.to, link.shared, &mut partners);
                }
                // Runs in order, which a merging sort joins in no time.
                partners.sort_by_key(|&(partner, _)| partner);
            }
            for &(partner, shared) in &partners {
                let Some(right) = rows.documents[partner.0 as usize] else {
                    continue;
                };
                each(self.pair(group, [left, right], partner, shared));
            }
        }
    }

    fn pair(&self, group: Group, documents: [DocumentId; 2], partner: Row, shared: u32) -> Pair {
        let rows = &self.collection;
        let other = rows.groups.of(partner);
        let sizes = [rows.sizes[group.0 as usize], rows.sizes[other.0 as usize]];
        let shares = (rows.measure == Measure::Containment)
            .then(|| sizes.map(|size| Score::new(shared, size)));
        Pair {
            left: documents[0],
            right: documents[1],
            score: rows.measure.score(shared, sizes),
            shares,
        }
    }

    /// Calls `each` with every pair, in input order of the left document, then of
    /// the right.
    pub fn for_each(&self, each: impl FnMut(Pair)) {
        self.for_each_in(Row(0)..Row(self.left_rows()), each);
    }

    /// All pairs in a list: for small collections and tests.
    pub fn to_vec(&self) -> Vec<Pair> {
        let mut all = Vec::new();
        self.for_each(|pair| all.push(pair));
        all
    }

    /// Adds the members of a group from a row on. A set without shingles is like
    /// no other.
    fn extend_from(&self, row: Row, group: Group, shared: u32, partners: &mut Vec<(Row, u32)>) {
        if shared == 0 {
            return;
        }
        let members = self.collection.groups.members(group);
        let from = members.partition_point(|&member| member < row);
        partners.extend(members[from..].iter().map(|&member| (member, shared)));
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
            shared: 4,
        }];
        // The third document was met before: the ordinals skip its row.
        let documents = [0, 1, 3, 4, 5, 6].map(|id| Some(DocumentId(id))).to_vec();
        let sizes = vec![5; groups.len()];
        let collection = Collection {
            documents,
            groups,
            sizes,
            measure: Measure::MinHash,
            sides: Sides::One,
        };
        let pairs = Pairs::new(collection, &matches);
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
