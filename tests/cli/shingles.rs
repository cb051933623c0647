//! The flags that decide what a shingle is.

use crate::harness::{Place, line};

/// Whether two texts have the same shingles under these flags.
fn same(flags: &str, left: &str, right: &str) -> bool {
    let place = Place::new();
    let docs = [line("a", left), line("b", right)].concat();
    let pairs = place.pipe(&format!("--threshold 1 {flags}"), docs).clean();
    assert!(pairs.is_empty() || pairs == "a b 1.0\n", "{pairs}");
    !pairs.is_empty()
}

/// How many distinct shingles a text has under these flags.
fn count(flags: &str, text: &str) -> usize {
    let signature = Place::new().pipe(&format!("sketch --hashes 1 {flags}"), line("a", text));
    match signature.clean() {
        none if none.is_empty() => 0,
        line => {
            let document: serde_json::Value = serde_json::from_str(&line).unwrap();
            document["shingles"].as_u64().unwrap() as usize
        }
    }
}

#[test]
fn sizes_steps_and_circles() {
    let ten = "a b c d e f g h i j";
    for (flags, shingles) in [
        ("", 6),
        ("--shingle-words 1", 10),
        ("--shingle-words 2-4", 9 + 8 + 7),
        ("--shingle-words 10", 1),
        ("--shingle-words 11", 1),
        ("--shingle-words 3 --step 3", 3),
        ("--shingle-words 3 --wrap", 10),
        ("--shingle-words 3 --step 4 --wrap", 3),
        ("--shingle-chars 19", 1),
        ("--shingle-chars 2", 18),
        ("--shingle-words 2 --shingle-words 9", 2),
        ("--shingle-chars 18-19", 3),
    ] {
        assert_eq!(count(flags, ten), shingles, "{flags}");
    }
    assert_eq!(count("", " ... "), 0);
    assert_eq!(count("--shingle-words 1", "x y x y x"), 2);
}

#[test]
fn what_counts_as_the_same_text() {
    assert!(same("", "Капиба́ра, ﬁne CAFÉ", "капибара fine cafe\u{301}"));
    assert!(!same("--keep-case", "Fine words", "fine words"));
    assert!(same("--keep-case", "ﬁne words", "fine words"));
    assert!(same("--wrap --shingle-words 3", "a b c d e", "c d e a b"));
    assert!(!same("--shingle-words 3", "a b c d e", "c d e a b"));
    assert!(same("--shingle-chars 3", "abc  \n def", "ABC def"));
    assert!(!same("--shingle-chars 3", "abcdef", "abc def"));
    assert!(same("--shingle-words 2", "你好世界", "你 好 世 界"));
}

#[test]
fn stopwords_are_left_out() {
    let place = Place::new();
    place.file("stop", "the\nOF\n\nl'été\n");
    let docs = [line("a", "The end of l'Été here"), line("b", "end here")].concat();
    assert_eq!(place.pipe("--stopwords stop", &docs).clean(), "a b 1.0\n");
    assert_eq!(place.pipe("", &docs).clean(), "");
    // Under --keep-case, `The` is another word than `the`.
    assert_eq!(
        place.pipe("--stopwords stop --keep-case", &docs).clean(),
        ""
    );
    place.file("two", "the\nof the\n");
    place
        .pipe("--stopwords two", &docs)
        .says("1 lines hold more than one word");
}

#[test]
fn a_document_is_short_if_it_has_less_than_the_smallest_shingle() {
    let place = Place::new();
    place
        .pipe(
            "--shingle-words 2-6 --stats stats",
            line("a", "one two three"),
        )
        .clean();
    assert!(place.read("stats").contains("\"short\": 0"));
}

#[test]
fn items_are_shingles() {
    let docs = "{\"url\":\"a\",\"text\":[\"Hiking\",\"chess\",\"sea swimming\"]}\n\
                {\"url\":\"b\",\"text\":[\"sea swimming\",\"hiking\",\"chess\"]}\n\
                {\"url\":\"c\",\"text\":[\"sea\",\"swimming\",\"hiking\",\"chess\"]}\n\
                {\"url\":\"d\",\"text\":[]}\n";
    let place = Place::new();
    assert_eq!(
        place.pipe("--items --threshold 1", docs).clean(),
        "a b 1.0\n"
    );
    assert_eq!(
        place
            .pipe("--items --threshold 1 --keep-case", docs)
            .clean(),
        ""
    );
}
