//! Tab-separated, no header; tab, line ends and backslash inside an id are
//! escaped with a backslash.

use super::PairFormat;

pub(super) struct Tsv;

impl PairFormat for Tsv {
    fn id(&self, url: &str, line: &mut Vec<u8>) -> bool {
        for &byte in url.as_bytes() {
            match byte {
                b'\t' => line.extend_from_slice(b"\\t"),
                b'\n' => line.extend_from_slice(b"\\n"),
                b'\r' => line.extend_from_slice(b"\\r"),
                b'\\' => line.extend_from_slice(b"\\\\"),
                _ => line.push(byte),
            }
        }
        false
    }

    fn frame(&self) -> [&'static str; 4] {
        ["", "\t", "\t", "\n"]
    }
}
