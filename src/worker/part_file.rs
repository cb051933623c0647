//! A file of a directory to which many processes write: it appears whole or not at all, and
//! whoever writes it again writes the same.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, ErrorKind};

pub(super) struct PartFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

/// Where the file of a part is.
pub(super) fn part_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("part-{number:08}"))
}

impl PartFile {
    pub(super) fn create(folder: &Path, number: u32) -> Result<Self, Error> {
        let path = part_path(folder, number);
        let file = tempfile::Builder::new()
            .prefix(".unfinished-")
            .tempfile_in(folder)
            .map_err(|error| failed(&path, error))?;
        let file = BufWriter::new(file);
        Ok(Self { path, file })
    }

    /// What it means that a write failed.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> Error + use<> {
        let path = self.path.clone();
        move |error| failed(&path, error)
    }

    /// Lets it appear.
    pub(super) fn finish(self) -> Result<(), Error> {
        let failed = self.failed();
        let file = self.file.into_inner();
        let file = file.map_err(|error| failed(error.into_error()))?;
        let file = file.persist(&self.path);
        let file = file.map_err(|error| failed(error.error))?;
        readable(&file).map_err(failed)
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::in_file(&path.to_string_lossy(), ErrorKind::Write(error))
}

/// Gives a file the rights that other files have.
#[cfg(unix)]
fn readable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &fs::File) -> io::Result<()> {
    Ok(())
}
