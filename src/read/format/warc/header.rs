//! Lines of names and values before a content, as WARC and HTTP have them.

use memchr::memmem;

/// Bytes that a head may have. A longer one is none.
pub(super) const HEAD_BYTES_MAX: usize = 1 << 20;

/// Names and values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    /// The first value of that name, in any case.
    pub(super) fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0.split(|&byte| byte == b'\n').find_map(|line| {
            let (start, value) = line.split_at_checked(name.len())?;
            let value = value.trim_ascii_start().strip_prefix(b":")?;
            start
                .eq_ignore_ascii_case(name.as_bytes())
                .then(|| value.trim_ascii())
        })
    }
}

/// Where the head ends and the content starts, if both are there.
pub(super) fn content_start(bytes: &[u8]) -> Option<usize> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'\n', &head[from..])?;
        match head[at + 1..] {
            [b'\n', ..] => return Some(at + 2),
            [b'\r', b'\n', ..] => return Some(at + 3),
            _ => from = at + 1,
        }
    }
}

/// The first line, the headers and the content.
pub(super) fn split_head(bytes: &[u8]) -> Option<(&[u8], Headers<'_>, &[u8])> {
    let (head, content) = bytes.split_at(content_start(bytes)?);
    let line = memchr::memchr(b'\n', head)?;
    let (first, headers) = head.split_at(line + 1);
    Some((first.trim_ascii(), Headers(headers), content))
}

/// What every record starts with.
pub(super) const START: &[u8] = b"WARC/1.";

/// Whether bytes start as a record does: with a version on a line of its own.
pub(super) fn starts_record(bytes: &[u8]) -> bool {
    matches!(
        bytes.strip_prefix(START),
        Some([b'0'..=b'9', b'\n', ..] | [b'0'..=b'9', b'\r', b'\n', ..])
    )
}

/// Where the next record starts, at `from` or behind it. The line end before it may be
/// damaged, and is not looked for.
pub(super) fn next_record(bytes: &[u8], from: usize) -> Option<usize> {
    let from = from.min(bytes.len());
    memmem::find_iter(&bytes[from..], START)
        .map(|at| from + at)
        .find(|&at| starts_record(&bytes[at..]))
}
