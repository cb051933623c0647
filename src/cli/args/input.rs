//! What is read: files and how documents are stored in them.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use simdup::inside::{Walk, distinct};
use simdup::settings::{HtmlText, InputFormat, TextEncoding};
use simdup::{Index, Input};

use super::values::encoding;
use super::walk::WalkArgs;
use super::{lists, together};
use crate::cli::{Failure, pipe};

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(in crate::cli) struct InputArgs {
    /// Files, directories, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// FILEs are listed there too, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) files_from: Option<PathBuf>,
    /// With --files-from: a NUL stands behind each name, not a line's end
    #[arg(short = '0', long, requires = "files_from")]
    pub(in crate::cli) null: bool,
    /// How documents are stored
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Auto)]
    pub(in crate::cli) input_format: FormatArg,
    /// Field with the id [default: url, else id, else file:record]; `a.b` is b in the object a
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) id_field: Option<String>,
    /// Field with the text; several are joined, and so are lists. `body` reads protobuf's body
    #[arg(long, value_name = "NAME,…", default_value = "text")]
    pub(in crate::cli) text_field: Fields,
    /// The text is HTML: take what a reader sees of it, or its main content only [default: all,
    /// of HTML files]
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub(in crate::cli) html: Option<HtmlArg>,
    /// Between the fields of CSV, `\t` for a tab [default: found]
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub(in crate::cli) delimiter: Option<u8>,
    /// Encoding of text, CSV and HTML, such as windows-1251; `detect` guesses it for each file
    /// [default: by its mark, else UTF-8, else guessed and told]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub(in crate::cli) encoding: Option<TextEncoding>,
    #[command(flatten)]
    pub(in crate::cli) walk: WalkArgs,
}

/// A character of one byte that can stand between fields.
fn delimiter(typed: &str) -> Result<u8, String> {
    match typed.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => Err("quotes and line ends have a meaning of their own".into()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("one ASCII character, or `\\t`".into()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum HtmlArg {
    /// All that a reader sees
    All,
    /// The main content, without navigation and the like
    Article,
}

impl From<HtmlArg> for HtmlText {
    fn from(typed: HtmlArg) -> Self {
        match typed {
            HtmlArg::All => Self::All,
            HtmlArg::Article => Self::Article,
        }
    }
}

/// Names of fields, separated by commas. Not a list to clap, so that a later flag
/// replaces an earlier one.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Fields(pub(in crate::cli) Vec<String>);

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
pub(in crate::cli) enum FormatArg {
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
    /// A file of HTML is a document, its path the id
    Html,
    /// Records behind a header that names their fields
    Csv,
    /// The same with tabs between the fields
    Tsv,
    /// Archives of crawlers (WARC, WET): responses that are HTML or plain text
    Warc,
    /// Columns of rows
    Parquet,
}

impl From<FormatArg> for Option<InputFormat> {
    fn from(typed: FormatArg) -> Self {
        match typed {
            FormatArg::Auto => None,
            FormatArg::Jsonl => Some(InputFormat::Jsonl),
            FormatArg::Protobuf => Some(InputFormat::Protobuf),
            FormatArg::Text => Some(InputFormat::Text),
            FormatArg::Lines => Some(InputFormat::Lines),
            FormatArg::Html => Some(InputFormat::Html),
            FormatArg::Csv => Some(InputFormat::Csv),
            FormatArg::Tsv => Some(InputFormat::Tsv),
            FormatArg::Warc => Some(InputFormat::Warc),
            FormatArg::Parquet => Some(InputFormat::Parquet),
        }
    }
}

fn standard_input() -> Input {
    pipe::widen();
    Input::from_reader("-", io::stdin())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(name).into())
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Result<PathBuf, Failure> {
    let name = std::str::from_utf8(name);
    name.map(PathBuf::from)
        .map_err(|error| Failure::Usage(format!("--files-from: {error}")))
}

/// The inputs behind what was typed for several files, each file once.
pub(super) fn all_named(paths: &[PathBuf], walk: &Walk) -> Vec<Input> {
    distinct(paths.iter().flat_map(|path| named(path, walk)).collect())
}

/// The inputs behind what was typed for a file.
fn named(path: &Path, walk: &Walk) -> Vec<Input> {
    if path.as_os_str() == "-" {
        vec![standard_input()]
    } else {
        walk.inputs(path)
    }
}

impl InputArgs {
    /// Adds the files that are listed to those that were typed.
    pub(in crate::cli) fn list(&mut self) -> Result<(), Failure> {
        let Some(list) = &self.files_from else {
            return Ok(());
        };
        let is_pipe = list.as_os_str() == "-";
        if is_pipe && self.files.iter().any(|path| path.as_os_str() == "-") {
            return Err(Failure::Usage(
                "standard input can be read once: name the files, or that of --files-from".into(),
            ));
        }
        let read = lists::read(list, || {
            let mut names = Vec::new();
            match is_pipe {
                true => io::stdin().read_to_end(&mut names).map(|_| names),
                false => fs::read(list),
            }
        });
        let names = read
            .map_err(|error| Failure::Usage(format!("--files-from {}: {error}", list.display())))?;
        let end = if self.null { 0 } else { b'\n' };
        let names = names.split(|&byte| byte == end);
        let names = names.map(|name| match self.null {
            true => name,
            false => name.strip_suffix(b"\r").unwrap_or(name),
        });
        for name in names.filter(|name| !name.is_empty()) {
            if is_pipe && name == b"-" {
                return Err(Failure::Usage(
                    "standard input can be read once: --files-from has been read from it".into(),
                ));
            }
            self.files.push(path_of(name)?);
        }
        Ok(())
    }

    /// What this build cannot do, encodings of what has but one, fields of what has none, HTML
    /// in what is no text.
    pub(super) fn check(&self, items: bool) -> Result<(), Failure> {
        if self
            .html
            .is_some_and(|html| !HtmlText::from(html).is_built())
        {
            return Err(Failure::Usage(
                "--html=article is not in this build; build simdup with the feature `article`"
                    .into(),
            ));
        }
        let is_utf8 = matches!(
            self.input_format,
            FormatArg::Jsonl | FormatArg::Protobuf | FormatArg::Parquet
        );
        let is_csv = matches!(
            self.input_format,
            FormatArg::Auto | FormatArg::Csv | FormatArg::Tsv
        );
        together::check(&[
            (
                is_utf8 && self.encoding.is_some(),
                "--encoding",
                "--input-format",
                "JSON, protobuf and Parquet are UTF-8; leave out one of them",
            ),
            (
                self.delimiter.is_some() && !is_csv,
                "--delimiter",
                "--input-format",
                "only CSV has delimiters; leave out one of them",
            ),
            (
                items && self.html.is_some(),
                "--items",
                "--html",
                "a list of items is no page; leave out one of them",
            ),
        ])?;
        let format = match self.input_format {
            FormatArg::Text => "--input-format text",
            FormatArg::Lines => "--input-format lines",
            FormatArg::Html => "--input-format html",
            FormatArg::Warc if self.text_field.0 != ["text"] => "--input-format warc",
            _ => return Ok(()),
        };
        let why = "there are no fields in it; leave out one of them";
        together::check(&[
            (self.id_field.is_some(), "--id-field", format, why),
            (self.text_field.0 != ["text"], "--text-field", format, why),
        ])
    }

    /// Whether standard input is read as no file is named, or for their names.
    pub(super) fn is_pipe_read(&self) -> bool {
        match &self.files_from {
            None => self.files.is_empty(),
            Some(list) => list.as_os_str() == "-",
        }
    }

    /// What to read: the files, or standard input.
    pub(in crate::cli) fn inputs(&self) -> Result<Vec<Input>, Failure> {
        let mut found = Vec::new();
        let walk = self.walk.walk();
        let is_pipe = |path: &&PathBuf| path.as_os_str() == "-";
        for (index, path) in self.files.iter().enumerate() {
            if Index::is_at(path) {
                return Err(Failure::Usage(format!(
                    "{} is an index, which has no texts to read: `simdup query` asks it, and \
                     --against compares with it",
                    path.display()
                )));
            }
            // Standard input has nothing left the second time.
            if !(is_pipe(&path) && self.files[..index].iter().any(|path| is_pipe(&path))) {
                found.extend(named(path, &walk));
            }
        }
        if self.files.is_empty() && self.files_from.is_none() {
            if io::stdin().is_terminal() {
                return Err(Failure::Usage(
                    "nothing to read: name files, or pipe documents in, as in \
                     `zcat data.gz | simdup`. `simdup --help` is the manual"
                        .into(),
                ));
            }
            found.push(standard_input());
        }
        Ok(distinct(found))
    }
}
