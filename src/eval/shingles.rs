//! `--sweep shingles`: other shingles. They are made from the text, which is read again for each:
//! to keep all texts, or all kinds of shingles at once, would take many times the memory.

use super::judge::Known;
use super::row::{Plot, Row};
use super::searched::{Searched, plotted, with_best};
use super::{Each, Evaluated, read};
use crate::error::Error;
use crate::observer::{Observer, Phase};
use crate::read::{Input, for_two_readings};
use crate::run::Inputs;
use crate::run::twice::bytes_of_each;
use crate::settings::{Finding, Settings};
use crate::shingle::{Case, Names, ShingleSettings, Stopwords, Tokens, Windows};

/// What comes from pipes is kept: in memory up to this part of it, then in temporary files. While
/// it is read, it is kept for the next time besides.
const SPOOL_SHARE: u64 = 8 * 2;

pub(super) fn run(
    inputs: Inputs,
    settings: &Settings,
    known: &Known,
    seed: u64,
    observer: &dyn Observer,
    each: Each<'_>,
) -> Result<Evaluated, Error> {
    let mut evaluated = Evaluated::default();
    let memory = settings.memory();
    let all = inputs.documents.iter().chain(&inputs.templates);
    let bytes = bytes_of_each(all, &memory, SPOOL_SHARE);
    let twice = |inputs: Vec<Input>| -> (Vec<Input>, Vec<Input>) {
        let again = inputs.into_iter();
        again
            .map(|input| for_two_readings(input, bytes, &memory.temp_dir))
            .unzip()
    };
    let mut next = inputs;
    let all = kinds(&settings.shingle);
    let last = all.len() - 1;
    for (number, (kind, size, shingle)) in all.into_iter().enumerate() {
        let (documents, documents_again) = twice(std::mem::take(&mut next.documents));
        let (templates, templates_again) = twice(std::mem::take(&mut next.templates));
        let inputs = Inputs {
            documents,
            templates,
            ..Inputs::default()
        };
        next = Inputs {
            documents: documents_again,
            templates: templates_again,
            ..Inputs::default()
        };
        let settings = &Settings {
            shingle,
            measure: settings.measure.exact(),
            finding: Finding::default(),
            ..settings.clone()
        };
        let has_field = matches!(known, Known::Clusters);
        // What is wrong with the input was told when it was read for the first time.
        let quiet = &crate::observer::Quiet;
        let told: &dyn Observer = if number == 0 { observer } else { quiet };
        let (collection, mut stats) = read(inputs, settings, has_field, told)?;
        observer.phase(Phase::Comparing);
        let truth = known.of(&collection, &mut stats, told)?;
        let searched = Searched::new(&collection, truth, seed)?;
        let parts = searched.parts(&[&searched.links])?;
        let pass = searched.pass(&parts, &searched.links, |_, _, _| Ok((true, 1.0)))?;
        let mut row = Row::default()
            .text("shingle", kind)
            .count("size", size as u64)
            .count("pairs", pass.found);
        let (curve, best) = searched.best()?;
        if searched.has_truth() {
            row = row.figures(&pass, seed);
            let keepers = searched.stars(&searched.links, |one, two, shared| {
                Some(searched.score(one, two, shared))
            })?;
            row = with_best(searched.rand_index(row, &keepers), &searched, best.as_ref());
        }
        if number == 0 {
            evaluated.stats = stats;
        }
        if number == 0 || settings.shingle == ShingleSettings::default() {
            evaluated.plot = Plot {
                histogram: searched.histogram()?,
                threshold: settings.threshold.as_f64(),
                precision_recall: plotted(&curve),
                precision_recall_of: "thresholds",
                ..Plot::default()
            };
        }
        if each(&row).is_break() || number == last {
            break;
        }
    }
    Ok(evaluated)
}

/// The kinds of shingles and their sizes, otherwise as in the settings.
fn kinds(given: &ShingleSettings) -> Vec<(&'static str, usize, ShingleSettings)> {
    let (stopwords, case, step, wrap) = match given {
        ShingleSettings::Tokens {
            tokens,
            case,
            windows,
        } => {
            let stopwords = match tokens {
                Tokens::Words { stopwords } => stopwords.clone(),
                _ => Stopwords::default(),
            };
            (stopwords, *case, windows.step, windows.wrap)
        }
        _ => (Stopwords::default(), Case::Fold, 1, false),
    };
    let of = |tokens: Tokens, size: usize| ShingleSettings::Tokens {
        tokens,
        case,
        windows: Windows {
            step,
            wrap,
            ..Windows::of(size)
        },
    };
    let words = (1..=8).map(|size| {
        let stopwords = stopwords.clone();
        ("words", size, of(Tokens::Words { stopwords }, size))
    });
    let chars = (3..=12).map(|size| ("chars", size, of(Tokens::Chars, size)));
    let code = (4..=16).map(|size| {
        let tokens = Tokens::Code { names: Names::Fold };
        ("code", size, of(tokens, size))
    });
    words.chain(chars).chain(code).collect()
}
