//! Which columns of a file count, and for what.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::SchemaDescriptor;

use super::super::jsonl::ID_FIELDS;
use crate::error::{ErrorKind, excerpt};
use crate::read::ReadSettings;

/// Columns that are read, and what each stands for, by its place among them.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) leaves: Vec<usize>,
    pub(super) ids: Vec<usize>,
    pub(super) texts: Vec<usize>,
    pub(super) value: Option<usize>,
    pub(super) party: Option<usize>,
}

/// What a column is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Id,
    Text,
    Value,
}

impl Columns {
    pub(super) fn find(
        schema: &SchemaDescriptor,
        settings: &ReadSettings,
    ) -> Result<Self, ErrorKind> {
        let names: Vec<String> = (0..schema.num_columns())
            .map(|leaf| name(schema, leaf))
            .collect();
        let mut leaves: Vec<usize> = Vec::new();
        let mut add = |name: &str, wanted: Use| -> Result<Option<usize>, ErrorKind> {
            let Some(leaf) = names.iter().position(|leaf| leaf == name) else {
                let is_inside = |leaf: &&String| {
                    leaf.strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with('.'))
                };
                let Some(inside) = names.iter().find(is_inside) else {
                    return Ok(None);
                };
                let what = format!("column `{name}` itself; there is `{inside}`");
                return Err(ErrorKind::FieldMissing(excerpt(&what)));
            };
            let column = schema.column(leaf);
            let is_list = column.max_rep_level() > 0;
            let is_readable = match column.physical_type() {
                Type::BYTE_ARRAY => wanted == Use::Text || !is_list,
                Type::INT32 | Type::INT64 => wanted != Use::Text && !is_list,
                Type::FLOAT | Type::DOUBLE => wanted == Use::Value && !is_list,
                _ => false,
            };
            if !is_readable {
                let what = match is_list {
                    false => format!("column `{name}` is {}", column.physical_type()),
                    true => format!("column `{name}` is a list of {}", column.physical_type()),
                };
                return Err(ErrorKind::Parquet(format!("{what}, not a string")));
            }
            let place = leaves.iter().position(|&known| known == leaf);
            Ok(Some(place.unwrap_or_else(|| {
                leaves.push(leaf);
                leaves.len() - 1
            })))
        };
        let missing = |missing: &str| {
            let what = format!("column `{missing}`; the file has `{}`", names.join("`, `"));
            ErrorKind::FieldMissing(excerpt(&what))
        };
        let mut texts = Vec::new();
        for name in &settings.text_fields {
            texts.extend(add(name, Use::Text)?.filter(|place| !texts.contains(place)));
        }
        let mut ids = Vec::new();
        match &settings.id_field {
            Some(name) => ids.push(add(name, Use::Id)?.ok_or_else(|| missing(name))?),
            None => {
                for name in ID_FIELDS {
                    ids.extend(add(name, Use::Id)?);
                }
            }
        }
        let mut value = |field: &Option<String>| match field {
            Some(name) => add(name, Use::Value),
            None => Ok(None),
        };
        let (value, party) = (value(&settings.value_field)?, value(&settings.party_field)?);
        if texts.is_empty() {
            return Err(missing(&settings.text_fields.join("`, `")));
        }
        Ok(Self {
            leaves,
            ids,
            texts,
            value,
            party,
        })
    }
}

/// The name of a column, as whoever wrote the table knows it: without the two levels that the
/// format has below each list.
fn name(schema: &SchemaDescriptor, leaf: usize) -> String {
    let column = schema.column(leaf);
    let parts = column.path().parts();
    let mut names: Vec<&str> = Vec::new();
    let mut group = schema.root_schema();
    let mut unnamed = 0;
    for part in parts {
        let Some(field) = group.get_fields().iter().find(|field| field.name() == part) else {
            // Nothing is known of what is below.
            return column.path().string();
        };
        match unnamed {
            0 => names.push(part),
            _ => unnamed -= 1,
        }
        if field.is_group() {
            let info = field.get_basic_info();
            let is_list = info.converted_type() == ConvertedType::LIST
                || info.logical_type_ref() == Some(&LogicalType::List);
            if is_list {
                // Some old writers have one level.
                let inner = field.get_fields().first();
                unnamed = 1 + usize::from(inner.is_some_and(|inner| inner.is_group()));
            }
            group = field;
        }
    }
    names.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    fn schema(fields: &str) -> SchemaDescriptor {
        let message = parse_message_type(&format!("message m {{ {fields} }}")).unwrap();
        SchemaDescriptor::new(Arc::new(message))
    }

    #[test]
    fn lists_have_the_name_of_the_list() {
        for (fields, expected) in [
            ("optional binary text (UTF8);", "text"),
            (
                "optional group meta { optional binary a (UTF8); }",
                "meta.a",
            ),
            (
                "optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }",
                "tags",
            ),
            (
                "optional group tags (LIST) { repeated binary array (UTF8); }",
                "tags",
            ),
            ("repeated binary tags (UTF8);", "tags"),
            (
                "optional group talk (LIST) { repeated group list { optional group element { \
                 optional binary said (UTF8); } } }",
                "talk.said",
            ),
            (
                "optional group a { optional group b (LIST) { repeated group bag { optional \
                 binary array_element (UTF8); } } }",
                "a.b",
            ),
        ] {
            assert_eq!(name(&schema(fields), 0), expected, "{fields}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_by_its_name() {
        let schema = schema(
            "optional binary text (UTF8); optional group n (LIST) { repeated group list { optional \
             int32 element; } } optional binary id (UTF8); optional group l (LIST) { repeated \
             group list { optional binary element (UTF8); } }",
        );
        let find = |text: &str, id: Option<&str>| {
            let settings = ReadSettings {
                text_fields: vec![text.into()],
                id_field: id.map(str::to_owned),
                ..ReadSettings::default()
            };
            Columns::find(&schema, &settings).map_err(|kind| kind.to_string())
        };
        assert_eq!(find("l", None).unwrap().leaves, [3, 2]);
        for (text, id, expected) in [
            ("n", None, "column `n` is a list of INT32, not a string"),
            ("text", Some("l"), "column `l` is a list of BYTE_ARRAY"),
            ("x", None, "no column `x`; the file has `text`, `n`"),
        ] {
            let told = find(text, id).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }
}
