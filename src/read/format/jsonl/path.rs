//! Names of fields: a key of the record, or with dots between them, keys of objects within it.
//! A key that has the dots itself comes first.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What the field of that name holds, as it stands. The last of several counts, as everywhere.
pub(in crate::read) fn find<'a>(object: &'a [u8], name: &str) -> Option<&'a RawValue> {
    let mut json = serde_json::Deserializer::from_slice(object);
    let Found { whole, mut within } = json.deserialize_map(Find(name)).ok()?;
    if whole.is_some() {
        return whole;
    }
    // The longest key first: it has the most of the dots.
    within.sort_by_key(|&(length, _)| std::cmp::Reverse(length));
    within
        .into_iter()
        .find_map(|(length, value)| find(value.get().as_bytes(), &name[length + 1..]))
}

/// What may be meant in an object.
#[derive(Default)]
struct Found<'a> {
    whole: Option<&'a RawValue>,
    /// Values whose keys the name starts with, and how long the keys are.
    within: Vec<(usize, &'a RawValue)>,
}

struct Find<'n>(&'n str);

impl<'de> Visitor<'de> for Find<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Found::default();
        while let Some(Key(key)) = map.next_key()? {
            match self.0.strip_prefix(&*key) {
                Some("") => found.whole = Some(map.next_value()?),
                Some(rest) if rest.starts_with('.') => {
                    let value = map.next_value()?;
                    found.within.retain(|&(length, _)| length != key.len());
                    found.within.push((key.len(), value));
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

/// A key, borrowed where it holds no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(object: &str, name: &str) -> Option<String> {
        find(object.as_bytes(), name).map(|raw| raw.get().to_owned())
    }

    #[test]
    fn dots_lead_into_objects_and_keys_with_dots_come_first() {
        let object = r#"{"a":{"b":1,"b.c":2,"b":{"c":3,"d":[4]}},"a.b":{"c":5,"e":6},"x.y":7}"#;
        for (name, value) in [
            ("a.b.c", Some("5")),
            ("a.b.e", Some("6")),
            ("a.b.d", Some("[4]")),
            ("x.y", Some("7")),
            ("a.b.x", None),
            ("a.b.d.0", None),
            ("x", None),
            ("", None),
            (".", None),
            ("a.", None),
        ] {
            assert_eq!(found(object, name).as_deref(), value, "{name}");
        }
        assert_eq!(found(r#"{"a":{"b.c":2}}"#, "a.b.c").as_deref(), Some("2"));
        assert_eq!(found(r#"{"":{"":8}}"#, ".").as_deref(), Some("8"));
        assert_eq!(found(r#"{"a":1,"a":2}"#, "a").as_deref(), Some("2"));
        assert_eq!(found("[1]", "a"), None);
    }

    /// The same over values that are taken apart, key by key from the longest.
    fn plain(value: &serde_json::Value, name: &str) -> Option<serde_json::Value> {
        let object = value.as_object()?;
        if let Some(value) = object.get(name) {
            return Some(value.clone());
        }
        let dots = name.char_indices().filter(|&(_, c)| c == '.').rev();
        dots.filter_map(|(dot, _)| plain(object.get(&name[..dot])?, &name[dot + 1..]))
            .next()
    }

    proptest! {
        #[test]
        fn any_name_in_any_object(
            keys in proptest::collection::vec("[ab.]{0,3}", 1..4),
            inner in proptest::collection::vec("[ab.]{0,2}", 0..4),
            name in "[ab.]{0,6}",
        ) {
            let leaf: serde_json::Map<_, _> =
                inner.iter().map(|key| (key.clone(), key.clone().into())).collect();
            let object: serde_json::Map<_, _> =
                keys.iter().map(|key| (key.clone(), leaf.clone().into())).collect();
            let object = serde_json::Value::Object(object);
            let text = object.to_string();
            let expected = plain(&object, &name).map(|value| value.to_string());
            prop_assert_eq!(found(&text, &name), expected);
        }
    }
}
