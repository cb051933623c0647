//! Whether everything in an index is as it was written, and fits together.

use std::cmp::Reverse;

use super::Index;
use super::key::Key;
use super::segment::{Segment, WRONG_PLACE, prefix_part};
use super::writer::{LONGEST, RARE, keep_longest};
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
            segment.check_ids()?;
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
    let mut longest = Vec::new();
    let mut cursor = segment.keys_from(Key(0));
    while let Some((key, found)) = cursor.next(Key(u64::MAX))? {
        segment.documents_of(found, &mut documents)?;
        keys += 1;
        postings += documents.len() as u64;
        if documents.len() > 1 {
            longest.push((documents.len() as u32, key));
            if longest.len() > 64 * LONGEST {
                keep_longest(&mut longest);
            }
        }
        for &document in &documents {
            let met = &mut met[document as usize];
            met.keys += 1;
            met.common += u32::from(documents.len() > RARE as usize);
            met.prefixes += prefix_part(key, met.last);
            met.last = Some(key);
        }
    }
    let (said_keys, said_postings) = (segment.key_count(), segment.postings());
    if keys != said_keys {
        return Err(segment.wrong_counts(&format!(
            "there are {keys} different shingles, not {said_keys} as it says"
        )));
    }
    if postings != said_postings {
        return Err(segment.wrong_counts(&format!(
            "there are {postings} shingles of documents, not {said_postings} as it says"
        )));
    }
    keep_longest(&mut longest);
    let is_met =
        |(&(length, key), said): (&(u32, Key), &(u64, Key))| (u64::from(length), key) == *said;
    let said = segment.longest();
    if said.len() != longest.len() || !longest.iter().zip(said).all(is_met) {
        return Err(segment.wrong_counts("the most common shingles are not those that it names"));
    }
    for (document, met) in (0..).zip(met) {
        let (size, prefixes) = segment.prefix_sum(document)?;
        let (common, _) = segment.common(document)?;
        let wrong = |kind, there, said| {
            let what = format!("there are {there} {kind}shingles, not {said} as it says");
            Err(segment.wrong_document(document, &what))
        };
        segment.fields(document)?;
        if met.keys != size {
            return wrong("", met.keys, size);
        }
        if met.common != common {
            return wrong("common ", met.common, common);
        }
        if met.prefixes != prefixes {
            let what = "the beginnings of its shingles are not those that it has";
            return Err(segment.wrong_document(document, what));
        }
    }
    check_order(segment)
}

/// All documents are there by the share of their keys that is common, the largest first.
fn check_order(segment: &Segment) -> Result<(), Error> {
    let mut last: Option<(Reverse<Score>, u32)> = None;
    for place in 0..segment.count() {
        let document = segment.mostly_common(place)?;
        let (common, size) = segment.common(document)?;
        let share = Score::new(common, size.max(1));
        let next = (Reverse(share), document);
        if last.is_some_and(|last| last >= next) {
            return Err(segment.wrong_document(document, WRONG_PLACE));
        }
        last = Some(next);
    }
    Ok(())
}
