//! CSV and TSV with a header that names the fields. Which fields count is said as for JSONL.

mod fields;

use std::borrow::Cow;

use super::content::texts_of;
use super::jsonl::ID_FIELDS;
use crate::document::{Document, FieldValue, TextNotes};
use crate::error::{Error, ErrorKind, excerpt};
use crate::read::cut::blocks::Block;
use crate::read::cut::buffer::PIECE_BYTES;
use crate::read::format::{Cut, Format, Head, Names, without_bom};
use crate::read::text::encoding;
use crate::read::text::encoding::InputEncoding;
use crate::read::text::utf8;
use crate::read::{BLOCK_RECORDS_MAX, ReadSettings};
use fields::{End, Field, behind_blank, field, record_end};

/// The delimiters that are looked for, in order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Records that tell the delimiter: with the right one they have as many fields as the header.
const RECORDS_TO_JUDGE: usize = 20;

/// With the delimiter that the header shows.
pub(in crate::read) struct Csv;

/// With tabs.
pub(in crate::read) struct Tsv;

impl Format for Csv {
    fn head(
        &self,
        bytes: &[u8],
        ended: bool,
        encoding: InputEncoding,
        settings: &ReadSettings,
    ) -> Result<Option<Head>, ErrorKind> {
        head(bytes, ended, settings.delimiter, encoding, settings)
    }

    fn cut(&self, bytes: &[u8], ended: bool, head: &Head) -> Cut {
        cut(bytes, ended, head.delimiter)
    }

    fn record_end(&self) -> Option<u8> {
        None
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        for_each_record(block, |record| each(&block.bytes[record.start..record.end]));
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        let columns = Columns::new(&block.head.names, settings);
        let mut found = Vec::new();
        for_each_record(block, |record| {
            each(
                match document(block, &record, &columns, settings, &mut found) {
                    Ok(document) => Ok(document),
                    Err((byte, kind)) => Err(block.error(record.number, byte, kind)),
                },
            );
        });
    }
}

impl Format for Tsv {
    fn head(
        &self,
        bytes: &[u8],
        ended: bool,
        encoding: InputEncoding,
        settings: &ReadSettings,
    ) -> Result<Option<Head>, ErrorKind> {
        let delimiter = settings.delimiter.unwrap_or(b'\t');
        head(bytes, ended, Some(delimiter), encoding, settings)
    }

    fn cut(&self, bytes: &[u8], ended: bool, head: &Head) -> Cut {
        Csv.cut(bytes, ended, head)
    }

    fn record_end(&self) -> Option<u8> {
        None
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        Csv.records(block, each);
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        Csv.documents(block, settings, each);
    }
}

/// The header: the first line with something on it. Some programs put `sep=;` before it.
fn head(
    bytes: &[u8],
    ended: bool,
    delimiter: Option<u8>,
    encoding: InputEncoding,
    settings: &ReadSettings,
) -> Result<Option<Head>, ErrorKind> {
    // However the bytes come in, the same are looked at.
    if !ended && bytes.len() < PIECE_BYTES {
        return Ok(None);
    }
    let start = behind_blank(bytes, bytes.len() - without_bom(bytes).len());
    let (said, start) = match bytes[start..] {
        [
            b's' | b'S',
            b'e' | b'E',
            b'p' | b'P',
            b'=',
            sign,
            b'\n' | b'\r',
            ..,
        ] => (Some(sign), behind_blank(bytes, start + 5)),
        _ => (None, start),
    };
    let sample = &bytes[start..bytes.len().min(PIECE_BYTES).max(start)];
    let delimiter = delimiter.or(said).unwrap_or_else(|| found(sample));
    let Some(end) = record_end(bytes, start, delimiter, ended) else {
        return Ok(None);
    };
    let mut names = Names::default();
    for name in values(&bytes[start..end], delimiter) {
        match encoding::text(&name, encoding, settings.encoding) {
            Ok(name) => names.push(name.text.trim()),
            Err(_) => names.push(String::from_utf8_lossy(&name).trim()),
        }
    }
    Columns::new(&names, settings).check(&names, settings)?;
    Ok(Some(Head {
        bytes: bytes[..end].into(),
        delimiter,
        names,
    }))
}

/// What the fields of a record hold.
fn values(record: &[u8], delimiter: u8) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let (field, end, next) = field(record, at?, delimiter);
        at = (end == End::Delimiter).then_some(next);
        Some(field.value())
    })
}

/// The delimiter that makes most columns, in the header and in the records behind it.
fn found(sample: &[u8]) -> u8 {
    let columns = |&delimiter: &u8| {
        let mut at = 0;
        let mut counts = Vec::new();
        while at < sample.len() && counts.len() < RECORDS_TO_JUDGE {
            // The last one may be cut off.
            let Some(end) = record_end(sample, at, delimiter, counts.is_empty()) else {
                break;
            };
            counts.push(values(&sample[at..end], delimiter).count());
            at = behind_blank(sample, end);
        }
        let columns = counts.first().copied().unwrap_or(0);
        let like_header = counts.iter().filter(|&&count| count == columns).count();
        match columns > 1 {
            true => (like_header * 2 >= counts.len(), columns),
            false => (false, 0),
        }
    };
    let most = DELIMITERS
        .iter()
        .rev()
        .max_by_key(|delimiter| columns(delimiter));
    most.copied().unwrap_or(DELIMITERS[0])
}

/// All whole records, or as many as a block may have.
fn cut(bytes: &[u8], ended: bool, delimiter: u8) -> Cut {
    let mut cut = Cut::default();
    loop {
        let start = behind_blank(bytes, cut.bytes);
        if start == bytes.len() || cut.records == BLOCK_RECORDS_MAX {
            if cut.records < BLOCK_RECORDS_MAX {
                cut.bytes = start;
            }
            return cut;
        }
        match record_end(bytes, start, delimiter, ended) {
            Some(end) => {
                cut.bytes = end;
                cut.records += 1;
            }
            None => {
                // A record whose end is far is not looked through for each piece of it.
                cut.needs = 2 * (bytes.len() - cut.bytes);
                return cut;
            }
        }
    }
}

/// A record of a block.
struct Record {
    number: u64,
    start: usize,
    end: usize,
}

fn for_each_record(block: &Block<'_>, mut each: impl FnMut(Record)) {
    let bytes = block.bytes;
    let mut number = 0;
    let mut start = behind_blank(bytes, 0);
    while start < bytes.len() {
        let delimiter = block.head.delimiter;
        let end = record_end(bytes, start, delimiter, true).unwrap_or(bytes.len());
        each(Record { number, start, end });
        start = behind_blank(bytes, end);
        number += 1;
    }
}

/// Which columns count.
struct Columns {
    /// How many there are.
    count: usize,
    ids: Vec<usize>,
    texts: Vec<usize>,
    value: Option<usize>,
    party: Option<usize>,
    /// All of these, in order.
    wanted: Vec<usize>,
}

impl Columns {
    fn new(names: &Names, settings: &ReadSettings) -> Self {
        let place = |name: &str| names.iter().position(|column| column == name);
        let mut texts: Vec<usize> = Vec::new();
        for name in &settings.text_fields {
            // A field that is named twice counts once.
            texts.extend(place(name).filter(|place| !texts.contains(place)));
        }
        let ids: Vec<usize> = match &settings.id_field {
            Some(name) => place(name).into_iter().collect(),
            None => ID_FIELDS.iter().filter_map(|name| place(name)).collect(),
        };
        let value = settings.value_field.as_deref().and_then(place);
        let party = settings.party_field.as_deref().and_then(place);
        let mut wanted = [&ids[..], &texts].concat();
        wanted.extend(value.into_iter().chain(party));
        wanted.sort_unstable();
        wanted.dedup();
        Self {
            count: names.len(),
            ids,
            texts,
            value,
            party,
            wanted,
        }
    }

    /// The field of a column that is wanted, of the fields of all such columns.
    fn field<'a>(&self, column: usize, found: &[(Field<'a>, usize)]) -> (Field<'a>, usize) {
        found[self.wanted.partition_point(|&other| other < column)]
    }

    /// Whether there is something to read.
    fn check(&self, names: &Names, settings: &ReadSettings) -> Result<(), ErrorKind> {
        let missing = match &settings.id_field {
            Some(name) if self.ids.is_empty() => name,
            _ if self.texts.is_empty() => &settings.text_fields.join("`, `"),
            _ => return Ok(()),
        };
        let header = format!(
            "column `{missing}`; the header has `{}`",
            names.iter().collect::<Vec<_>>().join("`, `")
        );
        Err(ErrorKind::FieldMissing(excerpt(&header)))
    }
}

fn document<'a>(
    block: &Block<'a>,
    record: &Record,
    columns: &Columns,
    settings: &ReadSettings,
    found: &mut Vec<(Field<'a>, usize)>,
) -> Result<Document<'a>, (usize, ErrorKind)> {
    let bytes = block.bytes;
    found.clear();
    let mut at = record.start;
    let mut count = 0;
    loop {
        let (field, end, next) = field(bytes, at, block.head.delimiter);
        if columns.wanted.get(found.len()) == Some(&count) {
            found.push((field, at));
        }
        count += 1;
        if end == End::OpenQuote {
            let what = "a quote is opened and never closed".to_owned();
            return Err((at, ErrorKind::Csv(what)));
        }
        at = next;
        if end != End::Delimiter {
            break;
        }
    }
    if count != columns.count {
        let (is, should) = (count, columns.count);
        let what = format!("{is} fields where the header has {should}");
        return Err((record.start, ErrorKind::Csv(what)));
    }
    let mut notes = TextNotes::default();
    let mut text = |&column: &usize| {
        let (field, start) = columns.field(column, found);
        let first_byte = block.first_byte + start as u64;
        let (text, of_field) = match field.value() {
            Cow::Borrowed(bytes) => block.text(bytes, settings).map(|decoded| {
                let notes = decoded.notes(first_byte);
                (decoded.text, notes)
            }),
            Cow::Owned(bytes) => block.text(&bytes, settings).map(|decoded| {
                let notes = decoded.notes(first_byte);
                (decoded.text.into_owned().into(), notes)
            }),
        }
        .map_err(|_| (start, ErrorKind::Utf8))?;
        notes = notes.or(of_field);
        Ok(text)
    };
    let mut url = None;
    for column in &columns.ids {
        url = url.or(Some(text(column)?).filter(|url| !url.is_empty()));
    }
    let url = match (url, &settings.id_field) {
        (Some(url), _) => url,
        (None, None) => block.place_id(record.number).into(),
        (None, Some(name)) => {
            let what = format!("id in the field `{name}`");
            return Err((record.start, ErrorKind::FieldMissing(what)));
        }
    };
    let texts = columns
        .texts
        .iter()
        .map(&mut text)
        .collect::<Result<Vec<_>, _>>()?;
    let content = texts_of(texts, settings).map_err(|kind| (record.start, kind))?;
    let mut value = |column: Option<usize>| {
        let value = column.map(|column| text(&column)).transpose()?;
        Ok(value.filter(|value| !value.is_empty()))
    };
    let (value, party) = (value(columns.value)?, value(columns.party)?);
    let value = value.map(value_of);
    // Groups go by what stands there: 007 is not 7.
    let party = party.map(|party| FieldValue::Text(party.into_owned()));
    Ok(Document {
        record: &bytes[record.start..record.end],
        number: record.number,
        value,
        party,
        notes: notes.at(|| first_damage(block, record)),
        ..Document::new(url, content)
    })
}

/// The place in the file of the first byte of a record that is not UTF-8: a field may have been
/// put together from parts.
fn first_damage(block: &Block<'_>, record: &Record) -> u64 {
    let bytes = &block.bytes[record.start..record.end];
    let valid = utf8::text(bytes).err().unwrap_or(0);
    block.first_byte + (record.start + valid) as u64
}

/// What a field that says nothing of its type is to be ordered by.
fn value_of(text: Cow<'_, str>) -> FieldValue {
    match (text.trim().parse(), text.trim().parse::<f64>()) {
        (Ok(integer), _) => FieldValue::Integer(integer),
        (_, Ok(number)) if number.is_finite() => FieldValue::Number(number),
        _ => FieldValue::Text(text.into_owned()),
    }
}

#[cfg(test)]
mod tests;
