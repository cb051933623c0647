//! HTML: a file is a document, its path the id, its text what a reader sees. The same for
//! text in the fields of other formats.

#[cfg_attr(feature = "article", path = "article.rs")]
#[cfg_attr(not(feature = "article"), path = "no_article.rs")]
mod article;
mod beside;
mod charset;
mod element;
mod links;
mod visible;

use std::borrow::Cow;

use crate::document::{Content, Document, Link};
use crate::error::Error;
use crate::read::ReadSettings;
use crate::read::cut::blocks::Block;
use crate::read::format::whole_file::Text;
use crate::read::format::{Cut, Format, Head, without_bom};
use crate::read::text::encoding;
use crate::read::text::encoding::{Charset, InputEncoding, TextEncoding};

pub(in crate::read) use charset::{charset, decode, decode_field};
pub(crate) use links::url_words;

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

    /// The text of a page of that address, and its links if they are asked for.
    pub(in crate::read) fn of(
        self,
        html: &str,
        url: &str,
        settings: &PageSettings,
    ) -> (String, Vec<Link>) {
        let page = visible::page(html, settings.is_beside_read());
        let article = match self {
            Self::All => None,
            Self::Article => article::text(html, &page),
        };
        let text = match (&settings.features, article) {
            (None, None) => joined(&[&page.title, &page.body]),
            (None, Some((title, text))) => joined(&[&title, &text]),
            (Some(features), article) => {
                let beside = &page.beside;
                let parts = [
                    (HtmlFeature::Title, &page.title),
                    (
                        HtmlFeature::Text,
                        article.as_ref().map_or(&page.body, |(_, text)| text),
                    ),
                    (HtmlFeature::Keywords, &beside.keywords),
                    (HtmlFeature::Description, &beside.description),
                    (HtmlFeature::Images, &beside.images),
                ];
                let wanted = parts
                    .iter()
                    .filter(|(feature, _)| features.contains(feature));
                joined(&wanted.map(|(_, part)| part.as_str()).collect::<Vec<_>>())
            }
        };
        let links = match settings.links {
            true => links::resolve(page.beside, url),
            false => Vec::new(),
        };
        (text, links)
    }

    /// The document with its text for what is written in it as HTML.
    pub(in crate::read) fn in_document<'a>(
        self,
        document: Document<'a>,
        settings: &PageSettings,
    ) -> Document<'a> {
        let Content::Text(html) = &document.content else {
            return document;
        };
        let (text, links) = self.of(html, &document.url, settings);
        Document {
            content: Content::Text(Cow::Owned(text)),
            links,
            ..document
        }
    }
}

/// Parts of a text, those that are there, each on lines of its own.
fn joined(parts: &[&str]) -> String {
    let there: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    there.join("\n")
}

/// What counts of a page beside what a reader sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageSettings {
    /// The parts whose words count; `None` for the title and the text.
    pub features: Option<Vec<HtmlFeature>>,
    /// Where the page links to is wanted.
    pub links: bool,
}

impl PageSettings {
    fn is_beside_read(&self) -> bool {
        self.links || self.features.is_some()
    }
}

/// A part of a page that has words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HtmlFeature {
    /// What a reader sees of the page, its title apart.
    Text,
    /// The `<title>`.
    Title,
    /// `<meta name="keywords">`.
    Keywords,
    /// `<meta name="description">`.
    Description,
    /// The `alt` and `title` of images.
    Images,
}

impl HtmlFeature {
    /// All of them, by the names on the command line and in statistics.
    pub const ALL: [(&str, Self); 5] = [
        ("text", Self::Text),
        ("title", Self::Title),
        ("keywords", Self::Keywords),
        ("description", Self::Description),
        ("images", Self::Images),
    ];
}

/// Files of HTML.
pub(in crate::read) struct Html;

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
        let html = match (block.encoding, settings.encoding) {
            // It was made to be UTF-8, whatever it says of itself.
            (InputEncoding::Transcoded, _) => Charset::UTF_8.decoded(block.bytes),
            (_, named @ TextEncoding::Named(_)) => encoding::decode(block.bytes, None, named),
            (_, encoding) => decode(block.bytes, None, encoding),
        };
        let what = settings.html.unwrap_or_default();
        let (text, links) = what.of(&html.text, block.file, &settings.page);
        each(Ok(Document {
            record: block.bytes,
            notes: html.notes(0),
            links,
            ..Document::new(block.file.to_string(), Content::Text(text.into()))
        }));
    }
}

/// Whether content starts as a page does.
pub(in crate::read) fn looks_like_html(head: &[u8]) -> bool {
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
