//! A stage of a run as a process of its own: rows in, rows out. An engine that has many machines
//! moves the rows, and each stage does what the rest of the crate does, on its share. Knows no
//! engine.
//!
//! | stage | takes → gives |
//! |---|---|
//! | [`plan`] | the inputs → tasks: parts of them that are read by themselves |
//! | [`probe`] | tasks → how many keys suit their documents |
//! | [`sketch`] | tasks → the keys of their documents, by ranges of keys |
//! | [`number`] | tasks, and what they have → the same with their lines and documents counted |
//! | [`link`] | all keys of some ranges → what is linked by them |
//! | [`forest`] | all links → who belongs together, by task |
//! | [`narrow`] | tasks, and who of them is linked with too many → rarer keys, for [`link`] again |
//! | [`fetch`] | tasks, and who is linked of them → their bits, by where they belong |
//! | [`refine`] | bits of documents that are linked → links of those that may be similar, for [`forest`] |
//! | [`fetch`] | tasks, and who is wanted of them → documents, by where they belong |
//! | [`verify`] | documents that belong together → pairs, clusters, or what goes |
//! | [`write`](mod@write) | tasks, and what goes of them → files of what stays |
//!
//! A document is known by its [`Order`]: its task and its ordinal there, so that all ties are
//! decided by input order. What belongs together is compared by the same verbs that compare a
//! whole collection: nothing is scored twice, and nothing here knows how.

mod arrow;
mod fetch;
mod forest;
mod keys;
mod link;
mod narrow;
mod notes;
mod number;
mod pack;
mod packs;
mod part_file;
mod plan;
mod probe;
mod refine;
mod rows;
mod sample;
mod sign;
mod sketch;
mod tokens;
mod verify;
#[cfg(test)]
mod wire;
mod write;

use std::io::{Read, Write};
use std::path::PathBuf;

use crate::cluster::{ClusterMethod, Keep};
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::read::Input;
use crate::run::Inputs;
use crate::settings::Settings;
use crate::write::{ClusterFormat, OutputFormat};
use arrow::{RowReader, RowWriter};
pub use keys::Keys;

/// What is asked for in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The similar pairs.
    Pairs(OutputFormat),
    /// Clusters of similar documents.
    Clusters(ClusterFormat),
    /// The documents to keep.
    Dedup,
}

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Cuts the inputs into tasks.
    Plan,
    /// Looks at some tasks, to know how many keys suit them.
    Probe,
    /// Files documents under keys.
    Sketch,
    /// Numbers the lines and documents of tasks.
    Number,
    /// Links documents that have a key in common.
    Link,
    /// Puts together what is linked.
    Forest,
    /// Files again what is linked with too many.
    Narrow,
    /// Reads documents that are linked, or their bits.
    Fetch,
    /// Links those whose bits are alike.
    Refine,
    /// Compares documents that belong together.
    Verify,
    /// Writes the documents to keep.
    Write,
}

/// How results are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// As lines, as they are printed, in files; nowhere, if it is not said where.
    Lines,
    /// As rows: two ids and a score.
    Rows,
}

/// What a stage is asked to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// As for the whole run.
    pub settings: Settings,
    /// What is asked for in the end.
    pub verb: Verb,
    /// How documents are joined.
    pub method: ClusterMethod,
    /// Which document of a cluster is kept.
    pub keep: Keep,
    /// Whether not even the least chance of missing a pair is taken.
    pub certain: bool,
    /// How many keys documents are filed under.
    pub keys: Keys,
    /// Bits of a key that are handed on; as many as suits the parts, if it is not said.
    pub key_bits: Option<u32>,
    /// Where the bits of documents are kept, to tell those apart that are far from similar.
    pub signs: Option<PathBuf>,
    /// Whether there are documents that others are only compared with.
    pub has_others: bool,
    /// Whether those that were linked with too many have been filed again.
    pub is_narrowed: bool,
    /// Documents that may be linked with each other before they are filed again, or cut into
    /// blocks; as many as suits the parts, if it is not said.
    pub together: Option<usize>,
    /// Into how many parts the rows of the next stage are dealt.
    pub parts: u32,
    /// Bytes of input in a task, about.
    pub split_bytes: u64,
    /// How results are given.
    pub emit: Emit,
    /// Where documents or lines are written.
    pub output: Option<PathBuf>,
    /// What is typed for the other stages too, as arguments; [`Stage::Plan`] gives it to who starts
    /// them.
    pub typed: Vec<String>,
}

/// The inputs, for the stages that read them: [`Stage::Plan`] all, others the templates alone.
pub type Planned = Inputs;

/// Runs a stage: rows come as an Arrow stream from `input` and go as one to `output`.
///
/// # Errors
/// If rows are not such as the stage takes, or do not end as they should, if an input cannot be
/// read on, or if the output cannot be written.
pub fn run_stage(
    stage: Stage,
    task: &Task,
    inputs: Planned,
    input: impl Read,
    output: impl Write + Send,
    observer: &dyn Observer,
) -> Result<(), Error> {
    check(task)?;
    let rows = RowReader::new(input);
    match (stage, task.emit) {
        (Stage::Plan, _) => plan::run(task, inputs, RowWriter::new(output)?),
        (Stage::Probe, _) => probe::run(task, &inputs, rows?, RowWriter::new(output)?),
        (Stage::Sketch, _) => sketch::run(task, &inputs, rows?, RowWriter::new(output)?, observer),
        (Stage::Number, _) => number::run(rows?, RowWriter::new(output)?),
        (Stage::Link, _) => link::run(task, rows?, RowWriter::new(output)?),
        (Stage::Forest, _) => forest::run(task, rows?, RowWriter::new(output)?),
        (Stage::Narrow, _) => narrow::run(task, &inputs, rows?, RowWriter::new(output)?),
        (Stage::Fetch, _) => fetch::run(task, rows?, RowWriter::new(output)?),
        (Stage::Refine, _) => refine::run(task, rows?, RowWriter::new(output)?),
        (Stage::Verify, Emit::Lines) => {
            verify::run(task, &inputs, rows?, RowWriter::new(output)?, observer)
        }
        (Stage::Verify, Emit::Rows) => {
            verify::run(task, &inputs, rows?, RowWriter::results(output)?, observer)
        }
        (Stage::Write, _) => write::run(task, rows?, RowWriter::new(output)?),
    }
}

/// What needs to see all documents at once, and is left to one machine.
fn check(task: &Task) -> Result<(), Error> {
    use crate::score::Measure;
    use crate::settings::{CommonSettings, Finding};
    let settings = &task.settings;
    settings.check()?;
    let refused = [
        (
            settings.measure == Measure::Containment,
            "--score containment needs all documents on one machine",
        ),
        (
            settings.common != CommonSettings::Keep,
            "--ignore-common needs all documents on one machine",
        ),
        (
            matches!(settings.finding, Finding::Bands(_))
                || matches!(settings.finding, Finding::Recall(recall) if recall < 1.0),
            "--recall below 1 and --bands are for one machine; leave them out",
        ),
        (
            settings.party_by.is_some()
                && task.verb == Verb::Dedup
                && task.method == ClusterMethod::Components,
            "dedup --cluster components with --group-by is for one machine",
        ),
    ];
    match refused.iter().find(|(is_refused, _)| *is_refused) {
        Some((_, why)) => Err(Error::in_file("settings", ErrorKind::Settings(why))),
        None => Ok(()),
    }
}

/// The same templates once more.
fn templates(inputs: &Inputs) -> Result<Vec<Input>, Error> {
    let again = |template: &Input| {
        template.once_more().ok_or_else(|| {
            stage_error(format!(
                "{}: this template is no file that can be read here; it must be on a file system \
                 that all machines see",
                template.name()
            ))
        })
    };
    inputs.templates.iter().map(again).collect()
}

/// Where a document stands: its task, and its ordinal there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Order(u64);

/// Bits of the ordinal.
const ORDINAL_BITS: u32 = 32;

impl Order {
    fn new(task: u32, ordinal: u64) -> Self {
        Self(u64::from(task) << ORDINAL_BITS | (ordinal & ((1 << ORDINAL_BITS) - 1)))
    }

    fn task(self) -> u32 {
        (self.0 >> ORDINAL_BITS) as u32
    }

    fn ordinal(self) -> u64 {
        self.0 & ((1 << ORDINAL_BITS) - 1)
    }
}

/// What a stage cannot go on with.
fn stage_error(what: impl Into<String>) -> Error {
    Error::in_file("worker", ErrorKind::Stage(what.into()))
}
