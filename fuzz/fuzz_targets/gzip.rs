//! Gzip, a document a line in it: any bytes behind the head of a file, and a whole file with a byte changed.
#![no_main]

use flate2::{Compression, bufread::GzEncoder};
use libfuzzer_sys::fuzz_target;
use simdup::read::InputFormat;
use simdup_fuzz::{compare_ways, damaged};
use std::io::Read;

/// What makes a file known as one.
const HEAD: &[u8] = &[0x1f, 0x8b, 8];

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (place, by, bytes) = input;
    let lines = Some(InputFormat::Lines);
    compare_ways(lines, &[HEAD, bytes].concat());
    compare_ways(lines, &damaged(packed(bytes), place, by));
});

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    // Reading and packing what is in memory does not fail.
    let _ = GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed);
    packed
}
