//! Tokens with their places in the text: the slow twin of the tokenisers, for showing what is
//! shared. The tokens are the same; each knows the bytes that it comes from.
//!
//! Normalising is followed character by character. What combines is one stretch of text (a letter
//! and its marks, jamo of one syllable), and what comes of it stands where the stretch does.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::hash::token_hash;
use super::normalise::{Case, is_unseen, plain};
use super::{ShingleSettings, Tokens, code, table};

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// As in shingles.
    pub hash: u64,
    /// The bytes that it comes from.
    pub place: Range<usize>,
    /// Whether a text that begins with these bytes begins with this token.
    pub may_begin: bool,
    /// Whether a text that ends with these bytes ends with this token. Where one character becomes
    /// parts of two tokens, as ℀ and Thai SARA AM do, only the first of them may begin a text and
    /// only the last may end one. Neither is possible where the context decides about the token, as
    /// for a capital sigma.
    pub may_end: bool,
}

/// The tokens of a text, those that do not count left out; `None` if the settings know no tokens.
pub fn spans(text: &str, settings: &ShingleSettings) -> Option<Vec<Token>> {
    let ShingleSettings::Tokens { tokens, case, .. } = settings else {
        return None;
    };
    Some(match tokens {
        Tokens::Words { stopwords } => {
            let mut found = words(text, *case);
            part_overlapping(&mut found);
            found.retain(|token| !stopwords.contains(token.hash));
            found
        }
        Tokens::Chars => {
            let mut found = characters(text, *case);
            part_overlapping(&mut found);
            found
        }
        Tokens::Code { names } => code::plain::tokens(text, *names),
    })
}

/// Forbids to cut between two tokens that come from the same bytes: no text ends with the first of
/// them, and none begins with the second.
fn part_overlapping(found: &mut [Token]) {
    for index in 1..found.len() {
        if let [one, two] = &mut found[index - 1..=index]
            && two.place.start < one.place.end
        {
            one.may_end = false;
            two.may_begin = false;
        }
    }
}

/// Bytes that are normalised at a time, at the least.
const PIECE_BYTES: usize = 1 << 12;

fn words(text: &str, case: Case) -> Vec<Token> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = table::next_cut(text.as_bytes(), start, PIECE_BYTES);
        let part = &text[start..end];
        match part.is_ascii() {
            true => ascii_words(part, case, start, &mut found),
            false => any_words(text, start..end, case, &mut found),
        }
        start = end;
    }
    found
}

/// In ASCII every character stands where it did before.
fn ascii_words(part: &str, case: Case, start: usize, found: &mut Vec<Token>) {
    let lowered = match case {
        Case::Fold => part.to_ascii_lowercase(),
        Case::Keep => part.to_owned(),
    };
    found.extend(lowered.unicode_word_indices().map(|(at, word)| Token {
        hash: token_hash(word.as_bytes()),
        place: start + at..start + at + word.len(),
        may_begin: true,
        may_end: true,
    }));
}

fn any_words(text: &str, part: Range<usize>, case: Case, found: &mut Vec<Token>) {
    let piece = Normalised::new(&text[part.clone()], case);
    let mut seen = 0;
    found.extend(piece.text.unicode_word_indices().map(|(at, word)| {
        let place = piece.place(at..at + word.len(), &mut seen);
        let place = part.start + place.start..part.start + place.end;
        let alone = &text[place.clone()];
        let (may_begin, may_end) = if alone.is_ascii() {
            (true, true)
        } else {
            let [begins, ends] = if piece.has_sigma {
                piece.settled_sides(at, word)
            } else {
                [true, true]
            };
            let alone = Normalised::new(alone, case).text;
            let mut words = alone.unicode_words();
            let first = words.next();
            (
                begins && first == Some(word),
                ends && words.next_back().or(first) == Some(word),
            )
        };
        Token {
            hash: token_hash(word.as_bytes()),
            place,
            may_begin,
            may_end,
        }
    }));
}

/// Whether a sigma behind a text looks at what stands before the text.
fn is_seen_through(text: &str) -> bool {
    let last = |text: String| text.to_lowercase().chars().next_back();
    last(format!("{text}Σ")) != last(format!("Α{text}Σ"))
}

/// Whether a sigma beside a character ends a word there, whatever stands behind it.
fn settles(c: char) -> bool {
    let text = c.to_string();
    !is_seen_through(&text) && format!("ΑΣ{c}").to_lowercase().contains('ς')
}

fn characters(text: &str, case: Case) -> Vec<Token> {
    let Normalised {
        text: normalised,
        places,
        has_sigma,
    } = Normalised::new(text, case);
    // White space to one space, which comes from all of it.
    let mut spaced = Normalised::default();
    let mut in_space = false;
    for ((_, c), (_, place)) in normalised.char_indices().zip(places) {
        let space = c.is_whitespace();
        match spaced.places.last_mut() {
            Some((_, last)) if space && in_space => last.end = place.end,
            _ => spaced.push(if space { ' ' } else { c }, place),
        }
        in_space = space;
    }
    let clusters: Vec<(usize, &str)> = spaced.text.grapheme_indices(true).collect();
    let mut seen = 0;
    let mut found: Vec<Token> = clusters
        .iter()
        .map(|&(at, cluster)| {
            let place = spaced.place(at..at + cluster.len(), &mut seen);
            let alone = &text[place.clone()];
            let (may_begin, may_end) = match alone.is_ascii() && alone.len() == 1 {
                true => (true, true),
                false => edges_of_character(alone, case, cluster),
            };
            Token {
                hash: token_hash(cluster.as_bytes()),
                place,
                may_begin,
                may_end,
            }
        })
        .collect();
    if has_sigma {
        // Whatever stands beside one may be what it looks at.
        let is_sigma = |token: &Token| text[token.place.clone()].contains(['Σ', '\u{3f9}']);
        let sigmas: Vec<bool> = found.iter().map(is_sigma).collect();
        for (index, token) in found.iter_mut().enumerate() {
            let near = index.saturating_sub(1)..(index + 2).min(sigmas.len());
            let alone = &text[token.place.clone()];
            let is_apart = alone.chars().all(char::is_whitespace);
            let is_seen_through = || [alone, clusters[index].1].into_iter().any(is_seen_through);
            if !is_apart && (sigmas[near].contains(&true) || is_seen_through()) {
                (token.may_begin, token.may_end) = (false, false);
            }
        }
        // The whole text begins with the first and ends with the last.
        if let [first, .., last] = &mut found[..] {
            (first.may_begin, last.may_end) = (true, true);
        }
    }
    found
}

/// Whether a text by itself begins, and ends, with a character.
fn edges_of_character(text: &str, case: Case, cluster: &str) -> (bool, bool) {
    let alone = Normalised::new(text, case).text;
    if cluster == " " && alone.chars().all(char::is_whitespace) {
        return (true, true);
    }
    let mut clusters = alone.graphemes(true);
    let first = clusters.next();
    let last = clusters.next_back().or(first);
    (first == Some(cluster), last == Some(cluster))
}

/// A normalised text, and where each of its characters comes from.
#[derive(Default)]
struct Normalised {
    text: String,
    /// Where each character starts in `text`, and the bytes that it comes from.
    places: Vec<(usize, Range<usize>)>,
    /// Whether there is the letter whose small form depends on what stands around it.
    has_sigma: bool,
}

impl Normalised {
    /// The same as [`normalise`](super::normalise()) gives.
    fn new(text: &str, case: Case) -> Self {
        let composed = Self::composed(text);
        let has_sigma = case == Case::Fold && composed.text.contains('Σ');
        let whole = match has_sigma {
            true => composed.text.to_lowercase(),
            false => String::new(),
        };
        let mut lowered = whole.chars();
        let mut normalised = Self {
            has_sigma,
            ..Self::default()
        };
        for (c, (_, place)) in composed.text.chars().zip(composed.places) {
            let mut put = |c| {
                if let Some(c) = plain(c) {
                    normalised.push(c, place.clone());
                }
            };
            match case {
                Case::Keep => put(c),
                Case::Fold if has_sigma => {
                    lowered
                        .by_ref()
                        .take(c.to_lowercase().count())
                        .for_each(put);
                }
                Case::Fold => c.to_lowercase().for_each(put),
            }
        }
        normalised
    }

    /// What is seen, after NFKC.
    fn composed(text: &str) -> Self {
        let mut composed = Self::default();
        let mut stretch = String::new();
        let mut place = 0..0;
        for (at, c) in text.char_indices().filter(|&(_, c)| !is_unseen(c)) {
            if starts_stretch(c) {
                composed.push_stretch(&stretch, &place);
                stretch.clear();
                place.start = at;
            } else if stretch.is_empty() {
                place.start = at;
            }
            stretch.push(c);
            place.end = at + c.len_utf8();
        }
        composed.push_stretch(&stretch, &place);
        composed
    }

    /// Whether every sigma in or beside a word stays what it is if the text began with the word, and
    /// if it ended with it. A sigma is ς if a letter stands before it and none after it; some
    /// characters are passed over on the way to these.
    fn settled_sides(&self, at: usize, word: &str) -> [bool; 2] {
        if is_seen_through(word) {
            return [false, false];
        }
        let is_sigma = |c: char| matches!(c, 'σ' | 'ς');
        let (Some(first), Some(last)) = (word.find(is_sigma), word.rfind(is_sigma)) else {
            return [true, true];
        };
        let before = self.text[..at].chars().next_back();
        let after = self.text[at + word.len()..].chars().next();
        let begins = before.is_none_or(settles) || !is_seen_through(&word[..first]);
        let ends = after.is_none_or(settles)
            || !is_seen_through(&word[last + 'ς'.len_utf8()..])
            || word[last..].starts_with('ς') && !is_seen_through(&word[..last]);
        [begins, ends]
    }

    fn push_stretch(&mut self, stretch: &str, place: &Range<usize>) {
        if stretch.is_ascii() {
            stretch.chars().for_each(|c| self.push(c, place.clone()));
        } else {
            stretch.nfkc().for_each(|c| self.push(c, place.clone()));
        }
    }

    fn push(&mut self, c: char, place: Range<usize>) {
        self.places.push((self.text.len(), place));
        self.text.push(c);
    }

    /// Where a part of the text comes from; `seen` characters stand before it, and are passed over.
    fn place(&self, part: Range<usize>, seen: &mut usize) -> Range<usize> {
        let of = |&&(start, _): &&(usize, Range<usize>)| start < part.start;
        *seen += self.places[*seen..].iter().take_while(of).count();
        let all = self.places[*seen..].iter();
        let all = all.take_while(|&&(start, _)| start < part.end);
        let all = all.map(|(_, place)| place);
        let start = all.clone().map(|place| place.start).min();
        let end = all.map(|place| place.end).max();
        start.unwrap_or(0)..end.unwrap_or(0)
    }
}

/// Whether nothing before a character can change what it becomes, nor the other way round: it
/// neither moves nor combines with what stands before it.
fn starts_stretch(c: char) -> bool {
    if c.is_ascii() {
        return true;
    }
    let mut first = None;
    decompose_compatible(c, |c| {
        first.get_or_insert(c);
    });
    first.is_some_and(|first| {
        canonical_combining_class(first) == 0
            && is_nfkc_quick(std::iter::once(first)) == IsNormalized::Yes
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Content;
    use crate::shingle::{Names, Shingles, Stopwords, Windows, normalise, shingler};
    use proptest::prelude::*;

    fn all_settings() -> Vec<ShingleSettings> {
        let mut stopwords = Stopwords::default();
        stopwords.add("the", Case::Fold);
        let words = |stopwords| Tokens::Words { stopwords };
        [
            (words(Stopwords::default()), Case::Fold),
            (words(Stopwords::default()), Case::Keep),
            (words(stopwords), Case::Fold),
            (Tokens::Chars, Case::Fold),
            (Tokens::Chars, Case::Keep),
            (Tokens::Code { names: Names::Fold }, Case::Keep),
            (Tokens::Code { names: Names::Keep }, Case::Keep),
        ]
        .map(|(tokens, case)| ShingleSettings::Tokens {
            tokens,
            case,
            windows: Windows::of(1),
        })
        .to_vec()
    }

    /// The tokens that the fast tokenisers find: shingles of one token each.
    fn fast(text: &str, settings: &ShingleSettings) -> Vec<u64> {
        let mut shingles = Shingles::default();
        shingler(settings).shingle(&Content::Text(text.into()), &mut shingles);
        shingles
            .as_slice()
            .iter()
            .map(|shingle| shingle.0)
            .collect()
    }

    fn check(text: &str) -> Result<(), TestCaseError> {
        for settings in all_settings() {
            let found = spans(text, &settings).unwrap();
            let hashes: Vec<u64> = found.iter().map(|token| token.hash).collect();
            prop_assert_eq!(&hashes, &fast(text, &settings), "{:?} {:?}", text, settings);
            let mut end = 0;
            for token in &found {
                prop_assert!(token.place.start < token.place.end);
                let alone = &text[token.place.clone()];
                if token.may_begin && token.may_end {
                    prop_assert!(token.place.start >= end, "{:?} {:?}", text, token);
                    prop_assert_eq!(fast(alone, &settings), vec![token.hash]);
                }
                end = token.place.end;
            }
            // What stands between such tokens is the same tokens by itself.
            let begins = (0..found.len()).filter(|&at| found[at].may_begin);
            for first in begins.step_by(1 + found.len() / 8) {
                let ends = (first..found.len()).filter(|&at| found[at].may_end);
                for last in ends.step_by(1 + found.len() / 8) {
                    let part = &text[found[first].place.start..found[last].place.end];
                    prop_assert_eq!(
                        fast(part, &settings),
                        &hashes[first..=last],
                        "{:?} of {:?} {:?}",
                        part,
                        text,
                        settings
                    );
                }
            }
        }
        Ok(())
    }

    #[test]
    fn tokens_stand_where_their_text_does() {
        let settings = ShingleSettings::default();
        let places = |text: &str| -> Vec<String> {
            let found = spans(text, &settings).unwrap();
            found
                .iter()
                .map(|token| text[token.place.clone()].to_owned())
                .collect()
        };
        assert_eq!(places("The ﬁne, Капиба́ра!"), ["The", "ﬁne", "Капиба́ра"]);
        assert_eq!(
            places("co\u{ad}op e\u{301}te\u{301} 你好"),
            ["co\u{ad}op", "e\u{301}te\u{301}", "你", "好"]
        );
        assert_eq!(places("℀ cup"), ["℀", "℀", "cup"]);
        assert_eq!(places("ΟΔΟΣ ΣΑΣ"), ["ΟΔΟΣ", "ΣΑΣ"]);
        assert_eq!(spans("a", &ShingleSettings::Technosphere), None);
    }

    #[test]
    fn a_text_may_begin_before_sara_am_and_end_behind_it() {
        for tokens in [
            Tokens::Words {
                stopwords: Stopwords::default(),
            },
            Tokens::Chars,
        ] {
            let settings = ShingleSettings::Tokens {
                tokens,
                case: Case::Fold,
                windows: Windows::of(1),
            };
            // Normalizing makes NIKHAHIT of SARA AM, which joins the letter before it, and SARA AA.
            let found = spans("มีคำใน", &settings).unwrap();
            let edges: Vec<(bool, bool)> = found
                .iter()
                .map(|token| (token.may_begin, token.may_end))
                .collect();
            let (whole, first, last) = ((true, true), (true, false), (false, true));
            assert_eq!(edges, [whole, first, last, whole, whole]);
        }
    }

    #[test]
    fn a_passage_may_begin_and_end_with_a_final_sigma() {
        let edges = |text: &str, tokens: Tokens| -> Vec<(bool, bool)> {
            let settings = ShingleSettings::Tokens {
                tokens,
                case: Case::Fold,
                windows: Windows::of(1),
            };
            let found = spans(text, &settings).unwrap();
            let edges = found.iter().map(|token| (token.may_begin, token.may_end));
            edges.collect()
        };
        let words = Tokens::Words {
            stopwords: Stopwords::default(),
        };
        let whole = (true, true);
        assert_eq!(edges("ΔΡΟΜΟΣ. Η ΠΟΛΗ", words.clone()), [whole; 3]);
        assert_eq!(edges("Ο ΔΡΟΜΟΣ.", words), [whole; 2]);
        let ends = edges("ΟΣ", Tokens::Chars);
        assert!(ends[0].0 && ends[1].1, "{ends:?}");
        // Through the dots that one character becomes, a sigma sees a letter.
        check(" ς…Ϲ\n").unwrap();
    }

    #[test]
    fn a_long_text_is_taken_in_pieces() {
        let text = "Слово e\u{301}te\u{301} and ﬁne words, ".repeat(6000);
        check(&text).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn normalising_with_places_is_normalising(text in "\\PC{0,12}", mixed in proptest::collection::vec(any::<char>(), 0..12)) {
            for text in [text, mixed.into_iter().collect()] {
                for case in [Case::Fold, Case::Keep] {
                    let mut expected = String::new();
                    normalise(&text, case, &mut expected);
                    prop_assert_eq!(Normalised::new(&text, case).text, expected);
                }
            }
        }

        #[test]
        fn any_text_has_the_tokens_of_the_fast_path(
            parts in proptest::collection::vec(
                prop_oneof![
                    3 => "[ -~\n]{0,9}",
                    1 => "[ \n\ta\\.'’#/*\"]{1,3}",
                    1 => "\\PC{1,3}",
                    2 => "[\u{300}-\u{36f}\u{483}\u{e31}\u{e33}\u{a0}\u{2028}ΣσςϹİıßﬁＡ½℀…ᄀ-닥ｶﾞﾡￂ\u{958}\u{344}ﷺ]{1,3}",
                    1 => "[\u{ad}\u{200b}-\u{200d}\u{2060}\u{feff}\u{2bc}’^`ʰ]{1,2}",
                    1 => "[Α-Ωα-ω^'.:]{1,6}",
                    1 => "[а-яё]{1,6}", 1 => "[一-三ぁ-んァ-ヴ]{1,4}", 1 => "[ก-๎]{1,4}", 1 => "[א-ת\"']{1,4}",
                    1 => "[ء-\u{65f}]{1,6} ", 1 => "[ऀ-ॿ]{1,5}", 1 => "[가-힣ㄱ-ㅣ]{1,3}",
                    1 => "[🇦-🇿😀👨👩🏻❤\u{fe0f}\u{200d}]{1,4}",
                    1 => any::<char>().prop_map(String::from),
                ],
                0..10,
            ),
        ) {
            check(&parts.concat())?;
        }
    }
}
