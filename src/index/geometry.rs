//! How the keys of a segment are laid out, which follows from how many postings it has.
//!
//! Keys are in order. The first bits of a key say which *part* it is in, some more of them
//! which *group* of the part. A group has the rest of each key in as few whole bytes as it
//! takes, the highest first, and then a word of 4 bytes for each. A part is made by one thread,
//! and knows nothing of the parts before it: what its words say is counted from its own start.

use super::key::Key;

/// Bits that tell parts, and parts and groups, apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    part_bits: u32,
    group_bits: u32,
}

/// Keys in a group, and postings in a part, as powers of two; about.
const GROUP_SIZE_BITS: u32 = 4;
const PART_SIZE_BITS: u32 = 18;
/// With so many bits told apart, five bytes are left of a key.
const GROUP_BITS_MAX: u32 = 24;
/// From so many bits on, it pays to tell so many apart.
const GROUP_BITS_LARGE: u32 = 22;

/// A word of a key that has a list of documents, not just one.
pub(super) const IS_LIST: u32 = 1 << 31;
/// Bytes of a word.
pub(super) const WORD_BYTES: u64 = 4;

impl Geometry {
    /// Of a segment with so many postings.
    pub(super) fn of(postings: u64) -> Self {
        let bits = postings.max(1).ilog2();
        let group_bits = match bits.saturating_sub(GROUP_SIZE_BITS) {
            bits if bits >= GROUP_BITS_LARGE => GROUP_BITS_MAX,
            bits => bits,
        };
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
    pub(super) fn rest_bytes(self) -> usize {
        (64 - self.group_bits).div_ceil(8) as usize
    }

    /// Bytes of a key in its group.
    pub(super) fn key_bytes(self) -> u64 {
        self.rest_bytes() as u64 + WORD_BYTES
    }

    /// What is left of a key.
    pub(super) fn rest(self, key: Key) -> [u8; 8] {
        let rest = key.0 & (u128::from(u64::MAX) >> self.group_bits) as u64;
        (rest << (64 - 8 * self.rest_bytes() as u32)).to_be_bytes()
    }

    /// The key of which this is left, in a group of a part.
    pub(super) fn key(self, part: usize, group: usize, rest: &[u8]) -> Key {
        let above = (part * self.groups() + group) as u128;
        let below = rest
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte));
        Key(((above << (64 - self.group_bits)) as u64) | below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_put_together_again(key in any::<u64>(), bits in 0_u32..40) {
            let (key, geometry) = (Key(key), Geometry::of(1 << bits));
            let (part, group) = (geometry.part(key), geometry.group(key));
            prop_assert!(part < geometry.parts() && group < geometry.groups());
            let rest = geometry.rest(key);
            prop_assert_eq!(geometry.key(part, group, &rest[..geometry.rest_bytes()]), key);
            let (first, last) = geometry.keys(part);
            prop_assert!(first <= key && key <= last);
            prop_assert_eq!((geometry.part(first), geometry.part(last)), (part, part));
        }
    }
}
