//! How pairs are listed: format, order, how many.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use simdup::inside::{Columns, Digits, ListFormat, Listing, OutputFormat, PairOrder};
use simdup::settings::Measure;

use super::named::{self, NamedFormat};
use super::output::OutputArgs;
use super::together::{self, Clash};
use super::values::{at_least_one, digits};
use crate::cli::Failure;

/// What all commands that print pairs have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct ListArgs {
    /// The order of pairs: as documents came, or the highest score first (`query`: for each
    /// document) [default: input; with --top: score]
    #[arg(long, value_name = "ORDER", value_enum)]
    pub(in crate::cli) sort: Option<SortArg>,
    /// Print scores with at most N digits behind the point, 1 to 17, rounded half to even; the
    /// threshold is compared with the exact score
    #[arg(long, value_name = "N", value_parser = digits)]
    pub(in crate::cli) digits: Option<Digits>,
    /// Print only how many there are
    #[arg(long)]
    pub(in crate::cli) count: bool,
    /// Exit with status 1 if a pair was found, and with 3 if no document could be read
    #[arg(long)]
    pub(in crate::cli) exit_status: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SortArg {
    Score,
    Input,
}

impl ListArgs {
    /// Refuses what would have no effect.
    pub(super) fn check(&self, format: bool, top: bool) -> Result<(), Failure> {
        together::check(&[
            self.beside_count(format, "--format"),
            self.beside_count(self.sort.is_some(), "--sort"),
            self.beside_count(top, "--top"),
            self.beside_count(self.digits.is_some(), "--digits"),
        ])
    }

    pub(super) fn beside_count(&self, given: bool, flag: &'static str) -> Clash<'static> {
        let why = "there is nothing but a number to print; leave out one of them";
        (given && self.count, "--count", flag, why)
    }

    pub(in crate::cli) fn listing(&self, format: ListFormat, top: Option<usize>) -> Listing {
        Listing {
            format,
            order: match self.sort {
                Some(SortArg::Score) => PairOrder::Score,
                None if top.is_some() => PairOrder::Score,
                Some(SortArg::Input) | None => PairOrder::Input,
            },
            top,
            digits: self.digits,
            is_counted: self.count,
            ..Listing::default()
        }
    }
}

/// Formats of a line a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum PairFormatArg {
    /// `url1 url2 score`; ids are printed unchanged, except that white space and % are
    /// percent-encoded in ids that contain white space
    Text,
    /// Tab-separated; tab, line ends and backslash inside an id are escaped
    Tsv,
    /// Comma-separated with a header, quoted as in RFC 4180; ids are exact, so that a spreadsheet
    /// takes one that begins with = for a formula
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

impl PairFormatArg {
    /// What was typed, else what the output's name says, if it says anything.
    pub(in crate::cli) fn of(typed: Option<Self>, output: &OutputArgs) -> Option<Self> {
        let named = || named::format_of(output.output.as_deref()?);
        typed.or_else(|| match named()? {
            NamedFormat::Text | NamedFormat::Sarif => None,
            NamedFormat::Tsv => Some(Self::Tsv),
            NamedFormat::Csv => Some(Self::Csv),
            NamedFormat::Jsonl => Some(Self::Jsonl),
        })
    }

    /// The same as a listing has it.
    pub(in crate::cli) fn list_format(typed: Option<Self>, output: &OutputArgs) -> ListFormat {
        let format = Self::of(typed, output).unwrap_or(Self::Text);
        ListFormat::Rows(format.into())
    }
}

/// Formats of pairs, those that are no table among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ListFormatArg {
    /// `url1 url2 score`; ids are printed unchanged, except that white space and % are
    /// percent-encoded in ids that contain white space
    Text,
    /// Tab-separated; tab, line ends and backslash inside an id are escaped
    Tsv,
    /// Comma-separated with a header, quoted as in RFC 4180; ids are exact, so that a spreadsheet
    /// takes one that begins with = for a formula
    Csv,
    /// {"url1":…,"url2":…,"score":…}
    Jsonl,
    /// Annotations of a workflow on GitHub: for each of the two a warning, with file and line
    Github,
    /// SARIF 2.1.0, for viewers of code
    Sarif,
}

impl From<ListFormatArg> for ListFormat {
    fn from(typed: ListFormatArg) -> Self {
        match typed {
            ListFormatArg::Text => Self::Rows(OutputFormat::Text),
            ListFormatArg::Tsv => Self::Rows(OutputFormat::Tsv),
            ListFormatArg::Csv => Self::Rows(OutputFormat::Csv),
            ListFormatArg::Jsonl => Self::Rows(OutputFormat::Jsonl),
            ListFormatArg::Github => Self::Github,
            ListFormatArg::Sarif => Self::Sarif,
        }
    }
}

/// What `simdup` itself can say of pairs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(in crate::cli) struct PairListArgs {
    /// How pairs are written [default: text, or as the name of --output ends]
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    format: Option<ListFormatArg>,
    /// Print no more than the N pairs with the highest scores; memory is for N pairs
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    top: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) list: ListArgs,
    /// With -f csv or jsonl, say more of a pair: shared (shingles that both have), sizes (shingles
    /// of each), lines (where the first passage that they share begins, if they are plain text
    /// files), separated by commas
    #[arg(long, value_name = "LIST")]
    with: Option<With>,
    /// Leave out the pairs in FILE, which simdup wrote as text, tsv, csv or jsonl: they are known
    /// and accepted, and do not count. The order of the two ids does not matter, nor does `./`
    /// before a path; else ids are written as they were then
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Write all pairs to FILE, those of --baseline too, for the next run's --baseline; the
    /// format is that of its name: .tsv, .csv, .jsonl, else text
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) write_baseline: Option<PathBuf>,
}

/// What else is said of pairs. Not a list to clap, so that a later flag replaces an earlier one.
#[derive(Clone, Copy, Debug)]
struct With(Columns);

impl FromStr for With {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut columns = Columns::default();
        for name in text.split(',') {
            match name {
                "shared" => columns.shared = true,
                "sizes" => columns.sizes = true,
                "lines" => columns.lines = true,
                _ => return Err("some of shared, sizes, lines, separated by commas".into()),
            }
        }
        Ok(Self(columns))
    }
}

impl PairListArgs {
    fn format(&self, output: &OutputArgs) -> ListFormat {
        let named = || named::format_of(output.output.as_deref()?);
        match (self.format, named()) {
            (Some(format), _) => format.into(),
            (None, Some(NamedFormat::Tsv)) => ListFormat::Rows(OutputFormat::Tsv),
            (None, Some(NamedFormat::Csv)) => ListFormat::Rows(OutputFormat::Csv),
            (None, Some(NamedFormat::Jsonl)) => ListFormat::Rows(OutputFormat::Jsonl),
            (None, Some(NamedFormat::Sarif)) => ListFormat::Sarif,
            (None, Some(NamedFormat::Text) | None) => ListFormat::default(),
        }
    }

    /// Refuses what would have no effect.
    pub(super) fn check(&self, measure: Measure, output: &OutputArgs) -> Result<(), Failure> {
        if self.format.is_none() && !self.list.count {
            named::check_rows(output, &["jsonl", "csv", "tsv", "txt", "sarif"])?;
        }
        if let Some(path) = &self.write_baseline {
            let read_again = ["tsv", "csv", "jsonl", "txt"];
            named::check_format("--write-baseline", path, &read_again)?;
        }
        let is_named = output.output.as_deref().and_then(named::format_of);
        let has_columns = matches!(
            self.format(output),
            ListFormat::Rows(OutputFormat::Csv | OutputFormat::Jsonl)
        );
        let columns = self.columns();
        self.list.check(self.format.is_some(), self.top.is_some())?;
        together::check(&[
            self.list.beside_count(self.with.is_some(), "--with"),
            (
                self.with.is_some() && !has_columns,
                "--with",
                match (self.format, is_named) {
                    (None, None) => "the default, -f text,",
                    (None, Some(_)) => "the format that follows from --output",
                    (Some(_), _) => "--format",
                },
                "there is no room for names; use -f csv or -f jsonl",
            ),
            (
                (columns.shared || columns.sizes) && measure == Measure::MinHash,
                "--with shared or sizes",
                "--score minhash",
                "signatures do not tell how many shingles there are; use --score jaccard or \
                 containment",
            ),
        ])
    }

    /// Refuses what answers of an index do not have.
    pub(in crate::cli) fn check_index(&self, index: &Path) -> Result<(), Failure> {
        let is_table = |format| matches!(ListFormat::from(format), ListFormat::Rows(_));
        let flags = [
            (self.list.sort.is_some(), "--sort"),
            (self.top.is_some(), "--top"),
            (self.with.is_some(), "--with"),
            (self.write_baseline.is_some(), "--write-baseline"),
            (!self.format.is_none_or(is_table), "--format"),
        ];
        match flags.iter().find(|(given, _)| *given) {
            None => Ok(()),
            Some((_, flag)) => Err(Failure::Usage(format!(
                "{flag} and --against {} do not go together: an index answers as documents are \
                 read; leave it out, or {}",
                index.display(),
                match *flag {
                    "--sort" | "--top" => "use `simdup query`",
                    _ => "name the documents in place of the index",
                }
            ))),
        }
    }

    fn columns(&self) -> Columns {
        self.with
            .map_or_else(Columns::default, |With(columns)| columns)
    }

    pub(in crate::cli) fn listing(&self, output: &OutputArgs) -> Listing {
        Listing {
            columns: self.columns(),
            ..self.list.listing(self.format(output), self.top)
        }
    }

    /// Whether it is to be told where in files pairs stand.
    pub(in crate::cli) fn has_lines(&self, listing: &Listing) -> bool {
        listing.columns.lines || self.has_annotations(listing)
    }

    /// Whether a place in a file belongs to what is written of a pair.
    pub(in crate::cli) fn has_annotations(&self, listing: &Listing) -> bool {
        !matches!(listing.format, ListFormat::Rows(_))
    }

    /// How a baseline is written.
    pub(in crate::cli) fn baseline_listing(path: &Path) -> Listing {
        Listing::of(match named::format_of(path) {
            Some(NamedFormat::Tsv) => OutputFormat::Tsv,
            Some(NamedFormat::Csv) => OutputFormat::Csv,
            Some(NamedFormat::Jsonl) => OutputFormat::Jsonl,
            Some(NamedFormat::Text | NamedFormat::Sarif) | None => OutputFormat::Text,
        })
    }
}
