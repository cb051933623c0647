//! The one error type: where it happened, what happened, what to do.

use std::fmt::{self, Write};
use std::io;
use std::sync::Arc;

/// Something that went wrong at the rim: while reading or writing.
///
/// A bad record is reported through [`Observer`](crate::Observer) and the run
/// goes on; an `Error` that a function returns ended the run.
#[derive(Debug)]
pub struct Error {
    /// Where it happened.
    pub place: Place,
    /// What happened.
    pub kind: ErrorKind,
}

/// A place in the input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name as it was given, `-` for standard input.
    pub file: Arc<str>,
    /// Record in the file, from 1; for line formats, the line.
    pub record: Option<u64>,
    /// Byte offset in the file, counted after decompression.
    pub byte: Option<u64>,
}

impl Place {
    /// A file as a whole.
    pub fn file(name: &str) -> Self {
        Self {
            file: name.into(),
            record: None,
            byte: None,
        }
    }
}

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to open or read.
    Unreadable(io::Error),
    /// Compressed data ends early or is damaged.
    Compression(io::Error),
    /// An archive ends early or is damaged.
    Archive(io::Error),
    /// The content is of a format that is not read.
    Foreign {
        /// The format's name.
        what: &'static str,
        /// What can be done with it.
        remedy: &'static str,
    },
    /// The stream ends inside a record; the payload says how far it got.
    Truncated {
        /// Bytes the record should have, where the format says.
        expected: Option<u64>,
        /// Bytes that are there.
        found: u64,
    },
    /// A frame's length makes no sense.
    FrameLength(i32),
    /// A record has so many bytes or more, which is too long to be one.
    TooLong(u64),
    /// Not JSON, or not a JSON object.
    Json(String),
    /// A message that is not the wire form of a document.
    Protobuf(String),
    /// A record that is not CSV, or not as its header says.
    Csv(String),
    /// What is not a record of a WARC archive, or none that can be read.
    Warc(String),
    /// A Parquet file that is damaged, or a column that cannot be read.
    Parquet(String),
    /// Text that is not UTF-8.
    Utf8,
    /// A command printed nothing for any of so many files.
    NothingPrinted(u64),
    /// A field that must be there is not.
    FieldMissing(String),
    /// A field holds something other than what is wanted.
    FieldType {
        /// The field's name.
        field: String,
        /// What it should hold.
        wanted: &'static str,
        /// What it holds.
        found: &'static str,
    },
    /// More documents than an ordinal can count.
    TooManyDocuments,
    /// The result could not be written.
    Write(io::Error),
    /// What does not fit into memory could not be kept in a file.
    Spill(io::Error),
    /// Records of different formats, which one file cannot hold.
    MixedFormats,
    /// Records in different encodings, which one file cannot hold.
    MixedEncodings,
    /// The name of a file says another format than its records have.
    OtherFormat {
        /// What the records are.
        records: &'static str,
        /// How the file should be named.
        ending: &'static str,
    },
    /// What is no file of records, and has no output of its own.
    NoShard(&'static str),
    /// A line that is no pair with its score.
    NoPair,
    /// A line that is no pair with its label.
    NoKnownPair,
    /// A pair names an id that no document has.
    UnknownId(String),
    /// What cannot be done with an index, or an index that is none.
    Index(String),
    /// A file of an index is not as it was written.
    DamagedIndex(String),
    /// A gold standard without a word that counts.
    NoTerm,
    /// A line that does not tell how many documents have a term.
    NoFrequencies,
    /// What was read once is not the same when it is read again.
    Changed,
    /// The settings make no sense.
    Settings(&'static str),
    /// The worker threads could not be started.
    Threads(String),
    /// What a stage of an engine was handed is not what it takes.
    Stage(String),
}

impl ErrorKind {
    /// Errors with the same name are alike: after many, the rest are counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable file",
            Self::Compression(_) => "damaged compression",
            Self::Archive(_) => "damaged archive",
            Self::Foreign { .. } => "format that is not read",
            Self::Truncated { .. } => "truncated record",
            Self::FrameLength(_) => "impossible frame length",
            Self::TooLong(_) => "record too long",
            Self::Json(_) => "malformed JSON",
            Self::Protobuf(_) => "malformed protobuf message",
            Self::Csv(_) => "malformed CSV",
            Self::Warc(_) => "malformed WARC record",
            Self::Parquet(_) => "malformed Parquet",
            Self::Utf8 => "invalid UTF-8",
            Self::NothingPrinted(_) => "nothing printed",
            Self::FieldMissing(_) => "missing field",
            Self::FieldType { .. } => "field of another type",
            Self::TooManyDocuments => "too many documents",
            Self::Write(_) => "write failure",
            Self::Spill(_) => "no room for temporary files",
            Self::MixedFormats => "mixed formats",
            Self::MixedEncodings => "mixed encodings",
            Self::OtherFormat { .. } => "name of another format",
            Self::NoShard(_) => "no file of records",
            Self::NoPair => "not a pair",
            Self::NoKnownPair => "not a known pair",
            Self::UnknownId(_) => "unknown id",
            Self::Index(_) => "no such index",
            Self::DamagedIndex(_) => "damaged index",
            Self::NoTerm => "no term",
            Self::NoFrequencies => "not document frequencies",
            Self::Changed => "changed input",
            Self::Settings(_) => "impossible settings",
            Self::Threads(_) => "no threads",
            Self::Stage(_) => "a stage that cannot go on",
        }
    }
}

impl Error {
    /// An error of a file as a whole.
    pub fn in_file(name: &str, kind: ErrorKind) -> Self {
        Self {
            place: Place::file(name),
            kind,
        }
    }

    /// True if it is no fault of a record or an input, so that to pass over it would lose
    /// what is there.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Spill(_) | ErrorKind::Index(_) | ErrorKind::DamagedIndex(_)
        )
    }

    /// About how much memory it takes, for it may have to wait among many.
    pub(crate) fn bytes(&self) -> usize {
        let text = match &self.kind {
            ErrorKind::Json(text)
            | ErrorKind::Protobuf(text)
            | ErrorKind::Csv(text)
            | ErrorKind::Warc(text)
            | ErrorKind::Parquet(text)
            | ErrorKind::FieldMissing(text) => text.len(),
            ErrorKind::FieldType { field, .. } => field.len(),
            _ => 0,
        };
        size_of::<Self>() + text
    }

    /// True if the reader at the other end of a pipe has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, ErrorKind::Write(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.file))?;
        if let Some(record) = self.record {
            write!(f, ": record {record}")?;
        }
        if let Some(byte) = self.byte {
            let separator = if self.record.is_some() { "," } else { ":" };
            write!(f, "{separator} byte {byte}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(e) => write!(f, "cannot be read: {e}"),
            Self::Compression(e) => write!(
                f,
                "damaged or incomplete compressed data ({}); the records before were used, \
                 the rest of the file was not",
                one_line(&e.to_string())
            ),
            Self::Archive(e) => write!(
                f,
                "damaged or incomplete archive ({}); the members before were used, the rest \
                 was not",
                one_line(&e.to_string())
            ),
            Self::Foreign { what, remedy } => write!(f, "{what}; {remedy}"),
            Self::Truncated {
                expected: Some(expected),
                found,
            } => write!(
                f,
                "the input ends inside a record: {expected} bytes announced, {found} there"
            ),
            Self::Truncated {
                expected: None,
                found,
            } => write!(
                f,
                "the input ends inside a record, after {found} bytes of it"
            ),
            Self::FrameLength(length) => write!(
                f,
                "impossible frame length {length}; the next frame cannot be found, \
                 the rest of the file was not used"
            ),
            Self::TooLong(bytes) => write!(
                f,
                "a record of {bytes} bytes or more; the limit is {} bytes",
                crate::document::RECORD_BYTES_MAX
            ),
            Self::Json(what) => write!(f, "malformed JSON: {}", one_line(what)),
            Self::Protobuf(what) => {
                write!(f, "malformed protobuf message: {}", one_line(what))
            }
            Self::Csv(what) => write!(f, "malformed CSV: {}", one_line(what)),
            Self::Warc(what) => write!(f, "malformed WARC record: {}", one_line(what)),
            Self::Parquet(what) => write!(f, "malformed Parquet: {}", one_line(what)),
            Self::Utf8 => f.write_str(
                "invalid UTF-8; JSON and protobuf must be UTF-8, and for plain text --encoding \
                 names another encoding",
            ),
            Self::NothingPrinted(files) => {
                f.write_str("the command printed nothing for this file")?;
                match files {
                    0 | 1 => {}
                    2 => f.write_str(", nor for the other one")?,
                    files => write!(f, ", nor for any of the {} others", files - 1)?,
                }
                f.write_str(
                    "; it must write the text to standard output. Some programs write a file \
                     beside their input unless the output is named `-`, as in `pdftotext {} -`",
                )
            }
            Self::FieldMissing(field) => write!(f, "no {}", one_line(field)),
            Self::FieldType {
                field,
                wanted,
                found,
            } => write!(f, "`{}` is {found}, not {wanted}", one_line(field)),
            Self::TooManyDocuments => write!(
                f,
                "more than {} documents, those with repeated ids among them; split the collection",
                u32::MAX
            ),
            Self::Write(e) => write!(f, "cannot be written: {e}"),
            Self::Spill(e) => write!(f, "no temporary file there: {e}"),
            Self::MixedFormats => f.write_str(
                "the inputs have different formats or headers, which one output cannot hold; take \
                 those of one format at a time, and --against for the others",
            ),
            Self::MixedEncodings => f.write_str(
                "the inputs have different encodings, which one output cannot hold; take those of \
                 one encoding at a time, or convert them first (iconv -t UTF-8)",
            ),
            Self::OtherFormat { records, ending } => write!(
                f,
                "the name says another format than that of the records, which are written as they \
                 came: {records}; name it {ending}"
            ),
            Self::NoShard(why) => write!(f, "not for --output-dir: {why}"),
            Self::NoPair => f.write_str(
                "not a pair and its score, as simdup writes them: text, tsv, csv or jsonl",
            ),
            Self::NoKnownPair => f.write_str(
                "not two ids, or two ids and a label 0 or 1, as in the lines before it: text, TSV, \
                 CSV (url1,url2,label) or JSONL (url1, url2, label)",
            ),
            Self::UnknownId(id) => write!(f, "no document has the id {}", one_line(id)),
            Self::Index(what) => f.write_str(&one_line(what)),
            Self::DamagedIndex(what) => write!(
                f,
                "damaged index: {}; restore it from a copy, or build it again",
                one_line(what)
            ),
            Self::NoTerm => f.write_str(
                "this gold standard has no term to compare with: there is no word in it, or none but \
                 stopwords",
            ),
            Self::NoFrequencies => f.write_str(
                "not the number of documents that have a term, as `simdup rank --write-df` writes it",
            ),
            Self::Changed => f.write_str(
                "it was changed while it was read; nothing was written, run it again",
            ),
            Self::Settings(what) => f.write_str(what),
            Self::Threads(what) => write!(f, "cannot start threads: {}", one_line(what)),
            Self::Stage(what) => f.write_str(&one_line(what)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Unreadable(e)
            | ErrorKind::Compression(e)
            | ErrorKind::Archive(e)
            | ErrorKind::Spill(e)
            | ErrorKind::Write(e) => Some(e),
            _ => None,
        }
    }
}

/// Bytes of a record that a report may quote.
const EXCERPT_BYTES_MAX: usize = 200;

/// What something says of itself, cut off where it gets long: some parsers quote all of
/// what they do not want, which may be megabytes.
pub(crate) fn excerpt(what: &impl fmt::Display) -> String {
    struct Excerpt(String);

    impl Write for Excerpt {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = EXCERPT_BYTES_MAX - self.0.len().min(EXCERPT_BYTES_MAX);
            let is_end = |&end: &usize| text.is_char_boundary(end);
            let end = (0..=room.min(text.len())).rev().find(is_end).unwrap_or(0);
            self.0.push_str(&text[..end]);
            match end == text.len() {
                true => Ok(()),
                false => Err(fmt::Error),
            }
        }
    }

    let mut excerpt = Excerpt(String::new());
    if write!(excerpt, "{what}").is_err() {
        excerpt.0.push('…');
    }
    excerpt.0
}

/// A report is one line, whatever a file name or a record holds.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_file_record_and_byte() {
        let error = Error {
            place: Place {
                file: "a\nb".into(),
                record: Some(3),
                byte: Some(120),
            },
            kind: ErrorKind::Json("expected `,`\nhere".into()),
        };
        assert_eq!(
            error.to_string(),
            "a\u{fffd}b: record 3, byte 120: malformed JSON: expected `,`\u{fffd}here"
        );
    }

    #[test]
    fn of_what_is_long_the_start_is_quoted() {
        assert_eq!(excerpt(&"short"), "short");
        let long = excerpt(&"é".repeat(1_000_000));
        assert_eq!(long, "é".repeat(EXCERPT_BYTES_MAX / 2) + "…");
        assert!(excerpt(&format_args!("{}{}", "a".repeat(199), "é")).len() < 204);
    }

    #[test]
    fn only_a_closed_pipe_is_a_broken_pipe() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(Error::in_file("-", ErrorKind::Write(closed)).is_broken_pipe());
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(!Error::in_file("-", ErrorKind::Write(full)).is_broken_pipe());
    }
}
