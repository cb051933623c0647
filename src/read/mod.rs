//! From paths or a stream to [`Document`](crate::document::Document)s.
//!
//! Reading has two halves. [`Blocks`] opens one input after another,
//! decompresses it and cuts it into blocks of whole records; that is
//! sequential by nature. [`Block::documents`] then takes a block apart; blocks
//! are independent, so any thread may do it. Neither half knows of threads,
//! shingles or thresholds.
//!
//! A new input format is a file here that implements `Format`, and a line in
//! [`InputFormat`] and in `format::recognise`.

mod block;
mod compression;
mod format;
mod input;
mod items;
mod jsonl;
mod lines;
mod protobuf;
mod text;
mod utf8;

pub use block::{Block, Blocks};
pub use format::InputFormat;
pub use input::{Input, inputs};

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
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            format: None,
            id_field: None,
            text_fields: vec!["text".into()],
            items: false,
        }
    }
}
