//! Sets as lists of bundles: shingles that occur in exactly the same documents.
//!
//! A set that has one shingle of a bundle has all of them. Versions of one text differ in a
//! few bundles out of a few dozen, where they have thousands of shingles; and shingles that
//! occur in one document only are in no bundle at all.
//!
//! To find them, each shingle is given the sum of a random number for every document that it
//! is in: the same for shingles in the same documents, and for no others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::jagged::Jagged;
use super::lists::{Print, ShingleLists};
use super::shards::{Layout, Shards};
use super::spill::{Segment, Spill, Stored};
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

/// What a shingle is told by its shard: what it is to be counted as.
mod answer {
    /// It is in no other document.
    pub(super) const ALONE: u64 = 0;
    /// It does not count: the document repeats it, or it is too common.
    pub(super) const NOT_COUNTED: u64 = 1;
    /// The least sum that stands for a bundle.
    pub(super) const BUNDLE_MIN: u64 = 2;
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
#[derive(Debug)]
struct Stretch {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// The bundles of each document, in order of their sums: sum and number of shingles.
    bundles: Stored<(u64, u32)>,
    ends: Vec<usize>,
}

/// What a round of shards tells of the documents of a stretch, or all of them together.
#[derive(Default)]
struct Round {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// Shingles of each that no other has.
    alone: Vec<u32>,
    bundles: Vec<(u64, u32)>,
    ends: Vec<usize>,
}

impl Round {
    /// Takes a document with what became of its shingles.
    fn push(&mut self, document: DocumentId, answers: &[u64]) {
        let (mut size, mut alone) = (0, 0);
        let start = self.bundles.len();
        // Neighbours are mostly of one bundle.
        for same in answers.chunk_by(|one, two| one == two) {
            let count = same.len() as u32;
            match same[0] {
                answer::NOT_COUNTED => continue,
                answer::ALONE => alone += count,
                sum => self.bundles.push((sum, count)),
            }
            size += count;
        }
        self.end(document, size, alone, start);
    }

    /// Ends a document, whose bundles are those from `start` on.
    fn end(&mut self, document: DocumentId, size: u32, alone: u32, start: usize) {
        let own = &mut self.bundles[start..];
        own.sort_unstable_by_key(|&(sum, _)| sum);
        let mut kept = 0;
        for index in 1..own.len() {
            match own[kept].0 == own[index].0 {
                true => own[kept].1 += own[index].1,
                false => {
                    kept += 1;
                    own[kept] = own[index];
                }
            }
        }
        if !own.is_empty() {
            self.bundles.truncate(start + kept + 1);
        }
        self.documents.push(document);
        self.sizes.push(size);
        self.alone.push(alone);
        self.ends.push(self.bundles.len());
    }

    fn bundles(&self, index: usize) -> &[(u64, u32)] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bundles[start..self.ends[index]]
    }

    /// The same documents with what two rounds tell of them.
    fn and(self, other: &Self) -> Self {
        let mut both = Self::default();
        for (index, &document) in self.documents.iter().enumerate() {
            let start = both.bundles.len();
            both.bundles.extend_from_slice(self.bundles(index));
            both.bundles.extend_from_slice(other.bundles(index));
            let size = self.sizes[index] + other.sizes[index];
            let alone = self.alone[index] + other.alone[index];
            both.end(document, size, alone, start);
        }
        both
    }

    /// What is known of sets all of whose shingles are in bundles.
    fn prints(&self, prints: &mut Vec<(DocumentId, Print)>) {
        let mut sums = Vec::new();
        for (index, &document) in self.documents.iter().enumerate() {
            if self.alone[index] == 0 && self.sizes[index] > 0 {
                sums.clear();
                sums.extend(self.bundles(index).iter().map(|&(sum, _)| Shingle(sum)));
                prints.push((document, Print::of(&sums)));
            }
        }
    }
}

/// Bytes that a bundle of a set takes in memory.
const BUNDLE_BYTES: u64 = size_of::<(u64, u32)>() as u64;
/// The part of the memory that bundles may take before they go to a file.
const BUNDLES_SHARE: u64 = 8;

/// Rounds of stretches, while they are made: in memory, or in a file beyond their share.
struct Rounds<'m> {
    memory: &'m Memory,
    held: AtomicU64,
    spill: OnceLock<Spill>,
    /// Of each stretch, what is known of it so far.
    stretches: Vec<Mutex<(Round, Option<Segment>)>>,
}

impl Rounds<'_> {
    /// Takes what a round tells of a stretch.
    fn add(&self, stretch: usize, round: Round) -> Result<(), Error> {
        let mut known = self.stretches[stretch]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut known.0);
        if let (Some(segment), Some(spill)) = (known.1.take(), self.spill.get()) {
            spill.read(segment, &mut before.bundles)?;
        } else {
            let bytes = before.bundles.len() as u64 * BUNDLE_BYTES;
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
        known.0 = match before.documents.is_empty() {
            true => round,
            false => before.and(&round),
        };
        let bytes = known.0.bundles.len() as u64 * BUNDLE_BYTES;
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if held > self.memory.bytes / BUNDLES_SHARE {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            let bundles = std::mem::take(&mut known.0.bundles);
            known.1 = Some(self.spill()?.append(&bundles)?);
        }
        Ok(())
    }

    fn spill(&self) -> Result<&Spill, Error> {
        if let Some(spill) = self.spill.get() {
            return Ok(spill);
        }
        // Two threads may create one at once: then one of the two is given up.
        let new = Spill::create(&self.memory.temp_dir)?;
        Ok(self.spill.get_or_init(|| new))
    }

    fn finish(self) -> Result<SummedSets, Error> {
        let mut sets = SummedSets {
            stretches: Vec::with_capacity(self.stretches.len()),
            spill: None,
            prints: Vec::new(),
        };
        let spill = self.spill.into_inner();
        for known in self.stretches {
            let (mut round, segment) = known.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let (Some(segment), Some(spill)) = (segment, &spill) {
                spill.read(segment, &mut round.bundles)?;
            }
            round.prints(&mut sets.prints);
            sets.stretches.push(Stretch {
                documents: round.documents,
                sizes: round.sizes,
                bundles: match segment {
                    Some(segment) => Stored::OnDisk(segment),
                    None => Stored::InMemory(round.bundles),
                },
                ends: round.ends,
            });
        }
        sets.spill = spill;
        Ok(sets)
    }
}

impl SummedSets {
    /// Finds the bundles of those documents that have a role. Each stands for so many `copies`.
    pub(crate) fn new(
        lists: &ShingleLists,
        roles: &[Role],
        copies: impl Fn(DocumentId) -> u32 + Sync + Send,
        common: Common,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let shards = Shards::new(lists, roles, memory)?;
        let layout = shards.layout();
        let rounds = Rounds {
            memory,
            held: AtomicU64::new(0),
            spill: OnceLock::new(),
            stretches: (0..shards.stretches()).map(|_| Mutex::default()).collect(),
        };
        shards.answer(
            Table::default,
            |table, words| table.answer(words, layout, common, &copies),
            Round::push,
            |stretch, round| rounds.add(stretch, round),
        )?;
        rounds.finish()
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
        let mut buffer = Vec::new();
        for stretch in &self.stretches {
            let all = 0..stretch.bundles.len();
            let bundles = stretch.bundles.part(self.spill.as_ref(), all, &mut buffer)?;
            let mut start = 0;
            let counted = stretch.documents.iter().zip(&stretch.sizes);
            for ((&document, &size), &end) in counted.zip(&stretch.ends) {
                if size > 0 && wanted(document) {
                    sets.documents.push(document);
                    sets.sizes.push(size);
                    sets.bundles.extend_from_slice(&bundles[start..end]);
                    sets.ends.push(sets.bundles.len());
                }
                start = end;
            }
        }
        Ok(sets.numbered())
    }
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

/// Bits of a sum by which bundles are shared among threads to be numbered.
const NUMBERED_APART_BITS: u32 = 4;

impl Loaded {
    fn numbered(self) -> BundleSets {
        let tables: Vec<Table> = (0..1_u64 << NUMBERED_APART_BITS)
            .into_par_iter()
            .map(|part| {
                let mut table = Table::default();
                let is_in_part = |sum: u64| sum >> (64 - NUMBERED_APART_BITS) == part;
                for &(sum, weight) in self.bundles.iter().filter(|(sum, _)| is_in_part(*sum)) {
                    let entry = table.entry(sum);
                    table.entries[entry as usize].documents = weight;
                }
                table.entries.sort_unstable_by_key(|entry| entry.shingle);
                table.file();
                table
            })
            .collect();
        let mut bases = vec![0];
        for table in &tables {
            bases.push(bases[bases.len() - 1] + table.entries.len() as u32);
        }
        let weights = tables
            .iter()
            .flat_map(|table| table.entries.iter().map(|entry| entry.documents))
            .collect();
        let bundles = Jagged::made(
            self.documents.len(),
            || (),
            |(), set, numbers| {
                let start = if set == 0 { 0 } else { self.ends[set - 1] };
                numbers.extend(self.bundles[start..self.ends[set]].iter().map(|&(sum, _)| {
                    let part = (sum >> (64 - NUMBERED_APART_BITS)) as usize;
                    bases[part] + tables[part].find(sum).unwrap_or(0)
                }));
            },
        );
        BundleSets {
            documents: self.documents,
            sizes: self.sizes,
            bundles,
            weights,
        }
    }
}

/// The distinct shingles of a shard.
#[derive(Default)]
struct Table {
    /// The entry near the place that a shingle's hash tells, counted from 1; zero for none.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    /// The entry of each shingle in turn.
    entry_of: Vec<u32>,
}

struct Entry {
    shingle: u64,
    sum: u64,
    last_document: u32,
    /// Documents that have it, of those that are looked at.
    sets: u32,
    /// The same, each with its copies.
    documents: u32,
}

impl Entry {
    fn answer(&self, common: Common) -> u64 {
        match common {
            Common::Documents(most) if self.documents > most => answer::NOT_COUNTED,
            _ if self.sets == 1 => answer::ALONE,
            _ => self.sum.max(answer::BUNDLE_MIN),
        }
    }
}

/// Stands for an entry where a document repeats a shingle.
const REPEATED: u32 = u32::MAX;
/// Slots that a table starts with, and how it grows.
const SLOTS_MIN: usize = 1 << 12;
const SLOTS_GROWTH: usize = 4;

impl Table {
    /// Replaces the words of a shard by an answer for each shingle.
    fn answer(
        &mut self,
        words: &mut [u64],
        layout: Layout,
        common: Common,
        copies: &impl Fn(DocumentId) -> u32,
    ) {
        self.entries.clear();
        self.entry_of.clear();
        self.slots.fill(0);
        let (mut document, mut number, mut own_copies) = (u32::MAX, 0, 0);
        layout.for_each(words, |next, shingle| {
            if next != document {
                document = next;
                number = number_of(document);
                own_copies = match common {
                    Common::Keep => 1,
                    Common::Documents(_) => copies(DocumentId(document)),
                };
            }
            let entry_of = self.entry(shingle);
            let entry = &mut self.entries[entry_of as usize];
            if entry.last_document == document && entry.sets > 0 {
                self.entry_of.push(REPEATED);
                return;
            }
            entry.last_document = document;
            entry.sum = entry.sum.wrapping_add(number);
            entry.sets += 1;
            entry.documents = entry.documents.saturating_add(own_copies);
            self.entry_of.push(entry_of);
        });
        for (word, &entry_of) in words.iter_mut().zip(&self.entry_of) {
            *word = match self.entries.get(entry_of as usize) {
                None => answer::NOT_COUNTED,
                Some(entry) => entry.answer(common),
            };
        }
    }

    #[inline]
    fn entry(&mut self, shingle: u64) -> u32 {
        if self.entries.len() * 2 >= self.slots.len() {
            let slots = (self.slots.len() * SLOTS_GROWTH).max(SLOTS_MIN);
            self.slots.resize(slots, 0);
            self.file();
        }
        let mut slot = self.slot(shingle);
        loop {
            match self.slots[slot] {
                0 => {
                    self.entries.push(Entry {
                        shingle,
                        sum: 0,
                        last_document: 0,
                        sets: 0,
                        documents: 0,
                    });
                    self.slots[slot] = self.entries.len() as u32;
                    return self.entries.len() as u32 - 1;
                }
                entry if self.entries[entry as usize - 1].shingle == shingle => return entry - 1,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// The entry of a shingle, if there is one.
    #[inline]
    fn find(&self, shingle: u64) -> Option<u32> {
        let mut slot = self.slot(shingle);
        loop {
            match self.slots[slot] {
                0 => return None,
                entry if self.entries[entry as usize - 1].shingle == shingle => {
                    return Some(entry - 1);
                }
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    #[inline]
    fn slot(&self, shingle: u64) -> usize {
        let spread = shingle.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - self.slots.len().ilog2())) as usize
    }

    /// Files all entries anew.
    fn file(&mut self) {
        self.slots.fill(0);
        for index in 0..self.entries.len() {
            let mut slot = self.slot(self.entries[index].shingle);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }
}

/// A random number for each document. Sums over different documents differ, but for the
/// accident that two 64-bit hashes agree.
fn number_of(document: u32) -> u64 {
    let mut x = (u64::from(document) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
