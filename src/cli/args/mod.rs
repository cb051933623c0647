//! What can be typed, by the headings of the help and by command. Values are checked one by
//! one in [`values`]; what they mean together stands beneath what can be typed.

mod cluster;
mod config;
mod dedup;
mod eval;
mod explain;
mod index;
mod input;
mod listing;
mod lists;
mod mistyped;
mod named;
mod output;
mod pairs;
mod query;
mod rank;
mod report;
mod resources;
mod scope;
mod settings;
mod shingles;
mod shown;
mod signature;
mod similarity;
mod sketch;
mod stopwords;
mod together;
mod tune;
mod typed;
mod values;
mod walk;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::cli::Failure;
use crate::cli::query::{check_against, index_of};
use settings::SimilarArgs;

pub(super) use cluster::ClusterArgs;
pub(super) use config::expanded;
pub(super) use dedup::DedupArgs;
pub(super) use eval::{EvalArgs, FigureFormatArg};
pub(super) use explain::{ExplainArgs, ExplainFormatArg};
pub(super) use index::{
    AddArgs, BuildArgs, CheckArgs, CompactArgs, ExportArgs, IndexCommand, InfoArgs, InfoFormatArg,
    RemoveArgs,
};
pub(super) use listing::{PairFormatArg, PairListArgs};
pub(super) use mistyped::{nearest_command, nearest_id};
pub(super) use named::check as check_name;
pub(super) use output::{OutputArgs, When};
pub(super) use pairs::PairsArgs;
pub(super) use query::QueryArgs;
pub(super) use rank::RankArgs;
pub(super) use report::ReportArgs;
pub(super) use resources::ResourceArgs;
pub(super) use sketch::SketchArgs;
pub(super) use tune::TuneArgs;
pub(super) use typed::Flag;
pub(super) use worker::WorkerArgs;

/// Find near-duplicate documents: a stream in, `url1 url2 score` out
#[derive(Debug, Parser)]
#[command(
    name = "simdup",
    version,
    long_about = pairs::HELP,
    after_long_help = pairs::AFTER_HELP,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) pairs: PairsArgs,
    /// What was typed, whatever its value.
    #[arg(skip)]
    pub(super) typed: Vec<Flag>,
    /// The same as a file of settings, if `--print-config` asks for it.
    #[arg(skip)]
    pub(super) config: Option<Result<String, String>>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print each document's signature, one JSON object a line
    #[command(long_about = sketch::HELP, after_long_help = sketch::AFTER_HELP, args_override_self = true)]
    Sketch(Box<SketchArgs>),
    /// Print clusters of near-duplicates
    #[command(long_about = cluster::HELP, after_long_help = cluster::AFTER_HELP, args_override_self = true)]
    Cluster(Box<ClusterArgs>),
    /// Print the documents to keep, as they came in
    #[command(long_about = dedup::HELP, after_long_help = dedup::AFTER_HELP, args_override_self = true)]
    Dedup(Box<DedupArgs>),
    /// Print documents by their likeness to a gold standard
    #[command(long_about = rank::HELP, after_long_help = rank::AFTER_HELP, args_override_self = true)]
    Rank(Box<RankArgs>),
    /// Keep documents in an index on disk, to be asked about and added to
    #[command(subcommand, long_about = index::HELP)]
    Index(Box<IndexCommand>),
    /// Print what an index holds that is similar to documents
    #[command(long_about = query::HELP, after_long_help = query::AFTER_HELP, args_override_self = true)]
    Query(Box<QueryArgs>),
    /// Show the passages that two documents share
    #[command(
        override_usage = explain::USAGE,
        long_about = explain::HELP,
        after_long_help = explain::AFTER_HELP,
        args_override_self = true
    )]
    Explain(Box<ExplainArgs>),
    /// Write one page to look at
    #[command(long_about = report::HELP, after_long_help = report::AFTER_HELP, args_override_self = true)]
    Report(Box<ReportArgs>),
    /// Print what settings find and miss of these documents
    #[command(long_about = eval::HELP, after_long_help = eval::AFTER_HELP, args_override_self = true)]
    Eval(Box<EvalArgs>),
    /// Print settings for these documents, from a sample of them
    #[command(long_about = tune::HELP, after_long_help = tune::AFTER_HELP, args_override_self = true)]
    Tune(Box<TuneArgs>),
    /// A stage of a run, for an engine that has many machines
    #[command(
        long_about = worker::HELP,
        after_long_help = worker::AFTER_HELP,
        args_override_self = true,
        hide = cfg!(not(feature = "worker"))
    )]
    Worker(Box<WorkerArgs>),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual, in roff: `simdup man | man -l -`
    Man {
        /// The page of one command; without it, the one of all
        #[arg(conflicts_with = "dir")]
        command: Option<String>,
        /// Write a page for each command to this directory, as packages have them
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

impl Cli {
    /// Adds the files that are listed in others.
    pub(super) fn list_files(&mut self) -> Result<(), Failure> {
        match &mut self.command {
            None => self.pairs.similar.input.list(),
            Some(Command::Sketch(args)) => args.input.list(),
            Some(Command::Cluster(args)) if args.pairs.is_none() => args.similar.input.list(),
            Some(Command::Dedup(args)) => args.similar.input.list(),
            Some(Command::Rank(args)) => args.input.list(),
            Some(Command::Query(args)) => args.input.list(),
            Some(Command::Eval(args)) => args.input.list(),
            Some(Command::Tune(args)) => args.input.list(),
            Some(Command::Index(command)) => command.list_files(),
            Some(Command::Report(args)) => args.similar.input.list(),
            Some(Command::Worker(args)) => args.similar.input.list(),
            Some(Command::Explain(args)) => {
                args.take_ids()?;
                args.similar.input.list()
            }
            Some(Command::Cluster(_) | Command::Completions { .. } | Command::Man { .. }) => Ok(()),
        }
    }

    /// Refuses what could not run, whatever the files are.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match &self.command {
            None => {
                let settings = self.pairs.settings()?;
                match self.check_index(&self.pairs.similar, &settings)? {
                    Some(index) => self.pairs.pairs.check_index(index.folder()),
                    None => Ok(()),
                }
            }
            Some(Command::Sketch(args)) => args.settings().map(drop),
            Some(Command::Cluster(args)) => match &args.pairs {
                Some(path) => args.check_pairs(path, &self.typed),
                None => args.settings().map(drop),
            },
            Some(Command::Dedup(args)) => {
                let settings = args.settings()?;
                self.check_index(&args.similar, &settings).map(drop)
            }
            Some(Command::Rank(args)) => args.settings().map(drop),
            Some(Command::Query(args)) => args.settings().map(drop),
            Some(Command::Explain(args)) => args.settings().map(drop),
            Some(Command::Report(args)) => args.settings().map(drop),
            Some(Command::Eval(args)) => args.settings().map(drop),
            Some(Command::Tune(args)) => args.settings().map(drop),
            Some(Command::Index(command)) => command.check(),
            Some(Command::Worker(_) | Command::Completions { .. } | Command::Man { .. }) => Ok(()),
        }
    }

    /// Refuses what the index among `--against` cannot do. Gives back the index, if there is one
    /// that can be opened.
    fn check_index(
        &self,
        similar: &SimilarArgs,
        settings: &simdup::Settings,
    ) -> Result<Option<simdup::Index>, Failure> {
        let Ok(Some(index)) = index_of(&similar.similarity.against) else {
            return Ok(None);
        };
        check_against(&index, settings, &self.typed)?;
        Ok(Some(index))
    }

    /// Reads the command line.
    pub(super) fn read(typed: Vec<OsString>) -> Result<Self, clap::Error> {
        // Should it be the value of a flag, no page is shown.
        let is_brief = typed.iter().any(|argument| argument == "-h");
        let mut command = match is_brief {
            true => Self::shown_briefly(),
            false => Self::shown(),
        };
        let path = command_path(&command, &typed);
        let matches = match command.try_get_matches_from_mut(typed) {
            Ok(matches) => matches,
            Err(error) => return Err(mistyped::elsewhere(error, &command, &path)),
        };
        let mut typed = Self::from_arg_matches(&matches)?;
        let (mut command, mut matches) = (&command, &matches);
        while let Some((name, inner)) = matches.subcommand()
            && let Some(found) = command.find_subcommand(name)
        {
            (command, matches) = (found, inner);
        }
        typed.typed = typed::flags(command, matches);
        if typed.typed.iter().any(|flag| flag.name == "--print-config") {
            typed.config = Some(config::printed(command, matches));
        }
        Ok(typed)
    }
}

/// The names of the command that is typed, from the outermost on.
fn command_path(cli: &clap::Command, typed: &[OsString]) -> Vec<String> {
    let mut path = Vec::new();
    let mut command = cli;
    for name in typed.iter().skip(1).map_while(|argument| argument.to_str()) {
        let Some(found) = command.find_subcommand(name) else {
            break;
        };
        path.push(name.to_owned());
        command = found;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::shown().debug_assert();
    }
}
