//! Ids in lines of text: an id without white space stands as it is. In any other id, white space
//! and `%` are percent-encoded, so that a line can be split at its spaces.
//!
//! One ambiguity is left: `a b` is written as `a%20b`, and so is an id that is `a%20b` itself.

use std::borrow::Cow;

use memchr::memchr;

/// Appends an id as text has it. Returns whether it was encoded.
pub(crate) fn encode(id: &str, line: &mut Vec<u8>) -> bool {
    // All bytes are looked at, which vector instructions do faster than one by one.
    let others = id.bytes().filter(|byte| !byte.is_ascii_graphic()).count();
    if others == 0 || !id.contains(char::is_whitespace) {
        line.extend_from_slice(id.as_bytes());
        return false;
    }
    for (at, c) in id.char_indices() {
        let bytes = &id.as_bytes()[at..at + c.len_utf8()];
        if c.is_whitespace() || c == '%' {
            for byte in bytes {
                line.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
        } else {
            line.extend_from_slice(bytes);
        }
    }
    true
}

/// Returns the text of an id that is encoded; `None` for any other, which is its own text.
pub(crate) fn encoded(id: &str) -> Option<String> {
    let mut text = Vec::new();
    let is_encoded = encode(id, &mut text);
    String::from_utf8(text).ok().filter(|_| is_encoded)
}

/// Returns the id that a text stands for: the id with white space that is encoded so, if there is
/// one, else the text itself. `http://a.example/%D0%BF` is itself, as `п` is no white space.
pub fn decoded(text: &str) -> Cow<'_, str> {
    if memchr(b'%', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let id = String::from_utf8(percent_decoded(text.as_bytes())).ok();
    match id.filter(|id| encoded(id).is_some_and(|encoded| encoded == text)) {
        Some(id) => Cow::Owned(id),
        None => Cow::Borrowed(text),
    }
}

/// Replaces each `%` before two hexadecimal digits, and these, by the byte they name.
fn percent_decoded(mut text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    while let Some((&first, rest)) = text.split_first() {
        let digits = rest
            .get(..2)
            .filter(|digits| first == b'%' && digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                text = &rest[2..];
            }
            None => {
                bytes.push(first);
                text = rest;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_without_white_space_is_printed_as_it_is() {
        for id in ["http://a.ru/%D0%BF", "a%20b", "100%", "%%41", "é%zz", ""] {
            let mut line = vec![];
            assert!(!encode(id, &mut line), "{id}");
            assert_eq!(line, id.as_bytes());
        }
        for (id, text) in [
            ("a b", "a%20b"),
            ("50% of a", "50%25%20of%20a"),
            ("a%20 b", "a%2520%20b"),
            ("a\u{3000}b\n", "a%E3%80%80b%0A"),
        ] {
            assert_eq!(encoded(id).as_deref(), Some(text));
            assert_eq!(decoded(text), id);
        }
    }

    #[test]
    fn only_a_text_that_encodes_white_space_is_decoded() {
        for text in [
            "http://a.ru/%D0%BF",
            "http://a.ru/%d0%bf%20x",
            "a%20%41",
            "a%20b%",
            "a%2fb",
            "%FF%20",
        ] {
            assert_eq!(decoded(text), text);
        }
        // The one ambiguity.
        assert_eq!(decoded("http://a.ru/x%20y"), "http://a.ru/x y");
    }

    proptest::proptest! {
        #[test]
        fn an_id_comes_back_unless_it_reads_as_the_text_of_another(
            id in "(.|[ %0-9a-fA-F\u{a0}]|%20|%25|%D0%BF){0,12}"
        ) {
            let mut line = vec![];
            let is_encoded = encode(&id, &mut line);
            let text = String::from_utf8(line).unwrap();
            assert_eq!(is_encoded, id.contains(char::is_whitespace));
            assert!(!text.contains(char::is_whitespace));
            let read = decoded(&text);
            if read != id {
                assert_eq!(text, id);
                assert_eq!(encoded(&read), Some(id));
            }
        }
    }
}
