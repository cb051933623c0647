//! What is not compared: documents of one group, and what is in a template. Held against the
//! answer without, and against brute force.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use simdup::settings::{
    Case, ClusterMethod, Finding, Keep, Measure, PartyBy, Pattern, ShingleSettings, Threshold,
};
use simdup::{Input, Inputs, Quiet, Settings, cluster_documents, find_pairs};

type Set = BTreeSet<u16>;
/// Sets, each with the number of its group; 0 is none.
type Collection = Vec<(Set, u8)>;

/// The group is part of the id: `3/17`.
fn input(documents: &[(Set, u8)], first: usize) -> Vec<Input> {
    let mut out = String::new();
    for (index, (set, group)) in documents.iter().enumerate() {
        let items: Vec<String> = set.iter().map(ToString::to_string).collect();
        let url = match group {
            0 => format!("{}", first + index),
            group => format!("{group}/{}", first + index),
        };
        out += &format!("{}\n", serde_json::json!({"url": url, "text": items}));
    }
    vec![Input::from_reader("sets", std::io::Cursor::new(out))]
}

fn settings(measure: Measure, hundredths: usize, recall: f64, is_apart: bool) -> Settings {
    let threshold: Threshold = format!("{}.{:02}", hundredths / 100, hundredths % 100)
        .parse()
        .unwrap();
    let mut settings = Settings {
        measure,
        threshold,
        finding: Finding::Recall(recall),
        shingle: ShingleSettings::Items { case: Case::Keep },
        party_by: is_apart.then(|| PartyBy::Pattern(Pattern::new("^(.)/").unwrap())),
        threads: 2,
        ..Settings::default()
    };
    settings.read.items = true;
    settings
}

fn found(inputs: impl Into<Inputs>, settings: &Settings) -> Vec<(u32, u32, f64)> {
    let similar = find_pairs(inputs, settings, &Quiet).unwrap();
    let pairs = similar.pairs.to_vec().unwrap();
    pairs
        .iter()
        .map(|pair| (pair.left.0, pair.right.0, pair.score.as_f64()))
        .collect()
}

fn are_apart(documents: &Collection, one: u32, two: u32) -> bool {
    let [one, two] = [one, two].map(|document| documents[document as usize].1);
    one == 0 || one != two
}

fn score(one: &Set, two: &Set) -> f64 {
    let shared = one.intersection(two).count();
    shared as f64 / (one.len() + two.len() - shared) as f64
}

fn similar(one: &Set, two: &Set, hundredths: usize) -> bool {
    let shared = one.intersection(two).count();
    shared > 0 && shared * 100 >= hundredths * (one.len() + two.len() - shared)
}

/// Copies and versions of a few sets, in a few groups.
fn collections() -> impl Strategy<Value = Collection> {
    let first = proptest::collection::btree_set(0_u16..40, 1..20);
    let edit = (
        any::<prop::sample::Index>(),
        proptest::collection::vec(0_u16..50, 0..5),
        0_u8..4,
    );
    (first, proptest::collection::vec(edit, 1..24)).prop_map(|(first, edits)| {
        let mut documents = vec![(first, 1)];
        for (from, toggled, group) in edits {
            let mut set = documents[from.index(documents.len())].0.clone();
            for shingle in toggled {
                if !set.remove(&shingle) {
                    set.insert(shingle);
                }
            }
            documents.push((set, group));
        }
        documents
    })
}

fn sides(documents: &Collection, at: Option<prop::sample::Index>) -> (Inputs, Option<usize>) {
    match at.map(|at| at.index(documents.len())) {
        None => (input(documents, 0).into(), None),
        Some(first) => (
            Inputs {
                documents: input(&documents[..first], 0),
                against: Some(input(&documents[first..], first)),
                ..Inputs::default()
            },
            Some(first),
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The pairs are those that are found otherwise, but for those of one group.
    #[test]
    fn groups_take_their_own_pairs_out_and_no_others(
        documents in collections(),
        hundredths in 30_usize..=100,
        at in proptest::option::of(any::<prop::sample::Index>()),
        measure in prop_oneof![Just(Measure::MinHash), Just(Measure::Jaccard), Just(Measure::Containment)],
        recall in prop_oneof![Just(1.0), Just(0.9)],
    ) {
        let of = |is_apart| {
            let settings = settings(measure, hundredths, recall, is_apart);
            found(sides(&documents, at).0, &settings)
        };
        let mut expected = of(false);
        expected.retain(|&(left, right, _)| are_apart(&documents, left, right));
        prop_assert_eq!(of(true), expected);
    }

    /// A document goes to the most similar keeper before it that is not of its group.
    #[test]
    fn stars_are_what_the_definition_says(
        documents in collections(),
        hundredths in 30_usize..=100,
        last in any::<bool>(),
        recall in prop_oneof![Just(1.0), Just(1.0 - 1e-12)],
    ) {
        let keep = if last { Keep::Last } else { Keep::First };
        let settings = settings(Measure::Jaccard, hundredths, recall, true);
        let clustered = cluster_documents(
            input(&documents, 0), &settings, ClusterMethod::Star, &keep, &Quiet,
        ).unwrap();
        let found: Vec<(u32, u32, f64)> = clustered
            .removed()
            .map(|removed| (removed.document.0, removed.keeper.0, removed.score.as_f64()))
            .collect();
        let mut order: Vec<u32> = (0..documents.len() as u32).collect();
        if last {
            order.reverse();
        }
        let set = |document: u32| &documents[document as usize].0;
        let mut kept: Vec<u32> = vec![];
        let mut expected = vec![];
        for document in order {
            let mut best: Option<(u32, f64)> = None;
            for &keeper in &kept {
                let score = score(set(document), set(keeper));
                if are_apart(&documents, document, keeper)
                    && similar(set(document), set(keeper), hundredths)
                    && best.is_none_or(|(_, best)| score > best)
                {
                    best = Some((keeper, score));
                }
            }
            match best {
                Some((keeper, score)) => expected.push((document, keeper, score)),
                None => kept.push(document),
            }
        }
        expected.sort_by_key(|&(document, ..)| document);
        prop_assert_eq!(found, expected);
    }

    /// A cluster is what pairs of different groups connect.
    #[test]
    fn components_are_what_pairs_across_groups_connect(
        documents in collections(), hundredths in 40_usize..=100,
    ) {
        let settings = settings(Measure::Jaccard, hundredths, 1.0, true);
        let clustered = cluster_documents(
            input(&documents, 0), &settings, ClusterMethod::Components, &Keep::First, &Quiet,
        ).unwrap();
        // The twin: labels that are replaced all over.
        let mut labels: Vec<u32> = (0..documents.len() as u32).collect();
        for one in 0..documents.len() {
            for two in 0..one {
                let (left, right) = (&documents[one].0, &documents[two].0);
                let is_pair = similar(left, right, hundredths);
                if is_pair && are_apart(&documents, one as u32, two as u32) {
                    let (from, to) = (labels[one], labels[two]);
                    labels.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
                }
            }
        }
        let mut found: Vec<u32> = (0..documents.len() as u32).collect();
        for cluster in clustered.clusters() {
            for (member, score) in cluster.members {
                found[member.index()] = cluster.keeper.0;
                let [one, two] = [member, cluster.keeper].map(|d| &documents[d.index()].0);
                prop_assert_eq!(score.as_f64(), self::score(one, two));
            }
        }
        for one in 0..documents.len() {
            for two in 0..one {
                prop_assert_eq!(found[one] == found[two], labels[one] == labels[two]);
            }
        }
    }

    /// What the other collection has goes, with the first of the most similar that is not of
    /// its group.
    #[test]
    fn against_takes_the_most_similar_of_another_group(
        documents in collections(),
        hundredths in 30_usize..=100,
        at in any::<prop::sample::Index>(),
    ) {
        let (inputs, first) = sides(&documents, Some(at));
        let first = first.unwrap_or_default();
        let settings = settings(Measure::Jaccard, hundredths, 1.0, true);
        let clustered = cluster_documents(
            inputs, &settings, ClusterMethod::Star, &Keep::First, &Quiet,
        ).unwrap();
        let found: Vec<(u32, u32)> = clustered
            .removed()
            .map(|removed| (removed.document.0, removed.keeper.0))
            .collect();
        let mut expected = vec![];
        for document in 0..first as u32 {
            let set = |document: u32| &documents[document as usize].0;
            let others = (first as u32..documents.len() as u32).filter(|&other| {
                are_apart(&documents, document, other)
                    && similar(set(document), set(other), hundredths)
            });
            let score = |other: u32| score(set(document), set(other));
            let best = others.rev().max_by(|&one, &two| score(one).total_cmp(&score(two)));
            expected.extend(best.map(|best| (document, best)));
        }
        prop_assert_eq!(found, expected);
    }

    /// A template is as if its shingles were in no document.
    #[test]
    fn templates_are_taken_out_before_scoring(
        documents in collections(),
        template in proptest::collection::btree_set(0_u16..50, 0..20),
        hundredths in 30_usize..=100,
        measure in prop_oneof![Just(Measure::MinHash), Just(Measure::Jaccard), Just(Measure::Containment)],
    ) {
        let settings = settings(measure, hundredths, 1.0, false);
        let rest: Collection = documents
            .iter()
            .map(|(set, group)| (set.difference(&template).copied().collect(), *group))
            .collect();
        let expected = found(input(&rest, 0), &settings);
        let inputs = Inputs {
            documents: input(&documents, 0),
            // Twice, and under an id that is a document's too.
            templates: vec![input(&[(template, 0)], 0), input(&[(Set::new(), 0)], 0)].into_iter().flatten().collect(),
            ..Inputs::default()
        };
        let similar = find_pairs(inputs, &settings, &Quiet).unwrap();
        prop_assert_eq!(similar.stats.counts.documents, documents.len() as u64);
        let emptied = documents.iter().zip(&rest).filter(|(all, rest)| !all.0.is_empty() && rest.0.is_empty());
        prop_assert_eq!(similar.stats.counts.template_only, emptied.count() as u64);
        let pairs = similar.pairs.to_vec().unwrap();
        let found: Vec<(u32, u32, f64)> = pairs
            .iter()
            .map(|pair| (pair.left.0, pair.right.0, pair.score.as_f64()))
            .collect();
        prop_assert_eq!(found, expected);
    }
}
