//! A segment that is looked at: documents that were added together, and for each of their keys
//! the documents that have it.
//!
//! | file | what is in it |
//! |---|---|
//! | documents | a record of each document ([`record`]); where they end; ids; where they end; sizes; the ids' hashes with the documents, in order; how many keys of each are common; documents by the share of those; counts |
//! | keys | the groups of all parts ([`Geometry`]); where each group starts; for each part how many keys and words of lists are before it; counts |
//! | lists | documents of each key that several have, after their number |

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::checked::{CheckedFile, Kind, number};
use super::geometry::{Geometry, IS_LIST, WORD_BYTES};
use super::key::{Key, keys_with, prefix};
use super::manifest::SegmentEntry;
use super::record;
use super::removed::Removed;
use super::writer::{DocumentEntry, LONGEST, id_entry, paths};
use crate::error::Error;

/// A segment, with the documents that were removed from it.
#[derive(Debug)]
pub(super) struct Segment {
    files: Arc<Files>,
    pub(super) removed: Removed,
}

impl Deref for Segment {
    type Target = Files;

    fn deref(&self) -> &Files {
        &self.files
    }
}

/// What a segment has as it was written.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) documents: CheckedFile,
    pub(super) keys: CheckedFile,
    pub(super) lists: CheckedFile,
    pub(super) geometry: Geometry,
    /// For each part, and the end: keys and words of lists before it.
    pub(super) parts: Vec<(u64, u64)>,
    pub(super) count: u32,
    postings: u64,
    /// Where the sections of the documents' file start.
    set_ends: u64,
    ids: u64,
    id_ends: u64,
    sizes: u64,
    entries: u64,
    common: u64,
    mostly_common: u64,
    /// Where the directory starts in the file of keys.
    pub(super) directory: u64,
    longest: Vec<(u64, Key)>,
}

const DOCUMENTS_TAIL: u64 = 32;

/// Keys of a document at the most, so that the sum of two sizes is a number of 32 bits.
const SIZE_MAX: u64 = 1 << 31;

/// Wrong about a document.
pub(super) const WRONG_PLACE: &str = "the place among all by common shingles is wrong";

impl Segment {
    /// Opens a segment that the manifest names.
    pub(super) fn open(folder: &Path, entry: &SegmentEntry) -> Result<Self, Error> {
        Ok(Self {
            files: Arc::new(Files::open(folder, entry)?),
            removed: Removed::open(folder, entry)?,
        })
    }

    /// The same in another state, in which other documents are removed.
    pub(super) fn again(&self, folder: &Path, entry: &SegmentEntry) -> Result<Self, Error> {
        Ok(Self {
            files: Arc::clone(&self.files),
            removed: Removed::open(folder, entry)?,
        })
    }

    /// Documents that are there.
    pub(super) fn live(&self) -> u32 {
        self.count - self.removed.count()
    }

    /// The document of that id, unless it was removed.
    pub(super) fn find_id(&self, id: &str) -> Result<Option<u32>, Error> {
        self.files.find_id(id, &self.removed)
    }

    /// Gives back the memory that what was looked at takes, if nobody else looks; more will be
    /// looked at in order.
    pub(super) fn forget(&mut self) -> Result<(), Error> {
        match Arc::get_mut(&mut self.files) {
            Some(files) => files.forget(),
            None => Ok(()),
        }
    }
}

impl Files {
    fn open(folder: &Path, entry: &SegmentEntry) -> Result<Self, Error> {
        let [documents, keys, lists] = paths(folder, entry.number);
        let documents = CheckedFile::open(documents, Kind::Documents, entry.prints.documents)?;
        let keys = CheckedFile::open(keys, Kind::Keys, entry.prints.keys)?;
        let lists = CheckedFile::open(lists, Kind::Lists, entry.prints.lists)?;
        let wrong =
            |file: &CheckedFile| file.wrong(file.bytes(), "its counts contradict each other");
        let end = documents.bytes().checked_sub(DOCUMENTS_TAIL);
        let tail = end.ok_or_else(|| wrong(&documents))?;
        let counts = documents.get(tail, DOCUMENTS_TAIL)?;
        let [count, postings, set_bytes, id_bytes] = [0, 8, 16, 24].map(|at| number(counts, at));
        if count != entry.documents || count > u64::from(IS_LIST) {
            return Err(wrong(&documents));
        }
        let sections = [
            set_bytes,
            8 * count,
            id_bytes,
            8 * count,
            4 * count,
            8 * count,
            4 * count,
            4 * count,
        ];
        let fits = sections
            .iter()
            .try_fold(0, |sum: u64, &more| sum.checked_add(more))
            == Some(tail);
        if !fits {
            return Err(wrong(&documents));
        }
        let mut starts = sections.iter().scan(0, |start, bytes| {
            *start += bytes;
            Some(*start)
        });
        let [
            set_ends,
            ids,
            id_ends,
            sizes,
            entries,
            common,
            mostly_common,
        ] = [(); 7].map(|()| starts.next().unwrap_or_default());
        let geometry = Geometry::of(postings);
        let tail_bytes = (16 * (geometry.parts() + LONGEST) + 24) as u64;
        let tail = keys
            .bytes()
            .checked_sub(tail_bytes)
            .ok_or_else(|| wrong(&keys))?;
        let numbers = keys.get(tail, tail_bytes)?;
        let parts: Vec<(u64, u64)> = (0..=geometry.parts())
            .map(|part| (number(numbers, 16 * part), number(numbers, 16 * part + 8)))
            .collect();
        let (key_count, word_count) = parts[geometry.parts()];
        let directory = key_count.checked_mul(geometry.entry_bytes() as u64);
        let directory_bytes = (geometry.parts() * (geometry.groups() + 1)) as u64 * WORD_BYTES;
        let behind_parts = 16 * (geometry.parts() + 1);
        let longest = (0..LONGEST)
            .map(|place| behind_parts + 8 + 16 * place)
            .map(|at| (number(numbers, at), Key(number(numbers, at + 8))))
            .filter(|&(length, _)| length > 0)
            .collect();
        // A key has one document in its entry, or several in a list.
        let postings_max = key_count.checked_add(word_count);
        let fits = number(numbers, behind_parts) == postings
            && key_count <= postings
            && postings_max.is_some_and(|most| postings <= most)
            && parts[0] == (0, 0)
            && parts.is_sorted_by(|one, two| one.0 <= two.0 && one.1 <= two.1)
            && directory.and_then(|start| start.checked_add(directory_bytes)) == Some(tail)
            && word_count.checked_mul(WORD_BYTES) == Some(lists.bytes());
        if !fits {
            return Err(wrong(&keys));
        }
        Ok(Self {
            directory: directory.unwrap_or_default(),
            documents,
            keys,
            lists,
            geometry,
            parts,
            count: count as u32,
            postings,
            set_ends,
            ids,
            id_ends,
            sizes,
            entries,
            common,
            mostly_common,
            longest,
        })
    }

    /// Documents, those that were removed among them.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Keys of all documents.
    pub(super) fn postings(&self) -> u64 {
        self.postings
    }

    /// How many different keys.
    pub(super) fn key_count(&self) -> u64 {
        self.parts[self.geometry.parts()].0
    }

    /// The keys that most documents have, and how many those are.
    pub(super) fn longest(&self) -> &[(u64, Key)] {
        &self.longest
    }

    /// Bytes of documents, keys and lists.
    pub(super) fn bytes(&self) -> [u64; 3] {
        [&self.documents, &self.keys, &self.lists].map(CheckedFile::bytes)
    }

    fn forget(&mut self) -> Result<(), Error> {
        [&mut self.documents, &mut self.keys, &mut self.lists]
            .into_iter()
            .try_for_each(CheckedFile::forget)
    }

    /// Holds every page against its checksum.
    pub(super) fn check_pages(&self) -> Result<(), Error> {
        [&self.documents, &self.keys, &self.lists]
            .iter()
            .try_for_each(|file| file.check())
    }

    /// What ends before a document, and with it, in a table of ends.
    fn ends(&self, table: u64, document: u32) -> Result<(u64, u64), Error> {
        let at = table + 8 * u64::from(document);
        if document >= self.count {
            return Err(self.documents.wrong(at, "there is no such document"));
        }
        let start = match document {
            0 => 0,
            _ => self.documents.u64(at - 8)?,
        };
        let end = self.documents.u64(at)?;
        match start <= end {
            true => Ok((start, end)),
            false => Err(self.documents.wrong(at, "an end is before its start")),
        }
    }

    /// A document's id.
    pub(super) fn id(&self, document: u32) -> Result<&str, Error> {
        let (start, end) = self.ends(self.id_ends, document)?;
        if end > self.id_ends - self.ids {
            let at = self.id_ends + 8 * u64::from(document);
            return Err(self.documents.wrong(at, "an id is behind all ids"));
        }
        let at = self.ids + start;
        std::str::from_utf8(self.documents.get(at, end - start)?)
            .map_err(|_| self.documents.wrong(at, "an id is not UTF-8"))
    }

    /// The fields of a document, as a JSON object or nothing.
    pub(super) fn fields(&self, document: u32) -> Result<&str, Error> {
        let (_, fields) = self.record(document)?;
        let is_right = fields.is_empty()
            || fields.starts_with('{')
                && !fields.contains('\n')
                && serde_json::from_str::<serde::de::IgnoredAny>(fields).is_ok();
        match is_right {
            true => Ok(fields),
            false => Err(self.wrong_document(document, "its fields are no JSON object")),
        }
    }

    /// The prefixes of a document's keys, and its fields.
    fn record(&self, document: u32) -> Result<(Vec<u32>, &str), Error> {
        let found = record::read(self.document(document)?.record);
        found.ok_or_else(|| self.wrong_document(document, "its record cannot be read"))
    }

    /// Something that is said of a document is wrong.
    #[cold]
    pub(super) fn wrong_document(&self, document: u32, what: &str) -> Error {
        let at = self.set_ends + 8 * u64::from(document);
        let name = self.id(document).unwrap_or("without an id");
        self.documents
            .wrong(at, &format!("of the document {name}, {what}"))
    }

    /// A count of keys is wrong.
    #[cold]
    pub(super) fn wrong_counts(&self, what: &str) -> Error {
        self.keys.wrong(self.keys.bytes(), what)
    }

    /// How many keys a document has.
    pub(super) fn size(&self, document: u32) -> Result<u32, Error> {
        let size = self.documents.u32(self.sizes + 4 * u64::from(document))?;
        match u64::from(size) <= self.key_count().min(SIZE_MAX) {
            true => Ok(size),
            false => {
                Err(self.wrong_document(document, "there are more shingles than in the index"))
            }
        }
    }

    /// Documents, those first of whose keys the largest share is common.
    pub(super) fn mostly_common(&self, place: u32) -> Result<u32, Error> {
        let at = self.mostly_common + 4 * u64::from(place);
        let document = self.documents.u32(at)?;
        match document < self.count {
            true => Ok(document),
            false => Err(self.documents.wrong(at, "there is no such document")),
        }
    }

    /// How many keys of a document are common, and how many it has.
    pub(super) fn common(&self, document: u32) -> Result<(u32, u32), Error> {
        let common = self.documents.u32(self.common + 4 * u64::from(document))?;
        let size = self.size(document)?;
        match common <= size {
            true => Ok((common, size)),
            false => Err(self.wrong_document(document, "more shingles are common than there are")),
        }
    }

    /// A document, as it was written.
    pub(super) fn document(&self, document: u32) -> Result<DocumentEntry<'_>, Error> {
        let (start, end) = self.ends(self.set_ends, document)?;
        if end > self.set_ends {
            return Err(self.documents.wrong(start, "a set is behind all sets"));
        }
        Ok(DocumentEntry {
            id: self.id(document)?,
            size: self.size(document)?,
            record: self.documents.get(start, end - start)?,
        })
    }

    fn find_id(&self, id: &str, removed: &Removed) -> Result<Option<u32>, Error> {
        let wanted = id_entry(id, 0);
        let entry = |place: u32| self.documents.u64(self.entries + 8 * u64::from(place));
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match entry(middle)? < wanted {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let mut before = None;
        while low < self.count {
            let entry = entry(low)?;
            let document = entry as u32;
            if entry >> 32 != wanted >> 32 {
                break;
            }
            // Few ids have the same hash: all that claim it are looked at.
            let own = self.id(document)?;
            if before.is_some_and(|before| before >= entry) || id_entry(own, document) != entry {
                let at = self.entries + 8 * u64::from(low);
                return Err(self
                    .documents
                    .wrong(at, "an id does not lead to its document"));
            }
            if !removed.contains(document) && own == id {
                return Ok(Some(document));
            }
            before = Some(entry);
            low += 1;
        }
        Ok(None)
    }

    /// Holds the table by which ids are found against the ids.
    pub(super) fn check_ids(&self) -> Result<(), Error> {
        let mut before = None;
        for place in 0..self.count {
            let at = self.entries + 8 * u64::from(place);
            let entry = self.documents.u64(at)?;
            let document = entry as u32;
            let is_next = before.is_none_or(|before| before < entry);
            if !is_next || id_entry(self.id(document)?, document) != entry {
                return Err(self
                    .documents
                    .wrong(at, "an id does not lead to its document"));
            }
            before = Some(entry);
        }
        Ok(())
    }

    /// The keys of a document, in order.
    pub(super) fn keys_of(&self, document: u32, keys: &mut Vec<Key>) -> Result<(), Error> {
        keys.clear();
        let size = self.size(document)?;
        let (prefixes, _) = self.record(document)?;
        for prefix in prefixes {
            let (first, last) = keys_with(prefix);
            let mut cursor = self.keys_from(first);
            while let Some((key, postings)) = cursor.next(last)? {
                if self.has(postings, document)? {
                    keys.push(key);
                }
            }
        }
        match keys.len() == size as usize {
            true => Ok(()),
            false => Err(self.wrong_document(document, "not all shingles are found")),
        }
    }

    /// Whether the prefixes of a document are those of its keys; for those who go through all
    /// of them, by what [`prefix`] gives.
    pub(super) fn prefix_sum(&self, document: u32) -> Result<(u32, u64), Error> {
        let (prefixes, _) = self.record(document)?;
        let sum = prefixes.iter().map(|&prefix| u64::from(prefix) + 1).sum();
        Ok((self.size(document)?, sum))
    }
}

/// What a document's keys add up to, to be held against [`Segment::prefix_sum`].
pub(super) fn prefix_part(key: Key, last: Option<Key>) -> u64 {
    match last.is_some_and(|last| prefix(last) == prefix(key)) {
        true => 0,
        false => u64::from(prefix(key)) + 1,
    }
}
