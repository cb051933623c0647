//! Output that is compressed as its name says.

use std::io::{self, Write};
use std::mem;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Output;

/// An output, compressed or not.
pub enum Packed {
    /// As it is.
    Plain(Output),
    /// Gzip.
    Gzip(Members),
    /// Zstandard.
    Zstd(zstd::stream::write::Encoder<'static, Output>),
    /// Bzip2.
    #[cfg(feature = "bzip2")]
    Bzip2(bzip2::write::BzEncoder<Output>),
    /// xz.
    #[cfg(feature = "xz")]
    Xz(liblzma::write::XzEncoder<Output>),
}

/// As `xz` has it unless told otherwise.
#[cfg(feature = "xz")]
const XZ_LEVEL: u32 = 6;

/// Gzip, with a member up to each flush: so tools know the records of crawls.
pub struct Members {
    state: Member,
    /// A file without any is none.
    has_any: bool,
}

enum Member {
    Open(Box<GzEncoder<Output>>),
    Closed(Output),
    /// Nothing can be written behind an error.
    Lost,
}

impl Members {
    fn new(output: Output) -> Self {
        Self {
            state: Member::Closed(output),
            has_any: false,
        }
    }

    fn open(&mut self) -> io::Result<&mut GzEncoder<Output>> {
        self.state = match mem::replace(&mut self.state, Member::Lost) {
            Member::Closed(output) => {
                Member::Open(Box::new(GzEncoder::new(output, Compression::default())))
            }
            other => other,
        };
        self.has_any = true;
        match &mut self.state {
            Member::Open(encoder) => Ok(encoder),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn close(&mut self) -> io::Result<()> {
        self.state = match mem::replace(&mut self.state, Member::Lost) {
            Member::Open(encoder) => Member::Closed(encoder.finish()?),
            other => other,
        };
        Ok(())
    }
}

impl Packed {
    /// Compressed if the name ends in `.gz`, `.zst`, `.zstd`, `.bz2` or `.xz`.
    pub fn by_name(output: Output, path: Option<&Path>) -> io::Result<Self> {
        let ending = path
            .and_then(Path::extension)
            .map(|ending| ending.to_string_lossy().to_lowercase());
        Ok(match ending.as_deref() {
            Some("gz") => Self::Gzip(Members::new(output)),
            Some("zst" | "zstd") => Self::Zstd(zstd::stream::write::Encoder::new(output, 0)?),
            #[cfg(feature = "bzip2")]
            Some("bz2") => Self::Bzip2(bzip2::write::BzEncoder::new(
                output,
                bzip2::Compression::best(),
            )),
            #[cfg(feature = "xz")]
            Some("xz") => Self::Xz(liblzma::write::XzEncoder::new(output, XZ_LEVEL)),
            _ => Self::Plain(output),
        })
    }

    /// Ends compressing and gives back the output, which is to be finished.
    pub fn into_output(self) -> io::Result<Output> {
        match self {
            Self::Plain(output) => Ok(output),
            Self::Gzip(mut members) => {
                if !members.has_any {
                    members.open()?;
                }
                members.close()?;
                match members.state {
                    Member::Closed(output) => Ok(output),
                    _ => Err(io::ErrorKind::BrokenPipe.into()),
                }
            }
            Self::Zstd(encoder) => encoder.finish(),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.finish(),
            #[cfg(feature = "xz")]
            Self::Xz(encoder) => encoder.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(output) => output.write(bytes),
            Self::Gzip(members) => members.open()?.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.write(bytes),
            #[cfg(feature = "xz")]
            Self::Xz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output.flush(),
            Self::Gzip(members) => members.close(),
            Self::Zstd(encoder) => encoder.flush(),
            // A flush would end a block, and nothing is gained by that.
            #[cfg(feature = "bzip2")]
            Self::Bzip2(_) => Ok(()),
            #[cfg(feature = "xz")]
            Self::Xz(_) => Ok(()),
        }
    }
}
