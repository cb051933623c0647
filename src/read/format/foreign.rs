//! What is not read, named so that the user knows what to do about it.

use memchr::memmem;

use crate::error::ErrorKind;
use crate::read::text::encoding;
use crate::read::text::encoding::Charset;
use crate::read::text::utf8;

/// A format that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) struct Foreign {
    /// What the content is.
    pub(in crate::read) what: &'static str,
    /// What can be done with it.
    pub(in crate::read) remedy: &'static str,
}

impl Foreign {
    pub(in crate::read) const fn new(what: &'static str, remedy: &'static str) -> Self {
        Self { what, remedy }
    }

    /// Whether there is no text in it, so that nothing is lost without it.
    pub(in crate::read) fn has_no_text(self) -> bool {
        self.remedy == NO_TEXT || self == BINARY
    }
}

impl From<Foreign> for ErrorKind {
    fn from(Foreign { what, remedy }: Foreign) -> Self {
        Self::Foreign { what, remedy }
    }
}

/// A format and the bytes, each behind so many others, that tell it.
type Signature = (&'static [(usize, &'static [u8])], Foreign);

const UNPACK: &str = "unpack it and name the files or the folder";
const EXPORT: &str = "write its documents out as JSONL";
const NO_TEXT: &str = "there is no text in it";

const OFFICE: Foreign = Foreign::new(
    "a document of an office program (docx, xlsx, pptx)",
    "take its text out: `pandoc -t plain FILE`, which --pre can do",
);
const BOOK: Foreign = Foreign::new(
    "an e-book or an OpenDocument file",
    "take its text out: `pandoc -t plain FILE`, which --pre can do",
);
const GIF: Foreign = Foreign::new("a GIF image", NO_TEXT);
const ARROW: Foreign = Foreign::new("Arrow (Feather)", EXPORT);
/// What a member of a zip archive starts with.
const ZIP: &[u8] = b"PK\x03\x04";

const BINARY: Foreign = Foreign::new(
    "neither text nor any format that is known",
    "if it is to be read all the same, --input-format says as what",
);

/// These are text as far as their bytes go.
const TEXTUAL: [Signature; 2] = [
    (
        &[(0, b"%PDF-")],
        Foreign::new("a PDF", "take its text out: `pdftotext FILE -`"),
    ),
    (
        &[(0, b"%!PS")],
        Foreign::new("PostScript", "take its text out: `ps2ascii FILE`"),
    ),
];

/// Some of these start as a text might too, but no text goes on like them.
const BINARIES: [Signature; 16] = [
    (&[(0, ZIP), (30, b"[Content_Types].xml")], OFFICE),
    (&[(0, ZIP), (30, b"_rels/.rels")], OFFICE),
    (&[(0, ZIP), (30, b"docProps/")], OFFICE),
    (&[(0, ZIP), (30, b"mimetype")], BOOK),
    (
        &[(0, b"7z\xbc\xaf\x27\x1c")],
        Foreign::new("a 7z archive", UNPACK),
    ),
    (
        &[(0, b"Rar!\x1a\x07")],
        Foreign::new("a rar archive", UNPACK),
    ),
    (
        &[(0, b"\x89PNG\r\n\x1a\n")],
        Foreign::new("a PNG image", NO_TEXT),
    ),
    (
        &[(0, b"\xff\xd8\xff")],
        Foreign::new("a JPEG image", NO_TEXT),
    ),
    (&[(0, b"GIF87a")], GIF),
    (&[(0, b"GIF89a")], GIF),
    (
        &[(0, b"SQLite format 3\0")],
        Foreign::new("an SQLite database", EXPORT),
    ),
    (&[(0, b"ARROW1\0\0")], ARROW),
    // A stream of messages, without the frame of a file.
    (&[(0, b"\xff\xff\xff\xff"), (6, b"\0\0\x10\0\0\0")], ARROW),
    (&[(0, b"FEA1")], ARROW),
    (
        &[(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")],
        Foreign::new(
            "a document of an office program",
            "save it there as plain text",
        ),
    ),
    (
        &[(0, b"\x7fELF")],
        Foreign::new("an ELF program or library", NO_TEXT),
    ),
];

/// The format that some bytes at the start of the content tell, if it is one that is not
/// read.
pub(in crate::read) fn by_signature(head: &[u8]) -> Option<Foreign> {
    let binaries: &[Signature] = match utf8::is_text(head) && !head.iter().any(is_control) {
        true => &[],
        false => &BINARIES,
    };
    textual(head).or_else(|| found(binaries, head))
}

/// The same for what is text as far as its first bytes go.
pub(in crate::read) fn textual(head: &[u8]) -> Option<Foreign> {
    found(&TEXTUAL, head)
}

/// Whether text that starts like a PDF or PostScript goes on like one, and is no prose about them.
pub(in crate::read) fn goes_on_as_textual(head: &[u8]) -> bool {
    let has_object = || memmem::find(head, b" obj").is_some();
    head.starts_with(b"%!PS-Adobe-") || (head.starts_with(b"%PDF-") && has_object())
}

fn found(signatures: &[Signature], head: &[u8]) -> Option<Foreign> {
    let is_there = |&(at, bytes): &(usize, &[u8])| {
        head.get(at..)
            .is_some_and(|content| content.starts_with(bytes))
    };
    signatures
        .iter()
        .find(|(parts, _)| parts.iter().all(is_there))
        .map(|&(_, foreign)| foreign)
}

/// What has no text in it, by its first bytes.
pub(in crate::read) fn without_text(head: &[u8]) -> Option<Foreign> {
    by_signature(head)
        .or_else(|| by_looks(head))
        .filter(|foreign| foreign.has_no_text())
}

/// A byte that stands in no text but by accident.
pub(in crate::read) fn is_control(byte: &u8) -> bool {
    matches!(byte, 0..=0x07 | 0x0e..=0x19 | 0x1c..=0x1f)
}

/// What content is that can be no text.
pub(in crate::read) fn by_looks(head: &[u8]) -> Option<Foreign> {
    let is_binary = if head.contains(&0) && is_spotted_text(head) {
        // Binary formats start with zeros and have more of them. In a text one went astray, which is
        // not to be believed of the first byte of a few.
        let starts_with_zero = head.iter().take(4).any(|&byte| byte == 0);
        let is_short = head.starts_with(&[0]) && head.len() < 64;
        is_short || starts_with_zero && controls(head) > 1 + head.len() / encoding::ASTRAY
    } else {
        !utf8::is_text(head) && encoding::is_binary(head) || head.contains(&0)
    };
    is_binary.then_some(BINARY)
}

/// Whether it is text, but for some zeros and other control characters that went astray.
fn is_spotted_text(head: &[u8]) -> bool {
    utf8::is_text(head) && controls(head) < head.len() / 4
}

fn controls(head: &[u8]) -> usize {
    head.iter().filter(|byte| is_control(byte)).count()
}

/// The encoding of text of two or four bytes a character that does not start with a mark.
pub(in crate::read) fn wide_without_mark(head: &[u8]) -> Option<Charset> {
    if !head.contains(&0) || is_spotted_text(head) {
        return None;
    }
    // Spaces and line ends have their zero where other characters have none: before or
    // behind the byte that counts.
    let zeros_at = |parity| head[parity..].iter().step_by(2).filter(|&&byte| byte == 0);
    let is_little = zeros_at(1).count() >= zeros_at(0).count();
    if is_utf32(head, u32::from_le_bytes) {
        Some(Charset::UTF_32LE)
    } else if is_utf32(head, u32::from_be_bytes) {
        Some(Charset::UTF_32BE)
    } else if is_little && is_utf16(head, u16::from_le_bytes) {
        Some(Charset::UTF_16LE)
    } else if !is_little && is_utf16(head, u16::from_be_bytes) {
        Some(Charset::UTF_16BE)
    } else {
        None
    }
}

fn is_utf32(head: &[u8], unit: fn([u8; 4]) -> u32) -> bool {
    let (units, rest) = head.as_chunks();
    let is_char = |&bytes: &[u8; 4]| char::from_u32(unit(bytes)).is_some_and(is_textual);
    units.len() > 1 && rest.is_empty() && units.iter().all(is_char)
}

fn is_utf16(head: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let (units, rest) = head.as_chunks();
    let mut chars = char::decode_utf16(units.iter().map(|&bytes| unit(bytes))).peekable();
    while let Some(c) = chars.next() {
        let is_cut_off = c.is_err() && chars.peek().is_none();
        if !c.is_ok_and(is_textual) && !is_cut_off {
            return false;
        }
    }
    // A few bytes are as likely anything else.
    units.len() > 4 && rest.is_empty()
}

fn is_textual(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) => !is_control(&byte),
        Err(_) => !matches!(u32::from(c) & 0xffff, 0xfffe..),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(head: &[u8]) -> Option<&'static str> {
        by_signature(head)
            .or_else(|| by_looks(head))
            .map(|foreign| foreign.what)
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn utf32(text: &str) -> Vec<u8> {
        text.chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect()
    }

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        let zip = |name: &[u8]| [ZIP, &[0; 26], name].concat();
        for (head, name) in [
            (&zip(b"[Content_Types].xml")[..], OFFICE.what),
            (&zip(b"mimetypeapplication/epub"), BOOK.what),
            (b"%PDF-1.7\n%\xe2\xe3\xcf", "a PDF"),
            (b"%!PS-Adobe-3.0\n", "PostScript"),
            (b"GIF89a\x10\0\x10\0", "a GIF image"),
        ] {
            assert_eq!(what(head), Some(name));
        }
        // What only starts alike is text.
        for head in ["GIF89a is a format", "PAR1 FOR THE COURSE", "BZh", ""] {
            assert_eq!(what(head.as_bytes()), None);
        }
    }

    #[test]
    fn wide_characters_are_told_without_a_mark() {
        for text in [
            "Once upon a time",
            "Жили-были старик со старухой\n",
            "昔々、あるところに 😀\n",
        ] {
            let mut swapped = utf32(text);
            swapped.chunks_mut(4).for_each(<[u8]>::reverse);
            assert_eq!(wide_without_mark(&utf32(text)), Some(Charset::UTF_32LE));
            assert_eq!(wide_without_mark(&swapped), Some(Charset::UTF_32BE));
            let mut swapped = utf16(text);
            swapped.chunks_mut(2).for_each(<[u8]>::reverse);
            assert_eq!(wide_without_mark(&utf16(text)), Some(Charset::UTF_16LE));
            assert_eq!(wide_without_mark(&swapped), Some(Charset::UTF_16BE));
            assert_eq!(wide_without_mark(text.as_bytes()), None);
        }
    }

    #[test]
    fn a_zero_in_a_text_does_not_make_it_another() {
        assert_eq!(what(b"some words\0and others behind it"), None);
        assert_eq!(what(b"so\0me words and others behind them"), None);
        assert_eq!(
            what(b"\0asm\x01\0\0\0 and some words of a module"),
            Some(BINARY.what)
        );
        let long = "wörter ".repeat(50) + "\0\0" + &"wörter ".repeat(9);
        assert_eq!(what(long.as_bytes()), None);
        assert_eq!(what(&[0; 500]), Some(BINARY.what));
        for short in [&b"\0abbott\n"[..], b"F\0\x03+05\n\n", b"\0ar\0"] {
            assert_eq!(what(short), Some(BINARY.what), "{short:?}");
            assert_eq!(wide_without_mark(short), None);
        }
        assert_eq!(
            what(b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff"),
            Some(BINARY.what)
        );
    }
}
