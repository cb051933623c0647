//! The value of one more field, by which documents are put into an order or into groups.

use super::path;
use crate::document::FieldValue;

/// What a field holds, if one is named, and if it is a string or a number.
pub(super) fn read(line: &[u8], name: &Option<String>) -> Option<FieldValue> {
    match serde_json::from_str(path::find(line, name.as_deref()?)?.get()).ok()? {
        serde_json::Value::String(text) => Some(FieldValue::Text(text)),
        serde_json::Value::Number(number) => number
            .as_i128()
            .map(FieldValue::Integer)
            .or_else(|| number.as_f64().map(FieldValue::Number)),
        _ => None,
    }
}
