//! Words of text in any script, a character at a time, as long as a table knows
//! each character. The same words as the general path's: the tests of
//! [`words`](super::words) compare them.

use super::alphabet::{Alphabet, Character, Class};
use super::hash;
use super::normalise::Case;

/// ASCII of at least this length goes back to the path made for it.
const ASCII_RUN: usize = 64;

/// Why the table's words end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// At a place where the text may be cut, as ASCII follows; or at the text's end.
    Cut(usize),
    /// The table does not know the character at `at`: what stands between the last
    /// cut before it and the next one behind it needs the general path.
    Complex { cut: usize, at: usize },
}

/// Appends the hashes of the words from `start` on, up to where the table ends.
/// The text may be cut at `start`.
pub(super) fn words(text: &[u8], start: usize, case: Case, hashes: &mut Vec<u64>) -> Stop {
    let alphabet = Alphabet::of(case);
    let mut word = Word::default();
    let mut cut = start;
    let mut words_before_cut = hashes.len();
    let mut before = Class::Break;
    let mut at = start;
    while at < text.len() {
        let (character, length) = alphabet.character(text, at);
        let class = character.class;
        if is_cut(before, class) {
            cut = at;
            words_before_cut = hashes.len();
            if text[at].is_ascii() && text[at..text.len().min(at + ASCII_RUN)].is_ascii() {
                return Stop::Cut(at);
            }
        }
        match class {
            Class::Letter | Class::Hebrew | Class::Digit | Class::Extend | Class::Katakana => {
                if !joins(word.last, class) {
                    word.end(hashes);
                }
                word.push(character);
                word.last = class;
            }
            Class::Break | Class::Space => word.end(hashes),
            Class::Solo => {
                word.end(hashes);
                word.push(character);
                word.last = class;
                word.end(hashes);
            }
            Class::MidLetter | Class::MidDigit | Class::MidBoth | Class::DoubleQuote => {
                let next = match text.len() - at > length {
                    true => alphabet.character(text, at + length).0.class,
                    false => Class::Break,
                };
                let is_quote = class == Class::MidBoth && character.bytes == u32::from(b'\'');
                if is_between(word.last, class, next) {
                    word.push(character);
                } else if word.last == Class::Hebrew && is_quote {
                    word.push(character);
                    word.end(hashes);
                } else {
                    word.end(hashes);
                }
            }
            Class::Complex => {
                hashes.truncate(words_before_cut);
                return Stop::Complex { cut, at };
            }
        }
        before = class;
        at += length;
    }
    word.end(hashes);
    Stop::Cut(text.len())
}

/// The first place behind `at` where the text may be cut and that is at least
/// `least` bytes away, or the end.
pub(super) fn next_cut(text: &[u8], mut at: usize, least: usize) -> usize {
    let alphabet = Alphabet::of(Case::Keep);
    let end = at + least;
    let mut before = Class::Complex;
    while at < text.len() {
        let (character, length) = alphabet.character(text, at);
        if is_cut(before, character.class) && at >= end {
            return at;
        }
        before = character.class;
        at += length;
    }
    text.len()
}

/// Whether a text may be cut between two such characters, so that no rule of
/// normalising, lower-casing or word boundaries looks across. White space may not
/// follow: a run of it is one segment, and a mark behind it belongs to the whole run.
#[inline]
fn is_cut(before: Class, after: Class) -> bool {
    matches!(before, Class::Space | Class::Solo) && !matches!(after, Class::Complex | Class::Space)
}

/// Whether a character goes on with a word that ends with another.
#[inline]
fn joins(last: Class, class: Class) -> bool {
    match last {
        Class::Letter | Class::Hebrew | Class::Digit => class != Class::Katakana,
        Class::Katakana => matches!(class, Class::Katakana | Class::Extend),
        Class::Extend => true,
        _ => false,
    }
}

/// Whether a character joins those on both sides of it.
#[inline]
fn is_between(last: Class, class: Class, next: Class) -> bool {
    let is_letter = |class| matches!(class, Class::Letter | Class::Hebrew);
    let letters = is_letter(last) && is_letter(next);
    let digits = last == Class::Digit && next == Class::Digit;
    match class {
        Class::MidLetter => letters,
        Class::MidDigit => digits,
        Class::MidBoth => letters || digits,
        Class::DoubleQuote => last == Class::Hebrew && next == Class::Hebrew,
        _ => false,
    }
}

/// A word being read: its hash so far, kept in registers.
struct Word {
    state: u64,
    chunk: u64,
    /// Bits of the chunk that are filled.
    bits: u32,
    length: usize,
    /// The last character that is not between two others; [`Class::Break`] if there
    /// is none.
    last: Class,
    /// Whether there is more to it than `_`.
    is_word: bool,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            state: hash::start(),
            chunk: 0,
            bits: 0,
            length: 0,
            last: Class::Break,
            is_word: false,
        }
    }
}

impl Word {
    #[inline]
    fn push(&mut self, character: Character) {
        let bytes = u64::from(character.bytes);
        let added = 8 * u32::from(character.length);
        self.chunk |= bytes << self.bits;
        self.bits += added;
        self.length += usize::from(character.length);
        self.is_word |= character.class != Class::Extend;
        if self.bits >= 64 {
            self.state = hash::absorb(self.state, self.chunk);
            self.bits -= 64;
            self.chunk = bytes >> (added - self.bits);
        }
    }

    /// Ends the word, if there is one, and appends its hash.
    #[inline]
    fn end(&mut self, hashes: &mut Vec<u64>) {
        if self.last == Class::Break {
            return;
        }
        if self.is_word {
            if self.bits > 0 {
                self.state = hash::absorb(self.state, self.chunk);
            }
            hashes.push(hash::finish(self.state, self.length));
        }
        *self = Self::default();
    }
}
