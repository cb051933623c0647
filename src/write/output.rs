//! Where results go: a stream, or a file that appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::unfinished::Unfinished;
use crate::error::{Error, ErrorKind};

/// Something to write to, and to finish once all is written.
pub enum Output {
    /// Standard output, a device, a pipe: what is written is out.
    Stream(Box<dyn Write + Send>),
    /// A file that gets its name when it is finished. Dropped before that, it
    /// leaves nothing.
    File(OutputFile),
}

/// A file that is being written.
pub struct OutputFile {
    file: Unfinished,
    /// The name it will get.
    path: PathBuf,
}

/// An output that has been written to its end and needs but its name.
pub struct Complete(Option<OutputFile>);

impl Output {
    /// A file of that name, replaced in one step when it is finished.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Opened anew, a file behind it would be written at another place than messages are.
        if ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]
            .map(Path::new)
            .contains(&path)
        {
            return Ok(Self::Stream(Box::new(io::stderr())));
        }
        if is_stream(path) {
            let stream = fs::OpenOptions::new().append(true).open(path)?;
            return Ok(Self::Stream(Box::new(stream)));
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
        let file = Unfinished::create(folder_of(&path)).map_err(without_path)?;
        if let Some(existing) = existing {
            file.file().set_permissions(existing.permissions())?;
        }
        Ok(Self::File(OutputFile { file, path }))
    }

    /// Where the file stands while it is written, if it must stand somewhere: to be removed
    /// if the program is ended before it is finished.
    pub fn temporary_path(&self) -> Option<&Path> {
        match self {
            Self::Stream(_) => None,
            Self::File(output) => output.file.temporary_path(),
        }
    }

    /// Ends writing: what is left to do cannot fail for lack of room.
    pub fn complete(mut self) -> io::Result<Complete> {
        self.flush()?;
        Ok(Complete(match self {
            Self::Stream(_) => None,
            Self::File(output) => {
                // What takes the place of something must be on the disk before it does:
                // else both could be lost with the power.
                if output.path.exists() {
                    output.file.file().sync_all()?;
                }
                Some(output)
            }
        }))
    }
}

/// Gives outputs their names. All have temporary ones before the first gets its own, so that
/// they appear together or not at all, as far as renaming one after the other can.
pub fn appear(outputs: Vec<Complete>) -> Result<(), Error> {
    let failed =
        |path: &Path, error| Error::in_file(&path.display().to_string(), ErrorKind::Write(error));
    let mut named = Vec::with_capacity(outputs.len());
    for OutputFile { file, path } in outputs.into_iter().filter_map(|Complete(file)| file) {
        let temporary = file.named().map_err(|error| failed(&path, error))?;
        named.push((temporary, path));
    }
    for (temporary, path) in named {
        temporary
            .persist(&path)
            .map_err(|error| failed(&path, error.error))?;
    }
    Ok(())
}

/// Whether what is written there is out at once. What leads to something that is open already
/// may lead to a file, but to one with something in it perhaps.
fn is_stream(path: &Path) -> bool {
    let is_open = ["/dev/stdout", "/dev/stderr"]
        .map(Path::new)
        .contains(&path)
        || ["/dev/fd", "/proc/self/fd"]
            .map(|folder| Some(Path::new(folder)))
            .contains(&path.parent());
    let is_special = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    is_open || fs::metadata(path).is_ok_and(is_special)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The same error without the name that a file has only while it is written.
fn without_path(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((what, _)) => io::Error::new(error.kind(), what.to_owned()),
        None => error,
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
            Self::File(output) => output.file.file().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File(output) => output.file.file().flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(output: Output) {
        appear(vec![output.complete().unwrap()]).unwrap();
    }

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
        finish(output);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(folder.path()), 1);
        assert!(Output::create(folder.path()).is_err());
        let failed = Output::create(&folder.path().join("no/such"))
            .err()
            .unwrap();
        assert!(!failed.to_string().contains("simdup"), "{failed}");
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
        finish(output);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        fs::remove_file(&file).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"again").unwrap();
        finish(output);
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
        finish(Output::create(&path).unwrap());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Output::create(&path).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_what_the_umask_leaves() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            let metadata = fs::metadata(folder.path().join(name)).unwrap();
            metadata.permissions().mode() & 0o777
        };
        fs::write(folder.path().join("plain"), "").unwrap();
        finish(Output::create(&folder.path().join("out")).unwrap());
        assert_eq!(mode("out"), mode("plain"));
    }

    #[test]
    fn several_files_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let complete = |name: &str| {
            let mut output = Output::create(&at(name)).unwrap();
            output.write_all(name.as_bytes()).unwrap();
            output.complete().unwrap()
        };
        let both = vec![complete("one"), complete("two")];
        assert_eq!(names(folder.path()), 0);
        appear(both).unwrap();
        assert_eq!(fs::read(at("one")).unwrap(), b"one");
        assert_eq!(fs::read(at("two")).unwrap(), b"two");
        // A folder that is gone has no room for a name.
        fs::create_dir(at("gone")).unwrap();
        let both = vec![complete("three"), complete("gone/four")];
        fs::remove_dir_all(at("gone")).unwrap();
        assert!(appear(both).is_err());
        assert_eq!(names(folder.path()), 2);
    }
}
