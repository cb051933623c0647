//! Collections of small sets, as documents whose items are numbers: what the definitions can be
//! counted on.

#![allow(dead_code, unreachable_pub, reason = "each user takes what it needs")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use simdup::settings::{Case, Finding, ShingleSettings, Threshold};
use simdup::{Input, Settings};

pub type Set = BTreeSet<u16>;
pub type Sets = Vec<Set>;

/// How often a record repeats an item of its set.
pub fn repetitions(index: usize, item: u16) -> usize {
    1 + (usize::from(item) * index) % 5
}

/// A record with the items of a set, some of them repeated. Its id is its number; its value, some
/// small number.
pub fn record(index: usize, set: &Set) -> String {
    let repeated = |item: &u16| vec![item.to_string(); repetitions(index, *item)];
    let items: Vec<String> = set.iter().flat_map(repeated).collect();
    let value = (index * 7) % 5;
    let record = serde_json::json!({"url": index.to_string(), "text": items, "value": value});
    format!("{record}\n")
}

/// So many sets to an input.
pub fn inputs(sets: &[Set], per_input: usize) -> Vec<Input> {
    let records: Vec<String> = (0..).zip(sets).map(|(n, set)| record(n, set)).collect();
    records
        .chunks(per_input)
        .map(|records| text("sets", records.concat()))
        .collect()
}

pub fn text(name: &str, text: String) -> Input {
    Input::from_reader(name, std::io::Cursor::new(text))
}

pub fn settings(hundredths: usize, recall: f64) -> Settings {
    let mut settings = Settings {
        threshold: threshold(hundredths),
        finding: Finding::Recall(recall),
        shingle: ShingleSettings::Items { case: Case::Keep },
        threads: 2,
        ..Settings::default()
    };
    settings.read.items = true;
    settings
}

pub fn threshold(hundredths: usize) -> Threshold {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
        .parse()
        .unwrap()
}

/// Versions made from one another, copies, and, if `with_new`, sets that have nothing to do
/// with them.
pub fn versions(with_new: bool) -> impl Strategy<Value = Sets> {
    let version = (
        any::<prop::sample::Index>(),
        proptest::collection::vec(0_u16..70, 0..10),
        any::<bool>(),
    );
    (
        proptest::collection::btree_set(0_u16..60, 0..40),
        proptest::collection::vec(version, 1..25),
    )
        .prop_map(move |(first, versions)| {
            let mut sets = vec![first];
            for (origin, changed, is_new) in versions {
                let mut set = match is_new && with_new {
                    true => Set::new(),
                    false => sets[origin.index(sets.len())].clone(),
                };
                for shingle in changed {
                    if !set.remove(&shingle) {
                        set.insert(shingle);
                    }
                }
                sets.push(set);
            }
            sets
        })
}
