//! The shingles of a collection while it is read: as they came for as long as they fit
//! into memory, then by shard.

use rayon::prelude::*;

use crate::document::DocumentId;
use crate::error::Error;
use crate::sets::{ListBlock, ShardWriter, Sharded, ShingleLists, ShingleSets};
use crate::settings::{Memory, Settings};

/// Blocks that are filed by shard at once.
const BLOCKS_AT_ONCE: usize = 64;

/// All shingles of a collection.
pub(super) struct KeptShingles {
    kept: Kept,
    /// Rows that do not count.
    excluded: Vec<bool>,
    memory: Memory,
}

enum Kept {
    Lists(ShingleLists),
    Sharded(ShingleSets),
}

impl KeptShingles {
    pub(super) fn new(settings: &Settings) -> Self {
        let unlimited = Memory {
            bytes: u64::MAX,
            temp_dir: "".into(),
        };
        Self {
            kept: Kept::Lists(ShingleLists::new(settings.least_shingles())),
            excluded: Vec::new(),
            memory: settings.memory.clone().unwrap_or(unlimited),
        }
    }

    /// Adds a block of documents; those without an ordinal do not count.
    pub(super) fn push(
        &mut self,
        block: ListBlock,
        documents: &[Option<DocumentId>],
    ) -> Result<(), Error> {
        let excluded: Vec<bool> = documents.iter().map(Option::is_none).collect();
        match &mut self.kept {
            Kept::Sharded(sets) => return sets.push(file(&block), &excluded),
            Kept::Lists(lists) => lists.push(block),
        }
        self.excluded.extend_from_slice(&excluded);
        // A quarter of the memory, as the shards keep to.
        if matches!(&self.kept, Kept::Lists(lists) if lists.bytes() > self.memory.bytes / 4) {
            self.shard()?;
        }
        Ok(())
    }

    /// All shingles as they came, if they are worth looking at.
    pub(super) fn lists(&self) -> Option<&ShingleLists> {
        match &self.kept {
            Kept::Lists(lists) if lists.least_len() > 0 => Some(lists),
            _ => None,
        }
    }

    /// All shingles by shard.
    pub(super) fn into_sets(mut self) -> Result<ShingleSets, Error> {
        self.shard()?;
        Ok(match self.kept {
            Kept::Sharded(sets) => sets,
            Kept::Lists(_) => ShingleSets::new(self.memory.bytes, self.memory.temp_dir),
        })
    }

    fn shard(&mut self) -> Result<(), Error> {
        let Kept::Lists(lists) = &mut self.kept else {
            return Ok(());
        };
        let lists = std::mem::replace(lists, ShingleLists::new(0));
        let mut sets = ShingleSets::new(self.memory.bytes, self.memory.temp_dir.clone());
        let mut excluded = &self.excluded[..];
        let mut blocks = lists.into_blocks().into_iter();
        loop {
            // Each is given up as soon as it is filed.
            let some: Vec<ListBlock> = blocks.by_ref().take(BLOCKS_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            let filed: Vec<(Sharded, usize)> = some
                .into_par_iter()
                .map(|block| (file(&block), block.len()))
                .collect();
            for (sharded, rows) in filed {
                let (own, rest) = excluded.split_at(rows);
                sets.push(sharded, own)?;
                excluded = rest;
            }
        }
        self.kept = Kept::Sharded(sets);
        Ok(())
    }
}

fn file(block: &ListBlock) -> Sharded {
    let mut writer = ShardWriter::default();
    block.lists().for_each(|list| writer.push(list));
    writer.take()
}
