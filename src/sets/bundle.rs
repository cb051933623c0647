//! Sets as lists of bundles: shingles that occur in exactly the same documents.
//!
//! A set that has one shingle of a bundle has all of them. Versions of one text differ in a
//! few bundles out of a few dozen, where they have thousands of shingles; and shingles that
//! occur in one document only are in no bundle at all.

use std::ops::Range;

use super::chunk_bundles::{ChunkBundles, sort_and_add};
use super::chunks::Print;
use super::document_bundles::{Common, DocumentBundles};
use super::lists::ShingleLists;
use super::shards::Shards;
use super::sums::answer;
use super::uses::ChunkUses;
use crate::document::DocumentId;
use crate::error::Error;
use crate::memory::Memory;
use crate::observer::WorkCount;
use crate::sets::Role;
use crate::shingle::Shingle;
use crate::spill::{Spill, Store, Stored};

/// Sets of documents, each a list of bundles that are known by their sums, in memory or in a
/// file.
#[derive(Debug)]
pub(crate) struct SummedSets {
    stretches: Vec<Stretch>,
    spill: Option<Spill>,
    distinct_max: u64,
}

/// The sets of some consecutive documents.
#[derive(Debug, Default)]
struct Stretch {
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// Shingles of each that are in bundles.
    in_bundles: Vec<u32>,
    /// The bundles of each document, in order of their sums: sum and number of shingles.
    bundles: Stored<(u64, u32)>,
    ends: Vec<u32>,
    /// What those sets are that have all their shingles in bundles.
    prints: Vec<(Print, DocumentId)>,
}

/// Where a set is. They are in order of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SetAt {
    stretch: u32,
    index: u32,
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
    ends: Vec<u32>,
}

/// The part of the memory that the bundles of sets may take before they go to a file.
const BUNDLES_SHARE: u64 = 8;

impl SummedSets {
    /// How much work it is to make them, and how much of a hundred it is to bundle the shingles of
    /// chunks, to put these together for documents, and to bundle those: about, as measured.
    pub(crate) const WORK: u64 = 100 << 30;
    const PARTS: [u64; 3] = [30, 17, 53];

    /// Finds the bundles of those documents that have a role. Each stands for so many `copies`.
    pub(crate) fn new(
        lists: &ShingleLists,
        roles: &[Role],
        copies: impl Fn(DocumentId) -> u32 + Sync,
        common: Common,
        (memory, count): (&Memory, &WorkCount<'_>),
    ) -> Result<Self, Error> {
        let [of_chunks, of_documents, of_bundles] =
            Self::PARTS.map(|part| part * (Self::WORK / 100));
        let role = |document: DocumentId| roles[document.index()];
        let documents = {
            let uses = ChunkUses::new(lists, role)?;
            let chunks = ChunkBundles::new(lists, &uses, memory, (count, of_chunks))?;
            DocumentBundles::new(lists, &chunks, roles, copies, common, memory)?
        };
        count.add(of_documents);
        let shards = Shards::new(&documents, memory)?;
        let store = Store::new(memory, BUNDLES_SHARE);
        let (stretches, distinct_max) = shards.answer(
            |made: &mut NewSets, _, bundles, answers| made.push(bundles, answers),
            |parts, made| made.finish(&documents, parts, &store),
            (count, of_bundles),
        )?;
        Ok(Self {
            stretches,
            spill: store.finish(),
            distinct_max,
        })
    }

    /// Sets whose shingles are all in bundles, with what these are: sets with the same print are
    /// the same. Only once.
    pub(crate) fn take_prints(&mut self) -> Vec<(Print, DocumentId)> {
        let count = self.stretches.iter().map(|stretch| stretch.prints.len());
        let mut prints = Vec::with_capacity(count.sum());
        for stretch in &mut self.stretches {
            prints.extend(std::mem::take(&mut stretch.prints));
        }
        prints
    }

    /// No less than the number of different bundles.
    pub(crate) fn distinct_max(&self) -> u64 {
        self.distinct_max
    }

    /// Where all sets are, in order of documents.
    pub(crate) fn places(&self) -> impl Iterator<Item = SetAt> {
        (0..).zip(&self.stretches).flat_map(|(stretch, own)| {
            (0..own.documents.len() as u32).map(move |index| SetAt { stretch, index })
        })
    }

    /// Each document with the number of its bundles.
    pub(crate) fn bundle_counts(&self) -> impl Iterator<Item = (DocumentId, u32)> {
        self.stretches.iter().flat_map(|stretch| {
            let starts = std::iter::once(0).chain(stretch.ends.iter().copied());
            let counts = starts.zip(&stretch.ends).map(|(start, &end)| end - start);
            stretch.documents.iter().copied().zip(counts)
        })
    }

    /// Calls `each` with every set.
    pub(crate) fn for_each(&self, mut each: impl FnMut(SummedSet<'_>)) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let mut stretches = self.stretches();
        stretches.try_for_each(|number| self.for_each_of(number, &mut buffer, |_, set| each(set)))
    }

    /// The stretches that all sets are in, by number.
    pub(crate) fn stretches(&self) -> Range<usize> {
        0..self.stretches.len()
    }

    /// Calls `each` with every set of a stretch and where it is.
    pub(crate) fn for_each_of(
        &self,
        number: usize,
        buffer: &mut Vec<(u64, u32)>,
        mut each: impl FnMut(SetAt, SummedSet<'_>),
    ) -> Result<(), Error> {
        let stretch = &self.stretches[number];
        let all = 0..stretch.bundles.len();
        let bundles = stretch.bundles.part(self.spill.as_ref(), all, buffer)?;
        for index in 0..stretch.documents.len() {
            let at = SetAt {
                stretch: number as u32,
                index: index as u32,
            };
            each(at, stretch.set(index, &bundles[stretch.range(index)]));
        }
        Ok(())
    }

    /// A set, read into `buffer` if it is in the file.
    pub(crate) fn get<'a>(
        &'a self,
        at: SetAt,
        buffer: &'a mut Vec<(u64, u32)>,
    ) -> Result<SummedSet<'a>, Error> {
        let stretch = &self.stretches[at.stretch as usize];
        let range = stretch.range(at.index as usize);
        let bundles = stretch.bundles.part(self.spill.as_ref(), range, buffer)?;
        Ok(stretch.set(at.index as usize, bundles))
    }

    /// The document of a set, and the set's size.
    pub(crate) fn document(&self, at: SetAt) -> (DocumentId, u32) {
        let stretch = &self.stretches[at.stretch as usize];
        let index = at.index as usize;
        (stretch.documents[index], stretch.sizes[index])
    }
}

impl Stretch {
    /// Where the bundles of a set are.
    fn range(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start as usize..self.ends[index] as usize
    }

    fn set<'a>(&self, index: usize, bundles: &'a [(u64, u32)]) -> SummedSet<'a> {
        SummedSet {
            document: self.documents[index],
            size: self.sizes[index],
            in_bundles: self.in_bundles[index],
            bundles,
        }
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
        self.ends.push(self.bundles.len() as u32);
    }

    /// Ends some `parts` of the `documents`.
    fn finish(
        self,
        documents: &DocumentBundles,
        parts: Range<usize>,
        store: &Store<'_>,
    ) -> Result<Stretch, Error> {
        let count = self.ends.len();
        let mut stretch = Stretch {
            documents: Vec::with_capacity(count),
            sizes: Vec::with_capacity(count),
            in_bundles: Vec::with_capacity(count),
            ..Stretch::default()
        };
        let mut start = 0;
        let mut made = self.alone.iter().zip(&self.ends);
        for part in &documents.stretches[parts] {
            stretch.documents.extend_from_slice(&part.documents);
            for ((&document, before), (&alone, &end)) in
                part.documents.iter().zip(&part.alone).zip(&mut made)
            {
                let own = &self.bundles[start as usize..end as usize];
                let in_bundles: u32 = own.iter().map(|&(_, weight)| weight).sum();
                let alone = before + alone;
                if alone == 0 && in_bundles > 0 {
                    let print = Print::of(own.iter().map(|&(sum, _)| Shingle(sum)));
                    stretch.prints.push((print, document));
                }
                stretch.in_bundles.push(in_bundles);
                stretch.sizes.push(alone + in_bundles);
                start = end;
            }
        }
        stretch.prints.shrink_to_fit();
        stretch.ends = self.ends;
        stretch.ends.shrink_to_fit();
        stretch.bundles = store.keep(self.bundles)?;
        Ok(stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::{Expected, Quiet};
    use crate::sets::ListBlock;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Documents of a few runs of words each, as versions of one another are.
    fn documents() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let run = (0_u64..6, 0_u64..40, 1_u64..120);
        proptest::collection::vec(proptest::collection::vec(run, 0..6), 1..14).prop_map(|runs| {
            let word =
                |text: u64, place: u64| (text << 32 | place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let of_run = |(text, start, count)| (start..start + count).map(move |p| word(text, p));
            let list = |runs: Vec<_>| runs.into_iter().flat_map(of_run).collect();
            runs.into_iter().map(list).collect()
        })
    }

    proptest! {
        #[test]
        fn what_bundles_tell_is_what_sets_share(
            documents in documents(),
            bytes in prop_oneof![Just(u64::MAX), Just(1), Just(40_000)],
            most in prop_oneof![Just(None), (1_u32..5).prop_map(Some)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let memory = Memory { bytes, temp_dir: folder.path().to_owned() };
            let mut lists = ShingleLists::new(&memory);
            let mut block = ListBlock::default();
            for list in &documents {
                block.push(&list.iter().copied().map(Shingle).collect::<Vec<_>>());
            }
            let numbers: Vec<_> = (0..documents.len() as u32).map(|n| Some(DocumentId(n))).collect();
            lists.push(&block, &numbers).unwrap();
            lists.finish().unwrap();
            let roles = vec![Role::LEFT; documents.len()];
            let common = most.map_or(Common::Keep, Common::Documents);
            let sets = {
                let expected = Expected::Preparation(1);
                let count = WorkCount::new(&Quiet, expected, SummedSets::WORK);
                SummedSets::new(&lists, &roles, |_| 1, common, (&memory, &count)).unwrap()
            };
            let in_how_many = |word: &u64| {
                documents.iter().filter(|list| list.contains(word)).count() as u32
            };
            let expected: Vec<BTreeSet<u64>> = documents
                .iter()
                .map(|list| list.iter().copied().filter(|w| most.is_none_or(|m| in_how_many(w) <= m)).collect())
                .collect();
            let places: Vec<SetAt> = sets.places().collect();
            prop_assert_eq!(places.len(), documents.len());
            let (mut one, mut two) = (vec![], vec![]);
            for (a, &left) in places.iter().enumerate() {
                let left = sets.get(left, &mut one).unwrap();
                prop_assert_eq!(left.document, DocumentId(a as u32));
                prop_assert_eq!(left.size as usize, expected[a].len());
                for (b, &right) in places.iter().enumerate().filter(|&(b, _)| b != a) {
                    let right = sets.get(right, &mut two).unwrap();
                    let shared: u32 = left
                        .bundles
                        .iter()
                        .filter(|bundle| right.bundles.contains(bundle))
                        .map(|&(_, weight)| weight)
                        .sum();
                    prop_assert_eq!(shared as usize, expected[a].intersection(&expected[b]).count());
                }
            }
        }
    }
}
