//! How results leave: formats, files, pipes, statistics.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::corpus::{Corpus, Shape};
use crate::harness::{Place, line};

fn strange_ids() -> String {
    [
        line("a b\t\"c\"", "one two three"),
        line("d,e\\\nf", "one two three"),
    ]
    .concat()
}

#[test]
fn every_format_survives_strange_ids() {
    let place = Place::new();
    for (format, expected) in [
        ("text", "a%20b%09\"c\" d,e\\%0Af 1.0\n"),
        ("tsv", "a b\\t\"c\"\td,e\\\\\\nf\t1.0\n"),
        (
            "csv",
            "url1,url2,score\n\"a b\t\"\"c\"\"\",\"d,e\\\nf\",1.0\n",
        ),
        (
            "jsonl",
            "{\"url1\":\"a b\\t\\\"c\\\"\",\"url2\":\"d,e\\\\\\nf\",\"score\":1.0}\n",
        ),
    ] {
        assert_eq!(
            place
                .pipe(&format!("-q -f {format}"), strange_ids())
                .clean(),
            expected
        );
        assert_eq!(
            place
                .pipe(&format!("-q -f csv --format {format}"), strange_ids())
                .clean(),
            expected
        );
    }
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let place = Place::new();
    place.pipe("-q -o out", strange_ids()).clean();
    assert_eq!(place.read("out").lines().count(), 1);
    // A run that fails leaves the old file and no other.
    place.file("bad", "{\"url\":\"x\n");
    assert_eq!(
        place.run("--strict --input-format jsonl -o out bad").status,
        2
    );
    assert_eq!(place.read("out").lines().count(), 1);
    let names = std::fs::read_dir(place.path("")).unwrap().count();
    assert_eq!(names, 2);
    place.pipe("sketch -o sketched", strange_ids()).clean();
    assert_eq!(place.read("sketched").lines().count(), 2);
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let place = Place::new();
    let copies: String = (0..600)
        .map(|n| line(&format!("{n:0100}"), "the same text"))
        .collect();
    place.file("docs", copies);
    for arguments in ["docs", "sketch --hashes 1000 docs", "completions bash"] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let mut stdout = BufReader::with_capacity(64, child.stdout.take().unwrap());
        stdout.read_line(&mut first).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert!(!first.is_empty());
        assert_eq!(
            (output.status.code(), output.stderr),
            (Some(0), vec![]),
            "{arguments}"
        );
    }
}

#[test]
fn statistics_count_everything_once() {
    let place = Place::new();
    let docs = [
        line("a", "one two three four five six"),
        line("b", "One two three four five six!"),
        line("short", "one two"),
        line("empty", "..."),
        line("a", "met again"),
        "{\"url\":\"bad\"}\n".to_owned(),
    ];
    let run = place.pipe("--hashes 20 --stats stats", docs.concat());
    assert_eq!((run.status, run.stdout.as_str()), (2, "a b 1.0\n"));
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    let counts = &stats["counts"];
    for (name, count) in [
        ("documents", 4),
        ("empty", 1),
        ("short", 1),
        ("skipped", 1),
        ("repeated_ids", 1),
        ("identical", 1),
        ("pairs", 1),
    ] {
        assert_eq!(counts[name], count, "{name}");
    }
    assert_eq!(stats["settings"]["hashes"], 20);
    assert_eq!(stats["settings"]["threshold"], "0.75");
    assert_eq!(stats["search"]["bands"], 6);
    assert!(stats["seconds"]["read_and_sketch"].as_f64().unwrap() > 0.0);
    let run = place.pipe("-q --stats -", docs[0].clone());
    assert!(
        run.stderr.starts_with("{\n  \"settings\""),
        "{}",
        run.stderr
    );
}

#[test]
fn progress_goes_to_standard_error_and_only_if_asked() {
    let place = Place::new();
    place.file("docs", Corpus::new(Shape::default()).jsonl());
    let quiet = place.run("docs").clean();
    let run = place.run("--progress always docs");
    run.says("300 documents");
    assert_eq!((run.status, run.stdout), (0, quiet));
}
