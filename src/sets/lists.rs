//! The shingles of each document as they came, in chunks: in memory for as long as they fit,
//! then in a temporary file.
//!
//! A document is a list of words: how many chunks it has and how many shingles follow; a head
//! for each chunk, with its number and its length; then the shingles of those that are new.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::budget::Budget;
use super::chunks::{ChunkCache, ChunkId, Print, for_each_chunk};
use super::pages;
use super::partners::large_table_bytes;
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::memory::Memory;
use crate::shingle::Shingle;
use crate::spill::{Spill, Stored};

/// The shingles of a block of documents, on their way into [`ShingleLists`].
#[derive(Debug, Default)]
pub(crate) struct ListBlock {
    shingles: Vec<u64>,
    /// Each chunk's length and print.
    chunks: Vec<(u32, Print)>,
    /// Where each document's chunks end.
    ends: Vec<usize>,
}

impl ListBlock {
    /// Takes a document's shingles.
    pub(crate) fn push(&mut self, shingles: &[Shingle]) {
        self.shingles
            .extend(shingles.iter().map(|&Shingle(shingle)| shingle));
        for_each_chunk(shingles, |length, print| {
            self.chunks.push((length as u32, print));
        });
        self.ends.push(self.chunks.len());
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.shingles[..])
            + size_of_val(&self.chunks[..])
            + size_of_val(&self.ends[..])
    }

    /// Empties it, to be filled again; gives memory back that is more than is usual.
    pub(crate) fn clear(&mut self) {
        const SHINGLES_MAX: usize = 1 << 18;
        const CHUNKS_MAX: usize = SHINGLES_MAX / 16;
        self.shingles.clear();
        self.shingles.shrink_to(SHINGLES_MAX);
        self.chunks.clear();
        self.chunks.shrink_to(CHUNKS_MAX);
        self.ends.clear();
    }
}

/// Words in a part, unless one document has more. A part is so large that its memory can be
/// had in large pages.
const PART_WORDS: usize = 1 << 21;
/// Words in the first part: small collections take little.
const FIRST_PART_WORDS: usize = 1 << 14;
/// Words of a slice, about. Tests have small ones, so that they have many of them.
const SLICE_WORDS: usize = if cfg!(test) { 1 << 9 } else { 1 << 15 };
/// Words of a document beyond which it is huge: it has a slice of its own, which is cut into
/// pieces.
const HUGE_WORDS: usize = 8 * SLICE_WORDS;

/// The shingles of a collection, by document.
#[derive(Debug)]
pub(crate) struct ShingleLists {
    /// Shingles of each document, repetitions included.
    lengths: Vec<u32>,
    prints: Vec<Print>,
    chunks: u32,
    cache: ChunkCache,
    parts: Vec<Stored<u64>>,
    /// The part that still grows.
    open: Vec<u64>,
    slices: Vec<Slice>,
    /// The pieces of each huge document, by the number of its slice, in order.
    pieces: Vec<(usize, Piece)>,
    spill: Option<Spill>,
    memory: Memory,
    /// Words that are in memory.
    held: usize,
}

/// Some consecutive documents of a part, for a thread to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    first: u32,
    documents: u32,
    /// The first chunk that is new here, and how many are.
    first_chunk: u32,
    chunks: u32,
    part: usize,
    start: usize,
    words: usize,
}

impl Slice {
    /// Its documents, by their ordinals.
    pub(crate) fn documents(self) -> Range<usize> {
        self.first as usize..(self.first + self.documents) as usize
    }

    /// The chunks that are new in it, by number.
    pub(crate) fn chunks(self) -> Range<usize> {
        self.first_chunk as usize..(self.first_chunk + self.chunks) as usize
    }
}

/// Some consecutive chunks of a huge document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    part: usize,
    /// The heads of the chunks.
    heads: Segment,
    /// The shingles of those that are new.
    shingles: Segment,
    /// The first chunk that is new here, and the number of new ones.
    first_chunk: u32,
    chunks: u32,
}

/// New chunks that a thread looks at together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChunkRun {
    /// Those of a slice.
    Slice(Slice),
    /// Those of a piece of a huge document.
    Piece(Piece),
}

impl ChunkRun {
    /// The chunks, by number.
    pub(crate) fn chunks(&self) -> Range<usize> {
        match self {
            Self::Slice(slice) => slice.chunks(),
            Self::Piece(Piece {
                first_chunk,
                chunks,
                ..
            }) => *first_chunk as usize..(first_chunk + chunks) as usize,
        }
    }

    /// Words of their shingles, and some more.
    pub(crate) fn words(&self) -> usize {
        match self {
            Self::Slice(slice) => slice.words,
            Self::Piece(piece) => piece.shingles.words,
        }
    }
}

/// Some words of a part.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: usize,
    words: usize,
}

impl Segment {
    fn range(self) -> Range<usize> {
        self.start..self.start + self.words
    }
}

/// The part of the memory that shingles may take, and that the cache of chunks may.
const MEMORY_SHARE: u64 = 4;
const CACHE_SHARE: u64 = 16;
/// The part that huge documents may take which are read back at the same time.
const HUGE_SHARE: u64 = 8;

/// What is known of a chunk while bundles are made: who has it, and where its bundles are.
const CHUNK_BYTES: u64 = 6;

/// A chunk in a document's words.
const LENGTH_BITS: u32 = 16;
const IS_NEW: u64 = 1 << 63;

impl ShingleLists {
    /// No documents yet. Beyond a quarter of the memory, their shingles go to a file.
    pub(crate) fn new(memory: &Memory) -> Self {
        Self {
            lengths: Vec::new(),
            prints: Vec::new(),
            chunks: 0,
            cache: ChunkCache::new(memory.bytes / CACHE_SHARE),
            parts: Vec::new(),
            open: Vec::new(),
            slices: Vec::new(),
            pieces: Vec::new(),
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
        let (mut first, mut start) = (0, 0);
        for (&end, document) in block.ends.iter().zip(documents) {
            let chunks = &block.chunks[first..end];
            let length: usize = chunks.iter().map(|&(length, _)| length as usize).sum();
            if document.is_some() {
                self.add(&block.shingles[start..start + length], chunks)?;
            }
            (first, start) = (end, start + length);
        }
        Ok(())
    }

    fn add(&mut self, shingles: &[u64], chunks: &[(u32, Print)]) -> Result<(), Error> {
        let most = 1 + chunks.len() + shingles.len();
        if self.open.capacity() - self.open.len() < most {
            self.close()?;
            let room = (FIRST_PART_WORDS << self.parts.len().min(10)).min(PART_WORDS);
            self.open = pages::room(room.max(most));
        }
        let start = self.open.len();
        let first_chunk = self.chunks;
        let heads = start + 1..start + 1 + chunks.len();
        self.open.resize(heads.end, 0);
        let mut print = Print::default();
        let mut rest = shingles;
        for (place, &(length, own)) in heads.clone().zip(chunks) {
            let (list, behind) = rest.split_at(length as usize);
            rest = behind;
            print = print.with(own);
            let head = |chunk: ChunkId| u64::from(chunk.0) << LENGTH_BITS | u64::from(length);
            self.open[place] = match self.cache.find(own, ChunkId(self.chunks)) {
                Some(known) => head(known),
                None => {
                    let new = ChunkId(self.chunks);
                    self.open.extend_from_slice(list);
                    let too_many = || Error::in_file("-", ErrorKind::TooManyDocuments);
                    self.chunks = self.chunks.checked_add(1).ok_or_else(too_many)?;
                    head(new) | IS_NEW
                }
            };
        }
        let follow = self.open.len() - heads.end;
        self.open[start] = (chunks.len() as u64) << 32 | follow as u64;
        self.extend_slice(start, first_chunk);
        self.lengths.push(shingles.len() as u32);
        self.prints.push(print);
        if self.open.len() - start > HUGE_WORDS {
            self.cut(heads, first_chunk);
        }
        // A part that is larger than is usual does not wait for the next document.
        match self.open.len() > PART_WORDS {
            true => self.close(),
            false => Ok(()),
        }
    }

    /// Cuts the last document, which is huge, into pieces.
    fn cut(&mut self, heads: Range<usize>, first_chunk: u32) {
        let slice = self.slices.len().saturating_sub(1);
        let start = |head: usize, shingle: usize, first_chunk: u32| Piece {
            part: self.parts.len(),
            heads: Segment {
                start: head,
                words: 0,
            },
            shingles: Segment {
                start: shingle,
                words: 0,
            },
            first_chunk,
            chunks: 0,
        };
        let mut piece = start(heads.start, heads.end, first_chunk);
        for (place, &head) in heads.clone().zip(&self.open[heads]) {
            piece.heads.words += 1;
            if head & IS_NEW != 0 {
                piece.shingles.words += head as usize & ((1 << LENGTH_BITS) - 1);
                piece.chunks += 1;
            }
            if piece.heads.words + piece.shingles.words >= SLICE_WORDS {
                self.pieces.push((slice, piece));
                let (shingle, chunk) =
                    (piece.shingles.range().end, piece.first_chunk + piece.chunks);
                piece = start(place + 1, shingle, chunk);
            }
        }
        self.pieces.push((slice, piece));
    }

    /// Adds the document whose words start here to the last slice, or to a new one.
    fn extend_slice(&mut self, start: usize, first_chunk: u32) {
        let part = self.parts.len();
        let words = self.open.len() - start;
        let chunks = self.chunks - first_chunk;
        let fits = |slice: &&mut Slice| {
            slice.part == part && slice.words < SLICE_WORDS && words <= HUGE_WORDS
        };
        match self.slices.last_mut().filter(fits) {
            Some(slice) => {
                slice.documents += 1;
                slice.words += words;
                slice.chunks += chunks;
            }
            None => self.slices.push(Slice {
                first: self.lengths.len() as u32,
                documents: 1,
                first_chunk,
                chunks,
                part,
                start,
                words,
            }),
        }
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

    /// Keeps no more in memory from now on than its share of so much.
    pub(crate) fn limit(&mut self, bytes: u64) -> Result<(), Error> {
        self.memory.bytes = bytes;
        for part in self.parts.iter_mut().rev() {
            if self.held as u64 * 8 <= bytes / MEMORY_SHARE {
                break;
            }
            if let Stored::InMemory(words) = part {
                let spill = match &self.spill {
                    Some(spill) => spill,
                    None => self.spill.insert(Spill::create(&self.memory.temp_dir)?),
                };
                self.held -= words.len();
                *part = Stored::OnDisk(spill.append(words)?);
            }
        }
        Ok(())
    }

    /// Ends the adding of documents.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.cache = ChunkCache::new(0);
        self.close()
    }

    /// Number of documents.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Number of chunks that are kept.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks as usize
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

    /// Memory that a search takes for the shingles of all documents, whether they are in a file or
    /// not: some bytes for each chunk, and the tables of many shingles ([`drop_partnerless`]).
    ///
    /// [`drop_partnerless`]: super::drop_partnerless
    pub(crate) fn table_bytes(&self) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let shingles = self.lengths.iter().copied().map(u64::from).sum();
        u64::from(self.chunks) * CHUNK_BYTES + large_table_bytes(shingles) * (threads + 1)
    }

    /// Whether some are in a file.
    pub(crate) fn is_spilled(&self) -> bool {
        self.spill.is_some()
    }

    /// All documents in slices, in order.
    pub(crate) fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// All new chunks, in order, in runs none of which is huge.
    pub(crate) fn chunk_runs(&self) -> Vec<ChunkRun> {
        let mut pieces = self.pieces.iter().peekable();
        let mut runs = Vec::with_capacity(self.slices.len() + self.pieces.len());
        for (number, &slice) in self.slices.iter().enumerate() {
            let before = runs.len();
            while let Some((_, piece)) = pieces.next_if(|(own, _)| *own == number) {
                runs.push(ChunkRun::Piece(*piece));
            }
            if runs.len() == before {
                runs.push(ChunkRun::Slice(slice));
            }
        }
        runs
    }

    /// Calls `each` with every chunk of a run and its shingles, which are read into `buffer` if
    /// they are in the file.
    pub(crate) fn for_each_chunk(
        &self,
        run: ChunkRun,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(ChunkId, &[u64]),
    ) -> Result<(), Error> {
        match run {
            ChunkRun::Slice(slice) => {
                let lists = self.lists(slice, buffer)?;
                lists.new_chunks().for_each(|(chunk, own)| each(chunk, own));
            }
            ChunkRun::Piece(piece) => {
                let (part, spill) = (&self.parts[piece.part], self.spill.as_ref());
                let mut heads = Vec::new();
                let chunks = Chunks {
                    heads: part.part(spill, piece.heads.range(), &mut heads)?,
                    shingles: part.part(spill, piece.shingles.range(), buffer)?,
                };
                for chunk in chunks {
                    if let Some(own) = chunk.shingles {
                        each(chunk.id, own);
                    }
                }
            }
        }
        Ok(())
    }

    /// Has all threads look at those slices that are `wanted`, in any order: `each` is given
    /// the lists of one, and what a thread keeps from one to the next, which comes back at
    /// the end. Huge documents that are in the file are read one at a time, or as many as an
    /// eighth of the memory has room for.
    pub(crate) fn fold<T: Send>(
        &self,
        wanted: impl Fn(Slice) -> bool + Sync,
        start: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, Lists<'_>) -> Result<(), Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let next = AtomicUsize::new(0);
        let budget = Budget::new(self.memory.bytes / HUGE_SHARE);
        let kept = rayon::broadcast(|_| {
            let mut kept = start();
            let mut buffer = Vec::new();
            while let Some(&slice) = self.slices.get(next.fetch_add(1, Ordering::Relaxed)) {
                if !wanted(slice) {
                    continue;
                }
                let is_huge = slice.words > HUGE_WORDS && self.parts[slice.part].is_on_disk();
                if !is_huge {
                    each(&mut kept, self.lists(slice, &mut buffer)?)?;
                    continue;
                }
                let _taken = budget.take(slice.words as u64 * 8);
                each(&mut kept, self.lists(slice, &mut Vec::new())?)?;
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
        let range = slice.start..slice.start + slice.words;
        let words = self.parts[slice.part].part(self.spill.as_ref(), range, buffer)?;
        Ok(Lists {
            first: slice.first,
            words,
        })
    }
}

/// Where every document and every chunk stands, so that single documents can be looked at.
pub(crate) struct ListPlaces<'a> {
    lists: &'a ShingleLists,
    /// Of each document, its part and where its words start.
    documents: Vec<(u32, u32)>,
    /// Of each chunk, its part and where its shingles start.
    chunks: Vec<(u32, u32)>,
}

impl<'a> ListPlaces<'a> {
    /// Looks at all of them once.
    pub(crate) fn new(lists: &'a ShingleLists) -> Result<Self, Error> {
        let mut documents = Vec::with_capacity(lists.len());
        let mut chunks = vec![(0, 0); lists.chunks()];
        let mut buffer = Vec::new();
        for &slice in lists.slices() {
            let part = slice.part as u32;
            let mut start = slice.start;
            for (_, own) in lists.lists(slice, &mut buffer)?.documents() {
                documents.push((part, start as u32));
                let mut place = start + 1 + own.heads.len();
                start = place + own.shingles.len();
                for chunk in own {
                    if let Some(shingles) = chunk.shingles {
                        chunks[chunk.id.0 as usize] = (part, place as u32);
                        place += shingles.len();
                    }
                }
            }
        }
        Ok(Self {
            lists,
            documents,
            chunks,
        })
    }

    /// Puts the shingles of a document into `shingles`, in order, repetitions included.
    pub(crate) fn shingles(
        &self,
        document: DocumentId,
        shingles: &mut Vec<Shingle>,
    ) -> Result<(), Error> {
        shingles.clear();
        let (mut buffer, mut heads) = (Vec::new(), Vec::new());
        let (part, start) = self.documents[document.index()];
        let counts = self.words((part, start), 1, &mut buffer)?;
        let count = counts.first().map_or(0, |counts| (counts >> 32) as usize);
        for &head in self.words((part, start + 1), count, &mut heads)? {
            let length = head as usize & ((1 << LENGTH_BITS) - 1);
            let chunk = ((head & !IS_NEW) >> LENGTH_BITS) as usize;
            let own = self.words(self.chunks[chunk], length, &mut buffer)?;
            shingles.extend(own.iter().map(|&shingle| Shingle(shingle)));
        }
        Ok(())
    }

    /// Words of a part, read into `buffer` if they are in the file.
    fn words<'b>(
        &'b self,
        (part, start): (u32, u32),
        count: usize,
        buffer: &'b mut Vec<u64>,
    ) -> Result<&'b [u64], Error> {
        let start = start as usize;
        let spill = self.lists.spill.as_ref();
        self.lists.parts[part as usize].part(spill, start..start + count, buffer)
    }
}

/// The lists of some consecutive documents.
pub(crate) struct Lists<'a> {
    first: u32,
    words: &'a [u64],
}

/// A chunk of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) id: ChunkId,
    /// Its shingles, if it is new here.
    pub(crate) shingles: Option<&'a [u64]>,
}

impl<'a> Lists<'a> {
    /// Each document with its chunks.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (DocumentId, Chunks<'a>)> {
        let mut rest = self.words;
        let next = move || {
            let (&counts, behind) = rest.split_first()?;
            let (heads, behind) = behind.split_at((counts >> 32) as usize);
            let (shingles, behind) = behind.split_at(counts as u32 as usize);
            rest = behind;
            Some(Chunks { heads, shingles })
        };
        (self.first..).map(DocumentId).zip(std::iter::from_fn(next))
    }

    /// The chunks that are new in these documents, with their shingles.
    pub(crate) fn new_chunks(&self) -> impl Iterator<Item = (ChunkId, &'a [u64])> {
        let chunks = self.documents().flat_map(|(_, chunks)| chunks);
        chunks.filter_map(|chunk| Some((chunk.id, chunk.shingles?)))
    }
}

/// The chunks of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunks<'a> {
    heads: &'a [u64],
    /// The shingles of those that are new.
    shingles: &'a [u64],
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    #[inline]
    fn next(&mut self) -> Option<Chunk<'a>> {
        let (&head, behind) = self.heads.split_first()?;
        self.heads = behind;
        let length = head as u32 & ((1 << LENGTH_BITS) - 1);
        let is_new = head & IS_NEW != 0;
        let own = match is_new {
            true => length as usize,
            false => 0,
        };
        let (shingles, behind) = self.shingles.split_at(own);
        self.shingles = behind;
        Some(Chunk {
            id: ChunkId(((head & !IS_NEW) >> LENGTH_BITS) as u32),
            shingles: is_new.then_some(shingles),
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
                (proptest::collection::vec(any::<u64>(), 0..6000), any::<bool>(), any::<bool>()),
                0..30,
            ),
            bytes in prop_oneof![Just(u64::MAX), Just(1000_u64), Just(400_000)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let memory = Memory { bytes, temp_dir: folder.path().to_owned() };
            let mut all = ShingleLists::new(&memory);
            let mut expected: Vec<Vec<u64>> = vec![];
            for block in lists.chunks(4) {
                let mut filled = ListBlock::default();
                let mut numbers = vec![];
                for (list, counts, goes_on) in block {
                    // Some go on where others have ended, as versions do.
                    let mut list = list.clone();
                    if let (true, Some(before)) = (*goes_on, expected.last()) {
                        list.extend_from_slice(before);
                    }
                    let shingles: Vec<Shingle> = list.iter().copied().map(Shingle).collect();
                    filled.push(&shingles);
                    numbers.push(counts.then(|| DocumentId(expected.len() as u32)));
                    if *counts {
                        expected.push(list);
                    }
                }
                all.push(&filled, &numbers).unwrap();
                all.limit(bytes / 2).unwrap();
            }
            all.finish().unwrap();
            let mut contents: Vec<Vec<u64>> = vec![];
            let mut found: Vec<Vec<u64>> = vec![];
            let mut buffer = vec![];
            for &slice in all.slices() {
                let lists = all.lists(slice, &mut buffer).unwrap();
                let new: Vec<usize> = lists.new_chunks().map(|(chunk, _)| chunk.index()).collect();
                prop_assert_eq!(new, slice.chunks().collect::<Vec<_>>());
                for (document, chunks) in lists.documents() {
                    prop_assert_eq!(document.index(), found.len());
                    let mut list = vec![];
                    for chunk in chunks {
                        if let Some(shingles) = chunk.shingles {
                            contents.push(shingles.to_vec());
                        }
                        list.extend_from_slice(&contents[chunk.id.index()]);
                    }
                    prop_assert_eq!(all.length(document) as usize, list.len());
                    found.push(list);
                }
            }
            prop_assert_eq!(contents.len(), all.chunks());
            // The same chunks come in runs none of which is huge.
            let mut in_runs: Vec<Vec<u64>> = vec![];
            for run in all.chunk_runs() {
                prop_assert_eq!(run.chunks().start, in_runs.len());
                prop_assert!(run.words() <= HUGE_WORDS + SLICE_WORDS, "{run:?}");
                all.for_each_chunk(run, &mut buffer, |chunk, shingles| {
                    assert_eq!(chunk.index(), in_runs.len());
                    in_runs.push(shingles.to_vec());
                }).unwrap();
                prop_assert_eq!(run.chunks().end, in_runs.len());
            }
            prop_assert_eq!(&in_runs, &contents);
            let places = ListPlaces::new(&all).unwrap();
            let mut shingles = vec![];
            for (document, list) in (0..).map(DocumentId).zip(&expected) {
                places.shingles(document, &mut shingles).unwrap();
                let found: Vec<u64> = shingles.iter().map(|shingle| shingle.0).collect();
                prop_assert_eq!(&found, list);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
