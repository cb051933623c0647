//! Words to leave out. The only file that knows stop-words.

use std::collections::HashSet;

use super::normalise::Case;
use super::words;

/// A set of words to leave out, compared as all text is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopwords {
    hashes: HashSet<u64, ahash::RandomState>,
}

/// Languages whose lists are built in, and what that crate calls them. The lists are those of
/// NLTK: Snowball's, of some hundred words each.
const LANGUAGES: [(&str, &str); 8] = [
    ("english", "en"),
    ("russian", "ru"),
    ("french", "fr"),
    ("german", "de"),
    ("spanish", "es"),
    ("italian", "it"),
    ("portuguese", "pt"),
    ("dutch", "nl"),
];

impl Stopwords {
    /// Adds the word in `text`, and gives back how many words that text holds;
    /// only a text of one word is added.
    pub fn add(&mut self, text: &str, case: Case) -> usize {
        let mut found = Vec::new();
        words::words(text, case, &mut words::Scratch::default(), &mut found);
        if let [word] = found[..] {
            self.hashes.insert(word);
        }
        found.len()
    }

    /// The list of a language, if it is built in.
    pub fn of_language(name: &str, case: Case) -> Option<Self> {
        let (_, code) = LANGUAGES.iter().find(|(language, _)| *language == name)?;
        let mut stopwords = Self::default();
        for word in stop_words::lookup(code)? {
            stopwords.add(word, case);
        }
        Some(stopwords)
    }

    /// The languages whose lists are built in.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        LANGUAGES.iter().map(|(language, _)| *language)
    }

    /// Whether the word with this hash is one of them.
    pub(crate) fn contains(&self, word: u64) -> bool {
        self.hashes.contains(&word)
    }

    /// The hashes of the words, in order.
    pub(crate) fn to_hashes(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.hashes.iter().copied().collect();
        hashes.sort_unstable();
        hashes
    }

    /// The words of these hashes.
    pub(crate) fn from_hashes(hashes: &[u64]) -> Self {
        Self {
            hashes: hashes.iter().copied().collect(),
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// True if every word counts.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::token_hash;
    use super::*;

    #[test]
    fn lists_are_built_in_and_compared_as_text_is() {
        for (language, word) in [
            ("english", "aren't"),
            ("russian", "чтобы"),
            ("french", "été"),
            ("german", "nicht"),
            ("spanish", "también"),
            ("italian", "perché"),
            ("portuguese", "não"),
            ("dutch", "niet"),
        ] {
            let stopwords = Stopwords::of_language(language, Case::Fold).unwrap();
            assert!(
                stopwords.contains(token_hash(word.as_bytes())),
                "{language}"
            );
            assert!((90..500).contains(&stopwords.len()), "{language}");
        }
        assert!(Stopwords::of_language("klingon", Case::Fold).is_none());
        assert_eq!(Stopwords::languages().count(), 8);
    }
}
