//! What goes from stage to stage: rows of a part, a kind and bytes.

use super::stage_error;
use crate::error::Error;

/// Bytes of lines that go at a time, about.
pub(super) const LINES_BYTES: usize = 1 << 18;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Where it goes: rows of one part come to one process.
    pub(super) part: i32,
    pub(super) kind: Kind,
    pub(super) data: Vec<u8>,
}

/// What the bytes of a row are. The numbers are part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Kind {
    /// The last row: how many came before it, so that a stream that broke off is known.
    End = 0,
    /// A part of an input, as JSON.
    Input = 1,
    /// Hashes of ids; of lists of shingles; keys.
    Ids = 2,
    Lists = 3,
    Keys = 4,
    /// Documents that may be similar; that have the same list; whose ids were met before.
    Links = 5,
    Copies = 6,
    Repeated = 7,
    /// Who is wanted of a task, and where.
    Wanted = 8,
    /// Documents.
    Documents = 9,
    /// Who goes of a task.
    Removed = 11,
    /// What was counted, as JSON.
    Counts = 12,
    /// Records that could not be used, as lines of JSON, packed.
    Unused = 13,
    /// A result, as two ids and a score.
    Result = 14,
    /// Tokens that many documents have.
    Common = 15,
    /// Who is to be filed again, of a task.
    Narrow = 16,
    /// What they are filed under; what is linked by that.
    Prefixes = 17,
    Narrowed = 18,
    /// Where documents stand whose ids come more than once.
    Places = 19,
    /// What is typed for all stages, as a JSON list of arguments.
    Typed = 20,
    /// What a task has: documents, and lines of parts of files.
    Sizes = 21,
    /// A task that must be read again, with its lines counted.
    Again = 22,
    /// Bits of documents, by where these belong.
    Signs = 23,
    /// What the user should know of a task, as JSON.
    Notes = 24,
}

impl Kind {
    const ALL: [Self; 24] = [
        Self::End,
        Self::Input,
        Self::Ids,
        Self::Lists,
        Self::Keys,
        Self::Links,
        Self::Copies,
        Self::Repeated,
        Self::Wanted,
        Self::Documents,
        Self::Removed,
        Self::Counts,
        Self::Unused,
        Self::Result,
        Self::Common,
        Self::Narrow,
        Self::Prefixes,
        Self::Narrowed,
        Self::Places,
        Self::Typed,
        Self::Sizes,
        Self::Again,
        Self::Signs,
        Self::Notes,
    ];

    pub(super) fn new(number: i32) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|kind| *kind as i32 == number);
        known.ok_or_else(|| stage_error(format!("a row of an unknown kind, {number}")))
    }
}

/// Takes all rows. Those of a kind that `take` has no use for are passed over.
pub(super) fn for_each_row(
    rows: impl Iterator<Item = Result<Row, Error>>,
    mut take: impl FnMut(Row) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut count, mut announced) = (0_u64, None);
    for row in rows {
        let row = row?;
        match (row.kind, announced) {
            (_, Some(_)) => return Err(stage_error("rows behind the last one")),
            (Kind::End, None) => {
                let bytes = row.data.as_slice().try_into();
                let bytes = bytes.map_err(|_| stage_error("the last row has no number"))?;
                announced = Some(u64::from_le_bytes(bytes));
            }
            _ => {
                count += 1;
                take(row)?;
            }
        }
    }
    match announced {
        Some(announced) if announced == count => Ok(()),
        Some(announced) => Err(stage_error(format!(
            "{count} rows came of the {announced} that were sent"
        ))),
        None => Err(stage_error(
            "the rows break off: there is no last one (kind 0). The sender was ended, or does not \
             know the protocol",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_its_number() {
        for kind in Kind::ALL {
            assert_eq!(Kind::new(kind as i32).unwrap(), kind);
        }
        // There was a kind 10 once, for lines.
        for number in [-1, 10, 25] {
            assert!(Kind::new(number).is_err());
        }
    }

    #[test]
    fn rows_that_break_off_are_refused() {
        let row = |kind, data: &[u8]| Row {
            part: 0,
            kind,
            data: data.to_vec(),
        };
        let end = |count: u64| row(Kind::End, &count.to_le_bytes());
        let taken = |rows: Vec<Row>| for_each_row(rows.into_iter().map(Ok), |_| Ok(())).is_ok();
        let one = row(Kind::Keys, b"");
        assert!(taken(vec![one.clone(), end(1)]));
        assert!(taken(vec![end(0)]));
        for bad in [
            vec![],
            vec![one.clone()],
            vec![end(1)],
            vec![end(1), one.clone()],
            vec![one, row(Kind::End, b"1")],
        ] {
            assert!(!taken(bad));
        }
    }
}
