//! The characters that the bytes of a page stand for.

use crate::read::text::encoding;
use crate::read::text::encoding::{Charset, Decoded, TextEncoding};
use crate::read::text::utf8;

/// How far a page is looked through for a `<meta>` that names its charset. The standard has
/// 1024 bytes, but scripts come before it on many pages.
const META_BYTES_MAX: usize = 4096;

/// The page as text: by its byte order mark, by what came with it, such as the header of a
/// response, by what it says itself, else as `encoding` has it.
pub(in crate::read) fn decode<'a>(
    bytes: &'a [u8],
    said: Option<&[u8]>,
    encoding: TextEncoding,
) -> Decoded<'a> {
    let said = said.and_then(label).or_else(|| meta(bytes));
    encoding::decode(bytes, said, encoding)
}

/// The text of a field that should be UTF-8. If it is not, what the page says counts.
pub(in crate::read) fn decode_field(bytes: &[u8], encoding: TextEncoding) -> Decoded<'_> {
    match utf8::is_text(bytes) {
        true => Charset::UTF_8.decoded(bytes),
        false => decode(bytes, None, encoding),
    }
}

/// What names a charset that is known.
fn label(said: &[u8]) -> Option<&str> {
    let label = str::from_utf8(said).ok()?;
    Charset::for_label(label).map(|_| label)
}

/// What the first `<meta>` with a charset says.
fn meta(bytes: &[u8]) -> Option<&str> {
    let mut head = &bytes[..bytes.len().min(META_BYTES_MAX)];
    while let Some(at) = memchr::memchr(b'<', head) {
        head = &head[at + 1..];
        if let Some(comment) = head.strip_prefix(b"!--") {
            head = &comment[memchr::memmem::find(comment, b"-->")?..];
            continue;
        }
        let is_meta = head.get(..5).is_some_and(|name| {
            name[..4].eq_ignore_ascii_case(b"meta") && !name[4].is_ascii_alphanumeric()
        });
        if !is_meta {
            continue;
        }
        let tag = &head[..memchr::memchr(b'>', head).unwrap_or(head.len())];
        if let Some(said) = charset(tag) {
            // It could not be read if it were in such an encoding.
            let is_wide = |label: &str| {
                Charset::for_label(label).is_some_and(|charset| {
                    charset.name().starts_with("UTF-16") || charset.name().starts_with("UTF-32")
                })
            };
            return label(said).map(|label| if is_wide(label) { "utf-8" } else { label });
        }
    }
    None
}

/// What stands behind `charset=`, in a tag or in the header of a response.
pub(in crate::read) fn charset(text: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset";
    let mut rest = text;
    loop {
        let at = rest
            .windows(NAME.len())
            .position(|window| window.eq_ignore_ascii_case(NAME))?;
        rest = rest[at + NAME.len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=").map(<[u8]>::trim_ascii_start) else {
            continue;
        };
        let value = value
            .strip_prefix(b"\"")
            .or(value.strip_prefix(b"'"))
            .unwrap_or(value);
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"';,>/".contains(byte);
        let end = value.iter().position(is_end).unwrap_or(value.len());
        return Some(&value[..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_comes_first_then_what_came_with_it_then_the_page() {
        let page = b"<meta charset=windows-1251><p>\xcc\xe8\xf0";
        for (bytes, said, expected) in [
            (&page[..], None, "\u{41c}\u{438}\u{440}"),
            (page, Some(&b"koi8-r"[..]), "\u{43b}\u{425}\u{41f}"),
            (page, Some(b"no-such-charset"), "\u{41c}\u{438}\u{440}"),
            (
                "\u{feff}<meta charset=windows-1251><p>Мир".as_bytes(),
                Some(b"koi8-r"),
                "Мир",
            ),
            (
                b"<META http-equiv='Content-Type' content='text/html; charset = \"ISO-8859-1\"'>caf\xe9",
                None,
                "café",
            ),
            (b"<!-- <meta charset=koi8-r> --><meta charset=latin1>\xe9", None, "é"),
            (b"<metadata charset=koi8-r><meta charset=\"latin1\"/>\xe9", None, "é"),
            ("<meta charset=utf-16>Мир".as_bytes(), None, "Мир"),
            (b"\xff\xfe<\0p\0>\0\x1c\x04", None, "\u{41c}"),
            (b"\xfe\xff\0<\0p\0>\x04\x1c", None, "\u{41c}"),
            // Declared as what it is not.
            (b"<meta charset=utf-8>caf\xe9", None, "caf\u{fffd}"),
        ] {
            let text = decode(bytes, said, TextEncoding::Auto).text;
            assert!(text.ends_with(expected), "{text}");
        }
    }

    #[test]
    fn what_says_nothing_is_guessed() {
        assert_eq!(
            decode("Мир".as_bytes(), None, TextEncoding::Auto).text,
            "Мир"
        );
        let cyrillic = "<p>Жили-были старик со старухой у самого синего моря.</p>";
        let windows_1251: Vec<u8> = cyrillic
            .chars()
            .map(|c| match u32::from(c) {
                ascii @ ..0x80 => ascii as u8,
                letter => (letter - 0x410 + 0xc0) as u8,
            })
            .collect();
        let decoded = decode(&windows_1251, None, TextEncoding::Auto);
        assert_eq!(decoded.text, cyrillic);
        assert_eq!(decoded.guess, Some("windows-1251"));
        let detected = decode(&windows_1251, None, TextEncoding::Detect);
        assert_eq!(detected.guess, None);
        // A field of text that says something else of itself is taken for what it is.
        let field = "<meta charset=koi8-r>Мир";
        assert_eq!(
            decode_field(field.as_bytes(), TextEncoding::Auto).text,
            field
        );
    }
}
