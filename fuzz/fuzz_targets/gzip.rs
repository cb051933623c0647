//! Gzip.
#![no_main]

use std::io::Read;

use flate2::{Compression, bufread::GzEncoder};
use libfuzzer_sys::fuzz_target;
use simdup_fuzz::compare_packed;

fuzz_target!(|input: (u16, u8, &[u8])| compare_packed(&[0x1f, 0x8b, 8], packed, input));

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    // Reading and packing what is in memory does not fail.
    let _ = GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed);
    packed
}
