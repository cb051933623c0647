//! The settings as they are: what they find, held against what is true.

use super::Each;
use super::hashes::GroupSketches;
use super::row::{Cell, Plot, Row};
use super::searched::{Scoring, Searched, plotted, with_best};
use crate::collection::{Collection, Features};
use crate::error::{Error, ErrorKind};
use crate::observer::Quiet;
use crate::score::{Measure, Score};
use crate::search::{
    Links, PreparedSets, Way, positions_needed, search_positions, search_sets, way,
};
use crate::settings::Settings;

/// What the settings find.
pub(super) struct Given {
    links: Links,
    candidates: u64,
}

/// Searches as the settings say.
pub(super) fn search(collection: &mut Collection, settings: &Settings) -> Result<Given, Error> {
    collection.ask(
        settings.measure.exact(),
        settings.finding,
        settings.threshold,
    );
    let Features::Shingles { lists, .. } = collection.features() else {
        let what = "an evaluation needs all shingles";
        return Err(Error::in_file("settings", ErrorKind::Settings(what)));
    };
    let (links, stats) = match settings.measure {
        Measure::MinHash => {
            let PreparedSets { groups, sizes, .. } = &PreparedSets::new(collection, lists, &Quiet)?;
            let sketches = GroupSketches::new(lists, groups, sizes, &settings.sketch)?;
            search_positions(collection, groups, &sketches, &sketches.groups, &Quiet)?
        }
        Measure::Jaccard | Measure::Containment => {
            let prepared = PreparedSets::new(collection, lists, &Quiet)?;
            search_sets(collection, &prepared, &Quiet)?
        }
    };
    Ok(Given {
        links,
        candidates: stats.candidates,
    })
}

pub(super) fn run(
    searched: &Searched<'_>,
    given: Option<&Given>,
    settings: &Settings,
    each: Each<'_>,
) -> Result<Plot, Error> {
    let scoring = match (settings.measure, given) {
        (Measure::MinHash, Some(given)) => Scoring::Estimate {
            links: &given.links,
            sketch: &settings.sketch,
        },
        _ => Scoring::Exact,
    };
    let (curve, best) = searched.best_by(scoring)?;
    let plot = Plot {
        histogram: searched.histogram()?,
        threshold: settings.threshold.as_f64(),
        precision_recall: plotted(&curve),
        precision_recall_of: "thresholds",
        ..Plot::default()
    };
    let Some(given) = given else {
        return Ok(plot);
    };
    let parts = searched.parts(&[&searched.links, &given.links])?;
    let threshold = settings.threshold.as_f64();
    let chance = match way(settings) {
        Way::Bands(bands) => {
            let (_, lost) = positions_needed(settings.sketch.positions(), threshold, bands);
            Some((bands, lost))
        }
        Way::Complete => None,
    };
    let mut pass = searched.pass(&parts, &searched.links, |one, two, shared| {
        let score = searched.score(one, two, shared).as_f64();
        let chance = chance.map_or(1.0, |(bands, lost)| bands.chance(score) * (1.0 - lost));
        let is_found = given.links.contains(one, two, &mut Vec::new())?;
        Ok((is_found, chance))
    })?;
    searched.take_others(&parts, &mut pass, &given.links)?;
    let pairs = pass.found;
    let row = Row::default()
        .text("score", name(settings.measure))
        .number("threshold", threshold)
        .count("pairs", pairs)
        .count("candidates", given.candidates)
        .figures(&pass, searched.seed);
    let row = match chance {
        Some((bands, _)) => {
            let (predicted, interval) = pass.predicted();
            row.count("bands", bands.bands as u64)
                .count("rows", bands.rows as u64)
                .number("predicted", predicted)
                .with("predicted_95", Cell::Interval(interval))
        }
        None => row,
    };
    let keepers = searched.stars(&given.links, |one, two, shared| {
        let sizes = [one, two].map(|group| searched.prepared.sizes[group.index()]);
        Some(match settings.measure {
            Measure::MinHash => Score::new(shared, settings.sketch.positions() as u32),
            measure => measure.score(shared, sizes),
        })
    })?;
    let row = searched.rand_index(row, &keepers);
    let _ = each(&with_best(row, searched, best.as_ref()));
    Ok(plot)
}

fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::MinHash => "minhash",
        Measure::Jaccard => "jaccard",
        Measure::Containment => "containment",
    }
}
