//! What the user should know of a task: problems with records, and how its files were read. The
//! engine adds these notes up and prints them; nothing else depends on them.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::stage_error;
use crate::error::{Error, ErrorKind, Place};
use crate::stats::{Stats, TextStats};

/// Messages about problems of one kind; the others are counted.
const MESSAGES_MAX: usize = 10;

/// Problems of one kind.
#[derive(Debug, Default, Serialize)]
struct Alike {
    count: u64,
    /// The first messages, in input order.
    messages: Vec<String>,
}

/// Records and inputs that could not be used.
#[derive(Debug, Default)]
pub(super) struct Problems {
    by_kind: BTreeMap<&'static str, Alike>,
    /// The first input that could not be read.
    unreadable: Option<(Place, io::Error)>,
}

impl Problems {
    pub(super) fn add(&mut self, error: &Error) {
        if let (ErrorKind::Unreadable(why), None) = (&error.kind, &self.unreadable) {
            let why = io::Error::new(why.kind(), why.to_string());
            self.unreadable = Some((error.place.clone(), why));
        }
        let alike = self.by_kind.entry(error.kind.name()).or_default();
        alike.count += 1;
        if alike.messages.len() < MESSAGES_MAX {
            alike.messages.push(error.to_string());
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.by_kind.values().map(|alike| alike.count).sum()
    }

    /// Returns the error of an input that could not be read. One machine goes on without it. Here
    /// another machine may read it, and the answer would depend on which one tried.
    pub(super) fn unreadable(&mut self) -> Option<Error> {
        let (place, why) = self.unreadable.take()?;
        let kind = ErrorKind::Unreadable(why);
        Some(Error { place, kind })
    }
}

/// The notes of a task, as they stand in a row.
#[derive(Debug, Serialize)]
pub(super) struct Notes<'a> {
    documents: u64,
    problems: &'a BTreeMap<&'static str, Alike>,
    missing_fields: &'a [String],
    #[serde(flatten)]
    texts: &'a TextStats,
    #[serde(flatten)]
    first: FirstFiles<'a>,
}

/// The first file of each kind of text that was not read as it stands. No command makes texts
/// here, so no file is one for which a command printed nothing.
#[derive(Debug, Serialize)]
struct FirstFiles<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    first_guessed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unread: Option<&'a str>,
    /// The file, and the place of its first byte that was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_repaired: Option<(&'a str, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_plain_array: Option<&'a str>,
}

impl<'a> FirstFiles<'a> {
    fn new(texts: &'a TextStats) -> Self {
        let repaired = texts.first_repaired.as_ref();
        Self {
            first_guessed: texts.first_guessed.as_deref(),
            first_unread: texts.first_unread.as_deref(),
            first_repaired: repaired.map(|(file, byte)| (&**file, *byte)),
            first_plain_array: texts.first_plain_array.as_deref(),
        }
    }
}

impl<'a> Notes<'a> {
    pub(super) fn new(stats: &'a Stats, problems: &'a Problems) -> Self {
        Self {
            documents: stats.counts.documents,
            problems: &problems.by_kind,
            missing_fields: &stats.missing_fields,
            texts: &stats.texts,
            first: FirstFiles::new(&stats.texts),
        }
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| stage_error(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{StrayBytes, TextNotes};

    fn problem(record: u64, kind: ErrorKind) -> Error {
        let place = Place {
            file: "a.jsonl".into(),
            record: Some(record),
            byte: None,
        };
        Error { place, kind }
    }

    #[test]
    fn the_first_problems_of_each_kind_are_named_and_all_are_counted() {
        let mut problems = Problems::default();
        for record in 1..=25 {
            problems.add(&problem(record, ErrorKind::Utf8));
        }
        problems.add(&problem(26, ErrorKind::FrameLength(-1)));
        assert_eq!(problems.count(), 26);
        assert!(problems.unreadable().is_none());
        let stats = Stats::default();
        let json = Notes::new(&stats, &problems).to_json().unwrap();
        let notes: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let alike = &notes["problems"]["invalid UTF-8"];
        assert_eq!(alike["count"], 25);
        assert_eq!(alike["messages"].as_array().unwrap().len(), MESSAGES_MAX);
        let first = alike["messages"][0].as_str().unwrap();
        assert!(first.starts_with("a.jsonl: record 1: "), "{first}");
        assert_eq!(notes["problems"].as_object().unwrap().len(), 2);
    }

    #[test]
    fn texts_that_are_not_read_as_they_stand_are_counted_with_the_first_file() {
        let mut stats = Stats::default();
        let notes_of = |stats: &Stats| -> serde_json::Value {
            let json = Notes::new(stats, &Problems::default()).to_json().unwrap();
            serde_json::from_slice(&json).unwrap()
        };
        let notes = notes_of(&stats);
        assert_eq!(notes["guessed_encodings"], serde_json::json!({}));
        assert_eq!(notes["replaced_bytes"], 0);
        assert!(notes.get("first_repaired").is_none(), "{notes}");
        for (file, first) in [("a.txt", 7), ("b.txt", 0)] {
            let notes = TextNotes {
                guess: Some("windows-1251"),
                suspect: Some("ISO-2022-KR"),
                stray: Some(StrayBytes { count: 2, first }),
                is_array: true,
            };
            stats.texts.add(notes, &file.into());
        }
        let notes = notes_of(&stats);
        for (key, expected) in [
            ("guessed_encodings", serde_json::json!({"windows-1251": 2})),
            ("first_guessed", "a.txt".into()),
            ("unread_encodings", serde_json::json!({"ISO-2022-KR": 2})),
            ("first_unread", "a.txt".into()),
            ("replaced_bytes", 4.into()),
            ("repaired", 2.into()),
            ("first_repaired", serde_json::json!(["a.txt", 7])),
            ("plain_arrays", 2.into()),
            ("first_plain_array", "a.txt".into()),
        ] {
            assert_eq!(notes[key], expected, "{key}");
        }
    }

    #[test]
    fn an_input_that_cannot_be_read_is_an_error_that_names_it() {
        let mut problems = Problems::default();
        problems.add(&problem(1, ErrorKind::Utf8));
        let why = io::Error::from(io::ErrorKind::PermissionDenied);
        problems.add(&problem(2, ErrorKind::Unreadable(why)));
        let error = problems.unreadable().unwrap().to_string();
        assert!(
            error.starts_with("a.jsonl: record 2: cannot be read"),
            "{error}"
        );
    }
}
