//! Explanations as JSON, an object a line; places are bytes of the texts.

use std::io::{self, Write};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::explain::{Explanation, Overlap};
use crate::score::Score;

pub(super) fn write(explanation: &Explanation, output: &mut dyn Write) -> io::Result<()> {
    let url = |side: usize| Value::from(explanation.urls[side].as_str());
    let mut line = format!("{{\"url1\":{},\"url2\":{}", url(0), url(1));
    if let Some(score) = explanation.score {
        line += &format!(",\"score\":{}", json!(score));
    }
    line += &overlap(&explanation.overlap);
    if !explanation.fields.is_empty() {
        let fields = explanation.fields.iter().map(|(name, shared)| {
            let name = Value::from(name.as_str());
            format!("{{\"field\":{name}{}}}", overlap(shared))
        });
        line += &format!(",\"fields\":[{}]", fields.collect::<Vec<_>>().join(","));
    }
    let [one, two] = explanation.tokens;
    let shared: usize = explanation
        .passages
        .iter()
        .map(|passage| passage.tokens)
        .sum();
    line += &format!(",\"tokens1\":{one},\"tokens2\":{two},\"passage_tokens\":{shared}");
    let passages = explanation.passages.iter().map(|passage| {
        let (left, right) = (&passage.left, &passage.right);
        format!(
            "{{\"tokens\":{},\"start1\":{},\"end1\":{},\"start2\":{},\"end2\":{}}}",
            passage.tokens, left.start, left.end, right.start, right.end
        )
    });
    line += &format!(",\"passages\":[{}]", passages.collect::<Vec<_>>().join(","));
    for (number, template) in (1..).zip(&explanation.template) {
        if !template.is_empty() {
            let parts = template
                .iter()
                .map(|part| format!("{{\"start\":{},\"end\":{}}}", part.start, part.end));
            line += &format!(
                ",\"template{number}\":[{}]",
                parts.collect::<Vec<_>>().join(",")
            );
        }
    }
    let text = |side: usize| Value::from(&*explanation.texts[side]);
    line += &format!(",\"text1\":{},\"text2\":{}}}", text(0), text(1));
    debug_assert!(serde_json::from_str::<&RawValue>(&line).is_ok());
    writeln!(output, "{line}")
}

/// Scores are printed as everywhere else.
fn overlap(overlap: &Overlap) -> String {
    let [one, two]: [Score; 2] = overlap.containment();
    let [first, second] = overlap.sizes;
    format!(
        ",\"jaccard\":{},\"in1\":{one},\"in2\":{two},\"shared\":{},\"shingles1\":{first},\"shingles2\":{second}",
        overlap.jaccard(),
        overlap.shared,
    )
}
