//! What counts as the same text: no characters that are not seen, then NFKC, then lower
//! case, then no combining diacritics, and one apostrophe.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Whether capital and small letters are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// They are; text is lower-cased.
    Fold,
    /// They are not.
    Keep,
}

/// Appends the normalised form of `text` to `out`.
pub fn normalise(text: &str, case: Case, out: &mut String) {
    let seen = text.chars().filter(|&c| !is_unseen(c));
    let composed: String = match is_nfkc_quick(seen.clone()) {
        IsNormalized::Yes => seen.collect(),
        _ => seen.nfkc().collect(),
    };
    let folded = composed.chars();
    match case {
        Case::Keep => out.extend(folded.filter_map(plain)),
        // The one letter whose small form depends on what stands around it.
        Case::Fold if composed.contains('Σ') => {
            out.extend(composed.to_lowercase().chars().filter_map(plain));
        }
        Case::Fold => out.extend(folded.flat_map(char::to_lowercase).filter_map(plain)),
    }
}

/// Whether a character only says where a line may break, or how letters are drawn.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
    )
}

/// What stands for a composed character in the end, if anything does.
pub(super) fn plain(c: char) -> Option<char> {
    match c {
        '\u{300}'..='\u{36f}' => None,
        '\u{2019}' | '\u{2bc}' => Some('\''),
        _ => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normalised(text: &str, case: Case) -> String {
        let mut out = String::new();
        normalise(text, case, &mut out);
        out
    }

    #[test]
    fn equal_to_a_reader_is_equal() {
        for (a, b) in [
            ("Капиба́ра", "Капибара"),
            ("ﬁne", "Fine"),
            ("\u{e9}", "e\u{301}"),
            ("ΟΔΟΣ", "οδος"),
            ("ＡＢＣ１２", "abc12"),
            ("İ", "i"),
            ("aren\u{2019}t", "aren't"),
            ("aren\u{2bc}t", "aren't"),
            ("\u{149}", "'n"),
            (
                "co\u{ad}op\u{200b}er\u{200c}a\u{200d}ti\u{2060}on\u{feff}",
                "cooperation",
            ),
            ("e\u{ad}\u{301}", "é"),
        ] {
            assert_eq!(
                normalised(a, Case::Fold),
                normalised(b, Case::Fold),
                "{a} {b}"
            );
        }
        assert_ne!(
            normalised("Fine", Case::Keep),
            normalised("fine", Case::Keep)
        );
        assert_eq!(normalised("ﬁnÉ", Case::Keep), "finÉ");
    }

    proptest! {
        #[test]
        fn the_short_cuts_change_nothing(
            text in "[\\PC\u{300}-\u{305}Σσ \u{ad}\u{200b}-\u{200d}\u{2060}\u{feff}\u{2bc}’]{0,30}",
        ) {
            let seen: String = text.chars().filter(|&c| !is_unseen(c)).collect();
            let composed: String = seen.nfkc().collect();
            let expected = |text: &str| -> String { text.chars().filter_map(plain).collect() };
            prop_assert_eq!(normalised(&text, Case::Fold), expected(&composed.to_lowercase()));
            prop_assert_eq!(normalised(&text, Case::Keep), expected(&composed));
        }
    }
}
