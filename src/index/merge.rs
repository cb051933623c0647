//! Several segments become one, without what was removed. The bytes are those that the same
//! documents would have given if they had been added at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::key::Key;
use super::manifest::SegmentEntry;
use super::segment::{KeyCursor, Postings, Segment};
use super::writer::{PartWriter, SegmentWriter};
use crate::error::Error;

/// A segment, and what its documents become.
struct Source<'a> {
    segment: &'a Segment,
    /// The number of its first document in the new one.
    first: u32,
    /// For each document how many before it were removed; empty if none was.
    gone: Vec<u32>,
}

impl Source<'_> {
    /// The new number of a document, unless it was removed.
    fn number(&self, document: u32) -> Option<u32> {
        if self.segment.removed.contains(document) {
            return None;
        }
        let gone = self.gone.get(document as usize).copied().unwrap_or(0);
        Some(self.first + document - gone)
    }
}

/// Merges segments into one of that number; `None` if nothing is left of them.
pub(super) fn merge(
    segments: &[&Segment],
    folder: &Path,
    number: u64,
) -> Result<Option<SegmentEntry>, Error> {
    if segments.iter().all(|segment| segment.live() == 0) {
        return Ok(None);
    }
    let mut writer = SegmentWriter::create(folder, number)?;
    let mut sources = Vec::new();
    let mut first = 0;
    for &segment in segments {
        segment.read_in_order();
        let has_removed = segment.removed.count() > 0;
        let (mut gone, mut so_far) = (Vec::new(), 0);
        for document in 0..segment.count() {
            if has_removed {
                gone.push(so_far);
            }
            match segment.removed.contains(document) {
                true => so_far += 1,
                false => writer.document(segment.document(document)?)?,
            }
        }
        sources.push(Source {
            segment,
            first,
            gone,
        });
        first += segment.live();
    }
    let prints = writer.finish(|part| fill(&sources, part))?;
    Ok(Some(SegmentEntry {
        number,
        documents: u64::from(first),
        prints,
        removed: None,
    }))
}

/// The keys of a part, from all segments.
fn fill(sources: &[Source<'_>], part: &mut PartWriter) -> Result<(), Error> {
    let (first, last) = part.range();
    let mut cursors: Vec<KeyCursor<'_>> = sources
        .iter()
        .map(|source| source.segment.keys_from(first))
        .collect();
    let mut heads: BinaryHeap<Reverse<(Key, usize)>> = BinaryHeap::new();
    let mut postings: Vec<Option<Postings>> = vec![None; cursors.len()];
    let mut advance = |source: usize, postings: &mut Vec<Option<Postings>>| {
        let next = cursors[source].next(last)?;
        postings[source] = next.map(|(_, postings)| postings);
        Ok::<_, Error>(next.map(|(key, _)| key))
    };
    for source in 0..sources.len() {
        heads.extend(advance(source, &mut postings)?.map(|key| Reverse((key, source))));
    }
    let (mut documents, mut own) = (Vec::new(), Vec::new());
    while let Some(&Reverse((key, _))) = heads.peek() {
        documents.clear();
        while let Some(mut head) = heads.peek_mut()
            && head.0.0 == key
        {
            let source = head.0.1;
            if let Some(postings) = postings[source] {
                sources[source].segment.documents_of(postings, &mut own)?;
                documents.extend(
                    own.iter()
                        .filter_map(|&document| sources[source].number(document)),
                );
            }
            match advance(source, &mut postings)? {
                Some(next) => head.0.0 = next,
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
            }
        }
        if !documents.is_empty() {
            part.key(key, &documents);
        }
    }
    Ok(())
}
