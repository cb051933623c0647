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
//! To find the bundles, the space of shingles is cut into shards. While documents
//! are read, [`ShardWriter`] files their shingles by shard. [`ShingleSets`] then
//! takes shard after shard, small enough for a cache, gives each shingle that
//! several documents have a number, puts that in the shingle's place, and sums for
//! it a random number per document it is in: shingles in the same documents have
//! the same sum, and are a bundle. The bundles are then gathered by document again.

mod bundle;
mod shard;
mod spill;
mod store;

pub use bundle::{Bundle, BundleSets};
pub use shard::{ShardWriter, Sharded};
pub use store::{Common, ShingleSets};
