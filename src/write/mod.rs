//! From pairs and signatures to bytes. Does not know how scores were computed.
//!
//! A new output format is a file here that implements `PairFormat`, and a line
//! in [`OutputFormat`].

mod clusters;
mod csv;
mod explain;
mod figures;
mod html;
mod jsonl;
mod output;
mod packed;
mod plot;
mod ranks;
mod records;
mod signature;
mod text;
mod tsv;
mod unfinished;

pub use clusters::{ClusterLine, write_cluster};
pub(crate) use clusters::{RemovedLine, write_removed};
pub use explain::{ExplainFormat, Look, write_explanation};
pub use figures::{FigureFormat, FigureLines};
pub(crate) use html::{
    ChunkKind, PageDocuments, PageGroups, PageHead, PagePairs, PageWriter, pack_chunk, write_key,
};
pub use output::{Output, appear};
pub use packed::Packed;
pub use plot::write_plot;
pub use ranks::{RankFormat, write_rank, write_rank_header};
pub(crate) use records::RecordWriter;
pub use records::write_annotated;
pub use signature::write_signature;
pub(crate) use unfinished::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

use std::io::{self, Write};

use crate::collection::Urls;
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::pairs::Pair;
use crate::score::Score;

/// Something to write to, and its name for messages.
pub struct NamedWriter<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// Where it goes.
    pub writer: &'a mut (dyn Write + Send),
}

impl NamedWriter<'_> {
    /// An error in writing to it.
    pub(crate) fn failed(&self, error: io::Error) -> Error {
        Error::in_file(self.name, ErrorKind::Write(error))
    }

    /// Hands on what has been written.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(|error| self.failed(error))
    }
}

/// The formats in which pairs can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// `url1 url2 score`, one space between.
    #[default]
    Text,
    /// Tab-separated, no header.
    Tsv,
    /// RFC 4180, with a header.
    Csv,
    /// A JSON object a line.
    Jsonl,
}

impl OutputFormat {
    fn rules(self) -> &'static dyn PairFormat {
        match self {
            Self::Text => &text::Text,
            Self::Tsv => &tsv::Tsv,
            Self::Csv => &csv::Csv,
            Self::Jsonl => &jsonl::Jsonl,
        }
    }
}

/// The formats in which clusters can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterFormat {
    /// The keeper's id, then the members', one space between.
    #[default]
    Text,
    /// A JSON object a line.
    Jsonl,
}

/// How a format writes pairs. Everything is appended to a buffer.
trait PairFormat: Sync {
    /// What comes before the first pair, with or without shares.
    fn header(&self, _with_shares: bool) -> &'static str {
        ""
    }

    /// An id, such that it can stand in a line.
    fn id(&self, url: &str, line: &mut Vec<u8>);

    /// What stands before the first id, between the ids, between the second id
    /// and the score, and behind the score.
    fn frame(&self) -> [&'static str; 4];

    /// What stands before the share of each document that is in the other, behind
    /// the score; `None` if the format leaves the shares out.
    fn shares(&self) -> Option<[&'static str; 2]> {
        None
    }
}

/// Pairs as lines of a format.
pub(crate) struct PairLines<'a> {
    lines: IdLines,
    urls: &'a Urls,
    left: Option<DocumentId>,
}

impl<'a> PairLines<'a> {
    /// Lines of this format, with these ids.
    pub(crate) fn new(format: OutputFormat, urls: &'a Urls) -> Self {
        Self {
            lines: IdLines::new(format),
            urls,
            left: None,
        }
    }

    /// Appends a pair.
    pub(crate) fn pair(&mut self, pair: &Pair, lines: &mut Vec<u8>) {
        if self.left != Some(pair.left) {
            self.left = Some(pair.left);
            self.lines.left(self.urls.get(pair.left));
        }
        self.lines
            .pair(self.urls.get(pair.right), pair.score, pair.shares, lines);
    }
}

/// Pairs as lines of a format, by their ids: one on the left with several on the right.
pub struct IdLines {
    rules: &'static dyn PairFormat,
    left_id: Vec<u8>,
    printed: PrintedScores,
}

impl IdLines {
    /// Lines of this format.
    pub fn new(format: OutputFormat) -> Self {
        Self {
            rules: format.rules(),
            left_id: Vec::new(),
            printed: PrintedScores::default(),
        }
    }

    /// What comes before the first pair, with or without the shares of each document that are
    /// in the other.
    pub fn header(&self, with_shares: bool) -> &'static str {
        self.rules.header(with_shares)
    }

    /// The id on the left of the pairs that follow.
    pub fn left(&mut self, url: &str) {
        self.left_id.clear();
        self.rules.id(url, &mut self.left_id);
    }

    /// Appends a pair.
    pub fn pair(
        &mut self,
        right: &str,
        score: Score,
        shares: Option<[Score; 2]>,
        lines: &mut Vec<u8>,
    ) {
        let [first, second, before_score, end] = self.rules.frame().map(str::as_bytes);
        lines.extend_from_slice(first);
        lines.extend_from_slice(&self.left_id);
        lines.extend_from_slice(second);
        self.rules.id(right, lines);
        lines.extend_from_slice(before_score);
        lines.extend_from_slice(self.printed.get(score));
        if let (Some(names), Some(shares)) = (self.rules.shares(), shares) {
            for (name, share) in names.iter().zip(shares) {
                lines.extend_from_slice(name.as_bytes());
                lines.extend_from_slice(share.to_string().as_bytes());
            }
        }
        lines.extend_from_slice(end);
    }
}

/// Scores as they are printed: few are different where they are shares of a signature,
/// and neighbouring pairs often have the same.
struct PrintedScores {
    printed: Vec<(Option<Score>, String)>,
}

/// Scores that are kept in print.
const PRINTED_MAX: usize = 256;

impl Default for PrintedScores {
    fn default() -> Self {
        Self {
            printed: vec![(None, String::new()); PRINTED_MAX],
        }
    }
}

impl PrintedScores {
    fn get(&mut self, score: Score) -> &[u8] {
        let (known, text) = &mut self.printed[score.spread() as usize % PRINTED_MAX];
        if *known != Some(score) {
            *known = Some(score);
            *text = score.to_string();
        }
        text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: OutputFormat, left: &str, right: &str) -> String {
        let rules = format.rules();
        let [first, second, score, end] = rules.frame();
        let mut line = first.as_bytes().to_vec();
        rules.id(left, &mut line);
        line.extend_from_slice(second.as_bytes());
        rules.id(right, &mut line);
        line.extend_from_slice(score.as_bytes());
        line.extend_from_slice(b"0.9");
        line.extend_from_slice(end.as_bytes());
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn ids_are_escaped_as_each_format_asks() {
        let (left, right) = ("a b\u{a0}%\tc\n", "x,\"y\"\\\r");
        for (format, expected) in [
            (OutputFormat::Text, "a%20b%C2%A0%%09c%0A x,\"y\"\\%0D 0.9\n"),
            (
                OutputFormat::Tsv,
                "a b\u{a0}%\\tc\\n\tx,\"y\"\\\\\\r\t0.9\n",
            ),
            (
                OutputFormat::Csv,
                "\"a b\u{a0}%\tc\n\",\"x,\"\"y\"\"\\\r\",0.9\n",
            ),
            (
                OutputFormat::Jsonl,
                "{\"url1\":\"a b\u{a0}%\\tc\\n\",\"url2\":\"x,\\\"y\\\"\\\\\\r\",\"score\":0.9}\n",
            ),
        ] {
            assert_eq!(line(format, left, right), expected);
        }
        assert_eq!(OutputFormat::Csv.rules().header(false), "url1,url2,score\n");
    }
}
