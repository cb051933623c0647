//! Documents on their way into a segment: their keys in memory, dealt out by their first bits, so
//! that each share can be sorted by itself.

use std::path::Path;

use super::key::{Key, keys_of};
use super::manifest::SegmentEntry;
use super::record;
use super::writer::{DocumentEntry, Making, PartWriter, SegmentWriter};
use crate::error::Error;
use crate::shingle::Shingle;

/// The keys of a block of documents.
#[derive(Debug, Default)]
pub(crate) struct KeyBlock {
    keys: Vec<Key>,
    records: Vec<u8>,
    /// For each document, where its keys and its record end.
    ends: Vec<(usize, usize)>,
    own: Vec<Key>,
}

impl KeyBlock {
    /// Takes the next document, with its fields.
    pub(crate) fn push(&mut self, shingles: &[Shingle], fields: &str) {
        keys_of(shingles, &mut self.own);
        record::write(&self.own, fields, &mut self.records);
        self.keys.append(&mut self.own);
        self.ends.push((self.keys.len(), self.records.len()));
    }

    /// The keys of the last document.
    pub(crate) fn last(&self) -> &[Key] {
        let end = self
            .ends
            .len()
            .checked_sub(2)
            .map_or(0, |place| self.ends[place].0);
        &self.keys[end..]
    }

    /// The keys and the record of each document.
    pub(super) fn documents(&self) -> impl Iterator<Item = (&[Key], &[u8])> {
        let mut start = (0, 0);
        self.ends.iter().map(move |&end| {
            let (keys, record) = (start.0..end.0, start.1..end.1);
            start = end;
            (&self.keys[keys], &self.records[record])
        })
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.keys[..]) + self.records.len() + size_of_val(&self.ends[..])
    }
}

/// The first bits of a key that say which share it is in.
const SHARE_BITS: u32 = 8;

/// Documents and their keys, in memory.
#[derive(Debug)]
pub(super) struct Run {
    shares: Vec<Share>,
    ids: String,
    records: Vec<u8>,
    /// For each document, where its id and its record end, and how many keys it has.
    documents: Vec<(usize, usize, u32)>,
    postings: usize,
}

/// Keys with the same first bits, and the document of each. They stand in blocks, so that no more
/// room is taken than is used, but for a part of the last one.
#[derive(Clone, Debug, Default)]
struct Share {
    full: Vec<Postings>,
    last: Postings,
}

/// Keys, and the document of each.
#[derive(Clone, Debug, Default)]
struct Postings {
    keys: Vec<u64>,
    documents: Vec<u32>,
}

/// Keys in a block.
const BLOCK_KEYS: usize = 1 << 10;

impl Share {
    #[inline]
    fn push(&mut self, key: u64, document: u32) {
        if self.last.keys.len() == BLOCK_KEYS {
            let next = Postings {
                keys: Vec::with_capacity(BLOCK_KEYS),
                documents: Vec::with_capacity(BLOCK_KEYS),
            };
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.keys.push(key);
        self.last.documents.push(document);
    }

    /// All keys, each with its document.
    fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let blocks = self.full.iter().chain([&self.last]);
        blocks.flat_map(|Postings { keys, documents }| {
            keys.iter().copied().zip(documents.iter().copied())
        })
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            shares: vec![Share::default(); 1 << SHARE_BITS],
            ids: String::new(),
            records: Vec::new(),
            documents: Vec::new(),
            postings: 0,
        }
    }
}

impl Run {
    /// Adds a document.
    pub(super) fn push(&mut self, id: &str, keys: &[Key], record: &[u8]) {
        let document = self.documents.len() as u32;
        for &Key(key) in keys {
            self.shares[(key >> (64 - SHARE_BITS)) as usize].push(key, document);
        }
        self.ids.push_str(id);
        self.records.extend_from_slice(record);
        let (ids, records) = (self.ids.len(), self.records.len());
        self.documents.push((ids, records, keys.len() as u32));
        self.postings += keys.len();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.postings * 12 + self.ids.len() + self.records.len() + size_of_val(&self.documents[..])
    }

    /// Writes the segment of that number.
    pub(super) fn write(
        &self,
        folder: &Path,
        number: u64,
        making: Making,
    ) -> Result<SegmentEntry, Error> {
        let mut writer = SegmentWriter::create(folder, number, making)?;
        let mut start = (0, 0);
        for &(id_end, record_end, size) in &self.documents {
            writer.document(DocumentEntry {
                id: &self.ids[start.0..id_end],
                size,
                record: &self.records[start.1..record_end],
            })?;
            start = (id_end, record_end);
        }
        let fill = |part: &mut PartWriter| {
            self.fill(part);
            Ok(())
        };
        let prints = writer.finish(fill, || Ok(()))?;
        Ok(SegmentEntry {
            number,
            documents: self.documents.len() as u64,
            prints,
            removed: None,
        })
    }

    fn fill(&self, part: &mut PartWriter) {
        let (first, last) = part.range();
        let share = |key: Key| (key.0 >> (64 - SHARE_BITS)) as usize;
        let mut postings: Vec<(u64, u32)> = Vec::new();
        let mut documents: Vec<u32> = Vec::new();
        for share in &self.shares[share(first)..=share(last)] {
            postings.clear();
            postings.extend(
                share
                    .iter()
                    .filter(|&(key, _)| (first.0..=last.0).contains(&key)),
            );
            postings.sort_unstable();
            for same in postings.chunk_by(|one, two| one.0 == two.0) {
                documents.clear();
                documents.extend(same.iter().map(|&(_, document)| document));
                part.key(Key(same[0].0), &documents);
            }
        }
    }
}
