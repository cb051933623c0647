//! An index of which bytes were changed: it is refused, or answers as before.
#![no_main]

use std::ops::ControlFlow;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use simdup::settings::{Query, Writer};
use simdup::{Index, Input, Quiet, Settings, settings::Measure};

const DOCUMENTS: &str = "{\"url\":\"a\",\"text\":\"one two three four five six seven eight\"}\n\
                         {\"url\":\"b\",\"text\":\"one two three four five six seven nine\"}\n\
                         {\"url\":\"c\",\"text\":\"one two three four five six seven eight\"}\n";

struct Built {
    folder: tempfile::TempDir,
    files: Vec<(std::path::PathBuf, Vec<u8>)>,
    answers: String,
}

fn settings() -> Settings {
    Settings {
        measure: Measure::Jaccard,
        threads: 1,
        ..Settings::default()
    }
}

fn answers(folder: &std::path::Path) -> Result<String, simdup::Error> {
    let index = Index::open(folder)?;
    let mut all = String::new();
    let inputs = vec![Input::from_reader("q", DOCUMENTS.as_bytes())];
    index.query(inputs, &settings(), &Query::default(), &Quiet, |answer| {
        for found in answer.found {
            all += &format!("{} {} {}\n", answer.url, found.url, found.score);
        }
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let inputs = vec![Input::from_reader("d", DOCUMENTS.as_bytes())];
        Index::create(
            folder.path(),
            inputs,
            &settings(),
            &Writer::default(),
            &Quiet,
        )
        .unwrap();
        let mut files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        let answers = answers(folder.path()).unwrap();
        Built {
            folder,
            files,
            answers,
        }
    })
}

// Triples: a file, a place in it, what is added there.
fuzz_target!(|bytes: &[u8]| {
    let built = built();
    let mut files = built.files.clone();
    for change in bytes.chunks_exact(4) {
        let place = change[0] as usize % files.len();
        let content = &mut files[place].1;
        if !content.is_empty() {
            let at = u16::from_le_bytes([change[1], change[2]]) as usize % content.len();
            content[at] = content[at].wrapping_add(change[3]);
        }
    }
    for (path, content) in &files {
        std::fs::write(path, content).unwrap();
    }
    if let Ok(index) = Index::open(built.folder.path()) {
        let _ = index.check();
        let _ = index.info();
    }
    if let Ok(answers) = answers(built.folder.path()) {
        assert_eq!(answers, built.answers);
    }
});
