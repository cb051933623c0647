//! Any bytes: the format and the compression are recognised.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup_fuzz::compare_ways;

fuzz_target!(|bytes: &[u8]| compare_ways(None, bytes));
