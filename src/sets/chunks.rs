//! Runs of consecutive shingles, cut where the shingles themselves say, so that versions of one
//! text are cut in the same places wherever they agree.
//!
//! Most of a version is the same chunks as another's: each is kept and worked on once, and the
//! documents only say that they have it. A cache tells which chunks were met before. It forgets
//! some when it is full: then a chunk is kept twice, which costs time and changes nothing.

use crate::shingle::Shingle;

/// A chunk, by its place among all that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChunkId(pub(crate) u32);

impl ChunkId {
    /// Its place as an index into tables.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Most shingles of a chunk.
const CHUNK_SHINGLES_MAX: usize = 128;
/// A chunk ends behind a shingle that has these bits clear: one in thirty-two.
const END_MASK: u64 = 31 << 20;

/// What a list of shingles is, whatever their order: lists with the same print are the same,
/// but for the accident that two hashes of 128 bits agree. The print of two lists together is
/// the sum of their prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Print {
    sum: u64,
    squares: u64,
}

impl Print {
    /// Of some shingles.
    pub(crate) fn of(shingles: impl IntoIterator<Item = Shingle>) -> Self {
        let shingles = shingles.into_iter();
        shingles.fold(Self::default(), Self::and)
    }

    #[inline]
    fn and(self, Shingle(shingle): Shingle) -> Self {
        // Odd, so that no shingle's square is lost for being a multiple of a power of two.
        let odd = (shingle >> 17) ^ shingle | 1;
        Self {
            sum: self.sum.wrapping_add(shingle),
            squares: self.squares.wrapping_add(odd.wrapping_mul(odd)),
        }
    }

    /// Of two lists together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            sum: self.sum.wrapping_add(other.sum),
            squares: self.squares.wrapping_add(other.squares),
        }
    }

    /// A hash of it, for tables.
    pub(crate) fn hash(self) -> u64 {
        (self.sum ^ self.squares.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Calls `each` with the length and the print of every chunk of a document, in order.
#[inline]
pub(super) fn for_each_chunk(shingles: &[Shingle], mut each: impl FnMut(usize, Print)) {
    let mut print = Print::default();
    let mut start = 0;
    for (index, &shingle) in shingles.iter().enumerate() {
        print = print.and(shingle);
        let length = index + 1 - start;
        if shingle.0 & END_MASK == 0 || length == CHUNK_SHINGLES_MAX {
            each(length, std::mem::take(&mut print));
            start = index + 1;
        }
    }
    if start < shingles.len() {
        each(shingles.len() - start, print);
    }
}

/// Which chunks were met before.
#[derive(Debug)]
pub(super) struct ChunkCache {
    /// Each chunk in the place that its print tells, or behind it.
    places: Vec<(Print, u32)>,
    filled: usize,
    places_max: usize,
}

/// Stands in a place that no chunk has.
const NONE: u32 = u32::MAX;
/// Places that are looked at for a chunk; if others have them all, the first is forgotten.
const PROBES: usize = 8;
/// Places that a cache starts with.
const PLACES_MIN: usize = 1 << 10;

impl ChunkCache {
    /// Takes no more than so much memory.
    pub(super) fn new(bytes_max: u64) -> Self {
        let places = bytes_max / size_of::<(Print, u32)>() as u64;
        let places_max = usize::try_from(places).unwrap_or(usize::MAX).max(1);
        Self {
            places: vec![(Print::default(), NONE); PLACES_MIN],
            filled: 0,
            places_max: 1 << places_max.ilog2().min(32),
        }
    }

    /// The chunk with this print, if it was met; else `new` is remembered.
    #[inline]
    pub(super) fn find(&mut self, print: Print, new: ChunkId) -> Option<ChunkId> {
        if self.filled * 2 > self.places.len() && self.places.len() < self.places_max {
            self.grow();
        }
        let first = self.place(print);
        let mut free = first;
        for place in (first..first + PROBES).map(|place| place & (self.places.len() - 1)) {
            let (known, chunk) = self.places[place];
            if chunk == NONE {
                self.filled += 1;
                free = place;
                break;
            }
            if known == print {
                return Some(ChunkId(chunk));
            }
        }
        self.places[free] = (print, new.0);
        None
    }

    fn place(&self, print: Print) -> usize {
        (print.hash() >> (64 - self.places.len().ilog2())) as usize
    }

    fn grow(&mut self) {
        let larger = vec![(Print::default(), NONE); self.places.len() * 4];
        let before = std::mem::replace(&mut self.places, larger);
        self.filled = 0;
        for (print, chunk) in before.into_iter().filter(|&(_, chunk)| chunk != NONE) {
            self.find(print, ChunkId(chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_print_tells_lists_apart(
            mut one in proptest::collection::vec(any::<u64>().prop_map(Shingle), 0..20), more: u64,
        ) {
            let print = Print::of(one.iter().copied());
            one.reverse();
            prop_assert_eq!(Print::of(one.iter().copied()), print);
            one.push(Shingle(more));
            prop_assert_ne!(Print::of(one.iter().copied()), print);
        }

        #[test]
        fn chunks_are_all_of_a_document_and_the_same_behind_an_edit(
            shingles in proptest::collection::vec(any::<u64>().prop_map(Shingle), 0..600),
            edits in proptest::collection::vec(any::<u64>().prop_map(Shingle), 0..9),
        ) {
            let chunks = |shingles: &[Shingle]| {
                let mut found = vec![];
                for_each_chunk(shingles, |length, print| found.push((length, print)));
                found
            };
            let all = chunks(&shingles);
            prop_assert_eq!(all.iter().map(|(length, _)| length).sum::<usize>(), shingles.len());
            prop_assert!(all.iter().all(|&(length, _)| length <= CHUNK_SHINGLES_MAX));
            let whole = all.iter().fold(Print::default(), |sum, (_, print)| sum.with(*print));
            prop_assert_eq!(whole, Print::of(shingles.iter().copied()));
            let edited = chunks(&[&edits[..], &shingles].concat());
            if let (Some(last), Some(same)) = (all.last(), edited.last()) && all.len() > 6 {
                prop_assert_eq!(last, same);
            }
        }
    }

    #[test]
    fn a_full_cache_forgets() {
        let print = |n: u64| Print::of([Shingle(n.wrapping_mul(0x2545_f491_4f6c_dd1d))]);
        let mut roomy = ChunkCache::new(1 << 30);
        let mut small = ChunkCache::new(1000);
        let mut found = [0; 2];
        for round in 0..2 {
            for n in 0..100_000_u32 {
                for (cache, found) in [&mut roomy, &mut small].into_iter().zip(&mut found) {
                    match cache.find(print(n.into()), ChunkId(n)) {
                        Some(chunk) => {
                            assert_eq!((round, chunk), (1, ChunkId(n)));
                            *found += 1;
                        }
                        None => assert!(round == 0 || *found < 100_000),
                    }
                }
            }
        }
        assert!(found[0] > 97_000 && found[1] < 20_000, "{found:?}");
    }
}
