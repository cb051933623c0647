//! `simdup explain`: why two documents are similar.

use serde_json::Value;

use crate::harness::{ONE, ONE_EDITED, Place, four, line, repository};

fn json(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn place() -> Place {
    let place = Place::new();
    place.file("in.jsonl", four().concat());
    place
}

#[test]
fn a_pair_has_scores_passages_and_what_changed() {
    let printed = place().run("explain a c in.jsonl").clean();
    assert_eq!(
        printed,
        "1 a\n2 c\n  jaccard 0.7777777777777778, 7 shingles shared; 0.875 of the 8 in 1, 0.875 of \
         the 8 in 2\n  1 passage, 11 tokens: 91.6 % of the 12 in 1, 91.6 % of the 12 in 2\n\n@ 1: 11 \
         tokens, bytes 0-55 of 1, 0-55 of 2\n= one two three four five six seven eight nine ten \
         eleven\n- twelve\n+ thirteen\n\n"
    );
}

#[test]
fn offsets_are_bytes_of_the_texts_in_any_script() {
    let place = Place::new();
    let left = "Капиба́ра плыла по тихой реке, 你好世界, ﬁne weather — éte\u{301} ½ cup of tea";
    let right = "А КАПИБАРА плыла по тихой реке! 你好世界 Fine weather été ½ cup";
    place.file("in.jsonl", line("a", left) + &line("b", right));
    for flags in [
        "",
        "--shingle-chars 4",
        "--keep-case --min-tokens 2",
        "--shingle-words 2",
    ] {
        let run = place
            .run(&format!("explain a b -f jsonl {flags} in.jsonl"))
            .clean();
        let found = &json(&run)[0];
        let passages = found["passages"].as_array().unwrap();
        assert!(!passages.is_empty(), "{flags}");
        let slice = |text: &str, passage: &Value, side: &str| {
            let at = |name: &str| passage[format!("{name}{side}")].as_u64().unwrap() as usize;
            text[at("start")..at("end")].to_owned()
        };
        for passage in passages {
            let texts = [slice(left, passage, "1"), slice(right, passage, "2")];
            let sketch = |text: &String| {
                let place = Place::new();
                let flags = flags.replace("--min-tokens 2", "");
                place
                    .pipe(&format!("sketch --hashes 8 {flags}"), line("x", text))
                    .clean()
            };
            assert_eq!(sketch(&texts[0]), sketch(&texts[1]), "{flags} {texts:?}");
        }
    }
}

#[test]
fn ids_that_no_document_has_are_named_with_the_nearest() {
    let place = Place::new();
    place.file(
        "in.jsonl",
        line("https://a.example/one two", ONE) + &line("https://a.example/three", ONE),
    );
    place
        .run("explain https://a.example/thre nothing in.jsonl")
        .fails(
            "no document has the id https://a.example/thre; did you mean https://a.example/three?",
        )
        .says("no document has the id nothing\n");
    // As they are printed, too.
    let printed = place.run("explain https://a.example/one%20two https://a.example/three in.jsonl");
    assert!(printed.clean().contains("jaccard 1.0"));
    place.run("explain a").fails("which documents?");
}

#[test]
fn the_best_the_worst_and_a_sample() {
    let place = place();
    let pairs = |arguments: &str| -> Vec<(String, String)> {
        let run = place
            .run(&format!(
                "explain -f jsonl --threshold 0.5 {arguments} in.jsonl"
            ))
            .clean();
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        json(&run)
            .iter()
            .map(|found| (id(&found["url1"]), id(&found["url2"])))
            .collect()
    };
    let pair = |one: &str, two: &str| (one.to_owned(), two.to_owned());
    assert_eq!(pairs("--best 1"), [pair("a", "d")]);
    assert_eq!(pairs("--worst 2"), [pair("a", "c"), pair("c", "d")]);
    assert_eq!(pairs("--best 9").len(), 3);
    assert_eq!(pairs("--sample 2"), pairs("--sample 2"));
    let samples: Vec<_> = (0..20)
        .map(|seed| pairs(&format!("--sample 1 --seed {seed}")))
        .collect();
    assert!(samples.iter().any(|sample| sample != &samples[0]));

    let found = place
        .run("--score jaccard --threshold 0.5 -f jsonl in.jsonl")
        .clean();
    place.file("pairs.jsonl", found);
    let run = place
        .run("explain --worst 1 --pairs pairs.jsonl -f jsonl in.jsonl")
        .clean();
    assert_eq!(json(&run)[0]["score"], 0.777_777_777_777_777_8);
    let run = place
        .pipe("explain --best 1 -f jsonl", four().concat())
        .clean();
    assert_eq!(json(&run)[0]["url2"], "d");
}

#[test]
fn fields_have_scores_of_their_own() {
    let place = Place::new();
    let record = |id: &str, title: &str, body: &str| {
        format!(
            "{}\n",
            serde_json::json!({"id": id, "title": title, "body": body})
        )
    };
    place.file(
        "in.jsonl",
        record("a", "The sea", ONE) + &record("b", "The sky", ONE),
    );
    let run = place
        .run("explain a b --text-field title,body -f jsonl in.jsonl")
        .clean();
    let found = &json(&run)[0];
    assert_eq!(found["fields"][0]["field"], "title");
    assert_eq!(found["fields"][0]["jaccard"], 0.0);
    assert_eq!(found["fields"][1]["jaccard"], 1.0);
    let printed = place
        .run("explain a b --text-field title,body in.jsonl")
        .clean();
    assert!(printed.contains("  title: jaccard 0.0,") && printed.contains("  body: jaccard 1.0,"));
}

#[test]
fn what_is_in_a_template_is_in_no_passage() {
    let place = Place::new();
    let frame = "this frame stands around every text of the site";
    place.file("frame.txt", frame);
    place.file(
        "in.jsonl",
        line("a", &format!("{frame} {ONE}")) + &line("b", &format!("{frame} {ONE_EDITED}")),
    );
    let run = place
        .run("explain a b --template frame.txt -f jsonl in.jsonl")
        .clean();
    let found = &json(&run)[0];
    assert_eq!(found["passages"].as_array().unwrap().len(), 1);
    assert_eq!(found["passages"][0]["start1"], frame.len() as u64 + 1);
}

#[test]
fn colours_and_columns_are_as_asked_for() {
    let place = place();
    assert!(!place.run("explain a c in.jsonl").clean().contains('\x1b'));
    let run = place.run("explain a c --color always in.jsonl").clean();
    assert!(run.contains("\x1b[31m"));
    let output = place
        .command("explain a c in.jsonl")
        .env("COLUMNS", "120")
        .output()
        .unwrap();
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains(" │ + thirteen")
    );
}

#[test]
fn flags_without_effect_are_errors() {
    let place = place();
    for (arguments, why) in [
        ("a c --threshold 0.5", "ID1 ID2 and --threshold"),
        ("a c --pairs p.jsonl", "--pairs and ID1 ID2"),
        ("--best 1 --worst 1", "--best and --worst"),
        ("a c --items", "explain and --items"),
        (
            "a c --preset technosphere",
            "explain and --preset technosphere",
        ),
        ("--best 1 --seed 3", "--seed and"),
        ("a c -f jsonl --color always", "--color and -f jsonl"),
    ] {
        place
            .run(&format!("explain {arguments} in.jsonl"))
            .fails(why);
    }
}

#[test]
fn source_code_that_was_renamed_has_passages() {
    let place = Place::new();
    let homework = repository("tests/data/homework");
    let run = place
        .run(&format!(
            "explain --preset code --best 1 {}",
            homework.display()
        ))
        .clean();
    assert!(run.contains("3 passages, 347 tokens"), "{run}");
    assert!(run.contains("\n~ "), "{run}");
}

/// The hand-out was shown as if it were only in the first, and only in the second, and counted.
#[test]
fn what_a_template_has_is_marked_and_does_not_count() {
    let place = Place::new();
    let frame = "this frame stands around every text of the site";
    place.file("frame.txt", frame);
    place.file(
        "in.jsonl",
        line("a", &format!("{frame} {ONE}")) + &line("b", &format!("{frame} {ONE}")),
    );
    let run = place
        .run("explain a b --template frame.txt in.jsonl")
        .clean();
    assert_eq!(run.matches(frame).count(), 1, "{run}");
    assert!(run.contains(&format!("\n: {frame}\n")), "{run}");
    assert!(
        run.contains(": 100.0 % of the ") && run.contains(", without the template\n"),
        "{run}"
    );
    assert!(!run.contains("\n- ") && !run.contains("\n+ "), "{run}");
    let wide = place
        .command("explain a b --template frame.txt in.jsonl")
        .env("COLUMNS", "120")
        .output()
        .unwrap();
    let wide = String::from_utf8(wide.stdout).unwrap();
    let row = wide.lines().find(|row| row.contains(frame)).unwrap();
    assert_eq!(
        (row.matches(frame).count(), row.matches(": ").count()),
        (2, 2),
        "{wide}"
    );
    let run = place
        .run("explain a b --template frame.txt -f jsonl in.jsonl")
        .clean();
    assert_eq!(json(&run)[0]["template2"][0]["end"], frame.len());
}

/// Ids of files as simdup prints them were not found.
#[test]
fn files_are_found_by_the_names_that_were_printed() {
    let place = Place::new();
    place
        .file("hw/Ada Lovelace/stats.txt", ONE)
        .file("hw/ben/50%.txt", ONE);
    let pairs = place.run("-q hw").clean();
    let ids: Vec<&str> = pairs.split_whitespace().take(2).collect();
    assert_eq!(ids, ["hw/Ada%20Lovelace/stats.txt", "hw/ben/50%.txt"]);
    let run = place.run(&format!("explain {}", ids.join(" "))).clean();
    assert!(run.contains("jaccard 1.0"), "{run}");
    place
        .run("explain hw/nobody hw/ben/50%.txt")
        .fails("; name the FILEs to look in, as in `simdup explain ID1 ID2 FILE`\n");
}
