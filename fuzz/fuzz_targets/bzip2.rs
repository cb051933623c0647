//! Bzip2, a document a line in it: any bytes behind the head of a file, and a whole file with a byte changed.
#![no_main]

use std::io::Write;

use bzip2::{Compression, write::BzEncoder};
use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::{compare_ways, damaged};

/// What makes a file known as one.
const HEAD: &[u8] = b"BZh11AY&SY";

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (place, by, bytes) = input;
    let lines = Some(InputFormat::Lines);
    compare_ways(lines, &[HEAD, bytes].concat());
    compare_ways(lines, &damaged(packed(bytes), place, by));
});

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = BzEncoder::new(Vec::new(), Compression::fast());
    // Packing in memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
