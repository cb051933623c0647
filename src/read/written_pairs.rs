//! Pairs that were written earlier, as JSONL or TSV.

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
                    match pair(line) {
                        Some((left, right, score)) => each(&left, &right, score),
                        None => Err(Error {
                            place,
                            kind: ErrorKind::NoPair,
                        }),
                    }
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
