//! Writes a segment: its documents one by one, then its keys by parts.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::checked::{CheckedWriter, Kind, hash, short_number};
use super::geometry::{Geometry, IS_LIST};
use super::key::Key;
use super::manifest::SegmentPrints;
use crate::error::{Error, ErrorKind};
use crate::score::Score;

/// The files of a segment.
pub(super) fn paths(folder: &Path, number: u64) -> [PathBuf; 3] {
    ["documents", "keys", "lists"].map(|kind| folder.join(format!("{number:08}.{kind}")))
}

/// Where a document stands in the table of ids: part of the hash of its id, and its number.
pub(super) fn id_entry(id: &str, document: u32) -> u64 {
    hash(id.as_bytes()) >> 32 << 32 | u64::from(document)
}

/// A segment that is being written.
pub(super) struct SegmentWriter {
    documents: CheckedWriter,
    keys: CheckedWriter,
    lists: CheckedWriter,
    set_ends: Vec<u64>,
    ids: Vec<u8>,
    id_ends: Vec<u64>,
    sizes: Vec<u32>,
    entries: Vec<u64>,
    postings: u64,
    making: Making,
}

/// How a segment is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Making {
    /// Whether it must be on the disk before anything else is done.
    pub(super) lasts: bool,
    /// How much memory the parts of its keys may take that are made at a time.
    pub(super) bytes: usize,
}

/// Memory that a part of the keys takes while it is made, about.
const PART_BYTES: usize = 8 << 20;

impl Making {
    /// How many parts are made at a time.
    fn parts(self) -> usize {
        let threads = rayon::current_num_threads();
        (self.bytes / PART_BYTES).clamp(1, 2 * threads.max(1))
    }
}

/// A key is rare that so many documents have at the most.
pub(super) const RARE: u32 = 16;

/// A document, as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentEntry<'a> {
    pub(super) id: &'a str,
    /// Its keys.
    pub(super) size: u32,
    /// What is remembered of them, and of its fields.
    pub(super) record: &'a [u8],
}

/// Most documents of a segment, so that the number of one and the mark of a list fit a word.
pub(super) const DOCUMENTS_MAX: usize = 1 << 31;

impl SegmentWriter {
    /// A segment of this number. Its files belong to the index when a manifest names them.
    pub(super) fn create(folder: &Path, number: u64, making: Making) -> Result<Self, Error> {
        let [documents, keys, lists] = paths(folder, number);
        Ok(Self {
            documents: CheckedWriter::create(documents, Kind::Documents)?,
            keys: CheckedWriter::create(keys, Kind::Keys)?,
            lists: CheckedWriter::create(lists, Kind::Lists)?,
            set_ends: Vec::new(),
            ids: Vec::new(),
            id_ends: Vec::new(),
            sizes: Vec::new(),
            entries: Vec::new(),
            postings: 0,
            making,
        })
    }

    /// Adds the next document.
    pub(super) fn document(&mut self, document: DocumentEntry<'_>) -> Result<(), Error> {
        let number = self.sizes.len();
        if number == DOCUMENTS_MAX {
            return Err(Error::in_file(document.id, ErrorKind::TooManyDocuments));
        }
        self.documents.write(document.record)?;
        self.set_ends.push(self.documents.bytes());
        self.ids.extend_from_slice(document.id.as_bytes());
        self.id_ends.push(self.ids.len() as u64);
        self.sizes.push(document.size);
        self.entries.push(id_entry(document.id, number as u32));
        self.postings += u64::from(document.size);
        Ok(())
    }

    /// Adds all keys, which `fill` gives part by part, and ends the segment. Now and then `pause`
    /// is called, when no part is being filled.
    pub(super) fn finish(
        mut self,
        fill: impl Fn(&mut PartWriter) -> Result<(), Error> + Sync,
        mut pause: impl FnMut() -> Result<(), Error>,
    ) -> Result<SegmentPrints, Error> {
        let geometry = Geometry::of(self.postings);
        let mut directory: Vec<u8> = Vec::new();
        let mut tail: Vec<u8> = Vec::new();
        let (mut key_count, mut word_count) = (0_u64, 0_u64);
        let mut longest: Vec<(u32, Key)> = Vec::new();
        let common: Vec<AtomicU32> = self.sizes.iter().map(|_| AtomicU32::new(0)).collect();
        let parts: Vec<usize> = (0..geometry.parts()).collect();
        let part_keys = (self.postings / parts.len() as u64) as usize;
        for parts in parts.chunks(self.making.parts()) {
            let written: Result<Vec<PartWriter>, Error> = parts
                .par_iter()
                .map(|&number| {
                    let mut part = PartWriter::new(geometry, number, part_keys);
                    fill(&mut part)?;
                    part.finish();
                    part.count_common(&common);
                    Ok(part)
                })
                .collect();
            for part in written? {
                for number in [key_count, word_count] {
                    tail.extend_from_slice(&number.to_le_bytes());
                }
                key_count += u64::from(part.keys);
                word_count += (part.lists.len() / 4) as u64;
                if part.lists.len() / 4 >= IS_LIST as usize {
                    return Err(Error::in_file("index", ErrorKind::TooManyDocuments));
                }
                longest.extend(part.longest);
                keep_longest(&mut longest);
                directory.extend_from_slice(&part.directory);
                self.keys.write(&part.groups)?;
                self.lists.write(&part.lists)?;
            }
            pause()?;
        }
        for number in [key_count, word_count, self.postings] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        longest.resize(LONGEST, (0, Key(0)));
        for (length, key) in longest {
            tail.extend_from_slice(&u64::from(length).to_le_bytes());
            tail.extend_from_slice(&key.0.to_le_bytes());
        }
        self.keys.write(&directory)?;
        self.keys.write(&tail)?;
        let (keys, lists, lasts) = (self.keys, self.lists, self.making.lasts);
        let mut documents = self.documents;
        let set_bytes = documents.bytes();
        self.entries.sort_unstable();
        documents.write(&bytes_of(&self.set_ends, u64::to_le_bytes))?;
        documents.write(&self.ids)?;
        documents.write(&bytes_of(&self.id_ends, u64::to_le_bytes))?;
        documents.write(&bytes_of(&self.sizes, u32::to_le_bytes))?;
        documents.write(&bytes_of(&self.entries, u64::to_le_bytes))?;
        let common: Vec<u32> = common.into_iter().map(AtomicU32::into_inner).collect();
        let mostly_common = mostly_common(&common, &self.sizes);
        documents.write(&bytes_of(&common, u32::to_le_bytes))?;
        documents.write(&bytes_of(&mostly_common, u32::to_le_bytes))?;
        let count = self.sizes.len() as u64;
        for number in [count, self.postings, set_bytes, self.ids.len() as u64] {
            documents.write(&number.to_le_bytes())?;
        }
        // The disk is waited for once, not once for each.
        let (documents, (keys, lists)) = rayon::join(
            || documents.finish(lasts),
            || rayon::join(|| keys.finish(lasts), || lists.finish(lasts)),
        );
        Ok(SegmentPrints {
            documents: documents?,
            keys: keys?,
            lists: lists?,
        })
    }
}

/// All documents, those first of whose keys the largest share is common.
fn mostly_common(common: &[u32], sizes: &[u32]) -> Vec<u32> {
    let share = |document: u32| {
        let place = document as usize;
        Score::new(common[place], sizes[place].max(1))
    };
    let mut documents: Vec<u32> = (0..sizes.len() as u32).collect();
    documents.par_sort_by_key(|&document| (Reverse(share(document)), document));
    documents
}

/// How many of the longest lists a segment knows.
pub(super) const LONGEST: usize = 8;

/// Keeps the longest lists, the longest first.
pub(super) fn keep_longest(lists: &mut Vec<(u32, Key)>) {
    lists.sort_unstable_by_key(|&(length, key)| (Reverse(length), key));
    lists.truncate(LONGEST);
}

fn bytes_of<T: Copy, const N: usize>(numbers: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| bytes(number)).collect()
}

/// A part of the keys that is being written.
pub(super) struct PartWriter {
    geometry: Geometry,
    number: usize,
    groups: Vec<u8>,
    lists: Vec<u8>,
    /// Where each group starts, in keys, and the end.
    directory: Vec<u8>,
    keys: u32,
    /// The group that is being filled.
    group: usize,
    /// The longest lists so far.
    longest: Vec<(u32, Key)>,
}

impl PartWriter {
    /// A part that has about so many keys at the most.
    fn new(geometry: Geometry, number: usize, keys: usize) -> Self {
        // Keys are spread evenly, but for a few in a hundred.
        let room = (keys + keys / 32) * geometry.entry_bytes();
        Self {
            geometry,
            number,
            groups: Vec::with_capacity(room),
            lists: Vec::new(),
            directory: vec![0; 4],
            keys: 0,
            group: 0,
            longest: Vec::new(),
        }
    }

    /// The least and the largest key that belong here.
    pub(super) fn range(&self) -> (Key, Key) {
        self.geometry.keys(self.number)
    }

    /// Adds the next key, which is larger than the last, with the documents that have it, in
    /// order.
    pub(super) fn key(&mut self, key: Key, documents: &[u32]) {
        let group = self.geometry.group(key);
        while self.group < group {
            self.end_group();
        }
        let word = match documents {
            [only] => *only,
            _ => {
                let start = (self.lists.len() / 4) as u32;
                self.lists
                    .extend_from_slice(&(documents.len() as u32).to_le_bytes());
                let numbers = documents.iter().flat_map(|document| document.to_le_bytes());
                self.lists.extend(numbers);
                self.longest.push((documents.len() as u32, key));
                if self.longest.len() > 64 * LONGEST {
                    keep_longest(&mut self.longest);
                }
                start | IS_LIST
            }
        };
        self.geometry.write_entry(key, word, &mut self.groups);
        self.keys += 1;
    }

    fn end_group(&mut self) {
        self.directory.extend_from_slice(&self.keys.to_le_bytes());
        self.group += 1;
    }

    /// Counts, for each document, its keys that are common.
    fn count_common(&self, counts: &[AtomicU32]) {
        let mut words = self.lists.chunks_exact(4).map(|word| short_number(word, 0));
        while let Some(length) = words.next() {
            let documents = words.by_ref().take(length as usize);
            if length > RARE {
                for document in documents {
                    counts[document as usize].fetch_add(1, Ordering::Relaxed);
                }
            } else {
                documents.for_each(drop);
            }
        }
    }

    fn finish(&mut self) {
        while self.group < self.geometry.groups() {
            self.end_group();
        }
    }
}
