//! Finds near-duplicate documents.
//!
//! The stages, in order, each in a folder of its own:
//!
//! | module | takes → gives |
//! |---|---|
//! | [`read`] | paths or streams → documents |
//! | [`shingle`] | text → shingles |
//! | [`sketch`] | shingles → signatures |
//! | `sets` | shingles → sets that can be joined |
//! | `collection` | what reading gave → what can be searched |
//! | `candidates` | a collection → candidates |
//! | [`score`] | a candidate → a score |
//! | [`cluster`] | what is similar → clusters |
//! | [`mod@write`] | pairs → bytes |
//!
//! [`find_pairs`] runs them all and has an example; [`sketch_documents`] stops at the
//! signatures. The library never prints, never exits, and looks neither at the
//! terminal nor at the environment.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod candidates;
pub mod cluster;
mod collection;
pub mod document;
pub mod error;
mod observer;
mod pairs;
mod pipeline;
pub mod read;
pub mod score;
mod sets;
mod settings;
pub mod shingle;
#[doc(hidden)]
pub mod simd;
pub mod sketch;
pub mod stats;
pub mod write;

pub use candidates::{Bands, Method, RecallAt, SearchStats};
pub use collection::{Added, PartyBy, Pattern, Urls};
pub use document::{Document, DocumentId};
pub use error::{Error, ErrorKind};
pub use observer::{Observer, Phase, Quiet};
pub use pairs::{Pair, Pairs};
pub use pipeline::{
    Clustered, Dedup, DedupMode, DedupOutput, Deduplicated, Inputs, Removed, Similar, Sketched,
    cluster_documents, dedup_documents, find_pairs, sketch_documents, write_pairs,
};
pub use read::Input;
pub use settings::{CommonSettings, Finding, Memory, Settings, Strictness, WordLimits};
pub use stats::Stats;
pub use write::NamedWriter;

/// What benches look at besides what users do. Not part of the interface.
#[doc(hidden)]
pub mod bench {
    /// Room in large pages.
    pub fn room(length: usize) -> Vec<u64> {
        crate::sets::room(length)
    }
}
