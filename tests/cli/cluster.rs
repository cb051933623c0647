//! `simdup cluster`.

use crate::corpus::{Corpus, Shape};
use crate::harness::{Place, four, line};

#[test]
fn clusters_are_printed_keeper_first() {
    let place = Place::new();
    place.file("docs", four().concat());
    assert_eq!(place.run("cluster docs").clean(), "a c d\n");
    assert_eq!(place.run("cluster --keep last docs").clean(), "d a c\n");
    assert_eq!(
        place.run("cluster -f jsonl docs").clean(),
        "{\"keeper\":\"a\",\"size\":3,\"lowest\":0.7777777777777778,\"members\":\
         [{\"url\":\"c\",\"score\":0.7777777777777778},{\"url\":\"d\",\"score\":1.0}]}\n"
    );
    assert_eq!(place.run("cluster --threshold 0.9 docs").clean(), "a d\n");
}

#[test]
fn a_star_is_no_chain() {
    // Each shares 7 of 9 windows with the next, and fewer with the one after that.
    let text = |start: usize| -> String { (start..start + 12).map(|n| format!("w{n} ")).collect() };
    let place = Place::new();
    let docs: String = (0..4).map(|n| line(&n.to_string(), &text(n))).collect();
    place.file("docs", docs);
    assert_eq!(place.run("cluster docs").clean(), "0 1\n2 3\n");
    let components = place
        .run("cluster --cluster components -f jsonl docs")
        .clean();
    assert!(
        components.starts_with("{\"keeper\":\"0\",\"size\":4,\"lowest\":0.4545454545454545"),
        "{components}"
    );
}

#[test]
fn neither_threads_nor_files_change_clusters() {
    let corpus = Corpus::new(Shape {
        documents: 600,
        one_copy_in: 2,
        ..Shape::default()
    });
    let jsonl = corpus.jsonl();
    let place = Place::new();
    place.file("all", &jsonl);
    let lines: Vec<&str> = jsonl.split_inclusive('\n').collect();
    for (number, part) in lines.chunks(97).enumerate() {
        place.file(&format!("parts/{number}"), part.concat());
    }
    for flags in [
        "",
        "--recall 1",
        "--cluster components",
        "--keep longest --threshold 0.5",
    ] {
        let expected = place.run(&format!("cluster -q -j 1 {flags} all")).clean();
        assert!(expected.lines().count() > 50);
        for rest in ["-j 2 all", "-j 5 parts", "-j 2 --memory 1M parts"] {
            let run = place.run(&format!("cluster -q {flags} {rest}"));
            assert_eq!(run.clean(), expected, "{flags} {rest}");
        }
    }
}

#[test]
fn pairs_written_earlier_can_be_clustered_higher() {
    let corpus = Corpus::new(Shape {
        documents: 300,
        one_copy_in: 2,
        ..Shape::default()
    });
    let place = Place::new();
    place.file("docs", corpus.jsonl());
    for format in ["jsonl", "tsv"] {
        place
            .run(&format!(
                "--score jaccard --threshold 0.4 -f {format} -o pairs docs"
            ))
            .clean();
        for flags in ["", "--keep last", "--cluster components"] {
            let expected = place
                .run(&format!("cluster -q --threshold 0.8 {flags} docs"))
                .clean();
            assert!(expected.lines().count() > 20);
            let found = place.run(&format!("cluster --pairs pairs --threshold 0.8 {flags}"));
            // Which of two keepers came first is not always told by pairs.
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            assert_eq!(
                sorted(&found.clean()),
                sorted(&expected),
                "{format} {flags}"
            );
        }
    }
    place.file("bad", "a\tb\t0.9\nno pair\n");
    place
        .run("cluster --pairs bad")
        .fails("bad: record 2, byte 8: not a pair");
}

#[test]
fn pairs_written_earlier_have_statistics_too() {
    let place = Place::new();
    place.file("pairs", "a\tb\t0.9\na\tc\t0.8\nd\te\t0.3\n");
    let run = place.run("cluster --pairs pairs --stats stats --keep last");
    assert_eq!(run.clean(), "b a\n");
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    assert_eq!(stats["settings"]["pairs"], "pairs");
    assert_eq!(stats["settings"]["threshold"], "0.75");
    assert_eq!(stats["settings"]["cluster"], "star");
    assert_eq!(stats["settings"]["keep"], "last");
    for (name, count) in [("documents", 5), ("pairs", 3)] {
        assert_eq!(stats["counts"][name], count, "{name}");
    }
    assert!(stats["seconds"]["all"].as_f64().is_some());
}
