//! What a character is to words: the part that it plays in UAX #29's rules, and its
//! normal form. The libraries say so, by trying characters out; as that takes its time,
//! 256 neighbours at once are tried out when one of them is first met.

use std::ops::RangeInclusive;
use std::sync::{LazyLock, OnceLock};

use unicode_segmentation::UnicodeSegmentation;

use super::compose::attachment;
use super::normalise::{Case, is_unseen, normalise};

/// The part that a character plays in UAX #29's rules for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// `Σ`, of which the small form depends on what stands around it.
    Sigma,
    /// Dropped before anything else is done.
    Unseen,
    /// Dropped once characters are composed.
    Dropped,
    /// Its normal form has several characters.
    Several,
    /// Belongs to whatever is before it.
    Mark,
    /// White space: in no word, unless a mark makes it one.
    Space,
    /// In no word, unless a mark makes it one.
    Break,
    /// Half of a flag: as [`Class::Break`], but in pairs.
    Regional,
    /// A word by itself: Han, Hiragana, Thai.
    Solo,
    /// In words with letters, digits and `_`.
    Letter,
    /// A letter that takes quotation marks into words.
    Hebrew,
    /// A Hebrew letter and a quotation mark. No character by itself is that.
    Quoted,
    /// In words with letters, digits and `_`.
    Digit,
    /// `_` and its like, which join but are no word by themselves.
    Connector,
    /// In words with its like and `_`.
    Katakana,
    /// Joins two letters.
    MidLetter,
    /// Joins two digits.
    MidDigit,
    /// Joins two letters or two digits.
    MidBoth,
    /// Joins two Hebrew letters.
    DoubleQuote,
}

/// A character as a table knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Character {
    /// The bytes of its normal form, the first lowest. If that has several characters:
    /// where [`Alphabet::several`] finds them.
    pub(super) bytes: u32,
    /// How many bytes, or characters, these are.
    pub(super) length: u8,
    pub(super) class: Class,
    /// Its place among the marks of a letter.
    pub(super) order: u8,
    traits: u8,
}

const IN_WORD: u8 = 1;
const ATTACHED: u8 = 2;
const LASTING: u8 = 4;
const FIRM: u8 = 8;
const LETTER: u8 = 16;
const CLOSED: u8 = 32;
const WHOLE: u8 = 64;
const CASED: u8 = 128;

impl Character {
    /// What stands before the first character of a text, or behind the last.
    pub(super) const NONE: Self = Self {
        bytes: 0,
        length: 0,
        class: Class::Break,
        order: 0,
        traits: 0,
    };

    /// Whether what it is in is a word.
    #[inline]
    pub(super) fn is_in_word(self) -> bool {
        self.traits & IN_WORD != 0
    }

    /// Whether a `Σ` next to it has a cased letter on that side; nothing if that depends on
    /// what is further on.
    #[inline]
    pub(super) fn is_cased(self) -> Option<bool> {
        if self.traits & CASED != 0 {
            return Some(true);
        }
        let is_known = self.traits & CLOSED != 0 || self == Self::NONE;
        is_known.then_some(false)
    }

    /// Whether it is a letter as most are: in words, and attached to nothing.
    #[inline]
    pub(super) fn is_letter(self) -> bool {
        self.traits & LETTER != 0
    }

    /// Whether it may change what is before it, or trade places with it, or lets what is
    /// behind it do so.
    #[inline]
    pub(super) fn is_attached(self) -> bool {
        self.traits & ATTACHED != 0
    }

    /// Whether it stays as it is, whatever it is attached to.
    #[inline]
    pub(super) fn is_lasting(self) -> bool {
        self.traits & LASTING != 0
    }

    /// Whether it cannot be taken apart.
    #[inline]
    pub(super) fn is_whole(self) -> bool {
        self.traits & WHOLE != 0
    }

    /// Whether a text may be cut between two characters, so that no rule of normalising,
    /// lower-casing or word boundaries looks across. White space may not follow: a run of
    /// it is one segment, and a mark behind it belongs to the whole run.
    #[inline]
    pub(super) fn is_cut(before: Self, after: Self) -> bool {
        before.traits & CLOSED != 0 && after.traits & FIRM != 0
    }
}

/// Neighbours that are tried out together.
const PAGE: usize = 256;

struct Page {
    characters: [Character; PAGE],
    /// Of those normal forms that have several.
    several: Vec<Character>,
}

/// All characters, for text in which capitals are, or are not, small letters.
pub(super) struct Alphabet {
    case: Case,
    ascii: Box<[Character; 128]>,
    pages: Vec<OnceLock<Box<Page>>>,
}

/// Blocks of characters that differ in their bytes only: Han and Hangul, of which a text has
/// so many that trying out all of them would be felt.
const ALIKE: [RangeInclusive<usize>; 4] = [
    0x3400..=0x4dbf,
    0x4e00..=0x9fff,
    0xac00..=0xd7a3,
    0x20000..=0x2a6df,
];

impl Alphabet {
    /// The alphabet of text in which capitals are, or are not, small letters.
    pub(super) fn of(case: Case) -> &'static Self {
        static FOLD: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::new(Case::Fold));
        static KEEP: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::new(Case::Keep));
        match case {
            Case::Fold => &FOLD,
            Case::Keep => &KEEP,
        }
    }

    fn new(case: Case) -> Self {
        let count = char::MAX as usize / PAGE + 1;
        let mut alphabet = Self {
            case,
            ascii: Box::new([Character::NONE; 128]),
            pages: std::iter::repeat_with(OnceLock::new).take(count).collect(),
        };
        *alphabet.ascii = std::array::from_fn(|code| alphabet.code_point(code));
        alphabet
    }

    /// The character that starts at `at`, if that is inside `text`, and how many bytes it
    /// has there.
    #[inline(always)]
    pub(super) fn character(&self, text: &[u8], at: usize) -> (Character, usize) {
        let rest = &text[at..];
        if let Some(&first) = rest.first()
            && first.is_ascii()
        {
            return (self.ascii[usize::from(first)], 1);
        }
        let bytes = match rest.first_chunk() {
            Some(&bytes) => bytes,
            None if rest.is_empty() => return (Character::NONE, 0),
            None => {
                let mut bytes = [0; 4];
                bytes[..rest.len()].copy_from_slice(rest);
                bytes
            }
        };
        let [first, a, b, c] = bytes.map(usize::from);
        let [a, b, c] = [a & 0x3f, b & 0x3f, c & 0x3f];
        let (code, length) = match first {
            ..0xe0 => ((first & 0x1f) << 6 | a, 2),
            0xe0..0xf0 => ((first & 0x0f) << 12 | a << 6 | b, 3),
            _ => ((first & 0x07) << 18 | a << 12 | b << 6 | c, 4),
        };
        (self.code_point(code), length)
    }

    /// The character with that number.
    #[inline(always)]
    pub(super) fn code_point(&self, code: usize) -> Character {
        self.page(code / PAGE).characters[code % PAGE]
    }

    /// The characters in the normal form of one that has several.
    pub(super) fn several(&self, character: Character) -> &[Character] {
        let [number, start] = [character.bytes >> 16, character.bytes & 0xffff];
        let start = start as usize;
        &self.page(number as usize).several[start..start + usize::from(character.length)]
    }

    #[inline(always)]
    fn page(&self, number: usize) -> &Page {
        self.pages[number].get_or_init(|| Box::new(Page::new(number, self.case)))
    }
}

impl Page {
    #[cold]
    fn new(number: usize, case: Case) -> Self {
        let mut page = Self {
            characters: [Character::NONE; PAGE],
            several: Vec::new(),
        };
        let first = number * PAGE;
        let last = first + PAGE - 1;
        let are_alike =
            |range: &RangeInclusive<usize>| range.contains(&first) && range.contains(&last);
        let count = if ALIKE.iter().any(are_alike) { 1 } else { PAGE };
        for index in 0..PAGE {
            let Some(c) = char::from_u32((first + index) as u32) else {
                continue;
            };
            page.characters[index] = if index < count {
                page.tried_out(c, number, case)
            } else {
                Character {
                    bytes: bytes(c),
                    ..page.characters[0]
                }
            };
        }
        page
    }

    /// What the libraries say of a character.
    fn tried_out(&mut self, c: char, number: usize, case: Case) -> Character {
        let attachment = attachment(c);
        let when = |condition: bool, mark: u8| if condition { mark } else { 0 };
        let mut character = Character {
            order: attachment.order,
            traits: when(attachment.attached, ATTACHED)
                | when(attachment.lasting, LASTING)
                | when(attachment.whole, WHOLE),
            ..Character::NONE
        };
        let normal = |case: Case| {
            let mut form = String::new();
            normalise(c.encode_utf8(&mut [0; 4]), case, &mut form);
            form
        };
        let form = normal(case);
        let mut parts = form.chars();
        if is_unseen(c) {
            character.class = Class::Unseen;
            character.traits |= ATTACHED;
        } else if form == "σ" && normal(Case::Keep) == "Σ" {
            character.class = Class::Sigma;
            character.traits |= CASED;
        } else if let (Some(part), None) = (parts.next(), parts.next()) {
            let (class, is_in_word) = role(part);
            character.class = class;
            character.bytes = bytes(part);
            character.length = part.len_utf8() as u8;
            let is_firm = !attachment.attached && !matches!(class, Class::Mark | Class::Space);
            let is_letter = matches!(class, Class::Letter | Class::Hebrew);
            // A small sigma has another form where a word ends.
            let ends = |before: char| format!("{before}{part}Σ").to_lowercase().ends_with('ς');
            let is_closed = matches!(class, Class::Space | Class::Solo) && !ends('Α');
            character.traits |= when(is_in_word, IN_WORD)
                | when(is_firm, FIRM)
                | when(is_firm && is_in_word && is_letter, LETTER)
                | when(!attachment.attached && is_closed, CLOSED)
                | when(is_letter && ends('-'), CASED);
        } else if form.is_empty() {
            character.class = Class::Dropped;
        } else {
            character.class = Class::Several;
            character.bytes = (number << 16 | self.several.len()) as u32;
            character.length = form.chars().count() as u8;
            self.several.extend(form.chars().map(|part| {
                let (class, is_in_word) = role(part);
                Character {
                    bytes: bytes(part),
                    length: part.len_utf8() as u8,
                    class,
                    order: 0,
                    traits: when(is_in_word, IN_WORD),
                }
            }));
        }
        character
    }
}

/// The bytes of a character, the first lowest.
fn bytes(c: char) -> u32 {
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// The class of a character in its normal form, and whether what it is in is a word: which
/// characters join which is UAX #29's.
fn role(c: char) -> (Class, bool) {
    let mut text = String::new();
    let mut join = |before: &str, after: &str| {
        text.clear();
        text.extend([before, c.encode_utf8(&mut [0; 4]), after]);
        let mut bounds = text.split_word_bounds();
        bounds.next().is_some_and(|word| word.len() == text.len())
    };
    let class = if join("a", "") {
        if join("-", "") {
            Class::Mark
        } else if join("", "'") {
            Class::Hebrew
        } else if join("a:", "") {
            Class::Letter
        } else if join("1,", "") {
            Class::Digit
        } else {
            Class::Connector
        }
    } else if c.is_whitespace() || join(" ", "") {
        Class::Space
    } else if join("a", "a") {
        if join("1", "1") {
            Class::MidBoth
        } else {
            Class::MidLetter
        }
    } else if join("1", "1") {
        Class::MidDigit
    } else if join("א", "א") {
        Class::DoubleQuote
    } else if join("ア", "") {
        Class::Katakana
    } else if join("🇦", "") {
        Class::Regional
    } else if is_word(c) {
        Class::Solo
    } else {
        Class::Break
    };
    (class, is_word(c))
}

fn is_word(c: char) -> bool {
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes).unicode_words().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_normal_form() {
        for case in [Case::Fold, Case::Keep] {
            let alphabet = Alphabet::of(case);
            for c in '\0'..='\u{10ffff}' {
                let text = c.to_string();
                let (character, length) = alphabet.character(text.as_bytes(), 0);
                assert_eq!(length, text.len());
                let parts = match character.class {
                    Class::Sigma | Class::Unseen | Class::Dropped => &[][..],
                    Class::Several => alphabet.several(character),
                    _ => &[character],
                };
                let bytes = |part: &Character| {
                    part.bytes
                        .to_le_bytes()
                        .into_iter()
                        .take(part.length.into())
                };
                let mut form = String::new();
                normalise(&text, case, &mut form);
                let mut kept = String::new();
                normalise(&text, Case::Keep, &mut kept);
                assert!(kept == "Σ" || !kept.contains('Σ'), "{c:?}");
                if character.class != Class::Sigma {
                    let found: Vec<u8> = parts.iter().flat_map(bytes).collect();
                    assert_eq!(found, form.as_bytes(), "{c:?}");
                }
            }
        }
    }

    #[test]
    fn han_and_hangul_are_alike() {
        for range in ALIKE {
            for c in range.filter_map(|code| char::from_u32(code as u32)) {
                let mut page = Page {
                    characters: [Character::NONE; PAGE],
                    several: vec![],
                };
                let alone = page.tried_out(c, c as usize / PAGE, Case::Fold);
                let found = Alphabet::of(Case::Fold).code_point(c as usize);
                assert_eq!(found, alone, "{c:?}");
            }
        }
    }
}
