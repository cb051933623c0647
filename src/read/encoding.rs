//! Text in other encodings than UTF-8: by its mark, by a label, or guessed. The only file that
//! knows encoding_rs and chardetng.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder};
use memchr::memchr;

use super::foreign::{is_control, wide_without_mark};
use super::utf8;

/// An encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The web has no name for these two, and encoding_rs does not know them.
    Utf32Le,
    Utf32Be,
    Web(&'static encoding_rs::Encoding),
}

impl Charset {
    pub(crate) const UTF_8: Self = Self(Kind::Web(encoding_rs::UTF_8));
    pub(crate) const UTF_16LE: Self = Self(Kind::Web(encoding_rs::UTF_16LE));
    pub(crate) const UTF_16BE: Self = Self(Kind::Web(encoding_rs::UTF_16BE));
    pub(crate) const UTF_32LE: Self = Self(Kind::Utf32Le);
    pub(crate) const UTF_32BE: Self = Self(Kind::Utf32Be);

    /// The encoding that a label of the web (WHATWG) names, or `utf-32le`, `utf-32be`.
    pub fn for_label(label: &str) -> Option<Self> {
        match label.trim().to_ascii_lowercase().as_str() {
            "utf-32le" | "utf32le" => Some(Self::UTF_32LE),
            "utf-32be" | "utf32be" => Some(Self::UTF_32BE),
            label => encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())
                .map(|encoding| Self(Kind::Web(encoding))),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Utf32Le => "UTF-32LE",
            Kind::Utf32Be => "UTF-32BE",
            Kind::Web(encoding) => encoding.name(),
        }
    }

    /// The encoding of bytes that start with a byte order mark, and the mark's length.
    pub(crate) fn by_mark(head: &[u8]) -> Option<(Self, usize)> {
        // The longer marks come first: one starts as that of UTF-16 does.
        [
            (&b"\xff\xfe\0\0"[..], Self::UTF_32LE),
            (b"\0\0\xfe\xff", Self::UTF_32BE),
            (b"\xef\xbb\xbf", Self::UTF_8),
            (b"\xff\xfe", Self::UTF_16LE),
            (b"\xfe\xff", Self::UTF_16BE),
        ]
        .into_iter()
        .find(|(mark, _)| head.starts_with(mark))
        .map(|(mark, charset)| (charset, mark.len()))
    }

    /// An encoding that is ASCII by its bytes, by what stands between them.
    pub(crate) fn guess_stateful(head: &[u8]) -> Option<Self> {
        if !head.contains(&b'\x1b') || !head.is_ascii() {
            return None;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(head, true);
        let found = detector.guess(None, Utf8Detection::Allow);
        (found == encoding_rs::ISO_2022_JP).then_some(Self(Kind::Web(found)))
    }

    /// Whether lines can be told by the byte that ends them, each on its own.
    pub(crate) fn has_lines(self) -> bool {
        match self.0 {
            Kind::Utf32Le | Kind::Utf32Be => false,
            Kind::Web(encoding) => encoding.is_ascii_compatible(),
        }
    }

    /// The text of what is known to be in this encoding.
    pub(crate) fn decoded(self, bytes: &[u8]) -> Decoded<'_> {
        Decoded {
            text: self.text(bytes),
            guess: None,
        }
    }

    /// The text of what seems to be in this encoding.
    pub(crate) fn guessed(self, bytes: &[u8], encoding: TextEncoding) -> Decoded<'_> {
        Decoded {
            text: self.text(bytes),
            guess: (encoding == TextEncoding::Auto).then(|| self.name()),
        }
    }

    /// The text; what cannot be decoded becomes U+FFFD. A mark is a character.
    pub(crate) fn text(self, bytes: &[u8]) -> Cow<'_, str> {
        match self.0 {
            Kind::Web(encoding) => encoding.decode_without_bom_handling(bytes).0,
            Kind::Utf32Le | Kind::Utf32Be => {
                let mut text = Vec::new();
                StreamDecoder::new(self).decode(bytes, true, &mut text);
                // Every character was one.
                String::from_utf8(text).unwrap_or_default().into()
            }
        }
    }
}

/// What encoding text has that is not UTF-8 by its mark or by its looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextEncoding {
    /// It is guessed, and the guesses are counted.
    #[default]
    Auto,
    /// It is guessed.
    Detect,
    /// It is known.
    Named(Charset),
}

/// A text, and how it was found to be one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded<'a> {
    /// Without a byte order mark. What is damaged of it is U+FFFD.
    pub(crate) text: Cow<'a, str>,
    /// The name of the encoding, if it had to be guessed.
    pub(crate) guess: Option<&'static str>,
}

/// The text that bytes are: by their mark, else by a label such as one that a header or the
/// start of a page gives, else by what is known of all texts, else UTF-8 if they are that, else
/// by a guess.
pub(crate) fn decode<'a>(
    bytes: &'a [u8],
    label: Option<&str>,
    encoding: TextEncoding,
) -> Decoded<'a> {
    if let Some((charset, mark)) = Charset::by_mark(bytes) {
        return charset.decoded(&bytes[mark..]);
    }
    if let Some(charset) = label.and_then(Charset::for_label) {
        return charset.decoded(bytes);
    }
    if let TextEncoding::Named(charset) = encoding {
        return charset.decoded(bytes);
    }
    match guess(bytes) {
        None => Charset::UTF_8.decoded(bytes),
        Some(charset) => charset.guessed(bytes, encoding),
    }
}

/// The text that bytes are of which a whole was found to be in `charset`, or where they are
/// none.
pub(crate) fn text(
    bytes: &[u8],
    charset: Option<Charset>,
    encoding: TextEncoding,
) -> Result<Decoded<'_>, usize> {
    if let (TextEncoding::Named(named), None) = (encoding, charset)
        && named.has_lines()
        && named != Charset::UTF_8
    {
        return Ok(named.decoded(bytes));
    }
    match (utf8::text(bytes), charset) {
        (Ok(text), _) => Ok(Decoded {
            text: text.into(),
            guess: None,
        }),
        (Err(_), Some(charset)) => Ok(charset.guessed(bytes, encoding)),
        (Err(byte), None) => Err(byte),
    }
}

/// Bytes that are enough to guess by. The detector takes a tenth of a millisecond for each
/// thousand.
pub(crate) const GUESS_BYTES: usize = 8 * 1024;

/// The encoding of text that is not UTF-8, by its looks; `None` if it is UTF-8, be it damaged,
/// or no text.
pub(crate) fn guess(bytes: &[u8]) -> Option<Charset> {
    if let Some(charset) = wide_without_mark(bytes) {
        return Some(charset);
    }
    if utf8::is_text(bytes) || is_binary(bytes) || is_damaged_utf8(bytes) {
        return None;
    }
    Some(detect(bytes))
}

/// Only lines with something other than ASCII tell: of a page of code or mark-up these are few.
fn detect(bytes: &[u8]) -> Charset {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let (mut rest, mut room) = (bytes, GUESS_BYTES);
    while !rest.is_empty() && room > 0 {
        let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, behind) = rest.split_at(end);
        rest = behind;
        let Some(first) = line.iter().position(|byte| !byte.is_ascii()) else {
            continue;
        };
        // A few words before the first of them belong to it.
        let line = &line[first.saturating_sub(32)..];
        let line = &line[..line.len().min(room)];
        room -= line.len();
        detector.feed(line, false);
    }
    detector.feed(b"", true);
    Charset(Kind::Web(detector.guess(None, Utf8Detection::Deny)))
}

/// Whether there is in it what no text has.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    /// One control character in so many bytes went astray.
    const ASTRAY: usize = 200;
    let controls = bytes.iter().filter(|byte| is_control(byte)).count();
    memchr(0, bytes).is_some() || controls * ASTRAY > bytes.len()
}

/// Whether more characters beyond ASCII are UTF-8 than are not: in another encoding it would be
/// by chance that one is.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut damaged) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        whole += valid.chars().filter(|c| !c.is_ascii()).count();
        damaged += usize::from(!chunk.invalid().is_empty());
    }
    whole > damaged
}

/// Decodes what comes in parts. What cannot be decoded becomes U+FFFD.
pub(crate) struct StreamDecoder(StreamKind);

enum StreamKind {
    Web(Box<Decoder>),
    Utf32 {
        unit: fn([u8; 4]) -> u32,
        /// The start of a character whose end has not come yet.
        carry: Vec<u8>,
    },
}

impl StreamDecoder {
    /// For text without a byte order mark, or behind it.
    pub(crate) fn new(charset: Charset) -> Self {
        let utf32 = |unit| StreamKind::Utf32 {
            unit,
            carry: Vec::new(),
        };
        Self(match charset.0 {
            Kind::Utf32Le => utf32(u32::from_le_bytes),
            Kind::Utf32Be => utf32(u32::from_be_bytes),
            Kind::Web(encoding) => {
                StreamKind::Web(Box::new(encoding.new_decoder_without_bom_handling()))
            }
        })
    }

    /// Adds the text of the next bytes to `text`, as UTF-8. With `ended`, nothing follows.
    pub(crate) fn decode(&mut self, mut bytes: &[u8], ended: bool, text: &mut Vec<u8>) {
        match &mut self.0 {
            StreamKind::Web(decoder) => loop {
                let start = text.len();
                // It wants some room to get on, and asks for more if that was too little.
                text.resize(start + bytes.len() + bytes.len() / 2 + 64, 0);
                let (result, read, written, _) =
                    decoder.decode_to_utf8(bytes, &mut text[start..], ended);
                text.truncate(start + written);
                bytes = &bytes[read..];
                if result == CoderResult::InputEmpty {
                    return;
                }
            },
            StreamKind::Utf32 { unit, carry } => {
                carry.extend_from_slice(bytes);
                let (units, rest) = carry.as_chunks();
                let mut room = [0; 4];
                for &bytes in units {
                    let c = char::from_u32(unit(bytes)).unwrap_or(char::REPLACEMENT_CHARACTER);
                    text.extend_from_slice(c.encode_utf8(&mut room).as_bytes());
                }
                if ended && !rest.is_empty() {
                    text.extend_from_slice("\u{fffd}".as_bytes());
                }
                let used = carry.len() - rest.len();
                carry.drain(..used);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RUSSIAN: &str = "Жили-были старик со старухой у самого синего моря.";
    const JAPANESE: &str = "昔々、あるところにお爺さんとお婆さんがありました。";

    fn encoded(label: &str, text: &str) -> Vec<u8> {
        let Charset(Kind::Web(encoding)) = Charset::for_label(label).unwrap() else {
            return wide(text, u32::to_le_bytes);
        };
        let (bytes, _, is_lossy) = encoding.encode(text);
        assert!(!is_lossy);
        bytes.into_owned()
    }

    fn wide(text: &str, unit: fn(u32) -> [u8; 4]) -> Vec<u8> {
        text.chars().flat_map(|c| unit(u32::from(c))).collect()
    }

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn a_mark_tells_before_a_label() {
        for (mark, bytes) in [
            (&b"\xef\xbb\xbf"[..], RUSSIAN.as_bytes().to_vec()),
            (b"\xff\xfe", utf16(RUSSIAN, u16::to_le_bytes)),
            (b"\xfe\xff", utf16(RUSSIAN, u16::to_be_bytes)),
            (b"\xff\xfe\0\0", wide(RUSSIAN, u32::to_le_bytes)),
            (b"\0\0\xfe\xff", wide(RUSSIAN, u32::to_be_bytes)),
        ] {
            let bytes = [mark, &bytes].concat();
            let decoded = decode(&bytes, Some("latin1"), TextEncoding::Auto);
            assert_eq!((&*decoded.text, decoded.guess), (RUSSIAN, None));
        }
    }

    #[test]
    fn a_label_tells_before_the_looks() {
        for (label, text) in [
            ("windows-1251", RUSSIAN),
            ("koi8-r", RUSSIAN),
            ("cp866", RUSSIAN),
            ("Shift_JIS", JAPANESE),
            ("iso-2022-jp", JAPANESE),
            ("utf-32le", JAPANESE),
            ("latin1", "Été"),
        ] {
            let bytes = encoded(label, text);
            let decoded = decode(&bytes, Some(label), TextEncoding::Auto);
            assert_eq!((&*decoded.text, decoded.guess), (text, None));
        }
        assert_eq!(Charset::for_label("no such"), None);
    }

    #[test]
    fn what_is_not_utf8_is_guessed() {
        for (label, guess, text) in [
            ("windows-1251", "windows-1251", RUSSIAN),
            ("koi8-r", "KOI8-U", RUSSIAN),
            ("shift_jis", "Shift_JIS", JAPANESE),
            ("euc-jp", "EUC-JP", JAPANESE),
            ("latin1", "windows-1252", "Où est le café ? Là-bas, à côté."),
        ] {
            let bytes = encoded(label, text);
            let decoded = decode(&bytes, None, TextEncoding::Auto);
            assert_eq!((&*decoded.text, decoded.guess), (text, Some(guess)));
            // Neither what stands before it nor much of it changes that.
            let page = [b"plain words\n".repeat(10_000), bytes.repeat(3_000)].concat();
            assert_eq!(decode(&page, None, TextEncoding::Auto).guess, Some(guess));
        }
        let bytes = utf16(RUSSIAN, u16::to_le_bytes);
        assert_eq!(decode(&bytes, None, TextEncoding::Auto).text, RUSSIAN);
        let bytes = encoded("iso-2022-jp", JAPANESE);
        let guess = Charset::guess_stateful(&bytes);
        assert_eq!(guess.map(Charset::name), Some("ISO-2022-JP"));
    }

    #[test]
    fn neither_damaged_text_nor_what_is_none_is_guessed() {
        let damaged = [RUSSIAN.as_bytes(), b"\xff", RUSSIAN.as_bytes()].concat();
        for bytes in [
            &b"plain"[..],
            RUSSIAN.as_bytes(),
            &damaged,
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            b"\xff\x01\x02\x03 \xfe",
        ] {
            assert_eq!(guess(bytes), None);
            assert_eq!(decode(bytes, None, TextEncoding::Auto).guess, None);
        }
    }

    proptest! {
        #[test]
        fn in_parts_as_at_once(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            cut in 0..60_usize,
            label in prop::sample::select(vec![
                "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be", "gb18030", "big5",
                "iso-2022-jp", "windows-1251",
            ]),
        ) {
            let charset = Charset::for_label(label).unwrap();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let mut text = Vec::new();
            let mut decoder = StreamDecoder::new(charset);
            decoder.decode(first, false, &mut text);
            decoder.decode(second, true, &mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), charset.text(&bytes));
        }
    }
}
