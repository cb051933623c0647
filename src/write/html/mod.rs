//! A report as one page that needs nothing else: markup, style and program as they stand in this
//! folder, and the data between them. Texts are compressed, in chunks that the page unpacks when
//! they are looked at.

mod key;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

pub(crate) use key::write_key;

/// What is shown, but for texts and passages.
#[derive(Debug, Serialize)]
pub(crate) struct PageHead {
    /// The version that wrote it.
    pub(crate) simdup: &'static str,
    /// What the scores are: `jaccard`, `containment`, `minhash`.
    pub(crate) score: serde_json::Value,
    pub(crate) threshold: f64,
    /// How documents are joined: `star` or `components`.
    pub(crate) cluster: &'static str,
    /// What a token is called.
    pub(crate) unit: &'static str,
    pub(crate) min_tokens: usize,
    pub(crate) settings: serde_json::Value,
    pub(crate) counts: serde_json::Value,
    /// What was read; empty if names are hidden.
    pub(crate) inputs: Vec<String>,
    pub(crate) input_count: usize,
    pub(crate) warnings: Vec<String>,
    pub(crate) anonymous: bool,
    /// Whether documents are compared with others, not among themselves.
    pub(crate) across: bool,
    /// All pairs that were found, and those by hundredths of the score: the last are whole.
    pub(crate) pair_count: u64,
    pub(crate) histogram: Vec<u64>,
    /// Clusters of all pairs, and documents that are in one of them.
    pub(crate) cluster_count: usize,
    pub(crate) paired_count: usize,
    /// Pairs that were left out because they share too few shingles.
    pub(crate) few_shared: u64,
    pub(crate) documents: PageDocuments,
    pub(crate) groups: Option<PageGroups>,
    pub(crate) pairs: PagePairs,
    /// Texts that were left out or cut, to keep the page small.
    pub(crate) texts_left_out: usize,
    pub(crate) texts_cut: usize,
}

/// The documents that are in a pair, in input order.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageDocuments {
    pub(crate) ids: Vec<String>,
    /// Distinct shingles; not known where documents are compared by signatures.
    pub(crate) shingles: Vec<u32>,
    /// The group of each, or -1.
    pub(crate) groups: Vec<i64>,
    /// Tokens of each that no template has; 0 where there is no text.
    pub(crate) tokens: Vec<usize>,
    /// The chunk that the text is in, and its place there; -1 where there is no text.
    pub(crate) chunks: Vec<i64>,
    pub(crate) places: Vec<u32>,
    /// Documents whose text is cut.
    pub(crate) cut: Vec<usize>,
}

/// Groups of documents that are not compared with each other.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageGroups {
    pub(crate) by: String,
    pub(crate) names: Vec<String>,
    /// Documents of each, whether in a pair or not.
    pub(crate) sizes: Vec<u64>,
}

/// The pairs, the best first; documents by their places.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PagePairs {
    pub(crate) left: Vec<u32>,
    pub(crate) right: Vec<u32>,
    pub(crate) scores: Vec<f64>,
    /// Shingles shared; not known where documents are compared by signatures.
    pub(crate) shared: Vec<u32>,
    /// Tokens in passages, and in the longest one.
    pub(crate) covered: Vec<usize>,
    pub(crate) longest: Vec<usize>,
    /// The chunk that the passages are in, and their place there; -1 where there are none.
    pub(crate) chunks: Vec<i64>,
    pub(crate) places: Vec<u32>,
}

/// What a chunk holds: a JSON array with an element for each document or pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkKind {
    Texts,
    Passages,
}

const SHELL: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const PROGRAM: [&str; 6] = [
    include_str!("data.js"),
    include_str!("parts.js"),
    include_str!("lists.js"),
    include_str!("pair.js"),
    include_str!("cluster.js"),
    include_str!("main.js"),
];

/// Writes a page from its start to its end.
pub(crate) struct PageWriter<'w> {
    output: &'w mut (dyn Write + Send),
    bytes: u64,
}

impl<'w> PageWriter<'w> {
    /// Everything up to the chunks.
    pub(crate) fn start(output: &'w mut (dyn Write + Send), head: &PageHead) -> io::Result<Self> {
        let mut page = Self { output, bytes: 0 };
        let (before, behind) = SHELL.split_once("/*style*/").unwrap_or((SHELL, ""));
        page.put(before)?;
        page.put(STYLE)?;
        page.put(behind)?;
        let json = serde_json::to_string(head)?;
        page.put("<script type=\"application/json\" id=\"data\">")?;
        page.put(&escaped(&json))?;
        page.put("</script>\n")?;
        Ok(page)
    }

    /// A chunk, as [`pack_chunk`] packed it.
    pub(crate) fn chunk(&mut self, kind: ChunkKind, number: usize, packed: &str) -> io::Result<()> {
        let name = match kind {
            ChunkKind::Texts => 't',
            ChunkKind::Passages => 'p',
        };
        self.put(&format!(
            "<script type=\"text/plain\" id=\"{name}{number}\">{packed}</script>\n"
        ))
    }

    /// The program, and the end; gives the size of the page.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.put("<script>\n\"use strict\";\n")?;
        for part in PROGRAM {
            self.put(part)?;
        }
        self.put("</script>\n</body>\n</html>\n")?;
        self.output.flush()?;
        Ok(self.bytes)
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        self.bytes += text.len() as u64;
        self.output.write_all(text.as_bytes())
    }
}

/// JSON in which nothing reads as markup: no `<` is left, so that no text ends the script.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// A JSON array of elements, compressed and in letters.
pub(crate) fn pack_chunk(elements: &[String]) -> io::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(format!("[{}]", elements.join(",")).as_bytes())?;
    Ok(base64(&encoder.finish()?))
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let group = three.iter().enumerate().fold(0_u32, |group, (at, &byte)| {
            group | u32::from(byte) << (16 - 8 * at)
        });
        for at in 0..4 {
            text.push(match at <= three.len() {
                true => char::from(LETTERS[(group >> (18 - 6 * at) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn no_text_ends_the_script() {
        let hostile = "</script><img src=x onerror=alert(1)><!--\u{2028}";
        let json = escaped(&serde_json::to_string(hostile).unwrap());
        assert!(!json.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn the_program_has_nothing_that_ends_it() {
        for part in PROGRAM {
            assert!(!part.contains("</script") && !part.contains("<!--"));
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
            ] {
                assert!(!part.contains(word), "{word}");
            }
        }
        assert!(!STYLE.contains("</style"));
        assert_eq!(SHELL.matches("/*style*/").count(), 1);
    }

    #[test]
    fn a_chunk_is_an_array() {
        let packed = pack_chunk(&["\"a\"".into(), "[1,2]".into()]).unwrap();
        assert!(
            packed
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        );
    }
}
