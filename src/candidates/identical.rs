//! Rows that are identical, collapsed into groups. The first row of a group
//! stands for all of it, and the others come back on output.

use super::filing::for_each_bucket;
use crate::sketch::Row;

/// A group's place among the groups, which are in the order of their first rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(pub u32);

/// All rows, each in one group.
#[derive(Debug)]
pub struct Groups {
    of_row: Vec<Group>,
    /// Rows in order of group, then of row.
    members: Vec<Row>,
    /// Where each group starts in `members`, and the end.
    starts: Vec<u32>,
}

impl Groups {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.members.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The group that a row is in.
    pub fn of(&self, row: Row) -> Group {
        self.of_row[row.0 as usize]
    }

    /// The rows of a group, in order.
    pub fn members(&self, group: Group) -> &[Row] {
        let index = group.0 as usize;
        &self.members[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The first rows of all groups, in order.
    pub fn representatives(&self) -> impl Iterator<Item = Row> {
        let count = self.len();
        self.starts[..count]
            .iter()
            .map(|&start| self.members[start as usize])
    }
}

/// Groups the rows from 0 to `rows` by `same`. Rows that are the same have the
/// same `hash`.
pub fn collapse(
    rows: u32,
    hash: impl Fn(Row) -> u64 + Sync,
    same: impl Fn(Row, Row) -> bool + Sync,
) -> Groups {
    let mut first_of: Vec<Row> = (0..rows).map(Row).collect();
    let copies: Vec<(Row, Row)> = for_each_bucket(
        &first_of,
        hash,
        Vec::new,
        |copies, bucket| {
            // One first row nearly always: two if different rows have one hash.
            let mut firsts: Vec<Row> = Vec::new();
            for &row in bucket {
                match firsts.iter().find(|&&first| same(first, row)) {
                    Some(&first) => copies.push((row, first)),
                    None => firsts.push(row),
                }
            }
        },
        |mut one, mut two| {
            one.append(&mut two);
            one
        },
    );
    for (row, first) in copies {
        first_of[row.0 as usize] = first;
    }
    number(&first_of)
}

fn number(first_of: &[Row]) -> Groups {
    let mut of_row: Vec<Group> = Vec::with_capacity(first_of.len());
    let mut starts = vec![0_u32];
    for (row, first) in first_of.iter().enumerate() {
        let group = if first.0 as usize == row {
            starts.push(0);
            Group(starts.len() as u32 - 2)
        } else {
            of_row[first.0 as usize]
        };
        starts[group.0 as usize + 1] += 1;
        of_row.push(group);
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let mut next = starts.clone();
    let mut members = vec![Row(0); first_of.len()];
    for (row, group) in of_row.iter().enumerate() {
        let place = &mut next[group.0 as usize];
        members[*place as usize] = Row(row as u32);
        *place += 1;
    }
    Groups {
        of_row,
        members,
        starts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_rows_and_no_others_are_together(
            contents in proptest::collection::vec(0_u8..9, 0..40),
            hashes in 1_u64..5,
        ) {
            let content = |row: Row| contents[row.0 as usize];
            let groups = collapse(
                contents.len() as u32,
                |row| u64::from(content(row)) % hashes,
                |a, b| content(a) == content(b),
            );
            let firsts: Vec<Row> = groups.representatives().collect();
            prop_assert!(firsts.is_sorted());
            prop_assert_eq!(firsts.len(), groups.len());
            for (index, first) in firsts.iter().enumerate() {
                let expected: Vec<Row> = (0..contents.len() as u32).map(Row)
                    .filter(|&row| content(row) == content(*first)).collect();
                prop_assert_eq!(groups.members(Group(index as u32)), &expected[..]);
                prop_assert!(expected.iter().all(|&row| groups.of(row).0 as usize == index));
            }
            prop_assert_eq!(groups.members.len(), contents.len());
        }
    }
}
