//! Edited copies of texts, by kind and rate of edit, the same for the same seed.

use crate::random::Random;

/// How a text is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EditKind {
    /// Words become other words of the text.
    Replaced,
    /// Words are left out.
    Deleted,
    /// Words of the text are put in elsewhere.
    Inserted,
    /// Sentences change their places.
    Moved,
    /// Words change their case, or get or lose a mark.
    Marked,
    /// The end is cut off.
    Truncated,
    /// A frame is put around it: the same for all texts.
    Framed,
}

impl EditKind {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Replaced,
        Self::Deleted,
        Self::Inserted,
        Self::Moved,
        Self::Marked,
        Self::Truncated,
        Self::Framed,
    ];

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Replaced => "words replaced",
            Self::Deleted => "words deleted",
            Self::Inserted => "words inserted",
            Self::Moved => "sentences moved",
            Self::Marked => "case and punctuation",
            Self::Truncated => "truncated",
            Self::Framed => "boilerplate added",
        }
    }
}

/// The rates of edit, in words of a hundred; for sentences, in sentences.
pub(crate) const RATES_PERCENT: [u32; 7] = [1, 2, 5, 10, 20, 30, 50];

/// Words that frames are made of.
const FRAME: &str = "home about contact search menu login register share print subscribe \
    newsletter privacy terms cookies settings accept more latest popular related comments next \
    previous page top copyright all rights reserved follow us on sitemap help feedback language \
    archive categories tags author updated published advertisement sponsored";

/// An edited copy of a text. At least one word, or sentence, is edited.
pub(crate) fn edited(text: &str, kind: EditKind, rate_percent: u32, seed: u64) -> String {
    let random = &mut Random::new(seed);
    let words = match kind {
        EditKind::Moved => sentences(text),
        _ => words(text),
    };
    if words.is_empty() {
        return text.to_owned();
    }
    let count = (words.len() * rate_percent as usize).div_ceil(100);
    match kind {
        EditKind::Replaced => {
            let mut edited: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            for place in chosen(words.len(), count, random) {
                edited[place] = other_word(&words, words[place], random);
            }
            edited.concat()
        }
        EditKind::Deleted => {
            let mut is_left = vec![true; words.len()];
            for place in chosen(words.len(), count, random) {
                is_left[place] = false;
            }
            let left = words.iter().zip(is_left).filter(|(_, is_left)| *is_left);
            left.map(|(&word, _)| word).collect()
        }
        EditKind::Inserted => {
            let mut before = vec![0_usize; words.len()];
            for _ in 0..count {
                before[random.below(words.len())] += 1;
            }
            let mut edited = String::with_capacity(text.len() * 3 / 2);
            for (word, count) in words.iter().zip(before) {
                for _ in 0..count {
                    edited.push_str(&spaced(words[random.below(words.len())]));
                }
                edited.push_str(word);
            }
            edited
        }
        EditKind::Moved => {
            let mut sentences = words;
            for _ in 0..count {
                let sentence = sentences.remove(random.below(sentences.len()));
                sentences.insert(random.below(sentences.len() + 1), sentence);
            }
            sentences.iter().map(|sentence| spaced(sentence)).collect()
        }
        EditKind::Marked => {
            let mut edited: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            for place in chosen(words.len(), count, random) {
                edited[place] = marked(words[place], random);
            }
            edited.concat()
        }
        EditKind::Truncated => words[..words.len() - count.min(words.len())].concat(),
        EditKind::Framed => {
            // The same frame, as far as it goes, whatever the text.
            let frame: Vec<&str> = FRAME.split_whitespace().collect();
            let drawn = &mut Random::new(0);
            let mut frame = (0..count).map(|_| spaced(frame[drawn.below(frame.len())]));
            let head: String = frame.by_ref().take(count / 2).collect();
            let foot: String = frame.collect();
            format!("{head}{}{foot}", spaced(text))
        }
    }
}

/// Some of the first so many numbers, each once.
fn chosen(of: usize, count: usize, random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = (0..of).collect();
    for place in 0..count.min(of) {
        let other = place + random.below(of - place);
        all.swap(place, other);
    }
    all.truncate(count);
    all
}

/// A word of a text that is not this one, if there is one, with what stands behind this one.
fn other_word(words: &[&str], word: &str, random: &mut Random) -> String {
    let bare = word.trim_end();
    for _ in 0..8 {
        let other = words[random.below(words.len())].trim_end();
        if other != bare {
            return [other, &word[bare.len()..]].concat();
        }
    }
    format!("x{}{}", random.below(100_000), &word[bare.len()..])
}

/// The word in another case, or with a mark more or less.
fn marked(word: &str, random: &mut Random) -> String {
    let bare = word.trim_end();
    let space = &word[bare.len()..];
    let without = bare.trim_end_matches([',', '.', ';', ':', '!', '?']);
    let edited = match random.below(3) {
        0 if bare.chars().any(char::is_lowercase) => bare.to_uppercase(),
        0 => bare.to_lowercase(),
        1 if without.len() < bare.len() && !without.is_empty() => without.to_owned(),
        _ => format!("{bare},"),
    };
    edited + space
}

fn spaced(text: &str) -> String {
    match text.ends_with(char::is_whitespace) {
        true => text.to_owned(),
        false => format!("{text} "),
    }
}

/// Whether characters like this are words without spaces between them.
fn is_word_alone(c: char) -> bool {
    matches!(u32::from(c), 0xe00..=0xe7f | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// The words of a text, each with the white space behind it; what stands before the first is
/// left out.
fn words(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let mut words = Vec::new();
    let (mut start, mut before) = (0, None::<char>);
    for (place, c) in text.char_indices() {
        let is_start = before.is_some_and(|before| {
            !c.is_whitespace()
                && (before.is_whitespace() || is_word_alone(c) || is_word_alone(before))
        });
        if is_start {
            words.push(&text[start..place]);
            start = place;
        }
        before = Some(c);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// The sentences of a text, or where there are no marks, runs of so many words.
fn sentences(text: &str) -> Vec<&str> {
    const WORDS_MAX: usize = 40;
    let mut sentences = Vec::new();
    let text = text.trim_start();
    let (mut start, mut end, mut count) = (0, 0, 0);
    for word in words(text) {
        end += word.len();
        count += 1;
        let bare = word.trim_end();
        let is_end = bare.ends_with(['.', '!', '?', '。', '！', '？']) || word.contains('\n');
        if is_end || count == WORDS_MAX {
            sentences.push(&text[start..end]);
            (start, count) = (end, 0);
        }
    }
    if start < text.len() {
        sentences.push(&text[start..]);
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "One ship came into the harbour. Its sail was torn! Who knew why? \
                        Nobody, said the man at the pier, and went home.";

    #[test]
    fn words_and_sentences_make_the_text() {
        assert_eq!(words(TEXT).concat(), TEXT);
        assert_eq!(words(TEXT).len(), 23);
        assert_eq!(sentences(TEXT).concat(), TEXT);
        assert_eq!(sentences(TEXT).len(), 4);
        assert_eq!(words("สวัสดี").len(), 6);
        assert_eq!(words(" \n").len(), 0);
    }

    #[test]
    fn each_kind_edits_as_much_as_it_says() {
        let edit = |kind, rate| edited(TEXT, kind, rate, 7);
        let count = |text: &str| words(text).len();
        assert_eq!(count(&edit(EditKind::Deleted, 20)), 18);
        assert_eq!(count(&edit(EditKind::Inserted, 20)), 28);
        assert_eq!(count(&edit(EditKind::Truncated, 50)), 11);
        assert_eq!(count(&edit(EditKind::Framed, 10)), 26);
        let replaced = edit(EditKind::Replaced, 10);
        let (old, new) = (words(TEXT), words(&replaced));
        assert_eq!(new.len(), 23);
        let differ = old
            .iter()
            .zip(&new)
            .filter(|(a, b)| a.trim_end() != b.trim_end());
        assert_eq!(differ.count(), 3);
        let moved = edit(EditKind::Moved, 50);
        let sorted = |text: &str| {
            let mut words: Vec<String> = words(text).iter().map(|w| w.trim_end().into()).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(&moved), sorted(TEXT));
        let marked = edit(EditKind::Marked, 50);
        let folded = |text: &str| text.to_lowercase().replace([',', '.', '!', '?'], "");
        assert_eq!(folded(&marked), folded(TEXT));
        assert_ne!(marked, TEXT);
    }

    proptest! {
        #[test]
        fn any_text_can_be_edited(text in "\\PC{0,80}|[a-c .\n]{0,60}", rate in 1_u32..=50, seed in 0_u64..9) {
            for kind in EditKind::ALL {
                let one = edited(&text, kind, rate, seed);
                prop_assert_eq!(&one, &edited(&text, kind, rate, seed));
            }
            prop_assert_eq!(words(&text).concat(), text.trim_start());
        }
    }
}
