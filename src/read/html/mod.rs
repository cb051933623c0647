//! HTML: a file is a document, its path the id, its text what a reader sees. The same for
//! text in the fields of other formats.

#[cfg_attr(feature = "article", path = "article.rs")]
#[cfg_attr(not(feature = "article"), path = "no_article.rs")]
mod article;
mod charset;
mod element;
mod visible;

use std::borrow::Cow;

use super::ReadSettings;
use super::blocks::Block;
use super::encoding::{self, TextEncoding};
use super::format::{Cut, Format, Head, without_bom};
use super::text::Text;
use crate::document::{Content, Document};
use crate::error::Error;

pub(super) use charset::{charset, decode, decode_field};

/// How much of a page counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HtmlText {
    /// All that a reader sees.
    #[default]
    All,
    /// The main content only, without navigation and the like.
    Article,
}

impl HtmlText {
    /// The name on the command line and in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Article => "article",
        }
    }

    /// The one of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::All, Self::Article]
            .into_iter()
            .find(|html| html.name() == name)
    }

    /// Whether this build can do it.
    pub fn is_built(self) -> bool {
        self == Self::All || article::IS_BUILT
    }

    /// The text of a page.
    pub(super) fn of(self, html: &str) -> String {
        let page = visible::page(html);
        match self {
            Self::All => page.text,
            Self::Article => article::text(html, page),
        }
    }

    /// The document with its text for what is written in it as HTML.
    pub(super) fn in_document(self, document: Document<'_>) -> Document<'_> {
        let content = match document.content {
            Content::Text(html) => Content::Text(Cow::Owned(self.of(&html))),
            items @ Content::Items(_) => items,
        };
        Document {
            content,
            ..document
        }
    }
}

/// Files of HTML.
pub(super) struct Html;

impl Format for Html {
    fn cut(&self, bytes: &[u8], ended: bool, head: &Head) -> Cut {
        Text.cut(bytes, ended, head)
    }

    fn record_end(&self) -> Option<u8> {
        Text.record_end()
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        Text.records(block, each);
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        let html = match (block.charset, settings.encoding) {
            // It was made to be that, whatever it says of itself.
            (Some(charset), _) => charset.decoded(block.bytes),
            (None, named @ TextEncoding::Named(_)) => encoding::decode(block.bytes, None, named),
            (None, encoding) => decode(block.bytes, None, encoding),
        };
        let text = settings.html.unwrap_or_default().of(&html.text);
        each(Ok(Document {
            record: block.bytes,
            guess: html.guess,
            ..Document::new(block.file.to_string(), Content::Text(text.into()))
        }));
    }
}

/// Whether content starts as a page does.
pub(super) fn looks_like_html(head: &[u8]) -> bool {
    let mut rest = without_bom(head).trim_ascii_start();
    loop {
        let behind = if let Some(comment) = rest.strip_prefix(b"<!--") {
            memchr::memmem::find(comment, b"-->").map(|end| &comment[end + 3..])
        } else if let Some(declaration) = rest.strip_prefix(b"<?xml") {
            memchr::memmem::find(declaration, b"?>").map(|end| &declaration[end + 2..])
        } else {
            break;
        };
        match behind {
            Some(behind) => rest = behind.trim_ascii_start(),
            None => return false,
        }
    }
    [
        &b"<!doctype html"[..],
        b"<html",
        b"<head",
        b"<body",
        b"<title",
    ]
    .iter()
    .any(|start| {
        rest.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start))
            && rest
                .get(start.len())
                .is_none_or(|byte| byte.is_ascii_whitespace() || b">/".contains(byte))
    })
}

#[cfg(test)]
mod tests;
