//! Exact scores against brute force over the same shingles, on thousands of random
//! collections: sparse and dense, with copies, with scores exactly at the
//! threshold.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use simdup::settings::{
    Bands, Case, CommonSettings, Finding, Measure, Memory, ShingleSettings, Stopwords, Tokens,
    Windows,
};
use simdup::{Input, Inputs, Quiet, Settings, find_pairs};

mod sets;
use sets::{Set, Sets, inputs, versions};

fn settings(measure: Measure, hundredths: usize) -> Settings {
    Settings {
        measure,
        ..sets::settings(hundredths, 1.0)
    }
}

/// All in one.
fn input(sets: &[Set]) -> Vec<Input> {
    inputs(sets, sets.len().max(1))
}

/// What was found, as `left right score` with the ordinals of the documents.
fn found(inputs: impl Into<Inputs>, settings: &Settings) -> Vec<(u32, u32, f64)> {
    let similar = find_pairs(inputs, settings, &Quiet).unwrap();
    let pairs = similar.pairs.to_vec().unwrap();
    pairs
        .iter()
        .map(|pair| (pair.left.0, pair.right.0, pair.score.as_f64()))
        .collect()
}

/// The definition, over all pairs, in integers.
fn brute_force(sets: &[Set], measure: Measure, hundredths: usize) -> Vec<(u32, u32, f64)> {
    let mut all = vec![];
    for (left, a) in sets.iter().enumerate() {
        for (right, b) in sets.iter().enumerate().skip(left + 1) {
            let shared = a.intersection(b).count();
            let whole = match measure {
                Measure::Jaccard => a.len() + b.len() - shared,
                _ => a.len().min(b.len()),
            };
            if whole > 0 && shared > 0 && shared * 100 >= hundredths * whole {
                all.push((left as u32, right as u32, shared as f64 / whole as f64));
            }
        }
    }
    all
}

/// Sparse, dense and in between: few or many different shingles, copies, and
/// versions made from one another.
fn collections() -> impl Strategy<Value = Sets> {
    let free = (1_u16..400, 0_usize..30).prop_flat_map(|(shingles, size)| {
        proptest::collection::vec(
            proptest::collection::btree_set(0..shingles, 0..=size),
            0..25,
        )
    });
    prop_oneof![free, versions(false)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn jaccard_is_complete_and_exact(sets in collections(), hundredths in 5_usize..=100) {
        let settings = settings(Measure::Jaccard, hundredths);
        prop_assert_eq!(found(input(&sets), &settings), brute_force(&sets, Measure::Jaccard, hundredths));
    }

    /// Ties: thresholds that are scores of the collection.
    #[test]
    fn a_score_at_the_threshold_counts(sets in collections(), of in 1_usize..=20) {
        for part in 1..=of {
            if 100 % of == 0 {
                let hundredths = part * 100 / of;
                let settings = settings(Measure::Jaccard, hundredths);
                let expected = brute_force(&sets, Measure::Jaccard, hundredths);
                prop_assert_eq!(found(input(&sets), &settings), expected);
            }
        }
    }

    #[test]
    fn containment_is_complete_and_exact(sets in collections(), hundredths in 5_usize..=100) {
        let settings = settings(Measure::Containment, hundredths);
        let expected = brute_force(&sets, Measure::Containment, hundredths);
        prop_assert_eq!(found(input(&sets), &settings), expected);
    }

    /// With a recall this close to 1, not one of a billion pairs is missed by the least
    /// shingles, where they are used.
    #[test]
    fn the_least_shingles_find_the_same(
        sets in collections(), hundredths in 40_usize..=100,
        at in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let settings = Settings {
            finding: Finding::Recall(1.0 - 1e-12),
            ..settings(Measure::Jaccard, hundredths)
        };
        let first = at.map_or(sets.len(), |at| at.index(sets.len() + 1));
        let mut expected = brute_force(&sets, Measure::Jaccard, hundredths);
        let inputs = if first < sets.len() {
            expected.retain(|&(left, right, _)| (left as usize) < first && right as usize >= first);
            Inputs { documents: input(&sets[..first]), against: Some(input(&sets[first..])), ..Inputs::default() }
        } else {
            input(&sets).into()
        };
        prop_assert_eq!(found(inputs, &settings), expected);
    }

    /// Bands find some of the pairs, with the right scores, and none twice.
    #[test]
    fn bands_find_no_wrong_pair(sets in collections(), hundredths in 5_usize..=100, rows in 1_usize..6) {
        let settings = Settings {
            finding: Finding::Bands(Bands { bands: 128 / rows, rows }),
            ..settings(Measure::Jaccard, hundredths)
        };
        let expected = brute_force(&sets, Measure::Jaccard, hundredths);
        let found = found(input(&sets), &settings);
        prop_assert!(found.iter().all(|pair| expected.contains(pair)));
        prop_assert!(found.windows(2).all(|two| (two[0].0, two[0].1) < (two[1].0, two[1].1)));
    }

    #[test]
    fn spilling_changes_nothing(sets in collections(), hundredths in 5_usize..=100) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            memory: Some(Memory { bytes: 64, temp_dir: folder.path().to_owned() }),
            ..settings(Measure::Jaccard, hundredths)
        };
        // Several inputs are several blocks, so that some are spilled.
        let expected = brute_force(&sets, Measure::Jaccard, hundredths);
        prop_assert_eq!(found(inputs(&sets, 1), &settings), expected);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn common_shingles_are_left_out_before_scoring(
        sets in collections(), hundredths in 5_usize..=100, most in 1_u32..12,
    ) {
        let settings = Settings {
            common: CommonSettings::Documents(most),
            ..settings(Measure::Jaccard, hundredths)
        };
        let mut documents: BTreeMap<u16, u32> = BTreeMap::new();
        for shingle in sets.iter().flatten() {
            *documents.entry(*shingle).or_default() += 1;
        }
        let rest: Sets = sets
            .iter()
            .map(|set| set.iter().copied().filter(|shingle| documents[shingle] <= most).collect())
            .collect();
        let expected = brute_force(&rest, Measure::Jaccard, hundredths);
        prop_assert_eq!(found(input(&sets), &settings), expected);
    }

    #[test]
    fn against_compares_across_only(
        sets in collections(), hundredths in 5_usize..=100, at in any::<prop::sample::Index>(),
        measure in prop_oneof![Just(Measure::Jaccard), Just(Measure::Containment)],
    ) {
        let settings = settings(measure, hundredths);
        let first = at.index(sets.len() + 1);
        // An empty side compares with nothing.
        prop_assume!(first < sets.len());
        let inputs = Inputs {
            documents: input(&sets[..first]),
            against: Some(input(&sets[first..])),
            ..Inputs::default()
        };
        let mut expected = brute_force(&sets, measure, hundredths);
        expected.retain(|&(left, right, _)| (left as usize) < first && right as usize >= first);
        prop_assert_eq!(found(inputs, &settings), expected);
    }
}

#[test]
fn repeated_shingles_do_not_hide_a_partner_on_the_other_side() {
    let side = |texts: &[String]| {
        let record = |(number, text): (usize, &String)| {
            format!("{{\"url\": \"{number}\", \"text\": \"{text}\"}}\n")
        };
        let records: String = texts.iter().enumerate().map(record).collect();
        vec![sets::text("side", records)]
    };
    // A quarter of the first document's words are on the other side; the others are repeated. The
    // other documents have no partner, so that the partner filter is worth its while.
    let mut own = vec![format!("sea sky boat {}", "a b c d e f g h i ".repeat(5))];
    own.extend((0..50).map(|number| format!("x{number} y{number} z{number}")));
    let mut settings = Settings {
        measure: Measure::Jaccard,
        threshold: sets::threshold(25),
        ..Settings::default()
    };
    settings.shingle = ShingleSettings::Tokens {
        tokens: Tokens::Words {
            stopwords: Stopwords::default(),
        },
        case: Case::Fold,
        windows: Windows::of(1),
    };
    let inputs = Inputs {
        documents: side(&own),
        against: Some(side(&["sea sky boat".to_owned()])),
        ..Inputs::default()
    };
    assert_eq!(found(inputs, &settings), [(0, 51, 0.25)]);
}

/// Of many pairs at the threshold as many are found as is stated.
#[test]
fn the_stated_recall_is_kept() {
    // Pairs of sets with exactly 3 of 4 in common; all pairs are far from each other.
    let sets: Sets = (0..3000_u16)
        .flat_map(|pair| {
            let base = pair * 20;
            let left = (base..base + 14).collect();
            let right = (base + 2..base + 16).collect();
            [left, right]
        })
        .collect();
    let all = brute_force_neighbours(&sets);
    let complete = settings(Measure::Jaccard, 75);
    assert_eq!(found(input(&sets), &complete).len(), all);
    let by_bands = Settings {
        finding: Finding::Bands(Bands { bands: 32, rows: 4 }),
        ..complete.clone()
    };
    assert_eq!(found(input(&sets), &by_bands).len(), all);
    let by_recall = Settings {
        finding: Finding::Recall(0.9),
        ..complete.clone()
    };
    let share = found(input(&sets), &by_recall).len() as f64 / all as f64;
    assert!((0.9..0.99).contains(&share), "{share}");
    // A pair with Jaccard 0.75 agrees in one band of ten positions with chance 0.056.
    let few = Settings {
        finding: Finding::Bands(Bands { bands: 1, rows: 10 }),
        ..complete
    };
    let share = found(input(&sets), &few).len() as f64 / all as f64;
    assert!((0.04..0.075).contains(&share), "{share}");
}

fn brute_force_neighbours(sets: &Sets) -> usize {
    let similar = |pair: &&[Set]| {
        let shared = pair[0].intersection(&pair[1]).count();
        shared * 4 >= 3 * (pair[0].len() + pair[1].len() - shared)
    };
    sets.chunks(2).filter(similar).count()
}
