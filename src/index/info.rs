//! What an index is made of, in numbers.

use std::cmp::Reverse;

use serde::Serialize;

use super::Index;
use super::keys::Postings;
use super::tiers;
use crate::error::Error;

/// What an index is made of.
#[derive(Clone, Debug, Serialize)]
pub struct IndexInfo {
    /// The version of the format.
    pub format: u32,
    /// Documents that are there.
    pub documents: u64,
    /// Documents that were removed, and still take room.
    pub removed: u64,
    /// Shingles of all documents, those that were removed among them.
    pub postings: u64,
    /// The settings that made the documents.
    pub settings: serde_json::Value,
    /// Bytes of ids and sizes, of shingles, and of lists of documents.
    pub document_bytes: u64,
    /// Bytes of shingles.
    pub key_bytes: u64,
    /// Bytes of lists of documents.
    pub list_bytes: u64,
    /// How often a document is written anew, at the most, until the index is twice as large.
    pub rewrites_per_doubling: u64,
    /// The segments, in the order in which their documents were added.
    pub segments: Vec<SegmentInfo>,
    /// The shingles that most documents have.
    pub longest: Vec<LongList>,
}

/// What a segment is made of.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SegmentInfo {
    /// The number of its files.
    pub number: u64,
    /// Documents that are there.
    pub documents: u64,
    /// Documents that were removed.
    pub removed: u64,
    /// Different shingles.
    pub shingles: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// A shingle that many documents have.
#[derive(Clone, Debug, Serialize)]
pub struct LongList {
    /// How many have it, those that were removed among them.
    pub documents: u64,
    /// Ids of some of them.
    pub sample: Vec<String>,
}

/// Documents of a list that are shown.
const SAMPLE: usize = 3;

impl Index {
    /// What it is made of.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn info(&self) -> Result<IndexInfo, Error> {
        let bytes = |part: usize| {
            self.segments
                .iter()
                .map(|segment| segment.bytes()[part])
                .sum()
        };
        let mut info = IndexInfo {
            format: self.manifest.simdup_index,
            documents: self.len(),
            removed: self
                .segments
                .iter()
                .map(|one| u64::from(one.removed.count()))
                .sum(),
            postings: self.segments.iter().map(|one| one.postings()).sum(),
            settings: serde_json::to_value(&self.manifest.settings).unwrap_or_default(),
            document_bytes: bytes(0),
            key_bytes: bytes(1),
            list_bytes: bytes(2),
            rewrites_per_doubling: tiers::REWRITES_PER_DOUBLING,
            segments: Vec::new(),
            longest: Vec::new(),
        };
        for (segment, entry) in self.segments.iter().zip(&self.manifest.segments) {
            info.segments.push(SegmentInfo {
                number: entry.number,
                documents: u64::from(segment.live()),
                removed: u64::from(segment.removed.count()),
                shingles: segment.key_count(),
                bytes: segment.bytes().iter().sum(),
            });
        }
        let longest = self.segments.iter().flat_map(|one| one.longest());
        let mut keys: Vec<_> = longest.map(|&(_, key)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let mut list = LongList {
                documents: 0,
                sample: Vec::new(),
            };
            for segment in &self.segments {
                let Some(postings) = segment.find(key)? else {
                    continue;
                };
                list.documents += u64::from(postings.len());
                let first = match postings {
                    Postings::One(document) => vec![document],
                    Postings::Many(many) => (0..postings.len().min(SAMPLE as u32))
                        .map(|place| segment.listed(many, place))
                        .collect::<Result<_, _>>()?,
                };
                for document in first {
                    if list.sample.len() < SAMPLE {
                        list.sample.push(segment.id(document)?.to_owned());
                    }
                }
            }
            info.longest.push(list);
        }
        info.longest.sort_by_key(|list| Reverse(list.documents));
        info.longest.truncate(super::writer::LONGEST);
        Ok(info)
    }
}
