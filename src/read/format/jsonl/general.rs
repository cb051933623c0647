//! Any JSON object, taken apart by serde_json: the definition, and what reports all
//! that is wrong with a line. The only file that knows how serde works.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::content::field;
use super::{fields_of, id_fields, path};
use crate::document::{Content, Document};
use crate::error::{ErrorKind, excerpt};
use crate::read::text::utf8;
use crate::read::{FIELD_SEPARATOR, ReadSettings};

/// The values of the fields that count, in the order in which they are named.
pub(super) struct Fields<'a> {
    ids: Vec<Option<Value<'a>>>,
    texts: Vec<Option<Value<'a>>>,
}

impl<'a> Fields<'a> {
    pub(super) fn read(
        line: &'a [u8],
        settings: &ReadSettings,
    ) -> Result<Self, (usize, ErrorKind)> {
        let mut json = serde_json::Deserializer::from_slice(line);
        let mut fields = FieldsSeed(settings)
            .deserialize(&mut json)
            .and_then(|fields| json.end().map(|()| fields))
            .map_err(|error| match utf8::text(line) {
                Ok(_) => (
                    error.column().saturating_sub(1).min(line.len()),
                    ErrorKind::Json(without_position(&error)),
                ),
                Err(byte) => (byte, ErrorKind::Utf8),
            })?;
        for (name, value) in id_fields(settings).into_iter().zip(&mut fields.ids) {
            complete(line, name, value);
        }
        for (name, value) in settings.text_fields.iter().zip(&mut fields.texts) {
            complete(line, name, value);
        }
        Ok(fields)
    }

    pub(super) fn document(
        self,
        settings: &ReadSettings,
        place: impl FnOnce() -> String,
    ) -> Result<Document<'a>, ErrorKind> {
        let names = id_fields(settings);
        let mut url = None;
        for (name, value) in names.iter().zip(self.ids) {
            match value {
                None | Some(Value::Null) => {}
                Some(Value::Text(text)) if text.is_empty() => {}
                Some(Value::Text(text)) => {
                    url = Some(text);
                    break;
                }
                Some(Value::Number(number)) => {
                    url = Some(number.into());
                    break;
                }
                Some(other) => return Err(wrong_type(name, "a string", &other)),
            }
        }
        let url = match (url, &settings.id_field) {
            (Some(url), _) => url,
            (None, None) => place().into(),
            (None, Some(name)) => {
                return Err(ErrorKind::FieldMissing(format!("id in the field `{name}`")));
            }
        };
        let fields = fields_of(
            self.texts
                .iter()
                .map(|value| !matches!(value, None | Some(Value::Null)))
                .enumerate(),
        );
        let content = if settings.items {
            Content::Items(items(self.texts, settings)?)
        } else {
            Content::Text(text(self.texts, settings)?)
        };
        Ok(Document {
            fields,
            ..Document::new(url, content)
        })
    }
}

/// Looks at a field again that is in an object within the line, or is a number of which not
/// every digit is known.
fn complete<'a>(line: &'a [u8], name: &str, value: &mut Option<Value<'a>>) {
    let is_within = value.is_none() && name.contains('.');
    if !is_within && !matches!(value, Some(Value::Inexact)) {
        return;
    }
    let Some(raw) = path::find(line, name) else {
        return;
    };
    let mut json = serde_json::Deserializer::from_str(raw.get());
    *value = match (ValueSeed { depth: 1 }).deserialize(&mut json) {
        Ok(Value::Inexact) => Some(Value::Number(raw.get().to_owned())),
        Ok(value) => Some(value),
        Err(_) => Some(Value::Other("a damaged value")),
    };
}

/// The text fields that are there, joined. One at least must be.
fn text<'a>(
    values: Vec<Option<Value<'a>>>,
    settings: &ReadSettings,
) -> Result<Cow<'a, str>, ErrorKind> {
    let mut joined: Option<Cow<'a, str>> = None;
    for (name, value) in settings.text_fields.iter().zip(values) {
        let text = match value {
            None | Some(Value::Null) => continue,
            Some(Value::Text(text)) => text,
            Some(Value::Number(number)) => number.into(),
            Some(Value::Items(items)) => items.join(FIELD_SEPARATOR).into(),
            Some(other) => return Err(wrong_type(name, "a string", &other)),
        };
        let text = field(text, settings);
        match &mut joined {
            None => joined = Some(text),
            Some(joined) => {
                let joined = joined.to_mut();
                joined.push_str(FIELD_SEPARATOR);
                joined.push_str(&text);
            }
        }
    }
    joined.ok_or_else(|| no_text(settings))
}

/// The lists that are there, one after the other. One at least must be.
fn items<'a>(
    values: Vec<Option<Value<'a>>>,
    settings: &ReadSettings,
) -> Result<Vec<Cow<'a, str>>, ErrorKind> {
    let mut all: Option<Vec<Cow<'a, str>>> = None;
    for (name, value) in settings.text_fields.iter().zip(values) {
        match value {
            None | Some(Value::Null) => {}
            Some(Value::Items(items)) => all.get_or_insert_default().extend(items),
            Some(other) => return Err(wrong_type(name, "an array of strings", &other)),
        }
    }
    all.ok_or_else(|| no_text(settings))
}

fn no_text(settings: &ReadSettings) -> ErrorKind {
    ErrorKind::FieldMissing(format!(
        "text in the field `{}`",
        settings.text_fields.join("`, `")
    ))
}

/// What is missing, and the fields that are there.
pub(super) fn with_names(kind: ErrorKind, line: &[u8]) -> ErrorKind {
    let ErrorKind::FieldMissing(what) = kind else {
        return kind;
    };
    let fields: BTreeMap<Cow<'_, str>, Option<IgnoredAny>> =
        serde_json::from_slice(line).unwrap_or_default();
    let are_there = fields.iter().filter(|(_, value)| value.is_some());
    let names: Vec<&str> = are_there.map(|(name, _)| &**name).collect();
    ErrorKind::FieldMissing(match names.is_empty() {
        true => what,
        false => excerpt(&format!("{what}; the record has `{}`", names.join("`, `"))),
    })
}

fn wrong_type(field: &str, wanted: &'static str, value: &Value<'_>) -> ErrorKind {
    ErrorKind::FieldType {
        field: field.into(),
        wanted,
        found: value.type_name(),
    }
}

/// What a field holds, as far as it matters.
#[derive(Clone)]
enum Value<'a> {
    Null,
    Text(Cow<'a, str>),
    Items(Vec<Cow<'a, str>>),
    /// As it stands, or as it would be written.
    Number(String),
    /// A number that may have more digits than are known.
    Inexact,
    Other(&'static str),
}

impl Value<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Text(_) => "a string",
            Self::Items(_) => "an array",
            Self::Number(_) | Self::Inexact => "a number",
            Self::Other(name) => name,
        }
    }
}

/// Reads an object and keeps the fields that the settings name.
struct FieldsSeed<'s>(&'s ReadSettings);

impl<'de> DeserializeSeed<'de> for FieldsSeed<'_> {
    type Value = Fields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Fields<'de>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldsSeed<'_> {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let settings = self.0;
        let ids = id_fields(settings);
        let mut fields = Fields {
            ids: vec![None; ids.len()],
            texts: vec![None; settings.text_fields.len()],
        };
        while let Some(KeyText(key)) = map.next_key()? {
            let id = ids.iter().position(|name| *name == key);
            let text = settings.text_fields.iter().position(|name| *name == key);
            if id.is_none() && text.is_none() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value_seed(ValueSeed { depth: 1 })?;
            match (id, text) {
                (None, Some(text)) => fields.texts[text] = Some(value),
                (Some(id), None) => fields.ids[id] = Some(value),
                (Some(id), Some(text)) => {
                    fields.ids[id] = Some(value.clone());
                    fields.texts[text] = Some(value);
                }
                (None, None) => {}
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed where it holds no escapes.
#[derive(serde::Deserialize)]
struct KeyText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads a value, whatever its type, and the elements of arrays to this depth.
struct ValueSeed {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value<'de>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(text.to_owned().into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value<'de>, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value<'de>, E> {
        Ok(Value::Other("a boolean"))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value<'de>, E> {
        Ok(Value::Inexact)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        if self.depth == 0 {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Other("an array"));
        }
        let mut items = Vec::new();
        let mut strange = false;
        while let Some(value) = list.next_element_seed(ValueSeed { depth: 0 })? {
            match value {
                Value::Text(text) => items.push(text),
                _ => strange = true,
            }
        }
        Ok(if strange {
            Value::Other("an array with something else in it")
        } else {
            Value::Items(items)
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other("an object"))
    }
}

/// What serde_json says, without its line and column: a record is one line, and
/// the report has the byte.
fn without_position(error: &serde_json::Error) -> String {
    let position = format!(" at line {} column {}", error.line(), error.column());
    let text = excerpt(error);
    match text.strip_suffix(&position) {
        Some(text) => text.to_owned(),
        None => text,
    }
}
