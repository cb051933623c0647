//! What has a key in common, of all documents that have keys in some ranges: links enough to
//! connect it. And, by the same ranges, whose ids came before, and who has the same list.

use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::forest::Forest;
use super::narrow::{linked, unpack_prefixes};
use super::pack::{Unpack, put};
use super::rows::{Kind, for_each_row};
use super::sign::Alike;
use super::sketch::ENTRIES_MAX;
use super::tokens::Needed;
use super::{Order, Task};
use crate::error::Error;

pub(super) fn run<R: Read, W: Write>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let (mut ids, mut lists, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let mut prefixes = Vec::new();
    for_each_row(rows, |row| match row.kind {
        Kind::Ids => unpack_hashes(&row.data, &mut ids),
        Kind::Lists => unpack_hashes(&row.data, &mut lists),
        Kind::Keys => unpack_keys(&row.data, &mut keys),
        Kind::Prefixes => unpack_prefixes(&row.data, &mut prefixes),
        _ => Ok(()),
    })?;
    hand_on(&same(ids), Kind::Repeated, &mut output)?;
    hand_on(&same(lists), Kind::Copies, &mut output)?;
    let links = Forest::new(same(keys)).links();
    hand_on(&links, Kind::Links, &mut output)?;
    let needed = Needed::new(&task.settings);
    let alike = Alike::new(&task.settings, task.certain);
    let narrowed = Forest::new(linked(prefixes, needed, alike)).links();
    hand_on(&narrowed, Kind::Narrowed, &mut output)?;
    output.finish()
}

/// Each one with the first of those that have the same: the first, then the other.
fn same<T: Ord>(mut entries: Vec<(T, Order)>) -> Vec<(Order, Order)> {
    entries.sort_unstable();
    let runs = entries.chunk_by(|one, two| one.0 == two.0);
    runs.flat_map(|run| {
        let first = run[0].1;
        let others = run[1..].iter().map(move |(_, other)| (first, *other));
        others.filter(|(first, other)| first != other)
    })
    .collect()
}

fn unpack_hashes(bytes: &[u8], hashes: &mut Vec<(u128, Order)>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let task = packed.small()?;
    let mut high = 0_u64;
    while !packed.is_empty() {
        high = high.wrapping_add(packed.number()?);
        let low = packed.word()?;
        let order = Order::new(task, packed.small()?.into());
        hashes.push((u128::from(high) << 32 | u128::from(low), order));
    }
    Ok(())
}

fn unpack_keys(bytes: &[u8], keys: &mut Vec<(u64, Order)>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let task = packed.small()?;
    packed.sorted(|key, ordinal| {
        keys.push((key, Order::new(task, ordinal)));
        Ok(())
    })
}

/// Hands on pairs in order of the second, which comes once: the second, and how far before it
/// the first is.
pub(super) fn hand_on<W: Write>(
    pairs: &[(Order, Order)],
    kind: Kind,
    output: &mut RowWriter<W>,
) -> Result<(), Error> {
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable_by_key(|&(first, other)| (other, first));
    for some in pairs.chunks(ENTRIES_MAX) {
        let mut bytes = Vec::new();
        let mut last = 0;
        for &(first, other) in some {
            put(&mut bytes, other.0 - last);
            put(&mut bytes, other.0.wrapping_sub(first.0));
            last = other.0;
        }
        output.push(0, kind, &bytes)?;
    }
    Ok(())
}

/// The other way round.
pub(super) fn unpack_pairs(bytes: &[u8], pairs: &mut Vec<(Order, Order)>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let mut other = 0_u64;
    while !packed.is_empty() {
        other = other.wrapping_add(packed.number()?);
        let first = other.wrapping_sub(packed.number()?);
        pairs.push((Order(first), Order(other)));
    }
    Ok(())
}
