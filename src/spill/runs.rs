//! Words in order, more than fit into memory: sorted a part at a time, each part a run in a
//! temporary file, and merged when they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use crate::error::Error;
use crate::memory::Memory;
use crate::spill::{Segment, Spill, Word};

/// Runs of sorted words in a temporary file.
#[derive(Debug, Default)]
pub(crate) struct SortedRuns {
    runs: Vec<Segment>,
    spill: Option<Spill>,
}

impl SortedRuns {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run of these words, which need not be sorted, and leaves nothing of them.
    pub(crate) fn push<W: Word + Ord>(
        &mut self,
        words: &mut Vec<W>,
        memory: &Memory,
    ) -> Result<(), Error> {
        words.par_sort_unstable();
        let spill = match &self.spill {
            Some(spill) => spill,
            None => self.spill.insert(Spill::create(&memory.temp_dir)?),
        };
        self.runs.push(spill.append(words)?);
        words.clear();
        Ok(())
    }

    /// Calls `each` with the words of all runs, in order.
    pub(crate) fn for_each<W: Word + Ord>(
        &self,
        mut each: impl FnMut(W) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(spill) = &self.spill else {
            return Ok(());
        };
        let mut runs: Vec<Run<'_, W>> = self.runs.iter().map(|&run| Run::new(spill, run)).collect();
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|word| Reverse((word, number))));
        }
        while let Some(Reverse((word, number))) = heads.pop() {
            each(word)?;
            heads.extend(runs[number].next()?.map(|word| Reverse((word, number))));
        }
        Ok(())
    }
}

/// A run that is read a part at a time.
struct Run<'a, W> {
    spill: &'a Spill,
    segment: Segment,
    taken: usize,
    buffer: Vec<W>,
    at: usize,
}

impl<'a, W: Word> Run<'a, W> {
    fn new(spill: &'a Spill, segment: Segment) -> Self {
        Self {
            spill,
            segment,
            taken: 0,
            buffer: Vec::new(),
            at: 0,
        }
    }

    fn next(&mut self) -> Result<Option<W>, Error> {
        const WORDS_AT_ONCE: usize = 1 << 12;
        if self.at == self.buffer.len() {
            let count = WORDS_AT_ONCE.min(self.segment.len() - self.taken);
            if count == 0 {
                return Ok(None);
            }
            let part = self.segment.part::<W>(self.taken, count);
            self.spill.read(part, &mut self.buffer)?;
            self.taken += count;
            self.at = 0;
        }
        self.at += 1;
        Ok(Some(self.buffer[self.at - 1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory {
            bytes: 0,
            temp_dir: folder.path().to_owned(),
        };
        let mut runs = SortedRuns::default();
        let mut expected: Vec<(u32, u64)> = (0..20_000).map(|n| (n * 7919 % 10_007, 3)).collect();
        for part in expected.chunks(4500) {
            runs.push(&mut part.to_vec(), &memory).unwrap();
        }
        expected.sort_unstable();
        let mut all = vec![];
        runs.for_each(|word: (u32, u64)| {
            all.push(word);
            Ok(())
        })
        .unwrap();
        assert!(all == expected);
    }
}
