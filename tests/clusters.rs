//! Clusters against brute force over the same sets, on thousands of random collections.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use simdup::inside::{ScoredPair, cluster_pairs};
use simdup::settings::{Among, ClusterMethod, Dedup, DedupMode, Finding, Keep, Memory, Writer};
use simdup::{
    DedupOutput, DocumentId, Index, Inputs, NamedWriter, Quiet, Settings, cluster_documents,
    dedup_documents,
};

mod sets;
use sets::{Set, Sets, inputs, record, repetitions, settings, text, threshold, versions};

/// A keeper and its members with their scores.
type Clusters = Vec<(u32, Vec<(u32, f64)>)>;

fn found(
    sets: &Sets,
    per_input: usize,
    settings: &Settings,
    how: ClusterMethod,
    keep: &Keep,
) -> Clusters {
    let clustered =
        cluster_documents(inputs(sets, per_input), settings, how, keep, &Quiet).unwrap();
    let mut removed = 0;
    let clusters = clustered
        .clusters()
        .map(|cluster| {
            removed += cluster.members.len();
            let members = cluster
                .members
                .iter()
                .map(|(id, score)| (id.0, score.as_f64()));
            (cluster.keeper.0, members.collect())
        })
        .collect();
    assert_eq!(clustered.removed().count(), removed);
    clusters
}

fn shared(a: &Set, b: &Set) -> (usize, usize) {
    let shared = a.intersection(b).count();
    (shared, a.len() + b.len() - shared)
}

/// Whether two sets are similar enough, in integers.
fn similar(a: &Set, b: &Set, hundredths: usize) -> bool {
    let (part, whole) = shared(a, b);
    part > 0 && part * 100 >= hundredths * whole
}

fn score(a: &Set, b: &Set) -> f64 {
    let (part, whole) = shared(a, b);
    part as f64 / whole as f64
}

/// The documents in order of preference.
fn order(sets: &Sets, keep: &Keep) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    let length = |index: usize| -> usize {
        let items = sets[index].iter();
        items
            .map(|&item| item.to_string().len() * repetitions(index, item))
            .sum()
    };
    match keep {
        Keep::First => {}
        Keep::Last => order.reverse(),
        Keep::Longest => order.sort_by_key(|&index| std::cmp::Reverse(length(index))),
        Keep::Shortest => order.sort_by_key(|&index| length(index)),
        Keep::Max(_) => order.sort_by_key(|&index| std::cmp::Reverse((index * 7) % 5)),
        Keep::Min(_) => order.sort_by_key(|&index| (index * 7) % 5),
    }
    order.retain(|&index| !sets[index].is_empty());
    order
}

/// The definition.
fn brute_force(sets: &Sets, hundredths: usize, how: ClusterMethod, keep: &Keep) -> Clusters {
    let order = order(sets, keep);
    let mut keeper_of: Vec<Option<usize>> = vec![None; sets.len()];
    match how {
        ClusterMethod::Star => {
            let mut keepers: Vec<usize> = vec![];
            for &node in &order {
                let mut best: Option<usize> = None;
                for &keeper in &keepers {
                    if similar(&sets[node], &sets[keeper], hundredths)
                        && best.is_none_or(|best| {
                            let (p, w) = shared(&sets[node], &sets[keeper]);
                            let (q, v) = shared(&sets[node], &sets[best]);
                            p * v > q * w
                        })
                    {
                        best = Some(keeper);
                    }
                }
                keeper_of[node] = Some(best.unwrap_or(node));
                if best.is_none() {
                    keepers.push(node);
                }
            }
        }
        ClusterMethod::Components => {
            for &node in &order {
                if keeper_of[node].is_some() {
                    continue;
                }
                let mut waiting = vec![node];
                while let Some(next) = waiting.pop() {
                    if keeper_of[next].is_none() {
                        keeper_of[next] = Some(node);
                        waiting.extend(
                            order
                                .iter()
                                .filter(|&&other| similar(&sets[next], &sets[other], hundredths)),
                        );
                    }
                }
            }
        }
    }
    let mut clusters: Clusters = vec![];
    for keeper in 0..sets.len() {
        let members: Vec<(u32, f64)> = (0..sets.len())
            .filter(|&node| node != keeper && keeper_of[node] == Some(keeper))
            .map(|node| (node as u32, score(&sets[node], &sets[keeper])))
            .collect();
        if !members.is_empty() {
            clusters.push((keeper as u32, members));
        }
    }
    clusters
}

fn keeps() -> impl Strategy<Value = Keep> {
    prop_oneof![
        Just(Keep::First),
        Just(Keep::Last),
        Just(Keep::Longest),
        Just(Keep::Shortest),
        Just(Keep::Max("value".into())),
        Just(Keep::Min("value".into())),
    ]
}

fn methods() -> impl Strategy<Value = ClusterMethod> {
    prop_oneof![Just(ClusterMethod::Star), Just(ClusterMethod::Components)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// By sets of bundles, and by bands with a recall as good as 1; however the documents are
    /// spread over inputs, and however little memory there is.
    #[test]
    fn clusters_are_what_the_definition_says(
        sets in versions(true), hundredths in 40_usize..=100, per_input in 1_usize..30,
        how in methods(), keep in keeps(),
        recall in prop_oneof![Just(1.0), Just(1.0 - 1e-12)],
        bytes in prop_oneof![Just(None), Just(Some(64)), Just(Some(3000))],
    ) {
        let expected = brute_force(&sets, hundredths, how, &keep);
        let settings = Settings {
            memory: bytes.map(|bytes| Memory { bytes, temp_dir: std::env::temp_dir() }),
            ..settings(hundredths, recall)
        };
        prop_assert_eq!(found(&sets, per_input, &settings, how, &keep), expected);
    }

    /// What another collection has goes, with the most similar as its witness.
    #[test]
    fn against_takes_the_most_similar(
        sets in versions(true), hundredths in 40_usize..=100, at in any::<prop::sample::Index>(),
        recall in prop_oneof![Just(1.0), Just(1.0 - 1e-12)],
    ) {
        let first = at.index(sets.len());
        let (new, old) = (sets[..first].to_vec(), sets[first..].to_vec());
        let inputs = Inputs {
            documents: inputs(&new, 4),
            against: Some(inputs(&old, 5)),
            ..Inputs::default()
        };
        let settings = settings(hundredths, recall);
        let clustered =
            cluster_documents(inputs, &settings, ClusterMethod::Star, &Keep::First, &Quiet).unwrap();
        let found: Vec<(u32, u32, f64)> = clustered
            .removed()
            .map(|removed| (removed.document.0, removed.keeper.0, removed.score.as_f64()))
            .collect();
        let mut expected = vec![];
        for (index, set) in new.iter().enumerate() {
            let similar = (0..old.len()).filter(|&other| similar(set, &old[other], hundredths));
            // The first of the most similar.
            let best = similar.rev().max_by(|&one, &two| {
                score(set, &old[one]).total_cmp(&score(set, &old[two]))
            });
            if let Some(best) = best {
                expected.push((index as u32, (first + best) as u32, score(set, &old[best])));
            }
        }
        prop_assert_eq!(found, expected);
    }

    /// What another collection or an index has goes first, and the rest as without it. A document
    /// of an index whose id is among the documents is not of the other collection.
    #[test]
    fn what_others_have_goes_and_the_rest_is_clustered(
        sets in versions(true), hundredths in 40_usize..=100, at in any::<prop::sample::Index>(),
        how in methods(), keep in keeps(), among in prop_oneof![Just(Among::All), Just(Among::Others)],
        bytes in prop_oneof![Just(None), Just(Some(64)), Just(Some(3000))],
        is_indexed in any::<bool>(), moved in 0_usize..30,
    ) {
        let first = at.index(sets.len());
        let (new, old) = (sets[..first].to_vec(), sets[first..].to_vec());
        let settings = Settings {
            memory: bytes.map(|bytes| Memory { bytes, temp_dir: std::env::temp_dir() }),
            ..settings(hundredths, 1.0)
        };
        // In an index, the first of the old ones have the ids of the last of the new ones.
        let moved = if is_indexed { moved % (first + 1) } else { 0 };
        let name = |other: usize| first + other - moved;
        let records: String = (0..old.len()).map(|other| record(name(other), &old[other])).collect();
        let folder = tempfile::tempdir().unwrap();
        let index = is_indexed.then(|| {
            let path = folder.path().join("index");
            let inputs = vec![text("old", records.clone())];
            let writer = Writer::default();
            Index::create(&path, inputs, &settings, &writer, &Quiet).unwrap();
            Index::open(&path).unwrap()
        });
        let inputs = Inputs {
            documents: inputs(&new, 4),
            against: (!is_indexed).then(|| vec![text("old", records)]),
            ..Inputs::default()
        };
        let dedup = Dedup {
            method: how,
            keep: keep.clone(),
            mode: DedupMode::Removed,
            among,
            index: index.as_ref(),
        };
        let mut written = Vec::new();
        let output = DedupOutput {
            documents: NamedWriter { name: "out", writer: &mut written },
            removed: None,
            shards: None,
        };
        dedup_documents(inputs, &settings, &dedup, output, &Quiet).unwrap();
        let found: Vec<(String, String, String)> = String::from_utf8(written)
            .unwrap()
            .lines()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                let text = |key: &str| line[key].as_str().unwrap().to_owned();
                (text("url"), text("keeper"), line["score"].to_string())
            })
            .collect();
        let mut rest = new.clone();
        let mut expected: Vec<(usize, usize, f64)> = vec![];
        for (index, set) in new.iter().enumerate() {
            let others = (0..old.len()).filter(|&other| !is_indexed || name(other) >= first);
            let similar = others.filter(|&other| similar(set, &old[other], hundredths));
            let best = similar.rev().max_by(|&one, &two| {
                score(set, &old[one]).total_cmp(&score(set, &old[two]))
            });
            if let Some(best) = best {
                expected.push((index, name(best), score(set, &old[best])));
                rest[index].clear();
            }
        }
        if among == Among::All {
            for (keeper, members) in brute_force(&rest, hundredths, how, &keep) {
                let of = |(member, score)| (member as usize, keeper as usize, score);
                expected.extend(members.into_iter().map(of));
            }
        }
        expected.sort_by_key(|&(document, ..)| document);
        let expected: Vec<(String, String, String)> = expected
            .into_iter()
            .map(|(document, keeper, score)| {
                let score = serde_json::Value::from(score).to_string();
                (document.to_string(), keeper.to_string(), score)
            })
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// Pairs tell of clusters what documents do.
    #[test]
    fn pairs_make_the_same_clusters(
        sets in versions(true), hundredths in 20_usize..=100, how in methods(), last in any::<bool>(),
    ) {
        let keep = if last { Keep::Last } else { Keep::First };
        let mut pairs = vec![];
        for left in 0..sets.len() {
            for right in left + 1..sets.len() {
                if similar(&sets[left], &sets[right], hundredths) {
                    let [left_id, right_id] = [left, right].map(|id| DocumentId(id as u32));
                    let score = score(&sets[left], &sets[right]);
                    pairs.push(ScoredPair { left: left_id, right: right_id, score });
                }
            }
        }
        let clusters = cluster_pairs(sets.len(), &pairs, hundredths as f64 / 100.0, how, &keep);
        let expected = brute_force(&sets, hundredths, how, &keep);
        let found: Vec<(u32, Vec<u32>)> = clusters
            .iter()
            .map(|cluster| (cluster.keeper.0, cluster.members.iter().map(|(id, _)| id.0).collect()))
            .collect();
        let wanted: Vec<(u32, Vec<u32>)> = expected
            .iter()
            .map(|(keeper, members)| (*keeper, members.iter().map(|(id, _)| *id).collect()))
            .collect();
        prop_assert_eq!(found, wanted);
        // A score is known where there is a pair with the keeper.
        for (cluster, (_, members)) in clusters.iter().zip(&expected) {
            for ((_, known), &(_, score)) in cluster.members.iter().zip(members) {
                prop_assert!(known.is_none_or(|known| known == score));
                prop_assert!(known.is_some() || how == ClusterMethod::Components);
            }
        }
    }
}

/// Ten texts in thousands of versions each: no two of a thousand are compared.
#[test]
fn a_large_cluster_costs_no_more_than_its_size() {
    let words = |page: u32, version: u32| -> String {
        let word = |at: u32| match (at * 37 + version * 11).is_multiple_of(97) {
            true => format!("v{version}x{at}"),
            false => format!("p{page}w{at}"),
        };
        (0..200).map(word).collect::<Vec<_>>().join(" ")
    };
    let mut pages = String::new();
    for number in 0..20_000 {
        let record =
            serde_json::json!({"url": number.to_string(), "text": words(number % 10, number / 10)});
        pages.push_str(&format!("{record}\n"));
    }
    for (recall, how) in [
        (1.0, ClusterMethod::Star),
        (0.99999, ClusterMethod::Star),
        (0.99999, ClusterMethod::Components),
    ] {
        let settings = Settings {
            finding: Finding::Recall(recall),
            ..Settings::default()
        };
        let inputs = vec![text("pages", pages.clone())];
        let clustered = cluster_documents(inputs, &settings, how, &Keep::First, &Quiet).unwrap();
        assert_eq!(clustered.clusters().count(), 10);
        assert_eq!(clustered.removed().count(), 20_000 - 10);
        assert!(
            clustered
                .removed()
                .all(|removed| removed.score.as_f64() > 0.7)
        );
    }
}

/// Two texts in many versions each, too many for all pairs, and a few between the two: what
/// is connected is the same by either way.
#[test]
fn what_lies_between_connects_by_either_way() {
    let mut pages = String::new();
    for number in 0..1_215_u32 {
        let page = number % 3;
        // Of the last words, those that are others: none, half of them, all.
        let others = match number / 3 {
            0..200 => 0,
            200..205 => 12,
            _ => 24,
        };
        let words: Vec<String> = (0..120)
            .map(|at| match at {
                at if at == (number * 37) % 90 => format!("n{number}"),
                at if at >= 120 - others => format!("p{page}x{at}"),
                at => format!("p{page}w{at}"),
            })
            .collect();
        let record = serde_json::json!({"url": number.to_string(), "text": words.join(" ")});
        pages.push_str(&format!("{record}\n"));
    }
    let clusters = |recall: f64| {
        let settings = Settings {
            finding: Finding::Recall(recall),
            threshold: threshold(60),
            ..Settings::default()
        };
        let inputs = vec![text("pages", pages.clone())];
        let how = ClusterMethod::Components;
        let clustered = cluster_documents(inputs, &settings, how, &Keep::First, &Quiet).unwrap();
        (
            clustered.clusters().collect::<Vec<_>>(),
            clustered.stats.search.method,
        )
    };
    let ((complete, by_sets), (found, by_least)) = (clusters(1.0), clusters(1.0 - 1e-9));
    assert_eq!(complete, found);
    assert_ne!(by_sets, by_least);
    assert_eq!(complete.len(), 3);
}
