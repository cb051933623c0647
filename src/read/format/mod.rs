//! The record formats, and how one is told from another.

pub(in crate::read) mod content;
pub(in crate::read) mod csv;
pub(in crate::read) mod foreign;
pub(in crate::read) mod html;
pub(in crate::read) mod json_array;
pub(in crate::read) mod jsonl;
pub(in crate::read) mod lines;
pub(in crate::read) mod parquet;
pub(in crate::read) mod protobuf;
pub(in crate::read) mod warc;
pub(in crate::read) mod whole_file;
pub(in crate::read) mod written_pairs;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::ReadSettings;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::read::cut::blocks::Block;
use crate::read::cut::buffer::PIECE_BYTES;
use crate::read::format::foreign::Foreign;
use crate::read::text::encoding::InputEncoding;
use crate::read::text::utf8;

/// The formats an input can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// A JSON object a line.
    Jsonl,
    /// Frames of a length and a protobuf message.
    Protobuf,
    /// A file is a document, its path the id.
    Text,
    /// A line is a document, its place the id.
    Lines,
    /// A file of HTML is a document, its path the id.
    Html,
    /// Records of fields, behind a header that names them.
    Csv,
    /// The same with tabs between the fields.
    Tsv,
    /// The archive of a crawler.
    Warc,
    /// Columns of rows.
    Parquet,
}

impl InputFormat {
    /// The format's name on the command line and in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Protobuf => "protobuf",
            Self::Text => "text",
            Self::Lines => "lines",
            Self::Html => "html",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Warc => "warc",
            Self::Parquet => "parquet",
        }
    }

    /// Whether it is text from start to end, in an encoding of its own.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            Self::Text | Self::Lines | Self::Html | Self::Csv | Self::Tsv
        )
    }

    /// Whether it says itself what of it is HTML.
    pub(super) fn tells_html(self) -> bool {
        matches!(self, Self::Html | Self::Warc)
    }

    /// Whether its records are lines.
    pub(super) fn has_lines(self) -> bool {
        matches!(self, Self::Jsonl | Self::Lines | Self::Csv | Self::Tsv)
    }

    /// Whether its records have fields that can be named.
    pub(super) fn has_fields(self) -> bool {
        matches!(
            self,
            Self::Jsonl | Self::Protobuf | Self::Csv | Self::Tsv | Self::Parquet
        )
    }

    /// Whether a file is one document: its name stands for it where documents are written.
    pub(crate) fn is_file(self) -> bool {
        matches!(self, Self::Text | Self::Html)
    }

    /// The format in which its records are written.
    pub(crate) fn written(self) -> Self {
        match self {
            Self::Html => Self::Text,
            Self::Tsv => Self::Csv,
            Self::Parquet => Self::Jsonl,
            format => format,
        }
    }

    pub(super) fn rules(self) -> &'static dyn Format {
        match self {
            Self::Jsonl => &jsonl::Jsonl,
            Self::Protobuf => &protobuf::Protobuf,
            Self::Text => &whole_file::Text,
            Self::Lines => &lines::Lines,
            Self::Html => &html::Html,
            Self::Csv => &csv::Csv,
            Self::Tsv => &csv::Tsv,
            Self::Warc => &warc::Warc,
            Self::Parquet => &parquet::Parquet,
        }
    }
}

/// Where a stream may be cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Bytes from the start that are whole records.
    pub(super) bytes: usize,
    /// Records in them.
    pub(super) records: u64,
    /// What makes it impossible to go on behind them.
    pub(super) end: Option<ErrorKind>,
    /// Bytes behind them that must be there before it is worth to look again.
    pub(super) needs: usize,
}

/// What stands before the first record and holds for all.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// As it is written.
    pub(crate) bytes: Box<[u8]>,
    /// Between the fields of a record.
    pub(super) delimiter: u8,
    /// The names of the fields.
    pub(super) names: Names,
}

/// Names, back to back: a header may have a million.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    pub(super) fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let places = starts.zip(&self.ends);
        places.map(|(start, &end)| &self.text[start as usize..end as usize])
    }
}

impl Head {
    /// Whether records behind one may stand behind the other.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.delimiter, &self.names) == (other.delimiter, &other.names)
    }
}

/// What a record format must tell. Cutting is done in sequence and must be
/// cheap; taking records apart is done by many threads.
pub(super) trait Format: Sync {
    /// What stands before the first record, if it is there; `None` if more of the stream is
    /// needed to tell. The header is in `encoding`.
    fn head(
        &self,
        _bytes: &[u8],
        _ended: bool,
        _encoding: InputEncoding,
        _settings: &ReadSettings,
    ) -> Result<Option<Head>, ErrorKind> {
        Ok(Some(Head::default()))
    }

    /// How much of `bytes`, the next part of the stream, is whole records. With
    /// `ended`, nothing follows.
    fn cut(&self, bytes: &[u8], ended: bool, head: &Head) -> Cut;

    /// The byte that ends every record, if there is one: behind a record too long
    /// to hold, that is where the next one is found.
    fn record_end(&self) -> Option<u8>;

    /// The block's records in order, as they came: one for each document, or what is wrong
    /// with it, that [`Format::documents`] gives.
    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8]));

    /// The block's records in order, each a document or what is wrong with it.
    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    );

    /// Records of the block that are well, but no documents: neither of the two above gives
    /// them. Their numbers in the block, from 0, and what they are.
    fn passed_over(&self, _block: &Block<'_>, _each: &mut dyn FnMut(u64, &'static str)) {}
}

/// Lines looked at before deciding that a file is JSONL.
const LINES_TO_JUDGE: usize = 256;

/// Tells the format from the first part of the decompressed content and the name of the file.
///
/// Signatures come first, then frames, which text without control characters cannot be. JSONL has
/// objects on most lines, and spoiled ones must not hide that from the others. The rest is plain
/// text, unless it cannot be text. The name decides where text could be either of two: where it
/// says plain text, only a real PDF, WARC archive or JSONL is one.
pub(super) fn recognise(head: &[u8], name: &str) -> Result<InputFormat, Foreign> {
    // However much there is, the answer is the same.
    let head = &head[..head.len().min(PIECE_BYTES)];
    let has_controls = head.iter().any(foreign::is_control);
    let says_text = says_text(name);
    let may_be_prose = says_text && !has_controls && utf8::is_text(head);
    if let Some(foreign) = foreign::by_signature(head)
        && (!may_be_prose || foreign::goes_on_as_textual(head))
    {
        return Err(foreign);
    }
    if has_controls && protobuf::looks_like_frames(head) {
        return Ok(InputFormat::Protobuf);
    }
    if warc::looks_like_warc(head) && (!says_text || warc::starts_with_header(head)) {
        return Ok(InputFormat::Warc);
    }
    if html::looks_like_html(head) {
        return Ok(InputFormat::Html);
    }
    let head = without_bom(head);
    let is_object = match says_text {
        true => is_record,
        false => starts_an_object,
    };
    if has_mostly(head, is_object) {
        return Ok(InputFormat::Jsonl);
    }
    match foreign::by_looks(head) {
        Some(foreign) => Err(foreign),
        None => Ok(by_ending(name).unwrap_or(InputFormat::Text)),
    }
}

/// Whether there are objects on at least half of the first lines.
fn has_mostly(head: &[u8], is_object: fn(&[u8]) -> bool) -> bool {
    let (mut objects, mut others) = (0, 0);
    for line in head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .take(LINES_TO_JUDGE)
    {
        if is_object(line) {
            objects += 1;
        } else {
            others += 1;
        }
    }
    objects > 0 && objects >= others
}

/// The format by the first line, if it is there and an object or the start of an archive: for
/// what should not wait for more.
pub(super) fn by_first_line(head: &[u8]) -> Option<InputFormat> {
    let head = without_bom(head).trim_ascii_start();
    let end = memchr::memchr(b'\n', head)?;
    match warc::looks_like_warc(head) {
        true => Some(InputFormat::Warc),
        false => starts_an_object(&head[..end]).then_some(InputFormat::Jsonl),
    }
}

/// What content that could be any text is, by the name of its file.
fn by_ending(name: &str) -> Option<InputFormat> {
    let name = name.to_ascii_lowercase();
    let name = unpacked(&name);
    ENDINGS
        .iter()
        .find(|(ending, _)| name.ends_with(ending))
        .map(|&(_, format)| format)
}

/// Endings of names that tell what the content does not.
const ENDINGS: [(&str, InputFormat); 7] = [
    (".jsonl", InputFormat::Jsonl),
    (".ndjson", InputFormat::Jsonl),
    (".csv", InputFormat::Csv),
    (".tsv", InputFormat::Tsv),
    (".html", InputFormat::Html),
    (".htm", InputFormat::Html),
    (".xhtml", InputFormat::Html),
];
/// Endings of names that say plain text.
const TEXTS: [&str; 9] = [
    ".txt",
    ".text",
    ".md",
    ".markdown",
    ".rst",
    ".adoc",
    ".org",
    ".tex",
    ".log",
];
/// Endings of names that say source code.
const CODE: [&str; 48] = [
    ".adb", ".asm", ".bash", ".c", ".cc", ".clj", ".cpp", ".cs", ".css", ".cxx", ".d", ".dart",
    ".erl", ".ex", ".f90", ".fs", ".go", ".h", ".hpp", ".hs", ".java", ".jl", ".js", ".jsx", ".kt",
    ".lisp", ".lua", ".m", ".mjs", ".ml", ".pas", ".php", ".pl", ".pm", ".ps1", ".py", ".r", ".rb",
    ".rs", ".scala", ".scm", ".sh", ".sql", ".swift", ".ts", ".tsx", ".vb", ".zig",
];

/// Whether the name of a file says that it is source code.
pub(super) fn says_code(name: &str) -> bool {
    ends_with_any(name, &CODE)
}

/// Whether the name of a file says that it is plain text, such as source code.
fn says_text(name: &str) -> bool {
    ends_with_any(name, &TEXTS) || says_code(name)
}

fn ends_with_any(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    let name = unpacked(&name);
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Endings of names whose files hold records, of which there may be none.
const RECORDS: [&str; 9] = [
    ".jsonl", ".json", ".ndjson", ".pb", ".csv", ".tsv", ".warc", ".wet", ".parquet",
];
/// Endings that follow those where a file is compressed.
const PACKED: [&str; 6] = [".gz", ".zst", ".zstd", ".bz2", ".xz", ".lz4"];

/// The format of an input that has no content, by its name: a file is a document without
/// text, but what holds records, or comes from a pipe, holds none.
pub(super) fn by_name(name: &str) -> Option<InputFormat> {
    let name = name.to_ascii_lowercase();
    let name = unpacked(&name);
    let is_pipe = name == "-" || name.starts_with("/dev/");
    let has_records = RECORDS.iter().any(|ending| name.ends_with(ending));
    (!is_pipe && !has_records).then_some(InputFormat::Text)
}

/// A name without the ending of its compression.
fn unpacked(name: &str) -> &str {
    let ending = PACKED.iter().find_map(|ending| name.strip_suffix(ending));
    ending.unwrap_or(name)
}

/// Whether a line is a JSON object with something in it, as far as the line goes.
fn is_record(line: &[u8]) -> bool {
    type Fields = BTreeMap<String, IgnoredAny>;
    starts_an_object(line)
        && match serde_json::from_slice::<Fields>(line) {
            Ok(fields) => !fields.is_empty(),
            Err(error) => error.is_eof(),
        }
}

/// Whether a line, or an element of an array, starts as an object does: with `{}`, or a brace, a
/// name in quotes and a colon.
pub(super) fn starts_an_object(line: &[u8]) -> bool {
    let Some(inside) = line.strip_prefix(b"{").map(<[u8]>::trim_ascii_start) else {
        return false;
    };
    match inside.strip_prefix(b"\"") {
        None => inside
            .strip_prefix(b"}")
            .is_some_and(|behind| matches!(behind.trim_ascii_start(), [] | [b',' | b']', ..])),
        Some(name) => name
            .iter()
            .position(|&byte| byte == b'"')
            .is_none_or(|end| matches!(name[end + 1..].trim_ascii_start(), [] | [b':', ..])),
    }
}

/// The content without a UTF-8 byte order mark.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::testing::Random;
    use proptest::prelude::*;

    #[test]
    fn content_tells_the_format() {
        for (head, format) in [
            (&b""[..], InputFormat::Text),
            (b"Once upon a time", InputFormat::Text),
            (b"{\n  \"pretty\": 1\n}\n", InputFormat::Text),
            (b"[1, 2]", InputFormat::Text),
            (b"{\"url\":\"a\"}\n", InputFormat::Jsonl),
            (b"\xef\xbb\xbf\n { \"url\" : \"a\"", InputFormat::Jsonl),
            (b"spoiled\n{\"url\":\"a\"}\n{}\n", InputFormat::Jsonl),
            (b"\x05\0\0\0\x0a\x03abc", InputFormat::Protobuf),
            (b"\xff\xff\xff\xff\x0a\x03abc", InputFormat::Protobuf),
            (b"\0\0\0\0\x05\0\0\0\x0a\x03abc", InputFormat::Protobuf),
            (b"\x05\0\0\0\x20\x01\x0a\x01x", InputFormat::Protobuf),
            (b"caf\xe9\nLatin-1", InputFormat::Text),
            (b"{\"not\", 1},\n{\"json\", 2},\n", InputFormat::Text),
            (
                b"a\nb\nc\n{\"x\":1}\n{\"x\":2}\n{\"x\":3}\n",
                InputFormat::Jsonl,
            ),
        ] {
            assert_eq!(recognise(head, "-"), Ok(format), "{head:?}");
        }
    }

    #[test]
    fn of_nothing_the_name_tells_the_format() {
        for name in ["a.txt", "d/__init__.py", "README", "a.txt.gz", "jsonl"] {
            assert_eq!(by_name(name), Some(InputFormat::Text), "{name}");
        }
        for name in [
            "-",
            "/dev/fd/63",
            "a.jsonl",
            "A.JSON.GZ",
            "x.ndjson.zst",
            "d.pb",
        ] {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn text_in_any_script_is_text() {
        for text in [
            "กาลครั้งหนึ่งนานมาแล้ว",
            "很久很久以前,有一个国王。",
            "Жили-были старик со старухой",
            "كان يا ما كان، في قديم الزمان",
            "היה היה פעם מלך זקן",
            "एक समय की बात है",
            "昔々、あるところに",
            "😀😀😀",
            "The \n words of a page",
        ] {
            assert_eq!(
                recognise(text.as_bytes(), "-"),
                Ok(InputFormat::Text),
                "{text}"
            );
            // The last character may be cut off.
            let head = &text.as_bytes()[..text.len() - 1];
            assert_eq!(recognise(head, "-"), Ok(InputFormat::Text), "{text}");
        }
        // Windows-1251 and Latin-1, to be refused as what is not UTF-8.
        for text in [
            &b"\xc6\xe8\xeb\xe8-\xe1\xfb\xeb\xe8 \xf1\xf2\xe0\xf0\xe8\xea"[..],
            b"\xc9t\xe9 comme hiver\n",
        ] {
            assert_eq!(recognise(text, "-"), Ok(InputFormat::Text));
        }
    }

    #[test]
    fn a_control_character_makes_no_frames_of_a_text() {
        let mut random = Random(7);
        for text in [
            "ABC \nHere is a line of more than seventy-two characters, as many as its first.\n",
            "Ж: \n\u{12}Жили-были старик со старухой у самого синего моря тридцать лет и три.\n",
            "昔々 \n昔々、あるところにお爺さんとお婆さんがありました。\n",
            "123\t\n\tA list, of which each line is a record with some fields of its own. 456\n",
        ] {
            let text = text.repeat(3);
            for _ in 0..3000 {
                let mut bytes = text.clone().into_bytes();
                let at = match random.below(2) {
                    0 => random.below(12),
                    _ => random.below(bytes.len()),
                };
                let control = [0, 1, 2, 3, 4, 7, 0x12, 0x1a, 0x1b, 0x1c][random.below(10)];
                match random.below(2) {
                    0 => bytes.insert(at, control),
                    _ => bytes[at] = control,
                }
                let found = recognise(&bytes, "-");
                assert_ne!(found, Ok(InputFormat::Protobuf), "{bytes:?}");
            }
        }
    }

    #[test]
    fn frames_are_told_by_their_messages() {
        let long = 40_000_000_i32.to_le_bytes();
        let inside = |message: &[u8]| [&long[..], message, &[b'x'; 500]].concat();
        for head in [
            // Longer than what is there of it: the url is, or a field is cut off.
            &inside(b"\x0a\x03abc\x1a\xf0\xb4\x89\x12")[..],
            &inside(b"\x12\xf0\xb4\x89\x12"),
            // A damaged frame before a whole one.
            b"\x02\0\0\0\xff\xff\x05\0\0\0\x0a\x03abc",
            // Two damaged frames behind a whole one.
            b"\x03\0\0\0\x0a\x01x\x02\0\0\0\xff\xff\xff\xff\xff\xff\xff",
            // A url without text.
            b"\x03\0\0\0\x0a\x01x",
            // An endless length.
            b"\xff\xff\xff\x7f\x0a\x03abc",
        ] {
            assert_eq!(recognise(head, "-"), Ok(InputFormat::Protobuf), "{head:?}");
        }
        // A PDF has whole frames in it, by accident.
        let pdf = [&b"%PDF-1.7\n\x0a\x03abc"[..], b"\x05\0\0\0\x0a\x03abc"].concat();
        assert!(recognise(&pdf, "-").is_err());
        for head in [
            // A field that is longer than its message, and no url.
            &inside(b"\x12\xf0\xb4\x89\x53")[..],
            b"\x05\0\0\0\x1a\x03abc",
            &[0; 4000],
        ] {
            assert_ne!(recognise(head, "-"), Ok(InputFormat::Protobuf), "{head:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_text_or_jsonl(text in "[^\\p{Cc}]{0,60}(\n[^\\p{Cc}]{0,60}){0,3}") {
            prop_assert!(matches!(
                recognise(text.as_bytes(), "-"),
                Ok(InputFormat::Text | InputFormat::Jsonl)
            ));
        }

        #[test]
        fn no_content_is_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = recognise(&bytes, "-");
        }
    }
}
