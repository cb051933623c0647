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

/// Bytes that tell the compression.
const MAGIC_BYTES_MAX: usize = 8;
/// The largest window that zstd writes, with `--ultra --long=31`.
const ZSTD_WINDOW_LOG_MAX: u32 = 31;

type Raw = BufReader<io::Chain<io::Cursor<Vec<u8>>, Counted<Box<dyn Read + Send>>>>;

/// A frame, or one to skip, as parallel compressors write before the first.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(&ZSTD_MAGIC) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Wraps a stream in the decoder that its first bytes ask for. Every byte taken
/// from `raw` is added to `taken`.
pub(super) fn decompress(
    raw: Box<dyn Read + Send>,
    taken: &Arc<AtomicU64>,
) -> io::Result<Decompressed> {
    let mut raw = Counted {
        inner: raw,
        taken: Arc::clone(taken),
    };
    // A pipe may give a byte at a time.
    let mut head = Vec::with_capacity(MAGIC_BYTES_MAX);
    (&mut raw)
        .take(MAGIC_BYTES_MAX as u64)
        .read_to_end(&mut head)?;
    let whole = io::Cursor::new(head.clone()).chain(raw);
    let raw = BufReader::with_capacity(INPUT_BUFFER_BYTES, whole);
    if head.starts_with(&GZIP_MAGIC) {
        return Ok(Decompressed::Gzip(Box::new(Members::new(raw))));
    }
    if is_zstd(&head) {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(raw)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
        return Ok(Decompressed::Zstd(decoder));
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

    /// A pipe that gives a byte at a time.
    struct Trickle(io::Cursor<Vec<u8>>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    #[test]
    fn a_slow_pipe_and_a_frame_to_skip_hide_nothing() {
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7][..]].concat();
        let frame = zstd::encode_all(&b"text"[..], 1).unwrap();
        for bytes in [gzip(b"text"), [skipped, frame].concat(), b"text".to_vec()] {
            let taken = Arc::new(AtomicU64::new(0));
            let mut out = Vec::new();
            decompress(Box::new(Trickle(io::Cursor::new(bytes))), &taken)
                .unwrap()
                .read_to_end(&mut out)
                .unwrap();
            assert_eq!(out, b"text");
        }
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
