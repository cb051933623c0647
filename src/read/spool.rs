//! An input that is read twice: a file is opened again; what comes from a pipe is kept,
//! in memory for as long as it fits, then in a temporary file without a name.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::SpooledTempFile;

use super::Input;

/// The input for the first time, and for the second, which must not be opened before the
/// first has been read to its end. What must be kept takes up to `memory_bytes_max`
/// before it goes to a file in `temp_dir`.
pub fn twice(input: Input, memory_bytes_max: usize, temp_dir: &Path) -> (Input, Input) {
    if let Some(path) = input.regular_file() {
        let again = Input::from_path(path);
        return (input, again);
    }
    let name = Arc::clone(input.name());
    let spool = tempfile::spooled_tempfile_in(memory_bytes_max, temp_dir);
    let kept = Arc::new(Mutex::new(spool));
    let first = Keeping {
        input: Some(input),
        reader: None,
        kept: Arc::clone(&kept),
    };
    let second = Again {
        kept,
        is_started: false,
    };
    (
        Input::from_reader(&name, first),
        Input::from_reader(&name, second),
    )
}

fn lock(kept: &Mutex<SpooledTempFile>) -> MutexGuard<'_, SpooledTempFile> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what it reads.
struct Keeping {
    input: Option<Input>,
    reader: Option<Box<dyn Read + Send>>,
    kept: Arc<Mutex<SpooledTempFile>>,
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
            .map_err(|error| {
                let text = format!(
                    "no temporary file to keep it in: {error}; --temp-dir names another place"
                );
                io::Error::new(error.kind(), text)
            })?;
        Ok(count)
    }
}

/// Reads what was kept.
struct Again {
    kept: Arc<Mutex<SpooledTempFile>>,
    is_started: bool,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut kept = lock(&self.kept);
        if !self.is_started {
            kept.seek(SeekFrom::Start(0))?;
            self.is_started = true;
        }
        kept.read(buffer)
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
    fn both_times_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = b"some bytes ".repeat(100);
        for memory in [0, 10, 10_000] {
            let input = Input::from_reader("pipe", io::Cursor::new(bytes.clone()));
            let (first, second) = twice(input, memory, folder.path());
            assert_eq!(&**second.name(), "pipe");
            assert!(content(first) == bytes);
            assert!(content(second) == bytes);
        }
        let path = folder.path().join("file");
        std::fs::write(&path, &bytes).unwrap();
        let (first, second) = twice(Input::from_path(&path), 0, folder.path());
        assert!(content(first) == bytes && content(second) == bytes);
    }
}
