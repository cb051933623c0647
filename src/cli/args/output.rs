//! What is written where.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::cli::Failure;
use crate::cli::files::{Written, keep_apart};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct OutputArgs {
    /// Write to FILE, which appears whole or not at all, and is none that is read; compressed if it
    /// is named .gz, .zst, .bz2 or .xz
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Write what was done to FILE, as JSON; `-` is standard error
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) stats: Option<PathBuf>,
    /// Show progress on standard error; auto: if it is a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub(in crate::cli) progress: When,
    /// Close with a line on standard error: what was read and found, how long it took; auto: if it
    /// is a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub(in crate::cli) summary: When,
    /// Take settings from FILE, in TOML: keys are the long flags, such as `threshold = 0.8`; a flag
    /// that is typed counts more
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Print the flags of this command line, those of --config among them, as a file for --config,
    /// and end
    #[arg(long)]
    pub(in crate::cli) print_config: bool,
    /// No warnings; what was skipped is still reported
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum When {
    Auto,
    Always,
    Never,
}

impl OutputArgs {
    /// Refuses to write over what is read, or two results over each other.
    pub(super) fn keep_apart<'a>(
        &self,
        beside: Option<(&'static str, &Path)>,
        read: impl Iterator<Item = &'a Path>,
    ) -> Result<(), Failure> {
        let output = self.output.as_deref().unwrap_or(Path::new("-"));
        let stats = self.stats.as_deref().map(|path| ("--stats", path));
        let written: Vec<Written<'_>> = std::iter::once(("--output", output))
            .chain(beside)
            .chain(stats)
            .map(|(flag, path)| Written { flag, path })
            .collect();
        keep_apart(&written, &read.collect::<Vec<_>>())
    }
}
