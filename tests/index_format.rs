//! Indexes of earlier versions: `tests/data/index/format-1` was written by the first version of
//! the format, from the documents beside it. It is never written anew: what is in it must be
//! read, and made again, for as long as the format has this version.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use simdup::settings::{Adding, Measure, Query, ShingleSettings, Windows, Writer};
use simdup::{Index, Input, Quiet, Settings};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/index")
}

fn settings() -> Settings {
    let mut settings = Settings {
        measure: Measure::Jaccard,
        threshold: "0.55".parse().unwrap(),
        threads: 2,
        stored_fields: vec!["year".into()],
        ..Settings::default()
    };
    if let ShingleSettings::Tokens { windows, .. } = &mut settings.shingle {
        *windows = Windows::of(2);
    }
    settings
}

fn documents(part: &str) -> Vec<Input> {
    vec![Input::from_path(data().join(part).with_extension("jsonl"))]
}

/// What an index finds for the last documents that were added to it.
fn answers(index: &Index, measure: Measure) -> Vec<String> {
    let settings = Settings {
        measure,
        ..settings()
    };
    let mut all = vec![];
    let query = Query::default();
    let stats = index.query(documents("fifth"), &settings, &query, &Quiet, |answer| {
        for found in answer.found {
            all.push(format!("{} {} {}", answer.url, found.url, found.score));
        }
        ControlFlow::Continue(())
    });
    stats.unwrap();
    all
}

/// The files of an index but for the lock, which says who wrote last.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != "lock")
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn add(folder: &Path, part: &str) {
    let adding = Adding::default();
    let added = Index::add(folder, documents(part), &settings(), &adding, &Quiet);
    added.unwrap().finish().unwrap();
}

#[test]
fn an_index_of_format_1_is_whole_and_gives_its_answers() {
    let index = Index::open(data().join("format-1")).unwrap();
    index.check().unwrap();
    let info = index.info().unwrap();
    let segments = info.segments.iter();
    let segments: Vec<_> = segments
        .map(|one| (one.number, one.documents, one.removed))
        .collect();
    // The second one was merged from three; the first has lost a document.
    assert_eq!(segments, [(1, 19, 1), (5, 6, 0), (6, 2, 0)]);
    assert_eq!(
        answers(&index, Measure::Jaccard),
        [
            "log/27 log/01 0.5555555555555556",
            "log/27 log/04 0.5555555555555556",
            "log/27 log/05 0.5526315789473685",
            "log/27 log/21 0.5555555555555556",
            "log/27 log/22 0.5555555555555556",
            "log/27 log/23 0.78125",
            "log/27 log/24 0.5555555555555556",
            "log/27 log/25 0.5675675675675675",
            "log/28 log/14 0.6923076923076923",
        ]
    );
    let contained = answers(&index, Measure::Containment);
    let of_the_short_one = contained.iter().filter(|line| line.starts_with("log/28"));
    assert_eq!(of_the_short_one.collect::<Vec<_>>(), ["log/28 log/14 1.0"]);
    let mut stored = vec![];
    let listed = index.for_each_document(|id, shingles, fields| {
        stored.push(format!("{id} {shingles} {fields}"));
        ControlFlow::Continue(())
    });
    listed.unwrap();
    assert_eq!(stored.len(), 27);
    assert_eq!(stored[0], "log/01 27 {\"year\":1900}");
    // This one has no such field.
    assert_eq!(stored[3], "log/05 30 ");
    assert!(stored[8].starts_with("log 10, second page "));
    assert!(!stored.iter().any(|line| line.starts_with("log/03 ")));
}

#[test]
fn the_same_documents_give_the_bytes_of_format_1() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    let writer = Writer::default();
    Index::create(folder, documents("first"), &settings(), &writer, &Quiet).unwrap();
    for part in ["second", "third", "fourth", "fifth"] {
        add(folder, part);
    }
    let unknown = Index::remove(folder, ["log/03"], &writer).unwrap();
    assert!(unknown.is_empty());
    let (now, then) = (files(folder), files(&data().join("format-1")));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&now), names(&then));
    for ((name, now), (_, then)) in now.iter().zip(&then) {
        assert!(now == then, "{name} has other bytes");
    }
}

#[test]
fn documents_are_added_to_an_index_of_format_1() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    fs::create_dir(folder).unwrap();
    for (name, bytes) in files(&data().join("format-1")) {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let more = "{\"url\": \"more\", \"text\": \"a barge with timber\", \"year\": 1930}\n";
    let inputs = vec![Input::from_reader("more", more.as_bytes())];
    let added = Index::add(folder, inputs, &settings(), &Adding::default(), &Quiet);
    added.unwrap().finish().unwrap();
    Index::compact(folder, &settings(), &Writer::default()).unwrap();
    let index = Index::open(folder).unwrap();
    index.check().unwrap();
    assert_eq!((index.len(), index.info().unwrap().removed), (28, 0));
    let before = Index::open(data().join("format-1")).unwrap();
    assert_eq!(
        answers(&index, Measure::Jaccard),
        answers(&before, Measure::Jaccard)
    );
}
