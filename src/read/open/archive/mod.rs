//! Archives as sequences of members, each to be read as a file is.

#[cfg(feature = "tar")]
pub(in crate::read) mod tar;
#[cfg(feature = "zip")]
pub(in crate::read) mod zip;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::source::{Source, Spool};
use crate::read::format::foreign::Foreign;

/// A member of an archive.
pub(in crate::read) struct Member {
    /// Its path in the archive.
    pub(in crate::read) name: String,
    /// Its content, or why it cannot be read.
    pub(in crate::read) content: Result<Box<dyn Read + Send>, Foreign>,
}

/// The members of an archive, in its order: files only, no folders, links or devices.
pub(in crate::read) trait Members: Send {
    /// The next member; what is left of the one before is passed over. Behind an error, there
    /// is none.
    fn next(&mut self) -> io::Result<Option<Member>>;
}

/// The kinds of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum ArchiveKind {
    Tar,
    Zip,
}

/// Bytes that tell an archive.
pub(in crate::read) const HEAD_BYTES: usize = 512;

const ZIP: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04"];

impl ArchiveKind {
    /// The archive that a file which starts like this is.
    pub(in crate::read) fn of(head: &[u8]) -> Option<Self> {
        if ZIP.iter().any(|magic| head.starts_with(magic)) {
            Some(Self::Zip)
        } else if is_tar(head) {
            Some(Self::Tar)
        } else {
            None
        }
    }

    /// What it is to those who cannot read it: a feature was left out.
    pub(in crate::read) fn foreign(self) -> Option<Foreign> {
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
    pub(in crate::read) fn members(
        self,
        source: Source,
        spool: &Spool,
        taken: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Members>> {
        match self {
            #[cfg(feature = "tar")]
            Self::Tar => Ok(Box::new(tar::Tar::new(Box::new(source)))),
            #[cfg(feature = "zip")]
            Self::Zip => {
                let is_counted = source.is_file();
                let archive = source.into_seekable(spool)?;
                let taken = is_counted.then(|| Arc::clone(taken));
                Ok(Box::new(zip::Zip::open(archive, taken)?))
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

/// Whether a part of a member's path hides it, as files are hidden whose names start with a dot.
/// So is what macOS adds to archives of its own.
pub(in crate::read) fn is_hidden(part: &str) -> bool {
    (part.starts_with('.') && !matches!(part, "." | "..")) || part == "__MACOSX"
}

/// Whether a file is an archive, or is called as one is that is compressed. What is read once only,
/// as a pipe is, may be one: nobody looks.
pub fn is_archive(path: &Path) -> bool {
    if !path.is_file() {
        return path.exists() && !path.is_dir();
    }
    let mut head = Vec::new();
    let file = File::open(path).map(|file| file.take(HEAD_BYTES as u64));
    let is_read = file.is_ok_and(|mut file| file.read_to_end(&mut head).is_ok());
    let name = path.file_name().unwrap_or_default();
    is_read && (ArchiveKind::of(&head).is_some() || has_name(&name.to_string_lossy()))
}

/// Whether a file is called as archives are. Whether it is one, only its content tells.
pub(in crate::read) fn has_name(name: &str) -> bool {
    const ENDINGS: [&str; 7] = [".zip", ".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst"];
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name
            .rsplit_once('.')
            .is_some_and(|(name, _)| name.ends_with(".tar"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_hidden_as_files_are() {
        for part in [".DS_Store", ".git", "__MACOSX"] {
            assert!(is_hidden(part), "{part}");
        }
        for part in ["a.txt", ".", "..", ""] {
            assert!(!is_hidden(part), "{part}");
        }
    }

    #[test]
    fn archives_have_names() {
        for name in ["a.zip", "A.ZIP", "a.tar", "a.tar.gz", "a.tar.zst", "a.tgz"] {
            assert!(has_name(name), "{name}");
        }
        for name in ["a.gz", "zip", "tar.gz", "a.tar.gz.txt", "a.java"] {
            assert!(!has_name(name), "{name}");
        }
    }
}
