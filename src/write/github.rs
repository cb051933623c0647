//! Annotations of a workflow on GitHub: two lines a pair, each at the place of one of the documents,
//! as a pull request shows only those in files that it changes.
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>

use super::listing::{FilePlace, PairFacts};

/// Appends a warning and a line end for each of the two.
pub(super) fn annotate(urls: [&str; 2], facts: &PairFacts<'_>, score: &str, text: &mut Vec<u8>) {
    let [left, right] = urls;
    let [left_place, right_place] = facts.places;
    warn([left, right], [left_place, right_place], score, text);
    warn([right, left], [right_place, left_place], score, text);
}

/// Appends a warning at the place of the first.
fn warn(urls: [&str; 2], places: [FilePlace<'_>; 2], score: &str, text: &mut Vec<u8>) {
    let [own, other] = urls;
    text.extend_from_slice(b"::warning ");
    if let Some((file, line)) = places[0].some_line(own) {
        text.extend_from_slice(b"file=");
        escape(file, true, text);
        text.extend_from_slice(format!(",line={line},").as_bytes());
    }
    text.extend_from_slice(b"title=near-duplicate::");
    escape(own, false, text);
    text.extend_from_slice(b" is similar to ");
    escape(other, false, text);
    match places[1] {
        FilePlace::Line(line) => text.extend_from_slice(format!(":{line}").as_bytes()),
        FilePlace::Record { file, line } => {
            let place = format!("{file}:{line}");
            if place != other {
                escape(&format!(" in {place}"), false, text);
            }
        }
        FilePlace::File | FilePlace::None => {}
    }
    text.extend_from_slice(format!(" (score {score})\n").as_bytes());
}

/// What would end a line, or a property, is written as in an address.
fn escape(value: &str, is_property: bool, text: &mut Vec<u8>) {
    for &byte in value.as_bytes() {
        match byte {
            b'%' | b'\r' | b'\n' => text.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            b':' | b',' if is_property => {
                text.extend_from_slice(format!("%{byte:02X}").as_bytes());
            }
            _ => text.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    #[test]
    fn what_ends_a_line_or_a_property_is_escaped() {
        let mut facts = PairFacts {
            score: Score::new(9, 10),
            shares: None,
            shared: 9,
            sizes: [9, 10],
            places: [FilePlace::Line(3), FilePlace::None],
        };
        let mut text = vec![];
        annotate(["a:1,b%.c", "x\ny,z"], &facts, "0.9", &mut text);
        facts.places = [FilePlace::None, FilePlace::Line(7)];
        annotate(["a", "b"], &facts, "0.9", &mut text);
        let record = |line| FilePlace::Record { file: "d:o", line };
        facts.places = [record(3), record(4)];
        annotate(["a", "b"], &facts, "0.9", &mut text);
        annotate(["a", "d:o:4"], &facts, "0.9", &mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "::warning file=a%3A1%2Cb%25.c,line=3,title=near-duplicate::a:1,b%25.c is similar to \
             x%0Ay,z (score 0.9)\n\
             ::warning title=near-duplicate::x%0Ay,z is similar to a:1,b%25.c:3 (score 0.9)\n\
             ::warning title=near-duplicate::a is similar to b:7 (score 0.9)\n\
             ::warning file=b,line=7,title=near-duplicate::b is similar to a (score 0.9)\n\
             ::warning file=d%3Ao,line=3,title=near-duplicate::a is similar to b in d:o:4 (score 0.9)\n\
             ::warning file=d%3Ao,line=4,title=near-duplicate::b is similar to a in d:o:3 (score 0.9)\n\
             ::warning file=d%3Ao,line=3,title=near-duplicate::a is similar to d:o:4 (score 0.9)\n\
             ::warning file=d%3Ao,line=4,title=near-duplicate::d:o:4 is similar to a in d:o:3 (score \
             0.9)\n"
        );
    }
}
