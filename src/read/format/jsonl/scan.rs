//! A scan of a line for a few fields, without building anything for the others. It
//! gives up where it is not sure: then the line is malformed, or unusual.

use std::ops::Range;

use memchr::memchr2;

use crate::read::cut::buffer::trim;
use crate::read::text::utf8;
use crate::simd::{self, BLOCK, Masks, Work};

/// Arrays and objects within each other that are looked into.
const DEPTH_MAX: usize = 32;

/// What a field that is looked for holds.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// It is not there, or null.
    Nothing,
    /// A string as it stands in the line.
    Plain(Range<usize>),
    /// A string that had escapes, now among the unescaped.
    Unescaped(Range<usize>),
}

/// Looks for fields by their names.
pub(super) struct Scan<'n> {
    names: Vec<&'n str>,
    found: Vec<Found>,
    unescaped: Vec<u8>,
}

impl<'n> Scan<'n> {
    pub(super) fn new(names: Vec<&'n str>) -> Self {
        Self {
            found: vec![Found::Nothing; names.len()],
            names,
            unescaped: Vec::new(),
        }
    }

    /// What each of the fields holds.
    pub(super) fn found(&self) -> &[Found] {
        &self.found
    }

    /// Gives back what a huge line took.
    pub(super) fn trim(&mut self) {
        trim(&mut self.unescaped);
    }

    /// Scans a line that is one object.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<()> {
        self.found.fill(Found::Nothing);
        self.unescaped.clear();
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
        cursor.eat(b'"')?;
        let name = cursor.plain_string()?;
        let name = utf8::text(&cursor.line[name]).ok()?;
        cursor.eat(b':')?;
        if !self.names.contains(&name) {
            return cursor.skip_value(0);
        }
        let found = if cursor.is_next(b'"') {
            let start = self.unescaped.len();
            let string = simd::run(StringScan {
                line: cursor.line,
                at: cursor.at,
                out: &mut self.unescaped,
            })?;
            cursor.at = string.end + 1;
            match self.unescaped.len() > start {
                false => Found::Plain(string),
                true => Found::Unescaped(start..self.unescaped.len()),
            }
        } else {
            cursor.eat_all(b"null")?;
            Found::Nothing
        };
        for (wanted, place) in self.names.iter().zip(&mut self.found) {
            if *wanted == name {
                // Of one that comes again, the first must be text too.
                if !matches!(place, Found::Nothing) {
                    return None;
                }
                *place = found.clone();
            }
        }
        Some(())
    }

    /// The string that was found, if one was.
    pub(super) fn text<'a>(&'a self, line: &'a [u8], found: &Found) -> Option<&'a str> {
        let bytes = match found {
            Found::Nothing => return None,
            Found::Plain(range) => &line[range.clone()],
            Found::Unescaped(range) => &self.unescaped[range.clone()],
        };
        utf8::text(bytes).ok()
    }
}

/// Looks for the end of a string, behind its opening quote. If there are escapes on
/// the way, `out` gets the string without them.
struct StringScan<'a> {
    line: &'a [u8],
    at: usize,
    out: &'a mut Vec<u8>,
}

impl Work for StringScan<'_> {
    /// The string in the line.
    type Output = Option<Range<usize>>;

    #[inline(always)]
    fn with<M: Masks>(self) -> Option<Range<usize>> {
        let Self { line, at, out } = self;
        let start = at;
        let mut at = at;
        let mut unescaping = false;
        loop {
            let mut last = [b'"'; BLOCK];
            let block = match line[at..].first_chunk::<BLOCK>() {
                Some(block) => block,
                None => {
                    last[..line.len() - at].copy_from_slice(&line[at..]);
                    &last
                }
            };
            let special = M::specials(block).trailing_zeros() as usize;
            if unescaping {
                // Copying all of a block is faster than asking how much.
                out.extend_from_slice(block);
                out.truncate(out.len() - (BLOCK - special));
            }
            at += special;
            if special == BLOCK {
                continue;
            }
            match line.get(at)? {
                b'"' => return Some(start..at),
                b'\\' => {
                    if !unescaping {
                        unescaping = true;
                        out.extend_from_slice(&line[start..at]);
                    }
                    at += unescape(&line[at..], out)?;
                }
                _ => return None,
            }
        }
    }
}

/// Appends the character that an escape stands for, and tells how long the escape is.
#[inline]
fn unescape(escape: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let (c, length) = unescaped(escape)?;
    if c.is_ascii() {
        out.push(c as u8);
    } else {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(length)
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

    /// The rest of a string without escapes, behind its opening quote.
    fn plain_string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let end = start + memchr2(b'"', b'\\', &self.line[start..])?;
        self.at = end + 1;
        let is_plain = self.line[end] == b'"' && !self.has_control(start..end);
        is_plain.then_some(start..end)
    }

    fn has_control(&self, range: Range<usize>) -> bool {
        self.line[range]
            .iter()
            .fold(false, |found, &byte| found | (byte < 0x20))
    }

    /// Passes over the rest of a string.
    fn skip_string(&mut self) -> Option<()> {
        loop {
            let start = self.at;
            let end = start + memchr2(b'"', b'\\', &self.line[start..])?;
            if self.has_control(start..end) {
                return None;
            }
            if self.line[end] == b'"' {
                self.at = end + 1;
                return Some(());
            }
            self.at = end + unescaped(&self.line[end..])?.1;
        }
    }

    /// Passes over any value.
    fn skip_value(&mut self, depth: usize) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.skip_string()
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
