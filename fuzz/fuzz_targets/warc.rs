//! The archive of a crawler.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::read;

fuzz_target!(|bytes: &[u8]| read(Some(InputFormat::Warc), bytes));
