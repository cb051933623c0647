//! A scan of a line for a few fields, without building anything for the others. It
//! gives up where it is not sure: then the line is malformed, or unusual.

use std::ops::Range;

use memchr::memchr2;

use super::super::utf8;

/// Arrays and objects within each other that are looked into.
const DEPTH_MAX: usize = 32;

/// What a field that is looked for holds.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// It is not there, or null.
    Nothing,
    /// A string.
    Text(Text),
}

/// A string in a line, escaped.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// Without the quotes.
    bytes: Range<usize>,
    /// Which of the scan's escapes are in it.
    escapes: Range<usize>,
}

impl Text {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Looks for fields by their names.
pub(super) struct Scan<'n> {
    names: Vec<&'n str>,
    found: Vec<Found>,
    /// Where escapes start in the line.
    escapes: Vec<usize>,
}

impl<'n> Scan<'n> {
    pub(super) fn new(names: Vec<&'n str>) -> Self {
        Self {
            found: vec![Found::Nothing; names.len()],
            names,
            escapes: Vec::new(),
        }
    }

    /// What each of the fields holds.
    pub(super) fn found(&self) -> &[Found] {
        &self.found
    }

    /// Scans a line that is one object.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<()> {
        self.found.fill(Found::Nothing);
        self.escapes.clear();
        let mut cursor = Cursor { line, at: 0 };
        cursor.eat(b'{')?;
        if !cursor.is_next(b'}') {
            loop {
                self.field(&mut cursor)?;
                if !cursor.is_next(b',') {
                    break;
                }
            }
            cursor.eat(b'}')?;
        }
        cursor.skip_space();
        (cursor.at == line.len()).then_some(())
    }

    fn field(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let first_escape = self.escapes.len();
        cursor.eat(b'"')?;
        let name = cursor.string(&mut self.escapes)?;
        // A name that is written with escapes, or not UTF-8, is unusual.
        let name = utf8::text(&cursor.line[name]).ok()?;
        if self.escapes.len() > first_escape {
            return None;
        }
        cursor.eat(b':')?;
        if !self.names.contains(&name) {
            return cursor.skip_value(0);
        }
        let found = if cursor.is_next(b'"') {
            let bytes = cursor.string(&mut self.escapes)?;
            Found::Text(Text {
                bytes,
                escapes: first_escape..self.escapes.len(),
            })
        } else {
            cursor.eat_all(b"null")?;
            Found::Nothing
        };
        for (wanted, place) in self.names.iter().zip(&mut self.found) {
            if *wanted == name {
                *place = found.clone();
            }
        }
        Some(())
    }

    /// The string that was found, without its escapes; in `room` if it has any.
    pub(super) fn text<'a>(
        &self,
        line: &'a [u8],
        found: &Found,
        room: &'a mut String,
    ) -> Option<&'a str> {
        match found {
            Found::Text(text) if text.escapes.is_empty() => {
                utf8::text(&line[text.bytes.clone()]).ok()
            }
            found => {
                room.clear();
                self.append(line, found, room)?;
                Some(room)
            }
        }
    }

    /// Appends the string that was found, without its escapes.
    pub(super) fn append(&self, line: &[u8], found: &Found, room: &mut String) -> Option<()> {
        let Found::Text(text) = found else {
            return None;
        };
        let raw = utf8::text(&line[text.bytes.clone()]).ok()?;
        let mut done = 0;
        for escape in &self.escapes[text.escapes.clone()] {
            let at = escape - text.bytes.start;
            // The second half of a pair of surrogates went with the first.
            if at < done {
                continue;
            }
            room.push_str(&raw[done..at]);
            let (c, length) = unescaped(&raw.as_bytes()[at..])?;
            room.push(c);
            done = at + length;
        }
        room.push_str(&raw[done..]);
        Some(())
    }
}

/// The character that an escape stands for, and how long the escape is.
fn unescaped(escape: &[u8]) -> Option<(char, usize)> {
    let c = match escape.get(1)? {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => {
            let first = hexadecimal(&escape[2..])?;
            if let Some(c) = char::from_u32(first) {
                return Some((c, 6));
            }
            let second = escape
                .get(6..)?
                .strip_prefix(b"\\u")
                .and_then(hexadecimal)?;
            let pair = [first as u16, second as u16];
            let c = char::decode_utf16(pair).next()?.ok()?;
            return Some((c, 12));
        }
        _ => return None,
    };
    Some((c, 2))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.get(..4)?.iter().try_fold(0, |number, &digit| {
        char::from(digit)
            .to_digit(16)
            .map(|digit| number * 16 + digit)
    })
}

/// A place in a line.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Takes a byte, behind white space, if it is there.
    fn is_next(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        self.is_next(byte).then_some(())
    }

    fn eat_all(&mut self, bytes: &[u8]) -> Option<()> {
        let is_there = self.line[self.at..].starts_with(bytes);
        self.at += bytes.len();
        is_there.then_some(())
    }

    /// The rest of a string, behind its opening quote, and where its escapes start.
    fn string(&mut self, escapes: &mut Vec<usize>) -> Option<Range<usize>> {
        let start = self.at;
        loop {
            let at = self.at + memchr2(b'"', b'\\', &self.line[self.at..])?;
            if self.line[at] == b'"' {
                self.at = at + 1;
                let has_control = self.line[start..at]
                    .iter()
                    .fold(false, |found, &byte| found | (byte < 0x20));
                return (!has_control).then_some(start..at);
            }
            escapes.push(at);
            self.at = at + 2;
            if self.at > self.line.len() {
                return None;
            }
        }
    }

    /// Passes over any value.
    fn skip_value(&mut self, depth: usize) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b'"' => {
                self.at += 1;
                let mut escapes = Vec::new();
                self.string(&mut escapes)?;
                let is_whole = |&at: &usize| unescaped(&self.line[at..]).is_some();
                escapes.iter().all(is_whole).then_some(())
            }
            b't' => self.eat_all(b"true"),
            b'f' => self.eat_all(b"false"),
            b'n' => self.eat_all(b"null"),
            b'{' if depth < DEPTH_MAX => {
                self.at += 1;
                self.skip_list(b'}', |cursor| {
                    cursor.eat(b'"')?;
                    cursor.at -= 1;
                    cursor.skip_value(depth)?;
                    cursor.eat(b':')?;
                    cursor.skip_value(depth + 1)
                })
            }
            b'[' if depth < DEPTH_MAX => {
                self.at += 1;
                self.skip_list(b']', |cursor| cursor.skip_value(depth + 1))
            }
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => None,
        }
    }

    fn skip_list(&mut self, end: u8, element: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        if self.is_next(end) {
            return Some(());
        }
        loop {
            element(self)?;
            if !self.is_next(b',') {
                return self.eat(end);
            }
        }
    }

    fn skip_number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.skip_digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.skip_digits()?;
        }
        Some(())
    }

    fn skip_digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
