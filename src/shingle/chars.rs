//! Characters: grapheme clusters of normalised text, a run of white space
//! counting as one space.

use unicode_segmentation::UnicodeSegmentation;

use super::hash::token_hash;
use super::normalise::{Case, normalise};

/// Appends the hash of every character of `text`. `scratch` is room for
/// normalised text.
pub(super) fn chars(text: &str, case: Case, scratch: &mut String, hashes: &mut Vec<u64>) {
    if text.is_ascii() {
        ascii_chars(text.as_bytes(), case, hashes);
        return;
    }
    scratch.clear();
    normalise(text, case, scratch);
    let spaced = one_space(scratch);
    hashes.extend(
        spaced
            .graphemes(true)
            .map(|character| token_hash(character.as_bytes())),
    );
}

fn one_space(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    let mut in_space = false;
    for c in text.chars() {
        let space = c.is_whitespace();
        if !(space && in_space) {
            spaced.push(if space { ' ' } else { c });
        }
        in_space = space;
    }
    spaced
}

/// In ASCII every byte is a character.
fn ascii_chars(text: &[u8], case: Case, hashes: &mut Vec<u64>) {
    let mut in_space = false;
    for &byte in text {
        let space = char::from(byte).is_whitespace();
        if !(space && in_space) {
            let byte = match case {
                _ if space => b' ',
                Case::Fold => byte.to_ascii_lowercase(),
                Case::Keep => byte,
            };
            hashes.push(token_hash(&[byte]));
        }
        in_space = space;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn characters(text: &str) -> Vec<u64> {
        let mut found = vec![];
        chars(text, Case::Fold, &mut String::new(), &mut found);
        found
    }

    fn hashes(characters: &[&str]) -> Vec<u64> {
        characters
            .iter()
            .map(|c| token_hash(c.as_bytes()))
            .collect()
    }

    #[test]
    fn characters_are_what_a_reader_counts() {
        assert_eq!(characters("A \r\n\tb"), hashes(&["a", " ", "b"]));
        assert_eq!(characters("e\u{301}\u{a0} 👍🏽"), hashes(&["é", " ", "👍🏽"]));
        assert_eq!(
            characters("f\u{ad}👨\u{200d}👩’"),
            hashes(&["f", "👨", "👩", "'"])
        );
    }

    proptest! {
        #[test]
        fn ascii_has_the_characters_of_the_general_path(text in "[\x00-\x7f]{0,40}") {
            // The letter at the end takes the general path.
            let mut general = characters(&format!("{text}ж"));
            prop_assert_eq!(general.pop(), Some(token_hash("ж".as_bytes())));
            prop_assert_eq!(characters(&text), general);
        }
    }
}
