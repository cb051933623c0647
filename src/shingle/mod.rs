//! From a content to its shingles.
//!
//! A shingler knows neither files nor ids nor signatures. It gives a document's
//! shingles in document order, with repetitions: a sketch needs neither sorting
//! nor removing them, and [`ShingleSet`] does both for those who do.

mod alphabet;
mod ascii;
mod chars;
mod code;
mod compose;
mod hash;
mod normalise;
mod spans;
mod stopwords;
mod table;
mod technosphere;
mod windows;
mod words;

use crate::document::Content;
pub use code::{Names, tokens_twice};
pub use hash::token_hash;
pub use normalise::{Case, normalise};
pub use spans::{Token, spans};
use std::collections::HashSet;
pub use stopwords::Stopwords;
pub use windows::Windows;
pub(crate) use words::words_spelled;

/// Shingles that count in no document.
pub type Template = HashSet<Shingle, ahash::RandomState>;

/// The hash of some consecutive tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Shingle(pub u64);

/// A document's distinct shingles, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShingleSet(Vec<Shingle>);

impl ShingleSet {
    /// The set of these shingles, whatever their order.
    pub fn new(mut shingles: Vec<Shingle>) -> Self {
        shingles.sort_unstable();
        shingles.dedup();
        Self(shingles)
    }

    /// The shingles in ascending order.
    pub fn as_slice(&self) -> &[Shingle] {
        &self.0
    }
}

/// How contents become shingles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShingleSettings {
    /// Windows of words, characters or tokens of source code.
    Tokens {
        /// What a token is.
        tokens: Tokens,
        /// Whether capitals matter. In source code they do, whatever stands here.
        case: Case,
        /// How many tokens make a shingle, and where it may start.
        windows: Windows,
    },
    /// Each item of a list is a shingle.
    Items {
        /// Whether capitals matter.
        case: Case,
    },
    /// The Technosphere course's own shingles.
    Technosphere,
}

/// What a text is cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Words, but for those to leave out.
    Words {
        /// Words that do not count.
        stopwords: Stopwords,
    },
    /// Grapheme clusters.
    Chars,
    /// Tokens of source code, in any language.
    Code {
        /// Whether names count.
        names: Names,
    },
}

impl ShingleSettings {
    /// About how many bytes of tokens and shingles a byte of text becomes where there are many:
    /// three bytes are a word in scripts without spaces, and one may be a character.
    pub(crate) fn bytes_per_byte(&self) -> usize {
        match self {
            Self::Tokens {
                tokens, windows, ..
            } => {
                let sizes = windows.sizes.end() - windows.sizes.start() + 1;
                let each = if *tokens == Tokens::Chars { 8 } else { 3 };
                each * (1 + sizes)
            }
            Self::Items { .. } | Self::Technosphere => 8,
        }
    }
}

impl Default for ShingleSettings {
    fn default() -> Self {
        Self::Tokens {
            tokens: Tokens::Words {
                stopwords: Stopwords::default(),
            },
            case: Case::Fold,
            windows: Windows::of(5),
        }
    }
}

/// Room for a document's shingles and for what is needed on the way to them,
/// kept from document to document.
#[derive(Debug, Default)]
pub struct Shingles {
    all: Vec<Shingle>,
    tokens: windows::TokenSequence,
    text: String,
    words: words::Scratch,
    short: bool,
}

impl Shingles {
    /// The shingles in document order.
    pub fn as_slice(&self) -> &[Shingle] {
        &self.all
    }

    /// Tokens that are still held besides.
    pub(crate) fn tokens_held(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the document has tokens, but fewer than one shingle takes.
    pub(crate) fn is_short(&self) -> bool {
        self.short
    }

    /// The distinct shingles.
    pub fn to_set(&self) -> ShingleSet {
        ShingleSet::new(self.all.clone())
    }

    /// Gives back the memory that a huge document took.
    pub fn trim(&mut self) {
        const KEPT: usize = 1 << 18;
        self.all.clear();
        self.all.shrink_to(KEPT);
        self.tokens.clear();
        self.tokens.hashes_mut().shrink_to(KEPT);
        self.text.clear();
        self.text.shrink_to(KEPT);
    }

    /// Keeps only those shingles that count.
    pub(crate) fn retain(&mut self, counts: impl Fn(Shingle) -> bool) {
        self.all.retain(|&shingle| counts(shingle));
    }

    /// How many words a content has.
    pub(crate) fn count_words(&mut self, content: &Content<'_>) -> usize {
        self.tokens.clear();
        for_each_text(content, |text| {
            words::words(text, Case::Keep, &mut self.words, self.tokens.hashes_mut());
        });
        self.tokens.len()
    }

    /// Removes all shingles.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.tokens.clear();
        self.short = false;
    }
}

/// Turns contents into shingles. Shared by all threads.
pub trait Shingler: Send + Sync {
    /// Replaces what `shingles` holds with the shingles of `content`.
    fn shingle(&self, content: &Content<'_>, shingles: &mut Shingles);
}

/// The shingler that the settings ask for.
pub fn shingler(settings: &ShingleSettings) -> Box<dyn Shingler> {
    match settings {
        ShingleSettings::Tokens {
            tokens,
            case,
            windows,
        } => Box::new(TokenShingler {
            tokens: tokens.clone(),
            case: *case,
            windows: windows.clone(),
        }),
        ShingleSettings::Items { case } => Box::new(ItemShingler { case: *case }),
        ShingleSettings::Technosphere => Box::new(technosphere::Technosphere),
    }
}

/// Windows over the tokens of a text.
struct TokenShingler {
    tokens: Tokens,
    case: Case,
    windows: Windows,
}

impl TokenShingler {
    fn tokenise(&self, text: &str, shingles: &mut Shingles) {
        let hashes = shingles.tokens.hashes_mut();
        match &self.tokens {
            Tokens::Words { .. } => words::words(text, self.case, &mut shingles.words, hashes),
            Tokens::Chars => chars::chars(text, self.case, &mut shingles.text, hashes),
            Tokens::Code { names } => code::tokens(text, *names, &mut shingles.text, hashes),
        }
    }
}

impl Shingler for TokenShingler {
    fn shingle(&self, content: &Content<'_>, shingles: &mut Shingles) {
        shingles.clear();
        for_each_text(content, |part| self.tokenise(part, shingles));
        let Shingles {
            all, tokens, short, ..
        } = shingles;
        if let Tokens::Words { stopwords } = &self.tokens
            && !stopwords.is_empty()
        {
            let hashes = tokens.hashes_mut();
            hashes.retain(|&word| !stopwords.contains(word));
        }
        let count = tokens.len();
        *short = count > 0 && count < *self.windows.sizes.start();
        self.windows.shingle(tokens, all);
    }
}

/// Every item is a shingle, normalised as text is. Empty ones do not count.
struct ItemShingler {
    case: Case,
}

impl Shingler for ItemShingler {
    fn shingle(&self, content: &Content<'_>, shingles: &mut Shingles) {
        shingles.clear();
        let Shingles { all, text, .. } = shingles;
        for_each_text(content, |item| {
            text.clear();
            normalise(item, self.case, text);
            if !text.is_empty() {
                all.push(Shingle(token_hash(text.as_bytes())));
            }
        });
    }
}

fn for_each_text(content: &Content<'_>, mut each: impl FnMut(&str)) {
    match content {
        Content::Text(text) => each(text),
        Content::Items(items) => items.iter().for_each(|item| each(item)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &ShingleSettings, text: &str) -> ShingleSet {
        let mut shingles = Shingles::default();
        shingler(settings).shingle(&Content::Text(text.into()), &mut shingles);
        shingles.to_set()
    }

    #[test]
    fn shingle_hashes_are_frozen() {
        let settings = ShingleSettings::default();
        assert_eq!(
            set(&settings, "The quick brown fox jumps over").as_slice(),
            [
                Shingle(0x4430_d8ba_cd95_36d3),
                Shingle(0xaa94_f2df_6b09_d318)
            ]
        );
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_none() {
        let settings = ShingleSettings::default();
        assert_eq!(set(&settings, "one two").as_slice().len(), 1);
        assert_eq!(set(&settings, "one two"), set(&settings, "One, two!"));
        assert_ne!(set(&settings, "one two"), set(&settings, "two one"));
        assert!(set(&settings, " ... ").as_slice().is_empty());
    }

    #[test]
    fn stopwords_are_left_out_as_text_is_compared() {
        let mut stopwords = Stopwords::default();
        assert_eq!(stopwords.add("The", Case::Fold), 1);
        assert_eq!(stopwords.add("of the", Case::Fold), 2);
        assert_eq!(stopwords.add("ÉTÉ", Case::Fold), 1);
        assert_eq!(stopwords.len(), 2);
        let with = ShingleSettings::Tokens {
            tokens: Tokens::Words { stopwords },
            case: Case::Fold,
            windows: Windows::of(2),
        };
        assert_eq!(set(&with, "the cat the été sat"), set(&with, "cat sat"));
    }

    #[test]
    fn items_are_shingles() {
        let mut shingles = Shingles::default();
        let items = ["Rust", "", "go", "rust"].map(Into::into).to_vec();
        let settings = ShingleSettings::Items { case: Case::Fold };
        shingler(&settings).shingle(&Content::Items(items), &mut shingles);
        assert_eq!(shingles.as_slice().len(), 3);
        assert_eq!(shingles.to_set().as_slice().len(), 2);
    }
}
