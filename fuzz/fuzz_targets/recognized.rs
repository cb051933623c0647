//! Any bytes: the format and the compression are recognized.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup_fuzz::read;

fuzz_target!(|bytes: &[u8]| read(None, bytes));
