//! Shingles as they stand in an index.

use crate::shingle::Shingle;

/// A shingle, spread evenly over all numbers of 64 bits, whatever kind of shingle it is. No two
/// shingles have the same key. Part of the format: it never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    /// The key of a shingle.
    #[inline]
    pub(crate) fn of(Shingle(shingle): Shingle) -> Self {
        // Each step can be undone.
        let mut key = shingle;
        key = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        key = (key ^ key >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(key ^ key >> 31)
    }
}

/// The keys of a document, each once, in order.
pub(crate) fn keys_of(shingles: &[Shingle], keys: &mut Vec<Key>) {
    keys.clear();
    keys.extend(shingles.iter().map(|&shingle| Key::of(shingle)));
    keys.sort_unstable();
    keys.dedup();
}

/// Bits of a key that a document remembers of it. With the lists of documents, they lead to all
/// of its keys, in whatever segment it stands.
pub(super) const PREFIX_BITS: u32 = 20;

/// The first bits of a key, as a document remembers them.
pub(super) fn prefix(key: Key) -> u32 {
    (key.0 >> (64 - PREFIX_BITS)) as u32
}

/// The least and the largest key that start so.
pub(super) fn keys_with(prefix: u32) -> (Key, Key) {
    let first = u64::from(prefix) << (64 - PREFIX_BITS);
    (Key(first), Key(first | u64::MAX >> PREFIX_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_frozen() {
        let keys =
            [0, 1, 0x0123_4567_89ab_cdef, u64::MAX].map(|shingle| Key::of(Shingle(shingle)).0);
        assert_eq!(
            keys,
            [
                0,
                0x5692_161d_100b_05e5,
                0xb2c0_58e4_ebb5_112c,
                0xb4d0_55fc_f2cb_bd7b
            ]
        );
    }
}
