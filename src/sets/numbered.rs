//! Sets in memory, with numbers for their bundles.

use rayon::prelude::*;

use super::bundle::SummedSets;
use super::jagged::Jagged;
use super::sums::SumTable;
use crate::document::DocumentId;
use crate::error::Error;

/// A bundle, by number. Numbers are in order of sums: the lowest bundle of a set is a random
/// choice of its bundles, the same for all sets that have it, so that sets with much in common
/// are likely to have it in common.
pub(crate) type Bundle = u32;

/// Sets with numbers for their bundles.
#[derive(Debug)]
pub(crate) struct BundleSets {
    /// The document of each set, in order.
    pub(crate) documents: Vec<DocumentId>,
    /// Shingles in each, those in no bundle included.
    pub(crate) sizes: Vec<u32>,
    /// The bundles of each, in ascending order.
    pub(crate) bundles: Jagged<Bundle>,
    /// Shingles in each bundle.
    pub(crate) weights: Vec<u32>,
}

/// The sets of a stretch that are wanted.
#[derive(Default)]
struct Loaded {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    sums: Vec<u64>,
    weights: Vec<u32>,
    ends: Vec<usize>,
}

impl Loaded {
    fn sums(&self, set: usize) -> &[u64] {
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.sums[start..self.ends[set]]
    }
}

impl BundleSets {
    /// The sets of those documents that are `wanted`.
    pub(crate) fn load(
        sets: &SummedSets,
        wanted: impl Fn(DocumentId) -> bool + Sync,
    ) -> Result<Self, Error> {
        let loaded: Vec<Loaded> = sets
            .stretches
            .par_iter()
            .map_init(Vec::new, |buffer, stretch| {
                let mut loaded = Loaded::default();
                sets.for_each_of(stretch, buffer, |set| {
                    if set.size > 0 && wanted(set.document) {
                        loaded.documents.push(set.document);
                        loaded.sizes.push(set.size);
                        loaded.sums.extend(set.bundles.iter().map(|&(sum, _)| sum));
                        let weights = set.bundles.iter().map(|&(_, weight)| weight);
                        loaded.weights.extend(weights);
                        loaded.ends.push(loaded.sums.len());
                    }
                })?;
                Ok(loaded)
            })
            .collect::<Result<_, Error>>()?;
        // Threads number bundles apart, by the lowest bits of their sums.
        let parts = rayon::current_num_threads().next_power_of_two();
        let part_of = |sum: u64| sum as usize & (parts - 1);
        let mut tables: Vec<SumTable<u32>> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let mut table = SumTable::default();
                for loaded in &loaded {
                    for (&sum, &weight) in loaded.sums.iter().zip(&loaded.weights) {
                        if part_of(sum) == part {
                            *table.entry(sum).1 = weight;
                        }
                    }
                }
                table
            })
            .collect();
        // In order of sums, whatever the parts are.
        let mut order: Vec<(u64, u32, usize, u32)> = Vec::new();
        for (part, table) in tables.iter().enumerate() {
            let entries = (0..).zip(table.entries());
            order.extend(entries.map(|(entry, &(sum, weight))| (sum, weight, part, entry)));
        }
        order.par_sort_unstable();
        for (number, &(_, _, part, entry)) in (0..).zip(&order) {
            tables[part].set(entry, number);
        }
        let weights = order.iter().map(|&(_, weight, ..)| weight).collect();
        drop(order);
        let starts: Vec<usize> = loaded
            .iter()
            .scan(0, |start, loaded| {
                *start += loaded.documents.len();
                Some(*start - loaded.documents.len())
            })
            .collect();
        let documents: Vec<DocumentId> = concatenated(&loaded, |loaded| &loaded.documents);
        let sizes = concatenated(&loaded, |loaded| &loaded.sizes);
        let bundles = Jagged::made(
            documents.len(),
            || (),
            |(), set, all| {
                let stretch = starts.partition_point(|&start| start <= set) - 1;
                let sums = loaded[stretch].sums(set - starts[stretch]);
                let number = |&sum: &u64| tables[part_of(sum)].get(sum).unwrap_or(0);
                all.extend(sums.iter().map(number));
            },
        );
        Ok(Self {
            documents,
            sizes,
            bundles,
            weights,
        })
    }
}

fn concatenated<T: Copy>(loaded: &[Loaded], list: impl Fn(&Loaded) -> &Vec<T>) -> Vec<T> {
    loaded.iter().flat_map(|loaded| list(loaded)).copied().collect()
}
