//! Shingles dealt out to shards by their highest bits, in order of chunks, so that what
//! they have in common is found a shard at a time, in a table that fits into a cache.
//!
//! The lists are dealt out a stretch at a time: what a stretch has of each shard stands in one
//! block, shard after shard, in memory or in a file. The bits that tell the shard are the same for
//! all of it: in their place, the lowest bits of a word say how many chunks further it belongs.
//! What is too far, and the first of each block, has a word before it that names the chunk. When a
//! shard has been worked on, an answer for each shingle stands in the place of its words, and
//! reading the lists again in the same order leads each answer back to its shingle.

use std::ops::Range;

use rayon::prelude::*;

use super::chunks::ChunkId;
use super::lists::{ShingleLists, Slice};
use super::pages;
use super::spill::{Segment, Spill};
use super::uses::{ChunkUses, Use};
use crate::error::Error;
use crate::settings::Memory;

/// Shingles in a shard that are aimed at, and how many bits may tell a shard.
const SHARD_SHINGLES: u64 = 1 << 17;
const SHARD_BITS: Range<u32> = 6..13;
/// The part of the memory that all shards may take before they go to a file.
const MEMORY_SHARE: u64 = 4;
/// Shingles that a thread deals out at a time.
const STRETCH_SHINGLES: u64 = 1 << 18;
/// Most stretches of a collection, as each has a count for every shard.
const STRETCHES_MAX: u64 = 256;

/// Shingles of chunks, to be dealt out to shards.
pub(super) struct Shards<'a> {
    lists: &'a ShingleLists,
    uses: &'a ChunkUses,
    layout: Layout,
    stretches: Vec<Range<usize>>,
    /// Where they go if not into memory.
    spill: Option<Spill>,
}

/// Which bits of a shingle tell what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    shard_bits: u32,
}

impl Layout {
    fn shards(self) -> usize {
        1 << self.shard_bits
    }

    #[inline]
    fn shard(self, shingle: u64) -> usize {
        (shingle >> (64 - self.shard_bits)) as usize
    }

    /// Calls `each` with the chunk of every shingle of a block, and what of it the shard does
    /// not tell.
    #[inline]
    pub(super) fn for_each(self, words: &[u64], mut each: impl FnMut(u32, u64)) {
        let far = (1_u64 << self.shard_bits) - 1;
        let mut chunk = 0;
        for &word in words {
            match word & far {
                steps if steps == far => chunk = (word >> self.shard_bits) as u32,
                steps => {
                    chunk += steps as u32;
                    each(chunk, word >> self.shard_bits);
                }
            }
        }
    }
}

/// What has been dealt out of a stretch.
struct Dealt {
    /// Where each shard's words end.
    ends: Vec<u32>,
    words: Words,
}

enum Words {
    InMemory(Vec<u64>),
    OnDisk(Segment),
}

impl Dealt {
    fn range(&self, shard: usize) -> Range<usize> {
        let start = if shard == 0 { 0 } else { self.ends[shard - 1] };
        start as usize..self.ends[shard] as usize
    }
}

/// Deals the shingles of a stretch out.
struct Dealer {
    layout: Layout,
    /// The last chunk in each shard.
    last: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Dealer {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            last: vec![NOWHERE; layout.shards()],
        }
    }

    #[inline]
    fn deal(&mut self, chunk: ChunkId, list: &[u64], mut put: impl FnMut(usize, u64)) {
        let bits = self.layout.shard_bits;
        let far = (1_u64 << bits) - 1;
        for &shingle in list {
            let shard = self.layout.shard(shingle);
            let last = &mut self.last[shard];
            let mut steps = u64::from(chunk.0.wrapping_sub(*last));
            if *last == NOWHERE || steps >= far {
                put(shard, u64::from(chunk.0) << bits | far);
                steps = 0;
            }
            *last = chunk.0;
            put(shard, shingle << bits | steps);
        }
    }
}

impl<'a> Shards<'a> {
    /// For those chunks that somebody has.
    pub(super) fn new(
        lists: &'a ShingleLists,
        uses: &'a ChunkUses,
        memory: &Memory,
    ) -> Result<Self, Error> {
        // About as many shingles as the part of its chunks that somebody has.
        let shingles = |slice: &Slice| {
            let used = uses.count(slice.chunks()) as u64;
            slice.words() as u64 * used / slice.chunks().len().max(1) as u64
        };
        let total: u64 = lists.slices().iter().map(shingles).sum();
        let shard_bits = (total / SHARD_SHINGLES)
            .next_power_of_two()
            .ilog2()
            .clamp(SHARD_BITS.start, SHARD_BITS.end - 1);
        let mut shards = Self {
            lists,
            uses,
            layout: Layout { shard_bits },
            stretches: Vec::new(),
            spill: match total * 9 > memory.bytes / MEMORY_SHARE {
                true => Some(Spill::create(&memory.temp_dir)?),
                false => None,
            },
        };
        let aim = (total / STRETCHES_MAX).max(STRETCH_SHINGLES);
        let (mut start, mut sum) = (0, 0);
        for (index, slice) in lists.slices().iter().enumerate() {
            sum += shingles(slice);
            if sum >= aim || index + 1 == lists.slices().len() {
                shards.stretches.push(start..index + 1);
                (start, sum) = (index + 1, 0);
            }
        }
        Ok(shards)
    }

    /// How words are laid out.
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// The chunks that are kept in a stretch, by number.
    fn chunks(&self, stretch: &Range<usize>) -> Range<usize> {
        let slices = &self.lists.slices()[stretch.clone()];
        match slices {
            [] => 0..0,
            [first, ..] => first.chunks().start..slices[slices.len() - 1].chunks().end,
        }
    }

    /// Calls `each` with every chunk of a stretch that somebody has, and its shingles.
    fn for_each_chunk(
        &self,
        stretch: &Range<usize>,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(ChunkId, &[u64]),
    ) -> Result<(), Error> {
        for &slice in &self.lists.slices()[stretch.clone()] {
            if self.uses.any(slice.chunks()) {
                let lists = self.lists.lists(slice, buffer)?;
                for (chunk, shingles) in lists.new_chunks() {
                    if self.uses.of(chunk) != Use::NONE {
                        each(chunk, shingles);
                    }
                }
            }
        }
        Ok(())
    }

    /// Has `work` replace the words of each shard, which are in one block for each stretch, by an
    /// answer for each shingle, at the start of each block; what a thread needs for it comes from
    /// `scratch`. Then `each` is called with every chunk and the answers for its shingles, in
    /// order, and `done` makes something of what that made of the chunks of a stretch.
    pub(super) fn answer<S, T: Default, U: Send>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, &mut [&mut [u64]]) + Sync + Send,
        each: impl Fn(&mut T, ChunkId, &[u64]) + Sync + Send,
        done: impl Fn(Range<usize>, T) -> Result<U, Error> + Sync + Send,
    ) -> Result<Vec<U>, Error> {
        let stretches = self.stretches.par_iter();
        let mut dealt: Vec<Dealt> = stretches
            .map_init(Vec::new, |buffer, stretch| self.deal(stretch, buffer))
            .collect::<Result<_, Error>>()?;
        match &self.spill {
            None => self.work_in_memory(&mut dealt, scratch, work),
            Some(spill) => self.work_on_disk(spill, &dealt, scratch, work)?,
        }
        let stretches = self.stretches.par_iter().zip(dealt);
        stretches
            .map_init(Vec::new, |buffer, (stretch, dealt)| {
                let mut made = T::default();
                self.take_back(stretch, dealt, buffer, |chunk, answers| {
                    each(&mut made, chunk, answers);
                })?;
                done(self.chunks(stretch), made)
            })
            .collect()
    }

    /// Deals a stretch out.
    fn deal(&self, stretch: &Range<usize>, buffer: &mut Vec<u64>) -> Result<Dealt, Error> {
        let mut ends = vec![0_u32; self.layout.shards()];
        let mut dealer = Dealer::new(self.layout);
        self.for_each_chunk(stretch, buffer, |chunk, list| {
            dealer.deal(chunk, list, |shard, _| ends[shard] += 1);
        })?;
        // Where each shard starts; once it has been filled, where it ends.
        let mut end = 0;
        for count in &mut ends {
            (*count, end) = (end, end + *count);
        }
        let mut words = pages::zeros(end as usize);
        let mut dealer = Dealer::new(self.layout);
        self.for_each_chunk(stretch, buffer, |chunk, list| {
            dealer.deal(chunk, list, |shard, word| {
                words[ends[shard] as usize] = word;
                ends[shard] += 1;
            });
        })?;
        let words = match &self.spill {
            None => Words::InMemory(words),
            Some(spill) => Words::OnDisk(spill.append(&words)?),
        };
        Ok(Dealt { ends, words })
    }

    fn work_in_memory<S>(
        &self,
        dealt: &mut [Dealt],
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, &mut [&mut [u64]]) + Sync + Send,
    ) {
        let mut shards: Vec<Vec<&mut [u64]>> = Vec::new();
        shards.resize_with(self.layout.shards(), Vec::new);
        for Dealt { ends, words } in dealt {
            if let Words::InMemory(words) = words {
                let (mut rest, mut start) = (&mut words[..], 0);
                for (shard, &end) in shards.iter_mut().zip(ends.iter()) {
                    let (own, behind) = rest.split_at_mut((end - start) as usize);
                    shard.push(own);
                    (rest, start) = (behind, end);
                }
            }
        }
        shards
            .into_par_iter()
            .for_each_init(scratch, |scratch, mut blocks| work(scratch, &mut blocks));
    }

    fn work_on_disk<S>(
        &self,
        spill: &Spill,
        dealt: &[Dealt],
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, &mut [&mut [u64]]) + Sync + Send,
    ) -> Result<(), Error> {
        let part = |dealt: &Dealt, shard| match dealt.words {
            Words::OnDisk(segment) => {
                let range = dealt.range(shard);
                segment.part::<u64>(range.start, range.len())
            }
            Words::InMemory(_) => Segment::default(),
        };
        (0..self.layout.shards()).into_par_iter().try_for_each_init(
            || (scratch(), Vec::new(), Vec::new()),
            |(scratch, words, block), shard| {
                words.clear();
                for dealt in dealt {
                    spill.read(part(dealt, shard), block)?;
                    words.extend_from_slice(block);
                }
                let mut blocks = Vec::with_capacity(dealt.len());
                let mut rest = &mut words[..];
                for dealt in dealt {
                    let (own, behind) = rest.split_at_mut(dealt.range(shard).len());
                    blocks.push(own);
                    rest = behind;
                }
                work(scratch, &mut blocks);
                for (dealt, block) in dealt.iter().zip(blocks) {
                    spill.overwrite(part(dealt, shard), block)?;
                }
                Ok(())
            },
        )
    }

    /// Calls `each` with every chunk of a stretch and the answers for its shingles.
    fn take_back(
        &self,
        stretch: &Range<usize>,
        dealt: Dealt,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(ChunkId, &[u64]),
    ) -> Result<(), Error> {
        let mut next: Vec<u32> = (0..self.layout.shards())
            .map(|shard| dealt.range(shard).start as u32)
            .collect();
        let answers = match (dealt.words, &self.spill) {
            (Words::InMemory(answers), _) => answers,
            (Words::OnDisk(segment), Some(spill)) => {
                let mut answers = Vec::new();
                spill.read(segment, &mut answers)?;
                answers
            }
            (Words::OnDisk(_), None) => Vec::new(),
        };
        let mut told = Vec::new();
        self.for_each_chunk(stretch, buffer, |chunk, list| {
            told.clear();
            told.extend(list.iter().map(|&shingle| {
                let next = &mut next[self.layout.shard(shingle)];
                *next += 1;
                answers[*next as usize - 1]
            }));
            each(chunk, &told);
        })
    }
}
