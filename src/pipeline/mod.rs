//! The order of the stages, one file a capability.
//!
//! read → shingle → sketch | sets → collection → candidates → score → (cluster) → write
//!
//! Text is streamed up to what is kept of each document ([`reading`]). What follows works on
//! the collection.

mod chosen;
mod clusters;
mod dedup;
mod eval;
mod explain;
mod file_lines;
mod floor;
mod folders;
mod index;
mod listing;
mod ordered;
mod pairs;
#[cfg(feature = "worker")]
pub(crate) mod parts;
mod rank;
mod reading;
mod records;
mod report;
mod sample;
mod sketches;
mod sorted_pairs;
mod texts;
#[cfg(test)]
mod told;
mod twice;
mod written_pairs;

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::error::{Error, ErrorKind};
use crate::read::{FileIdentity, Input};
use crate::settings::Settings;

pub use chosen::Choice;
pub use clusters::{Clustered, Removed, cluster_documents};
pub use dedup::{Among, Dedup, DedupMode, DedupOutput, Deduplicated, Shards, dedup_documents};
pub use eval::{
    Advice, Cell, EvalSettings, Evaluated, MeasuredCurve, Plot, PlotPoint, Row, Sweep, TruthSource,
    eval_documents, tune_documents,
};
pub use explain::{Explain, Explained, Explanation, Overlap, Which, explain_documents};
pub use file_lines::TextFiles;
pub use index::{AddedPairs, Adding, Answer, Found, Present, Query, QueryStats, Wanted};
pub use listing::{Listed, write_pairs};
pub use pairs::{Similar, find_pairs, find_pairs_with_places};
pub use rank::{
    Combine, DocumentFrequencies, Gold, Outlinks, RankOrder, RankSettings, Ranked, Ranking,
    rank_documents,
};
pub use report::{Names as ReportNames, Report, ReportOutput, Reported, report_documents};
pub use sketches::{Sketched, sketch_documents};
pub use written_pairs::cluster_written_pairs;

/// What to read: documents, and perhaps others to compare them with.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The documents.
    pub documents: Vec<Input>,
    /// What the documents are compared with, if not with each other. A record of a file that is on
    /// both sides is not compared with itself.
    pub against: Option<Vec<Input>>,
    /// Hand-outs and frames: what is in them is taken out of every document.
    pub templates: Vec<Input>,
}

impl Inputs {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Input> {
        self.documents.iter().chain(self.against.iter().flatten())
    }

    /// Returns the identities of the files that are both among the documents and among what they
    /// are compared with.
    pub(crate) fn shared_files(&self) -> HashSet<FileIdentity> {
        let others = self.against.iter().flatten();
        let others: HashSet<FileIdentity> = others.filter_map(Input::identity).collect();
        if others.is_empty() {
            return HashSet::new();
        }
        let own = self.documents.iter().filter_map(Input::identity);
        own.filter(|own| others.contains(own)).collect()
    }

    /// Leaves the files that are among the documents, too, out of what they are compared with.
    /// Returns how many these are.
    pub(crate) fn drop_shared(&mut self) -> usize {
        let shared = self.shared_files();
        let Some(against) = self.against.as_mut().filter(|_| !shared.is_empty()) else {
            return 0;
        };
        against.retain(|input| !input.identity().is_some_and(|own| shared.contains(&own)));
        shared.len()
    }
}

impl From<Vec<Input>> for Inputs {
    fn from(documents: Vec<Input>) -> Self {
        Self {
            documents,
            ..Self::default()
        }
    }
}

/// Goes on unless something failed, which is for the caller to tell.
fn unless_failed<E>(result: &Result<(), E>) -> ControlFlow<()> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Runs with the threads of the settings, which are checked before.
fn in_pool<T: Send>(
    settings: &Settings,
    run: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    settings.check()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.thread_count())
        .build()
        .map_err(|error| Error::in_file("-", ErrorKind::Threads(error.to_string())))?;
    pool.install(run)
}
