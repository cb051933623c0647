//! The main job.

use std::fmt::Write;

use crate::corpus::{Corpus, Random, Shape};
use crate::harness::{Place, gunzip, gzip, line, repository};

/// Broder's answer from the signatures, by comparing all pairs.
fn brute_force(signatures: &str, needed: usize) -> String {
    let documents: Vec<(String, Vec<i64>)> = signatures
        .lines()
        .map(|line| {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            let values = document["values"].as_array().unwrap();
            let values = values.iter().map(|value| value.as_i64().unwrap()).collect();
            (document["url"].as_str().unwrap().to_owned(), values)
        })
        .collect();
    let mut out = String::new();
    for (index, (left, a)) in documents.iter().enumerate() {
        for (right, b) in &documents[index + 1..] {
            let shared = a.iter().zip(b).filter(|(a, b)| a == b).count();
            if shared >= needed {
                let score = shared as f64 / a.len() as f64;
                writeln!(out, "{left} {right} {score:?}").unwrap();
            }
        }
    }
    out
}

#[test]
fn the_answer_is_that_of_comparing_all_signatures() {
    let place = Place::new();
    place.file("docs", Corpus::new(Shape::default()).jsonl());
    for (hashes, threshold, needed) in [
        (20, "0.75", 15),
        (20, "0.55", 11),
        (20, "0.05", 1),
        (20, "1", 20),
        (1, "0.3", 1),
        (7, "0.5", 4),
        (128, "0.75", 96),
        (128, "0.1", 13),
    ] {
        for seed in [0, 1, 99] {
            let settings = format!("--hashes {hashes} --seed {seed}");
            let signatures = place.run(&format!("sketch {settings} docs")).clean();
            let pairs = place.run(&format!("{settings} --threshold {threshold} docs"));
            assert_eq!(
                pairs.clean(),
                brute_force(&signatures, needed),
                "{settings} {threshold}"
            );
        }
    }
}

#[test]
fn planted_near_duplicates_are_found_and_others_are_not() {
    let corpus = Corpus::new(Shape {
        seed: 5,
        documents: 400,
        ..Shape::default()
    });
    let place = Place::new();
    place.file("docs", corpus.jsonl());
    let found = place.run("--hashes 512 --threshold 0.6 docs").clean();
    let mut clear = 0;
    for (origin, copy, score) in &corpus.planted {
        let pair = format!(
            "{} {} ",
            corpus.documents[*origin].0, corpus.documents[*copy].0
        );
        // Five standard deviations of the estimate from the threshold.
        if *score > 0.71 {
            assert!(found.contains(&pair), "{pair}{score}");
            clear += 1;
        } else if *score < 0.49 {
            assert!(!found.contains(&pair), "{pair}{score}");
            clear += 1;
        }
    }
    assert!(clear > 50, "{clear}");
}

#[test]
fn the_bytes_do_not_depend_on_threads_files_or_pipes() {
    let corpus = Corpus::new(Shape {
        seed: 2,
        documents: 3000,
        words: 150,
        one_copy_in: 5,
    });
    let jsonl = corpus.jsonl();
    let place = Place::new();
    place.file("all", &jsonl).file("all.gz", gzip(&jsonl));
    place.file("all.zst", zstd::encode_all(jsonl.as_bytes(), 1).unwrap());
    place.file("all.pb.gz", gzip(corpus.protobuf()));
    let lines: Vec<&str> = jsonl.split_inclusive('\n').collect();
    for (index, part) in lines.chunks(700).enumerate() {
        let part = part.concat();
        let name = format!("parts/{index}");
        place.file(
            &name,
            if index % 2 == 0 {
                part.into_bytes()
            } else {
                gzip(part)
            },
        );
    }
    let expected = place.run("--hashes 20 -j 1 all").clean();
    assert!(expected.lines().count() > 100);
    for arguments in [
        "-j 2 all",
        "-j 7 all",
        "all.gz",
        "-j 1 all.gz",
        "all.zst",
        "all.pb.gz",
        "parts",
        "-j 1 parts",
        "parts/0 parts/1 parts/2 parts/3 parts/4",
    ] {
        assert_eq!(
            place.run(&format!("--hashes 20 {arguments}")).clean(),
            expected,
            "{arguments}"
        );
    }
    for input in [jsonl.clone().into_bytes(), gzip(&jsonl), corpus.protobuf()] {
        assert_eq!(place.pipe("--hashes 20", input.clone()).clean(), expected);
        assert_eq!(place.pipe("--hashes 20 -j 3 -", input).clean(), expected);
    }
    let halves = [gzip(lines[..1000].concat()), gzip(lines[1000..].concat())].concat();
    assert_eq!(place.pipe("--hashes 20", halves).clean(), expected);
}

#[test]
fn a_number_of_copies_costs_no_more_than_writing_their_pairs() {
    let place = Place::new();
    let mut jsonl = String::new();
    for copy in 0..1500 {
        jsonl += &line(
            &format!("copy{copy}"),
            "the same page as ever, under one more address",
        );
    }
    jsonl += &line(
        "other",
        "something else entirely, that no one has copied so far",
    );
    place.file("docs", jsonl);
    let pairs = place.run("--hashes 20 --stats stats docs").clean();
    assert_eq!(pairs.lines().count(), 1500 * 1499 / 2);
    assert!(pairs.starts_with("copy0 copy1 1.0\ncopy0 copy2 1.0\n"));
    assert!(pairs.ends_with("copy1498 copy1499 1.0\n"));
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    assert_eq!(stats["counts"]["identical"], 1499);
    assert_eq!(stats["counts"]["candidates"], 0);
}

#[test]
fn memory_is_what_signatures_and_ids_need() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let place = Place::new();
    let mut random = Random::new(3);
    let mut peak = |documents: usize| {
        let mut jsonl = String::new();
        for index in 0..documents {
            let words: String = (0..12)
                .map(|_| format!("{:x} ", random.below(1 << 20)))
                .collect();
            jsonl += &line(&format!("{index:010}"), &words);
        }
        place.file("docs", jsonl);
        place.run("--hashes 20 --stats stats docs").clean();
        let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
        stats["peak_memory_bytes"].as_f64().unwrap()
    };
    let (few, many) = (20_000, 320_000);
    let bytes = (peak(many) - peak(few)) / (many - few) as f64 - 10.0;
    assert!(bytes < 200.0, "{bytes} bytes a document");
}

#[test]
fn the_example_has_pairs_in_both_formats() {
    let place = Place::new();
    let example = repository("tests/data/example.jsonl");
    let protobuf = repository("tests/data/example.pb.gz");
    let pairs = place.run(&format!("{}", example.display())).clean();
    assert!(pairs.lines().count() >= 5, "{pairs}");
    assert_eq!(place.run(&format!("{}", protobuf.display())).clean(), pairs);
    assert_eq!(place.pipe("", gunzip(&protobuf)).clean(), pairs);
}

#[test]
fn an_answer_can_be_had_in_the_exit_status() {
    let place = Place::new();
    let copies = [line("a", "one two three"), line("b", "one two three")].concat();
    assert_eq!(place.pipe("--exit-status", &copies).status, 1);
    assert_eq!(
        place
            .pipe("--exit-status", line("a", "one two three"))
            .status,
        0
    );
    assert_eq!(place.pipe("", &copies).status, 0);
    let spoiled = copies + "{\"url\":\n";
    assert_eq!(place.pipe("--exit-status", spoiled).status, 2);
}
