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
    related["message"] = json!({"text": message(right)});
    let result = json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": format!(
            "{} is similar to {} (score {score})", message(left), message(right)
        )},
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

/// An id in a message: without the placeholders (`{0}`, §3.11.5) and the links (`[text](url)`,
/// §3.11.6) that it would have there.
fn message(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    let mut chars = id.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' => text.extend([c, c]),
            '[' | ']' => text.extend(['\\', c]),
            // Before a bracket it would be read together with that one's own.
            '\\' if matches!(chars.peek(), Some('[' | ']')) => text.push_str("\\\\"),
            _ => text.push(c),
        }
    }
    text
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
    fn an_id_has_no_link_and_no_placeholder_in_a_message() {
        for (id, text) in [
            ("[x](http://evil)", r"\[x\](http://evil)"),
            ("{0}", "{{0}}"),
            (r"a\[b", r"a\\\[b"),
            (r"src\a.c", r"src\a.c"),
        ] {
            assert_eq!(message(id), text);
        }
        let facts = PairFacts {
            score: crate::score::Score::new(9, 10),
            shares: None,
            shared: 9,
            sizes: [9, 10],
            places: [FilePlace::None; 2],
        };
        let mut line = Vec::new();
        result(["{0}", "[x](1)"], &facts, "0.9", &mut line);
        let found: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(
            found["message"]["text"],
            r"{{0}} is similar to \[x\](1) (score 0.9)"
        );
        assert_eq!(found["relatedLocations"][0]["message"]["text"], r"\[x\](1)");
        assert_eq!(found["properties"]["url2"], "[x](1)");
    }

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("src/a b:c%.rs"), "src/a%20b%3Ac%25.rs");
        assert_eq!(uri("é"), "%C3%A9");
    }
}
