//! What is found out of one setting: figures with names, in order. And what a picture shows of all.

use crate::candidates::Bands;
use crate::eval::{Interval, RandTally, Tally, interval};

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A count.
    Count(u64),
    /// A count that may be estimated.
    Estimate {
        /// How many.
        count: u64,
        /// Whether they were not counted.
        is_estimated: bool,
    },
    /// Any other number.
    Number(f64),
    /// The interval of the number before it.
    Interval(Option<Interval>),
    /// There is none.
    Missing,
}

/// The figures of a setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Each with its name.
    pub cells: Vec<(&'static str, Cell)>,
}

impl Row {
    pub(super) fn with(mut self, name: &'static str, cell: Cell) -> Self {
        self.cells.push((name, cell));
        self
    }

    pub(super) fn text(self, name: &'static str, text: impl Into<String>) -> Self {
        self.with(name, Cell::Text(text.into()))
    }

    pub(super) fn count(self, name: &'static str, count: u64) -> Self {
        self.with(name, Cell::Count(count))
    }

    pub(super) fn number(self, name: &'static str, number: f64) -> Self {
        self.with(name, Cell::Number(number))
    }

    /// Precision, recall and F1, with their intervals.
    pub(super) fn figures(self, parts: &[Tally], seed: u64) -> Self {
        self.precision(parts, seed)
            .recall(parts, seed)
            .f1(parts, seed)
    }

    pub(super) fn precision(self, parts: &[Tally], seed: u64) -> Self {
        let found = parts.iter().copied().filter(|part| part.found() > 0);
        self.number("precision", sum(parts).precision()).with(
            "precision_95",
            Cell::Interval(interval(found, seed, Tally::precision)),
        )
    }

    pub(super) fn recall(self, parts: &[Tally], seed: u64) -> Self {
        let truth = parts.iter().copied().filter(|part| part.truth() > 0);
        self.number("recall", sum(parts).recall()).with(
            "recall_95",
            Cell::Interval(interval(truth, seed, Tally::recall)),
        )
    }

    pub(super) fn f1(self, parts: &[Tally], seed: u64) -> Self {
        let some = |part: &Tally| part.found() + part.truth() > 0;
        let counted = parts.iter().copied().filter(some);
        self.number("f1", sum(parts).f1())
            .with("f1_95", Cell::Interval(interval(counted, seed, Tally::f1)))
    }

    /// The adjusted Rand index, with its interval.
    pub(super) fn rand_index(self, parts: &[RandTally], seed: u64) -> Self {
        let mut all = RandTally::default();
        parts.iter().for_each(|&part| all += part);
        let found = interval(parts.iter().copied(), seed, RandTally::adjusted);
        self.number("ari", all.adjusted())
            .with("ari_95", Cell::Interval(found))
    }
}

pub(super) fn sum(parts: &[Tally]) -> Tally {
    let mut all = Tally::default();
    parts.iter().for_each(|&part| all += part);
    all
}

/// What a picture shows.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// The S-curves, predicted and measured.
    pub curves: Vec<MeasuredCurve>,
    /// Recall and precision, in order.
    pub precision_recall: Vec<PlotPoint>,
    /// What the points of it are.
    pub precision_recall_of: &'static str,
    /// Pairs whose score is in each tenth; those below the threshold are not known.
    pub histogram: [u64; 10],
    /// The least score that was looked for.
    pub threshold: f64,
}

/// A point of a precision-recall curve.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotPoint {
    /// To the right.
    pub recall: f64,
    /// Upwards.
    pub precision: f64,
    /// What stands beside it; may be empty.
    pub name: String,
}

/// What share of the pairs bands find, by score.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredCurve {
    /// The bands, whose chance is predicted.
    pub bands: Bands,
    /// Mean score of some pairs, the share of them that was found, and how many they are.
    pub measured: Vec<(f64, f64, u64)>,
}
