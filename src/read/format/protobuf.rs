//! Length-prefixed protobuf messages as proto/document.proto describes them.
//!
//! Text is borrowed from the block, `body` is not looked at unless asked for.
//! The only file that knows prost.

use std::mem;

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::content::{are_pages, contents, texts_of};
use super::html::decode_field;
use crate::document::RECORD_BYTES_MAX;
use crate::document::{Content, Document, TextNotes};
use crate::error::{Error, ErrorKind, excerpt};
use crate::read::cut::blocks::Block;
use crate::read::format::{Cut, Format, Head};
use crate::read::text::encoding::Charset;
use crate::read::text::utf8;
use crate::read::{BLOCK_RECORDS_MAX, ReadSettings};

/// Bytes of the length before each message.
const LENGTH_BYTES: usize = 4;

const URL: u32 = 1;
const BODY: u32 = 2;
const TEXT: u32 = 3;

pub(in crate::read) struct Protobuf;

impl Format for Protobuf {
    fn cut(&self, bytes: &[u8], ended: bool, _: &Head) -> Cut {
        let mut cut = Cut::default();
        while cut.records < BLOCK_RECORDS_MAX
            && let Some(length) = frame_length(&bytes[cut.bytes..])
        {
            let Some(length) = usize::try_from(length)
                .ok()
                .filter(|&l| l <= RECORD_BYTES_MAX)
            else {
                cut.end = Some(ErrorKind::FrameLength(length));
                return cut;
            };
            if bytes.len() - cut.bytes - LENGTH_BYTES < length {
                break;
            }
            cut.bytes += LENGTH_BYTES + length;
            cut.records += 1;
        }
        let rest = &bytes[cut.bytes..];
        if ended && !rest.is_empty() && cut.records < BLOCK_RECORDS_MAX {
            cut.end = Some(ErrorKind::Truncated {
                expected: frame_length(rest).and_then(|length| u64::try_from(length).ok()),
                found: rest.len().saturating_sub(LENGTH_BYTES) as u64,
            });
        }
        cut
    }

    fn record_end(&self) -> Option<u8> {
        None
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        let mut rest = block.bytes;
        while let Some(length) = frame_length(rest) {
            let end = LENGTH_BYTES.saturating_add(usize::try_from(length).unwrap_or(0));
            let (record, behind) = rest.split_at(end.min(rest.len()));
            each(record);
            rest = behind;
        }
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        let mut start = 0;
        let mut record = 0;
        while let Some(length) = frame_length(&block.bytes[start..]) {
            let message = start + LENGTH_BYTES;
            let end = message + usize::try_from(length).unwrap_or(0);
            let document = block
                .bytes
                .get(message..end)
                .ok_or(ErrorKind::FrameLength(length))
                .and_then(|message| document(message, settings))
                .map(|document| Document {
                    record: &block.bytes[start..end],
                    number: record,
                    ..document
                });
            each(document.map_err(|kind| block.error(record, start, kind)));
            start = end.min(block.bytes.len());
            record += 1;
        }
    }
}

/// Whether the content starts as a stream of frames does: the messages that the lengths announce
/// are documents, as far as they are there. Some may be damaged, but not the most of them.
pub(in crate::read) fn looks_like_frames(head: &[u8]) -> bool {
    let is_text = utf8::is_text(head);
    let (mut documents, mut others) = (0_usize, 0_usize);
    let mut rest = head;
    while let (Some(length), Some(message)) = (frame_length(rest), rest.get(LENGTH_BYTES..)) {
        let length = usize::try_from(length)
            .ok()
            .filter(|&length| length <= RECORD_BYTES_MAX);
        let Some((message, behind)) = length.and_then(|l| message.split_at_checked(l)) else {
            // The message is cut off, or its length is damaged: nothing is known behind it.
            documents += usize::from(starts_a_document(message, length, is_text));
            break;
        };
        rest = behind;
        match message {
            // An empty message says nothing.
            [] => {}
            message if is_document(message) => documents += 1,
            _ => others += 1,
        }
    }
    documents > 0 && documents >= others
}

/// Whether a message has the fields of a document.
fn is_document(message: &[u8]) -> bool {
    Fields::read(message).is_ok_and(|fields| {
        let url = fields.named("url");
        url.is_ok_and(|url| url.is_some_and(|url| !url.is_empty()))
    })
}

/// The last byte of shorter lengths is a control character that no text has.
const NO_TEXT_LENGTH_MAX: usize = 1 << 27;

/// Whether a message that is not all there starts as a document does: with a url and another
/// field, each of them once and no longer than the message. A length that could be a text takes
/// part in no such message where all that is there could be text; otherwise a url is enough at
/// the end of what is there, and so is another field that goes on behind it.
fn starts_a_document(mut start: &[u8], length: Option<usize>, is_text: bool) -> bool {
    let is_no_text = length.is_some_and(|length| length < NO_TEXT_LENGTH_MAX);
    if is_text && !is_no_text {
        return false;
    }
    let there = start.len();
    let (mut has_url, mut has_body, mut has_text) = (false, false, false);
    while !(has_url && (has_body || has_text)) {
        if start.is_empty() {
            return has_url && !is_text;
        }
        let Ok((tag, WireType::LengthDelimited)) = decode_key(&mut start) else {
            return false;
        };
        let has_field = match tag {
            URL => &mut has_url,
            BODY => &mut has_body,
            TEXT => &mut has_text,
            _ => return false,
        };
        if mem::replace(has_field, true) {
            return false;
        }
        let Ok(field_length) = decode_varint(&mut start) else {
            return false;
        };
        let taken = there - start.len();
        let left = length.map_or(usize::MAX, |length| length.saturating_sub(taken));
        let Some(field_length) = usize::try_from(field_length).ok().filter(|&l| l <= left) else {
            return false;
        };
        start = match start.split_at_checked(field_length) {
            Some((url, _)) if tag == URL && !is_url(url) => return false,
            Some((_, behind)) => behind,
            None if tag == URL => return false,
            None => return has_url || (is_no_text && !is_text),
        };
    }
    true
}

fn is_url(bytes: &[u8]) -> bool {
    let is_text = utf8::text(bytes).is_ok();
    is_text && !bytes.is_empty() && !bytes.iter().any(u8::is_ascii_control)
}

fn frame_length(bytes: &[u8]) -> Option<i32> {
    bytes
        .first_chunk()
        .map(|&length| i32::from_le_bytes(length))
}

fn document<'a>(message: &'a [u8], settings: &ReadSettings) -> Result<Document<'a>, ErrorKind> {
    let fields = Fields::read(message)?;
    let url = fields
        .named(settings.id_field.as_deref().unwrap_or("url"))?
        .filter(|url| !url.is_empty())
        .ok_or_else(|| ErrorKind::FieldMissing("url in the message".into()))?;
    if let ([name], false) = (&settings.text_fields[..], settings.items) {
        let decoded = match settings.html {
            Some(_) => decode_field(fields.bytes(name)?.unwrap_or_default(), settings.encoding),
            None => Charset::UTF_8.decoded(fields.named(name)?.unwrap_or_default().as_bytes()),
        };
        return Ok(Document {
            notes: decoded.notes(0),
            ..Document::new(url, Content::Text(decoded.text))
        });
    }
    if are_pages(settings) {
        let mut texts = Vec::with_capacity(settings.text_fields.len());
        let mut notes = TextNotes::default();
        for name in &settings.text_fields {
            let bytes = fields.bytes(name)?.unwrap_or_default();
            let decoded = decode_field(bytes, settings.encoding);
            notes = notes.or(decoded.notes(0));
            texts.push(decoded.text);
        }
        return Ok(Document {
            notes,
            ..Document::new(url, texts_of(texts, settings)?)
        });
    }
    let mut texts = Vec::with_capacity(settings.text_fields.len());
    for name in &settings.text_fields {
        texts.extend(fields.named(name)?.filter(|text| !text.is_empty()));
    }
    Ok(Document::new(url, contents(&texts, settings)?))
}

/// The fields of a message, undecoded.
#[derive(Default)]
struct Fields<'a> {
    url: Option<&'a [u8]>,
    body: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn read(mut message: &'a [u8]) -> Result<Self, ErrorKind> {
        let malformed = |error: prost::DecodeError| ErrorKind::Protobuf(excerpt(&error));
        let mut fields = Self::default();
        while !message.is_empty() {
            let (tag, wire_type) = decode_key(&mut message).map_err(malformed)?;
            let field = match tag {
                URL => &mut fields.url,
                BODY => &mut fields.body,
                TEXT => &mut fields.text,
                _ => {
                    skip_field(wire_type, tag, &mut message, DecodeContext::default())
                        .map_err(malformed)?;
                    continue;
                }
            };
            if wire_type != WireType::LengthDelimited {
                return Err(ErrorKind::Protobuf(format!("field {tag} is not a string")));
            }
            let length = decode_varint(&mut message).map_err(malformed)?;
            let Some((value, rest)) = usize::try_from(length)
                .ok()
                .and_then(|length| message.split_at_checked(length))
            else {
                return Err(ErrorKind::Protobuf(format!(
                    "field {tag} is longer than the message"
                )));
            };
            *field = Some(value);
            message = rest;
        }
        Ok(fields)
    }

    /// The field of that name; of no other name is there any.
    fn bytes(&self, name: &str) -> Result<Option<&'a [u8]>, ErrorKind> {
        match name {
            "url" => Ok(self.url),
            "body" => Ok(self.body),
            "text" => Ok(self.text),
            _ => Err(ErrorKind::FieldMissing(format!(
                "`{name}` in a protobuf document: it has url, body and text"
            ))),
        }
    }

    /// The same as text.
    fn named(&self, name: &str) -> Result<Option<&'a str>, ErrorKind> {
        self.bytes(name)?
            .map(|value| utf8::text(value).map_err(|_| ErrorKind::Utf8))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prost::Message;

    /// The message as prost itself would have it: the twin.
    #[derive(Clone, PartialEq, Message)]
    struct Twin {
        #[prost(string, required, tag = "1")]
        url: String,
        #[prost(bytes = "vec", optional, tag = "2")]
        body: Option<Vec<u8>>,
        #[prost(string, optional, tag = "3")]
        text: Option<String>,
        #[prost(uint64, optional, tag = "9")]
        unknown: Option<u64>,
    }

    proptest! {
        #[test]
        fn what_prost_writes_is_read(
            url in ".{1,20}",
            body in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20)),
            text in proptest::option::of(".{0,40}"),
            unknown in proptest::option::of(any::<u64>()),
        ) {
            let twin = Twin { url, body, text, unknown };
            let bytes = twin.encode_to_vec();
            let document = document(&bytes, &ReadSettings::default()).unwrap();
            prop_assert_eq!(&*document.url, &twin.url);
            prop_assert_eq!(document.content, Content::Text(twin.text.unwrap_or_default().into()));
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = document(&bytes, &ReadSettings::default());
            let _ = looks_like_frames(&bytes);
            let cut = Protobuf.cut(&bytes, true, &Head::default());
            prop_assert!(cut.bytes <= bytes.len());
        }
    }
}
