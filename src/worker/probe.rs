//! How much documents share that are not similar: whether short bands would link very many of
//! them, so that more and longer ones are the cheaper way. Known from some tasks; the answer is
//! the same either way.

use std::io::{Read, Write};

use ahash::HashSet;

use super::arrow::{RowReader, RowWriter};
use super::keys::{Filing, KEY_BITS, Keys, bands_for};
use super::plan::InputPart;
use super::rows::Kind;
use super::sketch::{print, tasks};
use super::{Task, templates};
use crate::document::Document;
use crate::error::Error;
use crate::observer::Quiet;
use crate::run::Inputs;
use crate::run::parts::{Maker, make_of_each};
use crate::score::Measure;
use crate::shingle::Shingle;

/// Tasks that are looked at, and documents of each.
const TASKS: usize = 2;
const DOCUMENTS_MAX: usize = 25_000;
/// Of the keys that two documents at the threshold share, the part from which two are no longer
/// far from similar.
const WEAK: f64 = 0.25;
/// Documents of a key of which each is held against each.
const RUN_MAX: usize = 16;
/// Links of a document to others that are far from similar from which they are too many: the texts
/// of all that are linked are sent.
const LINKS_MAX: f64 = 0.2;
/// Bits of a key at the least: what was looked at may tell too little of how many there are.
const KEY_BITS_MIN: u32 = 32;

pub(super) fn run<R: Read, W: Write + Send>(
    task: &Task,
    inputs: &Inputs,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let tasks = tasks(rows)?;
    let tasks: Vec<&[InputPart]> = tasks.values().map(Vec::as_slice).collect();
    let typed = serde_json::json!(choose(task, inputs, &tasks)?);
    output.push(0, Kind::Typed, typed.to_string().as_bytes())?;
    output.finish()
}

/// What is typed for `sketch`; nothing, where there is nothing to choose.
fn choose(task: &Task, inputs: &Inputs, tasks: &[&[InputPart]]) -> Result<Vec<String>, Error> {
    let threshold = task.settings.threshold.as_f64();
    let few = bands_for(threshold, Keys::Few);
    let (Some(few), Measure::Jaccard, false) = (few, task.settings.measure, task.certain) else {
        return Ok(Vec::new());
    };
    // What is packed may be of any length.
    let quick = |parts: &&&[InputPart]| {
        let bytes = parts.iter().map(InputPart::bytes_read).sum::<u64>();
        bytes <= 2 * task.split_bytes
    };
    let quick: Vec<&[InputPart]> = tasks.iter().filter(quick).copied().collect();
    let looked_at: Vec<&[InputPart]> = match quick.len() {
        0 => return Ok(Vec::new()),
        1..=TASKS => quick[..1].to_vec(),
        count => (0..TASKS)
            .map(|place| quick[(2 * place + 1) * count / (2 * TASKS)])
            .collect(),
    };
    let mut keys: Vec<u64> = Vec::new();
    let mut passed_over = 0_u32;
    let mut known = HashSet::default();
    for (number, parts) in (1..).zip(&looked_at) {
        let read: Result<Vec<_>, Error> = parts.iter().map(InputPart::input).collect();
        let maker = || Prober(Filing::new(&task.settings, false, Keys::Few));
        let each = |(list, of_document): (u128, Vec<u64>)| {
            if known.len() >= number * DOCUMENTS_MAX {
                passed_over += 1;
            } else if !of_document.is_empty() && known.insert(list) {
                keys.extend(of_document);
            }
        };
        let templates = templates(inputs)?;
        make_of_each(read?, templates, &task.settings, &Quiet, maker, each)?;
    }
    let documents = known.len().max(1) as f64;
    let part_of_tasks = documents / (documents + f64::from(passed_over));
    let part = part_of_tasks * looked_at.len() as f64 / tasks.len() as f64;
    let at_threshold = few.bands as f64 * threshold.powi(few.rows as i32);
    let weak = weak_pairs(&keys, few.bands, (WEAK * at_threshold) as usize);
    let links = 2.0 * weak as f64 / documents / part;
    let (keys, keys_typed) = match links > LINKS_MAX {
        true => (Keys::Many, "--keys=many"),
        false => (Keys::Few, "--keys=few"),
    };
    let of_each = bands_for(threshold, keys).map_or(0, |bands| bands.bands);
    let has_signs = Filing::new(&task.settings, false, keys).layout().is_some();
    let bits = key_bits(of_each as f64, documents / part, has_signs);
    Ok(vec![keys_typed.into(), format!("--key-bits={bits}")])
}

/// Bits of a key by which chance links few enough of so many documents with so many keys each: more,
/// where bits of documents tell those apart again.
fn key_bits(of_each: f64, documents: f64, has_signs: bool) -> u32 {
    let links_max = match has_signs {
        false => 1.0 / 512.0,
        true => 1.0 / 32.0,
    };
    let values = of_each * of_each * documents / links_max;
    (values.max(1.0).log2().ceil() as u32).clamp(KEY_BITS_MIN, KEY_BITS)
}

/// Pairs that have a key in common, but no more than so many, of documents that have so many each.
/// Of those that share a key with very many, only each and the next are looked at.
fn weak_pairs(keys: &[u64], of_each: usize, most: usize) -> usize {
    let place = |place: usize| place / of_each.max(1);
    let mut all: Vec<(u64, usize)> = keys.iter().copied().zip((0..).map(place)).collect();
    all.sort_unstable();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for run in all.chunk_by(|one, two| one.0 == two.0) {
        let reach = if run.len() > RUN_MAX { 1 } else { run.len() };
        for (place, one) in run.iter().enumerate() {
            let others = run[place + 1..].iter().take(reach);
            pairs.extend(others.map(|two| (one.1, two.1)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let of = |document: usize| &keys[document * of_each..][..of_each];
    let shared = |one, two| of(one).iter().zip(of(two)).filter(|(x, y)| x == y).count();
    let weak = |&&(one, two): &&(usize, usize)| (1..=most.max(1)).contains(&shared(one, two));
    pairs.iter().filter(weak).count()
}

/// Gives the hash of a document's list, and its keys.
struct Prober(Filing);

impl Maker for Prober {
    type Made = (u128, Vec<u64>);

    fn make(&mut self, _: &Document<'_>, shingles: &[Shingle]) -> Self::Made {
        match shingles {
            [] => (0, Vec::new()),
            shingles => (print(shingles), self.0.keys(shingles)),
        }
    }

    fn bytes((_, keys): &Self::Made) -> usize {
        size_of::<Self::Made>() + size_of_val(&keys[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_that_share_few_keys() {
        // Of 20 keys each, the first 20, 4, 5 and 1 of those of the document before.
        let mut documents: Vec<Vec<u64>> = vec![(0..20).collect()];
        for (number, shared) in (1..).zip([20, 4, 5, 1]) {
            let own = (shared..20).map(|key| 100 * number + key);
            let before = &documents[number as usize - 1];
            let keys = before[..shared as usize].iter().copied().chain(own);
            documents.push(keys.collect());
        }
        // The third shares 4 with both before it; the fourth and the fifth share some with all.
        assert_eq!(weak_pairs(&documents[..3].concat(), 20, 4), 2);
        assert_eq!(weak_pairs(&documents[..2].concat(), 20, 4), 0);
        // Those of a frame share half with each other.
        let framed = |number: u64| (0..10).chain(1000 * number..1000 * number + 10);
        let keys: Vec<u64> = (1..100).flat_map(framed).collect();
        assert_eq!(weak_pairs(&keys, 20, 4), 0);
        assert_eq!(weak_pairs(&keys, 20, 10), 98);
    }
}
