//! What was typed, what it means, and what the terminal shows meanwhile. The
//! only part of simdup that knows the command line.

mod args;
mod baseline;
mod cluster;
mod course;
mod dedup;
mod eval;
mod explain;
mod files;
mod index;
mod interrupt;
mod linux;
mod observer;
mod page;
mod pages;
mod pairs;
mod pipe;
mod query;
mod rank;
pub(crate) mod report;
mod screen;
mod shards;
mod sketch;
mod standard_output;
mod summary;
mod tune;
mod worker;

use std::io;
use std::process::ExitCode;

use args::{Cli, Command, ResourceArgs};
use simdup::Stats;

/// How a run ended that was not cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Something was found, and `--exit-status` was given.
    Found,
    /// Records were skipped, and `--skip-ok` was not given.
    Skipped,
    /// No document at all could be read, and `--exit-status` was given: a wrong path must not pass
    /// a build.
    NoDocument,
}

impl Outcome {
    /// Of a run that asks for no answer in its status.
    fn of(stats: &Stats, resources: &ResourceArgs) -> Self {
        match (stats.counts.skipped, resources.skip_ok) {
            (0, _) | (_, true) => Self::Done,
            (_, false) => Self::Skipped,
        }
    }

    /// Of a run that asks for one, perhaps.
    fn answering(stats: &Stats, resources: &ResourceArgs, answer: Answer) -> Self {
        match (Self::of(stats, resources), answer.is_asked) {
            // Whatever was skipped: a wrong path must not look like a bad record.
            (_, true) if answer.documents == 0 => Self::NoDocument,
            (Self::Done, true) if answer.found > 0 => Self::Found,
            (outcome, _) => outcome,
        }
    }
}

/// What a run tells by its status.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// Whether `--exit-status` was given.
    is_asked: bool,
    /// Documents that were read.
    documents: u64,
    /// What was found of what is looked for.
    found: u64,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::Found => Self::from(1),
            Outcome::Skipped => Self::from(2),
            Outcome::NoDocument => Self::from(3),
        }
    }
}

/// Why a run was cut short.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was typed makes no sense; the text names the flag and the remedy.
    Usage(String),
    /// Reading or writing failed.
    Run(simdup::Error),
}

impl Failure {
    /// The reader of the results has seen enough of them. Whoever reads anything else, or
    /// named a pipe to write to, is missing something.
    pub(crate) fn is_end_of_interest(&self) -> bool {
        matches!(self, Self::Run(error) if error.is_broken_pipe() && report::is_main_output(error))
    }

    /// As a run that a signal ended has it, if one would have.
    pub(crate) fn status(&self) -> ExitCode {
        match self {
            Self::Run(error) if report::is_too_large(&error.kind) => {
                ExitCode::from(interrupt::FILE_TOO_LARGE)
            }
            _ => ExitCode::from(2),
        }
    }

    /// A file, or standard output as `-`, could not be written.
    fn write(name: &str, error: io::Error) -> Self {
        Self::Run(simdup::Error::in_file(
            name,
            simdup::results::ErrorKind::Write(error),
        ))
    }
}

impl From<simdup::Error> for Failure {
    fn from(error: simdup::Error) -> Self {
        Self::Run(error)
    }
}

/// Runs what was typed.
pub(crate) fn run() -> Result<Outcome, Failure> {
    let arguments = args::expanded(std::env::args_os().collect())?;
    let mut typed = match Cli::read(arguments) {
        Ok(typed) => typed,
        Err(page) if !page.use_stderr() => return pages::print_help(&page),
        Err(error) => error.exit(),
    };
    if let Some(config) = typed.config.take() {
        let config = config.map_err(Failure::Usage)?;
        typed.check()?;
        return pages::print(config.as_bytes());
    }
    typed.list_files()?;
    interrupt::watch();
    let skip_ok = typed.typed.iter().any(|flag| flag.name == "--skip-ok");
    let ended = match typed.command {
        None => pairs::run(&typed.pairs, &typed.typed),
        Some(Command::Sketch(args)) => sketch::run(&args),
        Some(Command::Cluster(args)) => cluster::run(&args, &typed.typed),
        Some(Command::Dedup(args)) => dedup::run(&args, &typed.typed),
        Some(Command::Rank(args)) => rank::run(&args),
        Some(Command::Index(command)) => index::run(&command, &typed.typed),
        Some(Command::Query(args)) => query::run(&args, &typed.typed),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Report(args)) => page::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        Some(Command::Tune(args)) => tune::run(&args, &typed.typed),
        Some(Command::Worker(args)) => worker::run(&args, &typed.typed),
        Some(Command::Completions { shell }) => pages::print_completions(shell),
        Some(Command::Man { dir: Some(dir), .. }) => pages::write_manual(&dir),
        Some(Command::Man { command, .. }) => pages::print_manual(command.as_deref()),
    };
    match ended {
        // What is known by then counts all the same.
        Err(failure) if failure.is_end_of_interest() => Ok(match observer::has_skipped() {
            true if !skip_ok => Outcome::Skipped,
            _ => Outcome::Done,
        }),
        ended => ended,
    }
}
