//! A file from which several columns are read in turn, each from its place.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use super::pages::{PAGE_BYTES_MAX, too_large};
use crate::read::open::source::ReadSeek;

/// Bytes that are read for what stands before a page, which is read byte by byte.
const HEADER_BYTES: usize = 512;

/// The file.
pub(super) struct Shared {
    file: Arc<Mutex<Box<dyn ReadSeek>>>,
    length: u64,
}

impl Shared {
    pub(super) fn new(mut file: Box<dyn ReadSeek>) -> io::Result<Self> {
        let length = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            length,
        })
    }

    fn part(&self, start: u64) -> Part {
        Part {
            file: Arc::clone(&self.file),
            at: start,
        }
    }
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Shared {
    type T = BufReader<Part>;

    fn get_read(&self, start: u64) -> Result<BufReader<Part>> {
        Ok(BufReader::with_capacity(HEADER_BYTES, self.part(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A length may be damaged: no room is made before there is something to fill it.
        if length > PAGE_BYTES_MAX {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        self.part(start)
            .take(length as u64)
            .read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }
}

/// The file from some place on.
pub(super) struct Part {
    file: Arc<Mutex<Box<dyn ReadSeek>>>,
    at: u64,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let count = file.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}
