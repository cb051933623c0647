//! What a document is, and the handle by which everything downstream of
//! reading knows it.

use std::borrow::Cow;

/// Longest record that is read. A longer one is more likely a damaged length
/// or a file that is not made of records than a document.
pub(crate) const RECORD_BYTES_MAX: usize = 1 << 30;

/// Ordinal of a document in input order: the only handle downstream of reading.
///
/// Repeated ids and unusable records take no ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub u32);

impl DocumentId {
    /// The ordinal as an index into per-document tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An id and a content, borrowed from the block of input it stands in where
/// that is possible.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// What the document is called in the output; usually its address.
    pub url: Cow<'a, str>,
    /// What is compared.
    pub content: Content<'a>,
    /// The record that it stands in, byte for byte, with what ends it.
    pub record: &'a [u8],
    /// Records of the block before it; of a line format, lines.
    pub number: u64,
    /// What a named field of the record holds, for choosing between documents.
    pub value: Option<FieldValue>,
    /// What another one holds, by which documents are grouped.
    pub party: Option<FieldValue>,
    /// How its text was read, where that is to be reported.
    pub notes: TextNotes,
    /// Which of the text fields that were named it has, a bit for each, the first the lowest; all
    /// where there are no fields.
    pub fields: u64,
    /// What it links to, if it is a page and that is asked for.
    pub links: Vec<Link>,
}

/// How a text was read, where that is not as it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextNotes {
    /// The encoding, if it had to be guessed.
    pub guess: Option<&'static str>,
    /// An encoding that the text seems to have and that cannot be decoded.
    pub suspect: Option<&'static str>,
    /// Bytes that are not UTF-8 and were replaced.
    pub stray: Option<StrayBytes>,
    /// The text is a JSON array whose elements have no text field.
    pub is_array: bool,
}

impl TextNotes {
    /// These notes with another place for the first of the stray bytes.
    #[must_use]
    pub(crate) fn at(mut self, first: impl FnOnce() -> u64) -> Self {
        if let Some(stray) = &mut self.stray {
            stray.first = first();
        }
        self
    }

    /// These notes, completed by others on the same document.
    #[must_use]
    pub(crate) fn or(self, others: Self) -> Self {
        let stray = match (self.stray, others.stray) {
            (Some(one), Some(other)) => Some(StrayBytes {
                count: one.count + other.count,
                first: one.first.min(other.first),
            }),
            (one, other) => one.or(other),
        };
        Self {
            guess: self.guess.or(others.guess),
            suspect: self.suspect.or(others.suspect),
            stray,
            is_array: self.is_array || others.is_array,
        }
    }
}

/// Bytes of a file that are not UTF-8, each run of which became U+FFFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StrayBytes {
    /// How many there are.
    pub count: u64,
    /// Where the first is.
    pub first: u64,
}

/// A link on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: String,
    /// What a reader sees of it.
    pub text: String,
}

impl<'a> Document<'a> {
    /// What a record says; of the record itself nothing yet.
    pub(crate) fn new(url: impl Into<Cow<'a, str>>, content: Content<'a>) -> Self {
        Self {
            url: url.into(),
            content,
            record: &[],
            number: 0,
            value: None,
            party: None,
            notes: TextNotes::default(),
            fields: u64::MAX,
            links: Vec::new(),
        }
    }

    /// Characters in its text.
    pub(crate) fn length(&self) -> u64 {
        let texts: &[Cow<'_, str>] = match &self.content {
            Content::Text(text) => std::slice::from_ref(text),
            Content::Items(items) => items,
        };
        texts.iter().map(|text| text.chars().count() as u64).sum()
    }
}

/// A value by which documents can be put into an order.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A text, such as a date.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Number(f64),
}

/// What a document is compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Running text, still to be cut into tokens.
    Text(Cow<'a, str>),
    /// A list in which every element counts as one shingle.
    Items(Vec<Cow<'a, str>>),
}
