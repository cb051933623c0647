//! `simdup dedup`: what can be typed, and its help.

use std::path::PathBuf;

use clap::Args;
use simdup::Settings;
use simdup::settings::Measure;

use super::cluster::ClusterChoiceArgs;
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::SimilarArgs;
use super::similarity::ScoreArg;
use super::{named, together};
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Writes the documents to keep, byte for byte as they came in and in input order: of each \
cluster of near-duplicates (`simdup cluster --help`) the one that --keep prefers (the longest is \
that of the most characters), and all \
documents that are in no cluster. A document goes only if its exact Jaccard similarity to \
the one that is kept is at least the threshold (with --cluster components: to one that goes \
with it). --removed lists all that is not written: of a near-duplicate the one that stands for \
it and the score, of an id met before where it stands and where the first one does (file and \
record), of an unusable record what is wrong with it, of a record of WARC that is no HTML or plain \
text what it is (no-document).

With --against, documents similar to one in the other collection are removed first. That \
collection is only read; its most similar document is listed as the keeper. What is left is \
clustered as without --against, unless --against-only is given. A file that is on both sides is not \
part of the other collection, nor is a document of an index whose id is among the documents: a \
keeper is never itself removed.

--annotate writes every document as JSONL with its near-duplicates. With --against, only the other \
collection is searched. With --score containment, a near-duplicate holds at least the threshold's \
share of the document. With --annotate, --removed lists records that cannot be used and ids met before.

Of plain text and HTML files, whose content is a document each, the names are written; of CSV \
the records, behind the header; of WARC archives the records that are documents, and no others; of Parquet \
files the ids and texts as JSONL. A file without content, such as the _SUCCESS that Hadoop and \
Spark leave beside their part files, is an empty document, and has no record to write where the \
others have one. An output that is named .gz, .zst, .bz2 or .xz is compressed; with --output-dir, each file has \
an output of its own, which appears when it is whole. Records of UTF-16 and UTF-32 are written as UTF-8. Records that cannot be used, \
and documents whose id was met before, are reported and not written. What is not compared \
(--min-words, --max-words, --template) is kept, and nothing goes in favour of a document of its \
own --group-by: with --cluster components, what is of the keeper's own group stays.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  The documents are read twice. What comes from a pipe is kept in between: in memory, or
  beyond an eighth of --memory in a temporary file. Else as for `simdup cluster`.

Examples:
  simdup dedup tests/data/example.jsonl -o clean.jsonl.gz --removed removed.jsonl
  simdup dedup --dry-run --threshold 0.9 tests/data/example.jsonl
  simdup dedup --against last-year/ this-year/ --removed known.jsonl
  simdup dedup --annotate --text-field title,abstract --shingle-words 2-4 \\
    --score containment --threshold 0.8 records.jsonl
  simdup dedup --output-dir clean/ crawl/";

#[derive(Debug, Args)]
pub(in crate::cli) struct DedupArgs {
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    #[command(flatten)]
    pub(in crate::cli) clusters: ClusterChoiceArgs,
    /// With --against: remove what is similar to the other collection, and nothing else
    #[arg(long, requires = "against", help_heading = "Similarity")]
    pub(in crate::cli) against_only: bool,
    /// Write what was left out to FILE, as JSONL: url, reason, keeper and score
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(in crate::cli) removed: Option<PathBuf>,
    /// Write what is kept of each FILE to a file of its name in DIR, compressed as it was; folders
    /// below a directory that is named are kept, and two files of one name are refused
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(in crate::cli) output_dir: Option<PathBuf>,
    /// Write all documents as JSONL, each with `isNearDuplicate` and `nearDuplicate`
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) annotate: bool,
    /// Write no documents: print what would go, and how many
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) dry_run: bool,
    /// Exit with status 1 if a document goes (with --annotate: has a near-duplicate), and with 3 if
    /// no document could be read
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) exit_status: bool,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl DedupArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        self.check()?;
        let removed = self.removed.as_deref();
        let removed = removed.map(|path| ("--removed", path));
        self.output.keep_apart(removed, self.similar.read_paths())?;
        self.similar.settings(Measure::Jaccard, &self.resources)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.annotate || self.dry_run {
            named::check_rows(&self.output, &["jsonl", "json", "txt"])?;
        }
        let score = self.similar.similarity.score;
        let keep = self.clusters.is_keep_changed();
        let cluster = self.clusters.is_method_changed();
        let no_clusters = "what is similar to the other collection goes, and there are no \
                           clusters; leave out one of them";
        let beside_annotate = |given, flag| {
            let why = "all documents are written and none goes; leave out one of them";
            (given && self.annotate, "--annotate", flag, why)
        };
        together::check(&[
            (
                score == Some(ScoreArg::Minhash),
                "dedup",
                "--score minhash",
                "what goes is verified; use --score jaccard",
            ),
            (
                score == Some(ScoreArg::Containment) && !self.annotate,
                "dedup",
                "--score containment",
                "it tells what is inside of what, and not what may go; use --annotate with it",
            ),
            (
                score.is_none() && self.similar.similarity.is_code() && !self.annotate,
                "dedup",
                "--preset code",
                "its score is containment, which does not tell what may go; add --score jaccard, \
                 or use --annotate with it",
            ),
            beside_annotate(self.output_dir.is_some(), "--output-dir"),
            (
                self.output_dir.is_some() && self.output.output.is_some(),
                "--output-dir",
                "--output",
                "documents go to one file, or to one for each that is read; leave out one of them",
            ),
            (
                self.output_dir.is_some() && self.dry_run,
                "--output-dir",
                "--dry-run",
                "nothing is written but what would go; leave out one of them",
            ),
            beside_annotate(self.dry_run, "--dry-run"),
            beside_annotate(keep, "--keep"),
            beside_annotate(cluster, "--cluster"),
            (
                self.dry_run && self.removed.is_some(),
                "--dry-run",
                "--removed",
                "what would go is printed, to --output if there is one; leave out one of them",
            ),
            (
                self.against_only && self.annotate,
                "--against-only",
                "--annotate",
                "documents are annotated with what the other collection has, and with nothing else; \
                 leave out one of them",
            ),
            (
                keep && self.against_only,
                "--keep",
                "--against-only",
                no_clusters,
            ),
            (
                cluster && self.against_only,
                "--cluster",
                "--against-only",
                no_clusters,
            ),
            self.clusters
                .clash_with_format(self.similar.input.input_format),
        ])
    }
}
