//! How a run tells what happens while it happens. The library itself never
//! prints.

use crate::error::Error;

/// Told of progress and problems. Called from any thread.
pub trait Observer: Sync {
    /// A record or an input could not be used; the run goes on. Problems come in
    /// input order.
    fn problem(&self, _error: &Error) {}

    /// So many bytes of input and documents have been dealt with in all.
    fn progress(&self, _input_bytes: u64, _documents: u64) {}

    /// Reading is over, and what follows has no length that is known.
    fn searching(&self) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
