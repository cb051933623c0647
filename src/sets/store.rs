//! All shingles of a collection, by shard, in memory or in a temporary file.

use std::path::PathBuf;

use rayon::prelude::*;

use super::bundle::{BundleSets, Bundles};
use super::shard::{SHARDS, Sharded};
use super::spill::{Segment, Spill};
use super::sum::{Common, ShardSums, sum_shard};
use crate::error::Error;

/// Bytes that a shingle takes while its shard is worked on, table and all.
const WORKING_BYTES: u64 = 40;

/// The shingles of a collection.
#[derive(Debug)]
pub struct ShingleSets {
    memory_bytes_max: u64,
    temp_dir: PathBuf,
    spill: Option<Spill>,
    /// Runs of consecutive blocks; all but the last are in the file.
    parts: Vec<Part>,
    buffered_words: u64,
    /// Shingles of each row, repetitions included at first.
    sizes: Vec<u32>,
    /// Rows that do not count: their document's id was met before.
    excluded: Vec<bool>,
}

/// Some consecutive blocks.
#[derive(Debug, Default)]
struct Part {
    /// For each block, its first row and number of rows.
    blocks: Vec<(u32, u32)>,
    /// For each shard, its words block by block.
    shards: Vec<Words>,
}

/// The words of a shard, with a header before each block's: its number of words.
#[derive(Debug)]
enum Words {
    InMemory(Vec<Vec<u64>>),
    OnDisk(Segment),
}

impl Part {
    fn new() -> Self {
        Self {
            blocks: Vec::new(),
            shards: (0..SHARDS).map(|_| Words::InMemory(Vec::new())).collect(),
        }
    }
}

impl ShingleSets {
    /// An empty collection that goes to a file in `temp_dir` beyond
    /// `memory_bytes_max`.
    pub fn new(memory_bytes_max: u64, temp_dir: PathBuf) -> Self {
        Self {
            memory_bytes_max,
            temp_dir,
            spill: None,
            parts: vec![Part::new()],
            buffered_words: 0,
            sizes: Vec::new(),
            excluded: Vec::new(),
        }
    }

    /// Adds a block of documents, each of which becomes a row; those that are
    /// `excluded` become rows that match nothing.
    pub fn push(&mut self, block: Sharded, excluded: &[bool]) -> Result<(), Error> {
        let first = self.sizes.len() as u32;
        let rows = block.counts.len() as u32;
        self.sizes.extend_from_slice(&block.counts);
        self.excluded.extend_from_slice(excluded);
        self.buffered_words += block
            .shards
            .iter()
            .map(|shard| shard.len() as u64)
            .sum::<u64>();
        if let Some(part) = self.parts.last_mut() {
            part.blocks.push((first, rows));
            for (shard, words) in part.shards.iter_mut().zip(block.shards) {
                if let Words::InMemory(blocks) = shard {
                    blocks.push(words);
                }
            }
        }
        // A quarter of the memory, as blocks on their way here and working on the
        // shards need some too.
        if self.buffered_words * 8 > self.memory_bytes_max / 4 {
            self.spill_last()?;
        }
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.sizes.len()
    }

    /// Whether some of the shingles are in a file.
    pub fn is_spilled(&self) -> bool {
        self.spill.is_some()
    }

    fn spill_last(&mut self) -> Result<(), Error> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::create(&self.temp_dir)?),
        };
        if let Some(part) = self.parts.last_mut() {
            for shard in &mut part.shards {
                if let Words::InMemory(blocks) = shard {
                    *shard = Words::OnDisk(write(spill, blocks)?);
                }
            }
            self.parts.push(Part::new());
        }
        self.buffered_words = 0;
        Ok(())
    }

    /// The sets as bundles. `common` shingles count in no set.
    pub fn into_bundles(mut self, common: Common) -> Result<BundleSets, Error> {
        let total: u64 = self.sizes.iter().map(|&size| u64::from(size)).sum();
        let bytes_per_shard = total * WORKING_BYTES / SHARDS as u64 + 1;
        let at_once =
            (self.memory_bytes_max / 2 / bytes_per_shard).clamp(1, SHARDS as u64) as usize;
        let mut sums = Vec::with_capacity(SHARDS);
        for first in (0..SHARDS).step_by(at_once) {
            let shards = first..(first + at_once).min(SHARDS);
            sums.append(&mut self.sum_shards(shards, common)?);
        }
        let bundles = Bundles::new(&sums);
        drop(sums);
        let mut blocks = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let shards = part
                .shards
                .into_iter()
                .map(|words| self.load(words, part.blocks.len()))
                .collect::<Result<Vec<_>, Error>>()?;
            let gathered = part.blocks.par_iter().enumerate();
            blocks.par_extend(
                gathered.map(|(block, &(_, rows))| bundles.gather(&shards, block, rows)),
            );
        }
        Ok(BundleSets::new(self.sizes, blocks, bundles.weights))
    }

    /// Puts numbers in the place of shingles, in some shards.
    fn sum_shards(
        &mut self,
        shards: std::ops::Range<usize>,
        common: Common,
    ) -> Result<Vec<ShardSums>, Error> {
        let mut loaded: Vec<Vec<Vec<Vec<u64>>>> = Vec::new();
        for shard in shards.clone() {
            let mut blocks = Vec::with_capacity(self.parts.len());
            for part in 0..self.parts.len() {
                let taken = std::mem::replace(
                    &mut self.parts[part].shards[shard],
                    Words::InMemory(Vec::new()),
                );
                blocks.push(self.load(taken, self.parts[part].blocks.len())?);
            }
            loaded.push(blocks);
        }
        let firsts: Vec<u32> = self
            .parts
            .iter()
            .flat_map(|part| part.blocks.iter().map(|&(first, _)| first))
            .collect();
        let excluded = &self.excluded;
        let mut sums: Vec<ShardSums> = loaded
            .par_iter_mut()
            .map(|parts| {
                let mut blocks: Vec<(u32, &mut Vec<u64>)> = firsts
                    .iter()
                    .copied()
                    .zip(parts.iter_mut().flatten())
                    .collect();
                sum_shard(&mut blocks, excluded, common)
            })
            .collect();
        for row in sums
            .iter_mut()
            .flat_map(|sums| std::mem::take(&mut sums.less))
        {
            self.sizes[row as usize] -= 1;
        }
        for (shard, parts) in shards.zip(loaded) {
            let last = parts.len() - 1;
            for (part, blocks) in parts.into_iter().enumerate() {
                self.parts[part].shards[shard] = match &mut self.spill {
                    Some(spill) if part < last => Words::OnDisk(write(spill, &blocks)?),
                    _ => Words::InMemory(blocks),
                };
            }
        }
        Ok(sums)
    }

    /// A shard's words, block by block.
    fn load(&self, words: Words, blocks: usize) -> Result<Vec<Vec<u64>>, Error> {
        match (words, &self.spill) {
            (Words::InMemory(words), _) => Ok(words),
            (Words::OnDisk(_), None) => Ok(vec![Vec::new(); blocks]),
            (Words::OnDisk(segment), Some(spill)) => {
                let words = spill.read(segment)?;
                let mut rest = &words[..];
                let mut all = Vec::with_capacity(blocks);
                while let Some((&count, behind)) = rest.split_first() {
                    let (block, behind) = behind.split_at(count as usize);
                    all.push(block.to_vec());
                    rest = behind;
                }
                Ok(all)
            }
        }
    }
}

fn write(spill: &mut Spill, blocks: &[Vec<u64>]) -> Result<Segment, Error> {
    let counts: Vec<[u64; 1]> = blocks.iter().map(|block| [block.len() as u64]).collect();
    spill.write(
        counts
            .iter()
            .zip(blocks)
            .flat_map(|(count, block)| [&count[..], &block[..]]),
    )
}
