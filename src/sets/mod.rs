//! The shingle sets of a collection, exact, and in a form that is cheap to
//! compare. Knows neither text nor ids nor output.
//!
//! What matters for comparing is which documents a shingle occurs in. Shingles
//! that occur in exactly the same documents are one **bundle**: a set that has one
//! of them has all. A set is then a short list of bundles with their weights, and
//! what two sets share is the weight of the bundles they share, exactly. Most
//! shingles of ordinary text occur in one document only and are in no bundle at
//! all; versions of one text differ in a few bundles out of a few dozen, where
//! they have thousands of shingles.
//!
//! While documents are read, their shingles are kept as they come ([`ShingleLists`]):
//! where few documents are similar, that is all it takes to compare those.
//!
//! To find the bundles, the space of shingles is cut into shards, and [`ShardWriter`]
//! files the documents' shingles by shard. [`ShingleSets`] then takes shard after shard, small enough for a cache, gives each shingle that
//! several documents have a number, puts that in the shingle's place, and sums for
//! it a random number per document it is in: shingles in the same documents have
//! the same sum, and are a bundle. The bundles are then gathered by document again.

mod bundle;
mod lists;
mod shard;
mod spill;
mod store;
mod sum;

pub use bundle::{Bundle, BundleSets};
pub use lists::{ListBlock, ListWriter, Rank, ShingleLists};
pub use shard::{ShardWriter, Sharded};
pub use store::ShingleSets;
pub use sum::Common;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::shingle::{Shingle, token_hash};

    /// Shingles all over the space of hashes.
    fn shingle(number: u16) -> Shingle {
        Shingle(token_hash(&number.to_le_bytes()))
    }

    /// What two rows share, by their bundles.
    fn shared(sets: &BundleSets, left: usize, right: usize) -> usize {
        let right = sets.bundles(right);
        let common = sets
            .bundles(left)
            .iter()
            .filter(|bundle| right.contains(bundle));
        common
            .map(|&bundle| sets.weights()[bundle as usize] as usize)
            .sum()
    }

    proptest! {
        #[test]
        fn bundles_share_what_the_sets_share(
            // Rows of a few blocks; shingles may be repeated.
            rows in proptest::collection::vec(proptest::collection::vec(0_u16..60, 0..40), 0..24),
            rows_per_block in 1_usize..6,
            excluded in proptest::collection::vec(any::<bool>(), 24),
            memory in prop_oneof![Just(u64::MAX), Just(200_u64)],
            common in prop_oneof![Just(Common::Keep), (1_u32..10).prop_map(Common::Documents)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sets = ShingleSets::new(memory, folder.path().to_owned());
            let mut writer = ShardWriter::default();
            for (block, excluded) in rows.chunks(rows_per_block).zip(excluded.chunks(rows_per_block)) {
                for row in block {
                    let shingles: Vec<Shingle> = row.iter().map(|&number| shingle(number)).collect();
                    writer.push(&shingles);
                }
                sets.push(writer.take(), &excluded[..block.len()]).unwrap();
            }
            prop_assert_eq!(sets.rows(), rows.len());
            let found = sets.into_bundles(common).unwrap();

            let counting = |row: &usize| !excluded[*row];
            let documents = |number: u16| {
                let has = |row: &usize| rows[*row].contains(&number);
                (0..rows.len()).filter(counting).filter(has).count() as u32
            };
            let counts = |number: &u16| match common {
                Common::Keep => true,
                Common::Documents(most) => documents(*number) <= most,
            };
            let expected: Vec<BTreeSet<u16>> = rows
                .iter()
                .map(|row| row.iter().copied().filter(counts).collect())
                .collect();
            for left in (0..rows.len()).filter(counting) {
                prop_assert_eq!(found.size(left) as usize, expected[left].len());
                for right in (0..rows.len()).filter(counting).filter(|&right| right != left) {
                    let intersection = expected[left].intersection(&expected[right]).count();
                    prop_assert_eq!(shared(&found, left, right), intersection);
                }
            }
        }
    }
}
