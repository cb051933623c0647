//! Comma-separated with a header; quoted as RFC 4180 has it, where needed.

use super::PairFormat;

pub(super) struct Csv;

impl PairFormat for Csv {
    fn header(&self, more: &[&str]) -> String {
        let mut names = vec!["url1", "url2", "score"];
        names.extend(more);
        names.join(",") + "\n"
    }

    fn more(&self, _name: &str, value: Option<&str>, line: &mut Vec<u8>) {
        line.push(b',');
        line.extend_from_slice(value.unwrap_or_default().as_bytes());
    }

    fn id(&self, url: &str, line: &mut Vec<u8>) -> bool {
        if !url.contains([',', '"', '\n', '\r']) {
            line.extend_from_slice(url.as_bytes());
            return false;
        }
        line.push(b'"');
        line.extend_from_slice(url.replace('"', "\"\"").as_bytes());
        line.push(b'"');
        false
    }

    fn frame(&self) -> [&'static str; 4] {
        ["", ",", ",", "\n"]
    }
}
