//! A file that is not to be seen before it is finished. Where the system can, it has no name
//! until then, and nothing is left of it whatever ends the program.

use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use tempfile::{Builder, NamedTempFile, TempPath};

use crate::read::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

pub(super) enum Unfinished {
    /// On no path.
    #[cfg(target_os = "linux")]
    Nameless {
        file: File,
        /// Where it will have one.
        folder: PathBuf,
    },
    /// Under a temporary name, for file systems that cannot do without.
    Named(NamedTempFile),
}

impl Unfinished {
    /// An empty file in that folder, with the permissions that the umask leaves.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = linux::nameless(folder) {
            let folder = folder.to_owned();
            return Ok(Self::Nameless { file, folder });
        }
        Self::create_named(folder)
    }

    fn create_named(folder: &Path) -> io::Result<Self> {
        let mut builder = names();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As for any file that a program creates; the umask takes away from it.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        Ok(Self::Named(builder.tempfile_in(folder)?))
    }

    pub(super) fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, .. } => file,
            Self::Named(file) => file.as_file(),
        }
    }

    pub(super) fn temporary_path(&self) -> Option<&Path> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { .. } => None,
            Self::Named(file) => Some(file.path()),
        }
    }

    /// The file under a temporary name in its folder. Dropped, it is removed.
    pub(super) fn named(self) -> io::Result<TempPath> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, folder } => Ok(names()
                .make_in(folder, |path| linux::link(&file, path))?
                .into_temp_path()),
            Self::Named(file) => Ok(file.into_temp_path()),
        }
    }
}

fn names() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY_PREFIX).suffix(TEMPORARY_SUFFIX);
    builder
}

/// Files without a name: `O_TMPFILE`, and its way to a name through `/proc` (open(2)).
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// `None` if the file system has no such files, or no way to name them.
    pub(super) fn nameless(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        fs::symlink_metadata(by_number(&file)).ok()?;
        Some(file)
    }

    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        linkat(CWD, by_number(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
        Ok(())
    }

    fn by_number(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_name_or_without_it_is_named_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        for create in [Unfinished::create, Unfinished::create_named] {
            let file = create(folder.path()).unwrap();
            let seen = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(seen, usize::from(file.temporary_path().is_some()));
            let named = file.named().unwrap();
            assert_eq!(named.parent(), Some(folder.path()));
            assert!(named.exists());
            drop(named);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
