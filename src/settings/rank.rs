//! How documents are ranked.

use std::sync::Arc;

use crate::score::{DocumentFrequencies, Threshold, Weight};

/// How documents are ranked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankSettings {
    /// How much a term counts.
    pub weight: Weight,
    /// How the scores of several gold standards become one.
    pub combine: Combine,
    /// For [`Weight::TfIdf`]: how many documents have each term; `None` counts those that are
    /// ranked.
    pub frequencies: Option<Arc<DocumentFrequencies>>,
    /// Whether the documents are counted for each term, to be given back.
    pub counts_frequencies: bool,
    /// What comes first.
    pub order: RankOrder,
    /// The least score; `None` for all.
    pub threshold: Option<Threshold>,
    /// How many terms of each document are given that add most to its score.
    pub explain: usize,
    /// Links are ranked in place of the pages that they are on.
    pub outlinks: Option<Outlinks>,
}

/// How the scores of several gold standards become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// The best of them; of equal ones the first.
    #[default]
    Max,
    /// Their mean.
    Mean,
    /// All are one vector.
    Joined,
}

impl Combine {
    /// The name on the command line and in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Mean => "mean",
            Self::Joined => "joined",
        }
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankOrder {
    /// The best; ties in input order.
    #[default]
    Best,
    /// The same, but no more than so many.
    Top(usize),
    /// Whatever comes first, as it comes.
    Input,
}

/// How links are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlinks {
    /// The share, 0 to 1, that a link's own words have in its score; the page has the rest.
    pub anchor: f64,
}
