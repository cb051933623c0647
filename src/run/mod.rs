//! What all verbs need to run: the thread pool, the ordered parallel map, reading into a
//! collection, and the least memory that this takes.

pub(crate) mod chosen;
pub(crate) mod floor;
pub(crate) mod folders;
pub(crate) mod ordered;
#[cfg(feature = "worker")]
pub(crate) mod parts;
pub(crate) mod reading;
pub(crate) mod records;
pub(crate) mod sample;
pub(crate) mod texts;
pub(crate) mod twice;

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::error::{Error, ErrorKind};
use crate::read::{FileIdentity, Input};
use crate::settings::Settings;

pub use chosen::Choice;

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
pub(crate) fn unless_failed<E>(result: &Result<(), E>) -> ControlFlow<()> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Runs with the threads of the settings, which are checked before.
pub(crate) fn in_pool<T: Send>(
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
