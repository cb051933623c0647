//! Pairs as lines, by their ids: one on the left with several on the right.

use super::listing::{EncodedIds, FilePlace, ListFormat, Listing, PairFacts};
use super::{Columns, OutputFormat, PairFormat, github, sarif};
use crate::collection::Urls;
use crate::document::DocumentId;
use crate::pairs::Pair;
use crate::score::{Digits, Score};

/// Pairs as lines of a listing.
pub(crate) struct PairLines<'a> {
    lines: IdLines,
    urls: &'a Urls,
    left: Option<DocumentId>,
}

impl<'a> PairLines<'a> {
    /// Lines of this listing, with these ids.
    pub(crate) fn new(listing: &Listing, urls: &'a Urls) -> Self {
        Self {
            lines: IdLines::new(listing),
            urls,
            left: None,
        }
    }

    /// Appends a pair.
    pub(crate) fn pair(&mut self, pair: &Pair, places: [FilePlace<'_>; 2], text: &mut Vec<u8>) {
        if self.left != Some(pair.left) {
            self.left = Some(pair.left);
            self.lines.left(self.urls.get(pair.left));
        }
        let facts = PairFacts {
            score: pair.score,
            shares: pair.shares,
            shared: pair.shared,
            sizes: pair.sizes,
            places,
        };
        self.lines.pair(self.urls.get(pair.right), &facts, text);
    }

    /// What comes behind the last pair.
    pub(crate) fn end(&self) -> &'static str {
        self.lines.end()
    }
}

/// Pairs as lines of a listing, by their ids.
pub struct IdLines {
    format: ListFormat,
    rules: &'static dyn PairFormat,
    columns: Columns,
    left: String,
    left_id: Vec<u8>,
    printed: PrintedScores,
    is_first: bool,
    encoded_ids: EncodedIds,
}

impl IdLines {
    /// Lines of this listing.
    pub fn new(listing: &Listing) -> Self {
        Self {
            format: listing.format,
            rules: match listing.format {
                ListFormat::Rows(format) => format.rules(),
                ListFormat::Github | ListFormat::Sarif => OutputFormat::Text.rules(),
            },
            columns: listing.columns,
            left: String::new(),
            left_id: Vec::new(),
            printed: PrintedScores::new(listing.digits),
            is_first: true,
            encoded_ids: listing.encoded_ids.clone(),
        }
    }

    /// What comes before the first pair, with or without the shares of each document that are
    /// in the other.
    pub fn header(&self, with_shares: bool) -> String {
        match self.format {
            ListFormat::Github => String::new(),
            ListFormat::Sarif => sarif::start(),
            ListFormat::Rows(_) => {
                let Columns {
                    shared,
                    sizes,
                    lines,
                } = self.columns;
                let names: Vec<&str> = [
                    (with_shares, &["in1", "in2"][..]),
                    (shared, &["shared"]),
                    (sizes, &["size1", "size2"]),
                    (lines, &["line1", "line2"]),
                ]
                .into_iter()
                .filter(|(is_there, _)| *is_there)
                .flat_map(|(_, names)| names.iter().copied())
                .collect();
                self.rules.header(&names)
            }
        }
    }

    /// What comes behind the last pair.
    pub fn end(&self) -> &'static str {
        match self.format {
            ListFormat::Sarif => sarif::END,
            ListFormat::Rows(_) | ListFormat::Github => "",
        }
    }

    /// The id on the left of the pairs that follow.
    pub fn left(&mut self, url: &str) {
        self.left_id.clear();
        match self.format {
            ListFormat::Rows(_) => {
                let is_encoded = self.rules.id(url, &mut self.left_id);
                self.encoded_ids.add(is_encoded);
            }
            ListFormat::Github | ListFormat::Sarif => url.clone_into(&mut self.left),
        }
    }

    /// Appends a pair.
    pub fn pair(&mut self, right: &str, facts: &PairFacts<'_>, text: &mut Vec<u8>) {
        let urls = [&self.left, right];
        match self.format {
            ListFormat::Rows(_) => return self.row(right, facts, text),
            ListFormat::Github => {
                github::annotate(urls, facts, self.printed.text(facts.score), text);
            }
            ListFormat::Sarif => {
                let comma = if self.is_first { "" } else { "," };
                text.extend_from_slice(comma.as_bytes());
                sarif::result(urls, facts, self.printed.text(facts.score), text);
            }
        }
        self.is_first = false;
    }

    fn row(&mut self, right: &str, facts: &PairFacts<'_>, text: &mut Vec<u8>) {
        let [first, second, before_score, end] = self.rules.frame().map(str::as_bytes);
        text.extend_from_slice(first);
        text.extend_from_slice(&self.left_id);
        text.extend_from_slice(second);
        self.encoded_ids.add(self.rules.id(right, text));
        text.extend_from_slice(before_score);
        text.extend_from_slice(self.printed.text(facts.score).as_bytes());
        if let Some(shares) = facts.shares {
            for (name, share) in ["in1", "in2"].into_iter().zip(shares) {
                self.rules.more(name, Some(&self.printed.own(share)), text);
            }
        }
        if self.columns != Columns::default() {
            self.columns(facts, text);
        }
        text.extend_from_slice(end);
    }

    fn columns(&self, facts: &PairFacts<'_>, text: &mut Vec<u8>) {
        if self.columns.shared {
            let shared = facts.shared.to_string();
            self.rules.more("shared", Some(&shared), text);
        }
        if self.columns.sizes {
            for (name, size) in ["size1", "size2"].into_iter().zip(facts.sizes) {
                self.rules.more(name, Some(&size.to_string()), text);
            }
        }
        if self.columns.lines {
            for (name, line) in ["line1", "line2"].into_iter().zip(facts.places) {
                let line = line.line().map(|line| line.to_string());
                self.rules.more(name, line.as_deref(), text);
            }
        }
    }
}

/// Scores as they are printed: few are different where they are shares of a signature,
/// and neighbouring pairs often have the same.
struct PrintedScores {
    digits: Option<Digits>,
    printed: Vec<(Option<Score>, String)>,
}

/// Scores that are kept in print.
const PRINTED_MAX: usize = 256;

impl PrintedScores {
    fn new(digits: Option<Digits>) -> Self {
        Self {
            digits,
            printed: vec![(None, String::new()); PRINTED_MAX],
        }
    }

    fn text(&mut self, score: Score) -> &str {
        let (known, text) = &mut self.printed[score.spread() as usize % PRINTED_MAX];
        if *known != Some(score) {
            *known = Some(score);
            *text = score.printed(self.digits);
        }
        text
    }

    /// One that is not kept.
    fn own(&self, score: Score) -> String {
        score.printed(self.digits)
    }
}
