//! Which ids have been met, by their hashes alone: for runs that keep no ids.
//!
//! Two of n ids have the same hash of 64 bits with a chance of n² / 2⁶⁵: of ten million, once in
//! 400,000 collections. Then the later document is taken for one whose id was met before.

use super::Added;
use crate::document::DocumentId;
use crate::shingle::token_hash;

/// Hashes of ids, in blocks that are split in two when they are full (extendible hashing): an id
/// costs 9 to 18 bytes, and never more on the way.
#[derive(Debug)]
pub(crate) struct SeenIds {
    /// The block of each hash by its first bits.
    directory: Vec<u32>,
    /// So many of them.
    bits: u32,
    blocks: Vec<Block>,
    count: u32,
}

/// Hashes that have some first bits in common, where their last bits say or behind; zero where
/// nothing is.
#[derive(Debug)]
struct Block {
    slots: Box<[u64]>,
    count: usize,
    /// How many bits they have in common.
    bits: u32,
}

const SLOTS: usize = 1024;
const SLOTS_USED_MAX: usize = SLOTS * 9 / 10;

impl Default for SeenIds {
    fn default() -> Self {
        Self {
            directory: vec![0],
            bits: 0,
            blocks: vec![Block::new(0)],
            count: 0,
        }
    }
}

impl SeenIds {
    /// Adds an id. Of one that was met before, it is not known which document had it.
    pub(crate) fn add(&mut self, url: &str) -> Added {
        // Zero is where nothing is.
        let hash = token_hash(url.as_bytes()).max(1);
        loop {
            let number = self.directory[first_bits(hash, self.bits)] as usize;
            let block = &mut self.blocks[number];
            if block.contains(hash) {
                return Added::Repeated(DocumentId(0));
            }
            if block.count < SLOTS_USED_MAX {
                block.add(hash);
                break;
            }
            self.split(number, hash);
        }
        if self.count == u32::MAX - 1 {
            return Added::Full;
        }
        self.count += 1;
        Added::New(DocumentId(self.count - 1))
    }

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.len() * (SLOTS * size_of::<u64>() + size_of::<Block>())
            + size_of_val(&self.directory[..])
    }

    /// Makes two blocks of one that would have this hash, by the next of their bits.
    fn split(&mut self, number: usize, hash: u64) {
        let bits = self.blocks[number].bits + 1;
        if bits > self.bits {
            self.bits = bits;
            let doubled = self.directory.iter().flat_map(|&block| [block; 2]);
            self.directory = doubled.collect();
        }
        let mut halves = [Block::new(bits), Block::new(bits)];
        for &hash in self.blocks[number].slots.iter().filter(|hash| **hash != 0) {
            halves[first_bits(hash, bits) & 1].add(hash);
        }
        let other = self.blocks.len() as u32;
        let [one, two] = halves;
        self.blocks[number] = one;
        self.blocks.push(two);
        // All that have these bits stand together, and the second half of them is the other's.
        let shift = self.bits - bits;
        let start = (first_bits(hash, bits) | 1) << shift;
        self.directory[start..start + (1 << shift)].fill(other);
    }
}

fn first_bits(hash: u64, bits: u32) -> usize {
    hash.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
}

impl Block {
    fn new(bits: u32) -> Self {
        Self {
            slots: vec![0; SLOTS].into(),
            count: 0,
            bits,
        }
    }

    fn contains(&self, hash: u64) -> bool {
        self.slots[self.place(hash)] == hash
    }

    /// Adds what is not there.
    fn add(&mut self, hash: u64) {
        let place = self.place(hash);
        self.slots[place] = hash;
        self.count += 1;
    }

    /// Where a hash is, or would be. There is always an empty place.
    fn place(&self, hash: u64) -> usize {
        let mut place = hash as usize % SLOTS;
        while self.slots[place] != 0 && self.slots[place] != hash {
            place = (place + 1) % SLOTS;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn ids_are_known_again_and_take_few_bytes() {
        let mut seen = SeenIds::default();
        let mut twin = HashMap::new();
        for n in 0..300_000_u64 {
            let url = format!("https://a.example/{}", n * n % 210_001);
            let number = twin.len() as u32;
            let expected = match twin.insert(url.clone(), ()) {
                None => Added::New(DocumentId(number)),
                Some(()) => Added::Repeated(DocumentId(0)),
            };
            assert_eq!(seen.add(&url), expected);
        }
        assert!(seen.bytes() < twin.len() * 18 + 40_000, "{}", seen.bytes());
    }
}
