//! SARIF 2.1.0 (OASIS, 2020): one run, a result a pair, at the place of the first document and
//! related to that of the second.

use std::fmt::Write;

use serde_json::{Value, json};

use super::listing::{FilePlace, PairFacts};

/// The name that all results have.
const RULE: &str = "near-duplicate";

/// What comes before the first result.
pub(super) fn start() -> String {
    let driver = json!({
        "name": "simdup",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": [{
            "id": RULE,
            "shortDescription": {"text": "Two documents are nearly the same"},
            "help": {"text": "`simdup explain ID1 ID2 FILE...` shows the passages they share."},
        }],
    });
    format!(
        "{{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/\
         sarif-schema-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\
         \"columnKind\":\"unicodeCodePoints\",\"results\":["
    )
}

/// What comes behind the last one.
pub(super) const END: &str = "\n]}]}\n";

/// Appends a result, on a line of its own.
pub(super) fn result(urls: [&str; 2], facts: &PairFacts<'_>, score: &str, text: &mut Vec<u8>) {
    let [left, right] = urls;
    let place = |side: usize| place(urls[side], facts.places[side]);
    let mut related = place(1);
    related["id"] = 1.into();
    related["message"] = json!({"text": right});
    let result = json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": format!("{left} is similar to {right} (score {score})")},
        "locations": [place(0)],
        "relatedLocations": [related],
        // As a number of JSON, in the digits that were asked for.
        "rank": score.parse::<f64>().unwrap_or_default() * 100.0,
        "properties": {"url1": left, "url2": right, "score": score},
    });
    text.extend_from_slice(format!("\n{result}").as_bytes());
}

/// A line of a file; of what is no file, the name too, and of what is in none the name alone.
fn place(url: &str, place: FilePlace<'_>) -> Value {
    let mut location = json!({});
    if let Some((file, line)) = place.some_line(url) {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": uri(file)},
            "region": {"startLine": line},
        });
    }
    if matches!(place, FilePlace::None | FilePlace::Record { .. }) {
        location["logicalLocations"] = json!([{"fullyQualifiedName": url}]);
    }
    location
}

/// A path as a relative reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            // Writing to a text cannot fail.
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("src/a b:c%.rs"), "src/a%20b%3Ac%25.rs");
        assert_eq!(uri("é"), "%C3%A9");
    }
}
