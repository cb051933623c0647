//! What a document is, and the handle by which everything downstream of
//! reading knows it.

use std::borrow::Cow;

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
    /// The encoding of its text, if it had to be guessed.
    pub guess: Option<&'static str>,
    /// Which of the text fields that were named it has, a bit for each, the first the lowest; all
    /// where there are no fields.
    pub fields: u64,
    /// What it links to, if it is a page and that is asked for.
    pub links: Vec<Link>,
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
            guess: None,
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
