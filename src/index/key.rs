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
const PREFIX_BITS: u32 = 20;

/// The first bits of a key, as a document remembers them.
pub(super) fn prefix(key: Key) -> u32 {
    (key.0 >> (64 - PREFIX_BITS)) as u32
}

/// The least and the largest key that start so.
pub(super) fn keys_with(prefix: u32) -> (Key, Key) {
    let first = u64::from(prefix) << (64 - PREFIX_BITS);
    (Key(first), Key(first | u64::MAX >> PREFIX_BITS))
}

/// Appends the prefixes of a document's keys, each once: how far each is from the one before, in
/// sevens of bits, the lowest first.
pub(super) fn write_prefixes(keys: &[Key], bytes: &mut Vec<u8>) {
    let mut last = None;
    for &key in keys {
        let prefix = prefix(key);
        if last == Some(prefix) {
            continue;
        }
        let mut step = prefix - last.unwrap_or(0);
        last = Some(prefix);
        while step > 0x7f {
            bytes.push(step as u8 | 0x80);
            step >>= 7;
        }
        bytes.push(step as u8);
    }
}

/// Reads them; `None` if they cannot be what was written.
pub(super) fn read_prefixes(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut prefixes: Vec<u32> = Vec::new();
    let (mut step, mut shift) = (0_u32, 0);
    for &byte in bytes {
        step |= u32::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte < 0x80 {
            let prefix = prefixes.last().copied().unwrap_or(0).checked_add(step)?;
            if prefix >> PREFIX_BITS > 0 {
                return None;
            }
            prefixes.push(prefix);
            (step, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(prefixes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn prefixes_are_read_as_they_were_written(shingles in proptest::collection::vec(any::<u64>(), 0..300)) {
            let shingles: Vec<Shingle> = shingles.into_iter().map(Shingle).collect();
            let (mut keys, mut bytes) = (vec![], vec![]);
            keys_of(&shingles, &mut keys);
            write_prefixes(&keys, &mut bytes);
            let mut expected: Vec<u32> = keys.iter().map(|&key| prefix(key)).collect();
            expected.dedup();
            prop_assert_eq!(read_prefixes(&bytes).unwrap(), expected);
            for &key in &keys {
                let (first, last) = keys_with(prefix(key));
                prop_assert!(first <= key && key <= last);
            }
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = read_prefixes(&bytes);
        }
    }
}
