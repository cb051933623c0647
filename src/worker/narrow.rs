//! Documents of which too many are linked, filed once more: under the rarest of what they have,
//! so that those who share only what is common are linked no longer.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::keys::KEY_BITS;
use super::pack::{Unpack, put};
use super::plan::{InputPart, LinesBefore};
use super::rows::{Kind, for_each_row};
use super::sketch::{for_each_run, in_order, range, unpack_common};
use super::tokens::{Common, Filed, Needed, Tokens, prefix};
use super::{Order, Task, stage_error, templates};
use crate::document::Document;
use crate::error::Error;
use crate::observer::Quiet;
use crate::pipeline::Inputs;
use crate::pipeline::parts::{Maker, make_of_each};
use crate::shingle::Shingle;

/// Classes of documents that are held against each other; if there are more, all are linked.
const CLASSES_MAX: usize = 512;

pub(super) fn run<R: Read, W: Write + Send>(
    task: &Task,
    inputs: &Inputs,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let mut parts: BTreeMap<u32, Vec<InputPart>> = BTreeMap::new();
    let mut asked: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut common = Common::default();
    for_each_row(rows, |row| {
        let number = row.part as u32;
        match row.kind {
            Kind::Input => {
                let part = InputPart::from_json(&row.data)?;
                parts.entry(number).or_default().push(part);
                Ok(())
            }
            Kind::Narrow => {
                let of_task = asked.entry(number).or_default();
                unpack_ordinals(&row.data, of_task)
            }
            Kind::Common => unpack_common(&row.data, &mut common),
            _ => Ok(()),
        }
    })?;
    in_order(&mut parts);
    common.prepare();
    for (number, mut asked) in asked {
        let Some(parts) = parts.get(&number) else {
            return Err(stage_error(format!("task {number} has no inputs")));
        };
        asked.sort_unstable();
        asked.dedup();
        let filed = file(task, inputs, parts, &asked, &common)?;
        hand_on(task, number, filed, &mut output)?;
    }
    output.finish()
}

/// Files the documents that are asked for.
fn file(
    task: &Task,
    inputs: &Inputs,
    parts: &[InputPart],
    asked: &[u64],
    common: &Common,
) -> Result<Vec<(Filed, u64)>, Error> {
    let read: Result<Vec<_>, Error> = parts
        .iter()
        .map(|part| part.input(LinesBefore::Unknown))
        .collect();
    let needed = Needed::new(&task.settings);
    let mut tokens = Tokens::new(&task.settings);
    let mut filed = Vec::new();
    let mut asked = asked.iter().peekable();
    let mut ordinal = 0;
    let each = |shingles: Box<[Shingle]>| {
        if asked.next_if_eq(&&ordinal).is_some() && !shingles.is_empty() {
            let first = prefix(&tokens.of(&shingles), common, needed, task.certain);
            filed.extend(first.into_iter().map(|filed| (filed, ordinal)));
        }
        ordinal += 1;
    };
    make_of_each(
        read?,
        templates(inputs),
        &task.settings,
        &Quiet,
        || Shingled,
        each,
    )?;
    match asked.next() {
        None => Ok(filed),
        Some(_) => Err(stage_error(
            "a document is gone: an input was changed since it was read; run it again",
        )),
    }
}

/// Keeps the shingles as they are: who is asked for is known only when they come in order.
struct Shingled;

impl Maker for Shingled {
    type Made = Box<[Shingle]>;

    fn make(&mut self, _: &Document<'_>, shingles: &[Shingle]) -> Box<[Shingle]> {
        shingles.into()
    }

    fn bytes(shingles: &Box<[Shingle]>) -> usize {
        size_of_val(&shingles[..])
    }
}

fn hand_on<W: Write>(
    task: &Task,
    number: u32,
    mut filed: Vec<(Filed, u64)>,
    output: &mut RowWriter<W>,
) -> Result<(), Error> {
    filed.sort_unstable();
    let range = |(filed, _): &(Filed, u64)| range(filed.token, KEY_BITS, task.parts);
    for_each_run(&filed, range, |part, run| {
        let mut bytes = Vec::new();
        put(&mut bytes, u64::from(number));
        let mut last = 0;
        for (filed, ordinal) in run {
            put(&mut bytes, filed.token - last);
            put(&mut bytes, *ordinal);
            put(&mut bytes, filed.before.into());
            put(&mut bytes, filed.size.into());
            last = filed.token;
        }
        output.push(part, Kind::Prefixes, &bytes)
    })
}

/// What was filed, with whose it is.
pub(super) fn unpack_prefixes(bytes: &[u8], filed: &mut Vec<(Filed, Order)>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let task = packed.small()?;
    let mut token = 0_u64;
    while !packed.is_empty() {
        token = token.wrapping_add(packed.number()?);
        let order = Order::new(task, packed.small()?.into());
        let (before, size) = (packed.small()?, packed.small()?);
        let one = Filed {
            token,
            before,
            size,
        };
        filed.push((one, order));
    }
    Ok(())
}

/// Ordinals in order.
pub(super) fn pack_ordinals(ordinals: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for ordinal in ordinals {
        put(&mut bytes, ordinal - last);
        last = ordinal;
    }
    bytes
}

fn unpack_ordinals(bytes: &[u8], ordinals: &mut Vec<u64>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let mut ordinal = 0_u64;
    while !packed.is_empty() {
        ordinal = ordinal.wrapping_add(packed.number()?);
        ordinals.push(ordinal);
    }
    Ok(())
}

/// Who may be similar, of those that are filed: links enough to connect them.
pub(super) fn linked(mut filed: Vec<(Filed, Order)>, needed: Needed) -> Vec<(Order, Order)> {
    filed.sort_unstable();
    filed.dedup();
    let mut links = Vec::new();
    for run in filed.chunk_by(|one, two| one.0.token == two.0.token) {
        let mut link = |one: Order, two: Order| {
            if one != two {
                links.push((one.min(two), one.max(two)));
            }
        };
        // Those of one class have the token at the same place of as many.
        let classes: Vec<&[(Filed, Order)]> = run.chunk_by(|one, two| one.0 == two.0).collect();
        if classes.len() > CLASSES_MAX {
            run.iter().for_each(|(_, order)| link(run[0].1, *order));
            continue;
        }
        let mut is_joined = vec![false; classes.len()];
        for (one, class) in classes.iter().enumerate() {
            if !needed.may_be_first_of_smaller(class[0].0) {
                continue;
            }
            for (two, other) in classes.iter().enumerate() {
                if needed.may_be_first(class[0].0, other[0].0) && (one != two || class.len() > 1) {
                    (is_joined[one], is_joined[two]) = (true, true);
                    link(class[0].1, other[0].1);
                }
            }
        }
        for (class, _) in classes.iter().zip(is_joined).filter(|(_, joined)| *joined) {
            class.iter().for_each(|(_, order)| link(class[0].1, *order));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::super::forest::Forest;
    use super::*;
    use crate::score::Measure;
    use crate::settings::Settings;

    proptest::proptest! {
        /// As if each were held against each.
        #[test]
        fn what_is_linked_is_what_may_be_similar(
            places in proptest::collection::vec((0_u64..6, 0_u32..12, 1_u32..30), 0..40),
        ) {
            let settings = Settings { measure: Measure::Jaccard, ..Settings::default() };
            let needed = Needed::new(&settings);
            let filed: Vec<(Filed, Order)> = (0..)
                .zip(places)
                .filter(|(_, (_, before, size))| before < size)
                .map(|(order, (token, before, size))| (Filed { token, before, size }, Order(order)))
                .collect();
            let mut each = Vec::new();
            for (one, order) in &filed {
                for (two, other) in &filed {
                    let (order, other) = (*order, *other);
                    if order < other && one.token == two.token && needed.may_be_first(*one, *two) {
                        each.push((order, other));
                    }
                }
            }
            let links = Forest::new(linked(filed, needed)).links();
            assert_eq!(links, Forest::new(each).links());
        }
    }
}
