//! The program from outside: what it prints, where, and with which status.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod bad_input;
mod clusters;
#[path = "../corpus/mod.rs"]
mod corpus;
mod documents;
mod exact;
mod harness;
mod output;
mod pairs;
mod readme;
mod regressions;
mod shingles;
mod technosphere;
