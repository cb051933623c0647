//! The Technosphere course's shingles, to the letter: its code of 2018 as it ran
//! under Python 2.7. Some of these rules are accidents; a grader needs them all.
//!
//! 1. White space between two ASCII digits goes, from left to right, no digit
//!    serving twice: `1 2 3` becomes `12 3`.
//! 2. An entity `&name;` becomes a space.
//! 3. ASCII punctuation and `«`, `»`, `Â` become spaces.
//! 4. Lower case, one character to one character.
//! 5. Words are runs of letters and numbers; marks separate.
//! 6. Shingles are five words joined by a space, hashed by MurmurHash3; the last
//!    window is left out, so that five words have none.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{Shingle, Shingler, Shingles, for_each_text};
use crate::document::Content;

const WORDS_PER_SHINGLE: usize = 5;

pub(super) struct Technosphere;

impl Shingler for Technosphere {
    fn shingle(&self, content: &Content<'_>, shingles: &mut Shingles) {
        shingles.clear();
        let Shingles {
            all, text, short, ..
        } = shingles;
        for_each_text(content, |part| {
            let part = without_entities(&with_digits_joined(part));
            let ends = join_words(&part, text);
            let start_of = |word: usize| if word == 0 { 0 } else { ends[word - 1] + 1 };
            *short = !ends.is_empty() && ends.len() <= WORDS_PER_SHINGLE;
            all.extend(
                (0..ends.len().saturating_sub(WORDS_PER_SHINGLE)).map(|first| {
                    let window = &text[start_of(first)..ends[first + WORDS_PER_SHINGLE - 1]];
                    Shingle(u64::from(murmur3_32(window.as_bytes())))
                }),
            );
        });
    }
}

/// Rule 1. White space is ASCII's own.
fn with_digits_joined(text: &str) -> String {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        joined.push(c);
        rest = &rest[c.len_utf8()..];
        if c.is_ascii_digit() {
            let behind = rest.trim_start_matches(is_space);
            let next = behind.chars().next().filter(char::is_ascii_digit);
            if let (Some(digit), true) = (next, behind.len() < rest.len()) {
                joined.push(digit);
                rest = &behind[1..];
            }
        }
    }
    joined
}

/// Rule 2.
fn without_entities(text: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        let (before, entity) = rest.split_at(start);
        out.push_str(before);
        let behind = entity[1..].trim_start_matches(is_name);
        if behind.len() < entity.len() - 1 && behind.starts_with(';') {
            out.push(' ');
            rest = &behind[1..];
        } else {
            out.push('&');
            rest = &entity[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Rules 3 to 5: the words of `text`, in lower case, one space between them, in
/// `out`; and where each ends.
fn join_words(text: &str, out: &mut String) -> Vec<usize> {
    out.clear();
    let mut ends = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        if !is_word(c) {
            if in_word {
                ends.push(out.len());
            }
            in_word = false;
            continue;
        }
        if !in_word && !out.is_empty() {
            out.push(' ');
        }
        in_word = true;
        // Only `İ` has a longer small form, and its first character is the answer.
        out.extend(c.to_lowercase().next());
    }
    if in_word {
        ends.push(out.len());
    }
    ends
}

fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c != 'Â'
        && matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
        )
}

/// MurmurHash3 x86 32-bit (Austin Appleby, public domain), seed 0.
fn murmur3_32(bytes: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let scramble = |k: u32| k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let mut hash = 0_u32;
    let (chunks, rest) = bytes.as_chunks::<4>();
    for &chunk in chunks {
        hash = (hash ^ scramble(u32::from_le_bytes(chunk)))
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    let mut tail = [0; 4];
    tail[..rest.len()].copy_from_slice(rest);
    hash ^= scramble(u32::from_le_bytes(tail));
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let mut out = String::new();
        join_words(&without_entities(&with_digits_joined(text)), &mut out);
        out
    }

    #[test]
    fn murmur_gives_the_published_values() {
        for (text, hash) in [
            ("the quick brown fox jumps", -172_157_729),
            ("один два три четыре пять", 328_566_618),
            ("foo", -156_908_512),
        ] {
            assert_eq!(murmur3_32(text.as_bytes()) as i32, hash);
        }
    }

    #[test]
    fn each_rule_is_kept() {
        for (text, expected) in [
            ("1 2 3 4", "12 34"),
            ("1 \t\n2x3 x 4", "12x3 x 4"),
            ("1\u{a0}2", "1 2"),
            ("a&nbsp;b&amp c&;d &&lt;e", "a b amp c d e"),
            ("a_b-c«d»eÂf", "a b c d e f"),
            ("İΣΑΣ ÀÉ", "iσασ àé"),
            ("Капиба́ра", "капиба ра"),
            ("x² ½ Ⅷ ①Ⓐ", "x² ½ ⅷ ①"),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn the_last_window_is_left_out() {
        let count = |text: &str| {
            let mut shingles = Shingles::default();
            Technosphere.shingle(&Content::Text(text.into()), &mut shingles);
            (shingles.as_slice().len(), shingles.is_short())
        };
        assert_eq!(count(""), (0, false));
        assert_eq!(count("a b c d e"), (0, true));
        assert_eq!(count("a b c d e f"), (1, false));
        assert_eq!(count("a b c d e f g"), (2, false));
    }
}
