//! What is found out of one setting: figures with names, in order. And what a picture shows of all.

use super::searched::Pass;
use crate::eval::{Confidence, Interval, RandTally, Tally, confidence};
use crate::sketch::Bands;

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
    /// The range that chance leaves to the number before it.
    Interval(Interval),
    /// The confidence interval of the number before it.
    Confidence(Option<Confidence>),
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
    pub(super) fn figures(self, pass: &Pass, seed: u64) -> Self {
        self.precision(pass, seed).recall(pass, seed).f1(pass, seed)
    }

    pub(super) fn precision(self, pass: &Pass, seed: u64) -> Self {
        let found = pass.tallies.iter().filter(|part| part.found() > 0);
        let within = confidence(found.copied(), seed, Tally::precision, Tally::found);
        self.number("precision", sum(&pass.tallies).precision())
            .with("precision_95", Cell::Confidence(within))
    }

    pub(super) fn recall(self, pass: &Pass, seed: u64) -> Self {
        let truth = pass.recalled.iter().filter(|part| part.truth() > 0);
        let within = confidence(truth.copied(), seed, Tally::recall, Tally::truth);
        self.number("recall", sum(&pass.recalled).recall())
            .with("recall_95", Cell::Confidence(within))
    }

    pub(super) fn f1(self, pass: &Pass, seed: u64) -> Self {
        let counted = pass.tallies.iter().filter(|part| part.found_and_true() > 0);
        let within = confidence(counted.copied(), seed, Tally::f1, Tally::found_and_true);
        self.number("f1", sum(&pass.tallies).f1())
            .with("f1_95", Cell::Confidence(within))
    }

    /// The adjusted Rand index, with its interval.
    pub(super) fn rand_index(self, parts: &[RandTally], seed: u64) -> Self {
        let mut all = RandTally::default();
        parts.iter().for_each(|&part| all += part);
        let parts = parts.iter().copied();
        let within = confidence(parts, seed, RandTally::adjusted, RandTally::pairs);
        self.number("ari", all.adjusted())
            .with("ari_95", Cell::Confidence(within))
    }

    /// The least effective number of clusters behind an interval that may be too narrow.
    pub(super) fn uneven_clusters(&self) -> Option<f64> {
        let uneven = self.cells.iter().filter_map(|(_, cell)| match cell {
            Cell::Confidence(Some(within)) if within.is_uneven => Some(within.clusters),
            _ => None,
        });
        uneven.min_by(f64::total_cmp)
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
