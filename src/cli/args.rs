//! What can be typed. Values are checked one by one here; what they mean together
//! is for [`resolve`](super::resolve).

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use simdup::CommonSettings;
use simdup::cluster::Keep;
use simdup::score::Threshold;

use super::{Failure, Outcome};

const PAIRS_HELP: &str = "\
Reads documents, and prints `url1 url2 score` for every pair whose score is at \
least the threshold.

The score is Broder's unless told otherwise: each document's shingles are sketched \
into a signature of --hashes positions, and the score is the share of positions in \
which two signatures agree, an estimate of the Jaccard similarity. No such pair is \
missed. --score jaccard is exact, and by default as good as complete: --stats states \
the chance to find a pair, and --recall 1 makes it certain. --score containment is \
exact and complete.

FILE is a file, a directory (walked in sorted order), or `-` for standard input, \
which is also read if there is none. Formats (JSONL, length-prefixed protobuf, \
plain text) and compression (gzip, zstd) are recognised by content. All files \
make one collection. An id met again is skipped: the first document counts.

Pairs come in input order of the left document, then of the right. The same input \
gives the same bytes, whatever the number of threads.";

const PAIRS_AFTER_HELP: &str = "\
Cost:
  Time grows with the text and with the answer. For minhash, text is dropped once
  sketched; memory is about 4 bytes per document and position, 60 bytes per
  document besides, the ids, and 30 bytes per pair (copies of one document count
  as one). For exact scores it is about 10 bytes per word; beyond --memory, words
  go to a temporary file of up to 20 bytes per word, and what stays is about 4
  bytes for each run of words that several documents share, and the pairs.

Examples:
  simdup tests/data/example.jsonl
  simdup --score jaccard --threshold 0.8 tests/data/example.jsonl
  simdup --score containment -f jsonl tests/data/example.pb.gz
  zcat data.gz | simdup --shingle-words 5 --hashes 20 --threshold 0.75
  simdup --shingle-chars 8 -f jsonl -o pairs.jsonl crawl/
  simdup --score jaccard --against last-year/ this-year/
  simdup --preset technosphere part1.gz part2.gz

Exit status:
  0  done
  1  with --exit-status: at least one pair was found
  2  an error, or records were skipped";

const SKETCH_HELP: &str = "\
Prints each document's signature, one JSON object a line: \
{\"url\":…,\"shingles\":…,\"values\":[…]}, with the number of distinct shingles and one \
signed 32-bit number per position. The share of positions in which two signatures \
of the same settings agree estimates the Jaccard similarity of their shingle sets, \
without bias. Values are the same on every machine. Documents without a shingle \
have no signature and are left out.";

const SKETCH_AFTER_HELP: &str = "\
Cost:
  Time grows with the text. Signatures are written as they are made: memory is
  about 20 bytes per document and the ids.

Examples:
  simdup sketch --hashes 20 tests/data/example.jsonl
  zcat data.gz | simdup sketch --shingle-chars 8 > signatures.jsonl";

const CLUSTER_HELP: &str = "\
Joins similar documents into clusters, by exact Jaccard similarity, and prints those of \
two documents and more, a line each: the keeper, then the members in input order.

In a star, the default, every member is at least the threshold to the keeper, and no two \
keepers are. Documents are taken in the order that --keep prefers: one that is similar to \
a keeper before it joins the most similar of these, any other becomes a keeper. With \
--cluster components, whatever is connected by similar pairs is one cluster.

--pairs takes pairs that simdup wrote earlier instead of documents, so that a higher \
--threshold can be tried without comparing anew. Which document came first is then known \
as far as the pairs tell it, and a member that has no pair with the keeper has no score.

--keep max:FIELD and min:FIELD look at a JSON field with a number or a text, such as a date; \
texts are compared as texts and count as more than numbers, and documents without the field \
come last. A cluster of more than 1,000 documents, or of more than ten and one in a hundred, \
is told of on standard error.

Clusters come in input order of their keepers. They depend on the order of the documents, \
not on how these are spread over files, nor on the number of threads.";

const CLUSTER_AFTER_HELP: &str = "\
Cost:
  As for exact scores of pairs, but copies and large clusters cost no more than as many
  other documents.

Examples:
  simdup cluster tests/data/example.jsonl
  simdup cluster --keep longest -f jsonl tests/data/example.pb.gz
  simdup --score jaccard --threshold 0.5 -f jsonl -o pairs.jsonl tests/data/example.jsonl
  simdup cluster --pairs pairs.jsonl --threshold 0.9";

const DEDUP_HELP: &str = "\
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

const DEDUP_AFTER_HELP: &str = "\
Cost:
  The documents are read twice. What comes from a pipe is kept in between: in memory, or
  beyond an eighth of --memory in a temporary file. Else as for `simdup cluster`.

Examples:
  simdup dedup tests/data/example.jsonl -o clean.jsonl.gz --removed removed.jsonl
  simdup dedup --dry-run --threshold 0.9 tests/data/example.jsonl
  simdup dedup --against last-year/ this-year/ --removed known.jsonl
  simdup dedup --annotate --text-field title,abstract --shingle-words 2-4 \\
    --score containment --threshold 0.8 records.jsonl";

/// Find near-duplicate documents: a stream in, `url1 url2 score` out
#[derive(Debug, Parser)]
#[command(
    name = "simdup",
    version,
    long_about = PAIRS_HELP,
    after_long_help = PAIRS_AFTER_HELP,
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
    #[command(long_about = SKETCH_HELP, after_long_help = SKETCH_AFTER_HELP, args_override_self = true)]
    Sketch(Box<SketchArgs>),
    /// Print clusters of near-duplicates
    #[command(long_about = CLUSTER_HELP, after_long_help = CLUSTER_AFTER_HELP, args_override_self = true)]
    Cluster(Box<ClusterArgs>),
    /// Print the documents to keep, as they came in
    #[command(long_about = DEDUP_HELP, after_long_help = DEDUP_AFTER_HELP, args_override_self = true)]
    Dedup(Box<DedupArgs>),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, in roff: `simdup man | man -l -`
    Man,
}

#[derive(Debug, Args)]
pub(super) struct PairsArgs {
    #[command(flatten)]
    pub(super) similar: SimilarArgs,
    #[command(flatten)]
    pub(super) pair_output: PairOutputArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) resources: ResourceArgs,
}

/// What commands that compare documents have in common.
#[derive(Debug, Args)]
pub(super) struct SimilarArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    #[command(flatten)]
    pub(super) shingles: ShingleArgs,
    #[command(flatten)]
    pub(super) similarity: SimilarityArgs,
}

#[derive(Debug, Args)]
pub(super) struct SketchArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    #[command(flatten)]
    pub(super) shingles: ShingleArgs,
    #[command(flatten)]
    pub(super) signature: SignatureArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) resources: ResourceArgs,
}

#[derive(Debug, Args)]
pub(super) struct ClusterArgs {
    #[command(flatten)]
    pub(super) similar: SimilarArgs,
    #[command(flatten)]
    pub(super) clusters: ClusterChoiceArgs,
    /// Take pairs from a file that `-f jsonl` or `-f tsv` wrote, instead of documents
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    pub(super) pairs: Option<PathBuf>,
    /// How clusters are written
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = ClusterFormatArg::Text, help_heading = "Output")]
    pub(super) format: ClusterFormatArg,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) resources: ResourceArgs,
}

#[derive(Debug, Args)]
pub(super) struct DedupArgs {
    #[command(flatten)]
    pub(super) similar: SimilarArgs,
    #[command(flatten)]
    pub(super) clusters: ClusterChoiceArgs,
    /// Write what was left out to FILE, as JSONL: url, keeper and score
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) removed: Option<PathBuf>,
    /// Write all documents as JSONL, each with `isNearDuplicate` and `nearDuplicate`
    #[arg(long, help_heading = "Output", conflicts_with_all = ["removed", "dry_run"])]
    pub(super) annotate: bool,
    /// Write no documents: print what would go, and how many
    #[arg(long, help_heading = "Output")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) resources: ResourceArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Clusters")]
pub(super) struct ClusterChoiceArgs {
    /// How documents are joined
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ClusterMethodArg::Star)]
    pub(super) cluster: ClusterMethodArg,
    /// Which document of a cluster is kept: first, last, longest, shortest, max:FIELD or
    /// min:FIELD
    #[arg(long, value_name = "WHICH", value_parser = keep, default_value = "first")]
    pub(super) keep: Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ClusterMethodArg {
    /// Each member is at least T to the keeper
    Star,
    /// Each member is at least T to another one
    Components,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ClusterFormatArg {
    /// The keeper, then the members, a line a cluster
    Text,
    /// {"keeper":…,"size":…,"lowest":…,"members":[{"url":…,"score":…}]}
    Jsonl,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArgs {
    /// Files, directories, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// How documents are stored
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Auto)]
    pub(super) input_format: FormatArg,
    /// JSON field with the id [default: url, else id, else file:record]
    #[arg(long, value_name = "NAME")]
    pub(super) id_field: Option<String>,
    /// Field with the text; several are joined. `body` reads protobuf's body
    #[arg(long, value_name = "NAME,…", default_value = "text")]
    pub(super) text_field: Fields,
}

/// Names of fields, separated by commas. Not a list to clap, so that a later flag
/// replaces an earlier one.
#[derive(Clone, Debug)]
pub(super) struct Fields(pub(super) Vec<String>);

impl FromStr for Fields {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) {
            return Err("names of fields, separated by commas".into());
        }
        Ok(Self(names))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    /// Each file as its content says
    Auto,
    /// A JSON object a line
    Jsonl,
    /// Frames of a little-endian 32-bit length and a protobuf message
    Protobuf,
    /// A file is a document, its path the id
    Text,
    /// A line is a document, `file:line` the id
    Lines,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Shingles")]
pub(super) struct ShingleArgs {
    /// Words per shingle, or all sizes from N to M [default: 5]
    #[arg(long, value_name = "N[-M]", value_parser = sizes, overrides_with_all = ["shingle_chars", "items"])]
    pub(super) shingle_words: Option<RangeInclusive<usize>>,
    /// Characters per shingle, instead of words
    #[arg(long, value_name = "N[-M]", value_parser = sizes, overrides_with_all = ["shingle_words", "items"])]
    pub(super) shingle_chars: Option<RangeInclusive<usize>>,
    /// The text field is a JSON array of strings, each of them a shingle
    #[arg(long, overrides_with_all = ["shingle_words", "shingle_chars"])]
    pub(super) items: bool,
    /// Start a shingle every S tokens [default: 1]
    #[arg(long, value_name = "S", value_parser = at_least_one)]
    pub(super) step: Option<usize>,
    /// The text is a circle: the last tokens are followed by the first
    #[arg(long)]
    pub(super) wrap: bool,
    /// Do not lower-case
    #[arg(long)]
    pub(super) keep_case: bool,
    /// Words to leave out, one a line
    #[arg(long, value_name = "FILE")]
    pub(super) stopwords: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(super) struct SimilarityArgs {
    /// What a score is [default: minhash for pairs, jaccard for cluster and dedup]
    #[arg(long, value_name = "SCORE", value_enum)]
    pub(super) score: Option<ScoreArg>,
    /// Print pairs whose score is at least T: above 0, at most 1
    #[arg(long, value_name = "T", default_value_t = Threshold::default())]
    pub(super) threshold: Threshold,
    #[command(flatten)]
    pub(super) signature: SignatureArgs,
    /// For jaccard: the chance that a pair at the threshold is found; 1 for all
    /// [default: 0.99999]
    #[arg(long, value_name = "R", value_parser = recall, overrides_with_all = ["bands", "rows"])]
    pub(super) recall: Option<f64>,
    /// For jaccard: find pairs by B bands of positions, with the recall that follows
    #[arg(long, value_name = "B", value_parser = at_least_one, requires = "rows", overrides_with = "recall")]
    pub(super) bands: Option<usize>,
    /// For jaccard: R positions in each band
    #[arg(long, value_name = "R", value_parser = at_least_one, requires = "bands", overrides_with = "recall")]
    pub(super) rows: Option<usize>,
    /// Compare the FILEs with these documents, not among themselves; repeatable
    #[arg(long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub(super) against: Vec<PathBuf>,
    /// Leave out shingles that more than N (or P %) of the documents have; needs an
    /// exact score
    #[arg(long, value_name = "N|P%", value_parser = common, help_heading = "Shingles")]
    pub(super) ignore_common: Option<CommonSettings>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ScoreArg {
    /// Positions of the signatures that agree, of all: Broder's estimate
    Minhash,
    /// Shingles in both documents, of those in either: exact
    Jaccard,
    /// Shingles in both documents, of the smaller one's: exact, and complete
    Containment,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(super) struct SignatureArgs {
    /// Positions in a signature, 1 to 4096 [default: 128]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(super) hashes: Option<u16>,
    /// Another family of hash functions [default: 0]
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,
    /// The Technosphere course's own algorithm, to the letter
    #[arg(long, value_name = "NAME", value_enum)]
    pub(super) preset: Option<Preset>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Preset {
    /// Five words, 20 remainders of MurmurHash3, score at least 0.75
    Technosphere,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct PairOutputArgs {
    /// How pairs are written
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = PairFormatArg::Text)]
    pub(super) format: PairFormatArg,
    /// Exit with status 1 if a pair was found
    #[arg(long)]
    pub(super) exit_status: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PairFormatArg {
    /// `url1 url2 score`; white space inside an id is percent-encoded
    Text,
    /// Tab-separated; tab, line ends and backslash inside an id are escaped
    Tsv,
    /// Comma-separated with a header, quoted as in RFC 4180
    Csv,
    /// {"url1":…,"url2":…,"score":…}
    Jsonl,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Write to FILE, which appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write what was done to FILE, as JSON; `-` is standard error
    #[arg(long, value_name = "FILE")]
    pub(super) stats: Option<PathBuf>,
    /// Show progress on standard error; auto: if it is a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    pub(super) progress: When,
    /// No warnings; what was skipped is still reported
    #[arg(short, long)]
    pub(super) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Resources and strictness")]
pub(super) struct ResourceArgs {
    /// Threads; 0 for one a core. The result is the same
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = threads)]
    pub(super) threads: usize,
    /// Use no more than about this, such as 512M or 4G, and temporary files beyond
    /// [default: three quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(super) memory: Option<u64>,
    /// Where temporary files go [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub(super) temp_dir: Option<PathBuf>,
    /// Stop at the first bad record, instead of skipping it
    #[arg(long)]
    pub(super) strict: bool,
}

fn keep(text: &str) -> Result<Keep, String> {
    Ok(match text.split_once(':') {
        None if text == "first" => Keep::First,
        None if text == "last" => Keep::Last,
        None if text == "longest" => Keep::Longest,
        None if text == "shortest" => Keep::Shortest,
        Some(("max", field)) if !field.is_empty() => Keep::Max(field.into()),
        Some(("min", field)) if !field.is_empty() => Keep::Min(field.into()),
        _ => return Err("first, last, longest, shortest, max:FIELD or min:FIELD".into()),
    })
}

/// Most threads that can be asked for: a typing error should not start millions.
const THREADS_MAX: usize = 512;

fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&threads| threads <= THREADS_MAX)
        .ok_or_else(|| format!("a number from 0 to {THREADS_MAX}"))
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number >= 1)
        .ok_or_else(|| "a whole number, at least 1".to_owned())
}

/// Reads a chance above 0 and at most 1.
fn recall(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&recall| recall > 0.0 && recall <= 1.0)
        .ok_or_else(|| "a chance above 0 and at most 1, such as 0.999".to_owned())
}

/// Reads a number of bytes: `512M`, `4G`, `1000000`.
fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((last, unit)) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => 64,
            };
            (&text[..last], shift)
        }
        _ => (text, 0),
    };
    number
        .parse::<u64>()
        .ok()
        .filter(|_| unit < 64)
        .and_then(|number| number.checked_mul(1 << unit))
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "a size such as 512M or 4G".to_owned())
}

/// Reads a number of documents, or a share of them.
fn common(text: &str) -> Result<CommonSettings, String> {
    let settings = match text.strip_suffix('%') {
        Some(percent) => percent_of(percent).map(CommonSettings::Share),
        None => text
            .parse()
            .ok()
            .filter(|&most| most > 0)
            .map(CommonSettings::Documents),
    };
    settings.ok_or_else(|| "a number of documents such as 100, or a share such as 5%".to_owned())
}

/// A percentage as an exact share: the point moves by two digits.
fn percent_of(text: &str) -> Option<Threshold> {
    let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{units:0>3}");
    let (whole, hundredths) = digits.split_at(digits.len() - 2);
    format!("{whole}.{hundredths}{fraction}").parse().ok()
}

/// Most tokens a shingle can have.
const SHINGLE_TOKENS_MAX: usize = 10_000;

/// Reads `N` or `N-M`.
fn sizes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.parse(), most.parse()) {
        (Ok(least), Ok(most)) if 1 <= least && least <= most && most <= SHINGLE_TOKENS_MAX => {
            Ok(least..=most)
        }
        _ => Err(format!(
            "a size such as 5, or a range such as 2-4, from 1 to {SHINGLE_TOKENS_MAX}"
        )),
    }
}

pub(super) fn print_completions(shell: Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "simdup", &mut script);
    print(&script)
}

/// The main page, then a part for each command.
pub(super) fn print_man_page() -> Result<Outcome, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let written = clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .and_then(|()| {
            command
                .get_subcommands()
                .filter(|sub| sub.get_name() == "sketch")
                .try_for_each(|sub| {
                    let man = clap_mangen::Man::new(sub.clone());
                    writeln!(page, ".SH \"SIMDUP {}\"", sub.get_name().to_uppercase())?;
                    man.render_description_section(&mut page)?;
                    man.render_options_section(&mut page)?;
                    man.render_extra_section(&mut page)
                })
        });
    written.map_err(|error| Failure::write("-", error))?;
    print(&page)
}

fn print(bytes: &[u8]) -> Result<Outcome, Failure> {
    std::io::stdout()
        .write_all(bytes)
        .map_err(|error| Failure::write("-", error))?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_in_bytes_have_units() {
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("4g"), Ok(4 << 30));
        assert_eq!(bytes("100"), Ok(100));
        for text in ["", "0", "M", "1X", "-1G", "99999999T", "1.5G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn common_is_a_number_or_an_exact_share() {
        assert_eq!(common("7"), Ok(CommonSettings::Documents(7)));
        for (text, share) in [
            ("5%", "0.05"),
            ("12.5%", "0.125"),
            ("100%", "1"),
            ("0.1%", "0.001"),
        ] {
            assert_eq!(
                common(text),
                Ok(CommonSettings::Share(share.parse().unwrap()))
            );
        }
        for text in ["", "0", "%", "0%", "101%", "-3", "x%"] {
            assert!(common(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_numbers_or_ranges() {
        assert_eq!(sizes("5"), Ok(5..=5));
        assert_eq!(sizes("2-4"), Ok(2..=4));
        for text in ["", "0", "0-3", "4-2", "-3", "3-", "2-3-4", "x", "99999999"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }
}
