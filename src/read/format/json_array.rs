//! A JSON array of objects as an object a line. Every byte keeps its place: the brackets of the
//! array become white space, the commas between its elements line ends, and line ends within an
//! element spaces.

use std::io::{self, Read};

/// The content as lines.
pub(in crate::read) struct ArrayLines<R> {
    reader: R,
    state: State,
}

/// Where in the array the next byte stands.
#[derive(Debug, Default)]
struct State {
    /// Brackets and braces that are open.
    depth: u64,
    in_string: bool,
    is_escaped: bool,
    /// The array has ended: what follows is left as it is.
    is_over: bool,
}

/// Whether what starts like this is an array of objects.
pub(in crate::read) fn looks_like_array(head: &[u8]) -> bool {
    let head = crate::read::format::without_bom(head).trim_ascii_start();
    let Some(inside) = head.strip_prefix(b"[").map(<[u8]>::trim_ascii_start) else {
        return false;
    };
    crate::read::format::starts_an_object(inside)
}

/// Whether the first element of such an array is all there and has no field of that name.
pub(in crate::read) fn first_lacks(head: &[u8], field: &str) -> bool {
    let head = crate::read::format::without_bom(head).trim_ascii_start();
    let elements = head.strip_prefix(b"[").unwrap_or(head);
    let mut elements = serde_json::Deserializer::from_slice(elements).into_iter();
    let first: Option<Result<serde_json::Map<_, _>, _>> = elements.next();
    first.is_some_and(|first| first.is_ok_and(|fields| !fields.contains_key(field)))
}

impl<R: Read> ArrayLines<R> {
    pub(in crate::read) fn new(reader: R) -> Self {
        Self {
            reader,
            state: State::default(),
        }
    }
}

impl<R: Read> Read for ArrayLines<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(room)?;
        for byte in &mut room[..count] {
            *byte = self.state.next(*byte);
        }
        Ok(count)
    }
}

impl State {
    /// What a byte becomes.
    #[inline]
    fn next(&mut self, byte: u8) -> u8 {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                // A string does not go over the end of a line: something is missing, and the
                // line tells where.
                b'\n' => self.in_string = false,
                _ => {}
            }
            return byte;
        }
        match byte {
            _ if self.is_over => byte,
            b'"' => {
                self.in_string = true;
                byte
            }
            b'[' | b'{' => {
                self.depth += 1;
                if self.depth == 1 { b' ' } else { byte }
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_over = self.depth == 0;
                if self.is_over { b'\n' } else { byte }
            }
            b',' if self.depth == 1 => b'\n',
            b'\n' | b'\r' => b' ',
            _ => byte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn lines(text: &[u8]) -> Vec<u8> {
        let mut lines = Vec::new();
        ArrayLines::new(text).read_to_end(&mut lines).unwrap();
        assert_eq!(lines.len(), text.len());
        lines
    }

    #[test]
    fn arrays_of_objects_are_told_from_other_text() {
        for text in ["[{\"a\":1}]", " \n[ \n {\"a\" : 1},", "\u{feff}[{}]"] {
            assert!(looks_like_array(text.as_bytes()), "{text}");
        }
        for text in ["[1]", "{\"a\":[{}]}", "[link] {\"a\":1}", "[{x}]", "[", ""] {
            assert!(!looks_like_array(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn an_element_tells_whether_there_are_texts() {
        for (text, expected) in [
            (&b"[{\"a\": 1}, {"[..], true),
            (b"\xef\xbb\xbf [ {\"a\": {\"text\": 1}}]", true),
            (b"[{\"a\": 1, \"text\": \"x\"}]", false),
            // Cut off.
            (b"[{\"a\": 1, \"b\": ", false),
        ] {
            assert_eq!(first_lacks(text, "text"), expected);
        }
    }

    #[test]
    fn what_follows_the_array_stays() {
        assert_eq!(lines(b"[{},{}]\n[x"), b" {}\n{}\n\n[x");
    }

    proptest! {
        #[test]
        fn each_element_is_a_line(
            texts in proptest::collection::vec(".{0,12}", 1..8),
            pretty in any::<bool>(),
        ) {
            let element = |text: &String| json!({"t": text, "deep": [{"[,]": [1, 2]}, text]});
            let elements: Vec<Value> = texts.iter().map(element).collect();
            let text = match pretty {
                true => serde_json::to_string_pretty(&elements).unwrap(),
                false => serde_json::to_string(&elements).unwrap(),
            };
            let lines = String::from_utf8(lines(text.as_bytes())).unwrap();
            let found: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
            prop_assert_eq!(found, elements);
        }
    }
}
