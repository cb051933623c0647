//! `simdup dedup`: what can be typed, and its help.

use std::path::PathBuf;

use clap::Args;
use simdup::Settings;
use simdup::score::Measure;

use super::cluster::ClusterChoiceArgs;
use super::output::OutputArgs;
use super::refuse_all;
use super::resources::ResourceArgs;
use super::similarity::{ScoreArg, SimilarArgs};
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Writes the documents to keep, byte for byte as they came in and in input order: of each \
cluster of near-duplicates (`simdup cluster --help`) the one that --keep prefers, and all \
documents that are in no cluster. A document goes only if its exact Jaccard similarity to \
the one that is kept is at least the threshold (with --cluster components: to one that goes \
with it); --removed names both and the score.

With --against, those documents go that are similar to one in the other collection, which \
is only read; they are not compared among themselves. --annotate writes all documents as \
JSONL, each with what is similar to it; with --score containment, that is what holds at \
least the threshold's share of the document itself.

Of plain text files, whose content is a document each, the names are written. An output \
that is named .gz or .zst is compressed. Records that cannot be used, and documents whose \
id was met before, are reported and not written.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  The documents are read twice. What comes from a pipe is kept in between: in memory, or
  beyond an eighth of --memory in a temporary file. Else as for `simdup cluster`.

Examples:
  simdup dedup tests/data/example.jsonl -o clean.jsonl.gz --removed removed.jsonl
  simdup dedup --dry-run --threshold 0.9 tests/data/example.jsonl
  simdup dedup --against last-year/ this-year/ --removed known.jsonl
  simdup dedup --annotate --text-field title,abstract --shingle-words 2-4 \\
    --score containment --threshold 0.8 records.jsonl";

#[derive(Debug, Args)]
pub(in crate::cli) struct DedupArgs {
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    #[command(flatten)]
    pub(in crate::cli) clusters: ClusterChoiceArgs,
    /// Write what was left out to FILE, as JSONL: url, keeper and score
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(in crate::cli) removed: Option<PathBuf>,
    /// Write all documents as JSONL, each with `isNearDuplicate` and `nearDuplicate`
    #[arg(long, help_heading = "Output", conflicts_with_all = ["removed", "dry_run"])]
    pub(in crate::cli) annotate: bool,
    /// Write no documents: print what would go, and how many
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl DedupArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let similarity = &self.similar.similarity;
        let removed = self.removed.as_deref();
        self.output.keep_apart(removed, self.similar.read_paths())?;
        refuse_all(&[
            (
                similarity.score == Some(ScoreArg::Minhash),
                "what goes is verified: use --score jaccard instead of minhash",
            ),
            (
                similarity.score == Some(ScoreArg::Containment) && !self.annotate,
                "--score containment tells what is inside of what, and goes with --annotate",
            ),
        ])?;
        similarity.refuse_bands()?;
        self.similar.settings(Measure::Jaccard, &self.resources)
    }
}
