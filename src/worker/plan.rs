//! The inputs, cut into tasks: some files, or a part of a large one, that are read in one go.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arrow::RowWriter;
use super::rows::Kind;
use super::{Task, Verb, stage_error};
use crate::error::{Error, ErrorKind};
use crate::pipeline::Inputs;
use crate::read::Input;
use crate::read::part::{LinesPart, cuts};

/// A part of an input, as it stands in a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InputPart {
    /// Its place among all.
    pub(super) number: u64,
    /// What ids and messages call it: as it was typed.
    name: String,
    /// Where it is, from wherever that is asked.
    path: PathBuf,
    /// The bytes of the lines that are meant, if not all of the file is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<(u64, u64)>,
    /// The directory in which it was found, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found_in: Option<PathBuf>,
    /// It is only compared with.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) other: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Records before a part of which nobody knows how many they are: more than any file has.
pub(super) const UNKNOWN_LINES: u64 = 1 << 52;

/// Whether records are counted before a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesBefore {
    Unknown,
    Counted,
}

impl InputPart {
    pub(super) fn from_json(json: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(json).map_err(|_| stage_error("an input that is none"))
    }

    /// The name of a part of a file before which there are lines.
    pub(super) fn unknown_name(&self) -> Option<String> {
        let (start, _) = self.lines?;
        (start > 0).then(|| self.name.clone())
    }

    /// The same, in the directory in which it was found.
    fn found(&self, input: Input) -> Input {
        match &self.found_in {
            Some(root) => input.found(&Arc::from(root.as_path())),
            None => input,
        }
    }

    /// To be read. What is before a part of a file need not be counted unless records are named
    /// by where they stand.
    pub(super) fn input(&self, before: LinesBefore) -> Result<Input, Error> {
        let Some((start, end)) = self.lines else {
            return Ok(self.found(Input::from_path(&self.path).named(&self.name)));
        };
        let mut part = LinesPart {
            path: self.path.clone(),
            start,
            end,
            lines_before: 0,
        };
        if start > 0 {
            part.lines_before = match before {
                LinesBefore::Unknown => UNKNOWN_LINES,
                LinesBefore::Counted => part
                    .count_lines_before()
                    .map_err(|error| Error::in_file(&self.name, ErrorKind::Unreadable(error)))?,
            };
        }
        Ok(self.found(Input::from_lines(&self.name, part)))
    }
}

pub(super) fn run<W: Write>(
    task: &Task,
    inputs: Inputs,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let mut tasks = Tasks {
        split_bytes: task.split_bytes.max(1),
        number: 0,
        parts: 0,
        bytes: 0,
        is_empty: true,
    };
    let Inputs {
        documents, against, ..
    } = inputs;
    let typed = serde_json::to_vec(&task.typed).map_err(|error| stage_error(error.to_string()))?;
    output.push(0, Kind::Typed, &typed)?;
    if task.verb == Verb::Dedup && documents.is_empty() {
        return output.finish();
    }
    for (other, side) in [(false, documents), (true, against.unwrap_or_default())] {
        tasks.next();
        for input in side {
            let (Some(path), name) = (input.plain_path(), input.name()) else {
                return Err(stage_error(format!(
                    "{} cannot be read by other processes: name files",
                    input.name()
                )));
            };
            if path.to_str().is_none() {
                return Err(stage_error(format!("{name} has a name that is not UTF-8")));
            }
            let failed = |error| Error::in_file(name, ErrorKind::Unreadable(error));
            let whole = InputPart {
                number: 0,
                name: name.to_string(),
                path: std::path::absolute(path).map_err(failed)?,
                lines: None,
                found_in: input.found_in().map(Into::into),
                other,
            };
            let bytes = input.bytes().unwrap_or(0);
            match input.lines_bytes(&task.settings.read) {
                Some(bytes) if bytes > tasks.split_bytes => {
                    let mut file = File::open(path).map_err(failed)?;
                    let ends = cuts(&mut file, bytes, tasks.split_bytes).map_err(failed)?;
                    let mut start = 0;
                    for end in ends {
                        let lines = Some((start, end));
                        let part = InputPart {
                            lines,
                            ..whole.clone()
                        };
                        tasks.push(&part, end - start, &mut output)?;
                        start = end;
                    }
                }
                _ => tasks.push(&whole, bytes, &mut output)?,
            }
        }
    }
    output.finish()
}

struct Tasks {
    split_bytes: u64,
    number: u32,
    /// Parts of inputs so far.
    parts: u64,
    /// Of the task that is being filled.
    bytes: u64,
    is_empty: bool,
}

impl Tasks {
    /// Begins another task.
    fn next(&mut self) {
        if !self.is_empty {
            self.number += 1;
            (self.bytes, self.is_empty) = (0, true);
        }
    }

    fn push<W: Write>(
        &mut self,
        part: &InputPart,
        bytes: u64,
        output: &mut RowWriter<W>,
    ) -> Result<(), Error> {
        // Files without content count a little, so that a task has no end of them.
        let bytes = bytes.max(1 << 12);
        if self.bytes + bytes > self.split_bytes {
            self.next();
        }
        let part = InputPart {
            number: self.parts,
            ..part.clone()
        };
        self.parts += 1;
        let json = serde_json::to_vec(&part).map_err(|error| stage_error(error.to_string()))?;
        output.push(self.number, Kind::Input, &json)?;
        self.bytes += bytes;
        self.is_empty = false;
        Ok(())
    }
}
