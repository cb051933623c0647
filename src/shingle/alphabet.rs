//! What a character is to words, for characters that need no context to be
//! normalised: NFKC and lower-casing turn each into one character, whatever stands
//! around it. Nearly all of the text in two-byte scripts, Han, kana and Hangul is
//! made of these. All others are [`Class::Complex`], and left to the general path.

use std::sync::LazyLock;

use super::normalise::{Case, normalise};

/// The part that a character plays in UAX #29's rules for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Nothing is known of it: a mark, a ligature, `Σ`, an emoji, …
    Complex,
    /// In no word.
    Break,
    /// White space: in no word, and nothing looks across it.
    Space,
    /// A word by itself: Han, Hiragana. Nothing looks across it either.
    Solo,
    /// In words with letters, digits and `_`.
    Letter,
    /// A letter that takes quotation marks into words.
    Hebrew,
    /// In words with letters, digits and `_`.
    Digit,
    /// `_` and its like, which join but are no word by themselves.
    Extend,
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Character {
    pub(super) class: Class,
    /// The bytes of its normal form, the first lowest.
    pub(super) bytes: u32,
    /// How many they are.
    pub(super) length: u8,
}

/// Of what code points all is known that counts, normal form included.
const TWO_BYTES_END: usize = 0x800;
/// Forms of ASCII characters in the width of Han, and their distance from those.
const FULL_WIDTH: std::ops::RangeInclusive<u32> = 0xff01..=0xff5e;
const FULL_WIDTH_OFFSET: u32 = 0xfee0;
/// Three-byte letters that have capitals.
const CASED: std::ops::RangeInclusive<u32> = 0x1e00..=0x1eff;
/// The space that is as wide as a Han character.
const IDEOGRAPHIC_SPACE: u32 = 0x3000;

/// The characters that need no context.
pub(super) struct Alphabet {
    case: Case,
    /// Up to two bytes in UTF-8.
    short: Box<[Character; TWO_BYTES_END]>,
    /// Of three bytes: only the class.
    long: Box<[Class]>,
}

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
        let complex = Character {
            class: Class::Complex,
            bytes: 0,
            length: 0,
        };
        let mut alphabet = Self {
            case,
            short: Box::new([complex; TWO_BYTES_END]),
            long: vec![Class::Complex; 1 << 16].into(),
        };
        for &(first, last, class) in CLASSES {
            for code in usize::from(first)..=usize::from(last) {
                match alphabet.short.get_mut(code) {
                    Some(short) => *short = normal_form(code as u32, class, case),
                    None => alphabet.long[code] = class,
                }
            }
        }
        alphabet
    }

    /// The character that starts at `at`, which is inside `text` and where one does,
    /// and how many bytes it has there.
    #[inline]
    pub(super) fn character(&self, text: &[u8], at: usize) -> (Character, usize) {
        let rest = |index: usize| u32::from(text.get(at + index).copied().unwrap_or(0) & 0x3f);
        let first = u32::from(text[at]);
        if first < 0x80 {
            return (self.short[first as usize], 1);
        }
        if first < 0xe0 {
            let code = (first & 0x1f) << 6 | rest(1);
            return (self.short[code as usize], 2);
        }
        if first < 0xf0 {
            let code = (first & 0x0f) << 12 | rest(1) << 6 | rest(2);
            return (self.long(code), 3);
        }
        let complex = Character {
            class: Class::Complex,
            bytes: 0,
            length: 0,
        };
        (complex, 4)
    }

    fn long(&self, code: u32) -> Character {
        if FULL_WIDTH.contains(&code) {
            return self.short[(code - FULL_WIDTH_OFFSET) as usize];
        }
        if code == IDEOGRAPHIC_SPACE {
            return self.short[usize::from(b' ')];
        }
        let class = self.long[code as usize];
        if self.case == Case::Fold && CASED.contains(&code) {
            return normal_form(code, class, self.case);
        }
        let [a, b, c] = [
            code >> 12 | 0xe0,
            code >> 6 & 0x3f | 0x80,
            code & 0x3f | 0x80,
        ];
        Character {
            class,
            bytes: a | b << 8 | c << 16,
            length: 3,
        }
    }
}

fn normal_form(code: u32, class: Class, case: Case) -> Character {
    let mut bytes = [0; 4];
    let mut form = String::new();
    if let Some(c) = char::from_u32(code) {
        normalise(c.encode_utf8(&mut bytes), case, &mut form);
    }
    let mut bytes = [0; 4];
    let length = form.len().min(bytes.len());
    bytes[..length].copy_from_slice(&form.as_bytes()[..length]);
    Character {
        class,
        bytes: u32::from_le_bytes(bytes),
        length: length as u8,
    }
}

use Class::{
    Break, Digit, DoubleQuote, Extend, Hebrew, Katakana, Letter, MidBoth, MidDigit, MidLetter,
    Solo, Space,
};

/// From, to, and what they are. The tests derive all of it from unicode-segmentation
/// and unicode-normalization.
#[rustfmt::skip]
const CLASSES: &[(u16, u16, Class)] = &[
    (0x0000, 0x0008, Break),
    (0x0009, 0x000d, Space),
    (0x000e, 0x001f, Break),
    (0x0020, 0x0020, Space),
    (0x0021, 0x0021, Break),
    (0x0022, 0x0022, DoubleQuote),
    (0x0023, 0x0026, Break),
    (0x0027, 0x0027, MidBoth),
    (0x0028, 0x002b, Break),
    (0x002c, 0x002c, MidDigit),
    (0x002d, 0x002d, Break),
    (0x002e, 0x002e, MidBoth),
    (0x002f, 0x002f, Break),
    (0x0030, 0x0039, Digit),
    (0x003a, 0x003a, MidLetter),
    (0x003b, 0x003b, MidDigit),
    (0x003c, 0x0040, Break),
    (0x0041, 0x005a, Letter),
    (0x005b, 0x005e, Break),
    (0x005f, 0x005f, Extend),
    (0x0060, 0x0060, Break),
    (0x0061, 0x007a, Letter),
    (0x007b, 0x007f, Break),
    (0x0080, 0x0084, Break),
    (0x0085, 0x0085, Space),
    (0x0086, 0x009f, Break),
    (0x00a0, 0x00a0, Space),
    (0x00a1, 0x00a7, Break),
    (0x00a9, 0x00a9, Break),
    (0x00aa, 0x00aa, Letter),
    (0x00ab, 0x00ac, Break),
    (0x00ae, 0x00ae, Break),
    (0x00b0, 0x00b1, Break),
    (0x00b2, 0x00b3, Digit),
    (0x00b5, 0x00b5, Letter),
    (0x00b6, 0x00b6, Break),
    (0x00b7, 0x00b7, MidLetter),
    (0x00b9, 0x00b9, Digit),
    (0x00ba, 0x00ba, Letter),
    (0x00bb, 0x00bb, Break),
    (0x00bf, 0x00bf, Break),
    (0x00c0, 0x00d6, Letter),
    (0x00d7, 0x00d7, Break),
    (0x00d8, 0x00f6, Letter),
    (0x00f7, 0x00f7, Break),
    (0x00f8, 0x012f, Letter),
    (0x0131, 0x0131, Letter),
    (0x0134, 0x013e, Letter),
    (0x0141, 0x0148, Letter),
    (0x014a, 0x01c3, Letter),
    (0x01cd, 0x01f0, Letter),
    (0x01f4, 0x0239, Letter),
    (0x023b, 0x023d, Letter),
    (0x023f, 0x02bb, Letter),
    (0x02bd, 0x02c1, Letter),
    (0x02c6, 0x02d1, Letter),
    (0x02e0, 0x02e4, Letter),
    (0x02ec, 0x02ec, Letter),
    (0x02ee, 0x02ee, Letter),
    (0x0370, 0x0374, Letter),
    (0x0375, 0x0375, Break),
    (0x0376, 0x0377, Letter),
    (0x037b, 0x037d, Letter),
    (0x037e, 0x037e, MidDigit),
    (0x037f, 0x037f, Letter),
    (0x0386, 0x0386, Letter),
    (0x0387, 0x0387, MidLetter),
    (0x0388, 0x038a, Letter),
    (0x038c, 0x038c, Letter),
    (0x038e, 0x03a1, Letter),
    (0x03a4, 0x03f5, Letter),
    (0x03f6, 0x03f6, Break),
    (0x03f7, 0x03f8, Letter),
    (0x03fa, 0x0481, Letter),
    (0x0482, 0x0482, Break),
    (0x048a, 0x052f, Letter),
    (0x0531, 0x0556, Letter),
    (0x0559, 0x0559, Letter),
    (0x055d, 0x055d, Break),
    (0x055f, 0x055f, MidLetter),
    (0x0560, 0x0586, Letter),
    (0x0588, 0x0588, Letter),
    (0x0589, 0x0589, MidDigit),
    (0x058d, 0x058f, Break),
    (0x05be, 0x05be, Break),
    (0x05c0, 0x05c0, Break),
    (0x05c3, 0x05c3, Break),
    (0x05c6, 0x05c6, Break),
    (0x05d0, 0x05ea, Hebrew),
    (0x05ef, 0x05f2, Hebrew),
    (0x05f4, 0x05f4, MidLetter),
    (0x0606, 0x060b, Break),
    (0x060c, 0x060d, MidDigit),
    (0x060e, 0x060f, Break),
    (0x061b, 0x061b, Break),
    (0x061d, 0x061f, Break),
    (0x0620, 0x064a, Letter),
    (0x0660, 0x0669, Digit),
    (0x066a, 0x066a, Break),
    (0x066c, 0x066c, MidDigit),
    (0x066d, 0x066d, Break),
    (0x066e, 0x066f, Letter),
    (0x0671, 0x0674, Letter),
    (0x0679, 0x06d3, Letter),
    (0x06d4, 0x06d4, Break),
    (0x06d5, 0x06d5, Letter),
    (0x06de, 0x06de, Break),
    (0x06e5, 0x06e6, Letter),
    (0x06e9, 0x06e9, Break),
    (0x06ee, 0x06ef, Letter),
    (0x06f0, 0x06f9, Digit),
    (0x06fa, 0x06fc, Letter),
    (0x06fd, 0x06fe, Break),
    (0x06ff, 0x06ff, Letter),
    (0x0700, 0x070d, Break),
    (0x0710, 0x0710, Letter),
    (0x0712, 0x072f, Letter),
    (0x074d, 0x07a5, Letter),
    (0x07b1, 0x07b1, Letter),
    (0x07c0, 0x07c9, Digit),
    (0x07ca, 0x07ea, Letter),
    (0x07f4, 0x07f5, Letter),
    (0x07f6, 0x07f7, Break),
    (0x07f8, 0x07f8, MidDigit),
    (0x07f9, 0x07f9, Break),
    (0x07fa, 0x07fa, Letter),
    (0x07fe, 0x07ff, Break),
    (0x1e00, 0x1e99, Letter),
    (0x1e9c, 0x1e9d, Letter),
    (0x1e9f, 0x1eff, Letter),
    (0x2010, 0x2010, Break),
    (0x2012, 0x2016, Break),
    (0x2018, 0x2018, MidBoth),
    (0x201a, 0x2023, Break),
    (0x2027, 0x2027, MidLetter),
    (0x2028, 0x2029, Space),
    (0x2030, 0x2032, Break),
    (0x2035, 0x2035, Break),
    (0x2038, 0x203b, Break),
    (0x203d, 0x203d, Break),
    (0x203f, 0x2040, Extend),
    (0x2041, 0x2043, Break),
    (0x2044, 0x2044, MidDigit),
    (0x2045, 0x2046, Break),
    (0x204a, 0x2053, Break),
    (0x2054, 0x2054, Extend),
    (0x2055, 0x2056, Break),
    (0x2058, 0x205e, Break),
    (0x20a0, 0x20a7, Break),
    (0x20a9, 0x20bf, Break),
    (0x2190, 0x222b, Break),
    (0x222e, 0x222e, Break),
    (0x2231, 0x2328, Break),
    (0x232b, 0x2426, Break),
    (0x2440, 0x244a, Break),
    (0x24eb, 0x24ff, Solo),
    (0x2500, 0x2775, Break),
    (0x2776, 0x2793, Solo),
    (0x2794, 0x27bf, Break),
    (0x3001, 0x3004, Break),
    (0x3005, 0x3005, Letter),
    (0x3006, 0x3007, Solo),
    (0x3008, 0x3020, Break),
    (0x3021, 0x3029, Solo),
    (0x3030, 0x3030, Break),
    (0x3031, 0x3035, Katakana),
    (0x3037, 0x3037, Break),
    (0x303b, 0x303c, Letter),
    (0x303d, 0x303f, Break),
    (0x3041, 0x3096, Solo),
    (0x30a1, 0x30fa, Katakana),
    (0x30fb, 0x30fb, Break),
    (0x30fc, 0x30fe, Katakana),
    (0x3400, 0x4dbf, Solo),
    (0x4e00, 0x9fff, Solo),
    (0xac00, 0xd7a3, Letter),
];

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::char::canonical_combining_class;
    use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
    use unicode_segmentation::UnicodeSegmentation;

    /// What the libraries say of a character, by trying it out.
    fn derived(c: char) -> Class {
        let composed: Vec<char> = c.nfkc().collect();
        let [normal] = composed[..] else {
            return Class::Complex;
        };
        let quick = |c: char| is_nfkc_quick(std::iter::once(c));
        let small: Vec<char> = normal.to_lowercase().collect();
        let [small] = small[..] else {
            return Class::Complex;
        };
        let has_context = quick(normal) != IsNormalized::Yes
            || quick(c) == IsNormalized::Maybe
            || canonical_combining_class(c) != 0
            || canonical_combining_class(normal) != 0
            || normal == 'Σ'
            || ('\u{300}'..='\u{36f}').contains(&small);
        let joined = |context: &str| {
            let text = context.replace('@', small.encode_utf8(&mut [0; 4]));
            text.split_word_bounds().count() == 1
        };
        // A mark joins whatever is before it.
        if has_context || joined("-@") {
            return Class::Complex;
        }
        let in_words = if small.is_alphanumeric() {
            None
        } else {
            Some(Class::Complex)
        };
        if joined(" @") || small.is_whitespace() {
            Space
        } else if joined("ア@") && !joined("a@") {
            in_words.unwrap_or(Katakana)
        } else if joined("1,@") {
            in_words.unwrap_or(Digit)
        } else if joined("@'") {
            in_words.unwrap_or(Hebrew)
        } else if joined("a:@") {
            in_words.unwrap_or(Letter)
        } else if joined("a@") {
            Extend
        } else if joined("a@a") && joined("1@1") {
            MidBoth
        } else if joined("a@a") {
            MidLetter
        } else if joined("1@1") {
            MidDigit
        } else if joined("א@א") {
            DoubleQuote
        } else if small.is_alphanumeric() {
            Solo
        } else {
            Break
        }
    }

    #[test]
    fn every_character_is_what_the_libraries_make_of_it() {
        let mut known = 0;
        for c in ('\0'..='\u{10ffff}').filter(|c| c.is_ascii() || !c.is_control()) {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            for case in [Case::Fold, Case::Keep] {
                let (character, length) = Alphabet::of(case).character(bytes, 0);
                assert_eq!(length, c.len_utf8());
                if character.class == Class::Complex {
                    continue;
                }
                known += 1;
                assert_eq!(character.class, derived(c), "{c:?}");
                let mut form = String::new();
                normalise(&c.to_string(), case, &mut form);
                let found = character.bytes.to_le_bytes();
                assert_eq!(
                    &found[..usize::from(character.length)],
                    form.as_bytes(),
                    "{c:?}"
                );
            }
        }
        assert!(known > 70_000, "{known}");
    }

    /// Nothing looks across white space or a solo character: neither the rule for
    /// the small form of `Σ`, nor composition.
    #[test]
    fn nothing_looks_across_a_cut() {
        let alphabet = Alphabet::of(Case::Fold);
        for c in ('\0'..='\u{ffff}').filter(|c| !c.is_control()) {
            let mut bytes = [0; 4];
            let (character, _) = alphabet.character(c.encode_utf8(&mut bytes).as_bytes(), 0);
            if matches!(character.class, Space | Solo) {
                assert_eq!(format!("Α{c}.Σ").to_lowercase(), format!("α{c}.σ"), "{c:?}");
            }
        }
    }
}
