//! Output that is compressed as its name says.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Output;

/// An output, compressed or not.
pub enum Packed {
    /// As it is.
    Plain(Output),
    /// Gzip.
    Gzip(GzEncoder<Output>),
    /// Zstandard.
    Zstd(zstd::stream::write::Encoder<'static, Output>),
}

impl Packed {
    /// Compressed if the name ends in `.gz`, `.zst` or `.zstd`.
    pub fn by_name(output: Output, path: Option<&Path>) -> io::Result<Self> {
        let ending = path
            .and_then(Path::extension)
            .map(|ending| ending.to_string_lossy().to_lowercase());
        Ok(match ending.as_deref() {
            Some("gz") => Self::Gzip(GzEncoder::new(output, Compression::default())),
            Some("zst" | "zstd") => Self::Zstd(zstd::stream::write::Encoder::new(output, 0)?),
            _ => Self::Plain(output),
        })
    }

    /// Ends compressing and gives back the output, which is to be finished.
    pub fn into_output(self) -> io::Result<Output> {
        match self {
            Self::Plain(output) => Ok(output),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(output) => output.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}
