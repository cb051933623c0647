//! Why two documents are similar, to be read by people or by programs.

mod columns;
mod json;
mod plain;

use std::io::{self, Write};
use std::ops::Range;

use super::visible;
use crate::explain::{Explanation, Overlap};
use columns::{Cell, Column};

/// How explanations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// For people.
    Text(Look),
    /// A JSON object a line.
    Jsonl,
}

/// What there is to write on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether there are colours.
    pub colour: bool,
    /// Columns of the terminal, if there is one.
    pub width: Option<usize>,
}

/// Columns from which on two texts stand side by side.
const WIDE: usize = 100;

/// Writes one of them.
pub fn write_explanation(
    explanation: &Explanation,
    format: ExplainFormat,
    output: &mut dyn Write,
) -> io::Result<()> {
    match format {
        ExplainFormat::Jsonl => json::write(explanation, output),
        ExplainFormat::Text(look) => {
            let pen = Pen(look.colour);
            plain::head(explanation, pen, output)?;
            match look.width {
                Some(width) if width >= WIDE => side_by_side(explanation, pen, width, output),
                width => plain::body(explanation, pen, width, output),
            }
        }
    }
}

/// Writes in colour, or does not.
#[derive(Clone, Copy)]
struct Pen(bool);

const BOLD: &str = "1";
const DIM: &str = "2";
/// What is in the first text only, and in the second.
const GONE: &str = "31";
const NEW: &str = "32";
/// The mark of what a template has.
const TEMPLATE_MARK: char = ':';
/// Passages, one after the other, so that a moved one is known by its colour.
const PASSAGES: [&str; 4] = ["36", "33", "35", "34"];

impl Pen {
    fn paint(self, style: &str, text: &str) -> String {
        match self.0 && !text.is_empty() {
            true => format!("\x1b[{style}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// A part of both texts, in the order of the first one: a passage, or what follows it in either
/// text. Every byte of both texts is in one of them.
enum Part {
    Passage(usize),
    /// What stands between passages in the first text, and in the second.
    Between(Range<usize>, Range<usize>),
}

/// All parts. What follows a passage in the second text stands where the passage does, so that a
/// moved one takes it along.
fn parts(explanation: &Explanation) -> Vec<Part> {
    let passages = &explanation.passages;
    let [left_end, right_end] = [0, 1].map(|side| explanation.texts[side].len());
    let mut order: Vec<usize> = (0..passages.len()).collect();
    order.sort_unstable_by_key(|&index| passages[index].right.start);
    let mut behind = vec![right_end; passages.len()];
    for two in order.windows(2) {
        behind[two[0]] = passages[two[1]].right.start;
    }
    let first_right = order
        .first()
        .map_or(right_end, |&first| passages[first].right.start);
    let first_left = passages.first().map_or(left_end, |first| first.left.start);
    let mut parts = vec![Part::Between(0..first_left, 0..first_right)];
    for (index, passage) in passages.iter().enumerate() {
        let next = passages
            .get(index + 1)
            .map_or(left_end, |next| next.left.start);
        parts.push(Part::Passage(index));
        parts.push(Part::Between(
            passage.left.end..next,
            passage.right.end..behind[index],
        ));
    }
    parts
}

/// What stands between passages in either text, but for marks that both begin or end with; empty
/// where there is nothing to be seen.
fn between<'t>(
    [left, right]: [&'t str; 2],
    one: &Range<usize>,
    two: &Range<usize>,
) -> [&'t str; 2] {
    let (mut left, mut right) = (&left[one.clone()], &right[two.clone()]);
    let is_mark = |c: char| !c.is_alphanumeric();
    while let (Some(c), Some(other)) = (left.chars().next(), right.chars().next())
        && c == other
        && is_mark(c)
    {
        (left, right) = (&left[c.len_utf8()..], &right[c.len_utf8()..]);
    }
    while let (Some(c), Some(other)) = (left.chars().next_back(), right.chars().next_back())
        && c == other
        && is_mark(c)
    {
        left = &left[..left.len() - c.len_utf8()];
        right = &right[..right.len() - c.len_utf8()];
    }
    [left, right].map(|text| {
        let text = text.trim_matches(['\n', '\r']);
        if text.trim().is_empty() { "" } else { text }
    })
}

/// What stands between passages in one text, each piece with its mark: what a template has, and
/// what it has not.
fn pieces<'t>(
    explanation: &'t Explanation,
    side: usize,
    range: &Range<usize>,
) -> Vec<(char, &'static str, &'t str)> {
    let own = [('-', GONE), ('+', NEW)][side];
    let text = &*explanation.texts[side];
    let mut pieces = Vec::new();
    let mut add = |(mark, style), piece: Range<usize>| {
        let piece = text.get(piece).unwrap_or_default();
        // Marks between two pieces belong to neither.
        let is_seen = mark == TEMPLATE_MARK || piece.contains(char::is_alphanumeric);
        if is_seen && !piece.trim().is_empty() {
            pieces.push((mark, style, piece.trim_matches(['\n', '\r'])));
        }
    };
    let mut at = range.start;
    for part in &explanation.template[side] {
        let part = part.start.max(range.start)..part.end.min(range.end);
        if part.start < part.end {
            add(own, at..part.start);
            at = part.end;
            add((TEMPLATE_MARK, DIM), part);
        }
    }
    add(own, at..range.end);
    pieces
}

/// Whether a template has something of a part of either text.
fn has_template(explanation: &Explanation, ranges: [&Range<usize>; 2]) -> bool {
    let mut sides = explanation.template.iter().zip(ranges);
    sides.any(|(parts, range)| {
        let mut parts = parts.iter();
        parts.any(|part| part.start < range.end && range.start < part.end)
    })
}

/// Whether two texts read the same but for marks, layout and capitals, as they do not where names
/// in source code do not count.
fn reads_the_same(left: &str, right: &str) -> bool {
    let seen = |c: &char| c.is_alphanumeric();
    let lower = char::to_lowercase;
    let left = left.chars().filter(seen).flat_map(lower);
    left.eq(right.chars().filter(seen).flat_map(lower))
}

fn side_by_side(
    explanation: &Explanation,
    pen: Pen,
    width: usize,
    output: &mut dyn Write,
) -> io::Result<()> {
    let [left, right] = [0, 1].map(|side| &*explanation.texts[side]);
    let column = Column {
        width: (width - 3) / 2 - 2,
        pen,
    };
    for part in parts(explanation) {
        let cells = match &part {
            Part::Between(one, two) if has_template(explanation, [one, two]) => {
                let sides =
                    [(0, one), (1, two)].map(|(side, range)| pieces(explanation, side, range));
                for row in 0..sides[0].len().max(sides[1].len()) {
                    let cells = [0, 1].map(|side: usize| {
                        let piece = sides[side].get(row).copied();
                        let (mark, style, text) = piece.unwrap_or((' ', DIM, ""));
                        Cell { mark, style, text }
                    });
                    column.write(&cells, output)?;
                }
                continue;
            }
            Part::Passage(index) => {
                let passage = &explanation.passages[*index];
                let style = PASSAGES[index % PASSAGES.len()];
                [(left, &passage.left), (right, &passage.right)].map(|(text, range)| Cell {
                    mark: '=',
                    style,
                    text: &text[range.clone()],
                })
            }
            Part::Between(one, two) => {
                let [gone, new] = between([left, right], one, two);
                [('-', GONE, gone), ('+', NEW, new)].map(|(mark, style, text)| Cell {
                    mark,
                    style,
                    text,
                })
            }
        };
        column.write(&cells, output)?;
    }
    writeln!(output)
}

/// What two texts share, in a line.
fn sentence(overlap: &Overlap) -> String {
    let [one, two] = overlap.containment();
    let [first, second] = overlap.sizes;
    format!(
        "jaccard {}, {} shingles shared; {one} of the {first} in 1, {two} of the {second} in 2",
        overlap.jaccard(),
        overlap.shared,
    )
}

/// How much of a text the passages are.
fn percent(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        _ => (part as f64 * 1000.0 / whole as f64).floor() / 10.0,
    }
}

/// A text without what would move a terminal's cursor or turn its letters round: such characters
/// are named.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push_str("    "),
            '\r' => {}
            c if visible::is_control(c) => out.push_str(&visible::name(c)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
