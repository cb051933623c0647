//! WARC, and WET with it: the archives of crawlers (ISO 28500). A document is a response, a
//! resource or a conversion that is HTML or plain text; its id is the address.

mod header;
mod http;

use std::borrow::Cow;
use std::ops::Range;

use super::html::{charset, decode, looks_like_html};
use crate::document::RECORD_BYTES_MAX;
use crate::document::{Content, Document, FieldValue};
use crate::error::{Error, ErrorKind, excerpt};
use crate::read::cut::blocks::Block;
use crate::read::format::{Cut, Format, Head};
use crate::read::text::encoding;
use crate::read::{BLOCK_RECORDS_MAX, ReadSettings};
use header::{
    HEAD_BYTES_MAX, Headers, START, content_start, next_record, split_head, starts_record,
};
use http::Response;

pub(in crate::read) struct Warc;

impl Format for Warc {
    fn cut(&self, bytes: &[u8], ended: bool, _: &Head) -> Cut {
        let mut cut = Cut::default();
        while cut.records < BLOCK_RECORDS_MAX && cut.bytes < bytes.len() {
            match part(&bytes[cut.bytes..], ended) {
                Part::Record(range) | Part::Bad(range, _) => {
                    cut.bytes += range.end;
                    cut.records += 1;
                }
                Part::Nothing => cut.bytes = bytes.len(),
                Part::Unfinished { needs } => {
                    cut.needs = needs;
                    break;
                }
            }
        }
        cut
    }

    fn record_end(&self) -> Option<u8> {
        None
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        for_each_part(block, |_, part| match part {
            Ok((record, _)) if record.kind() == Kind::Other => {}
            Ok((_, range)) | Err((range, _)) => each(&block.bytes[range]),
        });
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        for_each_part(block, |number, part| {
            let (range, document) = match part {
                Ok((record, _)) if record.kind() == Kind::Other => return,
                Ok((record, range)) => (range, record.document(settings)),
                Err((range, kind)) => (range, Err(kind)),
            };
            each(
                document
                    .map(|document| Document {
                        record: &block.bytes[range.clone()],
                        number,
                        ..document
                    })
                    .map_err(|kind| block.error(number, range.start, kind)),
            );
        });
    }

    fn passed_over(&self, block: &Block<'_>, each: &mut dyn FnMut(u64, &'static str)) {
        for_each_part(block, |number, part| match part {
            Ok((record, _)) if record.kind() == Kind::Other => each(number, record.what()),
            _ => {}
        });
    }
}

/// Whether content starts as an archive does.
pub(in crate::read) fn looks_like_warc(head: &[u8]) -> bool {
    starts_record(head.trim_ascii_start())
}

/// Whether content starts with a whole header of a record.
pub(in crate::read) fn starts_with_header(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let header = starts_record(head).then(|| split_head(head)).flatten();
    header.is_some_and(|(_, headers, _)| headers.get("warc-type").is_some())
}

/// What stands at the start of bytes.
#[derive(Debug)]
enum Part {
    /// A record, and what ends it.
    Record(Range<usize>),
    /// Bytes that are none, up to the next record.
    Bad(Range<usize>, ErrorKind),
    /// Line ends only.
    Nothing,
    /// A record of which so many bytes must be there to look again.
    Unfinished { needs: usize },
}

/// What is said of a record that is cut off, or has bytes too many.
const OTHER_LENGTH: &str = "the content is not as long as the header says";

fn part(bytes: &[u8], ended: bool) -> Part {
    let is_line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    let start = bytes.iter().take_while(is_line_end).count();
    let rest = &bytes[start..];
    if rest.is_empty() {
        return Part::Nothing;
    }
    let unfinished = |needs: usize| Part::Unfinished {
        needs: needs.max(bytes.len() + 1),
    };
    if !ended && rest.len() < START.len() {
        return unfinished(0);
    }
    // Up to where the next record is found.
    let bad = |from: usize, what: &str| match next_record(bytes, from) {
        Some(next) => Part::Bad(start..next, ErrorKind::Warc(what.into())),
        None if ended => Part::Bad(start..bytes.len(), ErrorKind::Warc(what.into())),
        None => unfinished(2 * bytes.len()),
    };
    if !rest.starts_with(START) {
        return bad(start, "no record starts here");
    }
    let Some(content) = content_start(rest) else {
        return match ended || rest.len() >= HEAD_BYTES_MAX {
            true => bad(start + 1, "the header has no end"),
            false => unfinished(2 * bytes.len()),
        };
    };
    if next_record(&rest[..content], 1).is_some() {
        return bad(start + 1, "another record starts in its header");
    }
    let length = split_head(rest).and_then(|(_, headers, _)| length(&headers));
    let Some(length) = length else {
        return bad(start + 1, "no Content-Length that makes sense");
    };
    let end = start + content + length;
    let Some(behind) = bytes.get(end..) else {
        if ended {
            return bad(start + 1, OTHER_LENGTH);
        }
        return unfinished(end + 4);
    };
    let line_ends = behind.iter().take(4).take_while(is_line_end).count();
    if line_ends < 4 && behind.len() < 4 + START.len() && !ended {
        return unfinished(end + 4 + START.len());
    }
    match line_ends == 4 || behind[line_ends..].is_empty() || behind[line_ends..].starts_with(START)
    {
        true => Part::Record(start..end + line_ends),
        false => bad(start + 1, OTHER_LENGTH),
    }
}

fn length(headers: &Headers<'_>) -> Option<usize> {
    let length = str::from_utf8(headers.get("content-length")?).ok()?;
    length
        .parse()
        .ok()
        .filter(|&length| length <= RECORD_BYTES_MAX)
}

/// Calls `each` with every record or what is wrong with it, and where it is.
fn for_each_part<'a>(
    block: &Block<'a>,
    mut each: impl FnMut(u64, Result<(Record<'a>, Range<usize>), (Range<usize>, ErrorKind)>),
) {
    let mut at = 0;
    let mut number = 0;
    while at < block.bytes.len() {
        let shift = |range: Range<usize>| at + range.start..at + range.end;
        let (range, kind) = match part(&block.bytes[at..], true) {
            Part::Record(range) => (shift(range), None),
            Part::Bad(range, kind) => (shift(range), Some(kind)),
            Part::Nothing | Part::Unfinished { .. } => return,
        };
        at = range.end;
        match (Record::read(&block.bytes[range.clone()]), kind) {
            (Some(record), None) => each(number, Ok((record, range))),
            (_, Some(kind)) => each(number, Err((range, kind))),
            (None, None) => {}
        }
        number += 1;
    }
}

/// What a record is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    /// A request, an image: no document.
    Other,
}

struct Record<'a> {
    headers: Headers<'a>,
    content: &'a [u8],
    response: Option<Response<'a>>,
}

impl<'a> Record<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (_, headers, content) = split_head(bytes)?;
        let content = &content[..length(&headers)?.min(content.len())];
        let is_response = headers.get("warc-type") == Some(b"response");
        Some(Self {
            headers,
            content,
            response: is_response.then(|| Response::read(content)).flatten(),
        })
    }

    /// The media type, with its parameters.
    fn media_type(&self) -> &'a [u8] {
        let headers = self
            .response
            .as_ref()
            .map_or(self.headers, |response| response.headers);
        headers.get("content-type").unwrap_or_default()
    }

    fn kind(&self) -> Kind {
        let is_document = match self.headers.get("warc-type").unwrap_or_default() {
            b"response" => self.response.as_ref().is_some_and(Response::is_ok),
            b"resource" | b"conversion" => true,
            _ => false,
        };
        if !is_document {
            return Kind::Other;
        }
        let media_type = self.media_type();
        let name = media_type
            .split(|&byte| byte == b';')
            .next()
            .unwrap_or_default();
        match name.trim_ascii().to_ascii_lowercase().as_slice() {
            b"text/html" | b"application/xhtml+xml" => Kind::Html,
            b"text/plain" => Kind::Text,
            b"" if self.response.is_none() && looks_like_html(self.content) => Kind::Html,
            _ => Kind::Other,
        }
    }

    /// What it is, if it is no document.
    fn what(&self) -> &'static str {
        match self.headers.get("warc-type").unwrap_or_default() {
            b"response" => match &self.response {
                Some(response) if response.is_ok() => {
                    "a response that is neither HTML nor plain text"
                }
                Some(_) => "a response whose status is not 200 to 299",
                None => "a response that is not HTTP",
            },
            b"resource" => "a resource that is neither HTML nor plain text",
            b"conversion" => "a conversion that is neither HTML nor plain text",
            b"warcinfo" => "a warcinfo record",
            b"request" => "a request",
            b"metadata" => "metadata",
            b"revisit" => "a revisit",
            b"continuation" => "a continuation",
            _ => "a record of another type",
        }
    }

    fn document(&self, settings: &ReadSettings) -> Result<Document<'a>, ErrorKind> {
        let name = settings.id_field.as_deref().unwrap_or("WARC-Target-URI");
        let url = self
            .headers
            .get(name)
            .filter(|url| !url.is_empty())
            .ok_or_else(|| ErrorKind::FieldMissing(format!("{name} in the header")))?;
        // Some write it as a reference.
        let url = url
            .strip_prefix(b"<")
            .and_then(|url| url.strip_suffix(b">"))
            .unwrap_or(url);
        let body = match &self.response {
            Some(response) => response.body()?,
            None => self.content.into(),
        };
        let said = charset(self.media_type());
        let url = String::from_utf8_lossy(url);
        let mut links = Vec::new();
        let (text, notes): (Cow<'a, str>, _) = match self.kind() {
            Kind::Html => {
                let page = decode(&body, said, settings.encoding);
                let html = settings.html.unwrap_or_default();
                let (text, found) = html.of(&page.text, &url, &settings.page);
                links = found;
                (text.into(), page.notes(0))
            }
            _ => {
                let said = said.and_then(|said| str::from_utf8(said).ok());
                match body {
                    Cow::Borrowed(body) => {
                        let decoded = encoding::decode(body, said, settings.encoding);
                        let notes = decoded.notes(0);
                        (decoded.text, notes)
                    }
                    Cow::Owned(body) => {
                        let decoded = encoding::decode(&body, said, settings.encoding);
                        let notes = decoded.notes(0);
                        (decoded.text.into_owned().into(), notes)
                    }
                }
            }
        };
        let value = |field: &Option<String>| {
            let value = self.headers.get(field.as_deref()?)?;
            Some(FieldValue::Text(excerpt(&String::from_utf8_lossy(value))))
        };
        Ok(Document {
            value: value(&settings.value_field),
            party: value(&settings.party_field),
            notes,
            links,
            ..Document::new(url, Content::Text(text))
        })
    }
}

#[cfg(test)]
mod tests;
