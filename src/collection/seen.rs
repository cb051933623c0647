//! Which ids have been met, by their hashes alone: for runs that keep no ids.
//!
//! Two of n ids have the same hash of 64 bits with a chance of n² / 2⁶⁵: of ten million, once in
//! 400,000 collections. Then the later document is taken for one whose id was met before.

use super::Added;
use crate::document::DocumentId;
use crate::shingle::token_hash;

/// Hashes of ids, in parts that grow one at a time: an id costs 10 to 13 bytes, also on the way.
#[derive(Debug)]
pub(crate) struct SeenIds {
    parts: Vec<Part>,
    count: u32,
    bytes: usize,
}

const PARTS: usize = 256;

impl Default for SeenIds {
    fn default() -> Self {
        Self {
            parts: vec![Part::default(); PARTS],
            count: 0,
            bytes: 0,
        }
    }
}

impl SeenIds {
    /// Adds an id. Of one that was met before, it is not known which document had it.
    pub(crate) fn add(&mut self, url: &str) -> Added {
        // Zero is where nothing is.
        let hash = token_hash(url.as_bytes()).max(1);
        let part = &mut self.parts[hash as usize % PARTS];
        let before = part.bytes();
        let is_new = part.add(hash);
        self.bytes += part.bytes() - before;
        if !is_new {
            return Added::Repeated(DocumentId(0));
        }
        if self.count == u32::MAX - 1 {
            return Added::Full;
        }
        self.count += 1;
        Added::New(DocumentId(self.count - 1))
    }

    /// Memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A table with open addressing.
#[derive(Clone, Debug, Default)]
struct Part {
    slots: Vec<u64>,
    count: usize,
}

impl Part {
    fn bytes(&self) -> usize {
        size_of_val(&self.slots[..])
    }

    /// Whether it is new.
    fn add(&mut self, hash: u64) -> bool {
        if (self.count + 1) * 5 > self.slots.len() * 4 {
            self.grow();
        }
        let slot = place(&mut self.slots, hash);
        let is_new = *slot == 0;
        *slot = hash;
        self.count += usize::from(is_new);
        is_new
    }

    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() / 4 * 5).max(16)];
        for &hash in self.slots.iter().filter(|hash| **hash != 0) {
            *place(&mut slots, hash) = hash;
        }
        self.slots = slots;
    }
}

/// Where a hash is, or would be. There is always an empty place.
fn place(slots: &mut [u64], hash: u64) -> &mut u64 {
    let mut at = ((u128::from(hash) * slots.len() as u128) >> 64) as usize;
    while slots[at] != 0 && slots[at] != hash {
        at += 1;
        if at == slots.len() {
            at = 0;
        }
    }
    &mut slots[at]
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
        assert!(seen.bytes() < twin.len() * 13 + 40_000, "{}", seen.bytes());
    }
}
