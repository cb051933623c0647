//! Which record is which document, where each record stands, and what it was when it was read.

use std::sync::Arc;

use crate::document::{Document, DocumentId};
use crate::error::Error;
use crate::read::Block;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is a document.
    Document(DocumentId),
    /// Its id is that of a document before it.
    Repeated(DocumentId),
    /// It could not be used.
    Unreadable,
}

/// A record as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenRecord {
    /// What it was; `None` if it could not be used.
    print: Option<u64>,
    /// Its number in its input, from 1.
    number: u64,
}

impl SeenRecord {
    pub(crate) fn new(block: &Block<'_>, document: &Result<Document<'_>, Error>) -> Self {
        match document {
            Ok(document) => Self {
                print: Some(record_print(document.record)),
                number: block.first_record + document.number + 1,
            },
            Err(error) => Self {
                print: None,
                number: error.place.record.unwrap_or(0),
            },
        }
    }
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace<'a> {
    /// The input's name.
    pub(crate) file: &'a str,
    /// Its number in the input, from 1; for line formats, the line.
    pub(crate) record: u64,
}

/// The records of a collection, in input order.
#[derive(Debug, Default)]
pub(crate) struct Records {
    fates: Vec<Fate>,
    prints: Vec<u64>,
    /// The inputs, each with its first record.
    files: Vec<(Arc<str>, usize)>,
    /// Records with their numbers: those that do not have the next number behind the record
    /// before. Empty lines make such gaps.
    numbers: Vec<(usize, u64)>,
}

impl Records {
    /// The records that follow are from this input.
    pub(crate) fn start(&mut self, file: &Arc<str>) {
        if self
            .files
            .last()
            .is_none_or(|(last, _)| !Arc::ptr_eq(last, file))
        {
            self.files.push((Arc::clone(file), self.fates.len()));
        }
    }

    /// Adds the next record that could be used, behind those before it that could not.
    pub(crate) fn push(&mut self, seen: &mut dyn Iterator<Item = SeenRecord>, fate: Fate) {
        for SeenRecord { print, number } in seen {
            let index = self.fates.len();
            if self.number(index) != Some(number) {
                self.numbers.push((index, number));
            }
            self.prints.push(print.unwrap_or(0));
            match print {
                None => self.fates.push(Fate::Unreadable),
                Some(_) => return self.fates.push(fate),
            }
        }
    }

    /// Adds records that could not be used.
    pub(crate) fn push_unreadable(&mut self, seen: &mut dyn Iterator<Item = SeenRecord>) {
        self.push(seen, Fate::Unreadable);
    }

    /// The number that a record has, or would have as the next one.
    fn number(&self, index: usize) -> Option<u64> {
        let behind = self.numbers.partition_point(|&(first, _)| first <= index);
        let &(first, number) = self.numbers.get(behind.checked_sub(1)?)?;
        Some(number + (index - first) as u64)
    }

    /// Where a record stands.
    pub(crate) fn place(&self, index: usize) -> Option<RecordPlace<'_>> {
        let behind = self.files.partition_point(|&(_, first)| first <= index);
        let (file, _) = self.files.get(behind.checked_sub(1)?)?;
        let record = self.number(index)?;
        Some(RecordPlace { file, record })
    }

    /// What became of a record. `None` if it is not the one that was read, as the print of what
    /// stands in its place now tells, if there is one to tell.
    pub(crate) fn fate(&self, index: usize, print: Option<u64>) -> Option<Fate> {
        let fate = *self.fates.get(index)?;
        let is_same = print.is_none_or(|print| self.prints[index] == print);
        (fate == Fate::Unreadable || is_same).then_some(fate)
    }

    /// Returns the file that was changed since it was read, as a record of `file`, if there is
    /// one, is not the one that had this index: that file, or one before it that has fewer records
    /// now.
    pub(crate) fn changed_file<'a>(&'a self, index: usize, file: Option<&'a str>) -> &'a str {
        let before = self.files.partition_point(|&(_, first)| first <= index);
        let expected = before.checked_sub(1).filter(|_| index < self.fates.len());
        let Some(file) = file else {
            return expected.map_or("-", |place| &self.files[place].0);
        };
        let place = self.files.iter().position(|(name, _)| **name == *file);
        match (place, expected) {
            (Some(place), Some(expected)) if expected < place => &self.files[expected].0,
            _ => file,
        }
    }

    /// Returns the file that a document is from.
    pub(crate) fn file_of(&self, document: DocumentId) -> Option<&str> {
        let is_it = |fate: &Fate| *fate == Fate::Document(document);
        let place = self.place(self.fates.iter().position(is_it)?)?;
        Some(place.file)
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.fates.len()
    }

    /// All records.
    pub(crate) fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// For each input, its name and what became of its records.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Arc<str>, &[Fate])> {
        self.files.iter().enumerate().map(|(index, (name, first))| {
            let end = self.files.get(index + 1);
            let end = end.map_or(self.fates.len(), |(_, next)| *next);
            (name, &self.fates[*first..end])
        })
    }
}

/// A hash of a record's bytes, to know it again. For use in one run only.
pub(crate) fn record_print(record: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (chunks, rest) = record.as_chunks::<16>();
    let mut state = record.len() as u64 ^ ODD;
    for chunk in chunks {
        let (halves, _) = chunk.as_chunks::<8>();
        let [low, high] = [u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1])];
        state = fold(state ^ low, high ^ ODD).wrapping_add(low);
    }
    for &byte in rest {
        state = (state ^ u64::from(byte)).wrapping_mul(ODD);
    }
    fold(state, ODD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_was_changed_is_named() {
        let mut records = Records::default();
        // A file without records, and one of two behind it.
        for (file, count) in [("a", 2), ("empty", 0), ("b", 2)] {
            records.start(&file.into());
            for number in 1..=count {
                let print = Some(number);
                let seen = SeenRecord { print, number };
                records.push(&mut std::iter::once(seen), Fate::Unreadable);
            }
        }
        for (index, file, expected) in [
            (1, Some("a"), "a"),
            (1, Some("b"), "a"),
            (2, Some("a"), "a"),
            (2, Some("empty"), "empty"),
            (2, Some("new"), "new"),
            (3, Some("b"), "b"),
            (4, Some("b"), "b"),
            (1, None, "a"),
            (3, None, "b"),
        ] {
            assert_eq!(
                records.changed_file(index, file),
                expected,
                "{index} {file:?}"
            );
        }
    }
}
