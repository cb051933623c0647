//! Zstandard, whole or damaged, a document a line in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::read::InputFormat;
use simdup_fuzz::compare_ways;

/// What makes a file known as one, so that every input gets past it.
const HEAD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

fuzz_target!(|bytes: &[u8]| compare_ways(Some(InputFormat::Lines), &[HEAD, bytes].concat()));
