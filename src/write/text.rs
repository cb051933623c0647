//! `url1 url2 score`, one space between. White space inside an id is percent-encoded, so that
//! a line always has three fields; so is a `%` that would read as such an escape, so that
//! decoding gives the id back.

use memchr::memchr;

use super::PairFormat;

pub(super) struct Text;

impl PairFormat for Text {
    fn id(&self, url: &str, line: &mut Vec<u8>) {
        // All of them are looked at, which vector instructions do faster than one by one.
        let others = url.bytes().filter(|byte| !byte.is_ascii_graphic()).count();
        if others == 0 && memchr(b'%', url.as_bytes()).is_none() {
            line.extend_from_slice(url.as_bytes());
            return;
        }
        for (at, c) in url.char_indices() {
            let bytes = &url.as_bytes()[at..at + c.len_utf8()];
            if c.is_whitespace() || is_escape(&url.as_bytes()[at..]) {
                for byte in bytes {
                    line.extend_from_slice(format!("%{byte:02X}").as_bytes());
                }
            } else {
                line.extend_from_slice(bytes);
            }
        }
    }

    fn frame(&self) -> [&'static str; 4] {
        ["", " ", " ", "\n"]
    }
}

/// Whether a reader would take the start of this for a byte that was encoded.
fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(id: &str) -> String {
        let mut line = vec![];
        Text.id(id, &mut line);
        String::from_utf8(line).unwrap()
    }

    /// As any reader of percent-encoded text has it.
    fn decoded(text: &str) -> String {
        let mut bytes = text.as_bytes();
        let mut id = vec![];
        while let Some((&first, rest)) = bytes.split_first() {
            if is_escape(bytes) {
                let digits = std::str::from_utf8(&bytes[1..3]).unwrap();
                id.push(u8::from_str_radix(digits, 16).unwrap());
                bytes = &bytes[3..];
            } else {
                id.push(first);
                bytes = rest;
            }
        }
        String::from_utf8(id).unwrap()
    }

    #[test]
    fn only_what_would_be_misread_is_encoded() {
        for (id, expected) in [
            ("a b", "a%20b"),
            ("a%20b", "a%2520b"),
            ("100%", "100%"),
            ("%%41", "%%2541"),
            ("%zz%4", "%zz%4"),
            ("%2 0", "%2%200"),
            ("é%C3%a9", "é%25C3%25a9"),
            ("a\u{3000}b", "a%E3%80%80b"),
        ] {
            assert_eq!(encoded(id), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn decoding_gives_the_id_back(id in "(.|[ %0-9a-fA-F\u{a0}]){0,12}") {
            let text = encoded(&id);
            assert_eq!(decoded(&text), id);
            assert!(!text.contains(char::is_whitespace));
        }

        #[test]
        fn different_ids_never_print_the_same(ids in ("[ %250aA]{0,6}", "[ %250aA]{0,6}")) {
            assert_eq!(ids.0 == ids.1, encoded(&ids.0) == encoded(&ids.1));
        }
    }
}
