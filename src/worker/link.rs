//! What has a key in common, of all documents that have keys in some ranges: links enough to
//! connect it. And, by the same ranges, whose ids came before, and who has the same list.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::forest::Forest;
use super::narrow::{linked, unpack_prefixes};
use super::pack::{Sorted, Unpack, put};
use super::rows::{Kind, for_each_row};
use super::sign::{Alike, Signer};
use super::sketch::ENTRIES_MAX;
use super::tokens::Needed;
use super::{Order, Task};
use crate::error::Error;

/// Low bits of keys that are of one range. A part has 128 ranges, or as many fewer as keys are
/// shorter for fewer documents.
const LOW_BITS: u32 = 31;
/// Links that are kept before they are put together to as few as connect the same.
const LINKS_MIN: usize = 1 << 20;

pub(super) fn run<R: Read, W: Write>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let (mut ids, mut lists) = (Vec::new(), Vec::new());
    let mut keys = Vec::new();
    let mut prefixes = Vec::new();
    for_each_row(rows, |row| match row.kind {
        Kind::Ids => unpack_hashes(&row.data, &mut ids),
        Kind::Lists => unpack_hashes(&row.data, &mut lists),
        Kind::Keys => {
            keys.push(row.data);
            Ok(())
        }
        Kind::Prefixes => unpack_prefixes(&row.data, &mut prefixes),
        _ => Ok(()),
    })?;
    for (mut hashes, kind) in [(ids, Kind::Repeated), (lists, Kind::Copies)] {
        let pairs: Vec<(Order, Order)> = same(&mut hashes).collect();
        hand_on(&pairs, kind, &mut output)?;
    }
    let links = Forest::new(linked_by_keys(&keys)?).links();
    hand_on(&links, Kind::Links, &mut output)?;
    let needed = Needed::new(&task.settings);
    let alike = Alike::new(&task.settings, task.certain, Signer::layout(&task.settings));
    let narrowed = Forest::new(linked(prefixes, needed, alike)).links();
    hand_on(&narrowed, Kind::Narrowed, &mut output)?;
    output.finish()
}

/// Each one with the first of those that have the same: the first, then the other.
fn same<T: Ord>(entries: &mut [(T, Order)]) -> impl Iterator<Item = (Order, Order)> {
    entries.sort_unstable();
    let runs = entries.chunk_by(|one, two| one.0 == two.0);
    runs.flat_map(|run| {
        let first = run[0].1;
        let others = run[1..].iter().map(move |(_, other)| (first, *other));
        others.filter(|(first, other)| first != other)
    })
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

/// Keys of a row, which are in order.
struct Keys<'a> {
    task: u32,
    next: (u64, u64),
    behind: Sorted<'a>,
}

/// Links between documents that have a key in common. Rows stay packed: of each, only the keys of
/// one range at a time are looked at, together with those of all others.
fn linked_by_keys(rows: &[Vec<u8>]) -> Result<Vec<(Order, Order)>, Error> {
    let range = |(key, _): (u64, u64)| key >> LOW_BITS;
    let mut waiting: BTreeMap<u64, Vec<Keys<'_>>> = BTreeMap::new();
    for row in rows {
        let mut packed = Unpack(row);
        let task = packed.small()?;
        let mut behind = packed.sorted()?;
        if let Some(next) = behind.next()? {
            let keys = Keys { task, next, behind };
            waiting.entry(range(next)).or_default().push(keys);
        }
    }
    let (mut links, mut links_max) = (Vec::new(), LINKS_MIN);
    let mut some = Vec::new();
    while let Some((this, rows)) = waiting.pop_first() {
        for mut keys in rows {
            loop {
                let (key, ordinal) = keys.next;
                some.push((key, Order::new(keys.task, ordinal)));
                let Some(next) = keys.behind.next()? else {
                    break;
                };
                keys.next = next;
                if range(next) != this {
                    waiting.entry(range(next)).or_default().push(keys);
                    break;
                }
            }
        }
        links.extend(same(&mut some));
        some.clear();
        if links.len() > links_max {
            links = Forest::new(links).links();
            links_max = LINKS_MIN.max(2 * links.len());
        }
    }
    Ok(links)
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

#[cfg(test)]
mod tests {
    use super::super::pack::put_sorted;
    use super::*;

    proptest::proptest! {
        /// As if all keys were in one list.
        #[test]
        fn rows_of_keys_link_what_has_one_in_common(
            rows in proptest::collection::vec(
                proptest::collection::vec((0_u64..24, 0_u64..9), 0..30), 0..8),
        ) {
            let (mut packed, mut all) = (Vec::new(), Vec::new());
            for (task, row) in (0_u32..).zip(rows) {
                // Of eight ranges, three keys each.
                let key = |key: u64| ((key % 8) << LOW_BITS) + key / 8;
                let mut entries: Vec<_> = row.into_iter().map(|(k, o)| (key(k), o)).collect();
                entries.sort_unstable();
                let mut bytes = Vec::new();
                put(&mut bytes, task.into());
                put_sorted(&mut bytes, &entries);
                packed.push(bytes);
                all.extend(entries.into_iter().map(|(k, o)| (k, Order::new(task, o))));
            }
            let expected = Forest::new(same(&mut all).collect()).links();
            let found = Forest::new(linked_by_keys(&packed).unwrap()).links();
            assert_eq!(found, expected);
        }
    }
}
