//! A row on its way from the table to its document: as bytes, so that it can be cut into
//! blocks and taken apart by any thread, as records of other formats are.

use std::borrow::Cow;

use crate::document::FieldValue;

/// What a row holds.
#[derive(Debug, PartialEq)]
pub(super) enum Row<'a> {
    Document {
        id: Option<Cow<'a, [u8]>>,
        /// Of the text fields that are there.
        texts: Vec<Cow<'a, [u8]>>,
        /// What it is preferred by, and what it is grouped by.
        value: Option<Value<'a>>,
        party: Option<Value<'a>>,
    },
    /// What is wrong, of one row or of many.
    Bad(&'a str),
}

/// What a column holds for a row.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    Bytes(Cow<'a, [u8]>),
    Integer(i128),
    Number(f64),
}

impl<'a> Value<'a> {
    /// As text; numbers as they are written.
    pub(super) fn into_bytes(self) -> Cow<'a, [u8]> {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Integer(integer) => integer.to_string().into_bytes().into(),
            Self::Number(number) => number.to_string().into_bytes().into(),
        }
    }

    pub(super) fn for_order(self) -> FieldValue {
        match self {
            Self::Bytes(bytes) => FieldValue::Text(String::from_utf8_lossy(&bytes).into_owned()),
            Self::Integer(integer) => FieldValue::Integer(integer),
            Self::Number(number) => FieldValue::Number(number),
        }
    }
}

/// Stands for what is not there.
const NULL: u32 = u32::MAX;
/// Kinds of parts.
const BYTES: u8 = 0;
const INTEGER: u8 = 1;
const NUMBER: u8 = 2;
const BAD: u8 = 3;

/// A row is its length, then a kind and a length before each of its parts.
const LENGTH_BYTES: usize = 4;

impl<'a> Row<'a> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        let mut part = |kind: u8, bytes: Option<&[u8]>| {
            out.push(kind);
            let length = bytes.map_or(NULL, |bytes| bytes.len() as u32);
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(bytes.unwrap_or_default());
        };
        match self {
            Self::Bad(what) => part(BAD, Some(what.as_bytes())),
            Self::Document {
                id,
                texts,
                value,
                party,
            } => {
                part(BYTES, id.as_deref());
                for value in [value, party] {
                    match value {
                        None => part(BYTES, None),
                        Some(Value::Bytes(bytes)) => part(BYTES, Some(bytes)),
                        Some(Value::Integer(integer)) => {
                            part(INTEGER, Some(&integer.to_le_bytes()));
                        }
                        Some(Value::Number(number)) => part(NUMBER, Some(&number.to_le_bytes())),
                    }
                }
                for text in texts {
                    part(BYTES, Some(text));
                }
            }
        }
        let length = (out.len() - start - LENGTH_BYTES) as u32;
        out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    /// The row that was written to these bytes.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.get(LENGTH_BYTES..)?;
        let mut part = || {
            let (&kind, behind) = rest.split_first()?;
            let (&length, behind) = behind.split_first_chunk()?;
            let length = u32::from_le_bytes(length);
            if length == NULL {
                rest = behind;
                return Some((kind, None));
            }
            let (bytes, behind) = behind.split_at_checked(length as usize)?;
            rest = behind;
            Some((kind, Some(bytes)))
        };
        let (kind, first) = part()?;
        if kind == BAD {
            return str::from_utf8(first?).ok().map(Self::Bad);
        }
        let (value, party) = (value(part()?)?, value(part()?)?);
        let mut texts = Vec::new();
        while let Some((_, Some(text))) = part() {
            texts.push(text.into());
        }
        Some(Self::Document {
            id: first.map(Cow::Borrowed),
            texts,
            value,
            party,
        })
    }
}

/// The value that a part is, which may be none; `None` if it is damaged.
fn value((kind, bytes): (u8, Option<&[u8]>)) -> Option<Option<Value<'_>>> {
    let Some(bytes) = bytes else {
        return Some(None);
    };
    Some(Some(match kind {
        INTEGER => Value::Integer(i128::from_le_bytes(bytes.try_into().ok()?)),
        NUMBER => Value::Number(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => Value::Bytes(bytes.into()),
    }))
}

/// The length of the row that bytes start with, if all of it is there.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize + LENGTH_BYTES;
    (length <= bytes.len()).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Option<Value<'static>>> {
        let bytes = proptest::collection::vec(any::<u8>(), 0..5);
        proptest::option::of(prop_oneof![
            bytes.prop_map(|bytes| Value::Bytes(bytes.into())),
            any::<i128>().prop_map(Value::Integer),
            (-1e9..1e9).prop_map(Value::Number),
        ])
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            id in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..9)),
            texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..4),
            value in any_value(),
            party in any_value(),
        ) {
            let texts = texts.into_iter().map(Cow::Owned).collect();
            let row = Row::Document { id: id.map(Cow::Owned), texts, value, party };
            let mut bytes = vec![];
            row.write(&mut bytes);
            prop_assert_eq!(length(&bytes), Some(bytes.len()));
            prop_assert_eq!(Row::read(&bytes), Some(row));
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Row::read(&bytes);
            let _ = length(&bytes);
        }
    }
}
