//! Which record is which document, and what each record was when it was read.

use std::sync::Arc;

use crate::document::DocumentId;

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

/// The records of a collection, in input order.
#[derive(Debug, Default)]
pub(crate) struct Records {
    fates: Vec<Fate>,
    prints: Vec<u64>,
    /// The inputs, each with its first record.
    files: Vec<(Arc<str>, usize)>,
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

    /// Adds the next record that could be used, behind those before it that could not: these
    /// have no print.
    pub(crate) fn push(&mut self, prints: &mut dyn Iterator<Item = Option<u64>>, fate: Fate) {
        for print in prints {
            self.prints.push(print.unwrap_or(0));
            match print {
                None => self.fates.push(Fate::Unreadable),
                Some(_) => return self.fates.push(fate),
            }
        }
    }

    /// Adds records that could not be used.
    pub(crate) fn push_unreadable(&mut self, prints: &mut dyn Iterator<Item = Option<u64>>) {
        self.push(prints, Fate::Unreadable);
    }

    /// What became of a record. `None` if it is not the one that was read, as the print of what
    /// stands in its place now tells, if there is one to tell.
    pub(crate) fn fate(&self, index: usize, print: Option<u64>) -> Option<Fate> {
        let fate = *self.fates.get(index)?;
        let is_same = print.is_none_or(|print| self.prints[index] == print);
        (fate == Fate::Unreadable || is_same).then_some(fate)
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
