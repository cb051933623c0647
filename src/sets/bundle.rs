//! Sets as lists of bundles: shingles that occur in exactly the same documents.
//!
//! A set that has one shingle of a bundle has all of them. Versions of one text differ in a
//! few bundles out of a few dozen, where they have thousands of shingles; and shingles that
//! occur in one document only are in no bundle at all.

use super::chunk_bundles::{ChunkBundles, sort_and_add};
use super::chunks::Print;
use super::document_bundles::{Common, DocumentBundles};
use super::lists::ShingleLists;
use super::shards::Shards;
use super::spill::{Spill, Store, Stored};
use super::sums::{Sums, answer};
use super::uses::ChunkUses;
use crate::collection::Role;
use crate::document::DocumentId;
use crate::error::Error;
use crate::settings::Memory;
use crate::shingle::Shingle;

/// Sets of documents, each a list of bundles that are known by their sums, in memory or in a
/// file.
#[derive(Debug)]
pub(crate) struct SummedSets {
    pub(super) stretches: Vec<Stretch>,
    spill: Option<Spill>,
}

/// The sets of some consecutive documents.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// Shingles of each that are in bundles.
    in_bundles: Vec<u32>,
    /// The bundles of each document, in order of their sums: sum and number of shingles.
    bundles: Stored<(u64, u32)>,
    ends: Vec<usize>,
    /// What those sets are that have all their shingles in bundles.
    prints: Vec<(DocumentId, Print)>,
}

/// A document's set.
#[derive(Clone, Copy)]
pub(crate) struct SummedSet<'a> {
    pub(crate) document: DocumentId,
    pub(crate) size: u32,
    /// Shingles that are in its bundles.
    pub(crate) in_bundles: u32,
    /// Sum and number of shingles of each, the rarest first.
    pub(crate) bundles: &'a [(u64, u32)],
}

/// Sets while they are made.
#[derive(Default)]
struct NewSets {
    /// Shingles that turned out to be in no other set.
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
        let documents = {
            let uses = ChunkUses::new(lists, role)?;
            let chunks = ChunkBundles::new(lists, &uses, memory)?;
            DocumentBundles::new(lists, &chunks, roles, copies, common, memory)?
        };
        let shards = Shards::new(&documents, memory)?;
        let layout = shards.layout();
        let store = Store::new(memory, BUNDLES_SHARE);
        let stretches = shards.answer(
            Sums::default,
            |sums, blocks| sums.answer(blocks, layout),
            |made: &mut NewSets, _, bundles, answers| made.push(bundles, answers),
            |parts, made| made.finish(&documents, parts, &store),
        )?;
        Ok(Self {
            stretches,
            spill: store.finish(),
        })
    }

    /// Sets whose shingles are all in bundles, with what these are: sets with the same print are
    /// the same. Only once.
    pub(crate) fn take_prints(&mut self) -> Vec<(DocumentId, Print)> {
        let prints = |stretch: &mut Stretch| std::mem::take(&mut stretch.prints);
        self.stretches.iter_mut().flat_map(prints).collect()
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

    /// Calls `each` with every set.
    pub(crate) fn for_each(&self, mut each: impl FnMut(SummedSet<'_>)) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut stretches = self.stretches.iter();
        stretches.try_for_each(|stretch| self.for_each_of(stretch, &mut buffer, &mut each))
    }

    /// Calls `each` with every set of a stretch.
    pub(super) fn for_each_of(
        &self,
        stretch: &Stretch,
        buffer: &mut Vec<(u64, u32)>,
        mut each: impl FnMut(SummedSet<'_>),
    ) -> Result<(), Error> {
        let all = 0..stretch.bundles.len();
        let bundles = stretch.bundles.part(self.spill.as_ref(), all, buffer)?;
        let mut start = 0;
        for (index, &document) in stretch.documents.iter().enumerate() {
            each(SummedSet {
                document,
                size: stretch.sizes[index],
                in_bundles: stretch.in_bundles[index],
                bundles: &bundles[start..stretch.ends[index]],
            });
            start = stretch.ends[index];
        }
        Ok(())
    }
}

impl NewSets {
    /// Takes a document with what became of the bundles of its chunks.
    fn push(&mut self, bundles: &[(u64, u32)], answers: &[u64]) {
        let start = self.bundles.len();
        let mut alone = 0;
        for (&(_, weight), &answer) in bundles.iter().zip(answers) {
            match answer {
                answer::REPEATED => {}
                answer::ALONE => alone += weight,
                sum => self.bundles.push((sum, weight)),
            }
        }
        sort_and_add(&mut self.bundles, start);
        self.alone.push(alone);
        self.ends.push(self.bundles.len());
    }

    /// Ends some `parts` of the `documents`.
    fn finish(
        self,
        documents: &DocumentBundles,
        parts: std::ops::Range<usize>,
        store: &Store<'_>,
    ) -> Result<Stretch, Error> {
        let mut stretch = Stretch::default();
        let mut start = 0;
        let mut made = self.alone.iter().zip(&self.ends);
        for part in &documents.stretches[parts] {
            stretch.documents.extend_from_slice(&part.documents);
            for ((&document, before), (&alone, &end)) in
                part.documents.iter().zip(&part.alone).zip(&mut made)
            {
                let own = &self.bundles[start..end];
                let in_bundles: u32 = own.iter().map(|&(_, weight)| weight).sum();
                let alone = before + alone;
                if alone == 0 && in_bundles > 0 {
                    let print = Print::of(own.iter().map(|&(sum, _)| Shingle(sum)));
                    stretch.prints.push((document, print));
                }
                stretch.in_bundles.push(in_bundles);
                stretch.sizes.push(alone + in_bundles);
                start = end;
            }
        }
        stretch.ends = self.ends;
        stretch.bundles = store.keep(self.bundles)?;
        Ok(stretch)
    }
}
