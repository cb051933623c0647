//! Two texts side by side on a terminal. The only file that knows how wide characters are.

use std::io::{self, Write};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Pen, harmless};

/// How wide each of the two columns is, and how it is painted.
pub(super) struct Column {
    pub(super) width: usize,
    pub(super) pen: Pen,
}

/// A part of one text.
pub(super) struct Cell<'a> {
    pub(super) mark: char,
    pub(super) style: &'static str,
    pub(super) text: &'a str,
}

impl Column {
    /// Writes a part of both texts, each in its column.
    pub(super) fn write(&self, cells: &[Cell<'_>; 2], output: &mut dyn Write) -> io::Result<()> {
        let texts = [0, 1].map(|side| harmless(cells[side].text));
        let [left, right] = [0, 1].map(|side| {
            let is_there = !cells[side].text.is_empty();
            let lines = is_there.then(|| wrapped(&texts[side], self.width));
            lines.unwrap_or_default()
        });
        for row in 0..left.len().max(right.len()) {
            let left = self.line(&cells[0], left.get(row).copied(), true);
            let right = self.line(&cells[1], right.get(row).copied(), false);
            writeln!(output, "{left} │ {right}")?;
        }
        Ok(())
    }

    fn line(&self, cell: &Cell<'_>, line: Option<&str>, is_padded: bool) -> String {
        let (mark, text) = match line {
            Some(line) => (cell.mark, line),
            None => (' ', ""),
        };
        let room = match is_padded {
            true => self.width.saturating_sub(text.width()),
            false => 0,
        };
        let mark = self.pen.paint(cell.style, &mark.to_string());
        let text = self.pen.paint(cell.style, text);
        format!("{mark} {text}{}", " ".repeat(room))
    }
}

/// The lines of a text, none of them wider than so many columns; broken between words where that
/// is possible.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut rest = line;
        loop {
            let end = match rest.width() > width {
                true => cut(rest, width),
                false => rest.len(),
            };
            if end == rest.len() {
                lines.push(rest);
                break;
            }
            lines.push(rest[..end].trim_end());
            rest = rest[end..].trim_start();
        }
    }
    lines
}

/// Where a line must be broken: behind the last white space that fits, else within a word.
fn cut(line: &str, width: usize) -> usize {
    let (mut used, mut fits, mut space) = (0, 0, 0);
    for (at, cluster) in line.grapheme_indices(true) {
        used += cluster.width();
        if used > width && fits > 0 {
            break;
        }
        fits = at + cluster.len();
        if cluster.chars().all(char::is_whitespace) {
            space = fits;
        }
    }
    match space {
        0 => fits,
        space => space,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_or_within() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("你好世界", 5), ["你好", "世界"]);
        assert_eq!(wrapped("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("你", 1), ["你"]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_but_white_space_is_lost(text in "(\\PC| |\n){0,40}", width in 1_usize..9) {
            let seen = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(seen(&wrapped(&text, width).concat()), seen(&text));
        }
    }
}
