//! A temporary file for what does not fit into memory. It has no name, so that nothing is
//! left of it however the run ends.

mod runs;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind};
use crate::memory::Memory;

pub(crate) use runs::SortedRuns;

/// Numbers that can stand in a file: always the lowest byte first.
pub(crate) trait Word: Copy + Default + Send + Sync {
    /// Bytes that it takes.
    const BYTES: usize;
    /// Puts it into so many bytes.
    fn put(self, bytes: &mut [u8]);
    /// Reads it from so many bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! word {
    ($number:ty) => {
        impl Word for $number {
            const BYTES: usize = size_of::<Self>();

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    };
}
word!(u8);
word!(u32);
word!(u64);

/// Two words as one.
impl<A: Word, B: Word> Word for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;

    fn put(self, bytes: &mut [u8]) {
        let (one, two) = bytes.split_at_mut(A::BYTES);
        self.0.put(one);
        self.1.put(two);
    }

    fn get(bytes: &[u8]) -> Self {
        let (one, two) = bytes.split_at(A::BYTES);
        (A::get(one), B::get(two))
    }
}

/// A temporary file that grows at its end. Any thread may write and read at any time.
#[derive(Debug)]
pub(crate) struct Spill {
    file: File,
    folder: PathBuf,
    /// Bytes that it has, or is about to have.
    end: AtomicU64,
}

/// Where some words stand in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    start: u64,
    words: usize,
}

impl Segment {
    /// The first so many words of a file.
    pub(crate) fn from_start(words: usize) -> Self {
        Self { start: 0, words }
    }

    /// Some of its words, from the `first` on.
    pub(crate) fn part<W: Word>(self, first: usize, words: usize) -> Self {
        Self {
            start: self.start + (first * W::BYTES) as u64,
            words,
        }
    }

    /// Number of words.
    pub(crate) fn len(self) -> usize {
        self.words
    }
}

/// Words that are made into bytes at a time.
const WORDS_AT_ONCE: usize = 1 << 15;

impl Spill {
    pub(crate) fn create(folder: &Path) -> Result<Self, Error> {
        let failed = |error| failure(folder, error);
        Ok(Self {
            file: tempfile::tempfile_in(folder).map_err(failed)?,
            folder: folder.to_owned(),
            end: AtomicU64::new(0),
        })
    }

    /// Appends words.
    pub(crate) fn append<W: Word>(&self, words: &[W]) -> Result<Segment, Error> {
        let segment = Segment {
            start: self
                .end
                .fetch_add((words.len() * W::BYTES) as u64, Ordering::Relaxed),
            words: words.len(),
        };
        self.overwrite(segment, words)?;
        Ok(segment)
    }

    /// Writes words in the place of others.
    pub(crate) fn overwrite<W: Word>(&self, segment: Segment, words: &[W]) -> Result<(), Error> {
        let words = &words[..segment.words.min(words.len())];
        let mut buffer = vec![0; words.len().min(WORDS_AT_ONCE) * W::BYTES];
        let mut at = segment.start;
        for some in words.chunks(WORDS_AT_ONCE) {
            let bytes = &mut buffer[..some.len() * W::BYTES];
            for (bytes, word) in bytes.chunks_exact_mut(W::BYTES).zip(some) {
                word.put(bytes);
            }
            write_at(&self.file, bytes, at).map_err(|error| failure(&self.folder, error))?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads words back, in the place of what `words` holds.
    pub(crate) fn read<W: Word>(&self, segment: Segment, words: &mut Vec<W>) -> Result<(), Error> {
        words.clear();
        words.resize(segment.words, W::default());
        let mut buffer = vec![0; segment.words.min(WORDS_AT_ONCE) * W::BYTES];
        let mut at = segment.start;
        for some in words.chunks_mut(WORDS_AT_ONCE) {
            let bytes = &mut buffer[..some.len() * W::BYTES];
            read_at(&self.file, bytes, at).map_err(|error| failure(&self.folder, error))?;
            for (bytes, word) in bytes.chunks_exact(W::BYTES).zip(some) {
                *word = W::get(bytes);
            }
            at += bytes.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Spill {
    /// Empties the file, so that nothing can be read from it.
    pub(crate) fn truncate(&self) {
        self.file.set_len(0).unwrap();
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => {
                bytes = &bytes[count..];
                at += count as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                bytes = &mut bytes[count..];
                at += count as u64;
            }
        }
    }
    Ok(())
}

fn failure(folder: &Path, error: io::Error) -> Error {
    Error::in_file(&folder.display().to_string(), ErrorKind::Spill(error))
}

/// Words that are in memory, or in the file.
#[derive(Debug)]
pub(crate) enum Stored<W> {
    InMemory(Vec<W>),
    OnDisk(Segment),
}

impl<W> Default for Stored<W> {
    fn default() -> Self {
        Self::InMemory(Vec::new())
    }
}

/// Keeps words in memory up to a part of it, then in a file. Any thread may add to it.
#[derive(Debug)]
pub(crate) struct Store<'m> {
    memory: &'m Memory,
    bytes_max: u64,
    held: AtomicU64,
    spill: OnceLock<Spill>,
}

impl<'m> Store<'m> {
    /// Up to one in so many parts of the memory.
    pub(crate) fn new(memory: &'m Memory, share: u64) -> Self {
        Self {
            memory,
            bytes_max: memory.bytes / share,
            held: AtomicU64::new(0),
            spill: OnceLock::new(),
        }
    }

    /// Keeps words.
    pub(crate) fn keep<W: Word>(&self, mut words: Vec<W>) -> Result<Stored<W>, Error> {
        let bytes = size_of_val(&words[..]) as u64;
        if self.held.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.bytes_max {
            words.shrink_to_fit();
            return Ok(Stored::InMemory(words));
        }
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        Ok(Stored::OnDisk(self.spill()?.append(&words)?))
    }

    fn spill(&self) -> Result<&Spill, Error> {
        if let Some(spill) = self.spill.get() {
            return Ok(spill);
        }
        // Two threads may create one at once: then one of the two is given up.
        let new = Spill::create(&self.memory.temp_dir)?;
        Ok(self.spill.get_or_init(|| new))
    }

    /// The file, if there is one.
    pub(crate) fn finish(self) -> Option<Spill> {
        self.spill.into_inner()
    }
}

impl<W: Word> Stored<W> {
    /// Whether the words are in the file.
    pub(crate) fn is_on_disk(&self) -> bool {
        matches!(self, Self::OnDisk(_))
    }

    /// Number of words.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::InMemory(words) => words.len(),
            Self::OnDisk(segment) => segment.len(),
        }
    }

    /// Some of the words, read into `buffer` if they are in the file.
    pub(crate) fn part<'a>(
        &'a self,
        spill: Option<&Spill>,
        range: std::ops::Range<usize>,
        buffer: &'a mut Vec<W>,
    ) -> Result<&'a [W], Error> {
        match (self, spill) {
            (Self::InMemory(words), _) => Ok(&words[range]),
            (Self::OnDisk(segment), Some(spill)) => {
                spill.read(segment.part::<W>(range.start, range.len()), buffer)?;
                Ok(buffer)
            }
            (Self::OnDisk(_), None) => {
                let missing = io::Error::other("the file was not created");
                Err(failure(Path::new("temporary file"), missing))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_no_name_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::create(folder.path()).unwrap();
        let first = spill.append(&[1_u64, 2, 3]).unwrap();
        let second = spill.append(&[(7_u32, u64::MAX), (8, 9)]).unwrap();
        let many: Vec<u8> = (0..200_000).map(|n| n as u8).collect();
        let third = spill.append(&many).unwrap();
        let mut pairs: Vec<(u32, u64)> = vec![];
        spill.read(second, &mut pairs).unwrap();
        assert_eq!(pairs, [(7, u64::MAX), (8, 9)]);
        let mut words: Vec<u64> = vec![5];
        spill.read(first.part::<u64>(1, 2), &mut words).unwrap();
        assert_eq!(words, [2, 3]);
        let mut bytes: Vec<u8> = vec![];
        spill.read(third, &mut bytes).unwrap();
        assert!(bytes == many);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Spill::create(&folder.path().join("none")).is_err());
    }
}
