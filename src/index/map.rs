//! A file as memory. The only file that knows memmap2.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of a file that nobody changes.
#[derive(Debug)]
pub(super) struct Map(Mmap);

impl Map {
    /// Maps a whole file.
    #[allow(
        unsafe_code,
        reason = "a file is mapped, and a read for every look-up takes ten times as long"
    )]
    pub(super) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: files of an index are written once, under another name, and never changed
        // or cut after that: they are only removed, which leaves the mapping as it is. Every
        // page is held against its checksum before it is believed.
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
