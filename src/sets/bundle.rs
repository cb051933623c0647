//! Sets as lists of bundles: shingles that occur in exactly the same documents.
//!
//! A set that has one shingle of a bundle has all of them. Versions of one text differ in a
//! few bundles out of a few dozen, where they have thousands of shingles; and shingles that
//! occur in one document only are in no bundle at all.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::chunks::Print;
use super::jagged::Jagged;
use super::lists::ShingleLists;
use super::spill::{Spill, Store, Stored};
use super::sums::{ChunkBundles, SumTable, random_number};
use super::uses::ChunkUses;
use crate::collection::Role;
use crate::document::DocumentId;
use crate::error::Error;
use crate::settings::Memory;
use crate::shingle::Shingle;

/// A shingle in more documents than this is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// However many.
    Keep,
    /// This many.
    Documents(u32),
}

/// Sets of documents, each a list of bundles that are known by their sums, in memory or in a
/// file.
#[derive(Debug)]
pub(crate) struct SummedSets {
    stretches: Vec<Stretch>,
    spill: Option<Spill>,
    /// Sets whose shingles are all in bundles, with what these are: sets with the same print
    /// are the same.
    prints: Vec<(DocumentId, Print)>,
}

/// The sets of some consecutive documents.
#[derive(Debug, Default)]
struct Stretch {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// Shingles of each that are in no bundle.
    alone: Vec<u32>,
    /// The bundles of each document, in order of their sums: sum and number of shingles.
    bundles: Stored<(u64, u32)>,
    ends: Vec<usize>,
}

/// A document's set.
pub(crate) struct SummedSet<'a> {
    pub(crate) document: DocumentId,
    pub(crate) size: u32,
    /// Shingles that are in its bundles.
    pub(crate) in_bundles: u32,
    /// Sum and number of shingles of each, the rarest first.
    pub(crate) bundles: &'a [(u64, u32)],
}

/// A stretch while it is made.
#[derive(Default)]
struct NewStretch {
    first: u32,
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// Shingles of each that are in no bundle.
    alone: Vec<u32>,
    bundles: Vec<(u64, u32)>,
    ends: Vec<usize>,
}

/// The part of the memory that the bundles of sets may take before they go to a file.
const BUNDLES_SHARE: u64 = 8;

impl SummedSets {
    /// Finds the bundles of those documents that have a role. Each stands for so many `copies`.
    pub(crate) fn new(
        lists: &ShingleLists,
        roles: &[Role],
        copies: impl Fn(DocumentId) -> u32 + Sync,
        common: Common,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let role = |document: DocumentId| roles[document.index()];
        let uses = ChunkUses::new(lists, role)?;
        let chunks = ChunkBundles::new(lists, &uses, memory)?;
        let store = Store::new(memory, BUNDLES_SHARE);
        let is_common = match common {
            Common::Keep => None,
            Common::Documents(most) => Some(common_sums(lists, &chunks, &role, &copies, most)?),
        };
        let failed = Mutex::new(None);
        let has_role = |document: usize| roles[document] != Role::NONE;
        let made = lists.fold(
            |slice| slice.documents().any(has_role),
            Vec::new,
            |made, lists| {
                let mut stretch = NewStretch {
                    first: lists.first(),
                    ..NewStretch::default()
                };
                for (document, own) in lists.documents() {
                    if role(document) == Role::NONE {
                        continue;
                    }
                    let result = chunks
                        .bundles_of(own, &mut stretch.bundles)
                        .map(|mut alone| {
                            if let (Some(is_common), Common::Documents(most)) = (&is_common, common)
                            {
                                let start = stretch.ends.last().copied().unwrap_or(0);
                                retain_from(&mut stretch.bundles, start, |(sum, _)| {
                                    !is_common.contains(sum)
                                });
                                alone *= u32::from(copies(document) <= most);
                            }
                            stretch.end(document, alone);
                        });
                    if let Err(error) = result {
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        *failed = Some(error);
                        return;
                    }
                }
                let mut prints = Vec::new();
                stretch.prints(&mut prints);
                match store.keep(std::mem::take(&mut stretch.bundles)) {
                    Ok(bundles) => made.push((stretch, bundles, prints)),
                    Err(error) => {
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        *failed = Some(error);
                    }
                }
            },
        )?;
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut made: Vec<_> = made.into_iter().flatten().collect();
        made.sort_unstable_by_key(|(stretch, ..)| stretch.first);
        let mut sets = Self {
            stretches: Vec::with_capacity(made.len()),
            spill: None,
            prints: Vec::new(),
        };
        for (stretch, bundles, mut prints) in made {
            sets.prints.append(&mut prints);
            sets.stretches.push(Stretch {
                documents: stretch.documents,
                sizes: stretch.sizes,
                alone: stretch.alone,
                bundles,
                ends: stretch.ends,
            });
        }
        sets.spill = store.finish();
        Ok(sets)
    }

    /// Sets whose shingles are all in bundles, with what these are.
    pub(crate) fn prints(&self) -> &[(DocumentId, Print)] {
        &self.prints
    }

    /// Gives up the prints.
    pub(crate) fn forget_prints(&mut self) {
        self.prints = Vec::new();
    }

    /// Each document with the size of its set.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (DocumentId, u32)> {
        self.stretches.iter().flat_map(|stretch| {
            let documents = stretch.documents.iter().copied();
            documents.zip(stretch.sizes.iter().copied())
        })
    }

    /// Calls `each` with every set.
    pub(crate) fn for_each(&self, mut each: impl FnMut(SummedSet<'_>)) -> Result<(), Error> {
        let mut buffer = Vec::new();
        for stretch in &self.stretches {
            let all = 0..stretch.bundles.len();
            let bundles = stretch
                .bundles
                .part(self.spill.as_ref(), all, &mut buffer)?;
            let mut start = 0;
            for (index, &document) in stretch.documents.iter().enumerate() {
                each(SummedSet {
                    document,
                    size: stretch.sizes[index],
                    in_bundles: stretch.sizes[index] - stretch.alone[index],
                    bundles: &bundles[start..stretch.ends[index]],
                });
                start = stretch.ends[index];
            }
        }
        Ok(())
    }

    /// Each document with the number of its bundles.
    pub(crate) fn bundle_counts(&self) -> impl Iterator<Item = (DocumentId, u32)> {
        self.stretches.iter().flat_map(|stretch| {
            let starts = std::iter::once(0).chain(stretch.ends.iter().copied());
            let counts = starts.zip(&stretch.ends).map(|(start, &end)| end - start);
            let documents = stretch.documents.iter().copied();
            documents.zip(counts.map(|count| count as u32))
        })
    }

    /// The sets of those documents that are `wanted`, with numbers for their bundles.
    pub(crate) fn numbered(
        &self,
        wanted: impl Fn(DocumentId) -> bool,
    ) -> Result<BundleSets, Error> {
        let mut sets = Loaded::default();
        self.for_each(|set| {
            if set.size > 0 && wanted(set.document) {
                sets.documents.push(set.document);
                sets.sizes.push(set.size);
                sets.bundles.extend_from_slice(set.bundles);
                sets.ends.push(sets.bundles.len());
            }
        })?;
        Ok(sets.numbered())
    }
}

impl NewStretch {
    /// Ends a document, whose bundles have been appended, in order.
    fn end(&mut self, document: DocumentId, alone: u32) {
        let start = self.ends.last().copied().unwrap_or(0);
        let own = self.bundles[start..].iter();
        let shared: u32 = own.map(|&(_, weight)| weight).sum();
        self.documents.push(document);
        self.sizes.push(shared + alone);
        self.alone.push(alone);
        self.ends.push(self.bundles.len());
    }

    /// What is known of sets all of whose shingles are in bundles.
    fn prints(&self, prints: &mut Vec<(DocumentId, Print)>) {
        let mut sums = Vec::new();
        let mut start = 0;
        for (index, &document) in self.documents.iter().enumerate() {
            let own = &self.bundles[start..self.ends[index]];
            start = self.ends[index];
            if self.alone[index] == 0 && !own.is_empty() {
                sums.clear();
                sums.extend(own.iter().map(|&(sum, _)| Shingle(sum)));
                prints.push((document, Print::of(&sums)));
            }
        }
    }
}

fn retain_from<T: Copy>(list: &mut Vec<T>, start: usize, is_kept: impl Fn(&T) -> bool) {
    let mut kept = start;
    for index in start..list.len() {
        list[kept] = list[index];
        kept += usize::from(is_kept(&list[index]));
    }
    list.truncate(kept);
}

/// The bundles whose shingles more than `most` documents have.
fn common_sums(
    lists: &ShingleLists,
    chunks: &ChunkBundles,
    role: &(impl Fn(DocumentId) -> Role + Sync),
    copies: &(impl Fn(DocumentId) -> u32 + Sync),
    most: u32,
) -> Result<HashSet<u64, ahash::RandomState>, Error> {
    let mut documents: HashMap<u64, u32, ahash::RandomState> = HashMap::default();
    let (mut buffer, mut own) = (Vec::new(), Vec::new());
    for &slice in lists.slices() {
        for (document, list) in lists.lists(slice, &mut buffer)?.documents() {
            if role(document) != Role::NONE {
                own.clear();
                chunks.bundles_of(list, &mut own)?;
                for &(sum, _) in &own {
                    let count = documents.entry(sum).or_default();
                    *count = count.saturating_add(copies(document));
                }
            }
        }
    }
    let is_common = |&(_, count): &(u64, u32)| count > most;
    let common = documents.into_iter().filter(is_common);
    Ok(common.map(|(sum, _)| sum).collect())
}

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

#[derive(Default)]
struct Loaded {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    bundles: Vec<(u64, u32)>,
    ends: Vec<usize>,
}

/// Threads can number bundles apart by so many of the lowest bits of their sums.
const NUMBERED_APART_BITS: u32 = 4;

/// What is known of a bundle of chunks.
#[derive(Clone, Copy, Default)]
struct Shared {
    weight: u32,
    /// The sum of a random number for every set that has it.
    sets: u64,
}

impl Loaded {
    fn bundles(&self, set: usize) -> &[(u64, u32)] {
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        &self.bundles[start..self.ends[set]]
    }

    /// Bundles of chunks that are in the same sets become one, and each has a number.
    fn numbered(self) -> BundleSets {
        let part_of = |sum: u64| sum as usize & ((1 << NUMBERED_APART_BITS) - 1);
        let tables: Vec<SumTable<Shared>> = (0..1_usize << NUMBERED_APART_BITS)
            .into_par_iter()
            .map(|part| {
                let mut table = SumTable::default();
                for set in 0..self.documents.len() {
                    let number = random_number(set as u32);
                    let bundles = self.bundles(set).iter();
                    for &(sum, weight) in bundles.filter(|(sum, _)| part_of(*sum) == part) {
                        let shared: &mut Shared = table.entry(sum).1;
                        shared.weight = weight;
                        shared.sets = shared.sets.wrapping_add(number);
                    }
                }
                table
            })
            .collect();
        let mut weights = SumTable::default();
        for shared in tables.iter().flat_map(SumTable::values) {
            *weights.entry(shared.sets).1 += shared.weight;
        }
        weights.sort();
        let numbers: Vec<Vec<Bundle>> = tables
            .par_iter()
            .map(|table| {
                let number = |shared: &Shared| weights.find(shared.sets).unwrap_or(0);
                table.values().map(number).collect()
            })
            .collect();
        let bundles = Jagged::made(
            self.documents.len(),
            Vec::new,
            |own: &mut Vec<Bundle>, set, all| {
                own.clear();
                own.extend(self.bundles(set).iter().map(|&(sum, _)| {
                    let part = part_of(sum);
                    let entry = tables[part].find(sum).unwrap_or(0);
                    numbers[part][entry as usize]
                }));
                own.sort_unstable();
                own.dedup();
                all.extend_from_slice(own);
            },
        );
        BundleSets {
            documents: self.documents,
            sizes: self.sizes,
            bundles,
            weights: weights.values().copied().collect(),
        }
    }
}
