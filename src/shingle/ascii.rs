//! Words of ASCII text, found 64 characters at a time and hashed where they
//! stand. The same words as the general path's: the tests of
//! [`words`](super::words) compare them.
//!
//! A block of 64 characters becomes one 64-bit mask per class of characters.
//! UAX #29's rules for ASCII are then a few shifts: a word is a run of letters,
//! digits and `_`, and of those characters between two letters or two digits that
//! join them. Runs are found by counting zeros; no character is branched on.

use super::hash;
use super::normalise::Case;
use crate::simd::{self, BLOCK, Classes, Masks, Work};

/// Where the first byte stands that is not ASCII.
pub(super) fn first_other(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let clean = blocks.iter().take_while(|block| block.is_ascii()).count();
    let tail = blocks.get(clean).map_or(rest, <[u8; BLOCK]>::as_slice);
    tail.iter()
        .position(|byte| !byte.is_ascii())
        .map(|at| clean * BLOCK + at)
}

/// Appends the hash of every word of `text`, which is ASCII.
pub(super) fn words(text: &[u8], case: Case, hashes: &mut Vec<u64>) {
    hashes.reserve(text.len() / BYTES_PER_WORD);
    simd::run(Words { text, case, hashes });
}

/// Bytes of text for which room for a word is made beforehand.
const BYTES_PER_WORD: usize = 5;

struct Words<'a> {
    text: &'a [u8],
    case: Case,
    hashes: &'a mut Vec<u64>,
}

impl Work for Words<'_> {
    type Output = ();

    #[inline(always)]
    fn with<M: Masks>(self) {
        let Self { text, case, hashes } = self;
        let mut runs = Runs::default();
        let mut emit = |start: usize, end: usize| {
            if text[start] != b'_' || text[start..end].iter().any(u8::is_ascii_alphanumeric) {
                hashes.push(word_hash(text, start, end, case));
            }
        };
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        for (index, block) in blocks.iter().enumerate() {
            let next = text.get((index + 1) * BLOCK).copied().unwrap_or(0);
            runs.block(index * BLOCK, &M::classes(block), next, &mut emit);
        }
        // What is left is filled up with zeros, which end the last word.
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        runs.block(blocks.len() * BLOCK, &M::classes(&block), 0, &mut emit);
    }
}

/// What must be known of the blocks before.
#[derive(Default)]
struct Runs {
    /// Where the word started that reaches the end of the last block.
    open: Option<usize>,
    /// Whether the last character is a letter, or a digit; 0 or 1.
    letter: u64,
    digit: u64,
}

impl Runs {
    /// Calls `emit` with the start and end of every word that ends in the block
    /// at `base`. `next` is the character behind it.
    #[inline(always)]
    fn block(
        &mut self,
        base: usize,
        classes: &Classes,
        next: u8,
        emit: &mut impl FnMut(usize, usize),
    ) {
        let between = |mid: u64, side: u64, before: u64, after: bool| {
            let after = u64::from(after) << 63;
            mid & (side << 1 | before) & (side >> 1 | after)
        };
        let (letter, digit) = (classes.letter, classes.digit);
        let joining = between(
            classes.mid_letter,
            letter,
            self.letter,
            next.is_ascii_alphabetic(),
        ) | between(classes.mid_digit, digit, self.digit, next.is_ascii_digit());
        let word = letter | digit | classes.extend | joining;
        self.letter = letter >> 63;
        self.digit = digit >> 63;

        let before = word << 1 | u64::from(self.open.is_some());
        let mut starts = word & !before;
        let mut ends = !word & before;
        while ends != 0 {
            let end = base + ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let start = match self.open.take() {
                Some(start) => start,
                None => {
                    let start = base + starts.trailing_zeros() as usize;
                    starts &= starts.wrapping_sub(1);
                    start
                }
            };
            emit(start, end);
        }
        if starts != 0 {
            self.open = Some(base + starts.trailing_zeros() as usize);
        }
    }
}

/// The hash of `text[start..end]`, lower-cased if so asked.
#[inline]
pub(super) fn word_hash(text: &[u8], start: usize, end: usize, case: Case) -> u64 {
    let chunk = |at: usize| {
        // Only what belongs to the word; it has a byte at least.
        let length = (end - at).min(8) as u32;
        let chunk = eight_bytes(text, at) & (u64::MAX >> (64 - 8 * length));
        match case {
            Case::Fold => lower_case(chunk),
            Case::Keep => chunk,
        }
    };
    let mut state = hash::absorb(hash::start(), chunk(start));
    let mut at = start + 8;
    while at < end {
        state = hash::absorb(state, chunk(at));
        at += 8;
    }
    hash::finish(state, end - start)
}

#[inline]
fn eight_bytes(text: &[u8], at: usize) -> u64 {
    let rest = &text[at..];
    match rest.first_chunk() {
        Some(&chunk) => u64::from_le_bytes(chunk),
        None => {
            let mut chunk = [0; 8];
            chunk[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(chunk)
        }
    }
}

/// Eight ASCII characters in lower case. The sums' high bits tell, byte by
/// byte, what is at least `A` and what is more than `Z`.
#[inline]
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
        fn the_first_other_byte_is_found(bytes in proptest::collection::vec(0_u8..129, 0..200)) {
            prop_assert_eq!(first_other(&bytes), bytes.iter().position(|&byte| byte > 127));
        }
    }
}
