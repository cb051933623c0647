//! Archives as sequences of members, each to be read as a file is.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::foreign::Foreign;
use super::source::{Source, Spool};

/// A member of an archive.
pub(super) struct Member {
    /// Its path in the archive.
    pub(super) name: String,
    /// Its content, or why it cannot be read.
    pub(super) content: Result<Box<dyn Read + Send>, Foreign>,
}

/// The members of an archive, in its order: files only, no folders, links or devices.
pub(super) trait Members: Send {
    /// The next member; what is left of the one before is passed over. Behind an error, there
    /// is none.
    fn next(&mut self) -> io::Result<Option<Member>>;
}

/// The kinds of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveKind {
    Tar,
    Zip,
}

/// Bytes that tell an archive.
pub(super) const HEAD_BYTES: usize = 512;

const ZIP: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04"];

impl ArchiveKind {
    /// The archive that a file which starts like this is.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if ZIP.iter().any(|magic| head.starts_with(magic)) {
            Some(Self::Zip)
        } else if is_tar(head) {
            Some(Self::Tar)
        } else {
            None
        }
    }

    /// What it is to those who cannot read it: a feature was left out.
    pub(super) fn foreign(self) -> Option<Foreign> {
        match self {
            Self::Tar if cfg!(not(feature = "tar")) => Some(Foreign::new(
                "a tar archive, which this simdup was built without (feature `tar`)",
                "unpack it and name the folder",
            )),
            Self::Zip if cfg!(not(feature = "zip")) => Some(Foreign::new(
                "a zip archive, which this simdup was built without (feature `zip`)",
                "unpack it and name the folder",
            )),
            _ => None,
        }
    }

    /// Opens the archive. What is read of a file otherwise than by its source is added to
    /// `taken`.
    #[cfg_attr(
        not(feature = "zip"),
        expect(unused_variables, reason = "tar needs neither")
    )]
    pub(super) fn members(
        self,
        source: Source,
        spool: &Spool,
        taken: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Members>> {
        match self {
            #[cfg(feature = "tar")]
            Self::Tar => Ok(Box::new(super::tar::Tar::new(Box::new(source)))),
            #[cfg(feature = "zip")]
            Self::Zip => {
                let is_counted = source.is_file();
                let archive = source.into_seekable(spool)?;
                let taken = is_counted.then(|| Arc::clone(taken));
                Ok(Box::new(super::zip::Zip::open(archive, taken)?))
            }
            #[cfg(not(all(feature = "tar", feature = "zip")))]
            // Who asks has heard what it is.
            _ => {
                drop(source);
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }
}

/// A header whose sum is the one that it names, or that has the mark of later versions.
fn is_tar(head: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    let Some(header) = head.get(..HEAD_BYTES) else {
        return false;
    };
    if header[0] == 0 || !header.contains(&0) {
        return false;
    }
    if header[257..].starts_with(b"ustar") {
        return true;
    }
    let digits = header[SUM].trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit());
    let named = std::str::from_utf8(&digits[..end.unwrap_or(digits.len())])
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, 8).ok());
    let own = header
        .iter()
        .enumerate()
        .map(|(at, &byte)| match SUM.contains(&at) {
            true => u32::from(b' '),
            false => u32::from(byte),
        });
    named == Some(own.sum())
}

/// Whether a member is hidden, as files are whose names start with a dot. So is what macOS adds
/// to archives of its own.
pub(super) fn is_hidden(name: &str) -> bool {
    name.split('/')
        .any(|part| (part.starts_with('.') && !matches!(part, "." | "..")) || part == "__MACOSX")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_hidden_as_files_are() {
        for name in [".DS_Store", "a/.git/x", "__MACOSX/a", "./.x"] {
            assert!(is_hidden(name), "{name}");
        }
        for name in ["a.txt", "./a", "../a", "a/b.c"] {
            assert!(!is_hidden(name), "{name}");
        }
    }
}
