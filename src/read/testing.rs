//! Inputs for the tests of reading.

use std::io::{self, Cursor, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

/// A pipe that gives so many bytes at a time.
pub(super) struct Trickle(pub(super) Cursor<Vec<u8>>, pub(super) usize);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let some = buffer.len().min(self.1);
        self.0.read(&mut buffer[..some])
    }
}

pub(super) fn gzip(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
