//! The value of one more field, by which documents are put into an order.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::super::ReadSettings;
use crate::document::FieldValue;

/// What the field that the settings name holds, if it is a string or a number. The
/// last of several counts, as everywhere.
pub(super) fn read(line: &[u8], settings: &ReadSettings) -> Option<FieldValue> {
    field(line, settings.value_field.as_deref()?)
}

/// The same of any field.
pub(in crate::read) fn field(line: &[u8], name: &str) -> Option<FieldValue> {
    let mut json = serde_json::Deserializer::from_slice(line);
    json.deserialize_map(ValueOf(name)).ok()?
}

struct ValueOf<'n>(&'n str);

impl<'de> Visitor<'de> for ValueOf<'_> {
    type Value = Option<FieldValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.0 {
                found = match map.next_value::<serde_json::Value>()? {
                    serde_json::Value::String(text) => Some(FieldValue::Text(text)),
                    serde_json::Value::Number(number) => number
                        .as_i128()
                        .map(FieldValue::Integer)
                        .or_else(|| number.as_f64().map(FieldValue::Number)),
                    _ => None,
                };
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
