//! From what is similar to clusters. Knows neither where scores come from nor how
//! clusters are written.
//!
//! A star has a keeper, and every member is similar enough to it; no two keepers are.
//! A component is all that can be reached from one document by similar pairs, and has a
//! keeper too.

pub(crate) mod documents;
mod from_pairs;
mod order;
mod star;
mod written_pairs;

use crate::document::DocumentId;
use crate::score::Score;

pub use documents::{Clustered, Removed, cluster_documents};
pub use from_pairs::cluster_written_pairs;
pub use order::Keep;
pub(crate) use order::preference;
pub(crate) use star::Stars;
pub(crate) use written_pairs::PairCluster;
pub use written_pairs::{ScoredPair, cluster_pairs};

/// How documents are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterMethod {
    /// Each member is similar enough to the keeper.
    #[default]
    Star,
    /// Each member is similar enough to another one.
    Components,
}

/// Documents joined by similarity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The one that stands for all.
    pub keeper: DocumentId,
    /// The others, in input order, each with its score to the keeper.
    pub members: Vec<(DocumentId, Score)>,
}

impl Cluster {
    /// Number of documents, the keeper included.
    pub fn size(&self) -> usize {
        self.members.len() + 1
    }

    /// The lowest of the members' scores to the keeper.
    pub fn lowest(&self) -> Option<Score> {
        self.members.iter().map(|&(_, score)| score).min()
    }
}
