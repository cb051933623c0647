//! The keys of a segment: which documents have one, and all of them in order.

use super::checked::short_number;
use super::geometry::{Found, IS_LIST, WORD_BYTES};
use super::key::Key;
use super::segment::Files;
use crate::error::Error;

/// The documents that have a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Postings {
    One(u32),
    Many(List),
}

/// A list of documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// Where it starts in the file of lists, in words.
    start: u64,
    length: u32,
}

/// Wrong about a list.
pub(super) const NOT_IN_ORDER: &str = "they are not in order";

impl Postings {
    /// How many documents.
    pub(super) fn len(&self) -> u32 {
        match self {
            Self::One(_) => 1,
            Self::Many(list) => list.length,
        }
    }
}

impl Files {
    /// The documents that have a key, those that were removed among them.
    pub(super) fn find(&self, key: Key) -> Result<Option<Postings>, Error> {
        let mut found = Vec::new();
        self.find_all(&[key], &mut Lookup::default(), &mut found)?;
        Ok(found.pop())
    }

    /// Appends the documents of each key that is there. The steps are taken for all keys at a
    /// time, so that memory is waited for once and not once for each key.
    pub(super) fn find_all(
        &self,
        keys: &[Key],
        lookup: &mut Lookup,
        found: &mut Vec<Postings>,
    ) -> Result<(), Error> {
        let Lookup { groups, words } = lookup;
        groups.clear();
        for &key in keys {
            let part = self.geometry.part(key);
            groups.push(self.group_place(part, self.geometry.group(key))?);
        }
        // What is found in a group decides what comes next, and would be waited for: one look at
        // where each key should be has all of them fetched.
        let size = self.geometry.entry_bytes() as u64;
        let seen = keys
            .iter()
            .zip(&*groups)
            .fold(0, |seen, (&key, &(start, count))| {
                let guess = self.geometry.guess(key, count) as u64;
                seen ^ self.keys.peek((start + guess) * size)
            });
        std::hint::black_box(seen);
        words.clear();
        for (&key, &(start, count)) in keys.iter().zip(&*groups) {
            if let Some(word) = self.word(key, start, count)? {
                words.push((self.geometry.part(key), word));
            }
        }
        for &(part, word) in &*words {
            found.push(self.postings_of(part, word)?);
        }
        Ok(())
    }

    /// The word of a key, in a group that starts here. It is looked for around the place where it
    /// should be; in all of the group only if it may be further away.
    #[inline]
    fn word(&self, key: Key, start: u64, count: u32) -> Result<Option<u32>, Error> {
        const AROUND: u32 = 12;
        let geometry = self.geometry;
        let guess = geometry.guess(key, count) as u32;
        let (first, end) = (
            guess.saturating_sub(AROUND),
            guess.saturating_add(AROUND + 1).min(count),
        );
        let near = self.group_at(start + u64::from(first), end - first)?;
        let place = (guess - first) as usize;
        let found = match geometry.find(key, place, near) {
            Found::Entry(entry) => Some(entry),
            Found::Nothing => None,
            Found::Before if first == 0 => None,
            Found::Behind if end == count => None,
            Found::Before | Found::Behind => {
                match geometry.find(key, guess as usize, self.group_at(start, count)?) {
                    Found::Entry(entry) => Some(entry),
                    _ => None,
                }
            }
        };
        Ok(found.map(|entry| geometry.word_of(entry)))
    }

    /// The entries of a group.
    fn group(&self, part: usize, group: usize) -> Result<&[u8], Error> {
        let (start, count) = self.group_place(part, group)?;
        self.group_at(start, count)
    }

    /// Where a group starts, in keys, and how many it has.
    #[inline]
    fn group_place(&self, part: usize, group: usize) -> Result<(u64, u32), Error> {
        let index = part * (self.geometry.groups() + 1) + group;
        let at = self.directory + index as u64 * WORD_BYTES;
        let ends = self.keys.get(at, 2 * WORD_BYTES)?;
        let (start, end) = (short_number(ends, 0), short_number(ends, 4));
        let (first, behind) = (self.parts[part].0, self.parts[part + 1].0);
        match start <= end && first + u64::from(end) <= behind {
            true => Ok((first + u64::from(start), end - start)),
            false => Err(self.keys.wrong(at, "a group is not in its part")),
        }
    }

    #[inline]
    fn group_at(&self, start: u64, count: u32) -> Result<&[u8], Error> {
        let size = self.geometry.entry_bytes() as u64;
        self.keys.get(start * size, u64::from(count) * size)
    }

    /// What a word of a part means.
    fn postings_of(&self, part: usize, word: u32) -> Result<Postings, Error> {
        if word & IS_LIST == 0 {
            return match word < self.count {
                true => Ok(Postings::One(word)),
                false => Err(self
                    .keys
                    .wrong(self.directory, "a key leads to no document")),
            };
        }
        let start = self.parts[part].1 + u64::from(word & !IS_LIST);
        let length = self.lists.u32(start * WORD_BYTES)?;
        let end = start + 1 + u64::from(length);
        let what = match end <= self.parts[part + 1].1 {
            // One document stands in the entry of its key.
            true if length < 2 => "a list is too short",
            true => {
                return Ok(Postings::Many(List {
                    start: start + 1,
                    length,
                }));
            }
            false => "a list is longer than its part",
        };
        Err(self.lists.wrong(start * WORD_BYTES, what))
    }

    /// A list is not as it was written.
    #[cold]
    pub(super) fn wrong_list(&self, list: List, what: &str) -> Error {
        let at = list.start * WORD_BYTES;
        self.lists
            .wrong(at, &format!("of a list of documents, {what}"))
    }

    /// A document of a list.
    #[inline]
    pub(super) fn listed(&self, list: List, place: u32) -> Result<u32, Error> {
        let at = (list.start + u64::from(place)) * WORD_BYTES;
        let document = self.lists.u32(at)?;
        match document < self.count {
            true => Ok(document),
            false => Err(self.lists.wrong(at, "there is no such document")),
        }
    }

    /// Some documents of a list, each as 4 bytes.
    pub(super) fn listed_bytes(&self, list: List, from: u32, to: u32) -> Result<&[u8], Error> {
        let start = (list.start + u64::from(from)) * WORD_BYTES;
        self.lists.get(start, u64::from(to - from) * WORD_BYTES)
    }

    /// Replaces `documents` with those that have a key.
    pub(super) fn documents_of(
        &self,
        postings: Postings,
        documents: &mut Vec<u32>,
    ) -> Result<(), Error> {
        documents.clear();
        match postings {
            Postings::One(document) => documents.push(document),
            Postings::Many(list) => {
                let bytes = self.listed_bytes(list, 0, list.length)?;
                documents.extend(bytes.chunks_exact(4).map(|bytes| short_number(bytes, 0)));
                let is_right = documents.is_sorted_by(|one, two| one < two)
                    && documents.last().is_some_and(|&last| last < self.count);
                if !is_right {
                    return Err(self.wrong_list(list, NOT_IN_ORDER));
                }
            }
        }
        Ok(())
    }

    /// Whether a document has a key.
    pub(super) fn has(&self, postings: Postings, document: u32) -> Result<bool, Error> {
        match postings {
            Postings::One(only) => Ok(only == document),
            Postings::Many(list) => {
                let place = self.first_from(list, document, 0)?;
                Ok(place < list.length && self.listed(list, place)? == document)
            }
        }
    }

    /// The first place of a list, from a place on, whose document is not before this one.
    #[inline]
    pub(super) fn first_from(&self, list: List, document: u32, from: u32) -> Result<u32, Error> {
        let (mut low, mut step) = (from, 1);
        while low + step <= list.length && self.listed(list, low + step - 1)? < document {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(list.length);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.listed(list, middle)? < document {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// All keys from one on.
    pub(super) fn keys_from(&self, key: Key) -> KeyCursor<'_> {
        KeyCursor {
            segment: self,
            part: self.geometry.part(key),
            group: self.geometry.group(key),
            from: key,
            entries: &[],
            last: None,
            lists_end: 0,
        }
    }
}

/// Room to look keys up in.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    /// Where the group of each key is, and how many keys it has.
    groups: Vec<(u64, u32)>,
    /// Parts, and words of keys that are there.
    words: Vec<(usize, u32)>,
}

/// Goes through keys in order.
pub(super) struct KeyCursor<'a> {
    segment: &'a Files,
    part: usize,
    /// The next group.
    group: usize,
    from: Key,
    /// What is left of the group before it.
    entries: &'a [u8],
    /// The last key that was met.
    last: Option<Key>,
    /// Where the last list that was given ends, in words.
    lists_end: u64,
}

impl KeyCursor<'_> {
    /// The next key, if it is no more than this.
    pub(super) fn next(&mut self, most: Key) -> Result<Option<(Key, Postings)>, Error> {
        let Files { geometry, keys, .. } = self.segment;
        loop {
            if let Some((entry, entries)) = self.entries.split_at_checked(geometry.entry_bytes()) {
                // Its group is the one before the next.
                let key = geometry.key_of(self.part, self.group - 1, entry);
                let place = (geometry.part(key), geometry.group(key));
                let is_here = place == (self.part, self.group - 1);
                if !is_here || self.last.is_some_and(|last| last >= key) {
                    return Err(keys.wrong(self.segment.directory, "keys are not in order"));
                }
                if key > most {
                    return Ok(None);
                }
                self.entries = entries;
                self.last = Some(key);
                if key < self.from {
                    continue;
                }
                let word = geometry.word_of(entry);
                let postings = self.segment.postings_of(self.part, word)?;
                // Lists are in the order of their keys: none is gone through twice.
                if let Postings::Many(list) = postings {
                    if list.start <= self.lists_end {
                        return Err(self.segment.wrong_list(list, "it overlaps another"));
                    }
                    self.lists_end = list.start + u64::from(list.length);
                }
                return Ok(Some((key, postings)));
            }
            if self.group == geometry.groups() {
                (self.part, self.group) = (self.part + 1, 0);
            }
            if self.part >= geometry.parts() {
                return Ok(None);
            }
            if geometry.first_key(self.part, self.group) > most {
                return Ok(None);
            }
            self.entries = self.segment.group(self.part, self.group)?;
            self.group += 1;
        }
    }
}
