//! What an observer is told while documents are compared, in every way that there is.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::sync::Mutex;

use simdup::results::{Expected, Phase};
use simdup::settings::{
    Bands, ClusterMethod, Finding, Keep, Measure, Memory, ShingleSettings, Windows,
};
use simdup::{Input, Observer, Settings, cluster_documents, find_pairs};

#[derive(Debug, PartialEq)]
enum Said {
    Phase(Phase),
    Expected(Expected),
    Documents(u64),
}

#[derive(Default)]
struct Told(Mutex<Vec<Said>>);

impl Told {
    fn say(&self, said: Said) {
        self.0.lock().unwrap().push(said);
    }
}

impl Observer for Told {
    fn phase(&self, phase: Phase) {
        self.say(Said::Phase(phase));
    }

    fn expect(&self, expected: Expected) {
        self.say(Said::Expected(expected));
    }

    fn progress(&self, _: u64, documents: u64) {
        self.say(Said::Documents(documents));
    }
}

/// Documents each of which has a partner: half of its words are in many others, one word in
/// ten is its own.
fn documents() -> Vec<Input> {
    let mut lines = String::new();
    for number in 0..400 {
        let words: Vec<String> = (0..60)
            .map(|word| match word % 10 {
                0 => format!("own{number}x{word}"),
                1..=4 => format!("some{}x{word}", number / 2),
                _ => format!("all{word}"),
            })
            .collect();
        let text = words.join(" ");
        writeln!(lines, r#"{{"url": "{number}", "text": "{text}"}}"#).unwrap();
    }
    vec![Input::from_reader("documents", std::io::Cursor::new(lines))]
}

fn settings(measure: Measure) -> Settings {
    let mut settings = Settings {
        measure,
        threshold: "0.6".parse().unwrap(),
        ..Settings::default()
    };
    if let ShingleSettings::Tokens { windows, .. } = &mut settings.shingle {
        *windows = Windows::of(1);
    }
    settings
}

/// What is told once all is read: of what is made ready, if anything is, and of what is compared.
fn comparing(run: impl FnOnce(&Told)) -> Vec<(Expected, Vec<u64>)> {
    let told = Told::default();
    run(&told);
    let said = told.0.into_inner().unwrap();
    let is_start = |said: &Said| *said == Said::Phase(Phase::Comparing);
    let start = said.iter().position(is_start).unwrap();
    let mut counted: Vec<(Expected, Vec<u64>)> = Vec::new();
    for said in said.into_iter().skip(start) {
        match said {
            Said::Phase(phase) => assert_eq!(phase, Phase::Comparing),
            Said::Expected(expected) => counted.push((expected, Vec::new())),
            Said::Documents(documents) => counted.last_mut().unwrap().1.push(documents),
        }
    }
    counted
}

fn assert_counted(what: &str, run: impl FnOnce(&Told)) {
    let counted = comparing(run);
    let last = counted.last().unwrap();
    assert_eq!(last.0, Expected::Documents(400), "{what}");
    if let [before, _] = &counted[..] {
        assert_eq!(before.0, Expected::Preparation(400), "{what}");
    }
    assert!(counted.len() <= 2, "{what}");
    for (expected, documents) in counted {
        assert!(documents.is_sorted(), "{what}: {documents:?}");
        assert!(documents.len() > 3, "{what}: {documents:?}");
        let last = *documents.last().unwrap();
        // A preparation is of parts that do not add up to the last bit.
        let least = match expected {
            Expected::Preparation(count) => count - 1,
            expected => expected.count(),
        };
        assert!(
            least <= last && last <= expected.count(),
            "{what}: {documents:?}"
        );
    }
}

#[test]
fn comparing_counts_to_its_end_whatever_the_score() {
    let banded = Settings {
        finding: Finding::Bands(Bands { bands: 32, rows: 4 }),
        ..settings(Measure::Jaccard)
    };
    // Blocks, each against all that follow.
    let short = Settings {
        memory: Some(Memory {
            bytes: 1,
            temp_dir: std::env::temp_dir(),
        }),
        ..settings(Measure::Jaccard)
    };
    for (what, settings) in [
        ("positions", settings(Measure::MinHash)),
        ("jaccard", settings(Measure::Jaccard)),
        ("containment", settings(Measure::Containment)),
        ("bands", banded),
        ("blocks", short),
    ] {
        assert_counted(what, |told| {
            let found = find_pairs(documents(), &settings, told).unwrap();
            assert!(found.pairs.to_vec().unwrap().len() >= 200, "{what}");
        });
    }
}

#[test]
fn clustering_counts_to_its_end_in_every_way() {
    for method in [ClusterMethod::Star, ClusterMethod::Components] {
        for bytes in [1 << 30, 1] {
            let settings = Settings {
                memory: Some(Memory {
                    bytes,
                    temp_dir: std::env::temp_dir(),
                }),
                ..settings(Measure::Jaccard)
            };
            assert_counted(&format!("{method:?}, {bytes}"), |told| {
                let keep = Keep::First;
                let found = cluster_documents(documents(), &settings, method, &keep, told).unwrap();
                assert_eq!(found.removed().count(), 200);
            });
        }
    }
}
