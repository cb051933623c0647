//! What is written where.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simdup::inside::OutputFormat;

use crate::cli::Failure;
use crate::cli::files::{Written, keep_apart};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct PairOutputArgs {
    /// How pairs are written
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = PairFormatArg::Text)]
    pub(in crate::cli) format: PairFormatArg,
    /// Exit with status 1 if a pair was found
    #[arg(long)]
    pub(in crate::cli) exit_status: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PairFormatArg {
    /// `url1 url2 score`; inside an id, white space is percent-encoded, and a % before two
    /// hexadecimal digits too, so that decoding gives the id back
    Text,
    /// Tab-separated; tab, line ends and backslash inside an id are escaped
    Tsv,
    /// Comma-separated with a header, quoted as in RFC 4180
    Csv,
    /// {"url1":…,"url2":…,"score":…}
    Jsonl,
}

impl From<PairFormatArg> for OutputFormat {
    fn from(typed: PairFormatArg) -> Self {
        match typed {
            PairFormatArg::Text => Self::Text,
            PairFormatArg::Tsv => Self::Tsv,
            PairFormatArg::Csv => Self::Csv,
            PairFormatArg::Jsonl => Self::Jsonl,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct OutputArgs {
    /// Write to FILE, which appears whole or not at all, and is none that is read
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Write what was done to FILE, as JSON; `-` is standard error
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) stats: Option<PathBuf>,
    /// Show progress on standard error; auto: if it is a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub(in crate::cli) progress: When,
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
        removed: Option<&Path>,
        read: impl Iterator<Item = &'a Path>,
    ) -> Result<(), Failure> {
        let output = self.output.as_deref().unwrap_or(Path::new("-"));
        let written: Vec<Written<'_>> = [
            ("--output", Some(output)),
            ("--removed", removed),
            ("--stats", self.stats.as_deref()),
        ]
        .into_iter()
        .filter_map(|(flag, path)| path.map(|path| Written { flag, path }))
        .collect();
        keep_apart(&written, &read.collect::<Vec<_>>())
    }
}
