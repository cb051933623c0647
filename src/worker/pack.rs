//! Numbers and texts as bytes, one behind the other. Numbers that grow are kept as differences.

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

    /// The next eight bytes.
    pub(super) fn word(&mut self) -> Result<u64, Error> {
        let (word, rest) = self.0.split_first_chunk().ok_or_else(broken)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
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
        fn any_bytes_are_taken_or_refused(bytes: Vec<u8>) {
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
