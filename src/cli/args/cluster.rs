//! `simdup cluster`: what can be typed, and its help.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simdup::Settings;
use simdup::inside::{ClusterFormat, Digits};
use simdup::settings::{ClusterMethod, Keep, Measure};

use super::input::FormatArg;
use super::named::{self, NamedFormat};
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::SimilarArgs;
use super::similarity::ScoreArg;
use super::together::{self, Clash};
use super::typed::Flag;
use super::values::{KeepParser, digits};
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Joins similar documents into clusters, by exact Jaccard similarity, and prints those of \
two documents and more, a line each: the keeper, then the members in input order.

In a star, the default, every member is at least the threshold to the keeper, and no two \
keepers are. Documents are taken in the order that --keep prefers: one that is similar to \
a keeper before it joins the most similar of these, any other becomes a keeper. With \
--cluster components, whatever is connected by similar pairs is one cluster.

--pairs takes pairs that simdup wrote earlier instead of documents, so that a higher \
--threshold can be tried without comparing anew. Which document came first is then known \
as far as the pairs tell it, and a member that has no pair with the keeper has no score.

--keep longest and shortest count the characters of the text; max:FIELD and min:FIELD look at a JSON field with a number or a text, such as a date; \
texts are compared as texts and count as more than numbers, and documents without the field \
come last. A cluster of more than 1,000 documents, or of more than ten and one in a hundred, \
is told of on standard error.

Clusters come in input order of their keepers. They depend on the order of the documents, \
not on how these are spread over files, nor on the number of threads.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  As for exact scores of pairs, but copies and large clusters cost no more than as many
  other documents.

Examples:
  simdup cluster tests/data/example.jsonl
  simdup cluster --keep longest -f jsonl tests/data/example.pb.gz
  simdup --score jaccard --threshold 0.5 -f jsonl -o pairs.jsonl tests/data/example.jsonl
  simdup cluster --pairs pairs.jsonl --threshold 0.9";

#[derive(Debug, Args)]
pub(in crate::cli) struct ClusterArgs {
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    #[command(flatten)]
    pub(in crate::cli) clusters: ClusterChoiceArgs,
    /// Take pairs from a file that simdup wrote in any format, instead of documents
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    pub(in crate::cli) pairs: Option<PathBuf>,
    /// How clusters are written [default: text, or as the name of --output ends]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_enum,
        help_heading = "Output"
    )]
    format: Option<ClusterFormatArg>,
    /// With -f jsonl, print scores with at most N digits behind the point, 1 to 17, rounded half to
    /// even
    #[arg(long, value_name = "N", value_parser = digits, help_heading = "Output")]
    pub(in crate::cli) digits: Option<Digits>,
    /// Print only how many there are
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) count: bool,
    /// Exit with status 1 if a cluster was found, and with 3 if no document could be read
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) exit_status: bool,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Clusters")]
pub(in crate::cli) struct ClusterChoiceArgs {
    /// How documents are joined
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ClusterMethodArg::Star)]
    pub(in crate::cli) cluster: ClusterMethodArg,
    /// Which document of a cluster is kept
    #[arg(long, value_name = "WHICH", value_parser = KeepParser, default_value = "first")]
    pub(in crate::cli) keep: Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ClusterMethodArg {
    /// Each member is at least T to the keeper
    Star,
    /// Each member is at least T to another one
    Components,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ClusterFormatArg {
    /// The keeper, then the members, a line a cluster; ids percent-encoded as in `simdup -f text`
    Text,
    /// {"keeper":…,"size":…,"lowest":…,"members":[{"url":…,"score":…}]}
    Jsonl,
}

/// What means something for pairs that were written earlier.
const BESIDE_PAIRS: [&str; 15] = [
    "pairs",
    "threshold",
    "cluster",
    "keep",
    "format",
    "digits",
    "count",
    "exit_status",
    "output",
    "stats",
    "progress",
    "summary",
    "config",
    "print_config",
    "quiet",
];

impl ClusterArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let similarity = &self.similar.similarity;
        together::check(&[
            (
                !matches!(similarity.score, None | Some(ScoreArg::Jaccard)),
                "cluster",
                "--score minhash or containment",
                "clusters are made of exact Jaccard scores; leave it out",
            ),
            (
                similarity.score.is_none() && similarity.is_code(),
                "cluster",
                "--preset code",
                "its score is containment, and clusters are made of exact Jaccard scores; add \
                 --score jaccard, or use --shingle-code 8",
            ),
            (
                !similarity.against.is_empty(),
                "cluster",
                "--against",
                "clusters are of one collection; leave it out, or use dedup",
            ),
            self.clusters
                .clash_with_format(self.similar.input.input_format),
        ])?;
        self.check_format()?;
        self.output.keep_apart(None, self.similar.read_paths())?;
        self.similar.settings(Measure::Jaccard, &self.resources)
    }

    /// Whether all that was typed means something for pairs that were written earlier, in
    /// this file.
    pub(in crate::cli) fn check_pairs(&self, pairs: &Path, typed: &[Flag]) -> Result<(), Failure> {
        let is_beside = |flag: &&Flag| !BESIDE_PAIRS.contains(&flag.id.as_str());
        if let Some(flag) = typed.iter().find(is_beside) {
            let why = "the pairs are there with their scores, and nothing is compared anew; \
                       leave out one of them";
            together::check(&[(true, "--pairs", &flag.name, why)])?;
        }
        together::check(&[(
            !matches!(self.clusters.keep, Keep::First | Keep::Last),
            "--pairs",
            "--keep",
            "pairs tell which document came first and nothing else of them; use --keep first or \
             --keep last",
        )])?;
        self.check_format()?;
        self.output.keep_apart(None, std::iter::once(pairs))
    }

    /// How clusters are written: as was typed, else as the output's name says.
    pub(in crate::cli) fn format(&self) -> ClusterFormat {
        let named = || named::format_of(self.output.output.as_deref()?);
        match (self.format, named()) {
            (Some(ClusterFormatArg::Jsonl), _) | (None, Some(NamedFormat::Jsonl)) => {
                ClusterFormat::Jsonl
            }
            _ => ClusterFormat::Text,
        }
    }

    fn check_format(&self) -> Result<(), Failure> {
        let named = self.output.output.as_deref().and_then(named::format_of);
        if let (None, Some(NamedFormat::Tsv | NamedFormat::Csv | NamedFormat::Sarif)) =
            (self.format, named)
        {
            return Err(Failure::Usage(
                "clusters are written as text or jsonl: name the --output otherwise, or say which \
                 with --format"
                    .into(),
            ));
        }
        if self.format.is_none() && !self.count {
            named::check_rows(&self.output, &["jsonl", "txt"])?;
        }
        let why = "there is nothing but a number to print; leave out one of them";
        together::check(&[
            (
                self.count && self.format.is_some(),
                "--count",
                "--format",
                why,
            ),
            (
                self.count && self.digits.is_some(),
                "--count",
                "--digits",
                why,
            ),
            (
                self.digits.is_some() && self.format() == ClusterFormat::Text,
                "--digits",
                "-f text",
                "only jsonl has scores; use -f jsonl, or leave it out",
            ),
        ])
    }
}

impl ClusterChoiceArgs {
    pub(super) fn is_keep_changed(&self) -> bool {
        self.keep != Keep::First
    }

    pub(super) fn is_method_changed(&self) -> bool {
        self.cluster != ClusterMethodArg::Star
    }

    pub(super) fn clash_with_format(&self, format: FormatArg) -> Clash<'static> {
        (
            self.keep.field().is_some()
                && matches!(format, FormatArg::Text | FormatArg::Lines | FormatArg::Html),
            "--keep max:FIELD or min:FIELD",
            "--input-format text, lines or html",
            "there are no fields in it; leave out one of them",
        )
    }
}

impl From<ClusterMethodArg> for ClusterMethod {
    fn from(typed: ClusterMethodArg) -> Self {
        match typed {
            ClusterMethodArg::Star => Self::Star,
            ClusterMethodArg::Components => Self::Components,
        }
    }
}
