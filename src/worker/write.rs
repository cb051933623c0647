//! The documents to keep, read once more and written as they came: a file for each task, which
//! appears whole or not at all.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Write};
use std::path::Path;

use super::arrow::{RowReader, RowWriter};
use super::forest::unpack_wanted;
use super::pack::Unpack;
use super::part_file::PartFile;
use super::plan::{InputPart, check_documents};
use super::rows::{Kind, for_each_row};
use super::sketch::in_order;
use super::{Task, stage_error};
use crate::error::Error;
use crate::read::{InputFormat, without_bom};
use crate::run::parts::{Again, read_again};
use crate::write::RecordWriter;

pub(super) fn run<R: Read, W: Write + Send>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let Some(folder) = &task.output else {
        return Err(stage_error("--output says where documents are written"));
    };
    let mut inputs: BTreeMap<u32, Vec<InputPart>> = BTreeMap::new();
    let mut gone: BTreeMap<u32, HashSet<u64>> = BTreeMap::new();
    for_each_row(rows, |row| {
        let number = row.part as u32;
        match row.kind {
            Kind::Input => {
                let part = InputPart::from_json(&row.data)?;
                inputs.entry(number).or_default().push(part);
            }
            Kind::Wanted => {
                let mut wanted = Vec::new();
                unpack_wanted(number, &row.data, &mut wanted)?;
                let repeated = wanted.iter().filter(|wanted| wanted.repeats.is_some());
                let repeated = repeated.map(|wanted| wanted.order.ordinal());
                gone.entry(number).or_default().extend(repeated);
            }
            Kind::Removed => {
                let gone = gone.entry(number).or_default();
                let mut packed = Unpack(&row.data);
                while !packed.is_empty() {
                    gone.insert(packed.number()?);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    in_order(&mut inputs);
    let nothing = HashSet::new();
    let mut kept = 0;
    for (number, parts) in &inputs {
        if parts.iter().any(|part| part.other) {
            continue;
        }
        kept += write(
            task,
            folder,
            *number,
            parts,
            gone.get(number).unwrap_or(&nothing),
        )?;
    }
    let counts = serde_json::json!({ "kept": kept });
    output.push(0, Kind::Counts, counts.to_string().as_bytes())?;
    output.finish()
}

/// Writes what stays of a task, and gives how many documents those are.
fn write(
    task: &Task,
    folder: &Path,
    number: u32,
    parts: &[InputPart],
    gone: &HashSet<u64>,
) -> Result<u64, Error> {
    let mut file = PartFile::create(folder, number)?;
    let failed = file.failed();
    let inputs: Result<Vec<_>, Error> = parts.iter().map(InputPart::input).collect();
    let (mut kept, mut documents) = (0, 0);
    let mut lines = Ended::new(&mut file);
    let mut writer = RecordWriter::new(&mut lines);
    let has_marks = parts.iter().any(|part| part.is_mark);
    let mut has_head = false;
    let mut is_lines = true;
    read_again(inputs?, &task.settings, Again::Records, |document| {
        documents += 1;
        let format = document.format.written();
        if !has_head {
            has_head = true;
            is_lines = !matches!(format, InputFormat::Protobuf | InputFormat::Warc);
            writer.head(format, &document.head.bytes).map_err(&failed)?;
        }
        if !gone.contains(&document.ordinal) {
            kept += 1;
            // A mark at the start of a file is none within what all of them are together.
            let record = match number > 0 && is_lines {
                true => without_bom(document.record),
                false => document.record,
            };
            if !(document.is_blank && has_marks) {
                writer.record(format, record).map_err(&failed)?;
            }
        }
        Ok(())
    })?;
    check_documents(parts, documents)?;
    // What follows stands in another file.
    if is_lines && !lines.is_ended {
        lines.write_all(b"\n").map_err(&failed)?;
    }
    file.finish()?;
    Ok(kept)
}

/// Knows whether the last line has ended.
struct Ended<W> {
    output: W,
    is_ended: bool,
}

impl<W> Ended<W> {
    fn new(output: W) -> Self {
        Self {
            output,
            is_ended: true,
        }
    }
}

impl<W: Write> Write for Ended<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.output.write(bytes)?;
        if let Some(last) = bytes[..written].last() {
            self.is_ended = *last == b'\n';
        }
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.output.flush()
    }
}
