//! From pairs and signatures to bytes. Does not know how scores were computed.
//!
//! A new output format is a file here that implements `PairFormat`, and a line
//! in [`OutputFormat`].

mod accepted;
mod clusters;
mod csv;
mod explain;
mod figures;
mod github;
mod html;
mod id_lines;
mod jsonl;
mod listing;
mod output;
mod packed;
pub(crate) mod pairs;
mod plot;
mod ranks;
mod records;
mod sarif;
mod signature;
mod text;
mod tsv;
mod unfinished;
mod visible;

pub use accepted::Accepted;
pub use clusters::{ClusterLine, write_cluster};
pub(crate) use clusters::{RemovedLine, write_removed};
pub use explain::{ExplainFormat, Look, write_explanation};
pub use figures::{FigureFormat, FigureLines};
pub(crate) use html::{
    ChunkKind, PageDocuments, PageGroups, PageHead, PagePairs, PageWriter, pack_chunk, write_key,
};
pub use id_lines::IdLines;
pub(crate) use id_lines::PairLines;
pub use listing::{Columns, EncodedIds, FilePlace, ListFormat, Listing, PairFacts, PairOrder};
pub use output::{Output, appear};
pub use packed::Packed;
pub use pairs::{Listed, TextFiles, write_pairs};
pub use plot::write_plot;
pub use ranks::{RankFormat, write_rank, write_rank_header};
pub use records::write_annotated;
pub(crate) use records::{RecordLines, RecordWriter};
pub use signature::write_signature;
pub use visible::{VisibleWriter, visible};

use std::io::{self, Write};

use crate::error::{Error, ErrorKind};

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
    /// What comes before the first pair, with the names of what is said besides the score.
    fn header(&self, _more: &[&str]) -> String {
        String::new()
    }

    /// Appends an id, such that it can stand in a line. Returns whether white space in it was
    /// percent-encoded, which a reader cannot tell for certain.
    fn id(&self, url: &str, line: &mut Vec<u8>) -> bool;

    /// What stands before the first id, between the ids, between the second id
    /// and the score, and behind the score.
    fn frame(&self) -> [&'static str; 4];

    /// Something that is said behind the score, by its name; nothing if the format has no room
    /// for it.
    fn more(&self, _name: &str, _value: Option<&str>, _line: &mut Vec<u8>) {}
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
            (
                OutputFormat::Text,
                "a%20b%C2%A0%25%09c%0A x,\"y\"\\%0D 0.9\n",
            ),
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
        assert_eq!(OutputFormat::Csv.rules().header(&[]), "url1,url2,score\n");
    }
}
