//! The inputs once more, with what is known of them when all were read: how many documents a
//! task has, and how many lines are before a part of a file, by which records without ids are
//! called, and those that are told.

use std::collections::HashMap;
use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use super::arrow::{RowReader, RowWriter};
use super::plan::InputPart;
use super::rows::{Kind, for_each_row};
use super::stage_error;
use crate::error::Error;

/// What a task has, as it stands in a row.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sizes {
    pub(super) documents: u64,
    /// Of parts of files, by their numbers.
    pub(super) lines: Vec<(u64, u64)>,
}

impl Sizes {
    pub(super) fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| stage_error(error.to_string()))
    }

    fn from_json(json: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(json).map_err(|_| stage_error("sizes that are none"))
    }
}

pub(super) fn run<R: Read, W: Write>(
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let mut parts: Vec<(i32, InputPart)> = Vec::new();
    let mut documents: HashMap<i32, u64> = HashMap::new();
    let mut lines: HashMap<u64, u64> = HashMap::new();
    for_each_row(rows, |row| {
        match row.kind {
            Kind::Input => parts.push((row.part, InputPart::from_json(&row.data)?)),
            Kind::Sizes => {
                let sizes = Sizes::from_json(&row.data)?;
                documents.insert(row.part, sizes.documents);
                lines.extend(sizes.lines);
            }
            _ => {}
        }
        Ok(())
    })?;
    parts.sort_by_key(|(_, part)| part.number);
    parts.dedup_by_key(|(_, part)| part.number);
    let mut before = Some(0_u64);
    for index in 0..parts.len() {
        if index == 0 || !parts[index].1.is_of_file(&parts[index - 1].1) {
            before = Some(0);
        }
        let (task, part) = &mut parts[index];
        part.lines_before = before;
        part.documents = documents.get(task).copied();
        before = before.zip(lines.get(&part.number)).map(|(b, l)| b + l);
        output.push(*task as u32, Kind::Input, &part.to_json()?)?;
    }
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::super::arrow::testing::{rows_of, stream_of};
    use super::*;

    #[test]
    fn lines_are_counted_from_the_start_of_each_file() {
        let part = |number: u64, path: &str, lines: &str| {
            let json = format!(
                r#"{{"number":{number},"name":"{path}","path":"/{path}","bytes":9{lines}}}"#
            );
            (number as u32, Kind::Input, json.into_bytes())
        };
        let sizes = |task: u32, documents: u64, lines: Vec<(u64, u64)>| {
            let sizes = Sizes { documents, lines };
            (task, Kind::Sizes, sizes.to_json().unwrap())
        };
        let taken = stream_of(&[
            sizes(1, 20, vec![(1, 21)]),
            part(2, "a", r#","lines":[6,9]"#),
            part(0, "a", r#","lines":[0,3]"#),
            part(1, "a", r#","lines":[3,6]"#),
            part(3, "b", ""),
            part(4, "c", r#","lines":[0,9]"#),
            part(5, "c", r#","lines":[9,9]"#),
            sizes(0, 10, vec![(0, 11)]),
            sizes(2, 30, vec![(2, 31)]),
        ]);
        let mut given = Vec::new();
        run(
            RowReader::new(&taken[..]).unwrap(),
            RowWriter::new(&mut given).unwrap(),
        )
        .unwrap();
        let known: Vec<_> = rows_of(&given)
            .into_iter()
            .map(|row| InputPart::from_json(&row.data).unwrap())
            .map(|part| (part.number, part.lines_before, part.documents))
            .collect();
        assert_eq!(
            known,
            [
                (0, Some(0), Some(10)),
                (1, Some(11), Some(20)),
                (2, Some(32), Some(30)),
                (3, Some(0), None),
                (4, Some(0), None),
                (5, None, None),
            ]
        );
    }
}
