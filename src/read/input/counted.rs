//! Bytes as the system gives them, counted, and how reading ended.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a read that asked for much ended.
#[derive(Debug)]
pub(in crate::read) enum Filled {
    /// All of it is there.
    Whole,
    /// The input ended first.
    Ended,
    /// The system refused.
    Broken(io::Error),
    /// What came cannot be unpacked.
    Damaged(io::Error),
}

/// Reads until `buffer` is full, which a pipe does in small steps, and tells how much is in it.
pub(in crate::read) fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> (usize, Filled) {
    fill_until(reader, buffer, |_| false)
}

/// The same, but no further than what is there is enough.
pub(in crate::read) fn fill_until(
    reader: &mut dyn Read,
    buffer: &mut [u8],
    is_enough: impl Fn(&[u8]) -> bool,
) -> (usize, Filled) {
    let mut filled = 0;
    while filled < buffer.len() && !is_enough(&buffer[..filled]) {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => return (filled, Filled::Ended),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Damage::of(error)),
        }
    }
    (filled, Filled::Whole)
}

/// What came cannot be unpacked: no fault of the system's, in a form that readers hand on.
#[derive(Debug)]
pub(in crate::read) struct Damage(io::Error);

impl Damage {
    /// Damaged data.
    pub(in crate::read) fn wrap(error: io::Error) -> io::Error {
        io::Error::new(error.kind(), Self(error))
    }

    /// Data that ends early.
    pub(in crate::read) fn cut_off() -> io::Error {
        Self::wrap(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the data is cut off",
        ))
    }

    /// Data that makes no sense.
    pub(in crate::read) fn invalid(what: &str) -> io::Error {
        Self::wrap(io::Error::new(io::ErrorKind::InvalidData, what))
    }

    /// What an error of a reader means.
    pub(in crate::read) fn of(error: io::Error) -> Filled {
        match error.downcast::<Self>() {
            Ok(Self(error)) => Filled::Damaged(error),
            Err(error) => Filled::Broken(error),
        }
    }

    /// The error that a reader gives for it, if it is one.
    pub(in crate::read) fn or_end(how: Filled) -> io::Result<usize> {
        match how {
            Filled::Whole | Filled::Ended => Ok(0),
            Filled::Broken(error) => Err(error),
            Filled::Damaged(error) => Err(Self::wrap(error)),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Damage {}

/// An input that is open. Every byte taken from it is counted.
pub(in crate::read) struct CountedReader {
    inner: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl CountedReader {
    pub(in crate::read) fn new(inner: Box<dyn Read + Send>, taken: &Arc<AtomicU64>) -> Self {
        Self {
            inner,
            taken: Arc::clone(taken),
        }
    }
}

impl Read for CountedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
