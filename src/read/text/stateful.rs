//! Encodings that switch between ASCII and other characters within ASCII bytes, and that are not
//! decoded here: ISO-2022-KR, ISO-2022-CN, HZ and UTF-7. Text in them looks like ASCII, so it is
//! recognized only where source code and the like cannot be meant.

use memchr::{memchr, memmem};

/// Two-byte characters that are enough to tell HZ.
const HZ_PAIRS_MIN: usize = 8;
/// Characters that are enough to tell UTF-7.
const UTF_7_CHARS_MIN: usize = 8;

/// The encoding that a text which starts like this seems to have, if it is one of these.
pub(in crate::read) fn suspect(head: &[u8]) -> Option<&'static str> {
    if !head.is_ascii() {
        return None;
    }
    let has = |sequence: &[u8]| memmem::find(head, sequence).is_some();
    let shifts_out = || memchr(0x0e, head).is_some();
    if has(b"\x1b$)C") && shifts_out() {
        Some("ISO-2022-KR")
    } else if (has(b"\x1b$)A") || has(b"\x1b$)G")) && shifts_out() {
        Some("ISO-2022-CN")
    } else if is_hz(head) {
        Some("HZ")
    } else if is_utf7(head) {
        Some("UTF-7")
    } else {
        None
    }
}

/// Whether all that stands between `~{` and `~}` is two-byte characters, most of them in frequent
/// use, and does not look like words.
fn is_hz(head: &[u8]) -> bool {
    let (mut pairs, mut frequent, mut has_signs) = (0, 0, false);
    let mut rest = head;
    while let Some(at) = memmem::find(rest, b"~{") {
        rest = &rest[at + 2..];
        let end = memmem::find(rest, b"~}");
        // The last run may be cut off.
        let run = &rest[..end.unwrap_or(rest.len() & !1)];
        let (run_pairs, odd) = run.as_chunks::<2>();
        let is_pair =
            |&[lead, trail]: &[u8; 2]| matches!(lead, 0x21..=0x77) && matches!(trail, 0x21..=0x7e);
        if run.is_empty() || !odd.is_empty() || !run_pairs.iter().all(is_pair) {
            return false;
        }
        pairs += run_pairs.len();
        let is_frequent = |&&[lead, _]: &&[u8; 2]| matches!(lead, 0x21..=0x23 | 0x30..=0x57);
        frequent += run_pairs.iter().filter(is_frequent).count();
        has_signs |= run.iter().any(u8::is_ascii_punctuation);
        rest = &rest[run.len()..];
    }
    pairs >= HZ_PAIRS_MIN && frequent * 4 >= pairs * 3 && has_signs
}

/// Whether every `+` starts a run of base64 that is UTF-16 in one script, or is written `+-`.
fn is_utf7(head: &[u8]) -> bool {
    let mut scripts = Vec::new();
    let mut rest = head;
    while let Some(at) = memchr(b'+', rest) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|&byte| base64(byte).is_none());
        let run = &rest[..end.unwrap_or(rest.len())];
        match (run, rest.first()) {
            ([], Some(b'-')) => {}
            ([], _) => return false,
            _ => match utf16(run, end.is_none()) {
                Some(chars) => scripts.extend(chars.into_iter().map(script)),
                None => return false,
            },
        }
        rest = &rest[run.len()..];
    }
    let most = scripts
        .iter()
        .map(|one| scripts.iter().filter(|script| *script == one).count())
        .take(UTF_7_CHARS_MIN)
        .max();
    scripts.len() >= UTF_7_CHARS_MIN && most.is_some_and(|most| most * 4 >= scripts.len() * 3)
}

/// The characters beyond ASCII that a run of base64 encodes, if it does no more than that.
fn utf16(run: &[u8], is_cut_off: bool) -> Option<Vec<char>> {
    let (mut bits, mut count) = (0_u32, 0);
    let mut units = Vec::new();
    for &byte in run {
        bits = bits << 6 | base64(byte)?;
        count += 6;
        if count >= 16 {
            count -= 16;
            units.push((bits >> count) as u16);
            bits &= (1 << count) - 1;
        }
    }
    if !is_cut_off && (bits != 0 || count >= 6) {
        return None;
    }
    let mut chars = char::decode_utf16(units).peekable();
    let mut found = Vec::new();
    while let Some(c) = chars.next() {
        match c {
            // Signs and spaces between words may be encoded with them.
            Ok(c) if c.is_ascii_punctuation() || c == ' ' => {}
            Ok(c) if c > '\u{9f}' => found.push(c),
            Err(_) if is_cut_off && chars.peek().is_none() => {}
            _ => return None,
        }
    }
    Some(found)
}

fn base64(byte: u8) -> Option<u32> {
    let (first, value) = match byte {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(byte - first) + value)
}

/// A number for the part of Unicode that a character is in.
fn script(c: char) -> u32 {
    match u32::from(c) {
        // Latin letters and the signs of all scripts.
        0..=0x2ff | 0x2000..=0x206f => 0,
        // Chinese and Japanese.
        0x2e80..=0x9fff | 0xff00..=0xffef => 1,
        // Korean.
        0xac00..=0xd7af => 2,
        code => code >> 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_within_ascii_are_recognized() {
        for (head, expected) in [
            (&b"~{:\\>C:\\>CRTG0SPR;8v9zMu!#~} and ~{:\\>C~}"[..], "HZ"),
            // Cut off inside a character.
            (b"~{:\\>C:\\>CRTG0SPR;8v9zMu!#:", "HZ"),
            (
                b"+BBYEOAQ7BDg--+BDEESwQ7BDg +BEEEQgQwBEAEOAQ6. 1 +- 1",
                "UTF-7",
            ),
            (b"\x1b$)C\x0e?9@b\x0f \x0e?9@{\x0f\n", "ISO-2022-KR"),
            (b"\x1b$)A\x0e:\\>C\x0f\n", "ISO-2022-CN"),
        ] {
            assert_eq!(suspect(head), Some(expected));
        }
    }

    #[test]
    fn source_code_and_the_like_are_ascii() {
        for text in [
            "plain words",
            "(format t \"~{~a~^, ~}\" list) (format t \"~{~A~%~}\" list)",
            "~{word~} ~{some~} ~{more~} ~{that~} ~{look~} ~{like~} ~{pairs~}",
            "~{WORD~} ~{SOME~} ~{MORE~} ~{THAT~} ~{LOOK~} ~{LIKE~} ~{PAIRS2~}",
            "x = ~{a: 1}; y = ~{b: 2};",
            "a+b-c; i++; s += t + \"+\" + u; n+1; +(x)",
            "call +15551234567 or +4915112345678",
            "MIIEpAIBAAKCAQEA+x0b3aQ9VnDkGm3wq1Xf8+/k2Jb7\nZzGq8+AbCdEfGhIjKlMnOpQr+tuvWxYz0123==",
            "\x1b[1mbold\x1b[0m \x1b(B\x1b[m",
        ] {
            assert_eq!(suspect(text.as_bytes()), None, "{text}");
        }
    }
}
