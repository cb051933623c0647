//! From a sequence of tokens to its shingles: which windows of tokens count.

use std::ops::{Range, RangeInclusive};

use super::Shingle;
use super::hash::BASE;

/// The windows of tokens that make shingles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Tokens per shingle, every size in the range.
    pub sizes: RangeInclusive<usize>,
    /// A shingle starts every so many tokens.
    pub step: usize,
    /// The last tokens are followed by the first.
    pub wrap: bool,
}

impl Windows {
    /// Most tokens of a shingle.
    pub const SIZE_MAX: usize = 10_000;

    /// Whether there can be such windows.
    pub(crate) fn are_possible(&self) -> bool {
        let (least, most) = (*self.sizes.start(), *self.sizes.end());
        self.step > 0 && 1 <= least && least <= most && most <= Self::SIZE_MAX
    }

    /// Windows of one size, one starting at every token.
    pub fn of(size: usize) -> Self {
        Self {
            sizes: size..=size,
            step: 1,
            wrap: false,
        }
    }

    /// Appends the shingles of `tokens` in document order, size by size.
    ///
    /// Fewer tokens than one shingle has make a shingle all the same; on a
    /// circle, the least of all its rotations, as no place is the first.
    pub(super) fn shingle(&self, tokens: &mut TokenSequence, shingles: &mut Vec<Shingle>) {
        let count = tokens.len();
        let (least, most) = (*self.sizes.start(), *self.sizes.end());
        if count == 0 {
            return;
        }
        if self.wrap {
            tokens.hashes.extend_from_within(..most.min(count) - 1);
        }
        if count < least {
            let starts = if self.wrap { count } else { 1 };
            shingles.extend(tokens.windows(count, starts).min());
            return;
        }
        if most == 1 && self.step == 1 {
            shingles.extend(tokens.hashes.iter().map(|&token| Shingle(token)));
            return;
        }
        let is_plain = least == most && self.step == 1 && !self.wrap;
        if count > HUGE_TOKENS && is_plain && shingles.is_empty() {
            *shingles = tokens.take_windows(least);
            return;
        }
        for size in least..=most.min(count) {
            let starts = if self.wrap { count } else { count - size + 1 };
            let windows = tokens.windows(size, starts);
            match self.step {
                1 => shingles.extend(windows),
                step => shingles.extend(windows.step_by(step)),
            }
        }
    }
}

impl Windows {
    /// The shingles of these tokens, each with the tokens that it is made of; on a circle, only
    /// those that do not go round.
    pub(crate) fn places(&self, tokens: &[u64]) -> Vec<(Range<usize>, Shingle)> {
        let mut places = Vec::new();
        let sequence = TokenSequence {
            hashes: tokens.to_vec(),
        };
        let count = tokens.len();
        let (least, most) = (*self.sizes.start(), *self.sizes.end());
        if count > 0 && count < least {
            places.extend(
                sequence
                    .windows(count, 1)
                    .map(|shingle| (0..count, shingle)),
            );
        }
        for size in least..=most.min(count) {
            let windows = sequence.windows(size, count - size + 1).enumerate();
            let windows = windows.step_by(self.step);
            places.extend(windows.map(|(start, shingle)| (start..start + size, shingle)));
        }
        places
    }
}

/// Tokens from which on a document is huge: its tokens and its shingles are not held both.
const HUGE_TOKENS: usize = 1 << 20;

/// The tokens of a document by their hashes.
#[derive(Debug, Default)]
pub(super) struct TokenSequence {
    hashes: Vec<u64>,
}

impl TokenSequence {
    /// Where tokens are appended.
    pub(super) fn hashes_mut(&mut self) -> &mut Vec<u64> {
        &mut self.hashes
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Removes all tokens.
    pub(super) fn clear(&mut self) {
        self.hashes.clear();
    }

    /// The hashes of the windows of `size` tokens that start at one of the first
    /// `starts` tokens. Each comes from the one before: a token more, a token less.
    fn windows(&self, size: usize, starts: usize) -> impl Iterator<Item = Shingle> {
        let power = (0..size).fold(1_u64, |power, _| power.wrapping_mul(BASE));
        let (first, rest) = self.hashes.split_at(size);
        let mut hash = first.iter().fold(0_u64, |hash, &token| {
            hash.wrapping_mul(BASE).wrapping_add(token)
        });
        let rolled = rest.iter().zip(&self.hashes).map(move |(new, &old)| {
            let change = new.wrapping_sub(old.wrapping_mul(power));
            hash = hash.wrapping_mul(BASE).wrapping_add(change);
            Shingle(hash)
        });
        std::iter::once(Shingle(hash)).chain(rolled).take(starts)
    }

    /// All windows of `size` tokens, each in the place of its first token: no token is left, and
    /// no further memory is taken.
    fn take_windows(&mut self, size: usize) -> Vec<Shingle> {
        let mut hashes = std::mem::take(&mut self.hashes);
        let power = (0..size).fold(1_u64, |power, _| power.wrapping_mul(BASE));
        let mut hash = hashes[..size].iter().fold(0_u64, |hash, &token| {
            hash.wrapping_mul(BASE).wrapping_add(token)
        });
        let rolled = hashes.len() - size;
        for start in 0..rolled {
            let (old, new) = (hashes[start], hashes[start + size]);
            hashes[start] = hash;
            let change = new.wrapping_sub(old.wrapping_mul(power));
            hash = hash.wrapping_mul(BASE).wrapping_add(change);
        }
        hashes[rolled] = hash;
        hashes.truncate(rolled + 1);
        // Collected into the vector that they are in.
        hashes.into_iter().map(Shingle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by the definition: each window's polynomial, written out.
    fn twin(windows: &Windows, tokens: &[u64]) -> Vec<Shingle> {
        let hash = |window: &[u64]| {
            Shingle(window.iter().fold(0_u64, |hash, &token| {
                hash.wrapping_mul(BASE).wrapping_add(token)
            }))
        };
        let n = tokens.len();
        let circle = |start: usize, size: usize| -> Vec<u64> {
            (start..start + size).map(|i| tokens[i % n]).collect()
        };
        if n == 0 {
            return vec![];
        }
        if n < *windows.sizes.start() {
            return match windows.wrap {
                false => vec![hash(tokens)],
                true => (0..n)
                    .map(|start| hash(&circle(start, n)))
                    .min()
                    .into_iter()
                    .collect(),
            };
        }
        let mut all = vec![];
        for size in windows.sizes.clone().filter(|&size| size <= n) {
            for start in (0..n).step_by(windows.step) {
                if windows.wrap || start + size <= n {
                    all.push(hash(&circle(start, size)));
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn windows_are_what_the_definition_says(
            tokens in proptest::collection::vec(any::<u64>(), 0..30),
            least in 1_usize..8,
            more in 0_usize..4,
            step in 1_usize..5,
            wrap in any::<bool>(),
        ) {
            let windows = Windows { sizes: least..=least + more, step, wrap };
            let mut sequence = TokenSequence::default();
            sequence.hashes_mut().extend_from_slice(&tokens);
            let mut shingles = vec![];
            windows.shingle(&mut sequence, &mut shingles);
            prop_assert_eq!(&shingles, &twin(&windows, &tokens));
            if !wrap {
                let placed = windows.places(&tokens).into_iter().map(|(_, shingle)| shingle);
                prop_assert_eq!(placed.collect::<Vec<_>>(), shingles);
            }
        }

        #[test]
        fn windows_in_the_place_of_tokens_are_the_same(
            tokens in proptest::collection::vec(any::<u64>(), 1..30),
            size in 1_usize..8,
        ) {
            let size = size.min(tokens.len());
            let mut sequence = TokenSequence { hashes: tokens.clone() };
            prop_assert_eq!(sequence.take_windows(size), twin(&Windows::of(size), &tokens));
            prop_assert_eq!(sequence.len(), 0);
        }

        #[test]
        fn a_circle_has_no_first_place(
            tokens in proptest::collection::vec(any::<u64>(), 1..12),
            turn in 0_usize..12,
            size in 1_usize..15,
        ) {
            let windows = Windows { sizes: size..=size, step: 1, wrap: true };
            let set = |tokens: &[u64]| {
                let mut sequence = TokenSequence::default();
                sequence.hashes_mut().extend_from_slice(tokens);
                let mut shingles = vec![];
                windows.shingle(&mut sequence, &mut shingles);
                shingles.sort_unstable();
                shingles
            };
            let mut turned = tokens.clone();
            turned.rotate_left(turn % tokens.len());
            prop_assert_eq!(set(&tokens), set(&turned));
        }
    }
}
