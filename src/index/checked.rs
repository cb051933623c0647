//! Files that can be told from damaged ones: pages of bytes, each with a checksum, which is
//! held against it when the page is first looked at.
//!
//! ```text
//! pages | a checksum of 4 bytes for each | footer
//! ```
//!
//! The footer has the magic bytes, the version and the kind of file, how many bytes there are in
//! pages, the checksum of all checksums, and its own. All numbers have the lowest byte first.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::map::Map;
use crate::error::{Error, ErrorKind, Place};

/// The version of all files of an index.
pub(super) const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"simdupix";
const PAGE_BYTES: usize = 1024;
const SUM_BYTES: usize = 4;
const FOOTER_BYTES: usize = 40;
/// Bytes that are written at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    Documents = 1,
    Keys = 2,
    Lists = 3,
    Removed = 4,
}

/// By which a file is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FilePrint {
    pub(super) bytes: u64,
    /// The checksum of its footer, and so of all of it.
    pub(super) sum: u64,
}

/// The hash that checksums are made of, and by which ids are found.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

fn page_sum(page: &[u8]) -> [u8; SUM_BYTES] {
    (hash(page) as u32).to_le_bytes()
}

pub(super) fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::in_file(&path.to_string_lossy(), ErrorKind::Write(error))
}

pub(super) fn cannot_read(path: &Path, error: io::Error) -> Error {
    Error::in_file(&path.to_string_lossy(), ErrorKind::Unreadable(error))
}

/// Something in an index is not as it was written.
pub(super) fn damaged(path: &Path, byte: Option<u64>, what: &str) -> Error {
    Error {
        place: Place {
            byte,
            ..Place::file(&path.to_string_lossy())
        },
        kind: ErrorKind::DamagedIndex(what.into()),
    }
}

/// Writes a file from start to end.
pub(super) struct CheckedWriter {
    file: File,
    path: PathBuf,
    kind: Kind,
    buffer: Vec<u8>,
    sums: Vec<u8>,
    bytes: u64,
}

impl CheckedWriter {
    /// A new file, or one of which an earlier writer has left something.
    pub(super) fn create(path: PathBuf, kind: Kind) -> Result<Self, Error> {
        let file = File::create(&path).map_err(|error| cannot_write(&path, error))?;
        Ok(Self {
            file,
            path,
            kind,
            buffer: Vec::with_capacity(BUFFER_BYTES + PAGE_BYTES),
            sums: Vec::new(),
            bytes: 0,
        })
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BUFFER_BYTES));
            bytes = later;
            self.buffer.extend_from_slice(now);
            if self.buffer.len() >= BUFFER_BYTES {
                self.write_pages(self.buffer.len() / PAGE_BYTES * PAGE_BYTES)?;
            }
        }
        Ok(())
    }

    fn write_pages(&mut self, bytes: usize) -> Result<(), Error> {
        let pages = &self.buffer[..bytes];
        self.sums
            .extend(pages.chunks(PAGE_BYTES).flat_map(page_sum));
        let written = self.file.write_all(pages);
        written.map_err(|error| cannot_write(&self.path, error))?;
        self.buffer.drain(..bytes);
        Ok(())
    }

    /// Ends the file, which is on the disk then if it is to last.
    pub(super) fn finish(mut self, lasts: bool) -> Result<FilePrint, Error> {
        self.write_pages(self.buffer.len())?;
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        footer.extend_from_slice(MAGIC);
        footer.extend_from_slice(&VERSION.to_le_bytes());
        footer.extend_from_slice(&(self.kind as u32).to_le_bytes());
        footer.extend_from_slice(&self.bytes.to_le_bytes());
        footer.extend_from_slice(&hash(&self.sums).to_le_bytes());
        let sum = hash(&footer);
        footer.extend_from_slice(&sum.to_le_bytes());
        let written = self.file.write_all(&self.sums);
        written
            .and_then(|()| self.file.write_all(&footer))
            .and_then(|()| match lasts {
                true => self.file.sync_all(),
                false => Ok(()),
            })
            .map_err(|error| cannot_write(&self.path, error))?;
        let bytes = self.bytes + (self.sums.len() + FOOTER_BYTES) as u64;
        Ok(FilePrint { bytes, sum })
    }
}

/// A file that is looked at.
#[derive(Debug)]
pub(super) struct CheckedFile {
    file: File,
    map: Map,
    path: PathBuf,
    /// Bytes in pages.
    bytes: usize,
    /// A bit for each page that is known to be as it was written.
    seen: Box<[AtomicU64]>,
}

impl CheckedFile {
    /// Opens the file of that print.
    pub(super) fn open(path: PathBuf, kind: Kind, print: FilePrint) -> Result<Self, Error> {
        let file = File::open(&path).map_err(|error| cannot_read(&path, error))?;
        let length = file.metadata().map_err(|error| cannot_read(&path, error))?;
        if length.len() != print.bytes || print.bytes < FOOTER_BYTES as u64 {
            let what = format!("it has {} bytes instead of {}", length.len(), print.bytes);
            return Err(damaged(&path, None, &what));
        }
        let map = Map::new(&file).map_err(|error| cannot_read(&path, error))?;
        let all = map.bytes();
        let (rest, footer) = all
            .split_at_checked(all.len().wrapping_sub(FOOTER_BYTES))
            .ok_or_else(|| damaged(&path, None, "it was cut short"))?;
        let wrong = |what| damaged(&path, Some(rest.len() as u64), what);
        if &footer[..8] != MAGIC {
            return Err(wrong("its end is not that of a file of an index"));
        }
        let number = |at: usize| number(footer, at);
        if number(32) != hash(&footer[..32]) || number(32) != print.sum {
            return Err(wrong("its footer is not the one that was written"));
        }
        if footer[8..16] != [VERSION.to_le_bytes(), (kind as u32).to_le_bytes()].concat() {
            return Err(wrong("it is another kind of file"));
        }
        let bytes = usize::try_from(number(16)).unwrap_or(usize::MAX);
        let pages = bytes.div_ceil(PAGE_BYTES);
        if pages
            .checked_mul(SUM_BYTES)
            .and_then(|sums| sums.checked_add(bytes))
            != Some(rest.len())
        {
            return Err(wrong("its footer contradicts its length"));
        }
        if hash(&rest[bytes..]) != number(24) {
            return Err(damaged(
                &path,
                Some(bytes as u64),
                "its checksums were changed",
            ));
        }
        let seen = (0..pages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Ok(Self {
            file,
            map,
            path,
            bytes,
            seen,
        })
    }

    /// How many bytes there are.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Gives back the memory that what was looked at takes; more will be looked at in order.
    pub(super) fn forget(&mut self) -> Result<(), Error> {
        self.map = Map::new(&self.file).map_err(|error| cannot_read(&self.path, error))?;
        self.map.read_in_order();
        Ok(())
    }

    /// So many bytes from here on, which are as they were written.
    #[inline]
    pub(super) fn get(&self, start: u64, bytes: u64) -> Result<&[u8], Error> {
        let end = start
            .checked_add(bytes)
            .filter(|&end| end <= self.bytes as u64);
        let Some(end) = end else {
            return Err(self.wrong(start, "something is said to be behind its end"));
        };
        let (start, end) = (start as usize, end as usize);
        for page in start / PAGE_BYTES..end.div_ceil(PAGE_BYTES) {
            if self.seen[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 == 0 {
                self.check_page(page)?;
            }
        }
        Ok(&self.map.bytes()[start..end])
    }

    /// A byte, not to be believed; it will be looked at again soon.
    #[inline]
    pub(super) fn peek(&self, at: u64) -> u8 {
        self.map.bytes().get(at as usize).copied().unwrap_or(0)
    }

    #[cold]
    fn check_page(&self, page: usize) -> Result<(), Error> {
        let start = page * PAGE_BYTES;
        let all = self.map.bytes();
        let sum = self.bytes + page * SUM_BYTES;
        let content = &all[start..(start + PAGE_BYTES).min(self.bytes)];
        if page_sum(content) != all[sum..sum + SUM_BYTES] {
            return Err(self.wrong(start as u64, "a page does not have its checksum"));
        }
        self.seen[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        Ok(())
    }

    /// Looks at every page.
    pub(super) fn check(&self) -> Result<(), Error> {
        (0..self.bytes.div_ceil(PAGE_BYTES)).try_for_each(|page| self.check_page(page))
    }

    /// A number of 8 bytes.
    pub(super) fn u64(&self, at: u64) -> Result<u64, Error> {
        Ok(number(self.get(at, 8)?, 0))
    }

    /// A number of 4 bytes.
    #[inline]
    pub(super) fn u32(&self, at: u64) -> Result<u32, Error> {
        Ok(short_number(self.get(at, 4)?, 0))
    }

    /// Something in the file is wrong.
    #[cold]
    pub(super) fn wrong(&self, byte: u64, what: &str) -> Error {
        damaged(&self.path, Some(byte), what)
    }
}

/// The number of 8 bytes that stands at a place; 0 if there are not so many.
pub(super) fn number(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes
        .get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

/// The same of 4 bytes.
#[inline]
pub(super) fn short_number(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, content: &[u8]) -> FilePrint {
        let mut writer = CheckedWriter::create(path.to_owned(), Kind::Lists).unwrap();
        for part in content.chunks(777) {
            writer.write(part).unwrap();
        }
        writer.finish(true).unwrap()
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for length in [0, 1, PAGE_BYTES, 3 * PAGE_BYTES + 17] {
            let content: Vec<u8> = (0..length).map(|n| (n * n / 7) as u8).collect();
            let print = write(&path, &content);
            let open = || CheckedFile::open(path.clone(), Kind::Lists, print);
            assert_eq!(open().unwrap().get(0, length as u64).unwrap(), content);
            assert!(open().unwrap().get(1, length as u64).is_err());
            assert!(CheckedFile::open(path.clone(), Kind::Keys, print).is_err());
            let written = std::fs::read(&path).unwrap();
            for byte in (0..written.len()).step_by(3) {
                let mut flipped = written.clone();
                flipped[byte] ^= 1 << (byte % 8);
                std::fs::write(&path, &flipped).unwrap();
                let found = open().and_then(|file| file.get(0, length as u64).map(drop));
                assert!(found.is_err(), "{length} {byte}");
            }
            for end in (0..written.len()).step_by(101) {
                std::fs::write(&path, &written[..end]).unwrap();
                assert!(open().is_err());
            }
        }
    }
}
