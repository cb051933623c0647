//! A JSON object a line.

use super::PairFormat;

pub(super) struct Jsonl;

impl PairFormat for Jsonl {
    fn id(&self, url: &str, line: &mut Vec<u8>) {
        json_string(url, line);
    }

    fn shares(&self) -> Option<[&'static str; 2]> {
        Some([",\"in1\":", ",\"in2\":"])
    }

    fn frame(&self) -> [&'static str; 4] {
        ["{\"url1\":", ",\"url2\":", ",\"score\":", "}\n"]
    }
}

/// Appends a JSON string.
pub(super) fn json_string(text: &str, line: &mut Vec<u8>) {
    // Writing a string to a vector cannot fail.
    let _ = serde_json::to_writer(line, text);
}
