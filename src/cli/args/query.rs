//! `simdup query`: what can be typed, and its help.

use std::path::PathBuf;

use clap::Args;
use simdup::Settings;
use simdup::settings::{Query, Threshold, Wanted};

use super::index::{ExactArg, ExactArgs, settings};
use super::input::InputArgs;
use super::listing::{ListArgs, PairFormatArg, SortArg};
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::read_paths;
use super::shingles::ShingleArgs;
use super::values::{at_least_one, percent};
use super::{named, together};
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Prints, for each document, what an index (`simdup index --help`) holds that is similar to it: `url1 \
url2 score`, with the document that was asked about on the left, in input order, and documents of the \
index on the right, in the order in which they were added, or with --top the best first. Answers are \
exact and complete. The document of the index that has the same id is left out. Each answer is \
printed as soon as its document is read, so that a program can hold simdup open at both ends. \
Documents are made into shingles as those of the index were.

--overlap P asks for documents that have at least P % of the shingles of the one that is asked about; \
the score is that share. With --probability Q, only as many of its shingles are looked up as it takes to \
find a document with exactly P % of them with a chance of at least Q %, and one with more of them with a \
higher one. What is found is scored exactly.

--id asks about a document of the index itself. --annotate writes the documents that were asked about as \
JSONL, each with `isNearDuplicate` and `nearDuplicate`, the most similar first.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  A question takes some microseconds. Memory is what the system keeps of the index in its
  cache, and a few records; nothing is kept of the documents.

Examples:
  simdup query example.idx tests/data/example.jsonl --top 5
  simdup query news.idx --id https://example.org/ --overlap 20 --probability 80
  tail -f feed.jsonl | simdup query news.idx -f jsonl
  simdup query news.idx today.jsonl --annotate";

#[derive(Debug, Args)]
pub(in crate::cli) struct QueryArgs {
    /// The folder of the index
    #[arg(value_name = "INDEX")]
    pub(in crate::cli) index: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    /// Ask about the document of the index that has this id
    #[arg(long, value_name = "ID", help_heading = "Index")]
    pub(in crate::cli) id: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    #[command(flatten)]
    pub(in crate::cli) exact: ExactArgs,
    /// Documents that have at least P % of the shingles that are asked about
    #[arg(long, value_name = "P", value_parser = percent, help_heading = "Similarity")]
    pub(in crate::cli) overlap: Option<Threshold>,
    /// With --overlap: the least chance to find one with just that many, in percent
    /// [default: 100]
    #[arg(long, value_name = "Q", value_parser = percent, requires = "overlap", help_heading = "Similarity")]
    pub(in crate::cli) probability: Option<Threshold>,
    /// No more than N for each document, the best first
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Output")]
    pub(in crate::cli) top: Option<usize>,
    /// Write the documents as JSONL, each with what is similar to it
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) annotate: bool,
    /// How pairs are written [default: text, or as the name of --output ends]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_enum,
        help_heading = "Output"
    )]
    pub(in crate::cli) format: Option<PairFormatArg>,
    #[command(flatten)]
    pub(in crate::cli) list: ListArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl QueryArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let has_files = !self.input.files.is_empty() || self.input.files_from.is_some();
        let one_share =
            "the score is the share of the document that is asked about; leave out one of them";
        together::check(&[
            (
                self.id.is_some() && has_files,
                "--id",
                "FILE",
                "what is asked about is in the index, or in files; leave out one of them",
            ),
            (
                self.id.is_some() && self.annotate,
                "--id",
                "--annotate",
                "there is no document to write; leave out one of them",
            ),
            (
                self.overlap.is_some() && self.exact.threshold.is_some(),
                "--overlap",
                "--threshold",
                one_share,
            ),
            (
                self.overlap.is_some() && self.exact.score != ExactArg::Jaccard,
                "--overlap",
                "--score",
                one_share,
            ),
            (
                self.overlap.is_some() && self.exact.min_shared.is_some(),
                "--overlap",
                "--min-shared",
                "all documents with that share are found; leave out one of them",
            ),
            (
                self.annotate && self.format.is_some(),
                "--annotate",
                "--format",
                "documents are written as JSONL; leave out one of them",
            ),
            (
                self.annotate && self.list.sort.is_some(),
                "--annotate",
                "--sort",
                "what is similar stands in the document, the most similar first; leave out one of \
                 them",
            ),
            self.list.beside_count(self.annotate, "--annotate"),
        ])?;
        self.list.check(self.format.is_some(), self.top.is_some())?;
        if self.format.is_none() && !self.list.count && !self.annotate {
            named::check_rows(&self.output, &["jsonl", "csv", "tsv", "txt"])?;
        }
        let read = read_paths(&self.input, &self.shingles);
        self.output.keep_apart(None, read)?;
        let settings = settings(&self.input, &self.shingles, &self.resources)?;
        Ok(self.exact.settings(settings))
    }

    pub(in crate::cli) fn query(&self) -> Query {
        Query {
            wanted: match self.overlap {
                Some(share) => Wanted::Overlap {
                    share,
                    chance: self.probability.filter(|chance| chance.as_f64() < 1.0),
                },
                None => Wanted::Similar,
            },
            top: self.top,
            best_first: self.top.is_some() && self.list.sort != Some(SortArg::Input)
                || self.list.sort == Some(SortArg::Score),
            records: self.annotate,
            each_id_once: false,
        }
    }
}
