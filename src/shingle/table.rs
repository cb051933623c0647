//! Words of text in any script, a character at a time, as long as a table knows what
//! to do with each. The same words as the general path's: the tests of
//! [`words`](super::words) compare them.

use super::alphabet::{Alphabet, Character, Class};
use super::compose::Composer;
use super::hash;
use super::normalise::Case;

/// ASCII of at least this length goes back to the path made for it.
const ASCII_RUN: usize = 64;

/// Why the table's words end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// At a place where the text may be cut, as ASCII follows; or at the text's end.
    Cut(usize),
    /// The table does not know what to do at `at`: what stands between the last
    /// cut before it and the next one behind it needs the general path.
    Complex { cut: usize, at: usize },
}

/// Appends the hashes of the words from `start` on, up to where the table ends.
/// The text may be cut at `start`.
pub(super) fn words(
    text: &str,
    start: usize,
    case: Case,
    composer: &mut Composer,
    hashes: &mut Vec<u64>,
) -> Stop {
    let alphabet = Alphabet::of(case);
    let bytes = text.as_bytes();
    let mut reader = Reader::default();
    let mut cut = start;
    let mut words_before_cut = hashes.len();
    let mut at = start;
    let (mut character, mut length) = alphabet.character(bytes, at);
    while at < bytes.len() {
        if Character::is_cut(reader.before, character) {
            reader.end(hashes);
            cut = at;
            words_before_cut = hashes.len();
            if bytes[at].is_ascii() && bytes[at..bytes.len().min(at + ASCII_RUN)].is_ascii() {
                return Stop::Cut(at);
            }
        }
        let mut end = at + length;
        let mut next = alphabet.character(bytes, end);
        if matches!(reader.word.last, Class::Letter | Class::Hebrew) {
            // Most characters are letters among letters: a loop with little to remember.
            while character.is_letter() && !next.0.is_attached() {
                reader.word.push(character);
                reader.word.last = character.class;
                reader.before = character;
                at = end;
                (character, length) = next;
                end = at + length;
                next = alphabet.character(bytes, end);
            }
        }
        let is_alone = !next.0.is_attached()
            // One mark that changes nothing, which is then taken by itself.
            || character.is_lasting()
                && next.0.is_lasting()
                && character.order <= next.0.order
                && !alphabet.character(bytes, end + next.1).0.is_attached();
        let mut is_known = is_alone && reader.take(character, hashes);
        if !is_known {
            // By way of a copy, so that the reader itself stays in registers.
            let mut copy = reader;
            (is_known, end) = copy.take_group(alphabet, text, at, composer, hashes);
            reader = copy;
            next = alphabet.character(bytes, end);
        }
        if !is_known {
            hashes.truncate(words_before_cut);
            return Stop::Complex { cut, at };
        }
        at = end;
        (character, length) = next;
    }
    reader.end(hashes);
    Stop::Cut(bytes.len())
}

/// The first place behind `at` where the text may be cut and that is at least
/// `least` bytes away, or the end.
pub(super) fn next_cut(text: &[u8], mut at: usize, least: usize) -> usize {
    let alphabet = Alphabet::of(Case::Keep);
    let end = at + least;
    let mut before = Character::NONE;
    while at < text.len() {
        let (character, length) = alphabet.character(text, at);
        if Character::is_cut(before, character) && at >= end {
            return at;
        }
        if character.class != Class::Unseen {
            before = character;
        }
        at += length;
    }
    text.len()
}

/// Whether a character goes on with a word that ends with another.
#[inline]
fn joins(last: Class, class: Class) -> bool {
    match last {
        Class::Letter | Class::Hebrew | Class::Digit => class != Class::Katakana,
        Class::Katakana => matches!(class, Class::Katakana | Class::Connector),
        Class::Connector => true,
        Class::Quoted => matches!(class, Class::Letter | Class::Hebrew),
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

/// What has been read of the text.
#[derive(Clone, Copy)]
struct Reader {
    word: Word,
    /// The word without what may join it to another: if that is the word's last class.
    shorter: Word,
    /// The last character of the normalised text.
    before: Character,
    /// Whether that is white space by itself.
    is_lone: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            word: Word::default(),
            shorter: Word::default(),
            before: Character::NONE,
            is_lone: false,
        }
    }
}

impl Reader {
    /// Takes a character that others do not change, if that is simply done.
    #[inline(always)]
    fn take(&mut self, character: Character, hashes: &mut Vec<u64>) -> bool {
        let class = character.class;
        match class {
            Class::Letter | Class::Hebrew | Class::Digit | Class::Connector | Class::Katakana => {
                let last = self.word.last;
                if !joins(last, class) && !is_between(self.shorter.last, last, class) {
                    self.end(hashes);
                }
                self.word.push(character);
                self.word.last = class;
            }
            Class::Break | Class::Regional => self.end(hashes),
            Class::Space => {
                self.end(hashes);
                self.is_lone = self.before.class != Class::Space;
            }
            Class::Solo => {
                self.end(hashes);
                self.word.push(character);
                self.word.last = class;
            }
            Class::MidLetter | Class::MidDigit | Class::MidBoth | Class::DoubleQuote => {
                let last = self.word.last;
                let is_quote = character.bytes == u32::from(b'\'');
                if last == Class::Hebrew && is_quote {
                    self.word.push(character);
                    self.word.last = Class::Quoted;
                } else if is_between(last, class, last) {
                    self.shorter = self.word;
                    self.word.push(character);
                    self.word.last = class;
                } else {
                    self.end(hashes);
                }
            }
            Class::Mark => return self.take_mark(character),
            Class::Unseen | Class::Dropped => return true,
            Class::Several | Class::Sigma | Class::Quoted => return false,
        }
        self.before = character;
        true
    }

    /// A mark belongs to what is before it, be it a word or not. Those of letters make a
    /// word of it.
    #[inline(always)]
    fn take_mark(&mut self, character: Character) -> bool {
        match (self.word.last, self.before.class) {
            // The word may yet end before both.
            (Class::MidLetter | Class::MidDigit | Class::MidBoth | Class::DoubleQuote, _)
                if character.is_in_word() =>
            {
                return false;
            }
            // To all of the white space, or to the whole flag.
            (Class::Break, Class::Space | Class::Regional) if !character.is_in_word() => {
                self.is_lone = false;
                return true;
            }
            (Class::Break, Class::Space)
                if !self.is_lone || self.before.bytes != u32::from(b' ') =>
            {
                return false;
            }
            (Class::Break, Class::Regional) => return false,
            (Class::Break, _) => {
                self.word.push(self.before);
                self.word.last = Class::Solo;
            }
            _ => {}
        }
        self.word.push(character);
        self.before = character;
        true
    }

    /// Ends the word, if there is one.
    #[inline(always)]
    fn end(&mut self, hashes: &mut Vec<u64>) {
        let last = self.word.last;
        if matches!(
            last,
            Class::MidLetter | Class::MidDigit | Class::MidBoth | Class::DoubleQuote
        ) {
            self.word = self.shorter;
        }
        self.word.end(hashes);
    }

    /// Takes the character at `start` and those that are attached to it. Gives whether the
    /// table knew what to do, and where they end.
    #[inline(never)]
    fn take_group(
        &mut self,
        alphabet: &Alphabet,
        text: &str,
        start: usize,
        composer: &mut Composer,
        hashes: &mut Vec<u64>,
    ) -> (bool, usize) {
        let bytes = text.as_bytes();
        let (first, length) = alphabet.character(bytes, start);
        let mut end = start + length;
        let (mut is_lasting, mut order) = (first.is_lasting(), first.order);
        let mut stays = true;
        loop {
            let (mark, length) = alphabet.character(bytes, end);
            if !mark.is_attached() {
                break;
            }
            end += length;
            if mark.class != Class::Unseen {
                is_lasting &= mark.is_lasting() && order <= mark.order;
                order = mark.order;
                stays = is_lasting;
            }
        }
        let known = |c: char| alphabet.code_point(c as usize);
        if first.class == Class::Sigma && end == start + length {
            let next = alphabet.character(bytes, end).0;
            let is_known = match (self.before.is_cased(), next.is_cased()) {
                (Some(true), Some(false)) => self.take(known('ς'), hashes),
                (Some(_), Some(_)) => self.take(known('σ'), hashes),
                _ => false,
            };
            return (is_known, end);
        }
        let mut take = |character| self.take_any(alphabet, character, hashes);
        let is_known = if stays {
            text[start..end].chars().all(|c| take(known(c)))
        } else {
            let order = |c: char| Some(known(c)).filter(|c| c.is_whole()).map(|c| c.order);
            let composed = composer.compose(text, start..end, order);
            composed.iter().all(|&(_, c)| take(known(c)))
        };
        (is_known, end)
    }

    /// Takes a character that others do not change. False if the table does not know what
    /// to do.
    #[inline(never)]
    fn take_any(
        &mut self,
        alphabet: &Alphabet,
        character: Character,
        hashes: &mut Vec<u64>,
    ) -> bool {
        match character.class {
            Class::Several => {
                let mut parts = alphabet.several(character).iter();
                parts.all(|&part| self.take_any(alphabet, part, hashes))
            }
            _ => self.take(character, hashes),
        }
    }
}

/// A word being read: its hash so far, kept in registers.
#[derive(Clone, Copy)]
struct Word {
    state: u64,
    chunk: u64,
    /// Bits of the chunk that are filled.
    bits: u32,
    /// Chunks that have been taken into the state.
    chunks: usize,
    /// The last character that is no mark; [`Class::Break`] if there is no word.
    last: Class,
    /// Whether there is more to it than `_` and the like.
    is_word: bool,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            state: hash::start(),
            chunk: 0,
            bits: 0,
            chunks: 0,
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
        self.is_word |= character.is_in_word();
        if self.bits >= 64 {
            self.state = hash::absorb(self.state, self.chunk);
            self.bits -= 64;
            self.chunks += 1;
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
            let length = 8 * self.chunks + self.bits as usize / 8;
            hashes.push(hash::finish(self.state, length));
        }
        *self = Self::default();
    }
}
