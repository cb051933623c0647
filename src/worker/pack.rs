//! Numbers and texts as bytes, one behind the other. Numbers that grow are kept as differences;
//! very many of them to the bit.

use super::stage_error;
use crate::error::Error;

/// Appends a number, seven bits to a byte.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a text and its length.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// What was packed, taken from its start.
pub(super) struct Unpack<'a>(pub(super) &'a [u8]);

impl<'a> Unpack<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next number.
    pub(super) fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or_else(broken)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(broken());
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(broken())
    }

    /// The same as a number of 32 bits.
    pub(super) fn small(&mut self) -> Result<u32, Error> {
        self.number()?.try_into().map_err(|_| broken())
    }

    /// The next four bytes.
    pub(super) fn word(&mut self) -> Result<u32, Error> {
        let (word, rest) = self.0.split_first_chunk().ok_or_else(broken)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*word))
    }

    /// The next sixteen bytes.
    pub(super) fn wide(&mut self) -> Result<u128, Error> {
        let (wide, rest) = self.0.split_first_chunk().ok_or_else(broken)?;
        self.0 = rest;
        Ok(u128::from_le_bytes(*wide))
    }

    /// What [`put_sorted`] has written.
    pub(super) fn sorted(
        &mut self,
        mut each: impl FnMut(u64, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (count, mut number) = (self.number()?, self.number()?);
        let (low, other) = (self.small()?, self.small()?);
        if low >= 64 || other > 64 {
            return Err(broken());
        }
        let mut bits = Bits::default();
        for _ in 0..count {
            let mut full = 0_u64;
            while bits.take(&mut self.0, 1)? == 1 {
                full += 1;
            }
            let difference = full.checked_mul(1 << low).ok_or_else(broken)?;
            let difference = difference | bits.take(&mut self.0, low)?;
            number = number.checked_add(difference).ok_or_else(broken)?;
            each(number, bits.take(&mut self.0, other)?)?;
        }
        Ok(())
    }

    /// The next text.
    pub(super) fn text(&mut self) -> Result<&'a str, Error> {
        let length = self.number()?;
        let length = usize::try_from(length).ok();
        let (text, rest) = length
            .and_then(|length| self.0.split_at_checked(length))
            .ok_or_else(broken)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| broken())
    }
}

/// Numbers that do not fall, each with a smaller one that may be any: of the differences of the
/// first the low bits, and how often these are full as so many ones and a zero (Rice's code); of
/// the other as many bits as the largest needs.
pub(super) fn put_sorted(bytes: &mut Vec<u8>, entries: &[(u64, u64)]) {
    let first = entries.first().map_or(0, |entry| entry.0);
    let last = entries.last().map_or(0, |entry| entry.0);
    let mean = (last - first) / entries.len().max(1) as u64;
    let low = mean.max(1).ilog2();
    let largest = entries.iter().map(|entry| entry.1).max().unwrap_or(0);
    let other = u64::BITS - largest.leading_zeros();
    put(bytes, entries.len() as u64);
    put(bytes, first);
    put(bytes, low.into());
    put(bytes, other.into());
    let mut bits = Bits::default();
    let mut before = first;
    for &(number, with) in entries {
        let difference = number - before;
        for _ in 0..difference >> low {
            bits.put(bytes, 1, 1);
        }
        bits.put(bytes, 0, 1);
        bits.put(bytes, difference & ((1 << low) - 1), low);
        bits.put(bytes, with, other);
        before = number;
    }
    bits.finish(bytes);
}

/// Bits that are not yet a byte.
#[derive(Default)]
struct Bits {
    waiting: u128,
    count: u32,
}

impl Bits {
    fn put(&mut self, bytes: &mut Vec<u8>, number: u64, bits: u32) {
        self.waiting |= u128::from(number) << self.count;
        self.count += bits;
        while self.count >= 8 {
            bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }

    fn finish(self, bytes: &mut Vec<u8>) {
        if self.count > 0 {
            bytes.push(self.waiting as u8);
        }
    }

    fn take(&mut self, from: &mut &[u8], bits: u32) -> Result<u64, Error> {
        while self.count < bits {
            let (&byte, rest) = from.split_first().ok_or_else(broken)?;
            *from = rest;
            self.waiting |= u128::from(byte) << self.count;
            self.count += 8;
        }
        let number = self.waiting & ((1_u128 << bits) - 1);
        self.waiting >>= bits;
        self.count -= bits;
        Ok(number as u64)
    }
}

/// What does not read as it was written.
pub(super) fn broken() -> Error {
    stage_error("the bytes of a row are damaged, or of another version of simdup")
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn what_was_packed_is_unpacked(numbers: Vec<u64>, text: String) {
            let mut bytes = Vec::new();
            put_text(&mut bytes, &text);
            numbers.iter().for_each(|&number| put(&mut bytes, number));
            let mut packed = Unpack(&bytes);
            assert_eq!(packed.text().unwrap(), text);
            for number in numbers {
                assert_eq!(packed.number().unwrap(), number);
            }
            assert!(packed.is_empty() && packed.number().is_err());
        }

        #[test]
        fn what_was_packed_to_the_bit_is_unpacked(mut entries: Vec<(u64, u64)>, shift in 0_u32..60) {
            entries.iter_mut().for_each(|entry| entry.0 >>= shift);
            entries.sort_unstable();
            let mut bytes = Vec::new();
            put_sorted(&mut bytes, &entries);
            put(&mut bytes, 7);
            let mut packed = Unpack(&bytes);
            let mut unpacked = Vec::new();
            packed.sorted(|number, with| {
                unpacked.push((number, with));
                Ok(())
            }).unwrap();
            assert_eq!(unpacked, entries);
            assert_eq!(packed.number().unwrap(), 7);
        }

        #[test]
        fn any_bytes_are_taken_or_refused(bytes: Vec<u8>) {
            let _ = Unpack(&bytes).sorted(|_, _| Ok(()));
            let mut packed = Unpack(&bytes);
            while !packed.is_empty() {
                if packed.number().is_err() {
                    break;
                }
            }
            let _ = Unpack(&bytes).text();
        }
    }
}
