//! A JSON object a line, the id and the text in fields that can be named.
//!
//! A line is first scanned for just those fields; what the scan is not sure of goes
//! to the general path, which any line may take and gives the same.

mod general;
pub(in crate::read) mod path;
mod scan;
pub(in crate::read) mod value;

use std::borrow::Cow;

use super::content::are_pages;
use super::lines::{Line, cut_at_line_end, for_each_line};
use crate::document::{Content, Document};
use crate::error::Error;
use crate::read::cut::blocks::Block;
use crate::read::format::{Cut, Format, Head};
use crate::read::{FIELD_SEPARATOR, ReadSettings};
use general::Fields;
use scan::{Found, Scan};

/// Where an id is looked for unless a field is named.
pub(in crate::read) const ID_FIELDS: [&str; 2] = ["url", "id"];

pub(in crate::read) struct Jsonl;

impl Format for Jsonl {
    fn cut(&self, bytes: &[u8], ended: bool, _: &Head) -> Cut {
        cut_at_line_end(bytes, ended)
    }

    fn record_end(&self) -> Option<u8> {
        Some(b'\n')
    }

    fn records(&self, block: &Block<'_>, each: &mut dyn FnMut(&[u8])) {
        for_each_line(block, |line| {
            if !line.text.trim_ascii().is_empty() {
                each(line.whole);
            }
        });
    }

    fn documents(
        &self,
        block: &Block<'_>,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        let mut fast = Fast::new(settings);
        for_each_line(
            block,
            |Line {
                 record,
                 start,
                 text,
                 whole,
             }| {
                if text.trim_ascii().is_empty() {
                    return;
                }
                let place = || block.place_id(record);
                let complete = |document| Document {
                    record: whole,
                    number: record,
                    value: value::read(text, &settings.value_field),
                    party: value::read(text, &settings.party_field),
                    ..document
                };
                if let Some(document) = fast.document(text, place) {
                    each(Ok(complete(document)));
                    return;
                }
                each(match Fields::read(text, settings) {
                    Ok(fields) => fields
                        .document(settings, place)
                        .map(complete)
                        .map_err(|kind| {
                            block.error(record, start, general::with_names(kind, text))
                        }),
                    Err((byte, kind)) => Err(block.error(record, start + byte, kind)),
                });
            },
        );
    }
}

/// A bit for each field that is there, by the place where it is named first.
fn fields_of(are_there: impl Iterator<Item = (usize, bool)>) -> u64 {
    let bits = are_there.filter(|&(place, _)| place < 64);
    bits.fold(0, |fields, (place, is_there)| {
        fields | u64::from(is_there) << place
    })
}

fn id_fields(settings: &ReadSettings) -> Vec<&str> {
    match &settings.id_field {
        Some(name) => vec![name],
        None => ID_FIELDS.to_vec(),
    }
}

/// Documents from scanned lines, with room that is kept from line to line.
struct Fast<'s> {
    settings: &'s ReadSettings,
    /// Looks for the ids, then the texts.
    scan: Scan<'s>,
    ids: usize,
    /// Where each text field is named first.
    places: Vec<usize>,
    /// Whether fields may be in objects within the line.
    is_within: bool,
    /// The texts of several fields.
    joined: String,
}

impl<'s> Fast<'s> {
    fn new(settings: &'s ReadSettings) -> Self {
        let mut names = id_fields(settings);
        let ids = names.len();
        let mut places = Vec::new();
        for (place, name) in settings.text_fields.iter().enumerate() {
            // A field that is named twice counts once.
            if !names[ids..].contains(&name.as_str()) {
                names.push(name);
                places.push(place);
            }
        }
        Self {
            settings,
            is_within: names.iter().any(|name| name.contains('.')),
            scan: Scan::new(names),
            ids,
            places,
            joined: String::new(),
        }
    }

    /// The line's document, or `None` if the general path must look at it.
    fn document<'a>(
        &'a mut self,
        line: &'a [u8],
        place: impl FnOnce() -> String,
    ) -> Option<Document<'a>> {
        if self.settings.items || self.is_within || are_pages(self.settings) {
            return None;
        }
        if self.scan.line(line).is_none() {
            self.scan.trim();
            return None;
        }
        let (ids, texts) = self.scan.found().split_at(self.ids);
        let text_of = |found: &Found| self.scan.text(line, found);
        let is_there = |found: &&Found| !matches!(found, Found::Nothing);
        let is_empty = |found: &&Found| matches!(found, Found::Plain(text) if text.is_empty());
        // One that is not used is looked at all the same: it must be text.
        for found in ids.iter().filter(is_there) {
            text_of(found)?;
        }
        let mut ids = ids.iter().filter(is_there).filter(|found| !is_empty(found));
        let url: Cow<'_, str> = match ids.next() {
            Some(found) => text_of(found)?.into(),
            None if self.settings.id_field.is_none() => place().into(),
            None => return None,
        };
        let fields = fields_of(
            self.places
                .iter()
                .copied()
                .zip(texts.iter().map(|found| is_there(&found))),
        );
        let mut texts = texts.iter().filter(is_there);
        let first = text_of(texts.next()?)?;
        let mut rest = texts.peekable();
        let text = if rest.peek().is_none() {
            first
        } else {
            self.joined.clear();
            self.joined.push_str(first);
            for found in rest {
                self.joined.push_str(FIELD_SEPARATOR);
                self.joined.push_str(text_of(found)?);
            }
            &self.joined
        };
        Some(Document {
            fields,
            ..Document::new(url, Content::Text(text.into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settings(id: Option<&str>, texts: &str) -> ReadSettings {
        ReadSettings {
            id_field: id.map(str::to_owned),
            text_fields: texts.split(',').map(str::to_owned).collect(),
            ..ReadSettings::default()
        }
    }

    fn all_settings() -> [ReadSettings; 3] {
        [
            settings(None, "text"),
            settings(Some("id"), "text,title"),
            settings(Some("text"), "text,text,é"),
        ]
    }

    /// Whether the scan takes the line; if so, it gives what the general path gives.
    fn same(line: &[u8], settings: &ReadSettings) -> bool {
        let place = || "place".to_owned();
        let mut fast = Fast::new(settings);
        let Some(fast) = fast.document(line, place) else {
            return false;
        };
        let general = Fields::read(line, settings)
            .ok()
            .and_then(|fields| fields.document(settings, place).ok());
        assert_eq!(Some(fast), general, "{}", String::from_utf8_lossy(line));
        true
    }

    #[test]
    fn ordinary_lines_need_no_general_path() {
        let [plain, two, _] = all_settings();
        for line in [
            r#"{"url":"a","text":"b"}"#,
            r#" { "url" : "a\/\u00e9" , "text" : "\"b\"\n\ud83d\ude00 ж" , "n": -1.5e+3 } "#,
            r#"{"text":"no id","meta":{"a":[1,{"b":"\\"}],"c":null},"x":[],"y":{},"z":true}"#,
            r#"{"id":"x","title":null,"text":"","url":""}"#,
        ] {
            assert!(same(line.as_bytes(), &plain), "{line}");
        }
        let line = r#"{"id":"x","title":"second\t","text":"first"}"#;
        assert!(same(line.as_bytes(), &two));
    }

    #[test]
    fn doubtful_lines_take_it() {
        let [plain, two, _] = all_settings();
        for line in [
            "",
            "{",
            "[]",
            r#"{"url":"a"}"#,
            r#"{"url":1,"text":"b"}"#,
            r#"{"url":"a","text":"\ud83d"}"#,
            r#"{"url":"a","text":"\x"}"#,
            r#"{"url":"a","text":"b"}}"#,
            r#"{"url":"a","text":"b",}"#,
            r#"{"url":"a","text":"b","n":01}"#,
            r#"{"url":"a","text":"b","n":1.}"#,
            r#"{"url":"a","text":"b","n":nul}"#,
            r#"{"url":"a","text":"b","n":[1,]}"#,
            "{\"url\":\"a\",\"text\":\"b\u{7}\"}",
            "{\"url\":\"a\",\"id\":1,\"text\":\"b\"}",
        ] {
            assert!(!same(line.as_bytes(), &plain), "{line}");
        }
        assert!(!same(b"{\"url\":\"a\",\"text\":\"\xff\"}", &plain));
        assert!(!same(
            b"{\"url\":\"a\",\"id\":\"\xff\",\"text\":\"b\"}",
            &plain
        ));
        assert!(!same(br#"{"url":"a","text":"b"}"#, &two));
    }

    #[test]
    fn a_field_that_comes_again_is_no_text_before() {
        let [plain, ..] = all_settings();
        for line in [
            &b"{\"text\":\"\x80\",\"text\":\"A\"}"[..],
            b"{\"text\":\"A\",\"text\":\"\x80\",\"text\":null}",
        ] {
            assert!(!same(line, &plain));
            assert!(Fields::read(line, &plain).is_err());
        }
    }

    fn json() -> impl Strategy<Value = String> {
        let string = prop_oneof!["\\PC{0,80}", "[a-z\\n\"\\\\/\u{8}é😀]{0,90}",]
            .prop_map(|text| serde_json::to_string(&text).unwrap());
        let leaf = prop_oneof![
            4 => string.clone(),
            1 => Just(r#""\ud83d\ude00\u0041\/\b\f""#.to_owned()),
            1 => "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
            1 => "true|false|null",
        ];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            let members = proptest::collection::vec(("[a-c]{0,2}", inner.clone()), 0..3);
            prop_oneof![
                proptest::collection::vec(inner, 0..3)
                    .prop_map(|list| format!("[{}]", list.join(" ,"))),
                members.prop_map(|members| {
                    let members: Vec<String> = members
                        .iter()
                        .map(|(name, value)| format!("\"{name}\": {value}"))
                        .collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        });
        let name = prop_oneof![
            "url|id|text|title|é|x",
            string.prop_map(|s| s[1..s.len() - 1].to_owned())
        ];
        proptest::collection::vec((name, value, "[ \t]?"), 0..6).prop_map(|fields| {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value, space)| format!("{space}\"{name}\":{space}{value}{space}"))
                .collect();
            format!("{{{}}}", fields.join(","))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn the_scan_finds_what_the_general_path_finds(
            line in json(),
            spoiled in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut line = line.into_bytes();
            if let Some((place, byte)) = spoiled {
                let place = place.index(line.len());
                line[place] = byte;
            }
            for settings in all_settings() {
                same(&line, &settings);
            }
        }
    }
}
