//! Deduplication by the library's interface, where a test must act between its two readings.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;

use simdup::results::{ErrorKind, Phase};
use simdup::settings::Dedup;
use simdup::{
    DedupOutput, Input, Inputs, NamedWriter, Observer, Quiet, Settings, dedup_documents, find_pairs,
};

/// Writes a file anew once it has been read.
struct Replacing {
    path: PathBuf,
    content: &'static str,
}

impl Observer for Replacing {
    fn phase(&self, phase: Phase) {
        if phase == Phase::Comparing {
            std::fs::write(&self.path, self.content).unwrap();
        }
    }
}

/// Only the number of records was looked at.
#[test]
fn a_file_that_is_replaced_between_its_readings_is_noticed() {
    let before = "{\"url\":\"a\",\"text\":\"one two\"}\n{\"url\":\"b\",\"text\":\"three four\"}\n";
    for (content, is_noticed) in [
        (before, false),
        (
            "{\"url\":\"a\",\"text\":\"one two\"}\n{\"url\":\"b\",\"text\":\"three five\"}\n",
            true,
        ),
        (
            "{\"url\":\"a\",\"text\":\"one two\"}\n{\"url\":\"c\",\"text\":\"three four\"}\n",
            true,
        ),
        ("{\"url\":\"a\",\"text\":\"one two\"}\n", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docs.jsonl");
        std::fs::write(&path, before).unwrap();
        let observer = Replacing {
            path: path.clone(),
            content,
        };
        let mut written = Vec::new();
        let output = DedupOutput {
            documents: NamedWriter {
                name: "out",
                writer: &mut written,
            },
            removed: None,
            shards: None,
        };
        let inputs = vec![Input::from_path(&path)];
        let done = dedup_documents(
            inputs,
            &Settings::default(),
            &Dedup::default(),
            output,
            &observer,
        );
        match done {
            Ok(_) => assert!(!is_noticed, "{content}"),
            Err(error) => {
                assert!(is_noticed && matches!(error.kind, ErrorKind::Changed));
                assert_eq!(*error.place.file, *path.to_str().unwrap());
            }
        }
        assert!(is_noticed || written == before.as_bytes());
    }
}

/// Records of two files that are on both sides, in another order, and of one that is not.
#[test]
fn a_document_is_not_paired_with_itself_across_two_sides() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let records = |file: &str, ids: &[&str]| {
        let line =
            |id: &&str| format!("{{\"url\":\"{id}\",\"text\":\"one two three four five\"}}\n");
        std::fs::write(at(file), ids.iter().map(line).collect::<String>()).unwrap();
    };
    records("x", &["a", "b"]);
    // The first was met before, on the left only.
    records("y", &["a", "c", "d"]);
    records("z", &["e"]);
    let inputs = |names: &[&str]| {
        names
            .iter()
            .map(|name| Input::from_path(at(name)))
            .collect()
    };
    let both = Inputs {
        documents: inputs(&["x", "y"]),
        against: Some(inputs(&["z", "./y", "x"])),
        ..Inputs::default()
    };
    let found = find_pairs(both, &Settings::default(), &Quiet).unwrap();
    let pairs = found.pairs.to_vec().unwrap();
    let pairs: Vec<String> = pairs
        .iter()
        .map(|pair| {
            [pair.left, pair.right]
                .map(|document| found.urls.get(document))
                .join(" ")
        })
        .collect();
    // On the right, `a` is the one of y, which is none of the left ones.
    let expected = [
        "a e", "a a", "a c", "a d", "a b", "b e", "b a", "b c", "b d", "c e", "c a", "c d", "c b",
        "d e", "d a", "d c", "d b",
    ];
    assert_eq!(pairs, expected);
}

#[test]
fn what_documents_are_compared_with_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = Inputs {
        documents: vec![Input::from_reader(
            "new",
            &b"{\"url\":\"a\",\"text\":\"b\"}"[..],
        )],
        against: Some(vec![Input::from_path(folder.path().join("old"))]),
        ..Inputs::default()
    };
    let failed = find_pairs(inputs, &Settings::default(), &Quiet).unwrap_err();
    assert!(matches!(failed.kind, ErrorKind::Unreadable(_)));
}
