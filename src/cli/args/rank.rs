//! `simdup rank`: what can be typed, and its help.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use simdup::settings::{
    Case, Combine, HtmlFeature, Outlinks, PageSettings, RankOrder, RankSettings, ReadSettings,
    ShingleSettings, Threshold, Tokens, Weight, Windows,
};
use simdup::{DocumentFrequencies, Gold, Settings};

use super::input::{FormatArg, InputArgs, all_named};
use super::listing::PairFormatArg;
use super::named::check_rows;
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::read_settings;
use super::values::at_least_one;
use super::{stopwords, together};
use crate::cli::Failure;
use crate::cli::files::{Written, keep_apart};

pub(super) const HELP: &str = "\
Prints `score url` for every document, the best first, ties in input order: how like a gold \
standard it is, by the cosine of their vectors of terms. Terms are words, lower-cased and \
normalised as everywhere in simdup, without the stopwords. The score is the dot product of the two \
vectors, divided by the product of their Euclidean lengths: 0 if they have no term in common, 1 \
if they point the same way. A document without a term scores 0.

A gold standard is a file with key terms, an article, a page, or anything that simdup reads, \
recognised by its content; all documents in it are one vector. Of several, the best counts, or \
--combine says what.

With tf the weight of a term is how often it occurs, with binary it is 1, with log it is 1 + \
ln(tf), with tfidf tf * (ln((1 + N) / (1 + df)) + 1), where df of N documents have the term, as \
scikit-learn has it. N and df are those of the documents that are ranked, or of --df. Products and \
sums are those of integers (for log and tfidf, of products that are rounded once to 54 binary \
places), and one division and one square root make the score of them: it does not depend on the \
order of words, or on threads.

Of HTML pages count what a reader sees, the title, the keywords and the description that the page \
has in its meta tags, and the alt and title of its images.

With --outlinks, the links on pages are ranked and not the pages: a link has the best score of \
all pages that link to it, and --anchor mixes in the score of its own words, those of its text and \
those of its address. Links are resolved as browsers do it, against <base> and the page's \
address; what is nofollow (the link, or the page by its meta robots) or not http(s) is left out. \
With --unsorted a link comes for every page that it is on.

FILE is what it is for `simdup` itself. An id met again is skipped. Ids and words are known by \
hashes of 64 bits: among ten million ids two are taken for one with a chance of 3 in a million.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  Time grows with the text. Memory is up to 18 bytes a document; with --top that,
  and the N best; without it, and without --unsorted, the ids and 80 bytes a
  document besides. --outlinks takes up to 35 bytes a link with --top, and its
  address and 64 bytes without. tfidf without --df keeps 8 bytes for each different
  word of each document, in a temporary file beyond a quarter of --memory, the ids,
  and 25 bytes in memory for each different word of all. --write-df takes the
  spelling of each besides, and the slower way to words.

Examples:
  simdup rank --gold tests/data/gold.txt --stopwords english tests/data/example.jsonl
  simdup rank --gold tests/data/gold.txt --weight tfidf --top 5 tests/data/example.jsonl
  simdup rank --gold tests/data/gold.txt --explain 3 -f jsonl tests/data/example.jsonl
  zcat pages.warc.gz | simdup rank --gold robotics.txt --stopwords english --top 100
  simdup rank --gold robotics.txt --outlinks --anchor 0.3 --threshold 0.1 pages.warc.gz
  simdup rank --gold g.txt --weight tfidf --write-df df.tsv old.jsonl
  crawl | simdup rank --gold g.txt --weight tfidf --df df.tsv --unsorted | schedule";

#[derive(Debug, Args)]
pub(in crate::cli) struct RankArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    /// Parts of HTML pages whose words count: text, title, keywords, description, images
    /// [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Input")]
    pub(in crate::cli) features: Option<Features>,
    /// The gold standard: a file or directory, `-` for standard input; repeatable
    #[arg(
        long,
        value_name = "FILE",
        required = true,
        action = clap::ArgAction::Append,
        help_heading = "Ranking"
    )]
    pub(in crate::cli) gold: Vec<PathBuf>,
    /// What several gold standards make
    #[arg(long, value_name = "HOW", value_enum, default_value_t = CombineArg::Max, help_heading = "Ranking")]
    pub(in crate::cli) combine: CombineArg,
    /// Words to leave out: a file with one a line, or the list of a language: english, russian,
    /// french, german, spanish, italian, portuguese, dutch (a file of that name is ./english)
    #[arg(long, value_name = "FILE|LANGUAGE", help_heading = "Ranking")]
    pub(in crate::cli) stopwords: Option<PathBuf>,
    /// How much a term counts
    #[arg(long, value_name = "WEIGHT", value_enum, default_value_t = WeightArg::Tf, help_heading = "Ranking")]
    pub(in crate::cli) weight: WeightArg,
    /// For tfidf: take the numbers of documents from FILE, which --write-df wrote
    #[arg(long, value_name = "FILE", help_heading = "Ranking")]
    pub(in crate::cli) df: Option<PathBuf>,
    /// Write how many documents have each term to FILE
    #[arg(long, value_name = "FILE", help_heading = "Ranking")]
    pub(in crate::cli) write_df: Option<PathBuf>,
    /// Rank the links on the pages, not the pages
    #[arg(long, help_heading = "Ranking")]
    pub(in crate::cli) outlinks: bool,
    /// With --outlinks: the share of a link's own words in its score, 0 to 1; the page's score has
    /// the rest [default: 0]
    #[arg(long, value_name = "W", value_parser = share, help_heading = "Ranking")]
    pub(in crate::cli) anchor: Option<f64>,
    /// Print no more than the best N
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Output")]
    pub(in crate::cli) top: Option<usize>,
    /// Print only what has at least this score, as it is printed: above 0, at most 1
    #[arg(short, long, value_name = "T", help_heading = "Output")]
    pub(in crate::cli) threshold: Option<Threshold>,
    /// Print in input order, as documents come; lines are handed on when the input pauses
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) unsorted: bool,
    /// With -f jsonl: the N terms that add most to each score, with their shares of it
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Output")]
    pub(in crate::cli) explain: Option<usize>,
    /// How results are written [default: text, or as the name of --output ends; on a terminal,
    /// scores with four digits]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_enum,
        help_heading = "Output"
    )]
    pub(in crate::cli) format: Option<PairFormatArg>,
    /// Exit with status 1 if a score that was printed is above 0, and with 3 if no document
    /// could be read
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) exit_status: bool,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum CombineArg {
    /// The best score of them; csv and jsonl say whose it is
    Max,
    /// The mean of the scores
    Mean,
    /// One vector of all
    Joined,
}

impl From<CombineArg> for Combine {
    fn from(typed: CombineArg) -> Self {
        match typed {
            CombineArg::Max => Self::Max,
            CombineArg::Mean => Self::Mean,
            CombineArg::Joined => Self::Joined,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum WeightArg {
    /// How often it occurs
    Tf,
    /// 1
    Binary,
    /// 1 + ln(tf)
    Log,
    /// tf * (ln((1 + N) / (1 + df)) + 1)
    Tfidf,
}

impl From<WeightArg> for Weight {
    fn from(typed: WeightArg) -> Self {
        match typed {
            WeightArg::Tf => Self::Tf,
            WeightArg::Binary => Self::Binary,
            WeightArg::Log => Self::Log,
            WeightArg::Tfidf => Self::TfIdf,
        }
    }
}

/// Parts of pages, separated by commas. Not a list to clap, so that a later flag replaces an
/// earlier one.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Features(Vec<HtmlFeature>);

impl FromStr for Features {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = |name: &str| {
            let mut all = HtmlFeature::ALL.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, feature)| *feature)
        };
        let features: Option<Vec<_>> = text.split(',').map(known).collect();
        features.map(Self).ok_or_else(|| {
            "some of text, title, keywords, description, images, separated by commas".into()
        })
    }
}

/// Reads a share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a share from 0 to 1, such as 0.3".to_owned())
}

impl RankArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        self.check()?;
        if self.format.is_none() {
            check_rows(&self.output, &["jsonl", "csv", "tsv", "txt"])?;
        }
        self.resources.check()?;
        self.keep_apart()?;
        let paths = self.input.files.iter().map(PathBuf::as_path);
        self.input.walk.check(self.input.input_format, paths)?;
        self.input.check(false)?;
        let frequencies = match &self.df {
            Some(path) => Some(Arc::new(read_frequencies(path)?)),
            None => None,
        };
        let stopwords = stopwords::read(self.stopwords.as_deref(), Case::Fold)?;
        let features = match &self.features {
            Some(Features(features)) => features.clone(),
            None => HtmlFeature::ALL.map(|(_, feature)| feature).to_vec(),
        };
        Ok(Settings {
            read: ReadSettings {
                page: PageSettings {
                    features: Some(features),
                    links: self.outlinks,
                },
                ..read_settings(&self.input, &self.resources)
            },
            shingle: ShingleSettings::Tokens {
                tokens: Tokens::Words { stopwords },
                case: Case::Fold,
                windows: Windows::of(1),
            },
            rank: Some(RankSettings {
                weight: self.weight.into(),
                combine: self.combine.into(),
                frequencies,
                counts_frequencies: self.write_df.is_some(),
                order: match (self.unsorted, self.top) {
                    (true, _) => RankOrder::Input,
                    (false, Some(top)) => RankOrder::Top(top),
                    (false, None) => RankOrder::Best,
                },
                threshold: self.threshold,
                explain: self.explain.unwrap_or(0),
                outlinks: self.outlinks.then(|| Outlinks {
                    anchor: self.anchor.unwrap_or(0.0),
                }),
            }),
            strictness: self.resources.strictness(),
            threads: self.resources.threads,
            memory: Some(self.resources.memory()),
            ..Settings::default()
        })
    }

    /// What documents are compared with.
    pub(in crate::cli) fn gold(&self) -> Vec<Gold> {
        let walk = self.input.walk.walk();
        let gold = self.gold.iter();
        gold.map(|path| Gold {
            name: path.display().to_string(),
            inputs: all_named(std::slice::from_ref(path), &walk),
        })
        .collect()
    }

    fn check(&self) -> Result<(), Failure> {
        let is_jsonl = self.format == Some(PairFormatArg::Jsonl);
        let is_tfidf = self.weight == WeightArg::Tfidf;
        let weight = match self.weight {
            WeightArg::Tf => "--weight tf",
            WeightArg::Binary => "--weight binary",
            WeightArg::Log => "--weight log",
            WeightArg::Tfidf => "--weight tfidf",
        };
        let has_no_pages = match self.input.input_format {
            FormatArg::Auto | FormatArg::Html | FormatArg::Warc => None,
            _ if self.input.html.is_some() => None,
            FormatArg::Jsonl => Some("--input-format jsonl"),
            FormatArg::Protobuf => Some("--input-format protobuf"),
            FormatArg::Text => Some("--input-format text"),
            FormatArg::Lines => Some("--input-format lines"),
            FormatArg::Csv => Some("--input-format csv"),
            FormatArg::Tsv => Some("--input-format tsv"),
            FormatArg::Parquet => Some("--input-format parquet"),
        };
        let no_pages =
            "it holds HTML only where --html says so; add that, or leave out one of them";
        together::check(&[
            (
                self.unsorted && self.top.is_some(),
                "--unsorted",
                "--top",
                "the best are known when all has been read; leave out one of them",
            ),
            (
                self.unsorted && is_tfidf && self.df.is_none(),
                "--unsorted",
                "--weight tfidf",
                "documents that have not come cannot be counted; give --df FILE, which \
                 --write-df wrote",
            ),
            (
                self.df.is_some() && !is_tfidf,
                "--df",
                weight,
                "only tfidf counts documents; use --weight tfidf, or leave out --df",
            ),
            (
                self.explain.is_some() && !is_jsonl,
                "--explain",
                match self.format {
                    None => "the default, -f text,",
                    _ => "--format",
                },
                "only jsonl has room for terms; use -f jsonl",
            ),
            (
                self.explain.is_some() && self.outlinks,
                "--explain",
                "--outlinks",
                "the terms are those of pages; leave out one of them",
            ),
            (
                self.outlinks && has_no_pages.is_some(),
                "--outlinks",
                has_no_pages.unwrap_or_default(),
                no_pages,
            ),
            (
                self.features.is_some() && has_no_pages.is_some(),
                "--features",
                has_no_pages.unwrap_or_default(),
                no_pages,
            ),
        ])?;
        if self.anchor.is_some() && !self.outlinks {
            return Err(Failure::Usage(
                "--anchor is for links: add --outlinks, or leave it out".into(),
            ));
        }
        let is_pipe = |path: &&PathBuf| path.as_os_str() == "-";
        let pipes = self.gold.iter().filter(is_pipe).count();
        let is_read =
            self.input.is_pipe_read() || self.input.files.iter().any(|path| is_pipe(&path));
        match pipes + usize::from(is_read) > 1 {
            true => Err(Failure::Usage(
                "standard input can be read once: name the files, or that of --gold".into(),
            )),
            false => Ok(()),
        }
    }

    /// Refuses to write over what is read, or two results over each other.
    fn keep_apart(&self) -> Result<(), Failure> {
        let output = self.output.output.as_deref().unwrap_or(Path::new("-"));
        let written: Vec<Written<'_>> = [
            ("--output", Some(output)),
            ("--write-df", self.write_df.as_deref()),
            ("--stats", self.output.stats.as_deref()),
        ]
        .into_iter()
        .filter_map(|(flag, path)| path.map(|path| Written { flag, path }))
        .collect();
        let files = self.input.files.iter().chain(&self.input.files_from);
        let files = files
            .chain(&self.gold)
            .chain(&self.df)
            .map(PathBuf::as_path);
        let standard = self.input.is_pipe_read().then_some(Path::new("-"));
        let stopwords = stopwords::file(self.stopwords.as_deref());
        let read: Vec<&Path> = files.chain(stopwords).chain(standard).collect();
        keep_apart(&written, &read)
    }
}

fn read_frequencies(path: &Path) -> Result<DocumentFrequencies, Failure> {
    let name = path.display();
    let file = File::open(path).map_err(|error| Failure::Usage(format!("--df {name}: {error}")))?;
    Ok(DocumentFrequencies::read(
        &format!("--df {name}"),
        BufReader::new(file),
    )?)
}
