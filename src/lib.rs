//! Finds near-duplicate documents.
//!
//! | what is wanted | verb |
//! |---|---|
//! | the similar pairs of a collection, or of one and another | [`find_pairs`] |
//! | clusters of similar documents, each around a keeper | [`cluster_documents`] |
//! | the documents to keep, as they came | [`dedup_documents`] |
//! | documents on disk, to be added to and asked | [`Index`] |
//! | the passages that two documents share | [`explain_documents`] |
//! | a page to look at, with all pairs, clusters and passages | [`report_documents`] |
//! | the documents' signatures, for use elsewhere | [`sketch_documents`] |
//! | the documents by their likeness to a gold standard | [`rank_documents`] |
//! | what settings find and miss of these documents | [`eval_documents`] |
//! | settings for them | [`tune_documents`] |
//!
//! All of them read [`Input`]s, do what [`Settings`] ask for, tell an [`Observer`] on the way,
//! and give back what they found with [`Stats`]. A bad record is told and skipped; what a verb
//! returns as an [`Error`] ended the run. The library never prints, never exits, and looks
//! neither at the terminal nor at the environment. The same input and settings give the same
//! result, whatever the number of threads.
//!
//! [`find_pairs`] has an example.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod cluster;
mod collection;
mod dedup;
mod document;
mod error;
mod eval;
mod explain;
#[cfg(any(feature = "parquet", feature = "worker"))]
mod guard;
mod id_text;
mod index;
mod memory;
mod observer;
mod pairs;
mod random;
mod rank;
mod read;
mod report;
mod run;
mod score;
mod search;
mod sets;
pub mod settings;
mod shingle;
mod simd;
mod sketch;
mod sketches;
mod spill;
mod stats;
#[cfg(feature = "worker")]
mod worker;
mod write;

pub use cluster::{Cluster, cluster_documents};
pub use collection::Urls;
pub use dedup::{DedupOutput, Shards, dedup_documents};
pub use document::DocumentId;
pub use error::Error;
pub use eval::{eval_documents, tune_documents};
pub use explain::explain_documents;
pub use index::Index;
pub use observer::{Observer, Quiet};
pub use pairs::{Pair, find_pairs};
pub use rank::{Gold, rank_documents};
pub use read::Input;
pub use report::{ReportOutput, report_documents};
pub use run::Inputs;
pub use score::{DocumentFrequencies, Score};
pub use settings::Settings;
pub use sketches::sketch_documents;
pub use stats::Stats;
pub use write::NamedWriter;

/// What comes back from a run, in full, and what is told while it lasts.
pub mod results {
    pub use crate::cluster::{Clustered, Removed};
    pub use crate::dedup::Deduplicated;
    pub use crate::error::{ErrorKind, Place};
    pub use crate::eval::{Advice, Cell, Evaluated, MeasuredCurve, Plot, PlotPoint, Row};
    pub use crate::eval::{Confidence, Interval};
    pub use crate::explain::Passage;
    pub use crate::explain::{Explained, Explanation, Overlap};
    pub use crate::index::{AddedPairs, Answer, Found, QueryStats};
    pub use crate::index::{Difference, IndexInfo, LongList, SegmentInfo};
    pub use crate::observer::{Expected, Phase};
    pub use crate::pairs::Pairs;
    pub use crate::pairs::Similar;
    pub use crate::rank::{Ranked, Ranking};
    pub use crate::report::Reported;
    pub use crate::score::Cosine;
    pub use crate::search::{Method, RecallAt, SearchStats};
    pub use crate::sketches::Sketched;
    pub use crate::stats::{Counts, FolderNotes, Seconds, TextStats};
}

/// What this package's own program, benches, fuzz targets and tests need besides. Not part of
/// the interface: it may change with any version.
///
/// A hidden module and not a feature: the program is a crate of its own that sees only what is
/// public here, and with a feature `cargo install` and `cargo test` would not build it unless
/// told so.
#[doc(hidden)]
pub mod inside {
    pub use crate::cluster::cluster_written_pairs;
    pub use crate::cluster::{ScoredPair, cluster_pairs};
    pub use crate::document::Content;
    pub use crate::eval::{RandTally, Tally, confidence, rand_tallies};
    pub use crate::explain::{Spanned, passages};
    pub use crate::id_text::decoded as decoded_id;
    pub use crate::pairs::find_pairs_with_places;
    pub use crate::read::{
        Command, Globs, Piece, Pieces, Walk, distinct, end_commands, is_archive, read_pairs,
    };
    pub use crate::score::{Digits, Estimate};
    pub use crate::shingle::Template;
    pub use crate::shingle::{
        Shingle, Shingles, Token, normalise, shingler, spans, token_hash, tokens_twice,
    };
    pub use crate::simd::{Masks, Work, run, run_plainly};
    pub use crate::sketch::sketcher;
    #[cfg(feature = "worker")]
    pub use crate::worker::{Emit, Keys, Planned, Stage, Task, Verb, run_stage};
    pub use crate::write::TextFiles;
    pub use crate::write::{
        Accepted, ClusterFormat, ClusterLine, Columns, EncodedIds, ExplainFormat, FigureFormat,
        FigureLines, FilePlace, IdLines, ListFormat, Listing, Look, Output, OutputFormat, Packed,
        PairFacts, PairOrder, RankFormat, VisibleWriter, appear, visible, write_annotated,
        write_cluster, write_explanation, write_plot, write_rank, write_rank_header,
        write_signature,
    };
    pub use crate::write::{Listed, write_pairs};

    /// Room in large pages.
    pub fn room(length: usize) -> Vec<u64> {
        crate::sets::room(length)
    }
}
