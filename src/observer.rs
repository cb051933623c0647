//! How a run tells what happens while it happens. The library itself never
//! prints.

use crate::error::Error;

/// Told of progress and problems. Called from any thread.
pub trait Observer: Sync {
    /// A record or an input could not be used; the run goes on. Problems come in
    /// input order.
    fn problem(&self, _error: &Error) {}

    /// So many bytes and documents have been dealt with in this phase: read, or written.
    fn progress(&self, _bytes: u64, _documents: u64) {}

    /// Something else begins.
    fn phase(&self, _phase: Phase) {}
}

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Documents are read.
    Reading,
    /// Documents are compared; how long that takes is not known beforehand.
    Comparing,
    /// Documents are read once more, and written.
    Writing,
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
