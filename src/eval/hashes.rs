//! `--sweep hashes`: Broder's score by more and fewer positions.

use rayon::prelude::*;

use super::Each;
use super::row::{Plot, PlotPoint, Row, sum};
use super::searched::{Searched, plotted};
use crate::collection::{Collection, Group, Groups};
use crate::error::Error;
use crate::eval::predicted_deviation;
use crate::observer::Quiet;
use crate::score::shared_at_least;
use crate::search::{GroupSignatures, search_positions};
use crate::sets::{ListPlaces, ShingleLists};
use crate::sketch::{SketchSettings, Value, sketcher};

/// The signatures of groups, made from their shingles.
pub(super) struct GroupSketches {
    positions: usize,
    values: Vec<Value>,
    /// Those that are not empty.
    pub(super) groups: Vec<u32>,
}

impl GroupSketches {
    pub(super) fn new(
        lists: &ShingleLists,
        groups: &Groups,
        sizes: &[u32],
        settings: &SketchSettings,
    ) -> Result<Self, Error> {
        const GROUPS_AT_ONCE: usize = 256;
        let positions = settings.positions();
        let places = ListPlaces::new(lists)?;
        let mut values = vec![0; groups.len() * positions];
        let result = values
            .par_chunks_mut(positions * GROUPS_AT_ONCE)
            .enumerate()
            .map(|(chunk, values)| {
                let mut sketcher = sketcher(settings);
                let (mut shingles, mut signature) = (Vec::new(), Vec::with_capacity(positions));
                for (index, values) in values.chunks_mut(positions).enumerate() {
                    let group = Group((chunk * GROUPS_AT_ONCE + index) as u32);
                    places.shingles(groups.first(group), &mut shingles)?;
                    if !shingles.is_empty() {
                        signature.clear();
                        sketcher.sketch(&shingles, &mut signature);
                        values.copy_from_slice(&signature);
                    }
                }
                Ok(())
            })
            .collect::<Result<(), Error>>();
        result?;
        let is_full = |group: &u32| sizes[*group as usize] > 0;
        Ok(Self {
            positions,
            values,
            groups: (0..groups.len() as u32).filter(is_full).collect(),
        })
    }
}

impl GroupSignatures for GroupSketches {
    fn positions(&self) -> usize {
        self.positions
    }

    fn of(&self, group: u32) -> &[Value] {
        let start = group as usize * self.positions;
        &self.values[start..start + self.positions]
    }
}

pub(super) fn run(
    collection: &Collection,
    searched: &Searched<'_>,
    all: &[usize],
    sketch: &SketchSettings,
    each: Each<'_>,
) -> Result<Plot, Error> {
    let (curve, _) = searched.best()?;
    let mut plot = Plot {
        histogram: searched.histogram()?,
        threshold: collection.settings().threshold.as_f64(),
        precision_recall: plotted(&curve),
        precision_recall_of: "thresholds",
        ..Plot::default()
    };
    let seed = match *sketch {
        SketchSettings::Fast { seed, .. } => seed,
        SketchSettings::Technosphere => 0,
    };
    let groups = &searched.prepared.groups;
    let sizes = &searched.prepared.sizes;
    let mut points = Vec::new();
    for &hashes in all {
        let settings = SketchSettings::Fast { hashes, seed };
        let sketches = GroupSketches::new(searched.lists(), groups, sizes, &settings)?;
        let (links, stats) =
            search_positions(collection, groups, &sketches, &sketches.groups, &Quiet)?;
        let parts = searched.parts(&[&searched.links, &links])?;
        let mut pass = searched.pass(&parts, &searched.links, |one, two, _| {
            Ok((links.contains(one, two, &mut Vec::new())?, 1.0))
        })?;
        searched.take_others(&parts, &mut pass, &links)?;
        let errors = errors(searched, &sketches)?;
        let row = Row::default()
            .count("hashes", hashes as u64)
            .count("pairs", pass.found)
            .count("candidates", stats.candidates)
            .figures(&pass, searched.seed)
            .number("mean_error", errors.mean)
            .number("largest_error", errors.largest)
            .number("deviation", errors.deviation)
            .number("predicted_deviation", errors.predicted);
        let keepers = searched.stars(&links, |_, _, shared| {
            Some(crate::score::Score::new(shared, hashes as u32))
        })?;
        let row = searched.rand_index(row, &keepers);
        let tally = sum(&pass.tallies);
        points.push(PlotPoint {
            recall: tally.recall(),
            precision: tally.precision(),
            name: format!("k {hashes}"),
        });
        if each(&row).is_break() {
            break;
        }
    }
    if plot.precision_recall.is_empty() {
        plot.precision_recall = points;
        plot.precision_recall_of = "numbers of positions";
    }
    Ok(plot)
}

/// How far estimates are off, over all pairs of documents at the threshold that are not the same.
#[derive(Default)]
struct Errors {
    mean: f64,
    largest: f64,
    deviation: f64,
    predicted: f64,
}

fn errors(searched: &Searched<'_>, sketches: &GroupSketches) -> Result<Errors, Error> {
    let mut errors = Errors::default();
    let mut all = 0.0;
    let mut buffer = Vec::new();
    for one in searched.groups() {
        for &(to, shared) in searched.links.of(one, &mut buffer)? {
            if to < one.0 {
                continue;
            }
            let pairs = searched.judge.pairs(one, Group(to)) as f64;
            let score = searched.score(one, Group(to), shared).as_f64();
            let agreeing = shared_at_least(sketches.of(one.0), sketches.of(to), 0).unwrap_or(0);
            let error = f64::from(agreeing) / sketches.positions as f64 - score;
            all += pairs;
            errors.mean += error.abs() * pairs;
            errors.largest = errors.largest.max(error.abs());
            errors.deviation += error * error * pairs;
            errors.predicted += predicted_deviation(score, sketches.positions).powi(2) * pairs;
        }
    }
    if all > 0.0 {
        errors.mean /= all;
        errors.deviation = (errors.deviation / all).sqrt();
        errors.predicted = (errors.predicted / all).sqrt();
    }
    Ok(errors)
}
