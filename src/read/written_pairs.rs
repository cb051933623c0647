//! Pairs that were written earlier: as text, TSV, CSV or JSONL, compressed or not.

use std::sync::Arc;

use serde::Deserialize;

use super::{Input, InputFormat, Piece, Pieces, ReadSettings};
use crate::error::{Error, ErrorKind, Place};

/// Calls `each` with the two ids and the score of every pair in a file; the first line
/// that is no pair ends it.
pub fn read_pairs(
    input: Input,
    mut each: impl FnMut(&str, &str, f64) -> Result<(), Error>,
) -> Result<(), Error> {
    let settings = ReadSettings {
        format: Some(InputFormat::Lines),
        ..ReadSettings::default()
    };
    let mut pieces = Pieces::new(vec![input], &settings);
    let mut piece = Piece::default();
    let mut reader = PairReader::default();
    let mut last = None;
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
                match reader.line(line) {
                    Line::Nothing => {}
                    Line::Half => last = Some(place),
                    Line::Pair(left, right, score) => {
                        last = None;
                        each(&left, &right, score)?;
                    }
                    Line::Other => return Err(no_pair(place)),
                }
            }
        }
        if let Some(error) = piece.problem.take() {
            return Err(error);
        }
    }
    // A record that is not closed.
    match last {
        Some(place) => Err(no_pair(place)),
        None => Ok(()),
    }
}

fn no_pair(place: Place) -> Error {
    Error {
        place,
        kind: ErrorKind::NoPair,
    }
}

/// What a line is.
#[derive(Debug, PartialEq)]
enum Line {
    Pair(String, String, f64),
    /// A header, or blank.
    Nothing,
    /// The start of a record that goes on: line ends may stand in quotes.
    Half,
    Other,
}

/// Takes lines for pairs. Those of CSV follow a header; the others tell what they are.
#[derive(Default)]
struct PairReader {
    is_begun: bool,
    is_csv: bool,
    /// What came of a record so far.
    half: Vec<u8>,
}

impl PairReader {
    fn line(&mut self, line: &[u8]) -> Line {
        if self.is_csv {
            return self.csv(line);
        }
        let line = match self.is_begun {
            true => line,
            false => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
        };
        let Ok(text) = std::str::from_utf8(line) else {
            return Line::Other;
        };
        let text = text.trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return Line::Nothing;
        }
        if !std::mem::replace(&mut self.is_begun, true) && is_header(text) {
            self.is_csv = true;
            return Line::Nothing;
        }
        match pair(text) {
            Some((left, right, score)) => Line::Pair(left, right, score),
            None => Line::Other,
        }
    }

    fn csv(&mut self, line: &[u8]) -> Line {
        self.half.extend_from_slice(line);
        let quotes = self.half.iter().filter(|&&byte| byte == b'"').count();
        if quotes % 2 == 1 {
            return Line::Half;
        }
        let record = std::mem::take(&mut self.half);
        let Ok(record) = String::from_utf8(record) else {
            return Line::Other;
        };
        let record = record.trim_end_matches(['\n', '\r']);
        if record.is_empty() {
            return Line::Nothing;
        }
        let mut fields = csv_fields(record).into_iter();
        let (Some(left), Some(right), Some(score)) = (fields.next(), fields.next(), fields.next())
        else {
            return Line::Other;
        };
        match score.parse() {
            Ok(score) if f64::is_finite(score) => Line::Pair(left, right, score),
            _ => Line::Other,
        }
    }
}

/// Whether a line is the header of CSV, whatever else it names.
fn is_header(line: &str) -> bool {
    line == "url1,url2,score" || line.starts_with("url1,url2,score,")
}

/// The fields of a record whose quotes are all closed (RFC 4180).
fn csv_fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut in_quotes = false;
    let mut chars = record.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, in_quotes) {
            ('"', true) if chars.peek() == Some(&'"') => {
                chars.next();
                if let Some(field) = fields.last_mut() {
                    field.push('"');
                }
            }
            ('"', _) => in_quotes = !in_quotes,
            (',', false) => fields.push(String::new()),
            _ => {
                if let Some(field) = fields.last_mut() {
                    field.push(c);
                }
            }
        }
    }
    fields
}

#[derive(Deserialize)]
struct JsonPair {
    url1: String,
    url2: String,
    score: f64,
}

fn pair(line: &str) -> Option<(String, String, f64)> {
    if line.starts_with('{')
        && let Ok(pair) = serde_json::from_str::<JsonPair>(line)
    {
        return Some((pair.url1, pair.url2, pair.score));
    }
    // White space in an id is encoded in text, and a tab escaped in TSV.
    let (separator, id): (char, fn(&str) -> String) = match line.contains('\t') {
        true => ('\t', unescaped),
        false => (' ', percent_decoded),
    };
    let mut fields = line.split(separator);
    let (left, right) = (fields.next()?, fields.next()?);
    let score: f64 = fields.next()?.trim_end().parse().ok()?;
    (fields.next().is_none() && score.is_finite()).then(|| (id(left), id(right), score))
}

/// An id as it was before it was written as text; as it stands, if that gives no text.
pub(crate) fn percent_decoded(id: &str) -> String {
    let mut bytes = Vec::with_capacity(id.len());
    let mut rest = id.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| id.to_owned())
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
            let expected: Vec<_> = ids
                .into_iter()
                .map(|(left, right, part)| (left, right, f64::from(part) / 20.0))
                .collect();
            prop_assert_eq!(read(&text).unwrap(), expected);
        }
    }
}
