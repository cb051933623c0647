//! Pairs that share too few different shingles, against brute force over the same sets: they are in
//! no answer, and are counted.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use simdup::settings::{ClusterMethod, Finding, Keep, Measure, Memory, PartyBy, Pattern};
use simdup::{Input, Inputs, Quiet, Settings, cluster_documents, find_pairs};

mod sets;
use sets::{Set, Sets, text, versions};

/// Sets as inputs, every second of them with each shingle twice. Some ids have a group in front.
fn inputs(sets: &[Set], first: usize) -> Vec<Input> {
    let record = |(index, set): (usize, &Set)| {
        let times = 1 + index % 2;
        let items = set.iter().map(ToString::to_string);
        let items: Vec<String> = items.cycle().take(set.len() * times).collect();
        let group = match index % 3 {
            0 => String::new(),
            group => format!("{group}/"),
        };
        format!(
            "{}\n",
            serde_json::json!({"url": format!("{group}{index}"), "text": items})
        )
    };
    let records = (first..).zip(sets).map(record);
    vec![text("sets", records.collect())]
}

fn is_of_one_group(left: usize, right: usize) -> bool {
    !left.is_multiple_of(3) && left % 3 == right % 3
}

/// What two sets share, if their score reaches the threshold.
fn shared(one: &Set, two: &Set, measure: Measure, hundredths: usize) -> Option<usize> {
    let shared = one.intersection(two).count();
    let whole = match measure {
        Measure::Jaccard => one.len() + two.len() - shared,
        _ => one.len().min(two.len()),
    };
    (shared > 0 && shared * 100 >= hundredths * whole).then_some(shared)
}

fn settings(hundredths: usize, least: u32) -> Settings {
    Settings {
        min_shared: least,
        measure: Measure::Jaccard,
        ..sets::settings(hundredths, 1.0)
    }
}

/// The keeper of each document that has another one.
fn clustered(sets: &Sets, settings: &Settings, how: ClusterMethod) -> BTreeMap<u32, u32> {
    let clustered =
        cluster_documents(inputs(sets, 0), settings, how, &Keep::First, &Quiet).unwrap();
    let removed = clustered.removed();
    removed
        .map(|removed| (removed.document.0, removed.keeper.0))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn pairs_that_share_too_few_are_left_out_and_counted(
        sets in versions(true), hundredths in 20_usize..=100, least in 0_u32..30,
        measure in prop_oneof![Just(Measure::Jaccard), Just(Measure::Containment)],
        at in proptest::option::of(any::<prop::sample::Index>()),
        has_groups in any::<bool>(),
        bytes in prop_oneof![Just(None), Just(Some(64))],
    ) {
        let first = at.map(|at| at.index(sets.len()));
        let all = match first {
            None => inputs(&sets, 0).into(),
            Some(first) => Inputs {
                documents: inputs(&sets[..first], 0),
                against: Some(inputs(&sets[first..], first)),
                ..Inputs::default()
            },
        };
        let settings = Settings {
            measure,
            party_by: has_groups.then(|| PartyBy::Pattern(Pattern::new("^(.)/").unwrap())),
            memory: bytes.map(|bytes| Memory { bytes, temp_dir: std::env::temp_dir() }),
            ..settings(hundredths, least)
        };
        let similar = find_pairs(all, &settings, &Quiet).unwrap();
        let found: Vec<(u32, u32, u32)> = similar
            .pairs
            .to_vec()
            .unwrap()
            .iter()
            .map(|pair| (pair.left.0, pair.right.0, pair.shared))
            .collect();
        let (mut expected, mut left_out) = (vec![], 0);
        for right in 0..sets.len() {
            for left in 0..right {
                let is_compared = first.is_none_or(|first| left < first && right >= first)
                    && !(has_groups && is_of_one_group(left, right));
                match shared(&sets[left], &sets[right], measure, hundredths) {
                    Some(shared) if is_compared && shared as u32 >= least => {
                        expected.push((left as u32, right as u32, shared as u32));
                    }
                    Some(_) if is_compared => left_out += 1,
                    _ => {}
                }
            }
        }
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(similar.stats.search.pruned_by_min_shared, left_out);
    }

    /// Bands find each pair several times, and it counts once.
    #[test]
    fn no_pair_that_shares_too_few_counts_twice(
        sets in versions(true), hundredths in 40_usize..=100, least in 0_u32..30,
    ) {
        let complete = settings(hundredths, least);
        let by_bands = Settings { finding: Finding::Recall(1.0 - 1e-12), ..complete.clone() };
        let [one, two] = [complete, by_bands].map(|settings| {
            let similar = find_pairs(inputs(&sets, 0), &settings, &Quiet).unwrap();
            (similar.pairs.to_vec().unwrap(), similar.stats.search.pruned_by_min_shared)
        });
        prop_assert_eq!(one, two);
    }

    #[test]
    fn pairs_that_share_too_few_make_no_star(
        sets in versions(true), hundredths in 40_usize..=100, least in 0_u32..30,
        recall in prop_oneof![Just(1.0), Just(1.0 - 1e-12)],
    ) {
        let (mut keepers, mut expected) = (vec![], BTreeMap::new());
        for document in 0..sets.len() {
            let score = |keeper: usize| {
                let (one, two) = (&sets[document], &sets[keeper]);
                let shared = shared(one, two, Measure::Jaccard, hundredths)?;
                let whole = one.len() + two.len() - shared;
                (shared as u32 >= least).then_some(shared as f64 / whole as f64)
            };
            let similar = keepers.iter().rev().filter(|&&keeper| score(keeper).is_some());
            match similar.max_by(|one, two| score(**one).partial_cmp(&score(**two)).unwrap()) {
                Some(&keeper) => drop(expected.insert(document as u32, keeper as u32)),
                None => keepers.push(document),
            }
        }
        let settings = Settings { finding: Finding::Recall(recall), ..settings(hundredths, least) };
        prop_assert_eq!(clustered(&sets, &settings, ClusterMethod::Star), expected);
    }

    #[test]
    fn pairs_that_share_too_few_connect_nothing(
        sets in versions(true), hundredths in 40_usize..=100, least in 0_u32..30,
        recall in prop_oneof![Just(1.0), Just(1.0 - 1e-12)],
    ) {
        let mut labels: Vec<u32> = (0..sets.len() as u32).collect();
        for right in 0..sets.len() {
            for left in 0..right {
                let shared = shared(&sets[left], &sets[right], Measure::Jaccard, hundredths);
                if shared.is_some_and(|shared| shared as u32 >= least) {
                    let (from, to) = (labels[left], labels[right]);
                    let (from, to) = (from.max(to), from.min(to));
                    labels.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
                }
            }
        }
        let expected: BTreeMap<u32, u32> =
            (0..).zip(labels).filter(|(document, label)| document != label).collect();
        let settings = Settings { finding: Finding::Recall(recall), ..settings(hundredths, least) };
        prop_assert_eq!(clustered(&sets, &settings, ClusterMethod::Components), expected);
    }
}

/// Copies that are like no other document were given as many shingles as they have, repeated ones
/// counted again.
#[test]
fn shingles_of_copies_count_once() {
    let words = |number: u32, count: u32| -> Vec<String> {
        (0..count).map(|at| format!("w{number}x{at}")).collect()
    };
    let mut documents: Vec<Vec<String>> = (0..300).map(|number| words(number, 100)).collect();
    let mut copy = words(300, 60);
    copy.extend([words(301, 6), words(302, 20), words(301, 6)].concat());
    documents.splice(0..0, [copy.clone(), copy]);
    let record = |(index, words): (usize, Vec<String>)| {
        let record = serde_json::json!({"url": index.to_string(), "text": words.join(" ")});
        format!("{record}\n")
    };
    let all: String = documents.into_iter().enumerate().map(record).collect();
    let settings = Settings {
        measure: Measure::Jaccard,
        ..Settings::default()
    };
    let similar = find_pairs(vec![text("all", all)], &settings, &Quiet).unwrap();
    let pairs = similar.pairs.to_vec().unwrap();
    assert_eq!(pairs.len(), 1);
    // Of the 88 runs of five words, two come twice.
    assert_eq!((pairs[0].shared, pairs[0].sizes), (86, [86, 86]));
}
