//! The inputs, cut into tasks: some files, or a part of a large one, that are read in one go.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::arrow::RowWriter;
use super::rows::Kind;
use super::{Task, Verb, stage_error};
use crate::error::{Error, ErrorKind};
use crate::read::Input;
use crate::read::input::part::{LinesPart, cuts};
use crate::run::Inputs;

/// A part of an input, as it stands in a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InputPart {
    /// Its place among all.
    pub(super) number: u64,
    /// What ids and messages call it: as it was typed.
    name: String,
    /// Where it is, from wherever that is asked.
    path: PathBuf,
    /// How many bytes the file has.
    bytes: u64,
    /// The bytes of the lines that are meant, if not all of the file is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<(u64, u64)>,
    /// How many lines are before these, once they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lines_before: Option<u64>,
    /// How many documents the task has, once they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) documents: Option<u64>,
    /// The directory in which it was found, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found_in: Option<PathBuf>,
    /// It is empty, and stands beside records, as the marks that Hadoop and Spark leave there: it
    /// is not written.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) is_mark: bool,
    /// It is only compared with.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) other: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Records before a part of which nobody knows how many they are: more than any file has.
pub(super) const UNKNOWN_LINES: u64 = 1 << 52;

impl InputPart {
    pub(super) fn from_json(json: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(json).map_err(|_| stage_error("an input that is none"))
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| stage_error(error.to_string()))
    }

    /// The name of a part of a file before which there are lines that nobody has counted.
    pub(super) fn unknown_name(&self) -> Option<String> {
        let (start, _) = self.lines?;
        (start > 0 && self.lines_before.is_none()).then(|| self.name.clone())
    }

    /// How many bytes it is when it is unpacked, or about as many as it may be.
    pub(super) fn bytes_read(&self) -> u64 {
        const PACKED: [&str; 6] = ["gz", "zst", "bz2", "xz", "zip", "parquet"];
        let ending = self.path.extension().and_then(|ending| ending.to_str());
        match self.lines {
            Some((start, end)) => end.saturating_sub(start),
            None if ending.is_some_and(|ending| PACKED.contains(&ending)) => 8 * self.bytes,
            None => self.bytes,
        }
    }

    /// Whether it is of the same file as another.
    pub(super) fn is_of_file(&self, other: &Self) -> bool {
        (&self.path, self.other) == (&other.path, other.other)
    }

    /// How many lines it has, if it is a part of a file.
    pub(super) fn count_lines(&self) -> Result<Option<u64>, Error> {
        let count = self.lines_part().map(|part| part.count_lines());
        count
            .transpose()
            .map_err(|error| Error::in_file(&self.name, ErrorKind::Unreadable(error)))
    }

    fn lines_part(&self) -> Option<LinesPart> {
        let (start, end) = self.lines?;
        Some(LinesPart {
            path: self.path.clone(),
            start,
            end: end.max(start),
            lines_before: match start {
                0 => 0,
                _ => self.lines_before.unwrap_or(UNKNOWN_LINES),
            },
        })
    }

    /// The same, in the directory in which it was found.
    fn found(&self, input: Input) -> Input {
        match &self.found_in {
            Some(root) => input.found(&Arc::from(root.as_path())),
            None => input,
        }
    }

    /// To be read, if the file is what it was.
    pub(super) fn input(&self) -> Result<Input, Error> {
        let bytes = std::fs::metadata(&self.path).map(|about| about.len());
        if bytes.ok() != Some(self.bytes) {
            return Err(changed(&self.name));
        }
        Ok(self.found(match self.lines_part() {
            Some(part) => Input::from_lines(&self.name, part),
            None => Input::from_path(&self.path).named(&self.name),
        }))
    }
}

/// What is to be said where an input is not what it was.
pub(super) fn changed(name: &str) -> Error {
    stage_error(format!(
        "{name} is not what it was when it was first read, or cannot be read here: leave inputs \
         alone, where all machines see them, and run it again"
    ))
}

/// Checks that a task has as many documents as it had.
pub(super) fn check_documents(parts: &[InputPart], documents: u64) -> Result<(), Error> {
    match parts.first() {
        Some(part) if part.documents.is_some_and(|known| known != documents) => {
            Err(changed(&part.name))
        }
        _ => Ok(()),
    }
}

/// Returns the path of an input that every process can read, more than once; otherwise an error
/// that says why not.
fn file_path(input: &Input) -> Result<&Path, Error> {
    let name = input.name();
    match input.check() {
        Err(_) if name.contains("://") => Err(stage_error(format!(
            "{name} cannot be read: it is an address, and only files are read; name a path that all \
             machines see"
        ))),
        Err(error) => Err(error),
        Ok(()) => match input.plain_path().filter(|_| input.is_file()) {
            Some(path) if path.to_str().is_some() => Ok(path),
            Some(_) => Err(stage_error(format!("{name} has a name that is not UTF-8"))),
            None => Err(stage_error(format!(
                "{name} cannot be read by other processes: name files"
            ))),
        },
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
    } = without_shared(task.verb, inputs)?;
    let typed = serde_json::to_vec(&task.typed).map_err(|error| stage_error(error.to_string()))?;
    output.push(0, Kind::Typed, &typed)?;
    if task.verb == Verb::Dedup && documents.is_empty() {
        return output.finish();
    }
    for (other, side) in [(false, documents), (true, against.unwrap_or_default())] {
        tasks.next();
        let paths: Result<Vec<&Path>, Error> = side.iter().map(file_path).collect();
        let has_records = |input: &Input| input.has_records(&task.settings.read);
        let is_of_records = side.iter().find_map(has_records).unwrap_or(false);
        for (input, path) in side.iter().zip(paths?) {
            let name = input.name();
            let failed = |error| Error::in_file(name, ErrorKind::Unreadable(error));
            let whole = InputPart {
                number: 0,
                name: name.to_string(),
                path: std::path::absolute(path).map_err(failed)?,
                bytes: input.bytes().unwrap_or(0),
                lines: None,
                lines_before: None,
                documents: None,
                is_mark: is_of_records && input.bytes() == Some(0),
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

/// Leaves out of the other side what is on both, as on one machine; pairs of such a file cannot be
/// told from those of a document with itself here.
fn without_shared(verb: Verb, mut inputs: Inputs) -> Result<Inputs, Error> {
    match (verb, inputs.drop_shared()) {
        (Verb::Pairs(_), 1..) => Err(stage_error(
            "some files are both in FILE and in --against; remove them from one, or run simdup on \
             one machine",
        )),
        _ => Ok(inputs),
    }
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
        output.push(self.number, Kind::Input, &part.to_json()?)?;
        self.bytes += bytes;
        self.is_empty = false;
        Ok(())
    }
}
