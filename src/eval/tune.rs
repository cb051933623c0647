//! Settings for a user's documents, from a sample of them: where a threshold separates, which bands
//! reach a recall, and what a full run costs.

use std::time::{Duration, Instant};

use super::candidates::count;
use super::hashes::GroupSketches;
use super::judge::Truth;
use super::read_without;
use super::searched::Searched;
use crate::collection::Group;
use crate::document::Document;
use crate::error::Error;
use crate::eval::valley;
use crate::observer::{Observer, Phase, Quiet};
use crate::read::{InputFormat, ReadSettings};
use crate::run::floor::Purpose;
use crate::run::reading::{Digest, Reading, Wants};
use crate::run::sample::{Sample, SampleSettings, Sampled, input_of};
use crate::run::{Inputs, in_pool};
use crate::score::{Measure, Threshold};
use crate::settings::{Finding, Settings};
use crate::shingle::Shingle;
use crate::shingle::Template;
use crate::sketch::Bands;
use crate::sketch::SketchSettings;
use crate::stats::Stats;

/// The least score that is looked for.
const LOWEST: &str = "0.3";
/// Classes of the histogram that a threshold is looked for in, from the lowest on.
const CLASSES: usize = 14;
const CLASS_HUNDREDTHS: u32 = 5;
const LOWEST_HUNDREDTHS: u32 = 30;
/// Bytes of a shingle in memory, with what is known of its place; in a temporary file at the most;
/// and bytes of a document besides.
const SHINGLE_BYTES: u64 = 10;
const SPILLED_SHINGLE_BYTES: u64 = 20;
const DOCUMENT_BYTES: u64 = 150;

/// What is advised, and what it follows from.
#[derive(Clone, Debug, Default)]
pub struct Advice {
    /// Documents that have a shingle to compare.
    pub documents: u64,
    /// Documents in the sample.
    pub sampled: u64,
    /// Pairs in the sample from the lowest score on, and how many of each class of scores.
    pub pairs: u64,
    /// The classes: from which score, how many pairs.
    pub histogram: Vec<(f64, u64)>,
    /// The threshold that separates, if the user named none.
    pub threshold: Option<f64>,
    /// From and to where it is emptiest, and whether it is fuller above.
    pub valley: Option<(f64, f64, bool)>,
    /// The threshold that bands are for.
    pub used_threshold: f64,
    /// The chance that was asked for.
    pub recall: f64,
    /// The bands, if any reach it.
    pub bands: Option<Bands>,
    /// Candidates of the sample, and of all documents if those grow with the square.
    pub candidates: f64,
    /// Candidates of all documents.
    pub all_candidates: f64,
    /// Positions of a signature.
    pub hashes: usize,
    /// What reading took, which was all of it.
    pub reading: Duration,
    /// What comparing the sample completely took, at the threshold.
    pub comparing: Duration,
    /// What comparing all would take, if it grows with the documents, and with their square.
    pub all_comparing: [Duration; 2],
    /// What a complete run takes in memory.
    pub memory_bytes: u64,
    /// And on disk, with the memory of the settings.
    pub disk_bytes: u64,
    /// What the run did.
    pub stats: Stats,
}

/// Counts shingles.
#[derive(Default)]
struct Counting(u64);

impl Digest for Counting {
    type Output = u64;

    fn document(&mut self, _: &Document<'_>, shingles: &[Shingle]) {
        self.0 += shingles.len() as u64;
    }

    fn take(&mut self) -> u64 {
        std::mem::take(&mut self.0)
    }

    fn bytes(_: &u64) -> usize {
        0
    }
}

/// Advises settings for the exact score that they name. Without a threshold, one is looked for, and
/// that of the settings holds if there is none; `recall` is what bands are to reach.
///
/// # Errors
/// As for [`find_pairs`](crate::find_pairs).
///
/// # Performance
/// All documents are read once. Of the sample the texts are kept, and all its pairs are compared.
pub fn tune_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    threshold: Option<Threshold>,
    recall: f64,
    sample: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Advice, Error> {
    let inputs = inputs.into();
    in_pool(settings, || {
        let wants = Wants {
            sample: Some(SampleSettings::new(sample, seed, settings)),
            ..Wants::default()
        };
        let started = Instant::now();
        let mut reading = Reading::new(settings, observer, wants, Purpose::Sketches);
        reading.take_out(inputs.templates)?;
        let mut shingles = 0;
        reading.read(inputs.documents, Counting::default, |_, counted| {
            shingles += counted;
            std::ops::ControlFlow::Continue(())
        })?;
        reading.tell();
        let drawn = reading.sample.as_mut().map(Sample::take);
        let template = std::mem::take(&mut reading.template);
        let counts = reading.stats.counts;
        let mut advice = Advice {
            documents: counts.documents - counts.empty - counts.left_out - counts.template_only,
            recall,
            hashes: settings.sketch.positions(),
            reading: started.elapsed(),
            stats: std::mem::take(&mut reading.stats),
            ..Advice::default()
        };
        observer.phase(Phase::Comparing);
        advise(
            &mut advice,
            settings,
            threshold,
            drawn.unwrap_or_default(),
            template,
            seed,
        )?;
        let memory = settings.memory().bytes;
        advice.memory_bytes = shingles * SHINGLE_BYTES + advice.documents * DOCUMENT_BYTES;
        if shingles * 8 > memory / 4 {
            advice.memory_bytes = advice.memory_bytes.min(memory);
            advice.disk_bytes = shingles * SPILLED_SHINGLE_BYTES;
        }
        Ok(advice)
    })
}

fn advise(
    advice: &mut Advice,
    settings: &Settings,
    threshold: Option<Threshold>,
    sample: Vec<Sampled>,
    template: Template,
    seed: u64,
) -> Result<(), Error> {
    let lowest: Threshold = LOWEST.parse().unwrap_or_default();
    let fallback = settings.threshold;
    let settings = &Settings {
        read: ReadSettings {
            format: Some(InputFormat::Jsonl),
            items: settings.read.items,
            ..ReadSettings::default()
        },
        measure: settings.measure.exact(),
        finding: Finding::default(),
        threshold: lowest,
        party_by: None,
        ..settings.clone()
    };
    advice.sampled = sample.len() as u64;
    let lines = sample.into_iter().map(|sampled| sampled.json());
    let inputs = Inputs::from(vec![input_of("sample", lines)]);
    let (mut collection, _) = read_without(template, inputs, settings, false, &Quiet)?;
    let searched = Searched::new(&collection, Truth::Join, seed)?;
    let histogram = histogram(&searched)?;
    advice.pairs = histogram.iter().sum();
    let score_at =
        |class: usize| f64::from(LOWEST_HUNDREDTHS + class as u32 * CLASS_HUNDREDTHS) / 100.0;
    advice.histogram = (0..CLASSES)
        .map(|class| (score_at(class), histogram[class]))
        .collect();
    let found = valley(&histogram);
    advice.valley = found.map(|valley| {
        (
            score_at(valley.first),
            score_at(valley.last + 1),
            valley.is_valley,
        )
    });
    let separating = found.filter(|valley| valley.is_valley);
    advice.threshold = separating.map(|valley| score_at(valley.middle()));
    let used = match threshold {
        Some(threshold) => threshold,
        None => {
            let text = advice.threshold.map(|threshold| format!("{threshold:.2}"));
            text.and_then(|text| text.parse().ok()).unwrap_or(fallback)
        }
    };
    advice.used_threshold = used.as_f64();
    let scale = advice.documents as f64 / (advice.sampled as f64).max(1.0);
    if settings.measure == Measure::Jaccard
        && let Some((bands, pairs)) = fewest_candidates(advice, &searched, used)?
    {
        advice.bands = Some(bands);
        advice.candidates = pairs;
        advice.all_candidates = pairs * scale * scale;
    }
    drop(searched);
    let started = Instant::now();
    collection.ask(settings.measure, Finding::default(), used);
    Searched::new(&collection, Truth::Join, seed)?;
    advice.comparing = started.elapsed();
    advice.all_comparing = [scale, scale * scale].map(|scale| advice.comparing.mul_f64(scale));
    Ok(())
}

/// The bands that reach the recall at the threshold with the fewest candidates, and how many they
/// have in the sample.
fn fewest_candidates(
    advice: &Advice,
    searched: &Searched<'_>,
    threshold: Threshold,
) -> Result<Option<(Bands, f64)>, Error> {
    let sketches = GroupSketches::new(
        searched.lists(),
        &searched.prepared.groups,
        &searched.prepared.sizes,
        &SketchSettings::Fast {
            hashes: advice.hashes,
            seed: searched.seed,
        },
    )?;
    let mut best: Option<(Bands, f64)> = None;
    for bands in bands_for(advice.hashes, threshold.as_f64(), advice.recall) {
        let pairs = count(searched, &sketches, bands).pairs;
        if best.is_none_or(|(_, fewest)| pairs < fewest) {
            best = Some((bands, pairs));
        }
    }
    Ok(best)
}

/// Bands that reach the recall at the threshold: of each length the fewest.
fn bands_for(positions: usize, threshold: f64, recall: f64) -> Vec<Bands> {
    let fewest = |rows: usize| {
        let bands = (1..=positions / rows).map(|bands| Bands { bands, rows });
        bands
            .into_iter()
            .find(|bands| bands.chance(threshold) >= recall)
    };
    (1..=positions).filter_map(fewest).collect()
}

fn histogram(searched: &Searched<'_>) -> Result<[u64; CLASSES], Error> {
    let mut histogram = [0; CLASSES];
    let mut buffer = Vec::new();
    for one in searched.groups() {
        let mut take = |score: f64, pairs: u64| {
            let class =
                (score * 100.0 + 1e-9 - f64::from(LOWEST_HUNDREDTHS)) / f64::from(CLASS_HUNDREDTHS);
            histogram[(class.max(0.0) as usize).min(CLASSES - 1)] += pairs;
        };
        take(1.0, searched.judge.pairs(one, one));
        for &(to, shared) in searched.links.of(one, &mut buffer)? {
            if to > one.0 {
                let score = searched.score(one, Group(to), shared).as_f64();
                take(score, searched.judge.pairs(one, Group(to)));
            }
        }
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_reach_the_recall_and_no_fewer_do() {
        let all = bands_for(128, 0.75, 0.99);
        assert!(!all.is_empty());
        for bands in all {
            assert!(bands.chance(0.75) >= 0.99 && bands.bands * bands.rows <= 128);
            let fewer = Bands {
                bands: bands.bands - 1,
                ..bands
            };
            assert!(fewer.bands == 0 || fewer.chance(0.75) < 0.99);
        }
        assert!(bands_for(4, 0.3, 0.999).is_empty());
        // At 1 a single band of all positions is enough.
        assert!(bands_for(16, 1.0, 0.9).contains(&Bands { bands: 1, rows: 16 }));
    }
}
