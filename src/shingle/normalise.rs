//! What counts as the same text: NFKC, then lower case, then no combining
//! diacritics. The only file that knows unicode-normalization.

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
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        fold(text, text.chars(), case, out);
    } else {
        let composed: String = text.nfkc().collect();
        fold(&composed, composed.chars(), case, out);
    }
}

fn fold(text: &str, chars: impl Iterator<Item = char>, case: Case, out: &mut String) {
    let kept = |c: &char| !('\u{300}'..='\u{36f}').contains(c);
    match case {
        Case::Keep => out.extend(chars.filter(kept)),
        // The one letter whose small form depends on what stands around it.
        Case::Fold if text.contains('Σ') => {
            out.extend(text.to_lowercase().chars().filter(kept));
        }
        Case::Fold => out.extend(chars.flat_map(char::to_lowercase).filter(kept)),
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
        fn the_short_cuts_change_nothing(text in "[\\PC\u{300}-\u{305}Σσ ]{0,30}") {
            let plain: String = text.nfkc().collect::<String>().to_lowercase().chars()
                .filter(|c| !('\u{300}'..='\u{36f}').contains(c)).collect();
            prop_assert_eq!(normalised(&text, Case::Fold), plain);
        }
    }
}
