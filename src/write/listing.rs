//! How pairs are listed: which of them, in what order, and what is said of each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::OutputFormat;
use super::accepted::Accepted;
use crate::score::{Digits, Score};

/// How pairs are listed.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// How each is written.
    pub format: ListFormat,
    /// In what order.
    pub order: PairOrder,
    /// No more than so many, those with the highest scores.
    pub top: Option<usize>,
    /// The most digits of a score.
    pub digits: Option<Digits>,
    /// What else is said of a pair, in formats that have names for it.
    pub columns: Columns,
    /// Only how many there are.
    pub is_counted: bool,
    /// Pairs that are known, and are not listed.
    pub accepted: Option<Arc<Accepted>>,
    /// Whether an id was encoded that was listed.
    pub encoded_ids: EncodedIds,
}

/// Whether white space in an id was percent-encoded, in any line so far.
#[derive(Clone, Debug, Default)]
pub struct EncodedIds(Arc<AtomicBool>);

impl EncodedIds {
    /// Remembers what was done with an id.
    pub(super) fn add(&self, is_encoded: bool) {
        if is_encoded {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Listing {
    /// All pairs in a format.
    pub fn of(format: OutputFormat) -> Self {
        Self {
            format: ListFormat::Rows(format),
            ..Self::default()
        }
    }

    /// Whether pairs can be written as they come.
    pub(crate) fn is_in_order(&self) -> bool {
        self.order == PairOrder::Input && self.top.is_none()
    }

    /// Whether a pair is among those that are known.
    pub(crate) fn accepts(&self, left: &str, right: &str) -> bool {
        let accepted = self.accepted.as_ref();
        accepted.is_some_and(|accepted| accepted.meet(left, right))
    }
}

/// The order of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairOrder {
    /// Of the left document, then of the right one, as they came.
    #[default]
    Input,
    /// The highest score first; of equal ones as they came.
    Score,
}

/// The formats in which pairs can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    /// A line a pair.
    Rows(OutputFormat),
    /// Annotations of a workflow on GitHub, two lines a pair.
    Github,
    /// SARIF 2.1.0, for viewers of code.
    Sarif,
}

impl Default for ListFormat {
    fn default() -> Self {
        Self::Rows(OutputFormat::default())
    }
}

/// What else is said of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Shingles that both have.
    pub shared: bool,
    /// Shingles of each.
    pub sizes: bool,
    /// Where the first passage that they share begins.
    pub lines: bool,
}

/// What is known of a pair besides its ids.
#[derive(Clone, Copy, Debug)]
pub struct PairFacts<'a> {
    /// How similar they are.
    pub score: Score,
    /// The share of each that is in the other, if it is to be told.
    pub shares: Option<[Score; 2]>,
    /// Shingles of both, and of each.
    pub shared: u32,
    /// Shingles of each.
    pub sizes: [u32; 2],
    /// Where the first passage that they share begins in each.
    pub places: [FilePlace<'a>; 2],
}

/// Where something stands in a document, if that is a file, or where the document stands in one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilePlace<'a> {
    /// It is none.
    #[default]
    None,
    /// In which line is not known.
    File,
    /// In a line, from 1.
    Line(u64),
    /// The document is a line of a file.
    Record {
        /// The file.
        file: &'a str,
        /// The line, from 1.
        line: u64,
    },
}

impl<'a> FilePlace<'a> {
    /// The line, if it is known.
    pub(super) fn line(self) -> Option<u64> {
        match self {
            Self::Line(line) => Some(line),
            Self::None | Self::File | Self::Record { .. } => None,
        }
    }

    /// The file of a document with this id, and some line of it.
    pub(super) fn some_line(self, url: &'a str) -> Option<(&'a str, u64)> {
        match self {
            Self::Line(line) => Some((url, line)),
            Self::File => Some((url, 1)),
            Self::Record { file, line } => Some((file, line)),
            Self::None => None,
        }
    }
}
