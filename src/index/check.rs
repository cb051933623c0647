//! Whether everything in an index is as it was written, and fits together.

use std::cmp::Reverse;

use super::Index;
use super::key::Key;
use super::segment::{Segment, prefix_part};
use super::writer::RARE;
use crate::error::{Error, ErrorKind};
use crate::score::Score;

/// What was met of a document while all keys were looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    keys: u32,
    prefixes: u64,
    common: u32,
    last: Option<Key>,
}

impl Index {
    /// Holds every page against its checksum, and what is said in one place against the others.
    /// The first thing that is wrong is the error.
    ///
    /// # Errors
    /// If something is wrong.
    pub fn check(&self) -> Result<(), Error> {
        for (number, segment) in self.segments.iter().enumerate() {
            segment.check_pages()?;
            check_keys(segment)?;
            for document in 0..segment.count() {
                if segment.removed.contains(document) {
                    continue;
                }
                let id = segment.id(document)?;
                let others = &self.segments[number + 1..];
                let elsewhere = others.iter().map(|other| other.find_id(id));
                let twice = elsewhere
                    .collect::<Result<Vec<_>, _>>()?
                    .iter()
                    .any(Option::is_some);
                if segment.find_id(id)? != Some(document) || twice {
                    return Err(self.wrong(&format!("the id {id} does not lead to its document")));
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Error {
        let name = self.folder.to_string_lossy();
        Error::in_file(&name, ErrorKind::DamagedIndex(what.into()))
    }
}

/// Goes through all keys: they are in order, lead to documents, and are those that the documents
/// say they have.
fn check_keys(segment: &Segment) -> Result<(), Error> {
    let mut met = vec![Met::default(); segment.count() as usize];
    let mut documents = Vec::new();
    let (mut keys, mut postings) = (0, 0);
    let mut cursor = segment.keys_from(Key(0));
    while let Some((key, found)) = cursor.next(Key(u64::MAX))? {
        segment.documents_of(found, &mut documents)?;
        keys += 1;
        postings += documents.len() as u64;
        for &document in &documents {
            let met = &mut met[document as usize];
            met.keys += 1;
            met.common += u32::from(documents.len() > RARE as usize);
            met.prefixes += prefix_part(key, met.last);
            met.last = Some(key);
        }
    }
    if (keys, postings) != (segment.key_count(), segment.postings()) {
        return Err(segment.wrong_list());
    }
    for (document, met) in (0..).zip(met) {
        let is_right = segment.prefix_sum(document)? == (met.keys, met.prefixes)
            && segment.common(document)? == met.common;
        if !is_right {
            return Err(segment.wrong_list());
        }
    }
    check_order(segment)
}

/// All documents are there by the share of their keys that is common, the largest first.
fn check_order(segment: &Segment) -> Result<(), Error> {
    let mut last: Option<(Reverse<Score>, u32)> = None;
    for place in 0..segment.count() {
        let document = segment.mostly_common(place)?;
        let share = Score::new(segment.common(document)?, segment.size(document)?.max(1));
        let next = (Reverse(share), document);
        if last.is_some_and(|last| last >= next) {
            return Err(segment.wrong_list());
        }
        last = Some(next);
    }
    Ok(())
}
