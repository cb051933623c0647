//! What a segment has of each document besides its id and size: the prefixes of its keys, and
//! fields. It is the same in every segment, and is copied when segments are merged.
//!
//! ```text
//! how many bytes of prefixes | prefixes | fields
//! ```
//!
//! Fields are a JSON object, or nothing.

use super::key::{Key, PREFIX_BITS, prefix};

/// Appends the record of a document with these keys, in order.
pub(super) fn write(keys: &[Key], fields: &str, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    write_prefixes(keys, bytes);
    let length = bytes.len() - start;
    write_number(length as u64, bytes);
    let written = bytes.len() - start - length;
    bytes[start..].rotate_right(written);
    bytes.extend_from_slice(fields.as_bytes());
}

/// The prefixes of a document's keys, and its fields; `None` if that cannot be what was written.
pub(super) fn read(bytes: &[u8]) -> Option<(Vec<u32>, &str)> {
    let (length, rest) = read_number(bytes)?;
    let (prefixes, fields) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    Some((read_prefixes(prefixes)?, std::str::from_utf8(fields).ok()?))
}

/// Appends a number in sevens of bits, the lowest first.
fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut shift) = (0_u64, 0);
    for (place, &byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte < 0x80 {
            return Some((number, &bytes[place + 1..]));
        }
    }
    None
}

/// Appends the prefixes of a document's keys, each once: how far each is from the one before.
fn write_prefixes(keys: &[Key], bytes: &mut Vec<u8>) {
    let mut last = None;
    for &key in keys {
        let prefix = prefix(key);
        if last != Some(prefix) {
            write_number(u64::from(prefix - last.unwrap_or(0)), bytes);
            last = Some(prefix);
        }
    }
}

/// The prefixes of a document's keys, each once, in order.
fn read_prefixes(mut bytes: &[u8]) -> Option<Vec<u32>> {
    let mut prefixes = Vec::new();
    let mut prefix = 0_u64;
    while !bytes.is_empty() {
        let step;
        (step, bytes) = read_number(bytes)?;
        if step == 0 && !prefixes.is_empty() {
            return None;
        }
        prefix = prefix
            .checked_add(step)
            .filter(|prefix| prefix >> PREFIX_BITS == 0)?;
        prefixes.push(prefix as u32);
    }
    Some(prefixes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::key::{keys_of, keys_with};
    use super::*;
    use crate::shingle::Shingle;

    proptest! {
        #[test]
        fn records_are_read_as_they_were_written(
            shingles in proptest::collection::vec(any::<u64>(), 0..300),
            before in proptest::collection::vec(any::<u8>(), 0..5),
            fields in "[a-zé{}]{0,9}",
        ) {
            let shingles: Vec<Shingle> = shingles.into_iter().map(Shingle).collect();
            let (mut keys, mut bytes) = (vec![], before.clone());
            keys_of(&shingles, &mut keys);
            write(&keys, &fields, &mut bytes);
            let mut expected: Vec<u32> = keys.iter().map(|&key| prefix(key)).collect();
            expected.dedup();
            prop_assert_eq!(read(&bytes[before.len()..]).unwrap(), (expected, &fields[..]));
            for &key in &keys {
                let (first, last) = keys_with(prefix(key));
                prop_assert!(first <= key && key <= last);
            }
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = read(&bytes);
        }
    }
}
