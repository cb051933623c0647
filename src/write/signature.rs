//! Signatures, one JSON object a line.

use std::io::{self, Write};

use super::jsonl::json_string;
use crate::sketches::Sketched;

/// Writes `{"url":…,"shingles":…,"values":[…]}` and a line end.
pub fn write_signature(document: &Sketched<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::with_capacity(document.url.len() + document.signature.len() * 12 + 40);
    line.extend_from_slice(b"{\"url\":");
    json_string(document.url, &mut line);
    write!(line, ",\"shingles\":{},\"values\":[", document.shingles)?;
    for (position, value) in document.signature.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        write!(line, "{comma}{value}")?;
    }
    line.extend_from_slice(b"]}\n");
    output.write_all(&line)
}
