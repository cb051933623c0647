//! Shingles dealt out to shards by their highest bits, in order of chunks, so that what
//! they have in common is found a shard at a time, in a table that fits into a cache.
//!
//! Shards are made some at a time: a round of them must fit into memory, and the lists are
//! read once more for each round. A shard is a list of words. The bits that tell the shard are
//! the same for all of it: in their place, the lowest bits of a word say how many chunks
//! further it belongs. What is too far, and the first of each stretch, has a word before it that
//! names the chunk. When a shard has been worked on, an answer for each shingle stands in the
//! place of its words, and reading the lists again in the same order leads each answer back
//! to its shingle.

use std::ops::Range;

use rayon::prelude::*;

use super::chunks::ChunkId;
use super::lists::{ShingleLists, Slice};
use super::pages;
use super::uses::{ChunkUses, Use};
use crate::error::Error;
use crate::settings::Memory;

/// Shingles in a shard that are aimed at, and how many bits may tell a shard.
const SHARD_SHINGLES: u64 = 1 << 17;
const SHARD_BITS: Range<u32> = 6..13;
/// The part of the memory that the shards of a round may take.
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
    stretches: Vec<Stretch>,
}

/// Which bits of a shingle tell what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    round_bits: u32,
    /// Those that tell the round are the first of these.
    shard_bits: u32,
}

impl Layout {
    fn rounds(self) -> usize {
        1 << self.round_bits
    }

    fn shards(self) -> usize {
        1 << self.shard_bits
    }

    /// Shards of a round.
    fn of_round(self, round: usize) -> Range<usize> {
        let count = self.shards() / self.rounds();
        round * count..(round + 1) * count
    }

    #[inline]
    fn shard(self, shingle: u64) -> usize {
        (shingle >> (64 - self.shard_bits)) as usize
    }

    #[inline]
    fn round(self, shingle: u64) -> usize {
        // In two steps, as one round only is a shift by 64.
        (shingle >> 1 >> (63 - self.round_bits)) as usize
    }

    /// Whether a word names a chunk.
    fn is_name(self, word: u64) -> bool {
        let far = (1_u64 << self.shard_bits) - 1;
        word & far == far
    }

    /// Calls `each` with the chunk of every shingle of a shard, and what of it the shard does
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

/// Some consecutive slices.
struct Stretch {
    slices: Range<usize>,
    /// For each shard, how many shingles there are, and how many words.
    shingles: Vec<u32>,
    words: Vec<u32>,
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
        let counted = lists.fold(
            |slice| uses.any(slice.chunks()),
            Vec::new,
            |counted, lists| {
                let is_used = |(chunk, _): &(ChunkId, &[u64])| uses.of(*chunk) != Use::NONE;
                let used = lists.new_chunks().filter(is_used);
                let shingles: usize = used.map(|(_, shingles)| shingles.len()).sum();
                counted.push((lists.first(), shingles as u64));
            },
        )?;
        let mut counts: Vec<(u32, u64)> = counted.concat();
        counts.sort_unstable();
        let total: u64 = counts.iter().map(|&(_, shingles)| shingles).sum();
        let shard_bits = (total / SHARD_SHINGLES)
            .next_power_of_two()
            .ilog2()
            .clamp(SHARD_BITS.start, SHARD_BITS.end - 1);
        let rounds = (total * 9)
            .div_ceil((memory.bytes / MEMORY_SHARE).max(1))
            .next_power_of_two();
        let mut shards = Self {
            lists,
            uses,
            layout: Layout {
                round_bits: rounds.ilog2().min(shard_bits),
                shard_bits,
            },
            stretches: Vec::new(),
        };
        let aim = (total / STRETCHES_MAX).max(STRETCH_SHINGLES);
        shards.cut(aim, |slice| {
            let first = slice.documents().start as u32;
            let place = counts.binary_search_by_key(&first, |&(first, _)| first);
            place.map_or(0, |place| counts[place].1)
        });
        shards.count()?;
        Ok(shards)
    }

    /// Cuts the slices into stretches of about so many shingles.
    fn cut(&mut self, aim: u64, shingles: impl Fn(Slice) -> u64) {
        let slices = self.lists.slices();
        let (mut start, mut sum) = (0, 0);
        for (index, &slice) in slices.iter().enumerate() {
            sum += shingles(slice);
            if sum >= aim || index + 1 == slices.len() {
                self.stretches.push(Stretch {
                    slices: start..index + 1,
                    shingles: Vec::new(),
                    words: Vec::new(),
                });
                (start, sum) = (index + 1, 0);
            }
        }
    }

    /// Number of stretches.
    pub(super) fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// How words are laid out.
    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// The chunks that are kept in a stretch, by number.
    pub(super) fn chunks(&self, stretch: usize) -> Range<usize> {
        let slices = &self.lists.slices()[self.stretches[stretch].slices.clone()];
        match slices {
            [] => 0..0,
            [first, ..] => first.chunks().start..slices[slices.len() - 1].chunks().end,
        }
    }

    /// Calls `each` with every chunk of a stretch that somebody has, and its shingles.
    fn for_each_chunk(
        &self,
        stretch: &Stretch,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(ChunkId, &[u64]),
    ) -> Result<(), Error> {
        for &slice in &self.lists.slices()[stretch.slices.clone()] {
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

    fn count(&mut self) -> Result<(), Error> {
        let layout = self.layout;
        let counted = self
            .stretches
            .par_iter()
            .map_init(Vec::new, |buffer, stretch| {
                let mut shingles = vec![0; layout.shards()];
                let mut words = vec![0; layout.shards()];
                let mut dealer = Dealer::new(layout);
                self.for_each_chunk(stretch, buffer, |chunk, list| {
                    dealer.deal(chunk, list, |shard, word| {
                        words[shard] += 1;
                        shingles[shard] += u32::from(!layout.is_name(word));
                    });
                })?;
                Ok((shingles, words))
            });
        let counted: Vec<_> = counted.collect::<Result<_, Error>>()?;
        for (stretch, counted) in self.stretches.iter_mut().zip(counted) {
            (stretch.shingles, stretch.words) = counted;
        }
        Ok(())
    }

    /// Round after round, has `work` replace the words of each shard by an answer for each
    /// shingle, at the start of the words; what a thread needs for it comes from `scratch`. Then
    /// `each` is called with every chunk and the answers for its shingles, in order, and
    /// `done` takes what that made of a stretch.
    pub(super) fn answer<S, T: Default>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, &mut [u64]) + Sync + Send,
        each: impl Fn(&mut T, ChunkId, &[u64]) + Sync + Send,
        done: impl Fn(usize, T) -> Result<(), Error> + Sync + Send,
    ) -> Result<(), Error> {
        let total = |round| -> usize {
            let words = |s: &Stretch| s.words[self.layout.of_round(round)].iter().sum::<u32>();
            self.stretches.iter().map(|s| words(s) as usize).sum()
        };
        let most = (0..self.layout.rounds()).map(total).max().unwrap_or(0);
        let mut words = pages::zeros(most);
        for round in 0..self.layout.rounds() {
            let starts = self.deal(round, &mut words)?;
            let mut own = Vec::with_capacity(starts.len());
            let mut rest = &mut words[..];
            for ends in starts.windows(2) {
                let (words, behind) = rest.split_at_mut(ends[1] - ends[0]);
                own.push(words);
                rest = behind;
            }
            own.into_par_iter()
                .for_each_init(&scratch, |scratch, words| work(scratch, words));
            self.take_back(round, &words, &starts, &each, &done)?;
        }
        Ok(())
    }

    /// Deals the shingles of a round out into `words`, shard by shard, in each by stretch, and
    /// gives where each shard starts, and the end.
    fn deal(&self, round: usize, words: &mut [u64]) -> Result<Vec<usize>, Error> {
        let shards = self.layout.of_round(round);
        let mut starts = vec![0];
        // Each stretch has a place of its own in every shard.
        let mut places: Vec<Vec<&mut [u64]>> = self.stretches.iter().map(|_| Vec::new()).collect();
        let (mut rest, mut end) = (words, 0);
        for shard in shards.clone() {
            for (stretch, places) in self.stretches.iter().zip(&mut places) {
                let count = stretch.words[shard] as usize;
                let (place, behind) = rest.split_at_mut(count);
                places.push(place);
                rest = behind;
                end += count;
            }
            starts.push(end);
        }
        places
            .into_par_iter()
            .zip(&self.stretches)
            .try_for_each_init(
                || (Vec::new(), Vec::new()),
                |(buffer, own), (mut places, stretch)| {
                    let mut dealer = Dealer::new(self.layout);
                    let mut next = vec![0_u32; shards.len()];
                    self.for_each_chunk(stretch, buffer, |chunk, list| {
                        let list = self.of_round(round, list, own);
                        dealer.deal(chunk, list, |shard, word| {
                            let shard = shard - shards.start;
                            places[shard][next[shard] as usize] = word;
                            next[shard] += 1;
                        });
                    })
                },
            )?;
        Ok(starts)
    }

    /// Those shingles of a list that belong to a round.
    #[inline]
    fn of_round<'l>(&self, round: usize, list: &'l [u64], own: &'l mut Vec<u64>) -> &'l [u64] {
        if self.layout.round_bits == 0 {
            return list;
        }
        own.clear();
        own.resize(list.len(), 0);
        let mut count = 0;
        for &shingle in list {
            own[count] = shingle;
            count += usize::from(self.layout.round(shingle) == round);
        }
        &own[..count]
    }

    fn take_back<T: Default>(
        &self,
        round: usize,
        answers: &[u64],
        starts: &[usize],
        each: &(impl Fn(&mut T, ChunkId, &[u64]) + Sync),
        done: &(impl Fn(usize, T) -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        let shards = self.layout.of_round(round);
        // Where each stretch's answers start in every shard.
        let mut sums = starts[..shards.len()].to_vec();
        let firsts: Vec<Vec<usize>> = self
            .stretches
            .iter()
            .map(|stretch| {
                let firsts = sums.clone();
                for (sum, &count) in sums.iter_mut().zip(&stretch.shingles[shards.clone()]) {
                    *sum += count as usize;
                }
                firsts
            })
            .collect();
        let stretches = self.stretches.par_iter().enumerate().zip(firsts);
        stretches.try_for_each_init(
            || (Vec::new(), Vec::new(), Vec::new()),
            |(buffer, own, told), ((number, stretch), mut next)| {
                let mut made = T::default();
                self.for_each_chunk(stretch, buffer, |chunk, list| {
                    told.clear();
                    told.extend(self.of_round(round, list, own).iter().map(|&shingle| {
                        let next = &mut next[self.layout.shard(shingle) - shards.start];
                        *next += 1;
                        answers[*next - 1]
                    }));
                    each(&mut made, chunk, told);
                })?;
                done(number, made)
            },
        )
    }
}
