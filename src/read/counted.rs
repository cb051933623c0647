//! Bytes as the system gives them, counted.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a read that asked for much ended.
#[derive(Debug)]
pub(super) enum Filled {
    /// All of it is there.
    Whole,
    /// The input ended first.
    Ended,
    /// The system refused.
    Broken(io::Error),
    /// What came cannot be unpacked.
    Damaged(io::Error),
}

/// An input that is open. Every byte taken from it is counted.
pub(super) struct CountedReader {
    inner: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl Read for CountedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl CountedReader {
    pub(super) fn new(inner: Box<dyn Read + Send>, taken: &Arc<AtomicU64>) -> Self {
        Self {
            inner,
            taken: Arc::clone(taken),
        }
    }

    /// Reads until `buffer` is full, which a pipe does in small steps, and tells how
    /// much is in it.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> (usize, Filled) {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.inner.read(&mut buffer[filled..]) {
                Ok(0) => return (filled, Filled::Ended),
                Ok(count) => {
                    filled += count;
                    self.taken.fetch_add(count as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (filled, Filled::Broken(error)),
            }
        }
        (filled, Filled::Whole)
    }
}
