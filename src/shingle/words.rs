//! Words: what Unicode's word boundaries (UAX #29) call one, in normalised text.
//!
//! Most text is ASCII for long stretches, and ASCII needs neither normalising nor
//! tables: it goes to [`ascii`]. Nearly all of the rest goes to a [`table`]. What that does
//! not know takes the general path, from one place where the text may be cut to another:
//! between white space and a character that combines with nothing, so that no rule of
//! normalising, lower-casing or word boundaries looks across. The tokens are the same.

use unicode_segmentation::UnicodeSegmentation;

use super::ascii;
use super::compose::Composer;
use super::for_each_text;
use super::hash::token_hash;
use super::normalise::{Case, normalise};
use super::table::{self, Stop};
use crate::document::Content;

/// Bytes that the general path takes at the least when it is asked again soon: going
/// to and fro costs more than it saves where much of the text needs it.
const GENERAL_BYTES_MAX: usize = 4096;
/// Bytes without need of the general path after which it is taken for an exception.
const TABLE_RUN: usize = 128;

/// Room for what is needed on the way to words, kept from text to text.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    normalised: String,
    composer: Composer,
}

/// Appends the hash of every word of `text`.
pub(super) fn words(text: &str, case: Case, scratch: &mut Scratch, hashes: &mut Vec<u64>) {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut least = 0;
    loop {
        let Some(other) = ascii::first_other(&bytes[start..]).map(|at| start + at) else {
            ascii::words(&bytes[start..], case, hashes);
            return;
        };
        let cut = last_cut(&bytes[start..other]).map_or(start, |at| start + at);
        ascii::words(&bytes[start..cut], case, hashes);
        let general_end = start;
        match table::words(text, cut, case, &mut scratch.composer, hashes) {
            Stop::Cut(at) => start = at,
            Stop::Complex { cut, at } => {
                least = match at - general_end < TABLE_RUN {
                    true => (2 * least).clamp(TABLE_RUN / 2, GENERAL_BYTES_MAX),
                    false => 0,
                };
                start = table::next_cut(bytes, at, least);
                words_general(&text[cut..start], case, &mut scratch.normalised, hashes);
            }
        }
        if start == bytes.len() {
            return;
        }
    }
}

/// The definition, without short cuts.
pub(super) fn words_general(text: &str, case: Case, scratch: &mut String, hashes: &mut Vec<u64>) {
    scratch.clear();
    normalise(text, case, scratch);
    hashes.extend(
        scratch
            .unicode_words()
            .map(|word| token_hash(word.as_bytes())),
    );
}

/// Calls `each` with every word of a content as it is compared, and its hash: by the definition,
/// since the short cuts spell nothing.
pub(crate) fn words_spelled(
    content: &Content<'_>,
    case: Case,
    scratch: &mut String,
    mut each: impl FnMut(&str, u64),
) {
    for_each_text(content, |text| {
        scratch.clear();
        normalise(text, case, scratch);
        for word in scratch.unicode_words() {
            each(word, token_hash(word.as_bytes()));
        }
    });
}

fn last_cut(ascii: &[u8]) -> Option<usize> {
    let is_cut = |pair: &[u8]| pair[0].is_ascii_whitespace() && !pair[1].is_ascii_whitespace();
    ascii.windows(2).rposition(is_cut).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fast(text: &str, case: Case) -> Vec<u64> {
        let mut hashes = vec![];
        words(text, case, &mut Scratch::default(), &mut hashes);
        hashes
    }

    fn general(text: &str, case: Case) -> Vec<u64> {
        let mut hashes = vec![];
        words_general(text, case, &mut String::new(), &mut hashes);
        hashes
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
    fn typographic_variants_do_not_split_words() {
        for (text, plain) in [
            ("They aren’t here", "they aren't here"),
            ("arenʼt", "aren't"),
            ("hy\u{ad}phen\u{ad}ation", "hyphenation"),
            ("zero\u{200b}width\u{feff}space", "zerowidthspace"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("ක්\u{200d}ෂ", "ක්ෂ"),
            ("word\u{2060}joiner", "wordjoiner"),
            ("👨\u{200d}👩 e\u{200d}\u{301}", "👨👩 é"),
        ] {
            for case in [Case::Fold, Case::Keep] {
                assert_eq!(general(text, case).len(), general(plain, case).len());
                assert_eq!(fast(text, case), general(text, case), "{text}");
            }
            assert_eq!(fast(text, Case::Fold), fast(plain, Case::Fold), "{text}");
        }
    }

    #[test]
    fn a_mark_takes_all_white_space_before_it() {
        let text = "a  \u{e31}b \n\u{e31} c";
        assert_eq!(fast(text, Case::Fold), general(text, Case::Fold));
    }

    /// Each character next to letters, digits and all that joins or parts them.
    #[test]
    fn every_character_has_in_any_company() {
        let companies = "x@y 1@2 @ @@ א@ב@'@\" ア@_@. 漢@字@ a.@ 1,@ ж@ё\u{301}@ @\n@Σ@ e@ \
            @\u{e31} ก@\u{e48}@ -@\u{e31}-\u{fe0f}@\u{e31} @\u{301}\u{323}@ c.\u{200f}@ .\u{e31}@ \
            \u{200d}@\u{ad}\u{64e}\u{651}@  @ \u{6da}@ ᄀ@ᆨ ெ@ 🇦@🇧@\u{e31} 가@ @\u{3099}";
        let beyond = ('\u{10000}'..='\u{10ffff}').step_by(97);
        for c in ('\0'..='\u{ffff}').chain(beyond) {
            let text = companies.replace('@', c.encode_utf8(&mut [0; 4]));
            assert_eq!(fast(&text, Case::Fold), general(&text, Case::Fold), "{c:?}");
        }
    }

    #[test]
    fn general_text_goes_on_in_longer_and_longer_stretches() {
        let texts = [
            "ΜΕΓΑΛΕΣ ΛΕΞΕΙΣ ".repeat(400),
            "résume\u{301} ﬁn Σ ".repeat(700),
        ];
        for text in texts.iter().chain([&texts.concat()]) {
            let text = format!("{text}{}{text}", "plain text, много слов ".repeat(40));
            assert_eq!(fast(&text, Case::Fold), general(&text, Case::Fold));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Text of one script or two, with what is likely to stand in it, and long
        /// enough for all paths to take turns.
        #[test]
        fn scripts_have_too(
            parts in proptest::collection::vec(
                prop_oneof![
                    4 => "[а-яА-ЯёЁ]{1,12}[ ,.]",
                    2 => "[a-zA-Z'’]{1,9} ",
                    1 => "[α-ωΑ-Ως]{1,9} ", 1 => "[ΑΣσς’.\u{301}\u{ad}1ʰ\u{345}-]{1,9}", 1 => "[א-ת'\"]{1,6} ", 1 => "[ء-ي٠-٩،]{1,8} ",
                    1 => "[一-龥]{1,9}", 1 => "[ぁ-ゖァ-ヺー。、]{1,9}", 1 => "[가-힣]{1,5} ",
                    1 => "[à-ÿẠ-ỹ]{1,7} ", 1 => "[０-９Ａ-Ｚａ-ｚ，．！]{1,5}",
                    1 => "[0-9]{1,3}[.,:;' _]", 1 => "[_‿\u{a0}\u{3000} —«»“”…]{1,3}",
                    1 => "[\u{300}-\u{303}\u{5b0}\u{64b}\u{3099}\u{e31}]", 1 => "[\u{ad}\u{200b}-\u{200d}\u{2060}\u{feff}ʼ’]",
                    1 => "[ -~]{60,130} ",
                    2 => "[ก-๎]{1,9}", 1 => "[ກ-ໝ]{1,6}", 1 => "[ក-៩\u{200b}]{1,9}", 1 => "[က-႟]{1,9}",
                    1 => "[ऀ-ॿ]{1,7} ", 1 => "[ঀ-৾]{1,7} ", 1 => "[ஂ-௺]{1,7} ", 1 => "[ං-෴\u{200d}]{1,7} ",
                    1 => "[א-ת\u{5b0}-\u{5c7}\u{200f}]{1,9}[ .]", 1 => "[ء-\u{65f}\u{6d6}-\u{6ed}]{1,9} ",
                    1 => "[a-zăâêôơưđ\u{300}\u{301}\u{303}\u{309}\u{323}\u{302}\u{31b}]{1,9} ",
                    1 => "[ᄀ-하-ᅵᆨ-ᇂㄱ-ㅣ]{1,9} ", 1 => "[ﻻ-ﻼﷺ…™²½①㌀ŉ\u{344}\u{958}\u{fb2c}]{1,2}",
                    1 => "[😀-😏👨👩🏻-🏿🇦-🇿❤☀\u{fe0f}\u{200d}\u{20e3}\u{e0067}𝒜-𝒵]{1,6}",
                ],
                0..30,
            ),
        ) {
            let text = parts.concat();
            prop_assert_eq!(fast(&text, Case::Fold), general(&text, Case::Fold));
            prop_assert_eq!(fast(&text, Case::Keep), general(&text, Case::Keep));
        }

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
                    "[\u{300}-\u{36f}\u{483}\u{e31}\u{a0}\u{2028}ΣσİıßﬁＡ½]{1,2}",
                    "[\u{ad}\u{200b}-\u{200d}\u{2060}\u{feff}\u{2bc}’]{1,2}",
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
