//! Where results go: a stream, or a file that appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// What the name of a file starts and ends with until it is finished.
pub(crate) const TEMPORARY_PREFIX: &str = ".simdup-";
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Something to write to, and to close once all is written.
pub enum Output {
    /// Standard output, a device, a pipe: what is written is out.
    Stream(Box<dyn Write + Send>),
    /// A file that gets its name when it is finished. Dropped before that, it
    /// leaves nothing.
    File {
        /// What has been written so far.
        temporary: NamedTempFile,
        /// The name it will get.
        path: PathBuf,
    },
}

impl Output {
    /// A file of that name, replaced in one step when [`Output::finish`] is called.
    pub fn create(path: &Path) -> io::Result<Self> {
        let is_special = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
        // What stands in /dev may lead to a file, but to one that is open already,
        // with something in it perhaps.
        if path.starts_with("/dev") || fs::metadata(path).is_ok_and(is_special) {
            let device = fs::OpenOptions::new().append(true).open(path)?;
            return Ok(Self::Stream(Box::new(device)));
        }
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let path = behind_links(path);
        let existing = fs::metadata(&path).ok();
        if existing
            .as_ref()
            .is_some_and(|metadata| metadata.permissions().readonly())
        {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As for any file that a program creates; the umask takes away from it.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder)?;
        if let Some(existing) = existing {
            fs::set_permissions(temporary.path(), existing.permissions())?;
        }
        Ok(Self::File { temporary, path })
    }

    /// Where the file stands while it is written, to be removed if the program is
    /// ended before it is finished.
    pub fn temporary_path(&self) -> Option<&Path> {
        match self {
            Self::Stream(_) => None,
            Self::File { temporary, .. } => Some(temporary.path()),
        }
    }

    /// Makes what was written permanent.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        match self {
            Self::Stream(_) => Ok(()),
            Self::File { temporary, path } => {
                // What takes the place of something must be on the disk before it does:
                // else both could be lost with the power.
                if path.exists() {
                    temporary.as_file().sync_all()?;
                }
                temporary.persist(path).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

/// What a link points to, there or not: the link stays, and that is replaced.
fn behind_links(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    match fs::read_link(path) {
        Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
        Err(_) => path.to_owned(),
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::File { temporary, .. } => temporary.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File { temporary, .. } => temporary.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(output);
        assert_eq!(names(folder.path()), 0);

        let mut output = Output::create(&path).unwrap();
        output.write_all(b"whole").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(folder.path()), 1);
        assert!(Output::create(folder.path()).is_err());
        assert!(Output::create(&folder.path().join("no/such")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_to_and_links_followed() {
        assert!(matches!(
            Output::create(Path::new("/dev/null")),
            Ok(Output::Stream(_))
        ));
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        fs::remove_file(&file).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"again").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"again");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Output::create(&path).unwrap().finish().unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Output::create(&path).is_err());
    }
}
