//! A file as memory. The only file that knows memmap2.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of a file that nobody changes.
///
/// If the file is cut short while it is mapped, or a network drive no longer gives its bytes,
/// the system ends the process with SIGBUS. There is no handler for that signal: it would have
/// to jump out of whatever code reads the bytes. The length is checked when the file is opened.
#[derive(Debug)]
pub(super) struct Map(Mmap);

impl Map {
    /// Maps a whole file.
    #[allow(
        unsafe_code,
        reason = "a file is mapped, and a read for every look-up takes ten times as long"
    )]
    pub(super) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the bytes must not change as long as they are mapped. simdup keeps to that: a
        // file is complete before a manifest names it, nobody maps it earlier, and from then on
        // it is only unlinked, which leaves the mapping as it is. Nothing keeps other programs
        // from writing into the file. A checksum does not either: it tells what a page was when
        // it was first looked at. So the rule is part of the format (ARCHITECTURE.md), and all
        // that is read here is taken for hostile: every offset and count is checked where it is
        // used, as a safe index into the mapping. If somebody writes all the same, an id may be
        // no UTF-8 any more when it is printed; no unsafe code of this crate relies on that.
        let map = unsafe { Mmap::map(file) }?;
        #[cfg(unix)]
        // What is not followed is read ahead for nothing. Advice only.
        let _ = map.advise(memmap2::Advice::Random);
        Ok(Self(map))
    }

    /// Says that all of it will be read in order.
    pub(super) fn read_in_order(&self) {
        #[cfg(unix)]
        let _ = self.0.advise(memmap2::Advice::Sequential);
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
