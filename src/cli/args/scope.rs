//! What is not compared: documents of one group, hand-outs, documents too short or too long.

use std::path::PathBuf;

use clap::Args;
use simdup::settings::{PartyBy, WordLimits};

use super::input::FormatArg;
use super::together;
use super::values::{at_least_one, party_by};
use crate::cli::Failure;

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(in crate::cli) struct ScopeArgs {
    /// Do not compare documents of one group with each other: of one folder below FILE (or one
    /// N folders below), with one value of a JSON field, of one host, or with one match of R, or
    /// of its first parentheses, in the id. Documents without a group are compared with all.
    /// Folders of one name below several FILEs are one group: name the folder above them
    #[arg(long, value_name = "dir[:N]|field:NAME|host|regex:R", value_parser = party_by)]
    pub(in crate::cli) group_by: Option<PartyBy>,
    #[command(flatten)]
    pub(in crate::cli) parts: PartArgs,
}

/// What of a document counts, and which documents do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(in crate::cli) struct PartArgs {
    /// Take the shingles of this file or directory, such as a hand-out, out of every document;
    /// repeatable
    #[arg(long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub(in crate::cli) template: Vec<PathBuf>,
    /// Do not compare documents of fewer words; dedup keeps them
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(in crate::cli) min_words: Option<usize>,
    /// Do not compare documents of more words; dedup keeps them
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(in crate::cli) max_words: Option<usize>,
}

impl ScopeArgs {
    pub(super) fn check(&self, format: FormatArg, items: bool) -> Result<(), Failure> {
        together::check(&[(
            matches!(self.group_by, Some(PartyBy::Field(_)))
                && matches!(format, FormatArg::Text | FormatArg::Lines),
            "--group-by field:NAME",
            "--input-format text or lines",
            "plain text has no fields; leave out one of them",
        )])?;
        self.parts.check(items)
    }
}

impl PartArgs {
    pub(super) fn check(&self, items: bool) -> Result<(), Failure> {
        let no_words = "items are no words; leave out one of them";
        together::check(&[
            (
                self.min_words.is_some() && items,
                "--min-words",
                "--items",
                no_words,
            ),
            (
                self.max_words.is_some() && items,
                "--max-words",
                "--items",
                no_words,
            ),
            (
                matches!((self.min_words, self.max_words), (Some(least), Some(most)) if least > most),
                "--min-words",
                "--max-words",
                "no document has more words than it has; let the least be no more than the most",
            ),
        ])
    }

    pub(super) fn words(&self) -> WordLimits {
        WordLimits {
            least: self.min_words,
            most: self.max_words,
        }
    }
}
