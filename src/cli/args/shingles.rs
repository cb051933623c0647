//! What a shingle is.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use simdup::settings::{Case, Names, ShingleSettings, Tokens, Windows};

use super::values::{at_least_one, sizes};
use super::{stopwords, together};
use crate::cli::Failure;

pub(super) const WORDS_PER_SHINGLE: usize = 5;

#[derive(Debug, Args)]
#[command(next_help_heading = "Shingles")]
pub(in crate::cli) struct ShingleArgs {
    /// Words per shingle, or all sizes from N to M [default: 5]
    #[arg(short = 'w', long, value_name = "N[-M]", value_parser = sizes)]
    pub(in crate::cli) shingle_words: Option<RangeInclusive<usize>>,
    /// Characters per shingle, instead of words
    #[arg(short = 'c', long, value_name = "N[-M]", value_parser = sizes)]
    pub(in crate::cli) shingle_chars: Option<RangeInclusive<usize>>,
    /// Tokens of source code per shingle, instead of words: comments do not count, nor
    /// which name, number or string it is
    #[arg(long, value_name = "N[-M]", value_parser = sizes)]
    pub(in crate::cli) shingle_code: Option<RangeInclusive<usize>>,
    /// In source code, each name is a token of its own
    #[arg(long)]
    pub(in crate::cli) keep_names: bool,
    /// The text field is a JSON array of strings, each of them a shingle
    #[arg(long)]
    pub(in crate::cli) items: bool,
    /// Start a shingle every S tokens [default: 1]
    #[arg(long, value_name = "S", value_parser = at_least_one)]
    pub(in crate::cli) step: Option<usize>,
    /// The text is a circle: the last tokens are followed by the first
    #[arg(long)]
    pub(in crate::cli) wrap: bool,
    /// Do not lower-case
    #[arg(long)]
    pub(in crate::cli) keep_case: bool,
    /// Words to leave out: a file with one a line, or the list of a language: english, russian,
    /// french, german, spanish, italian, portuguese, dutch (a file of that name is ./english)
    #[arg(long, value_name = "FILE|LANGUAGE")]
    pub(in crate::cli) stopwords: Option<PathBuf>,
}

impl ShingleArgs {
    /// What a shingle is; for those who name none, `preset` tokens of source code if there are
    /// so many.
    pub(super) fn settings(&self, preset: Option<usize>) -> Result<ShingleSettings, Failure> {
        let code = match preset {
            Some(tokens) if !self.is_named() => Some(tokens..=tokens),
            _ => self.shingle_code.clone(),
        };
        self.check(code.is_some())?;
        let case = if self.keep_case {
            Case::Keep
        } else {
            Case::Fold
        };
        if self.items {
            return Ok(ShingleSettings::Items { case });
        }
        let (tokens, sizes) = match (code, &self.shingle_chars, &self.shingle_words) {
            (Some(sizes), ..) => {
                let names = match self.keep_names {
                    true => Names::Keep,
                    false => Names::Fold,
                };
                (Tokens::Code { names }, sizes)
            }
            (None, Some(sizes), _) => (Tokens::Chars, sizes.clone()),
            (None, None, sizes) => {
                let stopwords = stopwords::read(self.stopwords.as_deref(), case)?;
                let five = WORDS_PER_SHINGLE..=WORDS_PER_SHINGLE;
                (Tokens::Words { stopwords }, sizes.clone().unwrap_or(five))
            }
        };
        Ok(ShingleSettings::Tokens {
            tokens,
            case,
            windows: Windows {
                sizes,
                step: self.step.unwrap_or(1),
                wrap: self.wrap,
            },
        })
    }

    pub(super) fn is_step_changed(&self) -> bool {
        self.step.is_some_and(|step| step != 1)
    }

    /// Whether it is said what a shingle is of.
    pub(super) fn is_named(&self) -> bool {
        let sizes = [&self.shingle_words, &self.shingle_chars, &self.shingle_code];
        self.items || sizes.iter().any(|sizes| sizes.is_some())
    }

    fn check(&self, is_code: bool) -> Result<(), Failure> {
        let (words, chars) = (self.shingle_words.is_some(), self.shingle_chars.is_some());
        let code = self.shingle_code.is_some();
        let beside_code = |given, flag| {
            let why = "source code is compared as it stands, by its tokens; leave out one of them";
            (given && is_code, "--shingle-code", flag, why)
        };
        let beside_items = |given, flag| {
            let why = "every item is a shingle; leave out one of them";
            (given && self.items, "--items", flag, why)
        };
        together::check(&[
            (
                words && chars,
                "--shingle-words",
                "--shingle-chars",
                "a shingle is of words or of characters; leave out one of them",
            ),
            (
                words && code,
                "--shingle-words",
                "--shingle-code",
                "a shingle is of words or of source code; leave out one of them",
            ),
            (
                chars && code,
                "--shingle-chars",
                "--shingle-code",
                "a shingle is of characters or of source code; leave out one of them",
            ),
            beside_items(words, "--shingle-words"),
            beside_items(chars, "--shingle-chars"),
            beside_items(code, "--shingle-code"),
            beside_items(self.is_step_changed(), "--step"),
            beside_items(self.wrap, "--wrap"),
            beside_items(self.stopwords.is_some(), "--stopwords"),
            (
                chars && self.stopwords.is_some(),
                "--shingle-chars",
                "--stopwords",
                "characters are no words; use --shingle-words",
            ),
            beside_code(self.keep_case, "--keep-case"),
            beside_code(self.stopwords.is_some(), "--stopwords"),
            (
                self.keep_names && !is_code,
                "--keep-names",
                match (self.items, chars, words) {
                    (true, ..) => "--items",
                    (_, true, _) => "--shingle-chars",
                    (.., true) => "--shingle-words",
                    _ => "the default, --shingle-words 5,",
                },
                "only --shingle-code knows names; use it, or leave out --keep-names",
            ),
        ])
    }
}
