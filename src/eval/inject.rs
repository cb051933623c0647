//! Edited copies of the documents themselves: how many of them would be found, by kind and rate of
//! edit. They are compared with all documents, and found if the one that they are made of is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::row::{Cell, Row};
use super::{Each, Evaluated};
use crate::document::DocumentId;
use crate::error::Error;
use crate::eval::{EditKind, RATES_PERCENT, Tally, confidence, edited};
use crate::observer::{Observer, Phase};
use crate::pairs::Partners;
use crate::pairs::pairs_of;
use crate::random::mixed;
use crate::read::{InputFormat, ReadSettings};
use crate::run::Inputs;
use crate::run::floor::Purpose;
use crate::run::reading::{Planting, Reading, Wants};
use crate::run::sample::{SampleSettings, Sampled, input_of};
use crate::search::search;
use crate::settings::Settings;

/// A copy: what it was made of, and how.
#[derive(Clone, Copy)]
struct Planted {
    document: DocumentId,
    kind: EditKind,
    rate_percent: u32,
}

pub(super) fn run(
    inputs: Inputs,
    settings: &Settings,
    copies: usize,
    seed: u64,
    observer: &dyn Observer,
    each: Each<'_>,
) -> Result<Evaluated, Error> {
    let planted_settings = &Settings {
        read: ReadSettings {
            format: Some(InputFormat::Jsonl),
            ..ReadSettings::default()
        },
        ..settings.clone()
    };
    let wants = Wants {
        sample: Some(SampleSettings::new(copies, seed, settings)),
        ..Wants::default()
    };
    let planted = Arc::new(Mutex::new(Vec::new()));
    let mut reading = Reading::new(settings, observer, wants, Purpose::Pairs);
    let list = Arc::clone(&planted);
    reading.planting = Some(Planting {
        settings: planted_settings,
        make: Box::new(move |sample| {
            let planted = plan(&sample, copies);
            *list.lock().unwrap_or_else(PoisonError::into_inner) = planted.clone();
            let lines = planted.into_iter().enumerate().map(move |(number, copy)| {
                let own_seed = mixed(seed ^ mixed(number as u64));
                let text = sample[number % sample.len()].text();
                let text = edited(&text, copy.kind, copy.rate_percent, own_seed);
                let line = serde_json::json!({"url": number.to_string(), "text": text});
                format!("{line}\n")
            });
            input_of("copies", lines)
        }),
    });
    let collection = reading.collection(inputs)?;
    observer.phase(Phase::Comparing);
    let first = collection.own();
    let found = search(&collection, observer)?;
    let mut stats = std::mem::take(&mut reading.stats);
    let (_, pairs) = pairs_of(collection, found, &mut stats);
    let planted = planted.lock().unwrap_or_else(PoisonError::into_inner);
    // By kind and rate: whether each copy was found, and the scores of those that were.
    let mut cells: BTreeMap<(EditKind, u32), (Vec<Tally>, f64)> = BTreeMap::new();
    let mut partners = Partners::default();
    for (number, copy) in (0..).zip(planted.iter()) {
        let id = DocumentId(first + number);
        let mut score = None;
        pairs.for_each_partner(copy.document, id, &mut partners, |pair| {
            if pair.right == id {
                score = Some(pair.score.as_f64());
            }
        })?;
        let cell = cells.entry((copy.kind, copy.rate_percent)).or_default();
        let mut tally = Tally::default();
        tally.count(score.is_some(), true, 1);
        cell.0.push(tally);
        cell.1 += score.unwrap_or(0.0);
    }
    for ((kind, rate_percent), (tallies, scores)) in cells {
        let hits: u64 = tallies.iter().map(|tally| tally.hits).sum();
        let share = hits as f64 / tallies.len() as f64;
        let parts = tallies.iter().copied();
        let within = confidence(parts, seed, Tally::recall, Tally::truth);
        let row = Row::default()
            .text("edit", kind.name())
            .count("percent", u64::from(rate_percent))
            .count("planted", tallies.len() as u64)
            .count("found", hits)
            .number("share", share)
            .with("share_95", Cell::Confidence(within))
            .with(
                "mean_score",
                match hits {
                    0 => Cell::Missing,
                    hits => Cell::Number(scores / hits as f64),
                },
            );
        if each(&row).is_break() {
            break;
        }
    }
    Ok(Evaluated {
        stats,
        ..Evaluated::default()
    })
}

/// What each copy is made of and how: the kinds and rates in turn.
fn plan(sample: &[Sampled], copies: usize) -> Vec<Planted> {
    let kinds = EditKind::ALL.len();
    let planted = |number: usize, from: &Sampled| Planted {
        document: from.document,
        kind: EditKind::ALL[number % kinds],
        rate_percent: RATES_PERCENT[number / kinds % RATES_PERCENT.len()],
    };
    let from = sample.iter().cycle();
    (0..copies)
        .zip(from)
        .map(|(number, from)| planted(number, from))
        .collect()
}
