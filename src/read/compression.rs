//! Decompression, recognised by the first bytes. The only file that knows
//! flate2 and zstd.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Formats that are recognised only to be refused by name.
const REFUSED: [(&[u8], &str); 4] = [
    (b"BZh91AY", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"PK\x03\x04", "zip"),
    (b"\x04\x22\x4d\x18", "lz4"),
];

/// Bytes asked of the operating system at a time.
const INPUT_BUFFER_BYTES: usize = 128 * 1024;

type Raw = BufReader<Counted<Box<dyn Read + Send>>>;

/// Wraps a stream in the decoder that its first bytes ask for. Every byte taken
/// from `raw` is added to `taken`.
pub(super) fn decompress(
    raw: Box<dyn Read + Send>,
    taken: &Arc<AtomicU64>,
) -> io::Result<Decompressed> {
    let mut raw = BufReader::with_capacity(
        INPUT_BUFFER_BYTES,
        Counted {
            inner: raw,
            taken: Arc::clone(taken),
        },
    );
    let head = raw.fill_buf()?;
    if head.starts_with(&GZIP_MAGIC) {
        return Ok(Decompressed::Gzip(Box::new(Members::new(raw))));
    }
    if head.starts_with(&ZSTD_MAGIC) {
        return Ok(Decompressed::Zstd(
            zstd::stream::read::Decoder::with_buffer(raw)?,
        ));
    }
    if let Some((_, name)) = REFUSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("{name} is not supported; decompress it into a pipe, or use gzip or zstd"),
        ));
    }
    Ok(Decompressed::Plain(raw))
}

/// A stream of bytes as they were before compression.
pub(super) enum Decompressed {
    Plain(Raw),
    Gzip(Box<Members<Raw>>),
    Zstd(zstd::stream::read::Decoder<'static, Raw>),
}

impl Decompressed {
    /// Whether a read error can come from the data and not from the system.
    pub(super) fn is_compressed(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Gzip(reader) => reader.read(buffer),
            Self::Zstd(reader) => reader.read(buffer),
        }
    }
}

/// All members of a gzip file, one after the other, as `cat a.gz b.gz` makes
/// them. Zero bytes after the last member are padding, as for gzip itself.
pub(super) struct Members<R> {
    /// `None` once the last member has been read.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    fn new(raw: R) -> Self {
        Self {
            member: Some(GzDecoder::new(raw)),
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(member) = &mut self.member else {
                return Ok(0);
            };
            let count = member.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let Some(ended) = self.member.take() else {
                return Ok(0);
            };
            self.member = next_member(ended.into_inner())?;
        }
    }
}

fn next_member<R: BufRead>(mut raw: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let rest = raw.fill_buf()?;
        match rest.iter().position(|&byte| byte != 0) {
            None if rest.is_empty() => return Ok(None),
            None => {
                let padding = rest.len();
                raw.consume(padding);
            }
            Some(0) if rest[0] == GZIP_MAGIC[0] => return Ok(Some(GzDecoder::new(raw))),
            Some(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "bytes that are not gzip after the last member",
                ));
            }
        }
    }
}

/// Counts what is read, for progress and statistics.
pub(super) struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: Vec<u8>) -> io::Result<(Vec<u8>, u64)> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut out = Vec::new();
        decompress(Box::new(io::Cursor::new(bytes)), &taken)?.read_to_end(&mut out)?;
        Ok((out, taken.load(Ordering::Relaxed)))
    }

    #[test]
    fn plain_gzip_members_and_zstd_are_recognised() {
        assert_eq!(read(b"plain".to_vec()).unwrap().0, b"plain");
        let members = [gzip(b"one "), gzip(b""), gzip(b"two"), vec![0; 700]].concat();
        let length = members.len() as u64;
        assert_eq!(read(members).unwrap(), (b"one two".to_vec(), length));
        let frames = [
            zstd::encode_all(&b"one "[..], 1).unwrap(),
            zstd::encode_all(&b"two"[..], 1).unwrap(),
        ]
        .concat();
        assert_eq!(read(frames).unwrap().0, b"one two");
    }

    #[test]
    fn a_cut_off_or_spoiled_stream_is_an_error() {
        let whole = gzip(&[b'x'; 10_000]);
        for length in 2..whole.len() {
            assert!(read(whole[..length].to_vec()).is_err(), "{length}");
        }
        assert!(read([whole, b"junk".to_vec()].concat()).is_err());
        let whole = zstd::encode_all(&[b'x'; 10_000][..], 1).unwrap();
        assert!(read(whole[..whole.len() - 1].to_vec()).is_err());
    }

    #[test]
    fn other_compressions_are_refused_by_name() {
        let error = read(b"\xfd7zXZ\0rest".to_vec()).unwrap_err();
        assert!(error.to_string().contains("xz"));
    }
}
