//! From paths or a stream to [`Document`](crate::document::Document)s.
//!
//! An input is a [`Stream`] of [`Piece`]s: reading is sequential by nature. What is
//! compressed in parts that stand by themselves can be unpacked by any thread
//! ([`Piece::unpack`]); a [`Cutter`] then takes the pieces of an input in order,
//! unpacks what is left, and cuts them into blocks of whole records. Blocks are
//! independent again: any thread may take one apart ([`Block::documents`]). None of
//! this knows of threads, shingles or thresholds.
//!
//! Compressions and archives are recognised by their first bytes ([`open`]). A member of an
//! archive is read as a file is, and its id is `archive!member`.
//!
//! A new input format is a file in [`format`] that implements `Format`, and a line in
//! [`InputFormat`] and in `format::recognise`.

#![cfg_attr(
    not(all(
        feature = "bzip2",
        feature = "lz4",
        feature = "parquet",
        feature = "tar",
        feature = "xz",
        feature = "zip"
    )),
    allow(dead_code, reason = "what is left out would use it")
)]

mod cut;
mod format;
pub(crate) mod input;
#[cfg(all(test, feature = "parquet"))]
mod mutations;
mod open;
#[cfg(test)]
mod testing;
mod text;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::document::FieldValue;
pub(crate) use cut::Cutter;
pub(crate) use cut::blocks::Block;
pub use cut::blocks::Piece;
pub use format::InputFormat;
pub(crate) use format::html::url_words;
pub use format::html::{HtmlFeature, HtmlText, PageSettings};
pub use format::written_pairs::read_pairs;
pub(crate) use format::written_pairs::{KnownPair, read_known_pairs};
pub(crate) use format::{Head, without_bom};
pub use input::Input;
pub use input::command::{Command, end_commands};
pub(crate) use input::file_text::{FileText, has_records_in_lines};
pub(crate) use input::identity::FileIdentity;
pub use input::identity::distinct;
pub(crate) use input::spool::for_two_readings;
pub use input::walk::{Globs, Walk};
pub(crate) use input::walk::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};
pub(crate) use open::Stream;
pub use open::archive::is_archive;
pub(crate) use text::encoding::InputEncoding;
pub use text::encoding::{Charset, TextEncoding};

/// Most records in a block, so that what is made of a block stays small however
/// short its records are.
const BLOCK_RECORDS_MAX: u64 = 1024;

/// Stands between the texts of several fields and keeps their words apart.
const FIELD_SEPARATOR: &str = "\n";

/// How records become documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSettings {
    /// The format of every input; `None` recognises each by its content.
    pub format: Option<InputFormat>,
    /// The field with the id; `None` takes `url`, else `id`, else the place.
    pub id_field: Option<String>,
    /// The fields with the text, joined in this order.
    pub text_fields: Vec<String>,
    /// The content is a list of strings, not running text.
    pub items: bool,
    /// The text is HTML, of which so much counts; `None` if only HTML files are.
    pub html: Option<HtmlText>,
    /// What else counts of pages.
    pub page: PageSettings,
    /// What a pipe has is taken at once, however little it is.
    pub live: bool,
    /// Between the fields of CSV; `None` to find it.
    pub delimiter: Option<u8>,
    /// A field whose value each document brings along, to be preferred by.
    pub value_field: Option<String>,
    /// Another, to be grouped by.
    pub party_field: Option<String>,
    /// The encoding of plain text that is not UTF-8.
    pub encoding: TextEncoding,
    /// Which members of archives are read.
    pub globs: Globs,
    /// Those that are hidden too.
    pub hidden: bool,
    /// Where an archive or a Parquet file is kept that comes from a pipe and must be read from
    /// its end; `None` for memory.
    pub temp_dir: Option<PathBuf>,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            format: None,
            id_field: None,
            text_fields: vec!["text".into()],
            items: false,
            html: None,
            page: PageSettings::default(),
            live: false,
            delimiter: None,
            value_field: None,
            party_field: None,
            encoding: TextEncoding::Auto,
            globs: Globs::default(),
            hidden: false,
            temp_dir: None,
        }
    }
}

/// What a field of a JSON record holds, if it is one and has it.
pub(crate) fn json_value(record: &[u8], name: &str) -> Option<serde_json::Value> {
    let found = format::jsonl::path::find(without_bom(record), name)?;
    serde_json::from_str(found.get()).ok()
}

/// What a field holds, as text.
pub(crate) fn field_text(value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) => text.clone(),
        FieldValue::Integer(number) => number.to_string(),
        FieldValue::Number(number) => number.to_string(),
    }
}

/// Opens each of the inputs when its turn comes, in parts where it has some that can be read at
/// the same time. What is read is added to `taken`.
pub(crate) fn open(
    inputs: Vec<Input>,
    settings: &ReadSettings,
    taken: &Arc<AtomicU64>,
) -> impl Iterator<Item = (Stream, Cutter)> {
    let parts = inputs.into_iter().flat_map(|input| input.parts(settings));
    parts.map(|input| {
        let cutter = Cutter::new(input.name(), settings);
        (Stream::new(input, settings, taken), cutter)
    })
}

/// Reads one input after the other, in one thread.
pub struct Pieces<'a> {
    waiting: std::vec::IntoIter<Input>,
    settings: &'a ReadSettings,
    open: Option<(Stream, Cutter)>,
    /// Bytes taken from the inputs so far, before decompression.
    taken: Arc<AtomicU64>,
}

impl<'a> Pieces<'a> {
    /// Reads `inputs` in order.
    pub fn new(inputs: Vec<Input>, settings: &'a ReadSettings) -> Self {
        Self {
            waiting: inputs.into_iter(),
            settings,
            open: None,
            taken: Arc::default(),
        }
    }

    /// Fills `piece` with the next blocks, which may be none; false when there are no
    /// more.
    pub fn next(&mut self, piece: &mut Piece) -> bool {
        loop {
            if let Some((stream, cutter)) = &mut self.open
                && !cutter.is_over()
                && stream.next(piece)
            {
                piece.unpack();
                cutter.cut(piece);
                return true;
            }
            let Some(input) = self.waiting.next() else {
                return false;
            };
            let cutter = Cutter::new(input.name(), self.settings);
            self.open = Some((Stream::new(input, self.settings, &self.taken), cutter));
        }
    }
}
