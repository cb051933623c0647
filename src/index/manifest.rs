//! What an index is made of, in one file that is replaced in one step: whatever it does not name
//! is not part of the index.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checked::{FilePrint, VERSION, cannot_read, cannot_write, damaged, hash};
use super::remembered::Remembered;
use super::writer::DOCUMENTS_MAX;
use crate::error::{Error, ErrorKind};

pub(super) const NAME: &str = "manifest.json";
/// Bytes of a manifest at the most. Only a list of stopwords may be long.
const BYTES_MAX: u64 = 256 << 20;
/// Numbers of files are smaller.
const NUMBER_MAX: u64 = 1 << 62;
/// The next one, until it is complete.
const NEW_NAME: &str = "manifest.json.new";

/// A state of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The version of the format.
    pub(super) simdup_index: u32,
    pub(super) settings: Remembered,
    /// The number of the next file.
    pub(super) next: u64,
    /// In the order in which their documents were added.
    pub(super) segments: Vec<SegmentEntry>,
}

/// A segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SegmentEntry {
    pub(super) number: u64,
    pub(super) documents: u64,
    pub(super) prints: SegmentPrints,
    pub(super) removed: Option<RemovedEntry>,
}

impl SegmentEntry {
    /// Documents that were not removed.
    pub(super) fn live(&self) -> u64 {
        self.documents - self.removed.as_ref().map_or(0, |removed| removed.documents)
    }
}

/// The files of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SegmentPrints {
    pub(super) documents: FilePrint,
    pub(super) keys: FilePrint,
    pub(super) lists: FilePrint,
}

/// Documents of a segment that were removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RemovedEntry {
    pub(super) number: u64,
    pub(super) documents: u64,
    pub(super) print: FilePrint,
}

/// As much as every version has.
#[derive(Deserialize)]
struct AnyVersion {
    simdup_index: u32,
}

impl Manifest {
    /// An index of no documents.
    pub(super) fn new(settings: Remembered) -> Self {
        Self {
            simdup_index: VERSION,
            settings,
            next: 1,
            segments: Vec::new(),
        }
    }

    /// Reads that of an index.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let text = read_up_to(&path, BYTES_MAX).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let what = "there is no index; `simdup index build` makes one";
                Error::in_file(&folder.to_string_lossy(), ErrorKind::Index(what.into()))
            }
            _ => cannot_read(&path, error),
        })?;
        let wrong = |what: &str| damaged(&path, None, what);
        if text.len() as u64 == BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        let line_end = text.iter().position(|&byte| byte == b'\n');
        let line_end = line_end.ok_or_else(|| wrong("it was cut short"))?;
        let (json, sum) = (&text[..line_end], &text[line_end + 1..]);
        let version = serde_json::from_slice::<AnyVersion>(json);
        if let Ok(AnyVersion { simdup_index }) = version
            && simdup_index > VERSION
        {
            let what = format!(
                "it was made by a later simdup (format {simdup_index}, this one knows {VERSION}); \
                 use that one"
            );
            return Err(Error::in_file(
                &folder.to_string_lossy(),
                ErrorKind::Index(what),
            ));
        }
        if sum != sum_line(json).as_bytes() {
            return Err(wrong("it does not have its checksum"));
        }
        let manifest: Self = serde_json::from_slice(json)
            .map_err(|error| wrong(&format!("it cannot be understood: {error}")))?;
        if manifest.simdup_index != VERSION {
            return Err(wrong("there has been no such version"));
        }
        manifest
            .settings
            .check()
            .map_err(|error| wrong(&format!("its settings are impossible: {}", error.kind)))?;
        match manifest.is_consistent() {
            true => Ok(manifest),
            false => Err(wrong("its counts contradict each other")),
        }
    }

    /// Whether its numbers and counts can be those of an index.
    fn is_consistent(&self) -> bool {
        let mut numbers: Vec<u64> = self.segments.iter().map(|segment| segment.number).collect();
        numbers.sort_unstable();
        let is_possible = |segment: &SegmentEntry| {
            let removed = segment.removed.as_ref();
            segment.number < self.next
                && segment.documents <= DOCUMENTS_MAX as u64
                && removed.is_none_or(|removed| {
                    removed.number < self.next && removed.documents <= segment.documents
                })
        };
        self.next < NUMBER_MAX
            && numbers.is_sorted_by(|one, two| one < two)
            && self.segments.iter().all(is_possible)
    }

    /// Replaces that of an index. All that it names must be on the disk.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        let (path, new) = (folder.join(NAME), folder.join(NEW_NAME));
        let mut text =
            serde_json::to_vec(self).map_err(|error| cannot_write(&new, error.into()))?;
        let sum = sum_line(&text);
        text.push(b'\n');
        text.extend_from_slice(sum.as_bytes());
        sync_folder(folder).map_err(|error| cannot_write(folder, error))?;
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()
        };
        write().map_err(|error| cannot_write(&new, error))?;
        fs::rename(&new, &path)
            .and_then(|()| sync_folder(folder))
            .map_err(|error| cannot_write(&path, error))
    }

    /// The names of all files that it is made of, besides its own.
    pub(super) fn names(&self, name: &str) -> bool {
        let Some((number, kind)) = name.split_once('.') else {
            return false;
        };
        self.segments.iter().any(|segment| match kind {
            "removed" => segment.removed.is_some_and(|removed| {
                number == format!("{:08}-{:08}", segment.number, removed.number)
            }),
            "documents" | "keys" | "lists" => number == format!("{:08}", segment.number),
            _ => false,
        })
    }
}

/// Reads a file, and no more than some bytes of it.
fn read_up_to(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn sum_line(json: &[u8]) -> String {
    format!("{:016x}\n", hash(json))
}

/// Has the names of files in a folder on the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Whether a file of that name in a folder is one that an index makes.
pub(super) fn is_own(name: &str) -> bool {
    let Some((number, kind)) = name.split_once('.') else {
        return false;
    };
    let is_number = |text: &str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    match kind {
        "documents" | "keys" | "lists" => is_number(number),
        "removed" => number
            .split_once('-')
            .is_some_and(|(segment, number)| is_number(segment) && is_number(number)),
        _ => name == NEW_NAME,
    }
}
