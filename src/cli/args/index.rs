//! `simdup index`: what can be typed, and its help.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use simdup::Settings;
use simdup::settings::{Measure, Present, Threshold, Writer};

use super::input::{Fields, InputArgs};
use super::listing::{ListArgs, PairFormatArg};
use super::output::{OutputArgs, When};
use super::resources::ResourceArgs;
use super::settings::{read_paths, read_settings};
use super::shingles::ShingleArgs;
use super::values::{at_least_one, seconds};
use super::{named, together};
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Keeps documents on disk, so that new ones can be held against all that came before without reading \
those again: `index build` makes an index, `index add` adds to it and prints the pairs that the new \
documents bring, `simdup query` asks it, and --against takes it in place of documents.

An index is a folder. It holds ids and shingles, no text, and what is found in it is exact and \
complete for any threshold, by Jaccard similarity and by containment. It remembers how its shingles \
were made, and makes those of other documents the same way.

A change is there as a whole or not at all, whatever happens meanwhile. One writes at a time, and \
others wait for it (--lock-timeout); any number may read, and each sees the index as it was when it \
was opened.

No other program may change or cut the files of an index that is in use. A process that reads a \
removed part is killed with a bus error (SIGBUS). On a network drive, that includes files that simdup \
removes on another machine; read and write an index from one machine, or read a copy on a local disk.";

const BUILD_HELP: &str = "\
Makes an index of the documents, in a folder that is not there yet. What a shingle is (--shingle-words \
and the like), and which fields are read (--id-field, --text-field, --html) and kept (--store-field), is remembered.";

const BUILD_AFTER_HELP: &str = "\
Cost:
  Time grows with the text: one to three times that of `simdup --score jaccard`. Memory is
  at most 1.5 GB, or less with --memory. The folder takes about 11 bytes per word; while it
  is made, twice as much.

Examples:
  simdup index build example.idx tests/data/example.jsonl
  simdup index build --shingle-chars 8 --text-field title,body news.idx archive/";

const ADD_HELP: &str = "\
Adds documents to an index, all of them or none, and prints the pairs between them and all that it \
holds, as `simdup --score jaccard` over everything would: older documents on the left, in the order in \
which they came. A document whose id is there already ends the run, and nothing is added, unless \
--replace or --skip says otherwise.";

const ADD_AFTER_HELP: &str = "\
Cost:
  Time grows with the new documents, not with the index. Now and then parts of the index
  are merged, so that a document is written anew as often as the index has doubled.

Examples:
  simdup index add news.idx today.jsonl
  simdup index add --no-pairs --skip news.idx crawl/*.warc.gz";

/// What can be done with an index.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum IndexCommand {
    /// Make an index of documents
    #[command(long_about = BUILD_HELP, after_long_help = BUILD_AFTER_HELP, args_override_self = true)]
    Build(BuildArgs),
    /// Add documents, and print the pairs that they bring
    #[command(long_about = ADD_HELP, after_long_help = ADD_AFTER_HELP, args_override_self = true)]
    Add(AddArgs),
    /// Remove documents: all that are named, or none
    #[command(args_override_self = true)]
    Remove(RemoveArgs),
    /// Print what an index is made of
    #[command(args_override_self = true)]
    Info(InfoArgs),
    /// Hold everything in an index against its checksums, and against each other
    #[command(args_override_self = true)]
    Check(CheckArgs),
    /// Merge all of an index into one segment, without what was removed
    #[command(args_override_self = true)]
    Compact(CompactArgs),
    /// Print every document as JSONL: its id, how many shingles it has, its fields
    #[command(args_override_self = true)]
    Export(ExportArgs),
}

impl IndexCommand {
    /// Refuses what could not run, whatever the files are.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Build(args) => args.settings().map(drop),
            Self::Add(args) => args.settings().map(drop),
            _ => Ok(()),
        }
    }

    pub(super) fn list_files(&mut self) -> Result<(), Failure> {
        match self {
            Self::Build(args) => args.input.list(),
            Self::Add(args) => args.input.list(),
            _ => Ok(()),
        }
    }
}

/// Who else may write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Index")]
pub(in crate::cli) struct LockArgs {
    /// How long to wait for others who write
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    lock_timeout: Duration,
}

impl LockArgs {
    /// Who writes: this process, and what it was asked to do.
    pub(in crate::cli) fn writer(&self, command: &str) -> Writer {
        Writer {
            name: format!("process {} (simdup index {command})", std::process::id()),
            wait: self.lock_timeout,
        }
    }
}

/// What is told, where there is no result to write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct ToldArgs {
    /// Write what was done to FILE, as JSON; `-` is standard error
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    /// Show progress on standard error; auto: if it is a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    progress: When,
    /// Close with a line on standard error: what was read, how long it took; auto: if it is a
    /// terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    summary: When,
    /// Take settings from FILE, in TOML: keys are the long flags, such as `threshold = 0.8`; a flag
    /// that is typed counts more
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the flags of this command line, those of --config among them, as a file for --config,
    /// and end
    #[arg(long)]
    print_config: bool,
    /// No warnings; what was skipped is still reported
    #[arg(short, long)]
    quiet: bool,
}

impl ToldArgs {
    pub(in crate::cli) fn output(&self) -> OutputArgs {
        OutputArgs {
            output: None,
            stats: self.stats.clone(),
            progress: self.progress,
            summary: self.summary,
            config: self.config.clone(),
            print_config: self.print_config,
            quiet: self.quiet,
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct BuildArgs {
    /// The folder that the index will be
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    /// Fields of JSON records to keep in the index, for `index export`
    #[arg(long, value_name = "NAME,…", help_heading = "Index")]
    store_field: Option<Fields>,
    #[command(flatten)]
    pub(in crate::cli) lock: LockArgs,
    #[command(flatten)]
    pub(in crate::cli) told: ToldArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl BuildArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let read = read_paths(&self.input, &self.shingles);
        self.told.output().keep_apart(None, read)?;
        let settings = settings(&self.input, &self.shingles, &self.resources)?;
        let stored = self.store_field.clone();
        Ok(Settings {
            stored_fields: stored.map_or_else(Vec::new, |Fields(names)| names),
            ..settings
        })
    }
}

/// How documents are read and become shingles.
pub(super) fn settings(
    input: &InputArgs,
    shingles: &ShingleArgs,
    resources: &ResourceArgs,
) -> Result<Settings, Failure> {
    let paths = input.files.iter().map(PathBuf::as_path);
    input.walk.check(input.input_format, paths)?;
    resources.check()?;
    input.check(shingles.items)?;
    let mut read = read_settings(input, resources);
    read.items = shingles.items;
    Ok(Settings {
        read,
        shingle: shingles.settings(None)?,
        measure: Measure::Jaccard,
        strictness: resources.strictness(),
        threads: resources.threads,
        memory: Some(resources.memory()),
        ..Settings::default()
    })
}

/// What is similar enough.
#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(in crate::cli) struct ExactArgs {
    /// What a score is
    #[arg(short, long, value_name = "SCORE", value_enum, default_value_t = ExactArg::Jaccard)]
    pub(in crate::cli) score: ExactArg,
    /// Print what has a score of at least T: above 0, at most 1 [default: 0.75]
    #[arg(short, long, value_name = "T")]
    pub(in crate::cli) threshold: Option<Threshold>,
    /// Leave out pairs that share fewer than N different shingles [default: 0]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) min_shared: Option<u32>,
}

impl ExactArgs {
    pub(super) fn settings(&self, settings: Settings) -> Settings {
        Settings {
            measure: match self.score {
                ExactArg::Jaccard => Measure::Jaccard,
                ExactArg::Containment => Measure::Containment,
            },
            threshold: self.threshold.unwrap_or_default(),
            min_shared: self.min_shared.unwrap_or_default(),
            ..settings
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ExactArg {
    /// Shingles in both documents, of those in either
    Jaccard,
    /// Shingles in both documents, of the smaller one's
    Containment,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AddArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    #[command(flatten)]
    pub(in crate::cli) exact: ExactArgs,
    /// Print no pairs
    #[arg(long, help_heading = "Index")]
    pub(in crate::cli) no_pairs: bool,
    /// A document takes the place of one with its id
    #[arg(long, help_heading = "Index")]
    replace: bool,
    /// A document is left out if its id is there
    #[arg(long, help_heading = "Index")]
    skip: bool,
    #[command(flatten)]
    pub(in crate::cli) lock: LockArgs,
    /// How pairs are written [default: text, or as the name of --output ends]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_enum,
        help_heading = "Output"
    )]
    pub(in crate::cli) format: Option<PairFormatArg>,
    /// Print no more than the N pairs with the highest scores; memory is for N pairs
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Output")]
    pub(in crate::cli) top: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) list: ListArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl AddArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let beside_no_pairs = |given, flag| {
            let why = "there is nothing to write; leave out one of them";
            (given && self.no_pairs, "--no-pairs", flag, why)
        };
        together::check(&[
            (
                self.replace && self.skip,
                "--replace",
                "--skip",
                "a document takes the place of the other one, or is left out; leave out one of them",
            ),
            beside_no_pairs(self.output.output.is_some(), "--output"),
            beside_no_pairs(self.list.exit_status, "--exit-status"),
            beside_no_pairs(self.exact.threshold.is_some(), "--threshold"),
            beside_no_pairs(self.exact.min_shared.is_some(), "--min-shared"),
            beside_no_pairs(self.format.is_some(), "--format"),
            beside_no_pairs(self.list.sort.is_some(), "--sort"),
            beside_no_pairs(self.top.is_some(), "--top"),
            beside_no_pairs(self.list.digits.is_some(), "--digits"),
            beside_no_pairs(self.list.count, "--count"),
        ])?;
        self.list.check(self.format.is_some(), self.top.is_some())?;
        if self.format.is_none() && !self.list.count {
            named::check_rows(&self.output, &["jsonl", "csv", "tsv", "txt"])?;
        }
        let read = read_paths(&self.input, &self.shingles);
        self.output.keep_apart(None, read)?;
        let settings = settings(&self.input, &self.shingles, &self.resources)?;
        Ok(self.exact.settings(settings))
    }

    pub(in crate::cli) fn present(&self) -> Present {
        match (self.replace, self.skip) {
            (true, _) => Present::Replace,
            (false, true) => Present::Skip,
            (false, false) => Present::Refuse,
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    /// Ids of documents
    #[arg(value_name = "ID")]
    pub(in crate::cli) ids: Vec<String>,
    /// More ids are listed there, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) ids_from: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) lock: LockArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InfoArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    /// How it is written
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = InfoFormatArg::Text)]
    pub(in crate::cli) format: InfoFormatArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum InfoFormatArg {
    /// Lines to read
    Text,
    /// A JSON object
    Json,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CompactArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) lock: LockArgs,
    /// Threads; 0 for one a core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = super::values::threads)]
    pub(in crate::cli) threads: usize,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    /// Write to FILE, which appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
}
