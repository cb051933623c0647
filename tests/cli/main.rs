//! The program from outside: what it prints, where, and with which status.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

#[cfg(all(
    feature = "bzip2",
    feature = "lz4",
    feature = "tar",
    feature = "xz",
    feature = "zip"
))]
mod archives;
mod bad_input;
mod cluster;
mod code;
mod config;
#[path = "../corpus/mod.rs"]
mod corpus;
mod dedup;
mod directories;
mod documents;
mod encodings;
mod eval;
mod exact;
// They name what the default features read.
#[cfg(all(
    unix,
    feature = "bzip2",
    feature = "lz4",
    feature = "parquet",
    feature = "tar",
    feature = "xz",
    feature = "zip"
))]
mod examples;
mod explain;
mod flags;
#[cfg(feature = "parquet")]
mod formats;
mod harness;
mod help;
mod ids;
mod index;
mod json_schema;
mod listing;
mod memory;
mod output;
mod pairs;
mod rank;
mod readme;
mod regressions;
mod report;
#[cfg(all(
    feature = "bzip2",
    feature = "lz4",
    feature = "parquet",
    feature = "tar",
    feature = "xz",
    feature = "zip"
))]
mod same_documents;
mod same_files;
mod sarif;
mod scope;
mod shards;
mod shingles;
mod sketch;
mod status;
mod technosphere;
mod worker;
