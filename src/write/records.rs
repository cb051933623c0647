//! Records as they came, one after the other.

use std::fmt;
use std::io::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::jsonl::json_string;
use crate::read::InputFormat;

/// The mark that some programs put before text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The fields that annotation adds.
const IS_NEAR_DUPLICATE: &str = "isNearDuplicate";
const NEAR_DUPLICATE: &str = "nearDuplicate";

/// Records one after the other, so that they can be read again.
#[derive(Default)]
pub(crate) struct RecordLines {
    /// Whether the last record had no line end.
    is_open: bool,
    has_any: bool,
}

impl RecordLines {
    /// Writes what stands before the first record, if there is anything.
    pub(crate) fn head(
        &mut self,
        format: InputFormat,
        head: &[u8],
        output: &mut dyn Write,
    ) -> io::Result<()> {
        match head {
            [] => Ok(()),
            head => self.record(format, head, output),
        }
    }

    /// Writes a record, byte for byte. Only what would spoil it among others is mended:
    /// a line end that is missing before the next line, a byte order mark that is no
    /// longer at the start.
    pub(crate) fn record(
        &mut self,
        format: InputFormat,
        record: &[u8],
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let is_lines = !matches!(format, InputFormat::Protobuf | InputFormat::Warc);
        if self.is_open && is_lines {
            output.write_all(b"\n")?;
        }
        let record = match is_lines && self.has_any {
            true => record.strip_prefix(BYTE_ORDER_MARK).unwrap_or(record),
            false => record,
        };
        output.write_all(record)?;
        let is_ended = match format {
            InputFormat::Csv => matches!(record, [.., b'\n' | b'\r']),
            _ => record.ends_with(b"\n"),
        };
        if format == InputFormat::Warc {
            // Each can then be found and unpacked by itself.
            output.flush()?;
        }
        self.is_open = is_lines && !is_ended;
        self.has_any = true;
        Ok(())
    }
}

/// Writes records to one output.
pub(crate) struct RecordWriter<'a> {
    output: &'a mut (dyn Write + Send),
    lines: RecordLines,
}

impl<'a> RecordWriter<'a> {
    /// Writes to `output`.
    pub(crate) fn new(output: &'a mut (dyn Write + Send)) -> Self {
        Self {
            output,
            lines: RecordLines::default(),
        }
    }

    /// Writes what stands before the first record, if there is anything.
    pub(crate) fn head(&mut self, format: InputFormat, head: &[u8]) -> io::Result<()> {
        self.lines.head(format, head, self.output)
    }

    /// Writes a record.
    pub(crate) fn record(&mut self, format: InputFormat, record: &[u8]) -> io::Result<()> {
        self.lines.record(format, record, self.output)
    }

    /// Writes a JSON object with what is similar to it, a list of ids and scores.
    pub(crate) fn annotated(
        &mut self,
        record: &[u8],
        similar: &[(&str, String)],
    ) -> io::Result<()> {
        let record = record
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(record)
            .trim_ascii();
        let cleaned = without_annotation(record);
        let object = cleaned.as_deref().unwrap_or(record);
        let fields = object.strip_suffix(b"}").unwrap_or(object).trim_ascii_end();
        let mut line = fields.to_vec();
        if !fields.ends_with(b"{") {
            line.push(b',');
        }
        write!(
            line,
            "\"{IS_NEAR_DUPLICATE}\":{},\"{NEAR_DUPLICATE}\":[",
            !similar.is_empty()
        )?;
        for (index, (url, score)) in similar.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(line, "{comma}{{\"url\":")?;
            json_string(url, &mut line);
            write!(line, ",\"score\":{score}}}")?;
        }
        line.extend_from_slice(b"]}\n");
        self.output.write_all(&line)
    }
}

/// Writes a JSON object with what is similar to it, a list of ids and scores, as a line.
pub fn write_annotated(
    record: &[u8],
    similar: &[(&str, String)],
    output: &mut (dyn Write + Send),
) -> io::Result<()> {
    RecordWriter::new(output).annotated(record, similar)
}

/// The object without the fields that an earlier annotation left, if it has them; the
/// others as they were, but for white space between them.
fn without_annotation(record: &[u8]) -> Option<Vec<u8>> {
    let is_annotation = |name: &str| name == IS_NEAR_DUPLICATE || name == NEAR_DUPLICATE;
    let has = |name: &str| memchr::memmem::find(record, name.as_bytes()).is_some();
    if !has(IS_NEAR_DUPLICATE) && !has(NEAR_DUPLICATE) {
        return None;
    }
    let Fields(fields) = serde_json::from_slice(record).ok()?;
    if !fields.iter().any(|(name, _)| is_annotation(name)) {
        return None;
    }
    let mut object = b"{".to_vec();
    for (name, value) in fields.iter().filter(|(name, _)| !is_annotation(name)) {
        if object.len() > 1 {
            object.push(b',');
        }
        json_string(name, &mut object);
        object.push(b':');
        object.extend_from_slice(value.get().as_bytes());
    }
    object.push(b'}');
    Some(object)
}

/// An object's fields in their order, values as they are written.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(records: &[&[u8]]) -> Vec<u8> {
        let mut out = vec![];
        let mut writer = RecordWriter::new(&mut out);
        for record in records {
            writer.record(InputFormat::Jsonl, record).unwrap();
        }
        out
    }

    #[test]
    fn records_stay_as_they_are_and_apart() {
        assert_eq!(written(&[b"{}\r\n", b" {} \n", b"{}"]), b"{}\r\n {} \n{}");
        assert_eq!(written(&[b"{}", b"\xef\xbb\xbf{}\n"]), b"{}\n{}\n");
        assert_eq!(written(&[b"\xef\xbb\xbf{}\n"]), b"\xef\xbb\xbf{}\n");
    }

    #[test]
    fn annotation_is_added_and_renewed() {
        let annotated = |record: &[u8], similar: &[(&str, String)]| {
            let mut out = vec![];
            RecordWriter::new(&mut out)
                .annotated(record, similar)
                .unwrap();
            String::from_utf8(out).unwrap()
        };
        let none = "\"isNearDuplicate\":false,\"nearDuplicate\":[]}\n";
        assert_eq!(annotated(b"{ }\n", &[]), format!("{{{none}"));
        assert_eq!(
            annotated(b"{\"a\": 1 } \r\n", &[]),
            format!("{{\"a\": 1,{none}")
        );
        let one = annotated(b"{\"a\":1}", &[("x\"", "0.9".into())]);
        let expected =
            r#"{"a":1,"isNearDuplicate":true,"nearDuplicate":[{"url":"x\"","score":0.9}]}"#;
        assert_eq!(one.trim_end(), expected);
        assert_eq!(annotated(one.as_bytes(), &[]), format!("{{\"a\":1,{none}"));
        let odd = br#"{"z":12345678901234567890123,"isNearDuplicate":0,"b":1e400,"b":0.10}"#;
        let kept = r#"{"z":12345678901234567890123,"b":1e400,"b":0.10,"#;
        assert_eq!(annotated(odd, &[]), format!("{kept}{none}"));
    }
}
