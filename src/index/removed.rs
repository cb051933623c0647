//! The documents of a segment that were removed: a bit for each document.

use std::path::{Path, PathBuf};

use super::checked::{CheckedFile, CheckedWriter, Kind, damaged, number};
use super::manifest::{RemovedEntry, SegmentEntry};
use crate::error::Error;

/// Which documents were removed.
#[derive(Clone, Debug, Default)]
pub(super) struct Removed {
    /// Empty if there are none.
    bits: Vec<u64>,
    count: u32,
}

/// The file in which they are, of a segment and of a state of the index.
fn path(folder: &Path, segment: u64, number: u64) -> PathBuf {
    folder.join(format!("{segment:08}-{number:08}.removed"))
}

impl Removed {
    /// Those that the manifest names.
    pub(super) fn open(folder: &Path, segment: &SegmentEntry) -> Result<Self, Error> {
        let Some(entry) = &segment.removed else {
            return Ok(Self::default());
        };
        let path = path(folder, segment.number, entry.number);
        let file = CheckedFile::open(path.clone(), Kind::Removed, entry.print)?;
        let wrong = || damaged(&path, None, "its counts contradict each other");
        if file.bytes() % 8 > 0 || file.bytes() > segment.documents.div_ceil(64) * 8 {
            return Err(wrong());
        }
        let bytes = file.get(0, file.bytes())?;
        let bits: Vec<u64> = (0..bytes.len() / 8)
            .map(|word| number(bytes, 8 * word))
            .collect();
        let count: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        let behind = bits
            .last()
            .map_or(0, |last| 64 - last.leading_zeros() as u64);
        let end = (bits.len() as u64).saturating_sub(1) * 64 + behind;
        if count != entry.documents || end > segment.documents {
            return Err(wrong());
        }
        Ok(Self {
            bits,
            count: count as u32,
        })
    }

    /// Writes them to a file of this number.
    pub(super) fn write(
        &self,
        folder: &Path,
        segment: u64,
        number: u64,
    ) -> Result<RemovedEntry, Error> {
        let mut file = CheckedWriter::create(path(folder, segment, number), Kind::Removed)?;
        for word in &self.bits {
            file.write(&word.to_le_bytes())?;
        }
        Ok(RemovedEntry {
            number,
            documents: u64::from(self.count),
            print: file.finish(true)?,
        })
    }

    /// How many.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether a document was removed.
    #[inline]
    pub(super) fn contains(&self, document: u32) -> bool {
        let word = self.bits.get(document as usize / 64);
        word.is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    /// Removes a document; false if it was before.
    pub(super) fn insert(&mut self, document: u32) -> bool {
        let (word, bit) = (document as usize / 64, 1 << (document % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += u32::from(is_new);
        is_new
    }
}
