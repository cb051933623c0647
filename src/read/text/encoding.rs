//! Text in other encodings than UTF-8: by its mark, by a label, or guessed. The only file that
//! knows encoding_rs and chardetng.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder};
use memchr::{memchr, memmem};

use super::utf8;
use crate::document::{StrayBytes, TextNotes};
use crate::read::format::foreign::{is_control, wide_without_mark};

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

    /// ISO-2022-JP, if the start of a text switches to it by an escape sequence.
    pub(crate) fn guess_stateful(head: &[u8]) -> Option<Self> {
        /// Start of two-byte characters, and of half-width katakana.
        const SWITCHES: [&[u8]; 2] = [b"\x1b$", b"\x1b(I"];
        let has_switch = |switch: &&[u8]| memmem::find(head, switch).is_some();
        if !SWITCHES.iter().any(has_switch) || !head.is_ascii() {
            return None;
        }
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        // The head may end inside a character.
        detector.feed(head, false);
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
            ..Decoded::default()
        }
    }

    /// The text of what seems to be in this encoding.
    pub(crate) fn guessed(self, bytes: &[u8], encoding: TextEncoding) -> Decoded<'_> {
        Decoded {
            text: self.text(bytes),
            guess: (encoding == TextEncoding::Auto).then(|| self.name()),
            stray: None,
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

/// The encoding of an input, as far as its bytes have told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InputEncoding {
    /// UTF-8. A text with other bytes is an error.
    #[default]
    Utf8,
    /// UTF-8 in which some bytes are damaged.
    DamagedUtf8,
    /// UTF-8 that was made of wide or stateful characters.
    Transcoded,
    /// Another encoding.
    Other(Charset),
}

impl InputEncoding {
    /// The encoding of bytes that are not UTF-8 throughout, though a mark says so.
    pub(crate) fn by_utf8_mark(bytes: &[u8]) -> Self {
        match is_binary(bytes) {
            true => Self::Utf8,
            false => Self::DamagedUtf8,
        }
    }

    /// The encoding of the bytes of a record.
    pub(crate) fn charset(self) -> Charset {
        match self {
            Self::Utf8 | Self::DamagedUtf8 | Self::Transcoded => Charset::UTF_8,
            Self::Other(charset) => charset,
        }
    }
}

/// A text, and how it was found to be one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoded<'a> {
    /// Without a byte order mark. What is damaged of it is U+FFFD.
    pub(crate) text: Cow<'a, str>,
    /// The name of the encoding, if it had to be guessed.
    pub(crate) guess: Option<&'static str>,
    /// The bytes that are damaged, if they are counted.
    pub(crate) stray: Option<StrayBytes>,
}

impl Decoded<'_> {
    /// What is to be reported of the text, which starts at byte `start` of its file.
    pub(crate) fn notes(&self, start: u64) -> TextNotes {
        TextNotes {
            guess: self.guess,
            stray: self.stray.map(|stray| StrayBytes {
                first: start + stray.first,
                ..stray
            }),
            ..TextNotes::default()
        }
    }
}

/// UTF-8 in which damaged bytes are replaced by U+FFFD and counted.
pub(crate) fn repaired(bytes: &[u8]) -> Decoded<'_> {
    let mut text = String::with_capacity(bytes.len());
    let mut stray: Option<StrayBytes> = None;
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        at += chunk.valid().len() as u64;
        let count = chunk.invalid().len() as u64;
        if count > 0 {
            text.push(char::REPLACEMENT_CHARACTER);
            let first = stray.map_or(at, |stray| stray.first);
            let count = count + stray.map_or(0, |stray| stray.count);
            stray = Some(StrayBytes { count, first });
            at += chunk.invalid().len() as u64;
        }
    }
    Decoded {
        text: text.into(),
        guess: None,
        stray,
    }
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

/// The text of some bytes of an input, or the place of the first byte that is no text.
pub(crate) fn text(
    bytes: &[u8],
    input: InputEncoding,
    encoding: TextEncoding,
) -> Result<Decoded<'_>, usize> {
    if let (TextEncoding::Named(named), InputEncoding::Utf8) = (encoding, input)
        && named.has_lines()
        && named != Charset::UTF_8
    {
        return Ok(named.decoded(bytes));
    }
    match (utf8::text(bytes), input) {
        (Ok(text), _) => Ok(Decoded {
            text: text.into(),
            ..Decoded::default()
        }),
        (Err(_), InputEncoding::Other(charset)) => Ok(charset.guessed(bytes, encoding)),
        (Err(_), InputEncoding::DamagedUtf8 | InputEncoding::Transcoded) => Ok(repaired(bytes)),
        (Err(byte), InputEncoding::Utf8) => Err(byte),
    }
}

/// Bytes that are enough to guess by. The detector takes a tenth of a millisecond for each
/// thousand.
pub(crate) const GUESS_BYTES: usize = 8 * 1024;

/// The encoding of text that is not UTF-8, by its bytes; `None` if it is UTF-8, be it damaged,
/// or no text.
fn guess(bytes: &[u8]) -> Option<Charset> {
    if let Some(charset) = wide_without_mark(bytes) {
        return Some(charset);
    }
    if utf8::is_text(bytes) {
        return Charset::guess_stateful(bytes);
    }
    match encoding_of_damaged(bytes, TextEncoding::Detect, false) {
        InputEncoding::Other(charset) => Some(charset),
        _ => None,
    }
}

/// The encoding of plain text that is not UTF-8 throughout: damaged UTF-8 if that is likelier
/// than any other, else a guess. It is UTF-8 where no damage may be, as in what is no text, and
/// where another encoding than UTF-8 was named. If `is_behind_utf8`, lines before these bytes have
/// characters of UTF-8 beyond ASCII.
pub(crate) fn encoding_of_damaged(
    bytes: &[u8],
    encoding: TextEncoding,
    is_behind_utf8: bool,
) -> InputEncoding {
    /// Characters that such lines count as.
    const BEFORE: usize = 16;
    let before = if is_behind_utf8 { BEFORE } else { 0 };
    let may_guess = !matches!(encoding, TextEncoding::Named(_));
    if let (Some(charset), true) = (wide_without_mark(bytes), may_guess) {
        InputEncoding::Other(charset)
    } else if is_damaged_utf8(bytes, before) {
        InputEncoding::DamagedUtf8
    } else if is_binary(bytes) || !may_guess {
        InputEncoding::Utf8
    } else {
        InputEncoding::Other(detect(bytes))
    }
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

/// One control character in so many bytes went astray.
pub(crate) const ASTRAY: usize = 200;

/// Whether there is in it what no text has.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let controls = bytes.iter().filter(|byte| is_control(byte)).count();
    memchr(0, bytes).is_some() || controls * ASTRAY > bytes.len()
}

/// Whether more characters beyond ASCII are UTF-8 than are not: in another encoding it would be
/// by chance that one is. So many are known `before` these bytes.
fn is_damaged_utf8(bytes: &[u8], before: usize) -> bool {
    let (mut whole, mut damaged) = (before, 0_usize);
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

    #[test]
    fn stray_bytes_are_told_from_another_encoding() {
        let damaged = [RUSSIAN.as_bytes(), b"\xff\xc3 ", RUSSIAN.as_bytes()].concat();
        let of = |bytes: &[u8]| encoding_of_damaged(bytes, TextEncoding::Auto, false);
        assert_eq!(of(&damaged), InputEncoding::DamagedUtf8);
        let repaired = repaired(&damaged);
        assert_eq!(
            repaired.text,
            format!("{RUSSIAN}\u{fffd}\u{fffd} {RUSSIAN}")
        );
        let first = RUSSIAN.len() as u64;
        assert_eq!(repaired.stray, Some(StrayBytes { count: 2, first }));
        // ASCII with few accents is Latin-1.
        let latin = [&b"plain words "[..], b"caf\xe9 "].concat().repeat(5);
        assert_eq!(of(&latin).charset().name(), "windows-1252");
        let cyrillic = encoded("windows-1251", RUSSIAN);
        assert_eq!(of(&cyrillic).charset().name(), "windows-1251");
        let named = TextEncoding::Named(Charset::UTF_8);
        assert_eq!(
            encoding_of_damaged(&latin, named, false),
            InputEncoding::Utf8
        );
        assert_eq!(
            encoding_of_damaged(&damaged, named, false),
            InputEncoding::DamagedUtf8
        );
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
