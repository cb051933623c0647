//! Numbers and texts as bytes, one behind the other. Numbers that grow are kept as differences;
//! very many of them to the bit.

use super::sign::Sign;
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

/// Appends the first bytes of words.
pub(super) fn put_sign<const WORDS: usize>(bytes: &mut Vec<u8>, sign: &Sign<WORDS>, length: usize) {
    let all = sign.iter().flat_map(|word| word.to_le_bytes());
    bytes.extend(all.take(length));
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

    /// The next so many bytes, no more than it has room for, as words.
    pub(super) fn sign<const WORDS: usize>(&mut self, length: usize) -> Result<Sign<WORDS>, Error> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        let mut sign = [0; WORDS];
        for (word, bytes) in sign.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        Ok(sign)
    }

    /// What [`put_sorted`] has written, to the end.
    pub(super) fn sorted(mut self) -> Result<Sorted<'a>, Error> {
        let (left, number) = (self.number()?, self.number()?);
        let (low, other) = (self.small()?, self.small()?);
        if low >= 64 || other > 64 {
            return Err(broken());
        }
        Ok(Sorted {
            left,
            number,
            low,
            other,
            bits: TakenBits::new(self.0),
        })
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

/// Numbers that do not fall, each with another.
pub(super) struct Sorted<'a> {
    left: u64,
    /// The last one, or the first of all.
    number: u64,
    low: u32,
    other: u32,
    bits: TakenBits<'a>,
}

impl Sorted<'_> {
    pub(super) fn next(&mut self) -> Result<Option<(u64, u64)>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let full = self.bits.ones()?;
        let difference = full.checked_mul(1 << self.low).ok_or_else(broken)?;
        let difference = difference | self.bits.take(self.low)?;
        self.number = self.number.checked_add(difference).ok_or_else(broken)?;
        Ok(Some((self.number, self.bits.take(self.other)?)))
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
        bits.put_ones(bytes, difference >> low);
        bits.put(bytes, difference & ((1 << low) - 1), low);
        bits.put(bytes, with, other);
        before = number;
    }
    bits.finish(bytes);
}

/// Bits that wait to be written.
#[derive(Default)]
struct Bits {
    waiting: u128,
    /// Fewer than 64.
    count: u32,
}

impl Bits {
    fn put(&mut self, bytes: &mut Vec<u8>, number: u64, bits: u32) {
        self.waiting |= u128::from(number) << self.count;
        self.count += bits;
        if self.count >= u64::BITS {
            bytes.extend_from_slice(&(self.waiting as u64).to_le_bytes());
            self.waiting >>= u64::BITS;
            self.count -= u64::BITS;
        }
    }

    /// So many ones, and a zero.
    fn put_ones(&mut self, bytes: &mut Vec<u8>, mut count: u64) {
        const SOME: u32 = 32;
        while count >= u64::from(SOME) {
            self.put(bytes, (1 << SOME) - 1, SOME);
            count -= u64::from(SOME);
        }
        self.put(bytes, (1 << count) - 1, count as u32 + 1);
    }

    fn finish(self, bytes: &mut Vec<u8>) {
        let count = self.count.div_ceil(8) as usize;
        bytes.extend_from_slice(&self.waiting.to_le_bytes()[..count]);
    }
}

/// Bits that are read, from the lowest of the first byte.
struct TakenBits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> TakenBits<'a> {
    /// Bits that are seen at once, whatever the place in a byte.
    const SEEN: u32 = u64::BITS - 7;

    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next [`Self::SEEN`], with zeros behind the end.
    fn seen(&self) -> u64 {
        let from = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = match from.first_chunk() {
            Some(word) => *word,
            None => {
                let mut word = [0; 8];
                word[..from.len()].copy_from_slice(from);
                word
            }
        };
        u64::from_le_bytes(word) >> (self.at % 8)
    }

    fn pass(&mut self, bits: u32) -> Result<(), Error> {
        self.at += bits as usize;
        match self.at <= 8 * self.bytes.len() {
            true => Ok(()),
            false => Err(broken()),
        }
    }

    /// How many ones come before a zero, which is passed too.
    fn ones(&mut self) -> Result<u64, Error> {
        let mut count = 0;
        loop {
            let ones = self.seen().trailing_ones().min(Self::SEEN);
            count += u64::from(ones);
            if ones < Self::SEEN {
                self.pass(ones + 1)?;
                return Ok(count);
            }
            self.pass(ones)?;
        }
    }

    fn take(&mut self, bits: u32) -> Result<u64, Error> {
        if bits > Self::SEEN {
            let low = self.take(32)?;
            return Ok(low | self.take(bits - 32)? << 32);
        }
        let number = self.seen() & ((1 << bits) - 1);
        self.pass(bits)?;
        Ok(number)
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
            let mut packed = Unpack(&bytes).sorted().unwrap();
            let mut unpacked = Vec::new();
            while let Some(entry) = packed.next().unwrap() {
                unpacked.push(entry);
            }
            assert_eq!(unpacked, entries);
        }

        #[test]
        fn any_bytes_are_taken_or_refused(bytes: Vec<u8>) {
            if let Ok(mut packed) = Unpack(&bytes).sorted() {
                while let Ok(Some(_)) = packed.next() {}
            }
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
