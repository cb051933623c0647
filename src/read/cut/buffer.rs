//! Room for the bytes of a piece, made to be filled again and again.

use std::mem;
use std::ops::Range;

/// Bytes in a piece, unless it is unpacked from more or less. Small enough that a
/// piece is still in the cache when the thread that has read it parses it.
pub(in crate::read) const PIECE_BYTES: usize = 256 * 1024;
/// Room before the content of a piece, for the start of a record that ends in it.
pub(in crate::read) const HEADROOM_BYTES: usize = 32 * 1024;

/// Room for bytes. What is behind `end` is left over from earlier.
#[derive(Debug, Default)]
pub(in crate::read) struct Buffer {
    pub(in crate::read) bytes: Vec<u8>,
    pub(in crate::read) start: usize,
    pub(in crate::read) end: usize,
}

impl Buffer {
    pub(in crate::read) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Takes the bytes that another has and gives it those at hand.
    pub(in crate::read) fn swap(&mut self, other: &mut Vec<u8>) {
        self.bytes.truncate(self.end);
        self.bytes.drain(..self.start);
        mem::swap(&mut self.bytes, other);
        self.start = 0;
        self.end = self.bytes.len();
    }

    /// Empties it, with room for a record's start before what comes in.
    pub(in crate::read) fn clear(&mut self) {
        trim(&mut self.bytes);
        self.start = HEADROOM_BYTES;
        self.end = HEADROOM_BYTES;
        self.room(0);
    }

    /// Adds what `write` adds to the bytes, and gives what it gives.
    pub(in crate::read) fn append<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.bytes.truncate(self.end);
        let done = write(&mut self.bytes);
        self.end = self.bytes.len();
        done
    }

    /// Room for more, at least `least` bytes of it.
    pub(in crate::read) fn room(&mut self, least: usize) -> &mut [u8] {
        let wanted = self.end + least;
        if self.bytes.len() < wanted {
            // All of what is allocated anyway, so that this is rare.
            self.bytes.reserve(wanted - self.bytes.len());
            self.bytes.resize(self.bytes.capacity(), 0);
        }
        &mut self.bytes[self.end..]
    }
}

/// Memory that a buffer keeps for the next time. What one huge record took of it is given
/// back.
const KEPT_BYTES_MAX: usize = 6 << 20;

/// Bytes up to which the content of a piece is as large as is usual.
const USUAL_BYTES: usize = 2 * PIECE_BYTES;

/// What of so many bytes is more than is usual.
pub(in crate::read) fn huge_bytes(bytes: usize) -> usize {
    bytes.saturating_sub(USUAL_BYTES)
}

/// Gives back the memory of a buffer whose content is of no use any more, if it is much.
pub(in crate::read) fn trim(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT_BYTES_MAX {
        *buffer = Vec::new();
    }
}
