//! The value of one more field, by which documents are put into an order or into groups.

use super::super::ReadSettings;
use super::path;
use crate::document::FieldValue;

/// What the field that the settings name holds, if it is a string or a number.
pub(super) fn read(line: &[u8], settings: &ReadSettings) -> Option<FieldValue> {
    field(line, settings.value_field.as_deref()?)
}

/// The same of any field.
pub(in crate::read) fn field(line: &[u8], name: &str) -> Option<FieldValue> {
    match serde_json::from_str(path::find(line, name)?.get()).ok()? {
        serde_json::Value::String(text) => Some(FieldValue::Text(text)),
        serde_json::Value::Number(number) => number
            .as_i128()
            .map(FieldValue::Integer)
            .or_else(|| number.as_f64().map(FieldValue::Number)),
        _ => None,
    }
}
