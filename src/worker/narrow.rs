//! Documents of which too many are linked, filed once more: under the rarest of what they have,
//! so that those who share only what is common are linked no longer.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::pack::{Unpack, put, put_sign};
use super::plan::{InputPart, check_documents};
use super::rows::{Kind, for_each_row};
use super::sign::{Alike, SHORT, Sign, Signer};
use super::sketch::{for_each_run, in_order, range, unpack_common};
use super::tokens::{Common, Filed, Needed, Tokens, drawn, prefix};
use super::{Order, Task, stage_error, templates};
use crate::document::Document;
use crate::error::Error;
use crate::observer::Quiet;
use crate::run::Inputs;
use crate::run::parts::{Maker, make_of_each};
use crate::shingle::Shingle;

/// Documents of a token that are held against each other.
const RUN_MAX: usize = 300;
/// Classes of documents that are held against each other; if there are more, all are linked.
const CLASSES_MAX: usize = 512;
const SIGN_BYTES: usize = size_of::<Sign<SHORT>>();

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
) -> Result<Vec<(Filed, u64, Sign<SHORT>)>, Error> {
    let read: Result<Vec<_>, Error> = parts.iter().map(InputPart::input).collect();
    let needed = Needed::new(&task.settings);
    let mut tokens = Tokens::new(&task.settings);
    let mut signer = Signer::new(&task.settings);
    let mut filed = Vec::new();
    let mut asked = asked.iter().peekable();
    let mut ordinal = 0;
    let each = |shingles: Box<[Shingle]>| {
        if asked.next_if_eq(&&ordinal).is_some() && !shingles.is_empty() {
            let first = prefix(&tokens.of(&shingles), common, needed, task.certain);
            let sign = signer.sign(&shingles);
            filed.extend(first.into_iter().map(|filed| (filed, ordinal, sign)));
        }
        ordinal += 1;
    };
    make_of_each(
        read?,
        templates(inputs)?,
        &task.settings,
        &Quiet,
        || Shingled,
        each,
    )?;
    check_documents(parts, ordinal)?;
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
    mut filed: Vec<(Filed, u64, Sign<SHORT>)>,
    output: &mut RowWriter<W>,
) -> Result<(), Error> {
    // Not by the tokens themselves: the first of them are filed under, and all have low ones.
    let range = |(filed, ..): &(Filed, u64, Sign<SHORT>)| range(drawn(filed.token), 64, task.parts);
    filed.sort_unstable_by_key(|entry| (range(entry), *entry));
    let mut rows = Vec::new();
    for_each_run(&filed, range, |part, run| {
        let mut bytes = Vec::new();
        put(&mut bytes, u64::from(number));
        let mut last = 0;
        for (filed, ordinal, sign) in run {
            put(&mut bytes, filed.token - last);
            put(&mut bytes, *ordinal);
            put(&mut bytes, filed.before.into());
            put(&mut bytes, filed.size.into());
            put_sign(&mut bytes, sign, SIGN_BYTES);
            last = filed.token;
        }
        rows.push((part, bytes));
    });
    rows.iter()
        .try_for_each(|(part, bytes)| output.push(*part, Kind::Prefixes, bytes))
}

/// A token under which a document is filed, whose it is, and its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    filed: Filed,
    order: Order,
    sign: Sign<SHORT>,
}

/// What was filed.
pub(super) fn unpack_prefixes(bytes: &[u8], entries: &mut Vec<Entry>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let task = packed.small()?;
    let mut token = 0_u64;
    while !packed.is_empty() {
        token = token.wrapping_add(packed.number()?);
        let order = Order::new(task, packed.small()?.into());
        let (before, size) = (packed.small()?, packed.small()?);
        let filed = Filed {
            token,
            before,
            size,
        };
        let sign = packed.sign(SIGN_BYTES)?;
        entries.push(Entry { filed, order, sign });
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

pub(super) fn unpack_ordinals(bytes: &[u8], ordinals: &mut Vec<u64>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let mut ordinal = 0_u64;
    while !packed.is_empty() {
        ordinal = ordinal.wrapping_add(packed.number()?);
        ordinals.push(ordinal);
    }
    Ok(())
}

/// Who may be similar, of those that are filed: links enough to connect them.
pub(super) fn linked(mut entries: Vec<Entry>, needed: Needed, alike: Alike) -> Vec<(Order, Order)> {
    entries.sort_unstable();
    entries.dedup();
    let mut links = Vec::new();
    for run in entries.chunk_by(|one, two| one.filed.token == two.filed.token) {
        let mut link = |one: Order, two: Order| {
            if one != two {
                links.push((one.min(two), one.max(two)));
            }
        };
        if run.len() <= RUN_MAX {
            for (place, one) in run.iter().enumerate() {
                for two in &run[place + 1..] {
                    if needed.may_be_first(one.filed, two.filed)
                        && alike.may_be(&one.sign, &two.sign)
                    {
                        link(one.order, two.order);
                    }
                }
            }
            continue;
        }
        // Too many to be held against each other. Those of one class have the token at the same
        // place of as many.
        let classes: Vec<&[Entry]> = run.chunk_by(|one, two| one.filed == two.filed).collect();
        if classes.len() > CLASSES_MAX {
            run.iter().for_each(|entry| link(run[0].order, entry.order));
            continue;
        }
        let mut is_joined = vec![false; classes.len()];
        for (one, class) in classes.iter().enumerate() {
            if !needed.may_be_first_of_smaller(class[0].filed) {
                continue;
            }
            for (two, other) in classes.iter().enumerate() {
                if needed.may_be_first(class[0].filed, other[0].filed)
                    && (one != two || class.len() > 1)
                {
                    (is_joined[one], is_joined[two]) = (true, true);
                    link(class[0].order, other[0].order);
                }
            }
        }
        for (class, _) in classes.iter().zip(is_joined).filter(|(_, joined)| *joined) {
            class
                .iter()
                .for_each(|entry| link(class[0].order, entry.order));
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
        /// As if each were held against each, whether they are few or very many.
        #[test]
        fn what_is_linked_is_what_may_be_similar(
            places in proptest::collection::vec((0_u64..6, 0_u32..12, 1_u32..30, 0_u64..4), 0..40),
            times in 1_u64..20,
        ) {
            let settings = Settings { measure: Measure::Jaccard, ..Settings::default() };
            let needed = Needed::new(&settings);
            let entry = |order: u64, (token, before, size, sign): (u64, u32, u32, u64)| Entry {
                filed: Filed { token, before, size },
                order: Order(order),
                sign: [sign, 0],
            };
            let entries: Vec<Entry> = (0..)
                .zip(places)
                .filter(|(_, (_, before, size, _))| before < size)
                .flat_map(|(order, place)| (0..times).map(move |n| (order * times + n, place)))
                .map(|(order, place)| entry(order, place))
                .collect();
            for alike in [Alike::Unknown, Alike::Bits(1)] {
                // Bits are not asked for where there are too many.
                if times > 1 && matches!(alike, Alike::Bits(_)) {
                    continue;
                }
                let mut each = Vec::new();
                for one in &entries {
                    for two in entries.iter().filter(|two| one.order < two.order) {
                        if one.filed.token == two.filed.token
                            && needed.may_be_first(one.filed, two.filed)
                            && alike.may_be(&one.sign, &two.sign)
                        {
                            each.push((one.order, two.order));
                        }
                    }
                }
                let links = Forest::new(linked(entries.clone(), needed, alike)).links();
                assert_eq!(links, Forest::new(each).links());
            }
        }
    }
}
