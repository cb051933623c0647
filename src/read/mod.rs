//! From paths or a stream to [`Document`](crate::document::Document)s.
//!
//! An input is a [`Stream`] of [`Piece`]s: reading is sequential by nature. What is
//! compressed in parts that stand by themselves can be unpacked by any thread
//! ([`Piece::unpack`]); a [`Cutter`] then takes the pieces of an input in order,
//! unpacks what is left, and cuts them into blocks of whole records. Blocks are
//! independent again: any thread may take one apart ([`Block::documents`]). None of
//! this knows of threads, shingles or thresholds.
//!
//! A new input format is a file here that implements `Format`, and a line in
//! [`InputFormat`] and in `format::recognise`.

mod blocks;
mod buffer;
mod content;
mod counted;
mod csv;
mod cutter;
#[allow(dead_code, unreachable_pub)] // Not all of it is used yet.
mod encoding;
mod foreign;
mod format;
mod gzip;
mod html;
mod input;
mod jsonl;
mod lines;
mod pairs;
mod parquet;
mod protobuf;
mod spool;
mod stream;
mod text;
mod utf8;
mod warc;
mod zstd;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use blocks::{Block, Piece};
pub use cutter::Cutter;
pub(crate) use format::Head;
pub use format::InputFormat;
pub use html::HtmlText;
pub use input::{Input, inputs};
pub use pairs::read_pairs;
pub use spool::twice;
pub use stream::Stream;

/// Longest record that is read. A longer one is more likely a damaged length
/// or a file that is not made of records than a document.
pub const RECORD_BYTES_MAX: usize = 1 << 30;

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
    /// Between the fields of CSV; `None` to find it.
    pub delimiter: Option<u8>,
    /// Where a Parquet file goes that comes from a pipe; `None` for the system's place.
    pub temp_dir: Option<PathBuf>,
    /// A field whose value each document brings along.
    pub value_field: Option<String>,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            format: None,
            id_field: None,
            text_fields: vec!["text".into()],
            items: false,
            html: None,
            delimiter: None,
            temp_dir: None,
            value_field: None,
        }
    }
}

/// Reads one input after the other, in one thread.
pub struct Pieces<'a> {
    waiting: std::vec::IntoIter<Input>,
    settings: &'a ReadSettings,
    open: Option<(Stream, Cutter)>,
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

    /// Bytes taken from the inputs so far, before decompression.
    pub fn bytes_taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
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
