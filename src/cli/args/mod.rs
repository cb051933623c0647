//! What can be typed, by the headings of the help and by command. Values are checked one by
//! one in [`values`]; what they mean together stands beneath what can be typed.

mod cluster;
mod dedup;
mod input;
mod output;
mod pairs;
mod resources;
mod shingles;
mod similarity;
mod sketch;
mod values;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub(super) use cluster::ClusterArgs;
pub(super) use dedup::DedupArgs;
pub(super) use output::{OutputArgs, When};
pub(super) use pairs::PairsArgs;
pub(super) use sketch::SketchArgs;

use super::Failure;

/// Find near-duplicate documents: a stream in, `url1 url2 score` out
#[derive(Debug, Parser)]
#[command(
    name = "simdup",
    version,
    long_about = pairs::HELP,
    after_long_help = pairs::AFTER_HELP,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) pairs: PairsArgs,
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
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, in roff: `simdup man | man -l -`
    Man,
}

/// Refuses what is given and makes no sense, with the reason.
fn refuse_all(reasons: &[(bool, &str)]) -> Result<(), Failure> {
    match reasons.iter().find(|(given, _)| *given) {
        Some((_, reason)) => Err(Failure::Usage((*reason).into())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
