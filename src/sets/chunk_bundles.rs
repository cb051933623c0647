//! The bundles of chunks: shingles of a chunk that occur in the same chunks, and so in the same
//! documents. Shingles may be in the same documents by way of different chunks: then they are in
//! different bundles here, which [`SummedSets`](super::SummedSets) put together.

use std::ops::Range;

use super::chunks::ChunkId;
use super::lists::{ChunkRun, Chunks, ShingleLists};
use super::shards::{self, Shards};
use super::sums::{answer, sum_of_one};
use super::uses::{ChunkUses, Use};
use crate::error::Error;
use crate::memory::Memory;
use crate::observer::WorkCount;
use crate::spill::{Spill, Store, Stored};

/// The bundles of all chunks that somebody has.
pub(super) struct ChunkBundles {
    stretches: Vec<Stretch>,
    spill: Option<Spill>,
}

/// The bundles of some consecutive chunks.
#[derive(Default)]
struct Stretch {
    /// The first chunk.
    first: u32,
    /// Of each chunk, shingles that only one document has.
    alone: Vec<u8>,
    /// Where each chunk's bundles end.
    ends: Vec<u32>,
    bundles: Stored<(u64, u32)>,
}

/// What the shards tell of the chunks of a stretch.
#[derive(Default)]
struct Told {
    chunks: Vec<u32>,
    alone: Vec<u8>,
    bundles: Vec<(u64, u32)>,
    ends: Vec<u32>,
}

impl Told {
    /// Takes a chunk with what became of its shingles.
    fn push(&mut self, chunk: u32, answers: &[u64], uses: &ChunkUses) {
        let mut alone = 0;
        let start = self.bundles.len();
        // Neighbours are mostly of one bundle.
        for same in answers.chunk_by(|one, two| one == two) {
            let count = same.len() as u32;
            match same[0] {
                answer::REPEATED => {}
                answer::ALONE => alone += count,
                sum => self.bundles.push((sum, count)),
            }
        }
        // What is in this chunk alone is a bundle too, if several documents have it.
        if alone > 0 && uses.of(ChunkId(chunk)).is_twice() {
            self.bundles.push((sum_of_one(chunk), alone));
            alone = 0;
        }
        sort_and_add(&mut self.bundles, start);
        self.chunks.push(chunk);
        self.alone.push(alone as u8);
        self.ends.push(self.bundles.len() as u32);
    }
}

/// Puts what is from `start` on into order, and adds up what is the same.
pub(super) fn sort_and_add(bundles: &mut Vec<(u64, u32)>, start: usize) {
    bundles[start..].sort_unstable_by_key(|&(sum, _)| sum);
    let mut kept = start;
    for index in start + 1..bundles.len() {
        match bundles[kept].0 == bundles[index].0 {
            true => bundles[kept].1 += bundles[index].1,
            false => {
                kept += 1;
                bundles[kept] = bundles[index];
            }
        }
    }
    if start < bundles.len() {
        bundles.truncate(kept + 1);
    }
}

/// The part of the memory that the bundles of chunks may take before they go to a file.
const BUNDLES_SHARE: u64 = 8;

impl ChunkBundles {
    pub(super) fn new(
        lists: &ShingleLists,
        uses: &ChunkUses,
        memory: &Memory,
        count: (&WorkCount<'_>, u64),
    ) -> Result<Self, Error> {
        let used = UsedChunks {
            lists,
            uses,
            runs: lists.chunk_runs(),
        };
        let shards = Shards::new(&used, memory)?;
        let store = Store::new(memory, BUNDLES_SHARE);
        let (stretches, _) = shards.answer(
            |told: &mut Told, chunk, _, answers| told.push(chunk, answers, uses),
            |runs, told| {
                let chunks = used.chunks(runs);
                let mut stretch = Stretch {
                    first: chunks.start as u32,
                    alone: vec![0; chunks.len()],
                    ends: vec![0; chunks.len()],
                    bundles: store.keep(told.bundles)?,
                };
                for (index, &chunk) in told.chunks.iter().enumerate() {
                    let place = chunk as usize - chunks.start;
                    stretch.alone[place] = told.alone[index];
                    stretch.ends[place] = told.ends[index];
                }
                // Those that nobody has end where the ones before them do.
                let mut end = 0;
                for place in &mut stretch.ends {
                    end = end.max(*place);
                    *place = end;
                }
                Ok(stretch)
            },
            count,
        )?;
        Ok(Self {
            stretches,
            spill: store.finish(),
        })
    }

    /// Appends the bundles of these chunks, and gives the number of their shingles that are in
    /// none. A bundle may be in several chunks; of many chunks, repetitions are left out.
    pub(super) fn of(
        &self,
        chunks: Chunks<'_>,
        bundles: &mut Vec<(u64, u32)>,
    ) -> Result<u32, Error> {
        let mut alone = 0;
        let mut buffer = Vec::new();
        let start = bundles.len();
        let mut most = start + BUNDLES_TO_REPEAT;
        for chunk in chunks {
            let is_before = |stretch: &Stretch| stretch.first <= chunk.id.0;
            let stretch = &self.stretches[self.stretches.partition_point(is_before) - 1];
            let place = (chunk.id.0 - stretch.first) as usize;
            alone += u32::from(stretch.alone[place]);
            let from = match place {
                0 => 0,
                _ => stretch.ends[place - 1],
            };
            let range = from as usize..stretch.ends[place] as usize;
            let own = stretch
                .bundles
                .part(self.spill.as_ref(), range, &mut buffer)?;
            bundles.extend_from_slice(own);
            if bundles.len() > most {
                bundles[start..].sort_unstable();
                let mut distinct = start + 1;
                for index in start + 1..bundles.len() {
                    if bundles[index] != bundles[distinct - 1] {
                        bundles[distinct] = bundles[index];
                        distinct += 1;
                    }
                }
                bundles.truncate(distinct);
                most = start + BUNDLES_TO_REPEAT.max(2 * (distinct - start));
            }
        }
        Ok(alone)
    }
}

/// Bundles of a document beyond which those that are repeated are left out; few in tests.
const BUNDLES_TO_REPEAT: usize = if cfg!(test) { 1 << 3 } else { 1 << 17 };

/// The chunks that some document has, each with its shingles; a part is a run of them.
struct UsedChunks<'a> {
    lists: &'a ShingleLists,
    uses: &'a ChunkUses,
    runs: Vec<ChunkRun>,
}

impl UsedChunks<'_> {
    /// The chunks of some runs, by number.
    fn chunks(&self, runs: Range<usize>) -> Range<usize> {
        match &self.runs[runs] {
            [] => 0..0,
            [first, .., last] => first.chunks().start..last.chunks().end,
            [only] => only.chunks(),
        }
    }
}

impl shards::Lists for UsedChunks<'_> {
    type Item = u64;

    fn key(shingle: u64) -> u64 {
        shingle
    }

    /// Shingles are evenly spread over chunks, more or less.
    fn counts(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().map(|run| {
            let used = self.uses.count(run.chunks()) as u64;
            run.words() as u64 * used / run.chunks().len().max(1) as u64
        })
    }

    fn for_each(
        &self,
        part: usize,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(u32, &[u64]),
    ) -> Result<(), Error> {
        let run = self.runs[part];
        if !self.uses.any(run.chunks()) {
            return Ok(());
        }
        self.lists.for_each_chunk(run, buffer, |chunk, shingles| {
            if self.uses.of(chunk) != Use::NONE {
                each(chunk.0, shingles);
            }
        })
    }
}
