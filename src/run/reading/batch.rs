//! What is left of a block of records once its documents are digested.

use std::sync::Arc;
use std::time::Duration;

use crate::collection::{SeenRecord, UrlHash, Urls};
use crate::document::{DocumentId, FieldValue};
use crate::error::Error;
use crate::read::{Head, InputFormat};
use crate::run::floor::Counted;
use crate::run::records::RecordBlock;
use crate::run::sample::Drawn;
use crate::stats::TextStats;

/// What is left of a block.
pub(super) struct Batch<T> {
    pub(super) urls: String,
    pub(super) documents: Vec<BatchDocument>,
    pub(super) lengths: Vec<u64>,
    pub(super) values: Vec<Option<FieldValue>>,
    /// The party of each, if there are any.
    pub(super) parties: Vec<Option<Box<str>>>,
    /// The input, if it or its records are to be known, and these.
    pub(super) file: Option<Arc<str>>,
    pub(super) seen: Vec<SeenRecord>,
    pub(super) records: Option<RecordBlock>,
    /// What its records are like, if they are to be written.
    pub(super) form: Option<Form>,
    /// Those that may be drawn.
    pub(super) drawn: Vec<Drawn>,
    /// `None` if there is only a problem.
    pub(super) digest: Option<T>,
    /// The text fields that some of the documents have.
    pub(super) fields: u64,
    pub(super) problems: Vec<Error>,
    pub(super) counted: Counted,
    pub(super) passed_over: u64,
    pub(super) kept_first: u64,
    pub(super) passed_over_records: u64,
    pub(super) format: Option<&'static str>,
    /// The numbers of those, and what they are, if they are to be known.
    pub(super) others: Vec<(u64, &'static str)>,
    /// Documents whose texts were not read as they stand.
    pub(super) texts: TextStats,
    pub(super) input_bytes: u64,
    pub(super) record_bytes: u64,
    pub(super) reading: Duration,
    pub(super) sketching: Duration,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self {
            urls: String::new(),
            documents: Vec::new(),
            lengths: Vec::new(),
            values: Vec::new(),
            parties: Vec::new(),
            file: None,
            seen: Vec::new(),
            records: None,
            form: None,
            drawn: Vec::new(),
            digest: None,
            fields: 0,
            problems: Vec::new(),
            counted: Counted::default(),
            passed_over: 0,
            kept_first: 0,
            passed_over_records: 0,
            format: None,
            others: Vec::new(),
            texts: TextStats::default(),
            input_bytes: 0,
            record_bytes: 0,
            reading: Duration::ZERO,
            sketching: Duration::ZERO,
        }
    }
}

/// What the records of a block are like.
pub(super) struct Form {
    pub(super) format: InputFormat,
    /// What stands before the first record of the input.
    pub(super) head: Arc<Head>,
    pub(super) file: Arc<str>,
    /// They were not UTF-8, and had to be made that to be cut.
    pub(super) is_transcoded: bool,
}

pub(crate) struct BatchDocument {
    pub(super) url_end: usize,
    pub(super) url_hash: UrlHash,
    pub(super) has_shingle: bool,
    pub(super) is_short: bool,
    /// It has too few words or too many.
    pub(super) is_left_out: bool,
    /// Nothing is left of it without the templates.
    pub(super) is_template: bool,
    /// The index that it is added to has its id.
    pub(super) is_known: bool,
}

/// The documents of a block, as they were numbered.
pub(crate) struct Numbered<'a> {
    /// The ids of all documents so far, unless only their hashes are kept.
    pub(crate) urls: &'a Urls,
    /// The ids of the block's documents.
    pub(crate) block_urls: BlockUrls<'a>,
    /// The ordinal of each of the block's documents, unless its id was met before.
    pub(crate) documents: &'a [Option<DocumentId>],
    /// What is left of the memory for all that can go to files.
    pub(crate) rest: u64,
}

/// The ids of the documents of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockUrls<'a> {
    pub(super) urls: &'a str,
    pub(super) documents: &'a [BatchDocument],
}

impl<'a> BlockUrls<'a> {
    /// They, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a str> {
        let mut start = 0;
        self.documents.iter().map(move |document| {
            let url = &self.urls[start..document.url_end];
            start = document.url_end;
            url
        })
    }
}

/// About how much memory the value of a field takes.
pub(super) fn value_bytes(value: &Option<FieldValue>) -> usize {
    let text = match value {
        Some(FieldValue::Text(text)) => text.len(),
        _ => 0,
    };
    size_of_val(value) + text
}
