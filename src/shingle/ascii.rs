//! Words of ASCII text, straight from a table of character classes, hashed as
//! they are found. The same words as the general path's: the tests of
//! [`words`](super::words) compare them.

use super::hash;
use super::normalise::Case;

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
/// `_`, which joins letters and digits but is no word by itself.
const EXTEND: u8 = 4;
/// Joins two letters.
const MID_LETTER: u8 = 8;
/// Joins two digits.
const MID_DIGIT: u8 = 16;
const WORD: u8 = LETTER | DIGIT | EXTEND;

/// UAX #29's classes, as far as ASCII has them.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => EXTEND,
            b':' => MID_LETTER,
            b',' | b';' => MID_DIGIT,
            b'.' | b'\'' => MID_LETTER | MID_DIGIT,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn class(byte: u8) -> u8 {
    CLASS[usize::from(byte)]
}

/// Where the first byte stands that is not ASCII.
pub(super) fn first_other(bytes: &[u8]) -> Option<usize> {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let clean = chunks
        .iter()
        .take_while(|&&chunk| u64::from_le_bytes(chunk) & HIGH_BITS == 0)
        .count();
    let tail = if clean == chunks.len() {
        rest
    } else {
        &chunks[clean]
    };
    tail.iter()
        .position(|byte| !byte.is_ascii())
        .map(|at| clean * 8 + at)
}

/// Calls `each` with the hash of every word of `text`, which is ASCII.
pub(super) fn for_each_word(text: &[u8], case: Case, mut each: impl FnMut(u64)) {
    let mut at = 0;
    while at < text.len() {
        if class(text[at]) & WORD == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let mut seen = 0;
        loop {
            while at < text.len() && class(text[at]) & WORD != 0 {
                seen |= class(text[at]);
                at += 1;
            }
            if !joins(text, at) {
                break;
            }
            at += 1;
        }
        if seen & (LETTER | DIGIT) != 0 {
            each(word_hash(text, start, at, case));
        }
    }
}

/// Whether the character at `at`, with a word before it, stands inside one.
fn joins(text: &[u8], at: usize) -> bool {
    let Some(&[middle, after]) = text.get(at..at + 2) else {
        return false;
    };
    let sides = class(text[at - 1]) & class(after);
    let middle = class(middle);
    (middle & MID_LETTER != 0 && sides & LETTER != 0)
        || (middle & MID_DIGIT != 0 && sides & DIGIT != 0)
}

/// The hash of `text[start..end]`, lower-cased if so asked.
fn word_hash(text: &[u8], start: usize, end: usize, case: Case) -> u64 {
    let mut state = hash::start();
    let mut at = start;
    while at < end {
        let mut chunk = eight_bytes(text, at);
        let length = end - at;
        if length < 8 {
            chunk &= (1 << (8 * length)) - 1;
        }
        if case == Case::Fold {
            chunk = lower_case(chunk);
        }
        state = hash::absorb(state, chunk);
        at += 8;
    }
    hash::finish(state, end - start)
}

fn eight_bytes(text: &[u8], at: usize) -> u64 {
    match text[at..].first_chunk() {
        Some(&chunk) => u64::from_le_bytes(chunk),
        None => {
            let mut chunk = [0; 8];
            let rest = &text[at..];
            chunk[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(chunk)
        }
    }
}

/// Eight ASCII characters in lower case. The sums' high bits tell, byte by
/// byte, what is at least `A` and what is more than `Z`.
fn lower_case(chunk: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let from_a = chunk + ONES * (0x80 - b'A' as u64);
    let after_z = chunk + ONES * (0x80 - b'Z' as u64 - 1);
    let capital = (from_a ^ after_z) & (ONES * 0x80);
    chunk | capital >> 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lower_case_is_ascii_lower_case(bytes in proptest::array::uniform8(0_u8..128)) {
            let lower = lower_case(u64::from_le_bytes(bytes)).to_le_bytes();
            prop_assert_eq!(lower, bytes.map(|byte| byte.to_ascii_lowercase()));
        }

        #[test]
        fn the_first_other_byte_is_found(bytes in proptest::collection::vec(0_u8..130, 0..80)) {
            prop_assert_eq!(first_other(&bytes), bytes.iter().position(|&byte| byte > 127));
        }
    }
}
