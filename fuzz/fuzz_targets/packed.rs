//! Compressed files with a document in each line: any bytes behind the head by which the
//! compression is recognized, or a whole file with one byte changed.
#![no_main]

use std::io::Write;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;
use liblzma::write::XzEncoder;
use lz4_flex::frame::FrameEncoder;
use simdup::settings::InputFormat;
use simdup_fuzz::{damaged, read};

/// The heads of gzip, zstd, bzip2, xz and lz4.
const HEADS: [&[u8]; 5] = [
    &[0x1f, 0x8b, 8],
    &[0x28, 0xb5, 0x2f, 0xfd],
    b"BZh11AY&SY",
    b"\xfd7zXZ\0",
    &[0x04, 0x22, 0x4d, 0x18],
];

fuzz_target!(|input: (u8, u16, u8, &[u8])| {
    let (compression, place, by, bytes) = input;
    let compression = usize::from(compression) % HEADS.len();
    let lines = Some(InputFormat::Lines);
    if place % 2 == 0 {
        return read(lines, &[HEADS[compression], bytes].concat());
    }
    let packed = packed(compression, bytes).unwrap_or_default();
    read(lines, &damaged(packed, place / 2, by));
});

fn packed(compression: usize, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let to = Vec::new();
    match compression {
        0 => {
            let mut encoder = GzEncoder::new(to, flate2::Compression::fast());
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        1 => zstd::encode_all(bytes, 1),
        2 => {
            let mut encoder = BzEncoder::new(to, bzip2::Compression::fast());
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        3 => {
            let mut encoder = XzEncoder::new(to, 0);
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        _ => {
            let mut encoder = FrameEncoder::new(to);
            encoder.write_all(bytes)?;
            Ok(encoder.finish()?)
        }
    }
}
