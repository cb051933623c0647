//! Shingles dealt out to shards by their highest bits, in order of documents, so that what
//! they have in common is found a shard at a time, in a table that fits into a cache.
//!
//! A shard is a list of words. The bits that tell the shard are the same for all of it: in
//! their place, the lowest bits of a word say how many documents further it belongs. What is
//! too far, and the first of each stretch, has a word before it that names the document.
//! When a shard has been worked on, there is one answer for each shingle in place of its
//! words, and reading the lists again in the same order leads each answer back to its shingle.

use std::ops::Range;

use rayon::prelude::*;

use super::lists::{ShingleLists, Slice};
use super::pages;
use super::spill::{Segment, Spill};
use crate::collection::Role;
use crate::document::DocumentId;
use crate::error::Error;
use crate::settings::Memory;

/// Shingles in a shard that are aimed at, and how many bits may tell a shard.
const SHARD_SHINGLES: u64 = 1 << 17;
const SHARD_BITS: Range<u32> = 4..13;
/// Shingles that a thread deals out at a time.
const STRETCH_SHINGLES: u64 = 1 << 18;
/// Most stretches of a collection, as each has a count for every shard.
const STRETCHES_MAX: u64 = 256;

/// Shingles of some documents, by shard.
pub(super) struct Shards<'a> {
    lists: &'a ShingleLists,
    roles: &'a [Role],
    bits: u32,
    stretches: Vec<Stretch>,
    batches: Vec<Batch>,
    spill: Option<Spill>,
}

/// Some consecutive slices.
struct Stretch {
    slices: Range<usize>,
    /// For each shard, how many shingles there are.
    counts: Vec<u32>,
    /// For each shard, how many words.
    words: Vec<u32>,
}

/// Some consecutive stretches, whose words stand together: shard by shard, in each by
/// stretch.
struct Batch {
    stretches: Range<usize>,
    words: Words,
    /// Where each shard starts, and the end.
    starts: Vec<usize>,
}

enum Words {
    InMemory(Vec<u64>),
    OnDisk(Segment),
    /// The answers of each shard.
    Answers(Vec<Segment>),
}

/// Deals one stretch out; what it does with a word is up to `put`.
struct Dealer {
    bits: u32,
    /// The last document in each shard.
    last: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Dealer {
    fn new(bits: u32) -> Self {
        Self {
            bits,
            last: vec![NOWHERE; 1 << bits],
        }
    }

    #[inline]
    fn deal(&mut self, document: DocumentId, list: &[u64], mut put: impl FnMut(usize, u64)) {
        let far = (1_u64 << self.bits) - 1;
        for &shingle in list {
            let shard = (shingle >> (64 - self.bits)) as usize;
            let last = &mut self.last[shard];
            let mut steps = u64::from(document.0.wrapping_sub(*last));
            if *last == NOWHERE || steps >= far {
                put(shard, u64::from(document.0) << self.bits | far);
                steps = 0;
            }
            *last = document.0;
            put(shard, shingle << self.bits | steps);
        }
    }
}

/// Calls `each` with the document of every shingle of a shard, and what of it the shard does
/// not tell.
#[inline]
pub(super) fn for_each(words: &[u64], bits: u32, mut each: impl FnMut(u32, u64)) {
    let far = (1_u64 << bits) - 1;
    let mut document = 0;
    for &word in words {
        match word & far {
            steps if steps == far => document = (word >> bits) as u32,
            steps => {
                document += steps as u32;
                each(document, word >> bits);
            }
        }
    }
}

impl<'a> Shards<'a> {
    /// Deals out the shingles of those documents that have a role; beyond a quarter of the
    /// memory, they go to a file.
    pub(super) fn new(
        lists: &'a ShingleLists,
        roles: &'a [Role],
        memory: &Memory,
    ) -> Result<Self, Error> {
        let has_role = |document: usize| roles[document] != Role::NONE;
        let length = |document: usize| u64::from(lists.lengths()[document]);
        let total: u64 = (0..roles.len()).filter(|&d| has_role(d)).map(length).sum();
        let bits = (total / SHARD_SHINGLES)
            .next_power_of_two()
            .ilog2()
            .clamp(SHARD_BITS.start, SHARD_BITS.end - 1);
        let mut shards = Self {
            lists,
            roles,
            bits,
            stretches: Vec::new(),
            batches: Vec::new(),
            spill: None,
        };
        let aim = (total / STRETCHES_MAX).max(STRETCH_SHINGLES);
        shards.cut(aim, |slice| {
            slice.documents().filter(|&d| has_role(d)).map(length).sum()
        });
        shards.count()?;
        let words_max = (memory.bytes / 4 / 8) as usize;
        let words = |stretch: &Stretch| stretch.words.iter().map(|&n| n as usize).sum::<usize>();
        let mut ends = vec![];
        let mut sum = 0;
        for (index, stretch) in shards.stretches.iter().enumerate() {
            let own = words(stretch);
            if sum > 0 && sum + own > words_max {
                ends.push(index);
                sum = 0;
            }
            sum += own;
        }
        if !ends.is_empty() {
            shards.spill = Some(Spill::create(&memory.temp_dir)?);
        }
        ends.push(shards.stretches.len());
        let mut start = 0;
        for end in ends {
            let batch = shards.deal(start..end)?;
            shards.batches.push(batch);
            start = end;
        }
        Ok(shards)
    }

    /// Cuts the slices into stretches of about so many shingles.
    fn cut(&mut self, aim: u64, shingles: impl Fn(Slice) -> u64) {
        let slices = self.lists.slices();
        let mut start = 0;
        let mut sum = 0;
        for (index, &slice) in slices.iter().enumerate() {
            sum += shingles(slice);
            if sum >= aim || index + 1 == slices.len() {
                self.stretches.push(Stretch {
                    slices: start..index + 1,
                    counts: Vec::new(),
                    words: Vec::new(),
                });
                start = index + 1;
                sum = 0;
            }
        }
    }

    /// Calls `each` with every document of a stretch that has a role, and its shingles.
    fn for_each_document(
        &self,
        stretch: &Stretch,
        buffer: &mut Vec<u64>,
        mut each: impl FnMut(DocumentId, &[u64]),
    ) -> Result<(), Error> {
        let has_role = |document: usize| self.roles[document] != Role::NONE;
        for &slice in &self.lists.slices()[stretch.slices.clone()] {
            if slice.documents().any(has_role) {
                let lists = self.lists.lists(slice, buffer)?;
                for (document, list) in lists.iter().filter(|(d, _)| has_role(d.index())) {
                    each(document, list);
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), Error> {
        let counted: Vec<(Vec<u32>, Vec<u32>)> = self
            .stretches
            .par_iter()
            .map_init(Vec::new, |buffer, stretch| {
                let mut counts = vec![0; 1 << self.bits];
                let mut words = vec![0; 1 << self.bits];
                let mut dealer = Dealer::new(self.bits);
                self.for_each_document(stretch, buffer, |document, list| {
                    dealer.deal(document, list, |shard, _| words[shard] += 1);
                    for shingle in list {
                        counts[(shingle >> (64 - self.bits)) as usize] += 1;
                    }
                })?;
                Ok((counts, words))
            })
            .collect::<Result<_, Error>>()?;
        for (stretch, (counts, words)) in self.stretches.iter_mut().zip(counted) {
            stretch.counts = counts;
            stretch.words = words;
        }
        Ok(())
    }

    fn deal(&self, stretches: Range<usize>) -> Result<Batch, Error> {
        let dealt = &self.stretches[stretches.clone()];
        let mut starts = vec![0];
        let mut total = 0;
        for shard in 0..1 << self.bits {
            total += dealt.iter().map(|s| s.words[shard] as usize).sum::<usize>();
            starts.push(total);
        }
        let mut words: Vec<u64> = pages::zeros(total);
        // Each stretch has a place of its own in every shard.
        let mut places: Vec<Vec<&mut [u64]>> = dealt.iter().map(|_| Vec::new()).collect();
        let mut rest = &mut words[..];
        for shard in 0..1 << self.bits {
            for (stretch, places) in dealt.iter().zip(&mut places) {
                let (place, behind) = rest.split_at_mut(stretch.words[shard] as usize);
                places.push(place);
                rest = behind;
            }
        }
        places.into_par_iter().zip(dealt).try_for_each_init(
            Vec::new,
            |buffer, (mut places, stretch)| {
                let mut dealer = Dealer::new(self.bits);
                let mut next = vec![0_u32; 1 << self.bits];
                self.for_each_document(stretch, buffer, |document, list| {
                    dealer.deal(document, list, |shard, word| {
                        places[shard][next[shard] as usize] = word;
                        next[shard] += 1;
                    });
                })
            },
        )?;
        let words = match &self.spill {
            None => Words::InMemory(words),
            Some(spill) => Words::OnDisk(spill.append(&words)?),
        };
        Ok(Batch {
            stretches,
            words,
            starts,
        })
    }

    /// Has `work` replace the words of each shard by an answer for each shingle: the answers
    /// come to stand where the words start. They are in one piece, or in several that follow
    /// each other. What a thread needs for it comes from `scratch`.
    pub(super) fn answer<T>(
        &mut self,
        scratch: impl Fn() -> T + Sync + Send,
        work: impl Fn(&mut T, &mut [&mut [u64]]) + Sync + Send,
    ) -> Result<(), Error> {
        if let [batch] = &mut self.batches[..]
            && let Words::InMemory(words) = &mut batch.words
        {
            let mut own = Vec::with_capacity(1 << self.bits);
            let mut rest = &mut words[..];
            for ends in batch.starts.windows(2) {
                let (words, behind) = rest.split_at_mut(ends[1] - ends[0]);
                own.push(words);
                rest = behind;
            }
            own.into_par_iter()
                .for_each_init(scratch, |scratch, words| work(scratch, &mut [words]));
            return Ok(());
        }
        let Some(spill) = &self.spill else {
            return Ok(());
        };
        let answers: Vec<Vec<Segment>> = (0..1 << self.bits)
            .into_par_iter()
            .map_init(&scratch, |scratch, shard| {
                let mut words = Vec::with_capacity(self.batches.len());
                for batch in &self.batches {
                    let Words::OnDisk(segment) = batch.words else {
                        continue;
                    };
                    let count = batch.starts[shard + 1] - batch.starts[shard];
                    let mut own = Vec::new();
                    spill.read(segment.part::<u64>(batch.starts[shard], count), &mut own)?;
                    words.push(own);
                }
                let mut own: Vec<&mut [u64]> = words.iter_mut().map(Vec::as_mut_slice).collect();
                work(scratch, &mut own);
                let answered = self.batches.iter().zip(&words).map(|(batch, words)| {
                    let stretches = &self.stretches[batch.stretches.clone()];
                    let count = stretches.iter().map(|s| s.counts[shard] as usize).sum();
                    spill.append::<u64>(&words[..count])
                });
                answered.collect()
            })
            .collect::<Result<_, Error>>()?;
        for (index, batch) in self.batches.iter_mut().enumerate() {
            let segments = answers.iter().map(|of_shard| of_shard[index]).collect();
            batch.words = Words::Answers(segments);
        }
        Ok(())
    }

    /// Bits that tell a shard.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Takes the answers back to the documents: `each` is called with every document of a
    /// stretch and the answers for its shingles, in order, and `done` makes one thing of it.
    pub(super) fn take_back<T: Default, U: Send>(
        &self,
        each: impl Fn(&mut T, DocumentId, &mut [u64]) + Sync + Send,
        done: impl Fn(T) -> Result<U, Error> + Sync + Send,
    ) -> Result<Vec<U>, Error> {
        let mut all = Vec::with_capacity(self.stretches.len());
        for batch in &self.batches {
            let stretches = &self.stretches[batch.stretches.clone()];
            // Where each stretch's answers start in every shard.
            let mut sums = vec![0; 1 << self.bits];
            let firsts: Vec<Vec<usize>> = stretches
                .iter()
                .map(|stretch| {
                    let firsts = sums.clone();
                    for (sum, &count) in sums.iter_mut().zip(&stretch.counts) {
                        *sum += count as usize;
                    }
                    firsts
                })
                .collect();
            let made = stretches.par_iter().zip(firsts).map_init(
                || (Vec::new(), Vec::new(), Vec::new()),
                |(buffer, loaded, own), (stretch, firsts)| {
                    let (answers, mut next) = self.answers(batch, stretch, firsts, loaded)?;
                    let mut made = T::default();
                    self.for_each_document(stretch, buffer, |document, list| {
                        own.clear();
                        own.extend(list.iter().map(|shingle| {
                            let next = &mut next[(shingle >> (64 - self.bits)) as usize];
                            *next += 1;
                            answers[*next - 1]
                        }));
                        each(&mut made, document, own);
                    })?;
                    done(made)
                },
            );
            all.extend(made.collect::<Result<Vec<U>, Error>>()?);
        }
        Ok(all)
    }

    /// The answers among which a stretch's are, read into `loaded` if they are in the file,
    /// and where those of each shard start.
    fn answers<'b>(
        &self,
        batch: &'b Batch,
        stretch: &Stretch,
        mut firsts: Vec<usize>,
        loaded: &'b mut Vec<u64>,
    ) -> Result<(&'b [u64], Vec<usize>), Error> {
        match (&batch.words, &self.spill) {
            (Words::Answers(segments), Some(spill)) => {
                loaded.clear();
                let mut own: Vec<u64> = Vec::new();
                for (shard, segment) in segments.iter().enumerate() {
                    let part = segment.part::<u64>(firsts[shard], stretch.counts[shard] as usize);
                    spill.read(part, &mut own)?;
                    firsts[shard] = loaded.len();
                    loaded.extend_from_slice(&own);
                }
                Ok((loaded, firsts))
            }
            (Words::InMemory(words), _) => {
                for (first, start) in firsts.iter_mut().zip(&batch.starts) {
                    *first += start;
                }
                Ok((words, firsts))
            }
            _ => Ok((&[], firsts)),
        }
    }
}
