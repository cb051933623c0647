//! `--sweep threshold`: what would go at each threshold, from one search at the lowest.

use super::Each;
use super::row::{Plot, Row};
use super::searched::{Searched, plotted, with_best};
use crate::collection::{Collection, Group};
use crate::error::Error;
use crate::score::Threshold;

/// Thresholds are these hundredths, as far as they are not below the lowest.
const STEP_HUNDREDTHS: u32 = 5;

pub(super) fn run(
    collection: &Collection,
    searched: &Searched<'_>,
    each: Each<'_>,
) -> Result<Plot, Error> {
    let lowest = collection.settings().threshold;
    let (curve, best) = searched.best()?;
    let plot = Plot {
        histogram: searched.histogram()?,
        threshold: lowest.as_f64(),
        precision_recall: plotted(&curve),
        precision_recall_of: "thresholds",
        ..Plot::default()
    };
    for threshold in thresholds(lowest) {
        let is_found = |one: Group, two: Group, shared: u32| {
            threshold.admits(searched.score(one, two, shared))
        };
        // What is connected below this threshold is no cluster here.
        let parts = searched.parts_of(&[&searched.links], &is_found)?;
        let pass = searched.pass(&parts, &searched.links, |one, two, shared| {
            Ok((is_found(one, two, shared), 1.0))
        })?;
        let keepers = searched.stars(&searched.links, |one, two, shared| {
            Some(searched.score(one, two, shared)).filter(|&score| threshold.admits(score))
        })?;
        let mut sizes = vec![0_u64; keepers.len()];
        keepers
            .iter()
            .for_each(|&keeper| sizes[keeper as usize] += 1);
        let clusters = sizes.iter().filter(|&&size| size > 1);
        let kept = sizes.iter().filter(|&&size| size > 0).count();
        let row = Row::default()
            .number("threshold", threshold.as_f64())
            .count("pairs", pass.found)
            .count("clusters", clusters.count() as u64)
            .count("removed", (keepers.len() - kept) as u64)
            .count("largest_cluster", sizes.iter().copied().max().unwrap_or(0));
        let row = match searched.has_truth() {
            true => {
                let row = row.figures(&pass, searched.seed);
                with_best(searched.rand_index(row, &keepers), searched, best.as_ref())
            }
            false => row,
        };
        if each(&row).is_break() {
            break;
        }
    }
    Ok(plot)
}

/// The lowest, and all hundredths that are multiples of the step above it.
fn thresholds(lowest: Threshold) -> Vec<Threshold> {
    let hundredths = (1..=100 / STEP_HUNDREDTHS).map(|step| step * STEP_HUNDREDTHS);
    let above = hundredths
        .map(|hundredths| format!("{}.{:02}", hundredths / 100, hundredths % 100))
        .filter_map(|text| text.parse().ok())
        .filter(|threshold: &Threshold| threshold.as_f64() > lowest.as_f64());
    std::iter::once(lowest).chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_go_up_in_steps() {
        let from = |text: &str| -> Vec<String> {
            let all = thresholds(text.parse().unwrap());
            all.iter().map(ToString::to_string).collect()
        };
        assert_eq!(from("0.82"), ["0.82", "0.85", "0.9", "0.95", "1.0"]);
        assert_eq!(from("1"), ["1.0"]);
        assert_eq!(from("0.3").len(), 15);
    }
}
