//! The compressions, how one is told from another, and what to do where one is not built in.

#[cfg(feature = "bzip2")]
pub(in crate::read) mod bzip2;
pub(in crate::read) mod gzip;
#[cfg(feature = "lz4")]
pub(in crate::read) mod lz4;
#[cfg(feature = "xz")]
pub(in crate::read) mod xz;
pub(in crate::read) mod zstd;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::read::format::foreign::{Foreign, is_control};
use crate::read::text::utf8;

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Packing {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lz4,
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const XZ: [u8; 6] = *b"\xfd7zXZ\0";
/// What a frame of lz4 starts with.
pub(in crate::read) const LZ4_FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// The same in the program's first version.
pub(in crate::read) const LZ4_FIRST_VERSION: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

impl Packing {
    /// The compression of a file that starts like this.
    pub(in crate::read) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(&GZIP) {
            Some(Self::Gzip)
        } else if is_zstd(head) {
            Some(Self::Zstd)
        } else if is_bzip2(head) {
            Some(Self::Bzip2)
        } else if head.starts_with(&XZ) {
            Some(Self::Xz)
        } else if head.starts_with(&LZ4_FRAME) || head.starts_with(&LZ4_FIRST_VERSION) {
            Some(Self::Lz4)
        } else {
            None
        }
    }

    /// What it is to those who cannot read it: a feature was left out.
    pub(in crate::read) fn foreign(self) -> Option<Foreign> {
        let missing = |what, remedy| Some(Foreign::new(what, remedy));
        match self {
            Self::Bzip2 if cfg!(not(feature = "bzip2")) => missing(
                "bzip2, which this simdup was built without (feature `bzip2`)",
                "unpack it: `bzcat FILE | simdup`",
            ),
            Self::Xz if cfg!(not(feature = "xz")) => missing(
                "xz, which this simdup was built without (feature `xz`)",
                "unpack it: `xzcat FILE | simdup`",
            ),
            Self::Lz4 if cfg!(not(feature = "lz4")) => missing(
                "lz4, which this simdup was built without (feature `lz4`)",
                "unpack it: `lz4cat FILE | simdup`",
            ),
            _ => None,
        }
    }

    /// The unpacked content, and in `windows` how much of it is kept at the most while it is
    /// unpacked. As it is, if a feature is missing: the content will tell.
    pub(in crate::read) fn reader(
        self,
        packed: Box<dyn Read + Send>,
        windows: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => gzip::reader(packed),
            Self::Zstd => Box::new(zstd::Reader::new(packed, windows)?),
            #[cfg(feature = "bzip2")]
            Self::Bzip2 => bzip2::reader(packed),
            #[cfg(feature = "xz")]
            Self::Xz => xz::reader(packed)?,
            #[cfg(feature = "lz4")]
            Self::Lz4 => lz4::reader(packed),
            #[cfg(not(all(feature = "bzip2", feature = "xz", feature = "lz4")))]
            _ => packed,
        })
    }
}

/// A frame, or one to skip, as parallel compressors write before the first.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(&ZSTD) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// With something in it, or nothing. A text may start so too, but goes on otherwise.
fn is_bzip2(head: &[u8]) -> bool {
    let is_text = || utf8::is_text(head) && !head.iter().any(is_control);
    match head.strip_prefix(b"BZh") {
        Some([b'1'..=b'9', rest @ ..]) => {
            (rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17rE8P\x90")) && !is_text()
        }
        _ => false,
    }
}
