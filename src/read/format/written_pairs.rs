//! Pairs in a file, as text, TSV, CSV or JSONL, compressed or not: those that were written earlier,
//! with their scores, and those that are known to be true or not.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Place};
use crate::id_text;
use crate::read::{Input, InputFormat, Piece, Pieces, ReadSettings};

/// Calls `each` with the two ids and the score of every pair in a file; the first line
/// that is no pair ends it.
pub fn read_pairs(
    input: Input,
    mut each: impl FnMut(&str, &str, f64) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_pair(
        input,
        "score",
        || ErrorKind::NoPair,
        |pair, _| {
            let score = pair.beside.and_then(|text| text.parse().ok());
            let score = score.filter(|score| f64::is_finite(*score));
            let [left, right] = &pair.urls;
            score.map(|score| each(left, right, score))
        },
    )
}

/// A pair that is known to be true or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownPair {
    pub(crate) urls: [String; 2],
    /// What is said of it, if something is.
    pub(crate) label: Option<bool>,
    pub(crate) place: Place,
}

/// Calls `each` with every known pair of a file; the first line that is no such pair ends it.
pub(crate) fn read_known_pairs(
    input: Input,
    mut each: impl FnMut(KnownPair) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_pair(
        input,
        "label",
        || ErrorKind::NoKnownPair,
        |pair, place| {
            let label = match pair.beside.as_deref().map(str::trim) {
                None => None,
                Some("0" | "false") => Some(false),
                Some("1" | "true") => Some(true),
                Some(_) => return None,
            };
            let urls = pair.urls;
            let place = place.clone();
            Some(each(KnownPair { urls, label, place }))
        },
    )
}

/// A pair as it is written.
#[derive(Debug, PartialEq)]
struct WrittenPair {
    urls: [String; 2],
    /// What stands behind the ids, or in the field that is asked for.
    beside: Option<String>,
}

/// Calls `each` with every pair and its place. Where that gives nothing, and where a line is no
/// pair, it is `wrong`.
fn for_each_pair(
    input: Input,
    named: &'static str,
    wrong: impl Fn() -> ErrorKind,
    mut each: impl FnMut(WrittenPair, &Place) -> Option<Result<(), Error>>,
) -> Result<(), Error> {
    let settings = ReadSettings {
        format: Some(InputFormat::Lines),
        ..ReadSettings::default()
    };
    let mut pieces = Pieces::new(vec![input], &settings);
    let mut piece = Piece::default();
    let mut reader = PairReader::new(named);
    // Where a record starts that is not closed yet.
    let mut open = None;
    while pieces.next(&mut piece) {
        for block in piece.blocks() {
            let (mut record, mut byte) = (block.first_record, block.first_byte);
            // As it stands: an empty line may be part of an id.
            for line in block.bytes.split_inclusive(|&byte| byte == b'\n') {
                record += 1;
                let place = Place {
                    file: Arc::clone(block.file),
                    record: Some(record),
                    byte: Some(byte),
                };
                byte += line.len() as u64;
                let result = match reader.line(line) {
                    Line::Nothing => continue,
                    Line::Half => {
                        open.get_or_insert(place);
                        continue;
                    }
                    Line::Pair(pair) => {
                        open = None;
                        each(pair, &place)
                    }
                    Line::Other => None,
                };
                let place = open.take().unwrap_or(place);
                result.unwrap_or_else(|| {
                    Err(Error {
                        place,
                        kind: wrong(),
                    })
                })?;
            }
        }
        if let Some(error) = piece.problem.take() {
            return Err(error);
        }
    }
    match open {
        Some(place) => Err(Error {
            place,
            kind: wrong(),
        }),
        None => Ok(()),
    }
}

/// What a line is.
#[derive(Debug, PartialEq)]
enum Line {
    Pair(WrittenPair),
    /// A header, or blank.
    Nothing,
    /// The start of a record that goes on: line ends may stand in quotes.
    Half,
    Other,
}

/// How pairs are written, by the first of them.
#[derive(Clone, Copy, Debug)]
enum Form {
    Jsonl,
    /// White space in an id is encoded.
    Text,
    /// A tab in an id is escaped.
    Tsv,
    /// In which columns the ids stand, and what is asked for.
    Csv {
        urls: [usize; 2],
        beside: Option<usize>,
    },
}

/// No two ids are as long as that together: a quote that is not closed by then never is.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Takes lines for pairs.
struct PairReader {
    /// The name of what is asked for besides the ids.
    named: &'static str,
    form: Option<Form>,
    /// What came of a record so far.
    half: Vec<u8>,
}

impl PairReader {
    fn new(named: &'static str) -> Self {
        Self {
            named,
            form: None,
            half: Vec::new(),
        }
    }

    fn line(&mut self, line: &[u8]) -> Line {
        let line = match self.form {
            None => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            Some(_) => line,
        };
        if self.half.is_empty() {
            return self.record(line);
        }
        let mut record = std::mem::take(&mut self.half);
        record.extend_from_slice(line);
        self.record(&record)
    }

    fn record(&mut self, record: &[u8]) -> Line {
        let Ok(text) = std::str::from_utf8(record) else {
            return Line::Other;
        };
        let text = text.trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return Line::Nothing;
        }
        let form = match self.form {
            Some(form) => form,
            None => {
                let (form, is_header) = self.form_of(text);
                self.form = Some(form);
                if is_header {
                    return Line::Nothing;
                }
                form
            }
        };
        let quotes = text.bytes().filter(|&byte| byte == b'"').count();
        let is_open = matches!(form, Form::Csv { .. }) && quotes % 2 == 1;
        if is_open && record.len() > RECORD_BYTES_MAX {
            return Line::Other;
        }
        if is_open {
            self.half = record.to_vec();
            return Line::Half;
        }
        match self.pair(form, text) {
            Some(pair) => Line::Pair(pair),
            None => Line::Other,
        }
    }

    /// The form of the first line, and whether that is a header.
    fn form_of(&self, line: &str) -> (Form, bool) {
        // An id may start so too.
        if line.trim_start().starts_with('{') && serde_json::from_str::<Value>(line).is_ok() {
            return (Form::Jsonl, false);
        }
        if line.contains('\t') {
            return (Form::Tsv, false);
        }
        let fields = csv_fields(line);
        let column = |name| fields.iter().position(|field| field == name);
        if let (Some(one), Some(two)) = (column("url1"), column("url2")) {
            let (urls, beside) = ([one, two], column(self.named));
            return (Form::Csv { urls, beside }, true);
        }
        match line.split_ascii_whitespace().count() {
            2 | 3 => (Form::Text, false),
            _ => {
                let (urls, beside) = ([0, 1], (fields.len() > 2).then_some(2));
                (Form::Csv { urls, beside }, false)
            }
        }
    }

    fn pair(&self, form: Form, line: &str) -> Option<WrittenPair> {
        match form {
            Form::Jsonl => {
                let pair: JsonPair = serde_json::from_str(line).ok()?;
                let beside = match self.named {
                    "score" => pair.score,
                    _ => pair.label,
                };
                Some(WrittenPair {
                    urls: [pair.url1, pair.url2],
                    beside: match beside {
                        None | Some(Value::Null) => None,
                        Some(Value::String(text)) => Some(text),
                        Some(other) => Some(other.to_string()),
                    },
                })
            }
            Form::Text => of_fields(line.split_ascii_whitespace(), |text| {
                id_text::decoded(text).into_owned()
            }),
            Form::Tsv => of_fields(line.split('\t'), unescaped),
            Form::Csv { urls, beside } => {
                let fields = csv_fields(line);
                let field = |at: usize| fields.get(at).cloned();
                Some(WrittenPair {
                    urls: [field(urls[0])?, field(urls[1])?],
                    beside: match beside {
                        Some(at) => Some(field(at)?),
                        None => None,
                    },
                })
            }
        }
    }
}

#[derive(Deserialize)]
struct JsonPair {
    url1: String,
    url2: String,
    score: Option<Value>,
    label: Option<Value>,
}

/// Two ids, and what may stand behind them.
fn of_fields<'a>(
    mut fields: impl Iterator<Item = &'a str>,
    id: fn(&str) -> String,
) -> Option<WrittenPair> {
    let urls = [id(fields.next()?), id(fields.next()?)];
    let beside = fields.next().map(str::to_owned);
    fields
        .next()
        .is_none()
        .then_some(WrittenPair { urls, beside })
}

/// The fields of a record whose quotes are all closed (RFC 4180).
fn csv_fields(record: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut in_quotes = false;
    let mut chars = record.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, in_quotes) {
            ('"', true) if chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            ('"', _) => in_quotes = !in_quotes,
            (',', false) => fields.push(std::mem::take(&mut field)),
            _ => field.push(c),
        }
    }
    fields.push(field);
    fields
}

/// An id as it was before it was written as TSV.
fn unescaped(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;
    use crate::write::{FilePlace, IdLines, Listing, OutputFormat, PairFacts};
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<Vec<(String, String, f64)>, Error> {
        let mut pairs = vec![];
        let input = Input::from_reader("pairs", std::io::Cursor::new(bytes.to_vec()));
        read_pairs(input, |left, right, score| {
            pairs.push((left.to_owned(), right.to_owned(), score));
            Ok(())
        })?;
        Ok(pairs)
    }

    #[test]
    fn what_is_no_pair_is_an_error_at_its_place() {
        for (bytes, record) in [
            (&b"a b 0.9\na b\n"[..], 2),
            (b"a\tb\tx\n", 1),
            (b"url1,url2,score\na,b\n", 2),
            (b"url1,url2,score\n\"a,b,0.9\n", 2),
            (b"{\"url1\":\"a\"}\n", 1),
            (b"a b nan\n", 1),
        ] {
            let error = read(bytes).unwrap_err();
            assert_eq!(error.place.record, Some(record), "{error}");
        }
        // An id may begin as JSON does.
        assert_eq!(read(b"{ b 0.9\n").unwrap().len(), 1);
        assert_eq!(read(b"").unwrap(), []);
        assert_eq!(read(b"\xef\xbb\xbfa b 1.0").unwrap().len(), 1);
    }

    type Labels = Vec<([String; 2], Option<bool>)>;

    fn known(text: &'static str) -> Result<Labels, String> {
        let mut pairs = vec![];
        read_known_pairs(Input::from_reader("truth", text.as_bytes()), |pair| {
            pairs.push((pair.urls, pair.label));
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(pairs)
    }

    #[test]
    fn known_pairs_are_read_in_every_form() {
        let pair = |one: &str, two: &str, label| ([one.to_owned(), two.to_owned()], label);
        for text in [
            "a b,c 1\nd%20e f 0\n",
            "a\tb,c\t1\n\nd e\tf\t0",
            "url1,url2,label\na,\"b,c\",1\nd e,f,0\n",
            "a,\"b,c\",1\r\nd e,f,0\r\n",
            "{\"url1\":\"a\",\"url2\":\"b,c\",\"label\":1}\n{\"url1\":\"d e\",\"url2\":\"f\",\"label\":false}",
        ] {
            let expected = vec![pair("a", "b,c", Some(true)), pair("d e", "f", Some(false))];
            assert_eq!(known(text), Ok(expected), "{text}");
        }
        for text in [
            "a b\n",
            "a\tb",
            "url1,url2\na,b\n",
            "{\"url1\":\"a\",\"url2\":\"b\",\"score\":0.5}",
        ] {
            assert_eq!(known(text), Ok(vec![pair("a", "b", None)]), "{text}");
        }
    }

    #[test]
    fn a_line_that_is_no_known_pair_is_named() {
        for text in [
            "a b 0.5\n",
            "a b\nc\n",
            "{\"url1\":\"a\"}\n",
            "a,\"b\n",
            "a b 1 2\n",
        ] {
            let error = known(text).unwrap_err();
            assert!(
                error.contains("truth") && error.contains("0 or 1"),
                "{error}"
            );
        }
    }

    proptest! {
        /// Whatever is written is read again, in every format.
        #[test]
        fn pairs_come_back(
            ids in proptest::collection::vec(("[ -~\\t\\r\\né\u{3000}]{1,9}", "[ -~\\t\\r\\né]{1,9}", 1_u32..20), 0..9),
            format in prop_oneof![
                Just(OutputFormat::Text), Just(OutputFormat::Tsv), Just(OutputFormat::Csv), Just(OutputFormat::Jsonl)
            ],
        ) {
            let mut lines = IdLines::new(&Listing::of(format));
            let mut text = lines.header(false).into_bytes();
            for (left, right, part) in &ids {
                lines.left(left);
                let facts = PairFacts {
                    score: Score::new(*part, 20),
                    shares: None,
                    shared: 0,
                    sizes: [0; 2],
                    places: [FilePlace::None; 2],
                };
                lines.pair(right, &facts, &mut text);
            }
            // In text, an id that reads as the text of another is taken for that.
            let read_id = |id: String| match format {
                OutputFormat::Text => id_text::decoded(&id).into_owned(),
                _ => id,
            };
            let expected: Vec<_> = ids
                .into_iter()
                .map(|(left, right, part)| (read_id(left), read_id(right), f64::from(part) / 20.0))
                .collect();
            prop_assert_eq!(read(&text).unwrap(), expected);
        }
    }
}
