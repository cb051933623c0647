use super::*;
use crate::explain::Passage;

fn explanation(left: &str, right: &str, passages: &[(&str, usize)]) -> Explanation {
    let passages = passages.iter().map(|&(text, tokens)| {
        let place = |whole: &str| {
            let start = whole.find(text).unwrap();
            start..start + text.len()
        };
        Passage {
            own: [Vec::new(), Vec::new()],
            tokens,
            left: place(left),
            right: place(right),
        }
    });
    Explanation {
        urls: ["a".into(), "b".into()],
        score: None,
        texts: [left.into(), right.into()],
        overlap: Overlap {
            shared: 3,
            sizes: [4, 5],
        },
        fields: vec![],
        template: [Vec::new(), Vec::new()],
        tokens: [9, 10],
        passages: passages.collect(),
    }
}

fn written(explanation: &Explanation, format: ExplainFormat) -> String {
    let mut output = Vec::new();
    write_explanation(explanation, format, &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

const PLAIN: Look = Look {
    colour: false,
    width: None,
};

#[test]
fn every_part_of_both_texts_is_shown_once() {
    let moved = explanation(
        "one two, three four. end",
        "new three four; one two",
        &[("one two", 2), ("three four", 2)],
    );
    let text = written(&moved, ExplainFormat::Text(PLAIN));
    let body: Vec<&str> = text.lines().skip(5).collect();
    assert_eq!(
        body,
        [
            "+ new ",
            "@ 1: 2 tokens, bytes 0-7 of 1, 16-23 of 2",
            "= one two",
            "- , ",
            "@ 2: 2 tokens, bytes 9-19 of 1, 4-14 of 2",
            "= three four",
            "- . end",
            "+ ; ",
            ""
        ]
    );
    assert!(text.starts_with(
        "1 a\n2 b\n  jaccard 0.5, 3 shingles shared; 0.75 of the 4 in 1, 0.6 of the 5 in 2\n  2 \
         passages, 4 tokens: 44.4 % of the 9 in 1, 40.0 % of the 10 in 2\n"
    ));
}

#[test]
fn wide_terminals_have_both_texts_in_columns() {
    let pair = explanation(
        "same words 你好 gone",
        "same words 你好 new",
        &[("same words 你好", 4)],
    );
    let look = Look {
        colour: true,
        width: Some(100),
    };
    let text = written(&pair, ExplainFormat::Text(look));
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('│')).collect();
    assert_eq!(rows.len(), 2);
    assert!(rows[0].contains("\x1b[36msame words 你好\x1b[0m"));
    assert!(rows[1].contains("\x1b[31mgone\x1b[0m") && rows[1].contains("\x1b[32mnew\x1b[0m"));
}

#[test]
fn nothing_in_a_text_reaches_the_terminal_as_a_command() {
    let pair = explanation("\x1b[2J\u{202e}x\r\n\u{9b}", "b", &[]);
    let text = written(&pair, ExplainFormat::Text(PLAIN));
    assert!(
        text.contains("- <U+001B>[2J<U+202E>x\n- <U+009B>\n"),
        "{text}"
    );
}

#[test]
fn json_has_offsets_and_scores() {
    let mut pair = explanation("one two, three", "b one two", &[("one two", 2)]);
    pair.score = Some(0.5);
    pair.fields = vec![("title".into(), pair.overlap)];
    let line = written(&pair, ExplainFormat::Jsonl);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["passages"][0]["start2"], 2);
    assert_eq!(value["passages"][0]["end1"], 7);
    assert_eq!(value["jaccard"], 0.5);
    assert_eq!(value["in1"], 0.75);
    assert_eq!(value["fields"][0]["field"], "title");
    assert_eq!(value["text1"], "one two, three");
}
