//! From two texts to the passages they share. Knows neither files nor output formats.

use crate::shingle::Template;
use std::collections::HashMap;
use std::ops::Range;

use super::tiling::{self, Side, tiles};
use crate::shingle::{ShingleSettings, Token, Windows, spans, token_hash};

/// A run of tokens that two texts share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// How many tokens.
    pub tokens: usize,
    /// Its bytes in the first text.
    pub left: Range<usize>,
    /// Its bytes in the second text.
    pub right: Range<usize>,
    /// The bytes between its tokens that only the first, and only the second text has: comments,
    /// stopwords.
    pub own: [Vec<Range<usize>>; 2],
}

/// A text that is held against others.
#[derive(Debug)]
pub struct Spanned {
    tokens: Vec<Token>,
    /// What stands between two tokens and has a letter or digit, by the token before it; a hash of
    /// it, in which white space counts as one space.
    gaps: HashMap<usize, (Range<usize>, u64), ahash::RandomState>,
    side: Side,
    /// Tokens that a template has, in order and apart.
    template: Vec<Range<usize>>,
}

impl Spanned {
    /// Finds the tokens of a text; what is in `template` is part of no passage. `None` if the
    /// settings know no tokens with a place.
    pub fn new(text: &str, settings: &ShingleSettings, template: &Template) -> Option<Self> {
        let ShingleSettings::Tokens { windows, .. } = settings else {
            return None;
        };
        let tokens = spans(text, settings)?;
        let mut side = Side::new(
            tokens.iter().map(|token| token.hash).collect(),
            tokens.iter().map(|token| (token.may_begin, token.may_end)),
        );
        let mut parts = match template.is_empty() {
            true => Vec::new(),
            false => template_parts(&side, windows, template),
        };
        for part in &parts {
            side.take(part.clone());
        }
        parts.sort_unstable_by_key(|part| (part.start, part.end));
        let mut template: Vec<Range<usize>> = Vec::new();
        for part in parts {
            match template.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                _ => template.push(part),
            }
        }
        Some(Self {
            gaps: gaps(text, &tokens),
            tokens,
            side,
            template,
        })
    }

    /// Where a passage of so many tokens has something between them that the other text does not
    /// have there.
    fn own(&self, start: usize, other: (&Self, usize), length: usize) -> Vec<Range<usize>> {
        let (other, other_start) = other;
        if self.gaps.is_empty() {
            return Vec::new();
        }
        let own = (0..length.saturating_sub(1)).filter_map(|at| {
            let (place, hash) = self.gaps.get(&(start + at))?;
            let twin = other.gaps.get(&(other_start + at));
            twin.is_none_or(|(_, other)| other != hash)
                .then(|| place.clone())
        });
        own.collect()
    }

    /// How many tokens no template has.
    pub(crate) fn own_tokens(&self) -> usize {
        self.len()
            - self
                .template
                .iter()
                .map(ExactSizeIterator::len)
                .sum::<usize>()
    }

    /// The bytes of what a template has.
    pub(crate) fn template(&self) -> Vec<Range<usize>> {
        let bytes = |part: &Range<usize>| {
            self.tokens[part.start].place.start..self.tokens[part.end - 1].place.end
        };
        self.template.iter().map(bytes).collect()
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// What stands between tokens and has a letter or digit, without the white space around it.
fn gaps(text: &str, tokens: &[Token]) -> HashMap<usize, (Range<usize>, u64), ahash::RandomState> {
    let mut gaps = HashMap::default();
    for (at, two) in tokens.windows(2).enumerate() {
        let between = two[0].place.end..two[1].place.start.max(two[0].place.end);
        let gap = &text[between.clone()];
        if gap.len() < 2 || !gap.contains(char::is_alphanumeric) {
            continue;
        }
        let start = between.start + gap.len() - gap.trim_start().len();
        let words: Vec<&str> = gap.split_whitespace().collect();
        let hash = token_hash(words.join(" ").as_bytes());
        gaps.insert(at, (start..start + gap.trim().len(), hash));
    }
    gaps
}

/// What of a text is in a template: the tokens of shingles that are.
fn template_parts(side: &Side, windows: &Windows, template: &Template) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    for (range, shingle) in windows.places(side.tokens()) {
        if template.contains(&shingle) {
            parts.push(range);
        }
    }
    parts
}

/// How long a passage of two texts is at the least, unless it is said: as a shingle. Texts that are
/// shorter are one shingle, and the same one if they are the same.
pub(crate) fn least_tokens(said: Option<usize>, shingle: usize, texts: [&Spanned; 2]) -> usize {
    let [one, two] = texts.map(Spanned::len);
    match said {
        None if one == two => shingle.min(one),
        None => shingle,
        Some(least) => least,
    }
}

/// The passages that two texts share, in the order of the first text: the longest run of tokens
/// that both have, then the longest of what is left, and so on, down to `least` tokens; of equal
/// ones the earlier in the first text, then in the second (greedy string tiling: Wise, 1993). A
/// token is in one passage at most.
pub fn passages(left: &Spanned, right: &Spanned, least: usize) -> Vec<Passage> {
    let mut found = tiles(&left.side, &right.side, least.max(1));
    found.sort_unstable_by_key(|tile| tile.left);
    let place = |of: &Spanned, start: usize, length: usize| {
        of.tokens[start].place.start..of.tokens[start + length - 1].place.end
    };
    let passage = |tile: tiling::Tile| Passage {
        tokens: tile.length,
        left: place(left, tile.left, tile.length),
        right: place(right, tile.right, tile.length),
        own: [
            left.own(tile.left, (right, tile.right), tile.length),
            right.own(tile.right, (left, tile.left), tile.length),
        ],
    };
    found.into_iter().map(passage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::{Case, Names, Tokens};
    use proptest::prelude::*;

    fn found(left: &str, right: &str, said: Option<usize>) -> Vec<Passage> {
        let spanned =
            |text| Spanned::new(text, &ShingleSettings::default(), &Template::default()).unwrap();
        let (left, right) = (spanned(left), spanned(right));
        let least = least_tokens(said, 5, [&left, &right]);
        passages(&left, &right, least)
    }

    #[test]
    fn a_moved_paragraph_is_one_passage() {
        let (one, two) = ("the first part of a text", "and here is the other part");
        let passages = found(&format!("{one}. {two}."), &format!("{two}! {one}?"), None);
        assert_eq!(passages.len(), 2);
        assert_eq!(passages[0].left, 0..one.len());
        assert_eq!(passages[0].right, two.len() + 2..two.len() + 2 + one.len());
    }

    #[test]
    fn equal_texts_shorter_than_a_shingle_are_a_passage() {
        assert_eq!(found("Sea, sky", "sea sky", None).len(), 1);
        assert_eq!(found("sea sky", "sky sea", None), []);
        assert_eq!(found("sea sky", "sea sky blue", None), []);
        assert_eq!(found("sea sky", "sea sky", Some(5)), []);
        assert_eq!(found("", "", None), []);
    }

    #[test]
    fn a_comment_that_only_one_text_has_is_its_own() {
        let settings = ShingleSettings::Tokens {
            tokens: Tokens::Code { names: Names::Fold },
            case: Case::Keep,
            windows: Windows::of(1),
        };
        let left = "int f() { /* all\n mine */ return 1; // the same\n }";
        let right = "int g() { return 1; //  the  same\n }";
        let spanned = |text| Spanned::new(text, &settings, &Template::default()).unwrap();
        let found = passages(&spanned(left), &spanned(right), 1);
        assert_eq!(found.len(), 1);
        let [own, others] = &found[0].own;
        assert!(others.is_empty());
        assert_eq!(own.len(), 1);
        assert_eq!(&left[own[0].clone()], "/* all\n mine */");
    }

    #[test]
    fn a_passage_begins_with_the_letter_before_sara_am() {
        // Both texts have the six letters between the first and the last.
        let passages = found("กคำทำนข", "จคำทำนด", Some(1));
        assert_eq!(passages.len(), 1);
        assert_eq!(passages[0].tokens, 5);
        assert_eq!(passages[0].left, 3..18);
    }

    proptest! {
        #[test]
        fn what_stands_at_the_places_is_the_same(
            words in proptest::collection::vec("[aΣσé℀½ﬁ\u{301}คำาน]{1,3}[ ^,]?", 1..12),
            picks in proptest::collection::vec(0_usize..12, 0..20),
        ) {
            let left = words.concat();
            let right: String = picks.iter().map(|&pick| words[pick % words.len()].as_str()).collect();
            let settings = ShingleSettings::default();
            let tokens = |text: &str| -> Vec<u64> {
                spans(text, &settings).unwrap().iter().map(|token| token.hash).collect()
            };
            for passage in found(&left, &right, Some(1)) {
                let shared = tokens(&left[passage.left.clone()]);
                prop_assert_eq!(shared.len(), passage.tokens);
                prop_assert_eq!(shared, tokens(&right[passage.right.clone()]));
            }
        }
    }
}
