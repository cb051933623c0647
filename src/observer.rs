//! How a run tells what happens while it happens. The library itself never
//! prints.

use crate::error::Error;

/// A part of a run that is observed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Documents are read, and what is compared of them is made.
    Reading,
    /// Documents are compared. How long that takes is not known, and nothing is counted.
    Comparing,
    /// Documents are read again and written.
    Writing,
}

/// Told of progress and problems. Called from any thread.
pub trait Observer: Sync {
    /// A record or an input could not be used; the run goes on. Problems come in
    /// input order.
    fn problem(&self, _error: &Error) {}

    /// Another part of the run begins; a run starts with [`Phase::Reading`] untold.
    fn phase(&self, _phase: Phase) {}

    /// So many documents will be dealt with in this part of the run, at the most.
    fn expect(&self, _documents: u64) {}

    /// What must be in memory at the least, of which there is less: the run goes on with that
    /// much. Told once, before documents are compared.
    fn floor(&self, _bytes: u64, _memory_bytes: u64) {}

    /// So many bytes and documents have been dealt with since the phase began. While reading,
    /// they are bytes of input; while writing, bytes of records and documents written.
    fn progress(&self, _bytes: u64, _documents: u64) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
