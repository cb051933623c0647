//! Where the fields and records of CSV end: as in RFC 4180, and for what is not in it as
//! Python's `csv` has it. A field that starts with a quote ends behind the next single one,
//! and what follows it up to the delimiter belongs to it; a quote elsewhere is a character as
//! any other. A record ends with LF, CR LF or CR.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

/// Around fields that hold delimiters, line ends or quotes.
const QUOTE: u8 = b'"';

/// A field as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// Without the quotes around it.
    quoted: &'a [u8],
    /// Whether quotes in it are doubled.
    has_doubled: bool,
    /// What stands outside of quotes.
    plain: &'a [u8],
}

impl<'a> Field<'a> {
    /// What it holds.
    pub(super) fn value(&self) -> Cow<'a, [u8]> {
        match (self.quoted, self.plain) {
            (quoted, []) if !self.has_doubled => quoted.into(),
            ([], plain) => plain.into(),
            (quoted, plain) => {
                let mut value = Vec::with_capacity(quoted.len() + plain.len());
                let mut rest = quoted;
                while let Some(at) = memchr(QUOTE, rest) {
                    value.extend_from_slice(&rest[..=at]);
                    rest = &rest[(at + 2).min(rest.len())..];
                }
                value.extend_from_slice(rest);
                value.extend_from_slice(plain);
                value.into()
            }
        }
    }
}

/// What a field ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Delimiter,
    /// The record ends with it.
    Line,
    /// There is nothing more.
    Bytes,
    /// There is nothing more, and its quote was not closed.
    OpenQuote,
}

/// The field that starts at `start`, what ends it, and where the next one starts.
pub(super) fn field(bytes: &[u8], start: usize, delimiter: u8) -> (Field<'_>, End, usize) {
    let mut field = Field {
        quoted: &[],
        has_doubled: false,
        plain: &[],
    };
    let mut at = start;
    if bytes.get(start) == Some(&QUOTE) {
        let inside = start + 1;
        at = inside;
        loop {
            let Some(quote) = memchr(QUOTE, &bytes[at..]) else {
                field.quoted = &bytes[inside..];
                return (field, End::OpenQuote, bytes.len());
            };
            at += quote + 1;
            if bytes.get(at) != Some(&QUOTE) {
                break;
            }
            field.has_doubled = true;
            at += 1;
        }
        field.quoted = &bytes[inside..at - 1];
    }
    let Some(length) = memchr3(delimiter, b'\n', b'\r', &bytes[at..]) else {
        field.plain = &bytes[at..];
        return (field, End::Bytes, bytes.len());
    };
    let end = at + length;
    field.plain = &bytes[at..end];
    match bytes[end..] {
        [byte, ..] if byte == delimiter => (field, End::Delimiter, end + 1),
        [b'\r', b'\n', ..] => (field, End::Line, end + 2),
        _ => (field, End::Line, end + 1),
    }
}

/// Where the record that starts at `start` ends. `None` if its end is not there.
pub(super) fn record_end(bytes: &[u8], start: usize, delimiter: u8, ended: bool) -> Option<usize> {
    let mut at = start;
    loop {
        let (_, end, next) = field(bytes, at, delimiter);
        match end {
            End::Delimiter => at = next,
            // LF may follow.
            End::Line if !ended && next == bytes.len() && bytes[next - 1] == b'\r' => return None,
            End::Line => return Some(next),
            End::Bytes | End::OpenQuote => return ended.then_some(bytes.len()),
        }
    }
}

/// Where the next record starts, lines with nothing on them passed over.
pub(super) fn behind_blank(bytes: &[u8], start: usize) -> usize {
    let blank = bytes[start..]
        .iter()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'));
    start + blank.count()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All records by a table of states, a byte at a time: the reader of Python's `csv` for
    /// its default dialect, without blank lines.
    pub(in super::super) fn plain(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        #[derive(PartialEq)]
        enum State {
            Start,
            Plain,
            Quoted,
            QuoteInQuoted,
        }
        let mut records = vec![];
        let (mut record, mut field): (Vec<Vec<u8>>, Vec<u8>) = (vec![], vec![]);
        let mut state = State::Start;
        let mut is_blank = true;
        let mut end = |record: &mut Vec<_>, field: &mut Vec<_>, is_blank: &mut bool| {
            if !*is_blank {
                record.push(std::mem::take(field));
                records.push(std::mem::take(record));
            }
            *is_blank = true;
        };
        for &byte in bytes {
            let is_line_end = matches!(byte, b'\n' | b'\r');
            state = match state {
                State::Quoted if byte == b'"' => State::QuoteInQuoted,
                State::Quoted => {
                    field.push(byte);
                    State::Quoted
                }
                State::QuoteInQuoted if byte == b'"' => {
                    field.push(byte);
                    State::Quoted
                }
                _ if is_line_end => {
                    end(&mut record, &mut field, &mut is_blank);
                    State::Start
                }
                _ if byte == delimiter => {
                    record.push(std::mem::take(&mut field));
                    is_blank = false;
                    State::Start
                }
                State::Start if byte == b'"' => {
                    is_blank = false;
                    State::Quoted
                }
                _ => {
                    is_blank = false;
                    field.push(byte);
                    State::Plain
                }
            };
        }
        end(&mut record, &mut field, &mut is_blank);
        records
    }

    fn fast(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut records = vec![];
        let mut at = behind_blank(bytes, 0);
        while at < bytes.len() {
            let end = record_end(bytes, at, delimiter, true).unwrap();
            let mut record = vec![];
            loop {
                let (field, how, next) = field(bytes, at, delimiter);
                record.push(field.value().into_owned());
                at = next;
                if how != End::Delimiter {
                    break;
                }
            }
            assert_eq!(at, end);
            records.push(record);
            at = behind_blank(bytes, at);
        }
        records
    }

    /// As `csv.reader` of Python 3.11 gives them.
    #[test]
    fn quotes_and_line_ends_are_as_python_has_them() {
        for (text, expected) in [
            ("a,b\r\nc,d\n", vec![vec!["a", "b"], vec!["c", "d"]]),
            ("a\rb\r\rc", vec![vec!["a"], vec!["b"], vec!["c"]]),
            ("\"a\nb\",\"c\"\"d\"\n", vec![vec!["a\nb", "c\"d"]]),
            ("a\"b\"c,d\"\n", vec![vec!["a\"b\"c", "d\""]]),
            ("\"a\"b\"c,d\n", vec![vec!["ab\"c", "d"]]),
            ("\"a\" ,b\n", vec![vec!["a ", "b"]]),
            (" \"a\",b\n", vec![vec![" \"a\"", "b"]]),
            (",\n,,", vec![vec!["", ""], vec!["", "", ""]]),
            ("\"\"\n\"\"\"\"\n", vec![vec![""], vec!["\""]]),
            ("\"a,b\n", vec![vec!["a,b\n"]]),
            ("\"a\"\"", vec![vec!["a\""]]),
        ] {
            let expected: Vec<Vec<Vec<u8>>> = expected
                .into_iter()
                .map(|record| {
                    record
                        .into_iter()
                        .map(|field| field.as_bytes().to_vec())
                        .collect()
                })
                .collect();
            assert_eq!(fast(text.as_bytes(), b','), expected, "{text:?}");
            assert_eq!(plain(text.as_bytes(), b','), expected, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn records_are_those_of_the_plain_reader(text in "[a,;\"\r\n]{0,30}") {
            prop_assert_eq!(fast(text.as_bytes(), b','), plain(text.as_bytes(), b','));
            prop_assert_eq!(fast(text.as_bytes(), b';'), plain(text.as_bytes(), b';'));
        }

        /// What is told of a part stays so when the rest comes.
        #[test]
        fn a_record_ends_where_it_ends_in_the_whole(text in "[a,\"\r\n]{0,30}", part in 0..30_usize) {
            let bytes = text.as_bytes();
            let part = part.min(bytes.len());
            if let Some(end) = record_end(&bytes[..part], 0, b',', false) {
                prop_assert_eq!(record_end(bytes, 0, b',', true), Some(end));
            }
        }
    }
}
