//! The body of an HTTP response as it was sent: chunks put together, compression undone.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use memchr::memmem;

use super::header::{Headers, split_head};
use crate::error::ErrorKind;

/// Most that a body is unpacked to: a small one can unpack to anything.
const BODY_BYTES_MAX: u64 = 64 << 20;

/// A response.
pub(super) struct Response<'a> {
    pub(super) headers: Headers<'a>,
    status: u16,
    body: &'a [u8],
}

impl<'a> Response<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (first, headers, body) = split_head(bytes)?;
        let status = first
            .strip_prefix(b"HTTP/")?
            .splitn(3, |&byte| byte == b' ')
            .nth(1)?;
        Some(Self {
            headers,
            status: str::from_utf8(status).ok()?.trim().parse().ok()?,
            body,
        })
    }

    /// Whether it is what was asked for, and no redirect or page of an error.
    pub(super) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What was sent. Many archives keep the headers but have undone what they say: what
    /// does not look like it is taken as it is.
    pub(super) fn body(&self) -> Result<Cow<'a, [u8]>, ErrorKind> {
        let mut body = Cow::Borrowed(self.body);
        let is = |name: &str, value: &[u8]| {
            let said = self.headers.get(name).unwrap_or_default();
            memmem::find(&said.to_ascii_lowercase(), value).is_some()
        };
        if is("transfer-encoding", b"chunked")
            && let Some(joined) = joined_chunks(&body)
        {
            body = joined.into();
        }
        if is("content-encoding", b"gzip") && body.starts_with(&[0x1f, 0x8b]) {
            return unpacked(MultiGzDecoder::new(&*body)).map(Cow::Owned);
        }
        if is("content-encoding", b"deflate") {
            // What is called so is either of two things.
            let is_zlib = matches!(*body, [first, second, ..] if first & 0x0f == 8
                && (u16::from(first) << 8 | u16::from(second)) % 31 == 0);
            return match is_zlib {
                true => unpacked(ZlibDecoder::new(&*body)).map(Cow::Owned),
                false => match unpacked(DeflateDecoder::new(&*body)) {
                    Ok(unpacked) => Ok(unpacked.into()),
                    Err(ErrorKind::Warc(_)) => Ok(body),
                    Err(error) => Err(error),
                },
            };
        }
        for name in ["br", "zstd"] {
            // Text cannot be told from it by its start.
            if is("content-encoding", name.as_bytes()) && str::from_utf8(&body).is_err() {
                let what = format!("the content is compressed as `{name}`, which is not read");
                return Err(ErrorKind::Warc(what));
            }
        }
        Ok(body)
    }
}

/// What can be unpacked. Crawlers cut bodies off, so what is there counts.
fn unpacked(reader: impl Read) -> Result<Vec<u8>, ErrorKind> {
    let mut body = Vec::new();
    let read: io::Result<usize> = reader.take(BODY_BYTES_MAX + 1).read_to_end(&mut body);
    match read {
        _ if body.len() as u64 > BODY_BYTES_MAX => Err(ErrorKind::TooLong(body.len() as u64)),
        Err(error) if body.is_empty() => Err(ErrorKind::Warc(format!(
            "the content cannot be unpacked: {error}"
        ))),
        _ => Ok(body),
    }
}

/// The content of chunks, each behind its length in a line; `None` if these are none. What
/// was cut off is left out.
fn joined_chunks(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut is_first = true;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let line = rest[..end].trim_ascii();
        let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
        let length = str::from_utf8(digits.trim_ascii()).ok();
        let length = length.and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let Some(length) = length else {
            if is_first {
                return None;
            }
            break;
        };
        is_first = false;
        let chunk = &rest[end + 1..];
        let (chunk, behind) = chunk.split_at(length.min(chunk.len()));
        joined.extend_from_slice(chunk);
        if length == 0 {
            break;
        }
        rest = behind
            .strip_prefix(b"\r\n")
            .or(behind.strip_prefix(b"\n"))
            .unwrap_or(behind);
    }
    (!is_first).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn body(head: &str, body: &[u8]) -> Result<Vec<u8>, ErrorKind> {
        let response = [
            format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes(),
            body,
        ]
        .concat();
        Response::read(&response)
            .unwrap()
            .body()
            .map(Cow::into_owned)
    }

    #[test]
    fn bodies_are_as_they_were_sent() {
        let text = b"some words, some words, some words";
        let mut gzip = GzEncoder::new(vec![], Compression::fast());
        gzip.write_all(text).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = ZlibEncoder::new(vec![], Compression::fast());
        zlib.write_all(text).unwrap();
        let mut raw = DeflateEncoder::new(vec![], Compression::fast());
        raw.write_all(text).unwrap();
        let chunks = |bytes: &[u8]| {
            let (one, two) = bytes.split_at(5);
            let mut chunks = b"5;x=y\r\n".to_vec();
            chunks.extend(one);
            chunks.extend(format!("\r\n{:X}\r\n", two.len()).as_bytes());
            chunks.extend(two);
            chunks.extend(b"\r\n0\r\n\r\n");
            chunks
        };
        let chunked = "Transfer-Encoding: Chunked";
        for (head, sent) in [
            ("A: b", text.to_vec()),
            ("content-ENCODING: gzip", gzip.clone()),
            ("Content-Encoding: deflate", zlib.finish().unwrap()),
            ("Content-Encoding: deflate", raw.finish().unwrap()),
            (chunked, chunks(text)),
            (
                &format!("{chunked}\r\nContent-Encoding: gzip"),
                chunks(&gzip),
            ),
            // What the archive has undone already.
            (
                &format!("{chunked}\r\nContent-Encoding: gzip"),
                text.to_vec(),
            ),
            ("Content-Encoding: br", text.to_vec()),
        ] {
            assert_eq!(body(head, &sent).unwrap(), text, "{head}");
        }
        assert!(matches!(
            body("Content-Encoding: br", b"\xff\x00"),
            Err(ErrorKind::Warc(_))
        ));
        // Cut off.
        assert_eq!(body(chunked, &chunks(text)[..20]).unwrap(), text[..7]);
        let cut = body("Content-Encoding: gzip", &gzip[..gzip.len() - 8]).unwrap();
        assert!(text.starts_with(&cut));
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let mut gzip = GzEncoder::new(vec![], Compression::fast());
        gzip.write_all(&vec![0; BODY_BYTES_MAX as usize + 10])
            .unwrap();
        let gzip = gzip.finish().unwrap();
        let unpacked = body("Content-Encoding: gzip", &gzip);
        assert!(matches!(unpacked, Err(ErrorKind::TooLong(_))));
    }
}
