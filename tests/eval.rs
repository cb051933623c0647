//! Evaluations against brute force over the same shingles: figures, and the threshold at which F1 is
//! best.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use proptest::prelude::*;
use simdup::results::{Cell, Row};
use simdup::settings::{EvalSettings, Measure, Sweep, TruthSource};
use simdup::{Quiet, Settings, eval_documents};

mod sets;
use sets::{Set, Sets, inputs, text, versions};

/// True pairs by the numbers of their documents, and whether others are known not to be true.
type Labels = BTreeMap<(usize, usize), bool>;

/// A score as part and whole, and whether the pair is true.
type Scored = ((usize, usize), bool);

fn rows(
    sets: &[Set],
    settings: &Settings,
    sweep: Sweep,
    labels: &Labels,
    with: Labelled,
) -> Vec<Row> {
    let line = |(&(one, two), &is_true): (&(usize, usize), &bool)| match with {
        Labelled::Both => Some(format!("{one}\t{two}\t{}\n", u8::from(is_true))),
        Labelled::True => is_true.then(|| format!("{one}\t{two}\n")),
    };
    let lines: String = labels.iter().filter_map(line).collect();
    let eval = EvalSettings {
        sweep,
        truth: TruthSource::Pairs(text("truth.tsv", lines)),
        ..EvalSettings::default()
    };
    let mut rows = Vec::new();
    eval_documents(inputs(sets, sets.len()), settings, eval, &Quiet, |row| {
        rows.push(row.clone());
        ControlFlow::Continue(())
    })
    .unwrap();
    rows
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Labelled {
    /// Pairs of the file are true or not, and no others count.
    Both,
    /// Pairs of the file are true, and all others are not.
    True,
}

fn figure(row: &Row, name: &str) -> Option<f64> {
    match row.cells.iter().find(|(own, _)| *own == name) {
        Some((_, Cell::Number(figure))) => Some(*figure),
        Some((_, Cell::Count(count))) => Some(*count as f64),
        _ => None,
    }
}

/// What two sets share, and of how many that is a share.
fn ratio(one: &Set, two: &Set, measure: Measure) -> (usize, usize) {
    let shared = one.intersection(two).count();
    let whole = match measure {
        Measure::Jaccard => one.len() + two.len() - shared,
        _ => one.len().min(two.len()),
    };
    (shared, whole.max(1))
}

/// The scores of all pairs that count, and whether they are true.
fn scored(sets: &[Set], measure: Measure, labels: &Labels, with: Labelled) -> Vec<Scored> {
    let pairs = (0..sets.len()).flat_map(|one| (one + 1..sets.len()).map(move |two| (one, two)));
    pairs
        .filter_map(|(one, two)| {
            let is_true = match (labels.get(&(one, two)), with) {
                (Some(&is_true), _) => is_true,
                (None, Labelled::True) => false,
                (None, Labelled::Both) => return None,
            };
            Some((ratio(&sets[one], &sets[two], measure), is_true))
        })
        .collect()
}

/// Precision, recall and F1 of the pairs whose score is at least a ratio.
fn figures(pairs: &[Scored], (part, whole): (usize, usize)) -> [f64; 3] {
    let is_found = |score: (usize, usize)| score.0 > 0 && score.0 * whole >= part * score.1;
    let count = |is_counted: &dyn Fn(&Scored) -> bool| {
        pairs.iter().filter(|pair| is_counted(pair)).count() as f64
    };
    let hits = count(&|pair| is_found(pair.0) && pair.1);
    let (found, truth) = (count(&|pair| is_found(pair.0)), count(&|pair| pair.1));
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    [
        share(hits, found),
        share(hits, truth),
        share(2.0 * hits, found + truth),
    ]
}

/// The best F1 of all thresholds from the lowest on that tell pairs apart, and the highest of these.
fn best(pairs: &[Scored], lowest: (usize, usize)) -> Option<(f64, f64)> {
    let as_number = |(part, whole): (usize, usize)| part as f64 / whole as f64;
    let mut thresholds: Vec<(usize, usize)> = pairs.iter().map(|pair| pair.0).collect();
    thresholds.retain(|score| score.0 > 0 && score.0 * lowest.1 >= lowest.0 * score.1);
    thresholds.sort_by(|one, two| as_number(*two).total_cmp(&as_number(*one)));
    let mut best = None;
    for threshold in thresholds {
        let [_, _, f1] = figures(pairs, threshold);
        if f1 > best.map_or(0.0, |(f1, _)| f1) {
            best = Some((f1, as_number(threshold)));
        }
    }
    best
}

/// Versions of sets, and labels of some of their pairs.
fn cases() -> impl Strategy<Value = (Sets, Labels)> {
    let label = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<bool>(),
    );
    (versions(true), proptest::collection::vec(label, 1..40)).prop_map(|(sets, labels)| {
        let pair = |one: usize, two: usize| (one.min(two), one.max(two));
        let labels = labels.into_iter().map(|(one, two, is_true)| {
            (pair(one.index(sets.len()), two.index(sets.len())), is_true)
        });
        let labels: Labels = labels.filter(|((one, two), _)| one != two).collect();
        (sets, labels)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_best_f1_is_that_of_the_score_that_is_evaluated(
        (sets, labels) in cases(),
        is_containment in any::<bool>(),
        hundredths in 30_usize..=90,
        with in prop_oneof![Just(Labelled::Both), Just(Labelled::True)],
    ) {
        let measure = if is_containment { Measure::Containment } else { Measure::Jaccard };
        let settings = Settings { measure, ..sets::settings(hundredths, 1.0) };
        let pairs = scored(&sets, measure, &labels, with);
        // A file without a label is one of true pairs.
        prop_assume!(with == Labelled::True || !labels.is_empty());
        let rows = rows(&sets, &settings, Sweep::Given, &labels, with);
        let lowest = match with {
            Labelled::Both => (0, 1),
            Labelled::True => (hundredths, 100),
        };
        let expected = best(&pairs, lowest);
        let found = figure(&rows[0], "best_f1").zip(figure(&rows[0], "best_threshold"));
        prop_assert_eq!(found, expected);
        let [precision, recall, f1] = figures(&pairs, (hundredths, 100));
        for (name, expected) in [("precision", precision), ("recall", recall), ("f1", f1)] {
            prop_assert_eq!(figure(&rows[0], name), Some(expected), "{}", name);
        }
        prop_assert!(f1 <= found.map_or(0.0, |best| best.0));
    }

    #[test]
    fn thresholds_are_swept_by_containment(
        (sets, labels) in cases(),
        with in prop_oneof![Just(Labelled::Both), Just(Labelled::True)],
    ) {
        prop_assume!(with == Labelled::True || !labels.is_empty());
        let measure = Measure::Containment;
        let settings = Settings { measure, ..sets::settings(40, 1.0) };
        let pairs = scored(&sets, measure, &labels, with);
        let rows = rows(&sets, &settings, Sweep::Threshold, &labels, with);
        prop_assert_eq!(rows.len(), 13);
        let all = scored(&sets, measure, &Labels::new(), Labelled::True);
        for row in &rows {
            let hundredths = (figure(row, "threshold").unwrap() * 100.0).round() as usize;
            let is_found = |pair: &&Scored| {
                let (part, whole) = pair.0;
                part > 0 && part * 100 >= hundredths * whole
            };
            prop_assert_eq!(figure(row, "pairs"), Some(all.iter().filter(is_found).count() as f64));
            let [precision, recall, f1] = figures(&pairs, (hundredths, 100));
            for (name, expected) in [("precision", precision), ("recall", recall), ("f1", f1)] {
                prop_assert_eq!(figure(row, name), Some(expected), "{}", name);
            }
        }
    }
}

#[test]
fn the_best_f1_of_an_estimate_is_no_less_than_its_f1() {
    let base: Set = (0..60).collect();
    let sets: Sets = (0..12)
        .map(|n| base.iter().map(|item| item + n * 4).collect())
        .collect();
    let labels: Labels = (0..12)
        .flat_map(|one| (one + 1..12).map(move |two| ((one, two), two - one < 4)))
        .collect();
    for with in [Labelled::Both, Labelled::True] {
        for hundredths in [40, 50, 60, 70] {
            let settings = Settings {
                measure: Measure::MinHash,
                sketch: simdup::settings::SketchSettings::Fast {
                    hashes: 16,
                    seed: 1,
                },
                ..sets::settings(hundredths, 1.0)
            };
            let rows = rows(&sets, &settings, Sweep::Given, &labels, with);
            let [best, f1] = ["best_f1", "f1"].map(|name| figure(&rows[0], name).unwrap());
            assert!(best >= f1, "{rows:?}");
            // A sixteenth.
            let threshold = figure(&rows[0], "best_threshold").unwrap() * 16.0;
            assert_eq!(threshold, threshold.round(), "{rows:?}");
        }
    }
}

/// False pairs of a coarse signature connect clusters, which changed the interval of recall.
#[test]
fn the_same_recall_has_the_same_interval_in_every_row() {
    let mut sets = Sets::new();
    for number in 0..10 {
        // 0.75 similar to the next, 0.99 to its copy.
        let set: Set = (number * 20..number * 20 + 140).collect();
        let mut copy = set.clone();
        copy.extend([10_000 + number, 20_000 + number]);
        sets.extend([set, copy]);
    }
    let settings = sets::settings(80, 1.0);
    let mut rows = Vec::new();
    let eval = EvalSettings {
        sweep: Sweep::Hashes(vec![16, 1024]),
        ..EvalSettings::default()
    };
    eval_documents(inputs(&sets, sets.len()), &settings, eval, &Quiet, |row| {
        rows.push(row.clone());
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(figure(&rows[1], "pairs"), Some(10.0));
    assert!(figure(&rows[0], "pairs") > Some(10.0), "{rows:?}");
    let recall = |row: &Row| {
        let cells = row.cells.iter();
        let cells = cells.filter(|(name, _)| name.starts_with("recall"));
        cells.cloned().collect::<Vec<_>>()
    };
    assert_eq!(figure(&rows[0], "recall"), Some(1.0));
    assert_eq!(recall(&rows[0]), recall(&rows[1]));
}

/// All pairs at the lowest threshold make one cluster, which is none at the others.
#[test]
fn a_row_of_a_sweep_has_the_intervals_of_its_threshold() {
    let sets: Sets = (0..60_u16)
        .map(|number| (number * 10..number * 10 + 20 + number % 2).collect())
        .chain((0..60_u16).map(|number| (number * 10..number * 10 + 20).collect()))
        .collect();
    let labels: Labels = (0..60).map(|one| ((one, one + 60), true)).collect();
    let settings = |hundredths| Settings {
        measure: Measure::Jaccard,
        ..sets::settings(hundredths, 1.0)
    };
    let swept = rows(
        &sets,
        &settings(30),
        Sweep::Threshold,
        &labels,
        Labelled::True,
    );
    let cells = |row: &Row| -> Vec<(&'static str, Cell)> {
        let is_interval = |cell: &&(&'static str, Cell)| cell.0.ends_with("_95");
        row.cells.iter().filter(is_interval).cloned().collect()
    };
    for row in &swept {
        let hundredths = (figure(row, "threshold").unwrap() * 100.0).round() as usize;
        let given = rows(
            &sets,
            &settings(hundredths),
            Sweep::Given,
            &labels,
            Labelled::True,
        );
        assert_eq!(cells(row), cells(&given[0]), "{hundredths}");
    }
    assert_ne!(cells(&swept[0]), cells(&swept[10]));
}
