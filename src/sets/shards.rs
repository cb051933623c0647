//! Keys of many owners dealt out to shards by their highest bits, in order of owners, so that
//! what they have in common is found a shard at a time, in a table that fits into a cache.
//!
//! The lists are dealt out a stretch at a time: what a stretch has of each shard stands in one
//! block, shard after shard, in memory or in a file. The bits that tell the shard are the same for
//! all of it: in their place, the lowest bits of a word say how many owners further it belongs.
//! What is too far, and the first of each block, has a word before it that names the owner. When a
//! shard has been worked on, an answer for each key stands in the place of its words, and
//! reading the lists again in the same order leads each answer back to its key.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::pages;
use super::sums::Sums;
use crate::error::Error;
use crate::memory::Memory;
use crate::observer::WorkCount;
use crate::spill::{Segment, Spill};

/// Keys in a shard that are aimed at, and how many bits may tell a shard.
const SHARD_KEYS: u64 = 1 << 17;
const SHARD_BITS: Range<u32> = 6..13;
/// The part of the memory that all shards may take before they go to a file.
const MEMORY_SHARE: u64 = 4;
/// Keys that a thread deals out at a time: as a rule, and at the least if memory is short.
const STRETCH_KEYS: u64 = 1 << 18;
const STRETCH_KEYS_MIN: u64 = 1 << 15;
/// Most stretches of a collection, as each has a count for every shard; unless memory is short.
const STRETCHES_MAX: u64 = 256;
/// Bytes of a key while a thread works on its stretch: its word, its answer, and what is made of
/// it; and the part of the memory that the stretches of all threads may take.
const KEY_BYTES: u64 = 48;
const STRETCHES_SHARE: u64 = 4;
/// Words of a shard beyond which it is looked at a block at a time; few in tests.
const SHARD_WORDS_MAX: u64 = if cfg!(test) { 1 << 4 } else { 1 << 20 };
/// How much of a hundred of the work it is to deal out, to answer and to take back: about, as
/// measured.
const WORK_PARTS: [u64; 3] = [15, 30, 55];

/// Lists of keys that can be read again and again, in parts.
pub(super) trait Lists: Sync {
    /// What stands in a list.
    type Item: Copy + Default;

    /// Its key, whose bits are all random.
    fn key(item: Self::Item) -> u64;

    /// Items of each part, about.
    fn counts(&self) -> impl Iterator<Item = u64>;

    /// Calls `each` with every owner of a part and its list, in ascending order of owners.
    fn for_each(
        &self,
        part: usize,
        buffer: &mut Vec<Self::Item>,
        each: impl FnMut(u32, &[Self::Item]),
    ) -> Result<(), Error>;
}

/// Lists that are dealt out to shards.
pub(super) struct Shards<'a, L> {
    lists: &'a L,
    layout: Layout,
    /// The parts of each stretch.
    stretches: Vec<Range<usize>>,
    /// Where they go if not into memory.
    spill: Option<Spill>,
    /// Words of a shard beyond which it is looked at a block at a time.
    shard_words_max: usize,
}

/// Which bits of a key tell what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    shard_bits: u32,
}

impl Layout {
    #[cfg(test)]
    pub(super) fn with_bits(shard_bits: u32) -> Self {
        Self { shard_bits }
    }

    fn shards(self) -> usize {
        1 << self.shard_bits
    }

    #[inline]
    fn shard(self, key: u64) -> usize {
        (key >> (64 - self.shard_bits)) as usize
    }

    /// Calls `each` with the owner of every key of a block, and what of it the shard does
    /// not tell.
    #[inline]
    pub(super) fn for_each(self, words: &[u64], mut each: impl FnMut(u32, u64)) {
        let far = (1_u64 << self.shard_bits) - 1;
        let mut owner = 0;
        for &word in words {
            match word & far {
                steps if steps == far => owner = (word >> self.shard_bits) as u32,
                steps => {
                    owner += steps as u32;
                    each(owner, word >> self.shard_bits);
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

/// Deals the keys of a stretch out.
struct Dealer {
    layout: Layout,
    /// The last owner in each shard.
    last: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Dealer {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            last: vec![NOBODY; layout.shards()],
        }
    }

    #[inline]
    fn deal<L: Lists>(&mut self, owner: u32, list: &[L::Item], mut put: impl FnMut(usize, u64)) {
        let bits = self.layout.shard_bits;
        let far = (1_u64 << bits) - 1;
        for key in list.iter().map(|&item| L::key(item)) {
            let shard = self.layout.shard(key);
            let last = &mut self.last[shard];
            let mut steps = u64::from(owner.wrapping_sub(*last));
            if *last == NOBODY || steps >= far {
                put(shard, u64::from(owner) << bits | far);
                steps = 0;
            }
            *last = owner;
            put(shard, key << bits | steps);
        }
    }
}

/// How many keys a thread deals out at a time, of so many. If memory is short, so many that what
/// threads work on takes about as much as the counts of all stretches.
fn stretch_keys(total: u64, shard_bits: u32, memory: &Memory) -> u64 {
    let threads = rayon::current_num_threads() as u64;
    let usual = (total / STRETCHES_MAX).max(STRETCH_KEYS);
    let fitting = memory.bytes / STRETCHES_SHARE / threads / KEY_BYTES;
    let balanced = (total << shard_bits) / (threads * KEY_BYTES / size_of::<u32>() as u64);
    usual.min(fitting.max(balanced.isqrt()).max(STRETCH_KEYS_MIN))
}

impl<'a, L: Lists> Shards<'a, L> {
    /// For all of these lists.
    pub(super) fn new(lists: &'a L, memory: &Memory) -> Result<Self, Error> {
        let total: u64 = lists.counts().sum();
        let shard_bits = (total / SHARD_KEYS)
            .next_power_of_two()
            .ilog2()
            .clamp(SHARD_BITS.start, SHARD_BITS.end - 1);
        let mut shards = Self {
            lists,
            layout: Layout { shard_bits },
            stretches: Vec::new(),
            spill: match total * 9 > memory.bytes / MEMORY_SHARE {
                true => Some(Spill::create(&memory.temp_dir)?),
                false => None,
            },
            shard_words_max: SHARD_WORDS_MAX.max((4 * total) >> shard_bits) as usize,
        };
        let aim = stretch_keys(total, shard_bits, memory);
        let (mut start, mut end, mut sum) = (0, 0, 0);
        for count in lists.counts() {
            (end, sum) = (end + 1, sum + count);
            if sum >= aim {
                shards.stretches.push(start..end);
                (start, sum) = (end, 0);
            }
        }
        if start < end {
            shards.stretches.push(start..end);
        }
        Ok(shards)
    }

    /// Calls `each` with every owner of a stretch and its list.
    fn for_each(
        &self,
        stretch: &Range<usize>,
        buffer: &mut Vec<L::Item>,
        mut each: impl FnMut(u32, &[L::Item]),
    ) -> Result<(), Error> {
        for part in stretch.clone() {
            self.lists.for_each(part, buffer, &mut each)?;
        }
        Ok(())
    }

    /// Replaces the words of each shard, which are in one block for each stretch, by an answer for
    /// each key, at the start of each block. Then `each` is called with every owner, its list and
    /// the answers for it, in order, and `done` makes something of what that made of some parts.
    /// Returns that, and the number of different keys. `count` is told how far that is, which is
    /// so much work.
    pub(super) fn answer<T: Default, U: Send>(
        &self,
        each: impl Fn(&mut T, u32, &[L::Item], &[u64]) + Sync + Send,
        done: impl Fn(Range<usize>, T) -> Result<U, Error> + Sync + Send,
        (count, all): (&WorkCount<'_>, u64),
    ) -> Result<(Vec<U>, u64), Error> {
        let [of_dealing, of_work, of_taking] = WORK_PARTS.map(|part| all / 100 * part);
        let told = |part: u64, of: usize| count.add(part / of.max(1) as u64);
        let stretches = self.stretches.par_iter();
        let mut dealt: Vec<Dealt> = stretches
            .map_init(Vec::new, |buffer, stretch| {
                let dealt = self.deal(stretch, buffer);
                told(of_dealing, self.stretches.len());
                dealt
            })
            .collect::<Result<_, Error>>()?;
        let keys = AtomicU64::new(0);
        let worked = |own: usize| {
            keys.fetch_add(own as u64, Ordering::Relaxed);
            told(of_work, self.layout.shards());
        };
        match &self.spill {
            None => self.work_in_memory(&mut dealt, worked),
            Some(spill) => self.work_on_disk(spill, &dealt, worked)?,
        }
        let stretches = self.stretches.par_iter().zip(dealt);
        let made = stretches
            .map_init(Vec::new, |buffer, (stretch, dealt)| {
                let mut made = T::default();
                self.take_back(stretch, dealt, buffer, |owner, list, answers| {
                    each(&mut made, owner, list, answers);
                })?;
                let made = done(stretch.clone(), made);
                told(of_taking, self.stretches.len());
                made
            })
            .collect::<Result<_, Error>>()?;
        Ok((made, keys.into_inner()))
    }

    /// Deals a stretch out.
    fn deal(&self, stretch: &Range<usize>, buffer: &mut Vec<L::Item>) -> Result<Dealt, Error> {
        let mut ends = vec![0_u32; self.layout.shards()];
        let mut dealer = Dealer::new(self.layout);
        self.for_each(stretch, buffer, |owner, list| {
            dealer.deal::<L>(owner, list, |shard, _| ends[shard] += 1);
        })?;
        // Where each shard starts; once it has been filled, where it ends.
        let mut end = 0;
        for count in &mut ends {
            (*count, end) = (end, end + *count);
        }
        let mut words = pages::zeros(end as usize);
        let mut dealer = Dealer::new(self.layout);
        self.for_each(stretch, buffer, |owner, list| {
            dealer.deal::<L>(owner, list, |shard, word| {
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

    fn work_in_memory(&self, dealt: &mut [Dealt], worked: impl Fn(usize) + Sync + Send) {
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
            .for_each_init(Sums::default, |sums, mut blocks| {
                let words: usize = blocks.iter().map(|block| block.len()).sum();
                if words <= self.shard_words_max {
                    worked(sums.answer(&mut blocks, self.layout));
                    return;
                }
                sums.start();
                for block in &blocks {
                    sums.count(block, self.layout);
                }
                worked(sums.end_count());
                for block in blocks {
                    sums.answer_block(block, self.layout);
                }
            });
    }

    fn work_on_disk(
        &self,
        spill: &Spill,
        dealt: &[Dealt],
        worked: impl Fn(usize) + Sync + Send,
    ) -> Result<(), Error> {
        let part = |dealt: &Dealt, shard| match dealt.words {
            Words::OnDisk(segment) => {
                let range = dealt.range(shard);
                segment.part::<u64>(range.start, range.len())
            }
            Words::InMemory(_) => Segment::default(),
        };
        (0..self.layout.shards()).into_par_iter().try_for_each_init(
            || (Sums::default(), Vec::new(), Vec::new()),
            |(sums, words, block), shard| {
                let all: usize = dealt.iter().map(|dealt| dealt.range(shard).len()).sum();
                if all > self.shard_words_max {
                    sums.start();
                    for dealt in dealt {
                        spill.read(part(dealt, shard), block)?;
                        sums.count(block, self.layout);
                    }
                    worked(sums.end_count());
                    for dealt in dealt {
                        spill.read(part(dealt, shard), block)?;
                        sums.answer_block(block, self.layout);
                        spill.overwrite(part(dealt, shard), block)?;
                    }
                    return Ok(());
                }
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
                worked(sums.answer(&mut blocks, self.layout));
                for (dealt, block) in dealt.iter().zip(blocks) {
                    spill.overwrite(part(dealt, shard), block)?;
                }
                Ok(())
            },
        )
    }

    /// Calls `each` with every owner of a stretch, its list and the answers for it.
    fn take_back(
        &self,
        stretch: &Range<usize>,
        dealt: Dealt,
        buffer: &mut Vec<L::Item>,
        mut each: impl FnMut(u32, &[L::Item], &[u64]),
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
        self.for_each(stretch, buffer, |owner, list| {
            told.clear();
            told.extend(list.iter().map(|&item| {
                let next = &mut next[self.layout.shard(L::key(item))];
                *next += 1;
                answers[*next as usize - 1]
            }));
            each(owner, list, &told);
        })
    }
}
