//! Comma-separated with a header; quoted as RFC 4180 has it, where needed.

use super::PairFormat;

pub(super) struct Csv;

impl PairFormat for Csv {
    fn header(&self, with_shares: bool) -> &'static str {
        if with_shares {
            "url1,url2,score,in1,in2\n"
        } else {
            "url1,url2,score\n"
        }
    }

    fn shares(&self) -> Option<[&'static str; 2]> {
        Some([",", ","])
    }

    fn id(&self, url: &str, line: &mut Vec<u8>) {
        if !url.contains([',', '"', '\n', '\r']) {
            line.extend_from_slice(url.as_bytes());
            return;
        }
        line.push(b'"');
        line.extend_from_slice(url.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    }

    fn frame(&self) -> [&'static str; 4] {
        ["", ",", ",", "\n"]
    }
}
