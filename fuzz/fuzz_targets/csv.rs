//! CSV.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::compare_ways;

fuzz_target!(|bytes: &[u8]| compare_ways(Some(InputFormat::Csv), bytes));
