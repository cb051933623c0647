//! `simdup report`: what can be typed, and its help.

use std::path::PathBuf;

use clap::Args;
use simdup::Settings;
use simdup::settings::{Measure, Report, ReportNames};

use super::cluster::ClusterMethodArg;
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::SimilarArgs;
use super::signature::Preset;
use super::together;
use super::values::at_least_one;
use crate::cli::Failure;
use crate::cli::files::{Written, keep_apart};

pub(super) const HELP: &str = "\
Writes one page of HTML to look at: what was read and found, the pairs and clusters as lists \
that can be sorted and filtered, each document with its closest, clusters as graphs and \
matrices, and each pair side by side with the passages that it shares. The page needs no network \
and no server, opens from a mail attachment, and can be printed.

The score is Jaccard unless told otherwise. In the page the threshold can be raised, which joins \
clusters anew; with --group-by there is an overview of the groups. Passages are those of `simdup \
explain`.

The best --max-pairs pairs are in the page, which says how many it leaves out; its totals and the \
histogram count all pairs. What a --template has is marked, and comments that only one text has are \
not colored as shared. Texts are in the page, compressed, only of documents that are in one of these pairs, up to 1 MB each and 256 MB \
together; --no-text leaves them out.

--anonymise calls documents and groups by numbers, in input order: the same in every report on \
the same input. --key writes who is who. Texts stay as they are.

The same input gives the same bytes.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  As for exact scores of pairs; the inputs are read once more for the texts, which go to a
  temporary file beyond an eighth of --memory.

Examples:
  simdup report -o report.html tests/data/example.jsonl
  simdup report -o report.html --preset code --group-by dir tests/data/homework
  simdup report -o committee.html --anonymise --key key.csv --threshold 0.5 essays/
  zcat crawl.gz | simdup report -o crawl.html --max-pairs 1000 --no-text";

#[derive(Debug, Args)]
pub(in crate::cli) struct ReportArgs {
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    /// How documents are joined into clusters
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ClusterMethodArg::Star, help_heading = "Report")]
    cluster: ClusterMethodArg,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
struct PageArgs {
    /// Call documents and groups by numbers instead of their ids
    #[arg(long)]
    anonymise: bool,
    /// With --anonymise: write who is behind which number to FILE, as CSV for a spreadsheet: an id
    /// that begins with =, +, -, @, a tab or a carriage return has a ' before it
    #[arg(long, value_name = "FILE", requires = "anonymise")]
    key: Option<PathBuf>,
    /// Leave out the texts
    #[arg(long)]
    no_text: bool,
    /// Put the N best pairs into the page at the most; totals, clusters and the histogram count all
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 250_000)]
    max_pairs: usize,
    /// Tokens that a passage has at the least [default: those of a shingle]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    min_tokens: Option<usize>,
}

impl ReportArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        together::check(&[
            (
                self.similar.shingles.items,
                "report",
                "--items",
                "items are no running text, and have no passages; leave it out",
            ),
            (
                self.similar.similarity.signature.preset == Some(Preset::Technosphere),
                "report",
                "--preset technosphere",
                "the course's words have no place in the text; leave it out",
            ),
            (
                self.page.no_text && self.page.min_tokens.is_some(),
                "--no-text",
                "--min-tokens",
                "without texts there are no passages; leave out one of them",
            ),
        ])?;
        if self.output.output.is_none() {
            return Err(Failure::Usage(
                "where to? -o report.html names the page, -o - is standard output".into(),
            ));
        }
        self.output.keep_apart(None, self.similar.read_paths())?;
        let written: Vec<Written<'_>> = [
            ("--output", self.output.output.as_deref()),
            ("--key", self.page.key.as_deref()),
            ("--stats", self.output.stats.as_deref()),
        ]
        .into_iter()
        .filter_map(|(flag, path)| path.map(|path| Written { flag, path }))
        .collect();
        keep_apart(&written, &self.similar.read_paths().collect::<Vec<_>>())?;
        self.similar.settings(Measure::Jaccard, &self.resources)
    }

    pub(in crate::cli) fn report(&self) -> Report {
        Report {
            max_pairs: self.page.max_pairs,
            has_texts: !self.page.no_text,
            names: match self.page.anonymise {
                true => ReportNames::Pseudonyms,
                false => ReportNames::Own,
            },
            method: self.cluster.into(),
            min_tokens: self.page.min_tokens,
        }
    }

    pub(in crate::cli) fn key(&self) -> Option<&std::path::Path> {
        self.page.key.as_deref()
    }
}
