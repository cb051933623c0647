//! Edited copies of the documents themselves: how many of them would be found, by kind and rate of
//! edit. They are compared with all documents, and found if the one that they are made of is.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use super::row::{Cell, Row};
use super::{Each, Evaluated};
use crate::candidates::search;
use crate::document::DocumentId;
use crate::error::Error;
use crate::eval::{EditKind, RATES_PERCENT, Tally, edited, interval, mixed};
use crate::observer::{Observer, Phase};
use crate::pairs::Partners;
use crate::pipeline::Inputs;
use crate::pipeline::floor::Purpose;
use crate::pipeline::pairs::pairs_of;
use crate::pipeline::reading::{Planting, Reading, Wants};
use crate::pipeline::sample::{SampleSettings, Sampled};
use crate::read::{Input, InputFormat, ReadSettings};
use crate::settings::Settings;

/// A copy: what it was made of, and how.
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
        sample: Some(SampleSettings {
            count: copies,
            seed,
        }),
        ..Wants::default()
    };
    let planted = Arc::new(Mutex::new(Vec::new()));
    let mut reading = Reading::new(settings, observer, wants, Purpose::Pairs);
    let list = Arc::clone(&planted);
    reading.planting = Some(Planting {
        settings: planted_settings,
        make: Box::new(move |sample| {
            let (lines, planted) = plant(&sample, copies, seed);
            *list.lock().unwrap_or_else(PoisonError::into_inner) = planted;
            Input::from_reader("copies", Cursor::new(lines))
        }),
    });
    let collection = reading.collection(inputs)?;
    observer.phase(Phase::Comparing);
    let first = collection.own();
    let found = search(&collection)?;
    let mut stats = std::mem::take(&mut reading.stats);
    let (_, pairs) = pairs_of(collection, found, &mut stats);
    let planted = planted.lock().unwrap_or_else(PoisonError::into_inner);
    // By kind and rate: whether each copy was found, and the scores of those that were.
    let mut cells: BTreeMap<(EditKind, u32), (Vec<Tally>, f64)> = BTreeMap::new();
    let mut partners = Partners::default();
    for (number, copy) in (0..).zip(planted.iter()) {
        let id = DocumentId(first + number);
        let mut score = None;
        pairs.for_each_partner(copy.document, id, &mut partners, |partner, found, _| {
            if partner == id {
                score = Some(found.as_f64());
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
        let within = interval(tallies.iter().copied(), seed, Tally::recall);
        let row = Row::default()
            .text("edit", kind.name())
            .count("percent", u64::from(rate_percent))
            .count("planted", tallies.len() as u64)
            .count("found", hits)
            .number("share", share)
            .with("share_95", Cell::Interval(within))
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

/// Edited copies as JSONL, the kinds and rates in turn, and what each is.
fn plant(sample: &[Sampled], copies: usize, seed: u64) -> (String, Vec<Planted>) {
    let (mut lines, mut planted) = (String::new(), Vec::new());
    if sample.is_empty() {
        return (lines, planted);
    }
    let kinds = EditKind::ALL.len();
    for number in 0..copies {
        let from = &sample[number % sample.len()];
        let kind = EditKind::ALL[number % kinds];
        let rate_percent = RATES_PERCENT[number / kinds % RATES_PERCENT.len()];
        let own_seed = mixed(seed ^ mixed(number as u64));
        let text = edited(&from.text(), kind, rate_percent, own_seed);
        let line = serde_json::json!({"url": number.to_string(), "text": text});
        lines.push_str(&line.to_string());
        lines.push('\n');
        planted.push(Planted {
            document: from.document,
            kind,
            rate_percent,
        });
    }
    (lines, planted)
}
