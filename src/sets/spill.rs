//! A temporary file for what does not fit into memory. It has no name, so that
//! nothing is left of it however the run ends.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};

/// Words in a temporary file.
#[derive(Debug)]
pub(super) struct Spill {
    file: File,
    folder: PathBuf,
    words: u64,
}

/// Where some words stand in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    start: u64,
    words: u64,
}

impl Spill {
    pub(super) fn create(folder: &Path) -> Result<Self, Error> {
        let failed = |error| failure(folder, error);
        Ok(Self {
            file: tempfile::tempfile_in(folder).map_err(failed)?,
            folder: folder.to_owned(),
            words: 0,
        })
    }

    /// Appends words.
    pub(super) fn write<'a>(
        &mut self,
        words: impl Iterator<Item = &'a [u64]>,
    ) -> Result<Segment, Error> {
        let start = self.words;
        let mut written = 0;
        let result = (|| {
            self.file.seek(SeekFrom::Start(start * 8))?;
            let mut file = BufWriter::with_capacity(1 << 18, &self.file);
            for part in words {
                for word in part {
                    file.write_all(&word.to_le_bytes())?;
                }
                written += part.len() as u64;
            }
            file.flush()
        })();
        result.map_err(|error| failure(&self.folder, error))?;
        self.words += written;
        Ok(Segment {
            start,
            words: written,
        })
    }

    /// Reads words back.
    pub(super) fn read(&self, segment: Segment) -> Result<Vec<u64>, Error> {
        let result = (|| {
            // A handle of its own would share the position; a reader takes all it
            // needs while the store is borrowed, so one position is enough.
            let mut file = &self.file;
            file.seek(SeekFrom::Start(segment.start * 8))?;
            let mut file = BufReader::with_capacity(1 << 18, file);
            let mut words = Vec::with_capacity(segment.words as usize);
            let mut bytes = [0; 8];
            for _ in 0..segment.words {
                file.read_exact(&mut bytes)?;
                words.push(u64::from_le_bytes(bytes));
            }
            Ok(words)
        })();
        result.map_err(|error| failure(&self.folder, error))
    }
}

fn failure(folder: &Path, error: io::Error) -> Error {
    Error::in_file(&folder.display().to_string(), ErrorKind::Spill(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_no_name_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::create(folder.path()).unwrap();
        let first = spill.write([&[1_u64, 2][..], &[3]].into_iter()).unwrap();
        let second = spill.write([&[u64::MAX][..]].into_iter()).unwrap();
        assert_eq!(spill.read(second).unwrap(), [u64::MAX]);
        assert_eq!(spill.read(first).unwrap(), [1, 2, 3]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Spill::create(&folder.path().join("none")).is_err());
    }
}
