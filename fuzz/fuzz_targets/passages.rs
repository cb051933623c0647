//! Two texts: what stands at the places of a passage is the same tokens in both.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::inside::{Content, Shingles, Spanned, Template, passages, shingler};
use simdup::settings::{Case, Names, ShingleSettings, Stopwords, Tokens, Windows};

fuzz_target!(|texts: (&str, &str)| {
    let (left, right) = texts;
    let words = Tokens::Words {
        stopwords: Stopwords::default(),
    };
    for tokens in [words, Tokens::Chars, Tokens::Code { names: Names::Fold }] {
        let settings = ShingleSettings::Tokens {
            tokens,
            case: Case::Fold,
            windows: Windows::of(1),
        };
        let tokens = |text: &str| {
            let mut shingles = Shingles::default();
            shingler(&settings).shingle(&Content::Text(text.into()), &mut shingles);
            shingles.as_slice().to_vec()
        };
        let spanned = |text| Spanned::new(text, &settings, &Template::default());
        let (Some(one), Some(two)) = (spanned(left), spanned(right)) else {
            return;
        };
        for passage in passages(&one, &two, 2) {
            let found = tokens(&left[passage.left.clone()]);
            assert_eq!(found.len(), passage.tokens);
            assert_eq!(found, tokens(&right[passage.right.clone()]));
        }
    }
});
