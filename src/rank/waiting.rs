//! Documents that wait for their scores until all have been counted: their terms, in memory or
//! in a file.

use super::scoring::{Idf, Scored, Scoring, Vector};
use crate::error::Error;
use crate::memory::Memory;
use crate::score::DocumentFrequencies;
use crate::spill::{Store, Stored};

/// A term's number and its count.
type Term = (u32, u32);

/// Terms that are stored at a time.
const TERMS_AT_ONCE: usize = 1 << 20;

/// The part of the memory that terms may take.
const SHARE: u64 = 4;

/// Vectors, one behind the other.
pub(super) struct Waiting<'m> {
    store: Store<'m>,
    stored: Vec<Stored<Term>>,
    open: Vec<Term>,
    /// How many terms each vector has.
    lengths: Vec<u32>,
}

impl<'m> Waiting<'m> {
    pub(super) fn new(memory: &'m Memory) -> Self {
        Self {
            store: Store::new(memory, SHARE),
            stored: Vec::new(),
            open: Vec::new(),
            lengths: Vec::new(),
        }
    }

    /// Adds a vector.
    pub(super) fn add(&mut self, terms: impl Iterator<Item = Term>) -> Result<(), Error> {
        let before = self.open.len();
        self.open.extend(terms);
        self.lengths.push((self.open.len() - before) as u32);
        if self.open.len() >= TERMS_AT_ONCE {
            self.stored
                .push(self.store.keep(std::mem::take(&mut self.open))?);
        }
        Ok(())
    }

    /// Memory that must be there for it.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&self.lengths[..]) as u64
    }

    /// Whether some are in a file.
    pub(super) fn is_spilled(&self) -> bool {
        let is_in_file = |stored: &Stored<Term>| matches!(stored, Stored::OnDisk(_));
        self.stored.iter().any(is_in_file)
    }

    /// Scores all vectors in order.
    pub(super) fn score(
        mut self,
        scoring: &Scoring<'_>,
        frequencies: &DocumentFrequencies,
        mut each: impl FnMut(&Vector, Scored) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.stored
            .push(Stored::InMemory(std::mem::take(&mut self.open)));
        let idf = Idf::new(frequencies);
        let counts = frequencies.counts();
        // Which of all terms a gold standard has, by their numbers.
        let mut of_gold = vec![u32::MAX; counts.len()];
        for (number, term) in scoring.gold.numbers(frequencies) {
            of_gold[number as usize] = term;
        }
        let spill = self.store.finish();
        let mut lengths = self.lengths.iter();
        let mut vector = Vector::default();
        let mut buffer = Vec::new();
        for stored in &self.stored {
            let mut terms = stored.part(spill.as_ref(), 0..stored.len(), &mut buffer)?;
            // A vector without a term belongs to whatever is next.
            while let Some(&length) = match terms.is_empty() {
                true => lengths.as_slice().first().filter(|length| **length == 0),
                false => lengths.as_slice().first(),
            } {
                lengths.next();
                let (some, rest) = terms.split_at(length as usize);
                terms = rest;
                vector.length = 0;
                vector.shared.clear();
                for &(number, count) in some {
                    let squared = idf.of_count(counts[number as usize]);
                    let count_squared = u128::from(count) * u128::from(count);
                    vector.length += count_squared * u128::from(squared);
                    if of_gold[number as usize] != u32::MAX {
                        vector.shared.push((of_gold[number as usize], count));
                    }
                }
                each(&vector, scoring.score(&vector))?;
            }
        }
        Ok(())
    }
}
