//! Numbered things filed under keys, so that those with the same key stand together in a
//! bucket: in linear time, in any order of keys, and in a bucket by number.
//!
//! Keys are first dealt out to drawers by their highest bits, each small enough for a
//! core's own cache; a drawer is then sorted by itself.

use rayon::prelude::*;

/// Entries in a drawer, about.
const DRAWER_ENTRIES: usize = 1 << 12;
/// Most drawers: as many places as a core can write to at a time without losing them
/// from its cache.
const DRAWERS_MAX: usize = 1 << 8;
/// Entries that a thread deals out at a time.
const ENTRIES_AT_ONCE: usize = 1 << 14;

/// A number and its key, the key above. Of a key only so much is kept: that two keys are
/// taken for the same is rare, and for the search to find out.
type Filed = u64;

fn file(key: u64, number: u32) -> Filed {
    (key >> 32) << 32 | u64::from(number)
}

fn key(filed: Filed) -> u64 {
    filed >> 32
}

/// Files `numbers`, which are in order, under their keys, and gives those of each key that
/// has several, in order, to `each`, whose results come back in any order. `done` is told how
/// many numbers have been dealt with, some at a time.
pub(crate) fn for_each_bucket<T: Send>(
    numbers: &[u32],
    key_of: impl Fn(u32) -> u64 + Sync,
    start: impl Fn() -> T + Sync,
    each: impl Fn(&mut T, &[u32]) + Sync,
    merge: impl Fn(T, T) -> T + Sync,
    done: impl Fn(usize) + Sync,
) -> T {
    let drawers = (numbers.len() / DRAWER_ENTRIES)
        .next_power_of_two()
        .clamp(1, DRAWERS_MAX);
    // In two steps, as one drawer only is a shift by 64.
    let drawer_of = |filed: Filed| (filed >> 1 >> (63 - drawers.ilog2())) as usize;
    let dealt: Vec<Vec<Vec<Filed>>> = numbers
        .par_chunks(ENTRIES_AT_ONCE)
        .map(|numbers| {
            let room = numbers.len() / drawers * 5 / 4;
            let mut dealt: Vec<Vec<Filed>> =
                (0..drawers).map(|_| Vec::with_capacity(room)).collect();
            for &number in numbers {
                let filed = file(key_of(number), number);
                dealt[drawer_of(filed)].push(filed);
            }
            dealt
        })
        .collect();
    (0..drawers)
        .into_par_iter()
        .fold(&start, |mut found, drawer| {
            let mut filed: Vec<Filed> = dealt
                .iter()
                .flat_map(|dealt| dealt[drawer].iter().copied())
                .collect();
            filed.sort_unstable();
            let mut bucket: Vec<u32> = Vec::new();
            for same in filed.chunk_by(|&a, &b| key(a) == key(b)) {
                if same.len() > 1 {
                    bucket.clear();
                    bucket.extend(same.iter().map(|&filed| filed as u32));
                    each(&mut found, &bucket);
                }
            }
            done(filed.len());
            found
        })
        .reduce(&start, &merge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn what_has_the_same_key_stands_together_in_order(
            seed in any::<u64>(), count in prop_oneof![0_u32..50, 100_000_u32..300_000],
        ) {
            let key_of = |number: u32| {
                let spread = u64::from(number / 3) ^ (u64::from(number) % 7);
                (spread ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            };
            let numbers: Vec<u32> = (0..count).filter(|number| number % 5 != 2).collect();
            let mut expected: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            for &number in &numbers {
                expected.entry(key_of(number) >> 32).or_default().push(number);
            }
            let mut expected: Vec<Vec<u32>> =
                expected.into_values().filter(|numbers| numbers.len() > 1).collect();
            let mut found = for_each_bucket(
                &numbers,
                key_of,
                Vec::new,
                |found, bucket| found.push(bucket.to_vec()),
                |mut one, mut two| { one.append(&mut two); one },
                |_| {},
            );
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
