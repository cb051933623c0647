//! How the keys of a segment are laid out, which follows from how many postings it has.
//!
//! Keys are in order. The first bits of a key say which *part* it is in, some more of them
//! which *group* of the part. In its group a key is an entry: its other bits in as few whole bytes
//! as they take, the highest first, and a word of 4 bytes. Where groups start is so little that it
//! stays in the processor's cache; keys are spread evenly, so that a key stands near where its
//! value says. A part is made by one thread, and knows nothing of the parts before it: what its
//! words say is counted from its own start.

use super::checked::short_number;
use super::key::Key;

/// Bits that tell parts, and parts and groups, apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    part_bits: u32,
    group_bits: u32,
}

/// Keys in a group, and postings in a part, as powers of two; about.
const GROUP_SIZE_BITS: u32 = 7;
const PART_SIZE_BITS: u32 = 18;
/// Most bits that tell groups apart.
const GROUP_BITS_MAX: u32 = 24;

/// A word of a key that has a list of documents, not just one.
pub(super) const IS_LIST: u32 = 1 << 31;
/// Bytes of a word.
pub(super) const WORD_BYTES: u64 = 4;

impl Geometry {
    /// Of a segment with so many postings.
    pub(super) fn of(postings: u64) -> Self {
        let bits = postings.max(1).ilog2();
        let group_bits = bits.saturating_sub(GROUP_SIZE_BITS).min(GROUP_BITS_MAX);
        Self {
            part_bits: bits.saturating_sub(PART_SIZE_BITS).min(group_bits),
            group_bits,
        }
    }

    /// How many parts there are.
    pub(super) fn parts(self) -> usize {
        1 << self.part_bits
    }

    /// How many groups a part has.
    pub(super) fn groups(self) -> usize {
        1 << (self.group_bits - self.part_bits)
    }

    /// The part that a key is in.
    pub(super) fn part(self, key: Key) -> usize {
        (u128::from(key.0) >> (64 - self.part_bits)) as usize
    }

    /// The group of its part that a key is in.
    pub(super) fn group(self, key: Key) -> usize {
        (u128::from(key.0) >> (64 - self.group_bits)) as usize & (self.groups() - 1)
    }

    /// The least and the largest key of a part.
    pub(super) fn keys(self, part: usize) -> (Key, Key) {
        let first = ((part as u128) << (64 - self.part_bits)) as u64;
        let rest = (u128::from(u64::MAX) >> self.part_bits) as u64;
        (Key(first), Key(first | rest))
    }

    /// Bytes that are left of a key.
    fn rest_bytes(self) -> usize {
        (64 - self.group_bits).div_ceil(8) as usize
    }

    /// Bytes of an entry.
    pub(super) fn entry_bytes(self) -> usize {
        self.rest_bytes() + WORD_BYTES as usize
    }

    /// What is left of a key.
    fn rest(self, key: Key) -> u64 {
        key.0 & (u128::from(u64::MAX) >> self.group_bits) as u64
    }

    /// Appends the entry of a key.
    pub(super) fn write_entry(self, key: Key, word: u32, entries: &mut Vec<u8>) {
        let rest = self.rest(key).to_be_bytes();
        entries.extend_from_slice(&rest[8 - self.rest_bytes()..]);
        entries.extend_from_slice(&word.to_le_bytes());
    }

    /// What is left of the key of an entry.
    #[inline]
    fn rest_of(self, entry: &[u8]) -> u64 {
        let start = entry.first_chunk::<8>().copied().unwrap_or_default();
        u64::from_be_bytes(start) >> (64 - 8 * self.rest_bytes() as u32)
    }

    /// The word of an entry.
    #[inline]
    pub(super) fn word_of(self, entry: &[u8]) -> u32 {
        short_number(entry, self.rest_bytes())
    }

    /// The key of an entry, in a group of a part.
    pub(super) fn key_of(self, part: usize, group: usize, entry: &[u8]) -> Key {
        Key(self.first_key(part, group).0 | self.rest_of(entry))
    }

    /// The least key of a group.
    pub(super) fn first_key(self, part: usize, group: usize) -> Key {
        let above = (part * self.groups() + group) as u128;
        Key((above << (64 - self.group_bits)) as u64)
    }

    /// Where a key should stand among so many entries of its group.
    #[inline]
    pub(super) fn guess(self, key: Key, count: u32) -> usize {
        let rest = u128::from(self.rest(key)) * u128::from(count);
        (rest >> (64 - self.group_bits)) as usize
    }

    /// The entry of a key among some entries of its group, looked for from a place on.
    #[inline]
    pub(super) fn find(self, key: Key, mut place: usize, entries: &[u8]) -> Found<'_> {
        let (wanted, size) = (self.rest(key), self.entry_bytes());
        let entry = |place: usize| entries.get(place * size..(place + 1) * size);
        let Some(mut found) = entry(place) else {
            return Found::Behind;
        };
        let mut rest = self.rest_of(found);
        let is_before = rest > wanted;
        while rest != wanted {
            if is_before != (rest > wanted) {
                return Found::Nothing;
            }
            let next = match is_before {
                true => place.checked_sub(1),
                false => Some(place + 1),
            };
            let Some((next, neighbour)) = next.and_then(|next| Some((next, entry(next)?))) else {
                return match is_before {
                    true => Found::Before,
                    false => Found::Behind,
                };
            };
            (place, found) = (next, neighbour);
            rest = self.rest_of(found);
        }
        Found::Entry(found)
    }
}

/// What is found among some entries of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    Entry(&'a [u8]),
    /// It is not in the group.
    Nothing,
    /// If it is there, it is before all of these.
    Before,
    /// If it is there, it is behind all of these.
    Behind,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_put_together_again(key in any::<u64>(), bits in 0_u32..40) {
            let (key, geometry) = (Key(key), Geometry::of(1 << bits));
            let (part, group) = (geometry.part(key), geometry.group(key));
            prop_assert!(part < geometry.parts() && group < geometry.groups());
            let mut entry = vec![];
            geometry.write_entry(key, 7, &mut entry);
            prop_assert_eq!(entry.len(), geometry.entry_bytes());
            prop_assert_eq!(geometry.word_of(&entry), 7);
            prop_assert_eq!(geometry.key_of(part, group, &entry), key);
            let (first, last) = geometry.keys(part);
            prop_assert!(first <= key && key <= last);
            prop_assert_eq!((geometry.part(first), geometry.part(last)), (part, part));
        }

        #[test]
        fn keys_are_found_in_their_group(
            rests in proptest::collection::btree_set(any::<u64>(), 0..200),
            others in proptest::collection::vec(any::<u64>(), 0..50),
            bits in 0_u32..40,
            narrow in 0_u32..60,
        ) {
            let geometry = Geometry::of(1 << bits);
            let within = u64::MAX >> geometry.group_bits.max(narrow);
            let keys: BTreeSet<u64> = rests.iter().map(|rest| rest & within).collect();
            let mut entries = vec![];
            for (word, &key) in (0..).zip(&keys) {
                geometry.write_entry(Key(key), word, &mut entries);
            }
            let count = keys.len() as u32;
            for (word, &key) in (0..).zip(&keys) {
                let place = geometry.guess(Key(key), count);
                let Found::Entry(entry) = geometry.find(Key(key), place, &entries) else {
                    panic!("{key} is not found");
                };
                prop_assert_eq!(geometry.word_of(entry), word);
            }
            for other in others.into_iter().map(|other| other & within) {
                let place = geometry.guess(Key(other), count);
                let found = geometry.find(Key(other), place, &entries);
                prop_assert_eq!(matches!(found, Found::Entry(_)), keys.contains(&other));
            }
        }
    }
}
