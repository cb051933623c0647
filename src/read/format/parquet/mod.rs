//! Parquet: a row is a document, its id and its text in columns that can be named.
//!
//! A table is read with jumps: what comes from a pipe, an archive or a compressed file is kept
//! first.

#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod guard;
#[cfg(feature = "parquet")]
mod pages;
#[cfg_attr(not(feature = "parquet"), allow(dead_code))]
mod row;
#[cfg(feature = "parquet")]
mod shared;
#[cfg_attr(feature = "parquet", path = "table.rs")]
#[cfg_attr(not(feature = "parquet"), path = "no_table.rs")]
mod table;

use std::borrow::Cow;

use super::content::texts_of;
use super::foreign::Foreign;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::read::cut::blocks::Block;
use crate::read::format::{Cut, Format, Head};
use crate::read::text::utf8;
use crate::read::{BLOCK_RECORDS_MAX, ReadSettings};
use row::Row;

pub(in crate::read) use table::{Layout, Table};

/// What every file starts with: a name, and the first field of what follows.
pub(in crate::read) const MAGIC: &[u8] = b"PAR1\x15";

/// What it is to those who cannot read it: a feature was left out.
pub(in crate::read) fn foreign() -> Option<Foreign> {
    cfg!(not(feature = "parquet")).then_some(Foreign::new(
        "Parquet, which this simdup was built without (feature `parquet`)",
        "write its documents out as JSONL",
    ))
}

pub(in crate::read) struct Parquet;

impl Format for Parquet {
    fn cut(&self, bytes: &[u8], _: bool, _: &Head) -> Cut {
        let mut cut = Cut::default();
        while cut.records < BLOCK_RECORDS_MAX
            && let Some(length) = row::length(&bytes[cut.bytes..])
        {
            cut.bytes += length;
            cut.records += 1;
        }
        cut
    }

    fn record_end(&self) -> Option<u8> {
        None
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        let mut rest = block.bytes;
        while let Some(length) = row::length(rest) {
            let (record, behind) = rest.split_at(length);
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
        let mut rest = block.bytes;
        let mut number = 0;
        while let Some(length) = row::length(rest) {
            let (record, behind) = rest.split_at(length);
            let document = document(record, settings, || block.place_id(number));
            let document = document.map(|document| Document { number, ..document });
            each(document.map_err(|kind| {
                let mut error = block.error(number, 0, kind);
                // Bytes are those of what was unpacked, which nobody can find.
                error.place.byte = None;
                error
            }));
            rest = behind;
            number += 1;
        }
    }
}

fn document<'a>(
    record: &'a [u8],
    settings: &ReadSettings,
    place: impl FnOnce() -> String,
) -> Result<Document<'a>, ErrorKind> {
    let (id, texts, value, party) = match Row::read(record) {
        Some(Row::Document {
            id,
            texts,
            value,
            party,
        }) => (id, texts, value, party),
        Some(Row::Bad(what)) => return Err(ErrorKind::Parquet(what.into())),
        None => return Err(ErrorKind::Parquet("it is damaged".into())),
    };
    let as_text = |bytes| match bytes {
        Cow::Borrowed(bytes) => utf8::text(bytes).map_err(|_| ErrorKind::Utf8),
        Cow::Owned(_) => Err(ErrorKind::Utf8),
    };
    let url: Cow<'_, str> = match (id.map(as_text).transpose()?, &settings.id_field) {
        (Some(url), _) => url.into(),
        (None, None) => place().into(),
        (None, Some(name)) => {
            return Err(ErrorKind::FieldMissing(format!("id in the field `{name}`")));
        }
    };
    if texts.is_empty() {
        let names = settings.text_fields.join("`, `");
        return Err(ErrorKind::FieldMissing(format!(
            "text in the field `{names}`"
        )));
    }
    let texts = texts
        .into_iter()
        .map(as_text)
        .map(|text| text.map(Cow::from));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    Ok(Document {
        record,
        value: value.map(row::Value::for_order),
        party: party.map(row::Value::for_order),
        ..Document::new(url, texts_of(texts, settings)?)
    })
}
