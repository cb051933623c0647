//! What a segment holds that is similar to a document.
//!
//! A document that shares enough of the n keys of the one that is asked about has at most n − s
//! of them not, where s is what it must share at the least: of any n − s + 1 of them, it has one.
//! Those are taken that few documents have, and their documents are the candidates. The other keys
//! are looked up only if there are candidates, to ask whether these have them.

use std::cmp::Reverse;

use super::key::Key;
use super::keys::{Lookup, NOT_IN_ORDER, Postings};
use super::segment::{Segment, WRONG_PLACE};
use super::writer::RARE;
use crate::error::Error;
use crate::score::{SetBound, Threshold};

/// What a document must share with the one that is asked about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Enough {
    /// What a measure and its threshold ask for.
    Similar(SetBound),
    /// This share of the keys that are asked for, found with at least this chance.
    Overlap {
        /// The share.
        share: Threshold,
        /// The chance; `None` for all.
        chance: Option<f64>,
    },
}

impl Enough {
    /// What any document must share with one of so many keys.
    fn least(self, size: u32) -> u32 {
        match self {
            Self::Similar(bound) => bound.shared_with_smaller(size),
            Self::Overlap { share, .. } => share.needed(size as usize) as u32,
        }
    }

    /// The measure, if a document that is smaller may have few of the keys.
    fn contained(self) -> Option<SetBound> {
        match self {
            Self::Similar(bound) if bound.shared_with_smaller(u32::MAX) == 1 => Some(bound),
            _ => None,
        }
    }

    /// What a document of another size must share with it.
    fn shared(self, size: u32, other: u32) -> u32 {
        match self {
            Self::Similar(bound) => bound.shared(size, other),
            Self::Overlap { .. } => self.least(size),
        }
    }

    /// Whether a document that has enough of the keys shares no fewer than a pair must.
    fn keeps(self, shared: u32) -> bool {
        match self {
            Self::Similar(bound) => bound.keeps(shared),
            Self::Overlap { .. } => true,
        }
    }

    /// How many keys bring candidates, if chance may decide.
    fn sampled_keys(self, size: u32) -> Option<usize> {
        match self {
            Self::Overlap {
                chance: Some(chance),
                ..
            } => Some(sample_size(size, self.least(size), chance) as usize),
            _ => None,
        }
    }
}

/// How many keys of `size`, of which a document has `shared`, must be looked up to meet one that
/// it has with this chance. The keys are taken in their own order, which is that of a hash.
fn sample_size(size: u32, shared: u32, chance: f64) -> u32 {
    let mut missed = 1.0;
    for taken in 0..size {
        if missed <= 1.0 - chance {
            return taken;
        }
        let others = f64::from(size - taken);
        missed *= (others - f64::from(shared)).max(0.0) / others;
    }
    size
}

/// A document of a segment, and how many keys it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    pub(crate) document: u32,
    pub(crate) shared: u32,
    /// How many keys it has.
    pub(crate) size: u32,
}

/// Keys that were looked up, and those that were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lookups {
    pub(crate) made: u64,
    pub(crate) spared: u64,
    /// Documents that were looked at.
    pub(crate) candidates: u64,
    /// Documents at the threshold that were left out, as they share too few keys.
    pub(crate) pruned_by_min_shared: u64,
}

/// Keys that are looked up at a time, before it is asked whether enough are there.
const KEYS_AT_ONCE: usize = 64;

/// What a candidate costs more than a document of a list that is followed.
const EXTRA_COST: u64 = 64;

/// Documents that are counted at a time.
const WINDOW: u32 = 1 << 15;

/// Room to search in.
#[derive(Debug, Default)]
pub(crate) struct Searcher {
    /// The documents of keys, those that fewest have first.
    found: Vec<Postings>,
    /// How far each list has been followed.
    places: Vec<u32>,
    counts: Vec<u32>,
    touched: Vec<u32>,
    candidates: Vec<Candidate>,
    /// More candidates, the first one last.
    extra: Vec<u32>,
    lookup: Lookup,
    pub(crate) lookups: Lookups,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    document: u32,
    shared: u32,
    size: u32,
    needed: u32,
}

impl Searcher {
    /// Gives those documents of a segment but one that share enough with a document of these keys,
    /// in order. The keys are in order, too.
    pub(super) fn search(
        &mut self,
        segment: &Segment,
        keys: &[Key],
        but: Option<u32>,
        enough: Enough,
        mut each: impl FnMut(Shared),
    ) -> Result<(), Error> {
        let size = keys.len() as u32;
        if size == 0 || segment.count() == 0 {
            return Ok(());
        }
        // So many keys may be missing in a document that has enough of the others.
        let may_miss = keys.len() - enough.least(size) as usize;
        let sampled = enough.sampled_keys(size);
        self.found.clear();
        let (mut looked_up, mut rare) = (0, 0);
        let mut rest = &keys[..sampled.unwrap_or(keys.len())];
        // If nothing is similar, most often the first keys that can tell do so.
        let mut at_once = may_miss + 1;
        while !rest.is_empty() {
            let part;
            (part, rest) = rest.split_at(at_once.min(rest.len()));
            at_once = KEYS_AT_ONCE;
            let start = self.found.len();
            segment.find_all(part, &mut self.lookup, &mut self.found)?;
            let is_rare = |found: &&Postings| found.len() <= RARE;
            rare += self.found[start..].iter().filter(is_rare).count();
            looked_up += part.len();
            let missing = looked_up - self.found.len();
            if missing > may_miss || sampled.is_none() && missing + rare > may_miss {
                break;
            }
        }
        let missing = looked_up - self.found.len();
        self.lookups.made += looked_up as u64;
        self.lookups.spared += (keys.len() - looked_up) as u64;
        if missing > may_miss || self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(Postings::len);
        self.extra.clear();
        let leading = match (sampled, enough.contained()) {
            (Some(_), _) => self.found.len(),
            (None, None) => (may_miss - missing + 1).min(self.found.len()),
            (None, Some(bound)) => self.lead_to_contained(segment, size, missing, bound)?,
        };
        let mut others = &keys[looked_up..];
        self.places.clear();
        self.places.resize(self.found.len(), 0);
        self.counts.resize(WINDOW as usize, 0);
        while let Some(start) = self.next_document(segment, leading)? {
            let start = start / WINDOW * WINDOW;
            self.count(segment, leading, start)?;
            let others_found = self.found.len() - leading + others.len();
            self.select(segment, size, enough, others_found as u32, start)?;
            if self.candidates.is_empty() {
                continue;
            }
            if !others.is_empty() {
                segment.find_all(others, &mut self.lookup, &mut self.found)?;
                self.lookups.made += others.len() as u64;
                self.lookups.spared -= others.len() as u64;
                others = &[];
                self.found[leading..].sort_by_key(Postings::len);
                self.places.resize(self.found.len(), 0);
            }
            self.complete(segment, leading)?;
            for candidate in &self.candidates {
                if candidate.shared > candidate.size {
                    return Err(has_more(segment, candidate.document));
                }
                if candidate.shared < candidate.needed || Some(candidate.document) == but {
                    continue;
                }
                if enough.keeps(candidate.shared) {
                    each(Shared {
                        document: candidate.document,
                        shared: candidate.shared,
                        size: candidate.size,
                    });
                } else {
                    self.lookups.pruned_by_min_shared += 1;
                }
            }
        }
        Ok(())
    }

    /// How many keys lead to all candidates where a document that is smaller may have few of the
    /// keys. One with no key that is rare has common ones only, and so many that they are most of
    /// it: if there are few such documents, they are candidates, and no common key is followed.
    fn lead_to_contained(
        &mut self,
        segment: &Segment,
        size: u32,
        missing: usize,
        bound: SetBound,
    ) -> Result<usize, Error> {
        let may_miss = (size - bound.shared_with_larger(size)) as usize;
        let for_larger = (may_miss + 1).saturating_sub(missing);
        let rare = self.found.partition_point(|found| found.len() <= RARE);
        let leading = for_larger.max(rare).min(self.found.len());
        let common = &self.found[leading..];
        let follow: u64 = common.iter().map(|found| u64::from(found.len())).sum();
        let is_mostly = |document| -> Result<bool, Error> {
            let (common, own) = segment.common(document)?;
            Ok(own > 0 && common >= bound.shared_with_larger(own))
        };
        let (mut low, mut high) = (0, segment.count());
        while low < high {
            let middle = low + (high - low) / 2;
            match is_mostly(segment.mostly_common(middle)?)? {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        if u64::from(low) * EXTRA_COST >= follow {
            return Ok(self.found.len());
        }
        for place in 0..low {
            let document = segment.mostly_common(place)?;
            if (1..size).contains(&segment.size(document)?) {
                self.extra.push(document);
            }
        }
        self.extra
            .sort_unstable_by_key(|&document| Reverse(document));
        match self.extra.windows(2).find(|two| two[0] == two[1]) {
            Some(twice) => Err(segment.wrong_document(twice[0], WRONG_PLACE)),
            None => Ok(leading),
        }
    }

    /// The first document that has not been counted yet.
    fn next_document(&self, segment: &Segment, leading: usize) -> Result<Option<u32>, Error> {
        let mut first = self.extra.last().copied();
        for (found, &place) in self.found[..leading].iter().zip(&self.places) {
            let document = match *found {
                _ if place >= found.len() => continue,
                Postings::One(document) => document,
                Postings::Many(list) => segment.listed(list, place)?,
            };
            first = Some(first.map_or(document, |first: u32| first.min(document)));
        }
        Ok(first)
    }

    /// Counts how many of the leading keys each document of a window has.
    fn count(&mut self, segment: &Segment, leading: usize, start: u32) -> Result<(), Error> {
        self.touched.clear();
        let Self {
            found,
            places,
            counts,
            touched,
            extra,
            ..
        } = self;
        let mut take = |document: u32| {
            let count = &mut counts[(document - start) as usize];
            if *count == 0 {
                touched.push(document);
            }
            *count += 1;
        };
        let end = (start + WINDOW).min(segment.count());
        for (found, place) in found[..leading].iter().zip(places) {
            match *found {
                Postings::One(document) => {
                    if *place == 0 && (start..end).contains(&document) {
                        take(document);
                        *place = 1;
                    }
                }
                Postings::Many(list) => {
                    let until = segment.first_from(list, end, *place)?;
                    let bytes = segment.listed_bytes(list, *place, until)?;
                    // In order, so that a document is not counted twice for a key.
                    let mut least = start;
                    for document in bytes.chunks_exact(4) {
                        let document = super::checked::short_number(document, 0);
                        if document < least || document >= end {
                            return Err(segment.wrong_list(list, NOT_IN_ORDER));
                        }
                        least = document + 1;
                        take(document);
                    }
                    *place = until;
                }
            }
        }
        while let Some(document) = extra.pop_if(|document| *document < end) {
            if counts[(document - start) as usize] == 0 {
                touched.push(document);
            }
        }
        touched.sort_unstable();
        Ok(())
    }

    /// The documents that may have enough, and forgets the counts.
    fn select(
        &mut self,
        segment: &Segment,
        size: u32,
        enough: Enough,
        others: u32,
        start: u32,
    ) -> Result<(), Error> {
        self.candidates.clear();
        for &document in &self.touched {
            let shared = std::mem::take(&mut self.counts[(document - start) as usize]);
            if segment.removed.contains(document) {
                continue;
            }
            let other = segment.size(document)?;
            if shared > other {
                return Err(has_more(segment, document));
            }
            let needed = enough.shared(size, other);
            if shared + others >= needed {
                self.candidates.push(Candidate {
                    document,
                    shared,
                    size: other,
                    needed,
                });
            }
        }
        self.lookups.candidates += self.candidates.len() as u64;
        Ok(())
    }

    /// Counts the other keys of the candidates, as long as they may still have enough.
    fn complete(&mut self, segment: &Segment, leading: usize) -> Result<(), Error> {
        let others = self.found.len() - leading;
        let Self {
            found,
            places,
            candidates,
            ..
        } = self;
        for (index, (found, place)) in found[leading..]
            .iter()
            .zip(&mut places[leading..])
            .enumerate()
        {
            if candidates.is_empty() {
                break;
            }
            match *found {
                Postings::One(document) => {
                    let at =
                        candidates.binary_search_by_key(&document, |candidate| candidate.document);
                    if let Ok(at) = at {
                        candidates[at].shared += 1;
                    }
                }
                Postings::Many(list) => {
                    for candidate in candidates.iter_mut() {
                        *place = segment.first_from(list, candidate.document, *place)?;
                        if *place == found.len() {
                            break;
                        }
                        if segment.listed(list, *place)? == candidate.document {
                            candidate.shared += 1;
                        }
                    }
                }
            }
            let rest = (others - index - 1) as u32;
            candidates.retain(|candidate| candidate.shared + rest >= candidate.needed);
        }
        Ok(())
    }
}

/// A document is in more lists than it has shingles.
#[cold]
fn has_more(segment: &Segment, document: u32) -> Error {
    segment.wrong_document(document, "more shingles are found than it has")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_meets_a_document_as_often_as_it_says() {
        // Of ten keys, five are shared: one is met with a half, two miss with 5/10 × 4/9.
        assert_eq!(sample_size(10, 5, 0.5), 1);
        assert_eq!(sample_size(10, 5, 0.51), 2);
        assert_eq!(sample_size(10, 5, 0.78), 3);
        assert_eq!(sample_size(10, 5, 1.0), 6);
        assert_eq!(sample_size(10, 10, 0.99), 1);
        assert_eq!(sample_size(10, 1, 0.95), 10);
    }
}
