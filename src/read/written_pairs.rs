//! Pairs that were written earlier, as JSONL or TSV; and pairs that are known to be true or not, as
//! text, TSV, CSV or JSONL.

use std::sync::Arc;

use serde::Deserialize;

use super::{Input, InputFormat, Piece, Pieces, ReadSettings};
use crate::document::Content;
use crate::error::{Error, ErrorKind, Place};

/// Calls `each` with the two ids and the score of every pair in a file; the first line
/// that is no pair ends it.
pub fn read_pairs(
    input: Input,
    mut each: impl FnMut(&str, &str, f64) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_line(input, |line, place| match pair(line) {
        Some((left, right, score)) => each(&left, &right, score),
        None => Err(Error {
            place,
            kind: ErrorKind::NoPair,
        }),
    })
}

/// A pair that is known to be true or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownPair {
    pub(crate) urls: [String; 2],
    /// What is said of it, if something is.
    pub(crate) label: Option<bool>,
    pub(crate) place: Place,
}

/// Calls `each` with every pair of a file, in the form that its first line has; the first line that
/// is no pair ends it.
pub(crate) fn read_known_pairs(
    input: Input,
    mut each: impl FnMut(KnownPair) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut form = None;
    for_each_line(input, |line, place| {
        let form = match &form {
            Some(form) => form,
            None => {
                let (found, is_header) = KnownForm::of(line);
                let form = form.insert(found);
                if is_header {
                    return Ok(());
                }
                form
            }
        };
        match form.pair(line) {
            Some((urls, label)) => each(KnownPair { urls, label, place }),
            None => Err(Error {
                place,
                kind: ErrorKind::NoKnownPair,
            }),
        }
    })
}

/// How known pairs are written: which field is which.
#[derive(Debug)]
enum KnownForm {
    Jsonl,
    /// Ids percent-encoded, as `simdup -f text` writes them.
    Text,
    Tsv,
    Csv {
        urls: [usize; 2],
        label: Option<usize>,
    },
}

#[derive(Deserialize)]
struct JsonKnownPair {
    url1: String,
    url2: String,
    label: Option<serde_json::Value>,
}

impl KnownForm {
    /// By the first line, and whether that is a header.
    fn of(line: &str) -> (Self, bool) {
        if line.trim_start().starts_with('{') {
            return (Self::Jsonl, false);
        }
        if line.contains('\t') {
            return (Self::Tsv, false);
        }
        let fields = csv_fields(line).unwrap_or_default();
        let place = |name| fields.iter().position(|field| field == name);
        if let (Some(one), Some(two)) = (place("url1"), place("url2")) {
            let label = place("label");
            return (
                Self::Csv {
                    urls: [one, two],
                    label,
                },
                true,
            );
        }
        match line.split_whitespace().count() {
            2 | 3 => (Self::Text, false),
            _ => {
                let label = (fields.len() > 2).then_some(2);
                (
                    Self::Csv {
                        urls: [0, 1],
                        label,
                    },
                    false,
                )
            }
        }
    }

    fn pair(&self, line: &str) -> Option<([String; 2], Option<bool>)> {
        match self {
            Self::Jsonl => {
                let pair: JsonKnownPair = serde_json::from_str(line).ok()?;
                let label = match pair.label {
                    None | Some(serde_json::Value::Null) => None,
                    Some(serde_json::Value::Bool(is_true)) => Some(is_true),
                    Some(other) => Some(label(&other.to_string())?),
                };
                Some(([pair.url1, pair.url2], label))
            }
            Self::Text => {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let urls = [decoded(fields.first()?), decoded(fields.get(1)?)];
                with_label(urls, &fields[2..])
            }
            Self::Tsv => {
                let fields: Vec<&str> = line.trim_end_matches(['\r', '\n']).split('\t').collect();
                let urls = [unescaped(fields.first()?), unescaped(fields.get(1)?)];
                with_label(urls, &fields[2..])
            }
            Self::Csv { urls, label: at } => {
                let mut fields = csv_fields(line)?;
                let found = match at {
                    Some(at) => Some(label(fields.get(*at)?)?),
                    None => None,
                };
                let urls = urls.map(|at| fields.get_mut(at).map(std::mem::take));
                let [Some(one), Some(two)] = urls else {
                    return None;
                };
                Some(([one, two], found))
            }
        }
    }
}

fn with_label(urls: [String; 2], rest: &[&str]) -> Option<([String; 2], Option<bool>)> {
    match rest {
        [] => Some((urls, None)),
        [text] => Some((urls, Some(label(text)?))),
        _ => None,
    }
}

fn label(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The fields of a line of CSV, quoted as in RFC 4180.
fn csv_fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line.trim_end_matches(['\r', '\n']);
    loop {
        let mut field = String::new();
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = quoted;
            loop {
                let (before, behind) = rest.split_once('"')?;
                field.push_str(before);
                rest = behind;
                match rest.strip_prefix('"') {
                    Some(behind) => {
                        field.push('"');
                        rest = behind;
                    }
                    None => break,
                }
            }
            if !rest.is_empty() && !rest.starts_with(',') {
                return None;
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            field.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        fields.push(field);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => return Some(fields),
        }
    }
}

/// An id as it was before it was written as text: `%` and two hexadecimal digits are a byte.
fn decoded(field: &str) -> String {
    let bytes = field.as_bytes();
    let digit = |place: usize| (*bytes.get(place)? as char).to_digit(16);
    let mut out = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        match (bytes[place], digit(place + 1), digit(place + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                place += 3;
            }
            (byte, ..) => {
                out.push(byte);
                place += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| field.to_owned())
}

/// Calls `each` with every line of a file that is not blank, and its place, until it fails.
fn for_each_line(
    input: Input,
    mut each: impl FnMut(&str, Place) -> Result<(), Error>,
) -> Result<(), Error> {
    let settings = ReadSettings {
        format: Some(InputFormat::Lines),
        ..ReadSettings::default()
    };
    let mut pieces = Pieces::new(vec![input], &settings);
    let mut piece = Piece::default();
    let mut failed: Option<Error> = None;
    while pieces.next(&mut piece) {
        for block in piece.blocks() {
            let (mut record, mut byte) = (block.first_record, block.first_byte);
            block.documents(&settings, &mut |document| {
                if failed.is_some() {
                    return;
                }
                let result = document.and_then(|document| {
                    record += 1;
                    let place = Place {
                        file: Arc::clone(block.file),
                        record: Some(record),
                        byte: Some(byte),
                    };
                    byte += document.record.len() as u64;
                    let Content::Text(line) = &document.content else {
                        return Ok(());
                    };
                    if line.trim().is_empty() {
                        return Ok(());
                    }
                    each(line, place)
                });
                failed = result.err();
            });
        }
        if let Some(error) = failed.take().or(piece.problem.take()) {
            return Err(error);
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct JsonPair {
    url1: String,
    url2: String,
    score: f64,
}

fn pair(line: &str) -> Option<(String, String, f64)> {
    if line.starts_with('{') {
        let pair: JsonPair = serde_json::from_str(line).ok()?;
        return Some((pair.url1, pair.url2, pair.score));
    }
    let mut fields = line.split('\t');
    let (left, right) = (fields.next()?, fields.next()?);
    let score: f64 = fields.next()?.trim_end().parse().ok()?;
    (fields.next().is_none() && score.is_finite())
        .then(|| (unescaped(left), unescaped(right), score))
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
}
