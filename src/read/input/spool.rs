//! An input that is read twice: a file is opened again; what comes from a pipe is kept,
//! in memory for as long as it fits, then in a temporary file without a name.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::SpooledTempFile;

use crate::error::{Error, ErrorKind};
use crate::read::Input;

/// The input for the first time, and for the second, which must not be opened before the
/// first has been read to its end. What must be kept takes up to `memory_bytes_max`
/// before it goes to a file in `temp_dir`.
pub(crate) fn for_two_readings(
    input: Input,
    memory_bytes_max: usize,
    temp_dir: &Path,
) -> (Input, Input) {
    if let Some(again) = input.again() {
        return (input, again);
    }
    if let Some(again) = input.unreadable_again() {
        return (input, again);
    }
    let name = Arc::clone(input.name());
    let spool = tempfile::spooled_tempfile_in(memory_bytes_max, temp_dir);
    let kept = Arc::new(Mutex::new(spool));
    let first = Keeping {
        input: Some(input),
        reader: None,
        kept: Arc::clone(&kept),
        temp_dir: temp_dir.into(),
    };
    let second = Again {
        kept,
        temp_dir: temp_dir.into(),
        is_started: false,
    };
    (
        Input::from_reader(&name, first),
        Input::from_reader(&name, second),
    )
}

/// What was read could not be kept, or not be read again. That is no fault of the input:
/// to go on without it would lose documents that are there.
#[derive(Debug)]
pub(in crate::read) struct SpoolFailed {
    temp_dir: PathBuf,
    error: io::Error,
}

impl SpoolFailed {
    /// In a form that a reader can hand on.
    pub(in crate::read) fn wrap(temp_dir: &Path, error: io::Error) -> io::Error {
        let kind = error.kind();
        let temp_dir = temp_dir.into();
        io::Error::new(kind, Self { temp_dir, error })
    }
}

impl fmt::Display for SpoolFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.temp_dir.display(), self.error)
    }
}

impl std::error::Error for SpoolFailed {}

impl From<SpoolFailed> for Error {
    fn from(SpoolFailed { temp_dir, error }: SpoolFailed) -> Self {
        Self::in_file(&temp_dir.display().to_string(), ErrorKind::Spill(error))
    }
}

fn lock(kept: &Mutex<SpooledTempFile>) -> MutexGuard<'_, SpooledTempFile> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what it reads.
struct Keeping {
    input: Option<Input>,
    reader: Option<Box<dyn Read + Send>>,
    kept: Arc<Mutex<SpooledTempFile>>,
    temp_dir: PathBuf,
}

impl Read for Keeping {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(input) = self.input.take() {
            self.reader = Some(input.open()?);
        }
        let Some(reader) = &mut self.reader else {
            return Ok(0);
        };
        let count = reader.read(buffer)?;
        lock(&self.kept)
            .write_all(&buffer[..count])
            .map_err(|error| SpoolFailed::wrap(&self.temp_dir, error))?;
        Ok(count)
    }
}

/// Reads what was kept.
struct Again {
    kept: Arc<Mutex<SpooledTempFile>>,
    temp_dir: PathBuf,
    is_started: bool,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut kept = lock(&self.kept);
        let failed = |error| SpoolFailed::wrap(&self.temp_dir, error);
        if !self.is_started {
            kept.seek(SeekFrom::Start(0)).map_err(failed)?;
            self.is_started = true;
        }
        kept.read(buffer).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(input: Input) -> Vec<u8> {
        let mut bytes = vec![];
        input.open().unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn where_nothing_can_be_kept_it_is_no_fault_of_the_input() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("nowhere");
        let input = Input::from_reader("pipe", io::Cursor::new(vec![b'x'; 100]));
        let (first, _) = for_two_readings(input, 10, &nowhere);
        let mut bytes = vec![];
        let error = first.open().unwrap().read_to_end(&mut bytes).unwrap_err();
        let error: Error = error.downcast::<SpoolFailed>().unwrap().into();
        assert!(matches!(error.kind, ErrorKind::Spill(_)) && error.is_fatal());
        assert_eq!(&*error.place.file, nowhere.to_str().unwrap());
    }

    #[test]
    fn both_times_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = b"some bytes ".repeat(100);
        for memory in [0, 10, 10_000] {
            let input = Input::from_reader("pipe", io::Cursor::new(bytes.clone()));
            let (first, second) = for_two_readings(input, memory, folder.path());
            assert_eq!(&**second.name(), "pipe");
            assert!(content(first) == bytes);
            assert!(content(second) == bytes);
        }
        let path = folder.path().join("file");
        std::fs::write(&path, &bytes).unwrap();
        let (first, second) = for_two_readings(Input::from_path(&path), 0, folder.path());
        assert!(content(first) == bytes && content(second) == bytes);
    }
}
