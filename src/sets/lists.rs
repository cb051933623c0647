//! The shingles of each document as they came, and the least of them: enough to find
//! and compare the few that are similar, where few are.

use crate::shingle::Shingle;

/// The shingles of a block of documents.
#[derive(Debug, Default)]
pub struct ListBlock {
    shingles: Vec<Shingle>,
    /// Where each document's shingles end.
    ends: Vec<usize>,
    /// The sum of each document's shingles: lists with different sums are different.
    sums: Vec<u64>,
    /// The least of each document's shingles.
    least: Vec<Rank>,
}

/// A shingle's place in an order that is as good as random, and the same for all
/// documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u64);

impl Rank {
    /// Stands where a document has no more shingles.
    pub const NONE: Self = Self(u64::MAX);

    #[inline]
    fn of(shingle: Shingle) -> Self {
        // High bits then depend on all bits. Below the last, which is no shingle's.
        Self(
            shingle
                .0
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .min(u64::MAX - 1),
        )
    }
}

impl ListBlock {
    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.shingles[..]) + size_of_val(&self.ends[..]) + size_of_val(&self.least[..])
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no document.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn list(&self, index: usize) -> &[Shingle] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.shingles[start..self.ends[index]]
    }

    /// The shingles of each document in turn.
    pub fn lists(&self) -> impl Iterator<Item = &[Shingle]> {
        (0..self.len()).map(|index| self.list(index))
    }
}

/// Collects the shingles of one document after the other.
#[derive(Debug)]
pub struct ListWriter {
    block: ListBlock,
    /// How many of the least are kept of each document.
    least: usize,
}

impl ListWriter {
    /// Keeps so many of the least shingles of each document apart.
    pub fn new(least: usize) -> Self {
        Self {
            block: ListBlock::default(),
            least,
        }
    }

    /// Takes a document's shingles.
    pub fn push(&mut self, shingles: &[Shingle]) {
        let block = &mut self.block;
        block.shingles.extend_from_slice(shingles);
        block.ends.push(block.shingles.len());
        let sum = shingles
            .iter()
            .fold(0, |sum: u64, shingle| sum.wrapping_add(shingle.0));
        block.sums.push(sum);
        let start = block.least.len();
        block.least.resize(start + self.least, Rank::NONE);
        keep_least(shingles, &mut block.least[start..]);
    }

    /// What has been collected since the last time.
    pub fn take(&mut self) -> ListBlock {
        // The next block is likely to be as large, and is not to be copied as it grows.
        let room = self.block.shingles.len() / 8 * 9;
        let next = ListBlock {
            shingles: Vec::with_capacity(room),
            ..ListBlock::default()
        };
        std::mem::replace(&mut self.block, next)
    }
}

/// Ranks that are sorted at once; more are not needed of all but tiny documents.
const SORTED_MAX: usize = 128;

/// Fills `least` with the lowest ranks of `shingles`, each once, in order.
fn keep_least(shingles: &[Shingle], least: &mut [Rank]) {
    let wanted = least.len();
    if wanted == 0 {
        return;
    }
    // Ranks are spread evenly. Below this limit there are about as many as wanted, and
    // four standard deviations more: hardly ever too few, and hardly more than needed.
    let aim = wanted + 4 * wanted.isqrt() + 4;
    let limit = match shingles.len() > aim {
        true => u64::MAX / shingles.len() as u64 * aim as u64,
        false => u64::MAX,
    };
    let mut low = [Rank::NONE; SORTED_MAX];
    let mut count = 0;
    for &shingle in shingles {
        let rank = Rank::of(shingle);
        low[count % SORTED_MAX] = rank;
        count += usize::from(rank.0 < limit);
    }
    if count < SORTED_MAX {
        let low = &mut low[..count];
        low.sort_unstable();
        let mut found = 0;
        for (index, &rank) in low.iter().enumerate() {
            if found < wanted && (index == 0 || low[index - 1] != rank) {
                least[found] = rank;
                found += 1;
            }
        }
        if found == wanted || limit == u64::MAX {
            return;
        }
        least.fill(Rank::NONE);
    }
    keep_least_of_any(shingles, least);
}

/// The same for any document, one shingle after the other.
fn keep_least_of_any(shingles: &[Shingle], least: &mut [Rank]) {
    let last = least.len() - 1;
    for &shingle in shingles {
        let rank = Rank::of(shingle);
        if rank >= least[last] {
            continue;
        }
        let place = least.partition_point(|&known| known < rank);
        if least[place] != rank {
            least[place..].rotate_right(1);
            least[place] = rank;
        }
    }
}

/// The shingles of a collection, in memory.
#[derive(Debug)]
pub struct ShingleLists {
    blocks: Vec<ListBlock>,
    /// For each row, its block and its place in it.
    places: Vec<(u32, u32)>,
    least: usize,
    bytes: u64,
}

impl ShingleLists {
    /// An empty collection, of whose documents so many of the least shingles are kept.
    pub fn new(least: usize) -> Self {
        Self {
            blocks: Vec::new(),
            places: Vec::new(),
            least,
            bytes: 0,
        }
    }

    /// Adds a block of documents, each of which becomes a row.
    pub fn push(&mut self, block: ListBlock) {
        let number = self.blocks.len() as u32;
        let rows = 0..block.len() as u32;
        self.places.extend(rows.map(|index| (number, index)));
        self.bytes += block.bytes() as u64;
        self.blocks.push(block);
    }

    /// The memory that they take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many of the least are kept of each row.
    pub fn least_len(&self) -> usize {
        self.least
    }

    /// A row's shingles, in document order.
    pub fn list(&self, row: usize) -> &[Shingle] {
        let (block, index) = self.places[row];
        self.blocks[block as usize].list(index as usize)
    }

    /// The sum of a row's shingles.
    pub fn sum(&self, row: usize) -> u64 {
        let (block, index) = self.places[row];
        self.blocks[block as usize].sums[index as usize]
    }

    /// The lowest ranks of a row's shingles, each once, in order.
    pub fn least(&self, row: usize) -> &[Rank] {
        let (block, index) = self.places[row];
        let start = index as usize * self.least;
        &self.blocks[block as usize].least[start..start + self.least]
    }

    /// The blocks, in order.
    pub fn into_blocks(self) -> Vec<ListBlock> {
        self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_are_the_first_of_all_in_order(
            shingles in prop_oneof![
                proptest::collection::vec((0_u64..40).prop_map(Shingle), 0..60),
                proptest::collection::vec(any::<u64>().prop_map(Shingle), 0..2000),
                // Many of one.
                (any::<u64>(), 0_usize..3000).prop_map(|(one, count)| vec![Shingle(one); count]),
            ],
            count in 0_usize..65,
        ) {
            let mut writer = ListWriter::new(count);
            writer.push(&[]);
            writer.push(&shingles);
            let mut lists = ShingleLists::new(count);
            lists.push(writer.take());
            let mut expected: Vec<Rank> = shingles.iter().map(|&shingle| Rank::of(shingle)).collect();
            expected.sort_unstable();
            expected.dedup();
            expected.resize(expected.len().max(count), Rank::NONE);
            prop_assert_eq!(lists.least(1), &expected[..count]);
            prop_assert!(lists.least(0).iter().all(|&rank| rank == Rank::NONE));
            prop_assert_eq!(lists.list(1), &shingles[..]);
        }
    }
}
