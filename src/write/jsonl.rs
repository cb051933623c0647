//! A JSON object a line.

use super::PairFormat;

pub(super) struct Jsonl;

impl PairFormat for Jsonl {
    fn id(&self, url: &str, line: &mut Vec<u8>) -> bool {
        json_string(url, line);
        false
    }

    fn more(&self, name: &str, value: Option<&str>, line: &mut Vec<u8>) {
        let value = value.unwrap_or("null");
        line.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
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
