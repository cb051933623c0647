//! A Parquet file, from a pipe.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::read_fields;

fuzz_target!(|bytes: &[u8]| read_fields(InputFormat::Parquet, bytes));
