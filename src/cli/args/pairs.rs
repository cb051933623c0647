//! `simdup` without a command: what can be typed, and its help.

use clap::Args;
use simdup::Settings;
use simdup::settings::Measure;

use super::listing::PairListArgs;
use super::mistyped;
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::SimilarArgs;
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Reads documents, and prints `url1 url2 score` for every pair whose score is at \
least the threshold.

The score is Broder's unless told otherwise: each document's shingles are sketched \
into a signature of --hashes positions, and the score is the share of positions in \
which two signatures agree, an estimate of the Jaccard similarity. Every pair whose estimate \
reaches the threshold is printed; --summary and --stats state the standard error. Pairs near the \
threshold may be missed or added. --score jaccard and --score containment are exact and \
complete, unless --recall or --bands ask for less: --stats then states the chance to find a pair.

FILE is a file, a directory (walked in sorted order), or `-` for standard input, \
which is also read if there is none. Formats (JSONL, length-prefixed protobuf, \
Parquet, WARC, HTML, plain text), compression (gzip, zstd, bzip2, xz, lz4) and archives \
(tar, zip) are recognised by content, CSV and TSV by the names of files; the id of a text in \
an archive is `archive!member`. Where content may be either of two formats, as prose that starts \
with `{}`, the name decides. Text that is not UTF-8 is read by its byte order mark, or as what it \
seems to be, which is reported; stray bytes in UTF-8 become U+FFFD and are counted. What must be read from its end, as zip and Parquet must, \
goes to a file in --temp-dir first where it comes from a pipe. All files make one collection. \
An id met again is skipped: the first document counts. A file that is named or found again, under \
the same or another path, is read once.

Of a directory, hidden files and links are left out (--hidden, --follow), as are files \
without text, which are counted; --glob says which others. --pre runs a command for each \
file, or for those that --pre-glob says, with the path as an argument and the file on its \
standard input; what it prints is the text of one document. No shell runs it: \
--pre 'pandoc -t plain', --pre 'pdftotext -layout {} -'.

Pairs come in input order of the left document, then of the right. The same input \
gives the same bytes, whatever the number of threads.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  Time grows with the text and with the answer. For minhash, text is dropped once
  sketched; memory is about 4 bytes per document and position, 60 bytes per
  document besides, the ids, and 30 bytes per pair (copies of one document count
  as one). For exact scores it is about 10 bytes per word; beyond --memory, words
  go to a temporary file of up to 20 bytes per word, and what stays is about 4
  bytes for each run of words that several documents share, and the pairs.

Choosing:
  Copies of pages and articles: -w 5 -t 0.75. Edited ones: -w 3 -t 0.5. Source code:
  --preset code. Short records, Chinese, Japanese, Thai: -w 1, -w 2 or -c 2, as one
  change touches many of few shingles. A text within a longer one: -s containment.
  A longer shingle needs a lower threshold for the same edits: on versions of web
  pages F1 was best at 0.76 for one word, 0.64 for three, 0.60 for five, 0.55 for
  eight. For your own documents: `simdup tune`, `simdup eval --inject 1000`.

Examples:
  simdup tests/data/example.jsonl
  simdup --score jaccard --threshold 0.8 tests/data/example.jsonl
  simdup --score containment -f jsonl tests/data/example.pb.gz
  zcat data.gz | simdup --shingle-words 5 --hashes 20 --threshold 0.75
  simdup --shingle-chars 8 -f jsonl -o pairs.jsonl crawl/
  simdup --glob '*.java' --glob '!test' submissions.zip homework/
  simdup --pre pdftotext --pre-glob '*.pdf' papers/
  simdup --score jaccard --against last-year/ this-year/
  simdup --preset code --group-by dir --template handout.c homework/
  simdup --preset technosphere part1.gz part2.gz
  simdup -s jaccard --top 10 --digits 2 tests/data/example.jsonl
  simdup -s jaccard -o pairs.csv.gz --with shared,sizes tests/data/example.jsonl
  simdup -s jaccard --write-baseline known.tsv -o pairs.tsv tests/data/example.jsonl
  simdup -s jaccard --baseline known.tsv --exit-status -o new.sarif tests/data/example.jsonl";

#[derive(Debug, Args)]
pub(in crate::cli) struct PairsArgs {
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    #[command(flatten)]
    pub(in crate::cli) pairs: PairListArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl PairsArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        if let Some(first) = self.similar.input.files.first() {
            mistyped::check(first)?;
        }
        let baseline = self.pairs.write_baseline.as_deref();
        let baseline = baseline.map(|path| ("--write-baseline", path));
        self.output
            .keep_apart(baseline, self.similar.read_paths())?;
        let settings = self.similar.settings(Measure::MinHash, &self.resources)?;
        self.pairs.check(settings.measure, &self.output)?;
        Ok(settings)
    }
}
