//! Parties: documents that are not compared with each other, as all are of one author, one site
//! or one folder.

use std::collections::HashMap;

use crate::document::DocumentId;

/// Stands for no party: such a document is compared with all.
const NONE: u32 = 0;

/// The party of each document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parties {
    of: Vec<u32>,
    numbers: HashMap<Box<str>, u32, ahash::RandomState>,
}

impl Parties {
    /// Adds the next document, and gives the place of its party among all.
    pub(crate) fn push(&mut self, party: Option<&str>) -> Option<usize> {
        let number = match party {
            None => NONE,
            Some(party) => match self.numbers.get(party) {
                Some(&number) => number,
                None => {
                    let number = self.numbers.len() as u32 + 1;
                    self.numbers.insert(party.into(), number);
                    number
                }
            },
        };
        self.of.push(number);
        (number as usize).checked_sub(1)
    }

    /// Their names, in the order in which they were met.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<(u32, &str)> = self
            .numbers
            .iter()
            .map(|(name, &number)| (number, &**name))
            .collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// The place of each document's party among the names, if it has one.
    pub(crate) fn places(&self) -> impl Iterator<Item = Option<usize>> {
        let place = |&number: &u32| (number as usize).checked_sub(1);
        self.of.iter().map(place)
    }

    /// Parties that there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Documents that are of one.
    pub(crate) fn documents(&self) -> usize {
        self.of.iter().filter(|&&number| number != NONE).count()
    }

    /// Whether two documents are compared.
    pub(crate) fn admits(&self, one: DocumentId, two: DocumentId) -> bool {
        let party = self.of[one.index()];
        party == NONE || party != self.of[two.index()]
    }

    /// Counts the pairs of one document of either list that are not compared.
    pub(super) fn pairs_of_one(&self, one: &[DocumentId], two: &[DocumentId]) -> u64 {
        let mut counts: HashMap<u32, u64, ahash::RandomState> = HashMap::default();
        let parties = |documents| {
            let party = |document: &DocumentId| self.of[document.index()];
            <[DocumentId]>::iter(documents)
                .map(party)
                .filter(|&party| party != NONE)
        };
        for party in parties(one) {
            *counts.entry(party).or_default() += 1;
        }
        parties(two).filter_map(|party| counts.get(&party)).sum()
    }

    /// The party that all of these are of; none if there is no such.
    pub(super) fn of_all(&self, documents: &[DocumentId]) -> OneParty {
        let mut parties = documents.iter().map(|document| self.of[document.index()]);
        let first = parties.next().unwrap_or(NONE);
        OneParty(if parties.all(|party| party == first) {
            first
        } else {
            NONE
        })
    }
}

/// The party of several documents, if they are all of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneParty(u32);

impl OneParty {
    /// Whether any of these is compared with any of those.
    #[inline]
    pub(crate) fn admits(self, other: Self) -> bool {
        self.0 == NONE || self != other
    }
}
