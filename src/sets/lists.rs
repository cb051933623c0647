//! The shingles of each document as they came: in memory for as long as they fit, then in a
//! temporary file.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pages;
use super::spill::{Spill, Stored};
use crate::document::DocumentId;
use crate::error::Error;
use crate::settings::Memory;
use crate::shingle::Shingle;

/// The shingles of a block of documents, on their way into [`ShingleLists`].
#[derive(Debug, Default)]
pub(crate) struct ListBlock {
    shingles: Vec<u64>,
    /// Where each document's shingles end.
    ends: Vec<usize>,
    prints: Vec<Print>,
}

/// What a list of shingles is, whatever their order: lists with the same print are the same,
/// but for the accident that two hashes of 128 bits agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Print {
    sum: u64,
    squares: u64,
}

impl Print {
    /// Of some shingles.
    pub(crate) fn of(shingles: &[Shingle]) -> Self {
        let mut print = Self::default();
        for &Shingle(shingle) in shingles {
            print.sum = print.sum.wrapping_add(shingle);
            // Odd, so that no shingle's square is lost for being a multiple of a power of two.
            let odd = (shingle >> 17) ^ shingle | 1;
            print.squares = print.squares.wrapping_add(odd.wrapping_mul(odd));
        }
        print
    }

    /// A hash of it, for tables.
    pub(crate) fn hash(self) -> u64 {
        (self.sum ^ self.squares.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl ListBlock {
    /// Takes a document's shingles.
    pub(crate) fn push(&mut self, shingles: &[Shingle]) {
        self.shingles
            .extend(shingles.iter().map(|&Shingle(shingle)| shingle));
        self.ends.push(self.shingles.len());
        self.prints.push(Print::of(shingles));
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.shingles[..])
            + size_of_val(&self.ends[..])
            + size_of_val(&self.prints[..])
    }

    /// Empties it, to be filled again.
    pub(crate) fn clear(&mut self) {
        self.shingles.clear();
        self.ends.clear();
        self.prints.clear();
    }
}

/// Shingles in a part, unless one document has more. A part is so large that its memory can
/// be had in large pages.
const PART_SHINGLES: usize = 1 << 21;
/// Shingles in the first part: small collections take little.
const FIRST_PART_SHINGLES: usize = 1 << 14;
/// Shingles of a slice, about.
const SLICE_SHINGLES: usize = 1 << 15;

/// The shingles of a collection, by document.
#[derive(Debug)]
pub(crate) struct ShingleLists {
    lengths: Vec<u32>,
    prints: Vec<Print>,
    parts: Vec<Stored<u64>>,
    /// The part that still grows.
    open: Vec<u64>,
    slices: Vec<Slice>,
    spill: Option<Spill>,
    memory: Memory,
    /// Shingles that are in memory.
    held: usize,
}

/// Some consecutive documents of a part, for a thread to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    first: u32,
    documents: u32,
    part: usize,
    start: usize,
    shingles: usize,
}

impl Slice {
    /// Its documents, by their ordinals.
    pub(crate) fn documents(self) -> Range<usize> {
        self.first as usize..(self.first + self.documents) as usize
    }
}

/// What of the memory may be taken by shingles.
const MEMORY_SHARE: u64 = 4;

impl ShingleLists {
    /// No documents yet. Beyond a quarter of the memory, their shingles go to a file.
    pub(crate) fn new(memory: &Memory) -> Self {
        Self {
            lengths: Vec::new(),
            prints: Vec::new(),
            parts: Vec::new(),
            open: Vec::new(),
            slices: Vec::new(),
            spill: None,
            memory: memory.clone(),
            held: 0,
        }
    }

    /// Adds those documents of a block that have an ordinal, which must be the next.
    pub(crate) fn push(
        &mut self,
        block: &ListBlock,
        documents: &[Option<DocumentId>],
    ) -> Result<(), Error> {
        let mut start = 0;
        for ((&end, document), &print) in block.ends.iter().zip(documents).zip(&block.prints) {
            if document.is_some() {
                self.add(&block.shingles[start..end], print)?;
            }
            start = end;
        }
        Ok(())
    }

    fn add(&mut self, shingles: &[u64], print: Print) -> Result<(), Error> {
        if self.open.capacity() - self.open.len() < shingles.len() {
            self.close()?;
            let room = match self.parts.len() {
                0 => FIRST_PART_SHINGLES,
                parts => (FIRST_PART_SHINGLES << parts.min(10)).min(PART_SHINGLES),
            };
            self.open = pages::room(room.max(shingles.len()));
        }
        let part = self.parts.len();
        let fits = |slice: &&mut Slice| slice.part == part && slice.shingles < SLICE_SHINGLES;
        match self.slices.last_mut().filter(fits) {
            Some(slice) => {
                slice.documents += 1;
                slice.shingles += shingles.len();
            }
            None => self.slices.push(Slice {
                first: self.lengths.len() as u32,
                documents: 1,
                part,
                start: self.open.len(),
                shingles: shingles.len(),
            }),
        }
        self.open.extend_from_slice(shingles);
        self.lengths.push(shingles.len() as u32);
        self.prints.push(print);
        Ok(())
    }

    /// Ends the part that grows.
    fn close(&mut self) -> Result<(), Error> {
        let words = std::mem::take(&mut self.open);
        self.held += words.len();
        let fits = self.held as u64 * 8 <= self.memory.bytes / MEMORY_SHARE;
        self.parts.push(match fits {
            true => Stored::InMemory(words),
            false => {
                self.held -= words.len();
                let spill = match &self.spill {
                    Some(spill) => spill,
                    None => self.spill.insert(Spill::create(&self.memory.temp_dir)?),
                };
                Stored::OnDisk(spill.append(&words)?)
            }
        });
        Ok(())
    }

    /// Ends the adding of documents.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.close()
    }

    /// Number of documents.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Shingles of all documents, repetitions included.
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Shingles of a document, repetitions included.
    pub(crate) fn length(&self, document: DocumentId) -> u32 {
        self.lengths[document.index()]
    }

    /// What the list of a document is; until they are forgotten.
    pub(crate) fn print(&self, document: DocumentId) -> Print {
        self.prints[document.index()]
    }

    /// Gives up the prints.
    pub(crate) fn forget_prints(&mut self) {
        self.prints = Vec::new();
    }

    /// Whether some are in a file.
    pub(crate) fn is_spilled(&self) -> bool {
        self.spill.is_some()
    }

    /// Bytes of all lists.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64 * 8).sum()
    }

    /// All documents in slices, in order.
    pub(crate) fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Has all threads look at those slices that are `wanted`, in any order: `each` is given
    /// the lists of one, and what a thread keeps from one to the next, which comes back at
    /// the end.
    pub(crate) fn fold<T: Send>(
        &self,
        wanted: impl Fn(Range<usize>) -> bool + Sync,
        start: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, Lists<'_>) + Sync,
    ) -> Result<Vec<T>, Error> {
        let next = AtomicUsize::new(0);
        let kept = rayon::broadcast(|_| {
            let mut kept = start();
            let mut buffer = Vec::new();
            while let Some(&slice) = self.slices.get(next.fetch_add(1, Ordering::Relaxed)) {
                if wanted(slice.documents()) {
                    each(&mut kept, self.lists(slice, &mut buffer)?);
                }
            }
            Ok(kept)
        });
        kept.into_iter().collect()
    }

    /// The lists of a slice, read into `buffer` if they are in the file.
    pub(crate) fn lists<'a>(
        &'a self,
        slice: Slice,
        buffer: &'a mut Vec<u64>,
    ) -> Result<Lists<'a>, Error> {
        let range = slice.start..slice.start + slice.shingles;
        let shingles = self.parts[slice.part].part(self.spill.as_ref(), range, buffer)?;
        Ok(Lists {
            first: slice.first,
            lengths: &self.lengths[slice.documents()],
            shingles,
        })
    }
}

/// The lists of some consecutive documents.
pub(crate) struct Lists<'a> {
    first: u32,
    lengths: &'a [u32],
    shingles: &'a [u64],
}

impl<'a> Lists<'a> {
    /// Each document with its shingles.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DocumentId, &'a [u64])> {
        let mut rest = self.shingles;
        (self.first..)
            .map(DocumentId)
            .zip(self.lengths)
            .map(move |(document, &length)| {
                let (list, behind) = rest.split_at(length as usize);
                rest = behind;
                (document, list)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_come_back_in_order_from_memory_and_from_a_file(
            lists in proptest::collection::vec(
                (proptest::collection::vec(any::<u64>(), 0..9000), any::<bool>()), 0..30,
            ),
            bytes in prop_oneof![Just(u64::MAX), Just(1000_u64), Just(400_000)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let memory = Memory { bytes, temp_dir: folder.path().to_owned() };
            let mut all = ShingleLists::new(&memory);
            let mut expected = vec![];
            for block in lists.chunks(4) {
                let mut filled = ListBlock::default();
                let mut numbers = vec![];
                for (list, counts) in block {
                    let shingles: Vec<Shingle> = list.iter().copied().map(Shingle).collect();
                    filled.push(&shingles);
                    numbers.push(counts.then(|| DocumentId(expected.len() as u32)));
                    if *counts {
                        expected.push(list.clone());
                    }
                }
                all.push(&filled, &numbers).unwrap();
            }
            all.finish().unwrap();
            let mut found = vec![];
            let mut buffer = vec![];
            for &slice in all.slices() {
                for (document, list) in all.lists(slice, &mut buffer).unwrap().iter() {
                    prop_assert_eq!(document.index(), found.len());
                    prop_assert_eq!(all.length(document) as usize, list.len());
                    found.push(list.to_vec());
                }
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_print_tells_lists_apart(
            mut one in proptest::collection::vec(any::<u64>().prop_map(Shingle), 0..20), more: u64,
        ) {
            let print = Print::of(&one);
            one.reverse();
            prop_assert_eq!(Print::of(&one), print);
            one.push(Shingle(more));
            prop_assert_ne!(Print::of(&one), print);
        }
    }
}
