//! `simdup worker`: what can be typed, and its help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
#[cfg(feature = "worker")]
use simdup::inside::{ClusterFormat, Emit, Keys, Stage, Task, Verb};
#[cfg(feature = "worker")]
use simdup::settings::Measure;

use super::cluster::ClusterChoiceArgs;
use super::listing::PairFormatArg;
use super::resources::ResourceArgs;
use super::settings::SimilarArgs;
#[cfg(feature = "worker")]
use super::typed::Flag;
use super::values::bytes;
#[cfg(feature = "worker")]
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Does one stage of a run, for an engine that has many machines: rows come as an Arrow stream on \
standard input, and go as one to standard output. The Python package `simdup` does this on Spark \
(`simdup-spark --help`); docs/worker.md has the protocol, for other engines.

STAGE is plan, probe, sketch, number, link, forest, fetch, verify or write, in this order; narrow, link and \
forest again come behind forest if it asks for it, and fetch --signs, refine and forest again where texts \
are to be sent of fewer. The settings are \
those of `simdup`, `simdup cluster` or `simdup dedup`, as --for says, and the same for all \
stages; FILEs are named for `plan` alone, whose rows say what the others read, and what else is to be \
typed for them. \
With --for cluster or dedup, and with --score jaccard, a pair at the threshold is missed with a \
chance of 10^-12 at the most, or with --recall 1, for more keys, with none.

What is wrong is told on standard error, with status 2. A worker ends when the process that \
started it does.";

pub(super) const AFTER_HELP: &str = "\
Examples:
  simdup worker plan --for pairs --score jaccard tests/data/example.jsonl < /dev/null > plan.arrow
  simdup worker sketch --for pairs --score jaccard --parts 8 < plan-and-end.arrow > keys.arrow";

#[derive(Debug, Args)]
pub(in crate::cli) struct WorkerArgs {
    /// Which stage
    #[arg(value_enum)]
    pub(in crate::cli) stage: StageArg,
    #[command(flatten)]
    pub(in crate::cli) worker: EngineArgs,
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    #[command(flatten)]
    pub(in crate::cli) clusters: ClusterChoiceArgs,
    /// With --for dedup and --against, which need it: remove what is similar to the other
    /// collection, and nothing else
    #[arg(long, requires = "against", help_heading = "Similarity")]
    pub(in crate::cli) against_only: bool,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Stage")]
pub(in crate::cli) struct EngineArgs {
    /// What is asked for in the end
    #[arg(long = "for", value_name = "VERB", value_enum, default_value_t = VerbArg::Pairs)]
    pub(in crate::cli) verb: VerbArg,
    /// Refuse to run unless this is the version
    #[arg(long, value_name = "VERSION")]
    pub(in crate::cli) expect_version: Option<String>,
    /// Ranges of keys, or parts that what belongs together is dealt out to; 0 for `forest` where
    /// another `forest` follows
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::cli) parts: u32,
    /// For `sketch`: how many keys documents are filed under, as `probe` says; many, unless it is
    /// said, which suits texts that share passages with very many others
    #[arg(long, value_name = "HOW", value_enum)]
    pub(in crate::cli) keys: Option<KeysArg>,
    /// For `sketch`: how many bits of a key are handed on, as `probe` says; 38 and more, unless it is
    /// said, the more parts the more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=48))]
    pub(in crate::cli) key_bits: Option<u32>,
    /// For `sketch`: a directory that is there, in which a file of a few bits of each document is left
    /// for each task, unless keys are few or bits tell nothing; for `fetch`: send these instead of
    /// documents
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) signs: Option<PathBuf>,
    /// For `forest`: what was linked with too many has been filed again, or links are those of `refine`
    #[arg(long)]
    pub(in crate::cli) narrowed: bool,
    /// For `forest`: documents that may be linked with each other before they are filed again under
    /// what is rare, or cut into blocks (131,072)
    #[arg(long, value_name = "N")]
    pub(in crate::cli) together: Option<usize>,
    /// Bytes of input in a task, about
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "64M")]
    pub(in crate::cli) split: u64,
    /// How `verify` gives results: as lines of --format in files of --output, or as rows with two ids
    /// and a score
    #[arg(long, value_name = "HOW", value_enum, default_value_t = EmitArg::Lines)]
    pub(in crate::cli) emit: EmitArg,
    /// The format of lines; of clusters text or jsonl
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = PairFormatArg::Text)]
    pub(in crate::cli) format: PairFormatArg,
    /// The directory in which `verify` leaves a file of lines for each part that has any, and `write`
    /// one of documents for each task
    #[arg(short, long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum StageArg {
    /// Cuts the FILEs into tasks
    Plan,
    /// Looks at some tasks, to know how many keys suit them
    Probe,
    /// Files the documents of tasks under keys
    Sketch,
    /// Numbers lines and documents of tasks that were read
    Number,
    /// Links documents that have a key in common
    Link,
    /// Puts together what is linked
    Forest,
    /// Files again what is linked with too many
    Narrow,
    /// Reads the documents that are linked, or their bits
    Fetch,
    /// Links those whose bits are alike
    Refine,
    /// Compares those that belong together
    Verify,
    /// Writes the documents to keep
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum VerbArg {
    /// Similar pairs, as `simdup`
    Pairs,
    /// Clusters, as `simdup cluster`
    Cluster,
    /// The documents to keep, as `simdup dedup`
    Dedup,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum EmitArg {
    /// Lines, as they are printed
    Lines,
    /// Two ids and a score
    Rows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum KeysArg {
    /// No more than 40
    Few,
    /// No more than 100, which link fewer that are not similar
    Many,
}

#[cfg(feature = "worker")]
impl WorkerArgs {
    pub(in crate::cli) fn stage(&self) -> Stage {
        match self.stage {
            StageArg::Plan => Stage::Plan,
            StageArg::Probe => Stage::Probe,
            StageArg::Sketch => Stage::Sketch,
            StageArg::Number => Stage::Number,
            StageArg::Link => Stage::Link,
            StageArg::Forest => Stage::Forest,
            StageArg::Narrow => Stage::Narrow,
            StageArg::Fetch => Stage::Fetch,
            StageArg::Refine => Stage::Refine,
            StageArg::Verify => Stage::Verify,
            StageArg::Write => Stage::Write,
        }
    }

    pub(in crate::cli) fn task(&self, typed: &[Flag]) -> Result<Task, Failure> {
        let EngineArgs {
            verb,
            parts,
            keys,
            key_bits,
            signs,
            narrowed,
            together,
            split,
            emit,
            format,
            output,
            ..
        } = &self.worker;
        if *verb == VerbArg::Cluster
            && !matches!(format, PairFormatArg::Text | PairFormatArg::Jsonl)
        {
            return Err(Failure::Usage(
                "--format: clusters are written as text or jsonl".into(),
            ));
        }
        if *verb == VerbArg::Pairs && *format == PairFormatArg::Csv {
            return Err(Failure::Usage(
                "--format: pairs are written to many files here, as text, tsv or jsonl; csv has a \
                 header"
                    .into(),
            ));
        }
        let of_clusters = typed
            .iter()
            .find(|flag| ["--keep", "--cluster"].contains(&flag.name.as_str()));
        if *verb == VerbArg::Pairs
            && let Some(flag) = of_clusters
        {
            return Err(Failure::Usage(format!(
                "{} has no effect on pairs; leave it out",
                flag.name
            )));
        }
        if (*narrowed || together.is_some()) && self.stage != StageArg::Forest {
            return Err(Failure::Usage(
                "--narrowed and --together go with `forest`".into(),
            ));
        }
        if (keys.is_some() || key_bits.is_some()) && self.stage != StageArg::Sketch {
            return Err(Failure::Usage(
                "--keys and --key-bits go with `sketch`".into(),
            ));
        }
        if signs.is_some() && !matches!(self.stage, StageArg::Sketch | StageArg::Fetch) {
            return Err(Failure::Usage(
                "--signs goes with `sketch` and `fetch`".into(),
            ));
        }
        if output.is_some() && !matches!(self.stage, StageArg::Verify | StageArg::Write) {
            return Err(Failure::Usage(
                "--output goes with `verify` and `write`".into(),
            ));
        }
        if output.is_some() && *emit == EmitArg::Rows && self.stage == StageArg::Verify {
            return Err(Failure::Usage(
                "--output is for lines: leave --emit rows out".into(),
            ));
        }
        if output.is_none()
            && *emit == EmitArg::Lines
            && self.stage == StageArg::Verify
            && *verb != VerbArg::Dedup
        {
            return Err(Failure::Usage(
                "verify: --output says where lines are written; --emit rows gives rows".into(),
            ));
        }
        let has_others = !self.similar.similarity.against.is_empty();
        if *verb == VerbArg::Dedup && has_others && !self.against_only {
            return Err(Failure::Usage(
                "--against: on many machines, duplicates within FILE are not removed; add \
                 --against-only, or run `simdup dedup` on one machine"
                    .into(),
            ));
        }
        if *verb != VerbArg::Dedup && self.against_only {
            return Err(Failure::Usage(
                "--against-only goes with --for dedup: leave it out".into(),
            ));
        }
        let default = match verb {
            VerbArg::Pairs => Measure::MinHash,
            VerbArg::Cluster | VerbArg::Dedup => Measure::Jaccard,
        };
        let settings = self.similar.settings(default, &self.resources)?;
        if *verb != VerbArg::Pairs && settings.measure != Measure::Jaccard {
            return Err(Failure::Usage(
                "--score: clusters are made of exact Jaccard scores; leave it out".into(),
            ));
        }
        Ok(Task {
            settings,
            verb: match verb {
                VerbArg::Pairs => Verb::Pairs((*format).into()),
                VerbArg::Cluster if *format == PairFormatArg::Jsonl => {
                    Verb::Clusters(ClusterFormat::Jsonl)
                }
                VerbArg::Cluster => Verb::Clusters(ClusterFormat::Text),
                VerbArg::Dedup => Verb::Dedup,
            },
            method: self.clusters.cluster.into(),
            keep: self.clusters.keep.clone(),
            certain: self.similar.similarity.recall == Some(1.0),
            keys: match keys {
                Some(KeysArg::Few) => Keys::Few,
                Some(KeysArg::Many) | None => Keys::Many,
            },
            key_bits: *key_bits,
            signs: signs.clone(),
            has_others,
            is_narrowed: *narrowed,
            together: *together,
            parts: *parts,
            split_bytes: *split,
            emit: match emit {
                EmitArg::Lines => Emit::Lines,
                EmitArg::Rows => Emit::Rows,
            },
            output: output.clone(),
            typed: handed_on(typed)?,
        })
    }
}

/// What was typed for `plan` that is typed for all other stages too: not what it reads, nor what
/// each stage is told by itself.
#[cfg(feature = "worker")]
fn handed_on(typed: &[Flag]) -> Result<Vec<String>, Failure> {
    const FOR_ONE_STAGE: [&str; 15] = [
        "FILE",
        "--files-from",
        "--null",
        "--config",
        "--for",
        "--expect-version",
        "--parts",
        "--keys",
        "--key-bits",
        "--signs",
        "--narrowed",
        "--together",
        "--split",
        "--emit",
        "--output",
    ];
    let mut all = Vec::new();
    for flag in typed
        .iter()
        .filter(|flag| !FOR_ONE_STAGE.contains(&flag.name.as_str()))
    {
        let typed = flag.typed_elsewhere();
        all.extend(
            typed
                .ok_or_else(|| Failure::Usage(format!("{}: the value is not UTF-8", flag.name)))?,
        );
    }
    Ok(all)
}
