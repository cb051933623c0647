//! `--sweep bands`: what each way of cutting signatures into bands finds, and what it looks at.

use super::Each;
use super::candidates::{CandidateCount, count, first_band};
use super::row::{Cell, MeasuredCurve, Plot, PlotPoint, Row, sum};
use super::searched::{Searched, plotted};
use crate::collection::{Collection, Features};
use crate::error::Error;
use crate::score::shared_at_least;
use crate::search::{GroupSignatures, OfGroups, positions_needed};
use crate::sketch::Bands;

pub(super) fn run(
    collection: &Collection,
    searched: &Searched<'_>,
    all: &[Bands],
    each: Each<'_>,
) -> Result<Plot, Error> {
    let threshold = collection.settings().threshold.as_f64();
    let (curve, _) = searched.best()?;
    let mut plot = Plot {
        histogram: searched.histogram()?,
        threshold,
        precision_recall: plotted(&curve),
        precision_recall_of: "thresholds",
        ..Plot::default()
    };
    let Features::Shingles {
        signatures: Some(signatures),
        ..
    } = collection.features()
    else {
        return Ok(plot);
    };
    let of_groups = OfGroups {
        signatures,
        groups: &searched.prepared.groups,
    };
    let parts = searched.parts(&[&searched.links])?;
    let mut points = Vec::new();
    for &bands in all {
        let (needed, lost) = positions_needed(signatures.positions(), threshold, bands);
        let finds = |one: u32, two: u32| {
            let (one, two) = (of_groups.of(one), of_groups.of(two));
            first_band(one, two, bands).is_some() && shared_at_least(one, two, needed).is_some()
        };
        let pass = searched.pass(&parts, &searched.links, |one, two, shared| {
            let score = searched.score(one, two, shared).as_f64();
            let chance = bands.chance(score) * (1.0 - lost);
            Ok((finds(one.0, two.0), chance))
        })?;
        let candidates = count(searched, &of_groups, bands);
        let tally = sum(&pass.tallies);
        let precision_before = precision_before(searched, &candidates, tally.hits);
        let (predicted, predicted_95) = pass.predicted();
        let documents = searched.documents as f64;
        let pairs = (documents * (documents - 1.0) / 2.0).max(1.0);
        let looked_at = candidates.pairs.round() as u64;
        let row = Row::default()
            .count("bands", bands.bands as u64)
            .count("rows", bands.rows as u64)
            .number("band_threshold", bands.threshold())
            .with(
                "candidates",
                Cell::Estimate {
                    count: looked_at,
                    is_estimated: candidates.is_estimated,
                },
            )
            .number("spared", (1.0 - candidates.pairs / pairs).max(0.0))
            .number("precision_before", precision_before)
            .precision(&pass, searched.seed)
            .recall(&pass, searched.seed)
            .number("predicted", predicted)
            .with("predicted_95", Cell::Interval(predicted_95))
            .f1(&pass, searched.seed);
        let row = match searched.truth {
            super::judge::Truth::Classes(_) => {
                let keepers = searched.stars(&searched.links, |one, two, shared| {
                    finds(one.0, two.0).then(|| searched.score(one, two, shared))
                })?;
                searched.rand_index(row, &keepers)
            }
            _ => row,
        };
        let measured = pass.classes.iter().filter(|class| class.0 > 0);
        plot.curves.push(MeasuredCurve {
            bands,
            measured: measured
                .map(|&(pairs, found, scores)| {
                    (scores / pairs as f64, found as f64 / pairs as f64, pairs)
                })
                .collect(),
        });
        points.push(PlotPoint {
            recall: tally.recall(),
            precision: precision_before,
            name: format!("{}×{}", bands.bands, bands.rows),
        });
        if each(&row).is_break() {
            break;
        }
    }
    if plot.precision_recall.is_empty() {
        plot.precision_recall = points;
        plot.precision_recall_of = "bands×rows, before verification";
    }
    Ok(plot)
}

/// The share of candidates that are true. Where the join is the truth, a candidate is true if the
/// join has it, and `hits` has counted these.
fn precision_before(searched: &Searched<'_>, candidates: &CandidateCount, hits: u64) -> f64 {
    let (yes, all) = match searched.has_truth() {
        true => (candidates.yes, candidates.yes + candidates.no),
        false => (hits as f64, candidates.pairs),
    };
    if all > 0.0 { (yes / all).min(1.0) } else { 0.0 }
}
