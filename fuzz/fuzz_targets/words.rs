//! The words of any text: the short cuts must give those of the definition.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::inside::{Content, Shingle, Shingles, normalise, shingler, token_hash};
use simdup::settings::{Case, ShingleSettings, Stopwords, Tokens, Windows};
use unicode_segmentation::UnicodeSegmentation;

fuzz_target!(|text: &str| {
    for case in [Case::Fold, Case::Keep] {
        let mut normal = String::new();
        normalise(text, case, &mut normal);
        let words = normal.unicode_words();
        let general: Vec<Shingle> = words
            .map(|word| Shingle(token_hash(word.as_bytes())))
            .collect();
        // A shingle of one word is the hash of the word.
        let settings = ShingleSettings::Tokens {
            tokens: Tokens::Words {
                stopwords: Stopwords::default(),
            },
            case,
            windows: Windows::of(1),
        };
        let mut shingles = Shingles::default();
        shingler(&settings).shingle(&Content::Text(text.into()), &mut shingles);
        assert_eq!(shingles.as_slice(), general);
    }
});
