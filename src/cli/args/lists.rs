//! Lists that flags name. What can be read once only, as a pipe, is kept: a command line is perhaps
//! tried several times before it runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What came from pipes, by their paths.
static PIPES: Mutex<BTreeMap<PathBuf, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// Returns what `read` gives of a path, or what it gave when it was called first, if there is no
/// file that could be read again.
pub(super) fn read(path: &Path, read: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    if path.is_file() {
        return read();
    }
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = pipes.get(path) {
        return Ok(bytes.clone());
    }
    let bytes = read()?;
    pipes.insert(path.to_owned(), bytes.clone());
    Ok(bytes)
}
