//! The shingle sets of a collection, exact, and in a form that is cheap to join. Knows neither
//! text nor ids nor output.
//!
//! While documents are read, their shingles are kept as they come, in chunks, and each chunk
//! once ([`ShingleLists`]). Most documents cannot have a partner, and are dropped
//! ([`drop_partnerless`]). Of the others, shingles that occur in the same documents are one
//! bundle ([`SummedSets`]): what two sets share is the weight of the bundles that they share.
//!
//! Whatever grows with the shingles is in memory for as long as it fits, then in a temporary
//! file. What comes of it does not depend on that.

mod budget;
mod bundle;
mod chunk_bundles;
mod chunks;
mod document_bundles;
mod jagged;
mod lists;
mod numbers;
mod pages;
mod partners;
mod role;
mod shards;
mod sums;
mod uses;

pub(crate) use bundle::{SetAt, SummedSet, SummedSets};
pub(crate) use chunks::Print;
pub(crate) use document_bundles::Common;
pub(crate) use jagged::Jagged;
pub(crate) use lists::{ListBlock, ListPlaces, ShingleLists};
pub(crate) use numbers::Numbers;
pub(crate) use pages::room;
pub(crate) use partners::drop_partnerless;
pub(crate) use role::Role;
