//! An input, or a member of one, that is open: what it starts with can be looked at, and what
//! must be read from its end can be.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::read::input::counted::{Filled, fill_until};
use crate::read::input::spool::SpoolFailed;

/// What can be read from any place.
pub(in crate::read) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// Where that is kept which comes from a pipe and must be read from its end.
#[derive(Clone, Debug, Default)]
pub(in crate::read) struct Spool {
    /// `None` for memory.
    pub(in crate::read) temp_dir: Option<PathBuf>,
}

/// Beyond this it goes to a file.
const SPOOL_BYTES_MAX: usize = 16 << 20;

/// Bytes, the first of which can be looked at before they are taken.
pub(in crate::read) struct Source {
    reader: Box<dyn Read + Send>,
    /// What has been looked at and not been taken.
    head: Vec<u8>,
    /// Where the same content is, if it is a file.
    path: Option<PathBuf>,
    /// How the input ended behind the head, if it did.
    end: Option<Filled>,
    /// What is enough to look at, whatever is asked for.
    is_enough: fn(&[u8]) -> bool,
}

impl Source {
    pub(in crate::read) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self {
            reader,
            head: Vec::new(),
            path: None,
            end: None,
            is_enough: |_| false,
        }
    }

    /// The same, of which no more is looked at than is enough.
    pub(in crate::read) fn with_enough(self, is_enough: fn(&[u8]) -> bool) -> Self {
        Self { is_enough, ..self }
    }

    /// The same, with another way to the same content.
    pub(in crate::read) fn at_path(self, path: Option<PathBuf>) -> Self {
        Self { path, ..self }
    }

    /// The first bytes: as many as there are, up to `length`.
    pub(in crate::read) fn look(&mut self, length: usize) -> io::Result<&[u8]> {
        let there = self.head.len();
        if there < length && self.end.is_none() && !(self.is_enough)(&self.head) {
            self.head.resize(length, 0);
            let (filled, how) = match there {
                0 => fill_until(&mut self.reader, &mut self.head, self.is_enough),
                _ => fill_until(&mut self.reader, &mut self.head[there..], |_| false),
            };
            self.head.truncate(there + filled);
            match how {
                Filled::Whole => {}
                // Nothing at all has come: there is nothing to look at.
                Filled::Broken(error) if self.head.is_empty() => return Err(error),
                end => self.end = Some(end),
            }
        }
        Ok(&self.head[..self.head.len().min(length)])
    }

    /// Whether all of it has been looked at.
    pub(in crate::read) fn is_seen(&self) -> bool {
        self.end.is_some()
    }

    /// Passes over bytes that have been looked at.
    pub(in crate::read) fn skip(&mut self, count: usize) {
        self.head.drain(..count);
    }

    /// Whether it is a file as it stands, and needs no room to be read from any place.
    pub(in crate::read) fn is_file(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.is_file())
    }

    /// All of it, to be read from any place. What comes from a pipe is kept.
    pub(in crate::read) fn into_seekable(mut self, spool: &Spool) -> io::Result<Box<dyn ReadSeek>> {
        if let Some(path) = &self.path
            && path.is_file()
        {
            return Ok(Box::new(File::open(path)?));
        }
        let Some(temp_dir) = &spool.temp_dir else {
            let mut bytes = Vec::new();
            self.read_to_end(&mut bytes)?;
            return Ok(Box::new(io::Cursor::new(bytes)));
        };
        let mut spool = tempfile::spooled_tempfile_in(SPOOL_BYTES_MAX, temp_dir);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = self.read(&mut buffer)?;
            let kept = match count {
                0 => spool.seek(SeekFrom::Start(0)).map(drop),
                _ => io::Write::write_all(&mut spool, &buffer[..count]),
            };
            kept.map_err(|error| SpoolFailed::wrap(temp_dir, error))?;
            if count == 0 {
                return Ok(Box::new(spool));
            }
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            let count = self.head.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.head[..count]);
            self.head.drain(..count);
            return Ok(count);
        }
        match self.end.take() {
            Some(end) => crate::read::input::counted::Damage::or_end(end),
            None => self.reader.read(buffer),
        }
    }
}
