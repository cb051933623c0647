//! In how many documents each term is, counted or from a file.
//!
//! The file is text: a line `simdup-df`, the version and the number of documents, then a line for
//! each term as it is compared and the number of documents that have it, sorted by the terms'
//! bytes; tabs between.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufRead, Write};

use crate::error::{Error, ErrorKind, Place};
use crate::shingle::token_hash;

const NAME: &str = "simdup-df";
const VERSION: &str = "1";

/// In how many documents each term is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentFrequencies {
    documents: u64,
    by_hash: HashMap<u64, u32, ahash::RandomState>,
    counts: Vec<u32>,
    /// Of each term, unless nobody asked for them.
    spellings: Vec<Box<str>>,
}

impl DocumentFrequencies {
    /// Reads what [`DocumentFrequencies::write`] wrote. `name` is for errors.
    ///
    /// # Errors
    /// If it cannot be read, or is something else.
    pub fn read(name: &str, mut input: impl BufRead) -> Result<Self, Error> {
        let mut found = Self::default();
        let mut line = String::new();
        let (mut number, mut byte) = (0, 0);
        loop {
            line.clear();
            let at = |what: ErrorKind| Error {
                place: Place {
                    record: Some(number + 1),
                    byte: Some(byte),
                    ..Place::file(name)
                },
                kind: what,
            };
            let length = input.read_line(&mut line).map_err(|error| {
                at(match error.kind() {
                    io::ErrorKind::InvalidData => ErrorKind::Utf8,
                    _ => ErrorKind::Unreadable(error),
                })
            })?;
            if length == 0 && number > 0 {
                return Ok(found);
            }
            let text = line.strip_suffix('\n').unwrap_or(&line);
            let wrong = || at(ErrorKind::NoFrequencies);
            if number == 0 {
                let mut parts = text.split('\t');
                if (parts.next(), parts.next()) != (Some(NAME), Some(VERSION)) {
                    return Err(wrong());
                }
                let documents = parts.next().and_then(|count| count.parse().ok());
                found.documents = documents
                    .filter(|&documents: &u64| documents < 1 << 32)
                    .ok_or_else(wrong)?;
            } else {
                let (term, count) = text.split_once('\t').ok_or_else(wrong)?;
                let count = count.parse().ok();
                let count = count
                    .filter(|&count: &u32| u64::from(count) <= found.documents)
                    .ok_or_else(wrong)?;
                match found.by_hash.entry(token_hash(term.as_bytes())) {
                    Entry::Vacant(entry) if !term.is_empty() => {
                        entry.insert(found.counts.len() as u32);
                        found.counts.push(count);
                    }
                    _ => return Err(wrong()),
                }
            }
            number += 1;
            byte += length as u64;
        }
    }

    /// Writes all, in an order that depends on the terms alone.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "{NAME}\t{VERSION}\t{}", self.documents)?;
        let mut terms: Vec<(&str, u32)> = self
            .spellings
            .iter()
            .map(AsRef::as_ref)
            .zip(self.counts.iter().copied())
            .collect();
        terms.sort_unstable();
        for (term, count) in terms {
            writeln!(output, "{term}\t{count}")?;
        }
        Ok(())
    }

    /// Number of documents.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of the term with this hash, if it has one.
    pub(crate) fn known(&self, hash: u64) -> Option<u32> {
        self.by_hash.get(&hash).copied()
    }

    /// In how many documents the term with this hash is.
    pub(crate) fn of_hash(&self, hash: u64) -> u32 {
        self.known(hash)
            .map_or(0, |term| self.counts[term as usize])
    }

    /// In how many documents each term is.
    pub(crate) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Counts a document.
    pub(crate) fn add_document(&mut self) {
        self.documents += 1;
    }

    /// Counts a term, and gives its number.
    pub(crate) fn add_term(&mut self, hash: u64) -> u32 {
        let term = self.number(hash);
        self.counts[term as usize] += 1;
        term
    }

    /// The number of a term, whether it has been counted or not.
    pub(crate) fn number(&mut self, hash: u64) -> u32 {
        let next = self.counts.len() as u32;
        let term = *self.by_hash.entry(hash).or_insert(next);
        if term == next {
            self.counts.push(0);
        }
        term
    }

    /// Takes the spellings of the words of a block, each of which has been counted or belongs to
    /// a document that is not.
    pub(crate) fn spell(&mut self, spellings: HashMap<u64, Box<str>, ahash::RandomState>) {
        self.spellings.resize(self.counts.len(), Box::default());
        for (hash, spelling) in spellings {
            if let Some(&term) = self.by_hash.get(&hash) {
                let known = &mut self.spellings[term as usize];
                if known.is_empty() {
                    *known = spelling;
                }
            }
        }
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let spellings: usize = self.spellings.iter().map(|term| term.len() + 32).sum();
        (self.by_hash.capacity() * 17 + self.counts.capacity() * 4 + spellings) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<DocumentFrequencies, String> {
        DocumentFrequencies::read("df", text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut counted = DocumentFrequencies::default();
        for words in [&["sea", "sky"][..], &["sea"], &[]] {
            counted.add_document();
            let mut spellings = HashMap::default();
            for word in words {
                counted.add_term(token_hash(word.as_bytes()));
                spellings.insert(token_hash(word.as_bytes()), (*word).into());
            }
            counted.spell(spellings);
        }
        let mut text = vec![];
        counted.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "simdup-df\t1\t3\nsea\t2\nsky\t1\n");
        let read = read(&text).unwrap();
        assert_eq!(read.documents(), 3);
        for word in ["sea", "sky", "other"] {
            let hash = token_hash(word.as_bytes());
            assert_eq!(read.of_hash(hash), counted.of_hash(hash));
        }
    }

    #[test]
    fn other_files_are_refused_with_their_place() {
        for (text, place) in [
            ("", "record 1"),
            ("robots\n", "record 1"),
            ("simdup-df\t2\t3\n", "record 1"),
            ("simdup-df\t1\tx\n", "record 1"),
            ("simdup-df\t1\t3\nsea\t4\n", "record 2"),
            ("simdup-df\t1\t3\nsea\t1\nsea\t1\n", "record 3"),
            ("simdup-df\t1\t3\nsea 1\n", "record 2"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(place), "{said}");
        }
    }
}
