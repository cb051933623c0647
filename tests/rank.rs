//! Rankings by the library's interface, held against the definition: words by the slow path,
//! counted in maps, weighed and multiplied in floating point.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use simdup::inside::normalise;
use simdup::results::Ranking;
use simdup::settings::{
    Case, Combine, Memory, RankOrder, RankSettings, ShingleSettings, Stopwords, Tokens, Weight,
    Windows,
};
use simdup::{DocumentFrequencies, Gold, Input, Quiet, Settings, rank_documents};
use unicode_segmentation::UnicodeSegmentation;

type Counts = HashMap<String, f64>;

fn counts(text: &str, stopwords: &[&str]) -> Counts {
    let mut normalised = String::new();
    normalise(text, Case::Fold, &mut normalised);
    let mut counts = Counts::new();
    for word in normalised.unicode_words() {
        if !stopwords.contains(&word) {
            *counts.entry(word.to_owned()).or_default() += 1.0;
        }
    }
    counts
}

fn weigh(counts: &Counts, weight: Weight, documents: &[Counts]) -> Counts {
    let n = documents.len() as f64;
    let weigh = |(word, &tf): (&String, &f64)| {
        let df = documents
            .iter()
            .filter(|document| document.contains_key(word))
            .count() as f64;
        let weight = match weight {
            Weight::Tf => tf,
            Weight::Binary => 1.0,
            Weight::Log => 1.0 + tf.ln(),
            Weight::TfIdf => tf * (((1.0 + n) / (1.0 + df)).ln() + 1.0),
        };
        (word.clone(), weight)
    };
    counts.iter().map(weigh).collect()
}

fn cosine(one: &Counts, other: &Counts) -> f64 {
    let dot = |a: &Counts, b: &Counts| -> f64 {
        let both = a
            .iter()
            .filter_map(|(word, weight)| Some(weight * b.get(word)?));
        both.sum()
    };
    match dot(one, one).sqrt() * dot(other, other).sqrt() {
        0.0 => 0.0,
        lengths => dot(one, other) / lengths,
    }
}

/// The score of each document.
fn twin(texts: &[String], gold: &[String], weight: Weight, combine: Combine) -> Vec<f64> {
    let documents: Vec<Counts> = texts.iter().map(|text| counts(text, STOPWORDS)).collect();
    let gold: Vec<Counts> = match combine {
        Combine::Joined => vec![counts(&gold.join("\n"), STOPWORDS)],
        _ => gold.iter().map(|text| counts(text, STOPWORDS)).collect(),
    };
    let gold: Vec<Counts> = gold
        .iter()
        .map(|gold| weigh(gold, weight, &documents))
        .collect();
    documents
        .iter()
        .map(|document| {
            let document = weigh(document, weight, &documents);
            let scores = gold.iter().map(|gold| cosine(gold, &document));
            match combine {
                Combine::Mean => scores.sum::<f64>() / gold.len() as f64,
                _ => scores.fold(0.0, f64::max),
            }
        })
        .collect()
}

const STOPWORDS: &[&str] = &["the", "и"];

fn settings(rank: RankSettings, threads: usize) -> Settings {
    let mut stopwords = Stopwords::default();
    for word in STOPWORDS {
        stopwords.add(word, Case::Fold);
    }
    Settings {
        shingle: ShingleSettings::Tokens {
            tokens: Tokens::Words { stopwords },
            case: Case::Fold,
            windows: Windows::of(5),
        },
        rank: Some(rank),
        threads,
        ..Settings::default()
    }
}

fn input(name: &str, text: String) -> Input {
    Input::from_reader(name, Cursor::new(text))
}

/// Ids by their number and scores, as they come; and what else there is.
fn ranked(texts: &[String], gold: &[String], settings: &Settings) -> (Vec<(usize, f64)>, Ranking) {
    let lines = texts.iter().enumerate();
    let lines: String = lines
        .map(|(id, text)| {
            format!(
                "{}\n",
                serde_json::json!({"url": id.to_string(), "text": text})
            )
        })
        .collect();
    let gold = gold.iter().enumerate().map(|(index, text)| Gold {
        name: index.to_string(),
        inputs: vec![input(
            "gold",
            format!("{}\n", serde_json::json!({"text": text})),
        )],
    });
    let mut found = vec![];
    let ranking = rank_documents(
        vec![input("documents", lines)],
        gold.collect(),
        settings,
        &Quiet,
        |document| {
            found.push((document.url.parse().unwrap(), document.score.as_f64()));
            ControlFlow::Continue(())
        },
    );
    (found, ranking.unwrap())
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[abc]{1,2}",
        2 => prop_oneof![Just("The"), Just("и"), Just("aren’t"), Just("Aren't"), Just("ﬁne")]
            .prop_map(str::to_owned),
        2 => "[а-в你好ไท]{1,3}",
    ];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

fn weights() -> impl Strategy<Value = (Weight, Combine)> {
    (
        prop_oneof![
            Just(Weight::Tf),
            Just(Weight::Binary),
            Just(Weight::Log),
            Just(Weight::TfIdf)
        ],
        prop_oneof![
            Just(Combine::Max),
            Just(Combine::Mean),
            Just(Combine::Joined)
        ],
    )
}

proptest! {
    #[test]
    fn scores_are_what_the_definition_says(
        texts in proptest::collection::vec(text(), 1..12),
        gold in proptest::collection::vec(text().prop_map(|text| format!("{text} abc")), 1..4),
        (weight, combine) in weights(),
    ) {
        let expected = twin(&texts, &gold, weight, combine);
        let rank = RankSettings { weight, combine, ..RankSettings::default() };
        let (all, _) = ranked(&texts, &gold, &settings(rank.clone(), 1));
        prop_assert_eq!(all.len(), texts.len());
        for &(document, score) in &all {
            prop_assert!((score - expected[document]).abs() < 1e-12);
        }
        let is_sorted = all.is_sorted_by(|one, other| {
            one.1 > other.1 || one.1 == other.1 && one.0 < other.0
        });
        prop_assert!(is_sorted);
        prop_assert_eq!(&ranked(&texts, &gold, &settings(rank.clone(), 2)).0, &all);
        // The best of them, and none kept in memory.
        let rank = RankSettings { order: RankOrder::Top(3), ..rank };
        let small = Settings {
            memory: Some(Memory { bytes: 1, temp_dir: std::env::temp_dir() }),
            ..settings(rank.clone(), 2)
        };
        prop_assert_eq!(&ranked(&texts, &gold, &small).0, &all[..all.len().min(3)]);
        // As they come, with what was counted before.
        let counting = RankSettings { counts_frequencies: true, ..rank.clone() };
        let (_, ranking) = ranked(&texts, &gold, &settings(counting, 2));
        let mut written = vec![];
        ranking.frequencies.unwrap().write(&mut written).unwrap();
        let words: HashSet<String> = texts.iter().flat_map(|text| counts(text, STOPWORDS).into_keys())
            .collect();
        prop_assert_eq!(String::from_utf8_lossy(&written).lines().count(), words.len() + 1);
        let frequencies = DocumentFrequencies::read("df", &written[..]).unwrap();
        let live = RankSettings {
            order: RankOrder::Input,
            frequencies: (weight == Weight::TfIdf).then(|| Arc::new(frequencies)),
            ..rank
        };
        let (mut live, _) = ranked(&texts, &gold, &settings(live, 2));
        prop_assert!(live.is_sorted_by_key(|(document, _)| *document));
        live.sort_by(|one, other| other.1.total_cmp(&one.1));
        prop_assert_eq!(live, all);
    }
}
