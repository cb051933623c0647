//! Explanations one line under the other: a passage, then what stands behind it in either text.

use std::io::{self, Write};

use super::columns::wrapped;
use super::{
    BOLD, DIM, GONE, NEW, PASSAGES, Part, Pen, TEMPLATE_MARK, between, harmless, has_template,
    parts, percent, pieces, reads_the_same, sentence,
};
use crate::explain::Explanation;

/// The ids, the scores, and how much the passages are.
pub(super) fn head(explanation: &Explanation, pen: Pen, output: &mut dyn Write) -> io::Result<()> {
    for (number, url) in (1..).zip(&explanation.urls) {
        let url = pen.paint(BOLD, &harmless(url).replace('\n', "<U+000A>"));
        writeln!(output, "{number} {url}")?;
    }
    if let Some(score) = explanation.score {
        writeln!(output, "  score {score:?} among the pairs")?;
    }
    writeln!(output, "  {}", sentence(&explanation.overlap))?;
    for (name, overlap) in &explanation.fields {
        writeln!(output, "  {}: {}", harmless(name), sentence(overlap))?;
    }
    let count = explanation.passages.len();
    let shared: usize = explanation
        .passages
        .iter()
        .map(|passage| passage.tokens)
        .sum();
    let [one, two] = explanation.tokens;
    writeln!(
        output,
        "  {count} passage{}, {shared} tokens: {:.1} % of the {one} in 1, {:.1} % of the {two} in 2{}",
        if count == 1 { "" } else { "s" },
        percent(shared, one),
        percent(shared, two),
        match explanation.template.iter().all(Vec::is_empty) {
            true => "",
            false => ", without the template",
        },
    )?;
    writeln!(output)
}

/// All passages, and what stands between them.
pub(super) fn body(
    explanation: &Explanation,
    pen: Pen,
    width: Option<usize>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let [left, right] = [0, 1].map(|side| &*explanation.texts[side]);
    let mut lines = |mark: char, style: &str, text: &str| {
        let text = harmless(text);
        let most = width.map_or(usize::MAX, |width| width.saturating_sub(2).max(10));
        for line in wrapped(&text, most) {
            let mark = pen.paint(style, &mark.to_string());
            match line {
                "" => writeln!(output, "{mark}")?,
                _ => writeln!(output, "{mark} {}", pen.paint(style, line))?,
            }
        }
        io::Result::Ok(())
    };
    for part in parts(explanation) {
        match &part {
            Part::Passage(index) => {
                let passage = &explanation.passages[*index];
                let name = format!(
                    "@ {}: {} tokens, bytes {}-{} of 1, {}-{} of 2",
                    index + 1,
                    passage.tokens,
                    passage.left.start,
                    passage.left.end,
                    passage.right.start,
                    passage.right.end
                );
                lines('@', DIM, &name[2..])?;
                let style = PASSAGES[index % PASSAGES.len()];
                let (one, two) = (&left[passage.left.clone()], &right[passage.right.clone()]);
                lines('=', style, one)?;
                if !reads_the_same(one, two) {
                    lines('~', style, two)?;
                }
            }
            Part::Between(one, two) if has_template(explanation, [one, two]) => {
                let [first, second] =
                    [(0, one), (1, two)].map(|(side, range)| pieces(explanation, side, range));
                for (mark, style, text) in &first {
                    lines(*mark, style, text)?;
                }
                for (mark, style, text) in second {
                    // What the template has in both is shown once.
                    let is_shown = |(other, _, shown): &(char, &str, &str)| {
                        *other == TEMPLATE_MARK && reads_the_same(shown, text)
                    };
                    if mark != TEMPLATE_MARK || !first.iter().any(is_shown) {
                        lines(mark, style, text)?;
                    }
                }
            }
            Part::Between(one, two) => {
                let [gone, new] = between([left, right], one, two);
                for (mark, style, text) in [('-', GONE, gone), ('+', NEW, new)] {
                    if !text.is_empty() {
                        lines(mark, style, text)?;
                    }
                }
            }
        }
    }
    writeln!(output)
}
