//! Words: what Unicode's word boundaries (UAX #29) call one, in normalised text.
//!
//! Most text is ASCII for long stretches, and ASCII needs neither normalising
//! nor the tables of word boundaries. A text is therefore cut where white space
//! is followed by another ASCII character, which no rule of normalising, lower-
//! casing or word boundaries looks across; stretches that are ASCII go to [`ascii`],
//! the others through the general path. The tokens are the same.

use unicode_segmentation::UnicodeSegmentation;

use super::ascii;
use super::hash::token_hash;
use super::normalise::{Case, normalise};

/// Calls `each` with the hash of every word of `text`. `scratch` is room for
/// normalised text.
pub(super) fn for_each_word(
    text: &str,
    case: Case,
    scratch: &mut String,
    mut each: impl FnMut(u64),
) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some(strange) = ascii::first_other(&bytes[start..]).map(|at| start + at) {
        let general = last_cut(&bytes[start..strange]).map_or(start, |at| start + at);
        ascii::for_each_word(&bytes[start..general], case, &mut each);
        start = first_cut(&bytes[strange..]).map_or(bytes.len(), |at| strange + at);
        for_each_word_general(&text[general..start], case, scratch, &mut each);
    }
    ascii::for_each_word(&bytes[start..], case, &mut each);
}

/// The definition, without short cuts.
pub(super) fn for_each_word_general(
    text: &str,
    case: Case,
    scratch: &mut String,
    mut each: impl FnMut(u64),
) {
    scratch.clear();
    normalise(text, case, scratch);
    for word in scratch.unicode_words() {
        each(token_hash(word.as_bytes()));
    }
}

/// Whether a text may be cut between these two. More white space may not follow:
/// a run of it is one segment, and a mark behind it belongs to the whole run.
fn is_cut(pair: &[u8]) -> bool {
    pair[0].is_ascii_whitespace() && pair[1].is_ascii() && !pair[1].is_ascii_whitespace()
}

fn last_cut(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).rposition(is_cut).map(|at| at + 1)
}

fn first_cut(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(is_cut).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fast(text: &str, case: Case) -> Vec<u64> {
        let mut words = vec![];
        for_each_word(text, case, &mut String::new(), |word| words.push(word));
        words
    }

    fn general(text: &str, case: Case) -> Vec<u64> {
        let mut words = vec![];
        for_each_word_general(text, case, &mut String::new(), |word| words.push(word));
        words
    }

    fn hashes(words: &[&str]) -> Vec<u64> {
        words
            .iter()
            .map(|word| token_hash(word.as_bytes()))
            .collect()
    }

    #[test]
    fn words_are_words() {
        for (text, words) in [
            ("", &[][..]),
            (" ,.!", &[]),
            ("The quick, brown fox.", &["the", "quick", "brown", "fox"]),
            (
                "can't e.g. 3.14 1,000 a_b __",
                &["can't", "e.g", "3.14", "1,000", "a_b"],
            ),
            ("Капиба́ра и ﬁne", &["капибара", "и", "fine"]),
            ("你好，世界", &["你", "好", "世", "界"]),
            (
                "naïve café — ‘quoted’ text",
                &["naïve", "café", "quoted", "text"],
            ),
        ] {
            assert_eq!(fast(text, Case::Fold), hashes(words), "{text}");
        }
    }

    #[test]
    fn a_mark_takes_all_white_space_before_it() {
        let text = "a  \u{e31}b \n\u{e31} c";
        assert_eq!(fast(text, Case::Fold), general(text, Case::Fold));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn ascii_has_the_words_of_the_general_path(text in "[ -~\t\n\r\x00\x0b]{0,300}") {
            prop_assert_eq!(fast(&text, Case::Fold), general(&text, Case::Fold));
            prop_assert_eq!(fast(&text, Case::Keep), general(&text, Case::Keep));
        }

        #[test]
        fn word_like_ascii_has_too(text in "[aZ09_.':,;\" \n-]{0,200}") {
            prop_assert_eq!(fast(&text, Case::Fold), general(&text, Case::Fold));
        }

        #[test]
        fn mixed_text_has_too(
            text in proptest::collection::vec(
                prop_oneof![
                    "[ -~\n]{0,9}",
                    "[ \n\ta\\.'’]{1,3}",
                    "\\PC{1,3}",
                    "[\u{300}-\u{36f}\u{483}\u{e31}\u{200d}\u{ad}\u{feff}\u{a0}\u{2028}ΣσİıßﬁＡ½]{1,2}",
                    "[а-яё]{1,6}", "[一-三ぁ-ん]{1,4}", "[ก-๎]{1,4}", "[א-ת\"']{1,4}",
                    any::<char>().prop_map(String::from),
                ],
                0..12,
            ).prop_map(|parts| parts.concat())
        ) {
            prop_assert_eq!(fast(&text, Case::Fold), general(&text, Case::Fold));
            prop_assert_eq!(fast(&text, Case::Keep), general(&text, Case::Keep));
        }
    }
}
