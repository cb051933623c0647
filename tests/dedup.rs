//! Deduplication by the library's interface, where a test must act between its two readings.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;

use simdup::results::{ErrorKind, Phase};
use simdup::settings::Dedup;
use simdup::{DedupOutput, Input, NamedWriter, Observer, Settings, dedup_documents};

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
            Err(error) => assert!(is_noticed && matches!(error.kind, ErrorKind::Changed)),
        }
        assert!(is_noticed || written == before.as_bytes());
    }
}
