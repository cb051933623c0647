//! Text that a terminal shows and does not act on: control characters, and those that turn the
//! direction of writing, are named, as `<U+001B>`.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a terminal may act on a character instead of showing it.
pub(super) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The name of a character.
pub(super) fn name(c: char) -> String {
    format!("<U+{:04X}>", c as u32)
}

/// Names the characters of a text that a terminal may act on, but for tabs and line ends.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_named = |c: char| is_control(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_named) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_named(c) {
            true => out.push_str(&name(c)),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Writes UTF-8 to a terminal, with the characters named that it may act on.
pub struct VisibleWriter<W> {
    output: W,
    /// The start of a character whose end has not come yet.
    held: Vec<u8>,
}

impl<W: Write> VisibleWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        let held = Vec::new();
        Self { output, held }
    }
}

impl<W: Write> Write for VisibleWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(bytes);
        for chunk in text.utf8_chunks() {
            self.output.write_all(visible(chunk.valid()).as_bytes())?;
            let invalid = chunk.invalid();
            match std::str::from_utf8(invalid) {
                Ok(_) => {}
                // It ends within a character.
                Err(error) if error.error_len().is_none() => self.held = invalid.to_vec(),
                Err(_) => self.output.write_all("\u{fffd}".as_bytes())?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_named() {
        for (text, shown) in [
            ("a\x1b[2J\x07", "a<U+001B>[2J<U+0007>"),
            ("a\rb\tc\n", "a<U+000D>b\tc\n"),
            ("\u{7f}\u{9b}31m", "<U+007F><U+009B>31m"),
            (
                "\u{202e}\u{2066}\u{200f}\u{61c}",
                "<U+202E><U+2066><U+200F><U+061C>",
            ),
            ("é\u{200d}п", "é\u{200d}п"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn a_character_may_come_in_pieces() {
        let text = "a\u{202e}é\u{9b}\x1b\u{1f600}z\n";
        for size in 1..text.len() {
            let mut writer = VisibleWriter::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                writer.write_all(piece).unwrap();
            }
            assert_eq!(writer.output, visible(text).as_bytes(), "{size}");
        }
        let mut writer = VisibleWriter::new(Vec::new());
        writer.write_all(b"a\x9b\xffb").unwrap();
        assert_eq!(writer.output, "a\u{fffd}\u{fffd}b".as_bytes());
    }
}
