//! Several segments become one, without what was removed. The bytes are those that the same
//! documents would have given if they had been added at once.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::key::Key;
use super::keys::{KeyCursor, Postings};
use super::manifest::SegmentEntry;
use super::segment::Segment;
use super::writer::{Making, PartWriter, SegmentWriter};
use crate::error::Error;

/// A segment, and what its documents become.
struct Source {
    segment: Segment,
    /// The number of its first document in the new one.
    first: u32,
    /// For each document how many before it were removed; empty if none was.
    gone: Vec<u32>,
}

impl Source {
    /// The new number of a document, unless it was removed.
    fn number(&self, document: u32) -> Option<u32> {
        if self.segment.removed.contains(document) {
            return None;
        }
        let gone = self.gone.get(document as usize).copied().unwrap_or(0);
        Some(self.first + document - gone)
    }
}

/// Bytes of documents after which the memory is given back that they took.
const BYTES_AT_ONCE: usize = 8 << 20;

/// Merges segments into one of that number; `None` if nothing is left of them.
pub(super) fn merge(
    segments: &[SegmentEntry],
    folder: &Path,
    number: u64,
    making: Making,
) -> Result<Option<SegmentEntry>, Error> {
    if segments.iter().all(|segment| segment.live() == 0) {
        return Ok(None);
    }
    let mut writer = SegmentWriter::create(folder, number, making)?;
    let mut sources = Vec::new();
    let mut first = 0;
    for entry in segments {
        let mut segment = Segment::open(folder, entry)?;
        let has_removed = segment.removed.count() > 0;
        let (mut gone, mut so_far) = (Vec::new(), 0);
        segment.forget()?;
        let (mut bytes, mut postings) = (0, 0);
        for document in 0..segment.count() {
            if bytes > BYTES_AT_ONCE {
                segment.forget()?;
                bytes = 0;
            }
            if has_removed {
                gone.push(so_far);
            }
            let entry = segment.document(document)?;
            postings += u64::from(entry.size);
            match segment.removed.contains(document) {
                true => so_far += 1,
                false => {
                    bytes += entry.record.len() + entry.id.len();
                    writer.document(entry)?;
                }
            }
        }
        // How the new segment is laid out follows from this number.
        if postings != segment.postings() {
            return Err(segment.wrong_counts(&format!(
                "its documents have {postings} shingles, not {} as it says",
                segment.postings()
            )));
        }
        segment.forget()?;
        let live = segment.live();
        sources.push(Source {
            segment,
            first,
            gone,
        });
        first += live;
    }
    let sources = RwLock::new(sources);
    let fill = |part: &mut PartWriter| {
        let sources = sources.read().unwrap_or_else(PoisonError::into_inner);
        fill(&sources, part)
    };
    let forget = || {
        let mut sources = sources.write().unwrap_or_else(PoisonError::into_inner);
        sources
            .iter_mut()
            .try_for_each(|source| source.segment.forget())
    };
    let prints = writer.finish(fill, forget)?;
    Ok(Some(SegmentEntry {
        number,
        documents: u64::from(first),
        prints,
        removed: None,
    }))
}

/// The keys of a part, from all segments.
fn fill(sources: &[Source], part: &mut PartWriter) -> Result<(), Error> {
    let (first, last) = part.range();
    let mut cursors: Vec<KeyCursor<'_>> = sources
        .iter()
        .map(|source| source.segment.keys_from(first))
        .collect();
    // The next key of each, and its documents; the largest key and none at the end.
    let mut keys = vec![Key(u64::MAX); sources.len()];
    let mut postings: Vec<Option<Postings>> = vec![None; sources.len()];
    let mut advance = |source: usize, keys: &mut [Key], postings: &mut [Option<Postings>]| {
        let next = cursors[source].next(last)?;
        keys[source] = next.map_or(Key(u64::MAX), |(key, _)| key);
        postings[source] = next.map(|(_, postings)| postings);
        Ok::<_, Error>(())
    };
    for source in 0..sources.len() {
        advance(source, &mut keys, &mut postings)?;
    }
    let (mut documents, mut own) = (Vec::new(), Vec::new());
    while let Some(&key) = keys.iter().min() {
        documents.clear();
        let mut is_there = false;
        for (place, source) in sources.iter().enumerate() {
            let Some(found) = postings[place].filter(|_| keys[place] == key) else {
                continue;
            };
            is_there = true;
            match found {
                Postings::One(document) => documents.extend(source.number(document)),
                Postings::Many(_) => {
                    source.segment.documents_of(found, &mut own)?;
                    documents.extend(own.iter().filter_map(|&document| source.number(document)));
                }
            }
            advance(place, &mut keys, &mut postings)?;
        }
        if !is_there {
            break;
        }
        if !documents.is_empty() {
            part.key(key, &documents);
        }
    }
    Ok(())
}
