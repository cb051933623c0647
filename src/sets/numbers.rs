//! Numbers for the bundles of some sets.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::bundle::{SetAt, SummedSets};
use super::sums::SumTable;
use crate::document::DocumentId;
use crate::error::Error;

/// Those bundles that enough of some sets have, each with a number.
///
/// They are numbered in the order in which they are met. Sets that have much in common are likely
/// to have their lowest sum in common: in that order they stand together, and so do the numbers
/// of their bundles.
pub(crate) struct Numbers {
    tables: Vec<SumTable<Known>>,
    sets_min: u32,
    /// For each number: how many sets have it, and its weight.
    pub(crate) sets: Vec<u32>,
    pub(crate) weights: Vec<u32>,
}

/// What is known of a sum.
#[derive(Clone, Copy)]
struct Known {
    sets: u32,
    number: u32,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            sets: 0,
            number: Numbers::NONE,
        }
    }
}

/// Tables that sums are dealt out to, so that threads can fill them.
const TABLES: usize = 64;

fn table_of(sum: u64) -> usize {
    sum as usize % TABLES
}

impl Numbers {
    /// Stands for the number of a bundle that has none.
    pub(crate) const NONE: u32 = u32::MAX;

    /// Numbers those bundles that at least so many of the documents that are `wanted` have, and
    /// tells where the sets of these are, in order.
    pub(crate) fn new(
        sets: &SummedSets,
        wanted: impl Fn(DocumentId) -> bool + Sync,
        sets_min: u32,
    ) -> Result<(Self, Vec<SetAt>), Error> {
        let tables: Vec<Mutex<SumTable<Known>>> = (0..TABLES).map(|_| Mutex::default()).collect();
        let places: Vec<Vec<(u64, SetAt)>> = sets
            .stretches()
            .into_par_iter()
            .map_init(
                || (Vec::new(), vec![Vec::new(); TABLES]),
                |(buffer, dealt), stretch| {
                    let mut places = Vec::new();
                    sets.for_each_of(stretch, buffer, |at, set| {
                        if set.size > 0 && wanted(set.document) {
                            let first = set.bundles.first().map_or(u64::MAX, |&(sum, _)| sum);
                            places.push((first, at));
                            for &(sum, _) in set.bundles {
                                dealt[table_of(sum)].push(sum);
                            }
                        }
                    })?;
                    for (table, sums) in tables.iter().zip(dealt) {
                        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
                        for sum in sums.drain(..) {
                            table.entry(sum).1.sets += 1;
                        }
                    }
                    Ok(places)
                },
            )
            .collect::<Result<_, Error>>()?;
        let mut places = places.concat();
        places.par_sort_unstable();
        let unlocked = |table: Mutex<_>| table.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut numbers = Self {
            tables: tables.into_iter().map(unlocked).collect(),
            sets_min,
            sets: Vec::new(),
            weights: Vec::new(),
        };
        let mut buffer = Vec::new();
        for &(_, at) in &places {
            numbers.add(sets.get(at, &mut buffer)?.bundles);
        }
        let mut places: Vec<SetAt> = places.into_iter().map(|(_, at)| at).collect();
        places.sort_unstable();
        Ok((numbers, places))
    }

    /// Numbers those bundles of a set that have no number.
    fn add(&mut self, bundles: &[(u64, u32)]) {
        for &(sum, weight) in bundles {
            let known = self.tables[table_of(sum)].entry(sum).1;
            if known.sets >= self.sets_min && known.number == Self::NONE {
                known.number = self.sets.len() as u32;
                self.sets.push(known.sets);
                self.weights.push(weight);
            }
        }
    }

    /// The number of a bundle.
    #[inline]
    pub(crate) fn of(&self, sum: u64) -> u32 {
        let known = self.tables[table_of(sum)].get(sum);
        known.map_or(Self::NONE, |known| known.number)
    }
}
