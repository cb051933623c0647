//! Exact scores, as the program prints them.

use crate::corpus::{Corpus, Shape, jaccard};
use crate::harness::{Place, line};

#[test]
fn jaccard_is_the_share_of_all_shingles() {
    let place = Place::new();
    let docs = [
        line("a", "one two three four"),
        line("b", "zero one two three four five"),
        line("c", "something else"),
    ];
    place.file("docs", docs.concat());
    // Three pairs of words of five.
    let flags = "--score jaccard --shingle-words 2";
    assert_eq!(
        place.run(&format!("{flags} --threshold 0.6 docs")).clean(),
        "a b 0.6\n"
    );
    assert_eq!(
        place.run(&format!("{flags} --threshold 0.61 docs")).clean(),
        ""
    );
    assert_eq!(
        place
            .run(&format!("{flags} --threshold 0.6 --recall 1 docs"))
            .clean(),
        "a b 0.6\n"
    );
}

#[test]
fn a_quotation_is_contained_in_what_quotes_it() {
    let place = Place::new();
    let quoted = "the harbour bell rings twice when the fog comes in";
    let corpus = Corpus::new(Shape {
        documents: 1,
        words: 2000,
        ..Shape::default()
    });
    let long = format!(
        "{} {quoted} {}",
        corpus.documents[0].1, corpus.documents[0].1
    );
    place.file(
        "docs",
        [line("short", quoted), line("long", &long)].concat(),
    );
    let score = "--score containment --threshold 0.9";
    assert_eq!(
        place.run(&format!("{score} docs")).clean(),
        "short long 1.0\n"
    );
    assert_eq!(
        place.run("--score jaccard --threshold 0.05 docs").clean(),
        ""
    );
    let json = place.run(&format!("{score} -f jsonl docs")).clean();
    let pair: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(pair["score"], 1.0);
    assert_eq!(pair["in1"], 1.0);
    assert!(pair["in2"].as_f64().unwrap() < 0.01, "{json}");
    let csv = place.run(&format!("{score} -f csv docs")).clean();
    assert!(
        csv.starts_with("url1,url2,score,in1,in2\nshort,long,1.0,1.0,0.00"),
        "{csv}"
    );
}

#[test]
fn planted_pairs_have_their_exact_scores() {
    let corpus = Corpus::new(Shape {
        seed: 9,
        documents: 500,
        ..Shape::default()
    });
    let place = Place::new();
    place.file("docs", corpus.jsonl());
    let complete = place
        .run("--score jaccard --threshold 0.5 --recall 1 docs")
        .clean();
    for arguments in [
        "",
        "--recall 1 -j 1",
        "--recall 0.99999 -j 3",
        "--hashes 512 --bands 128 --rows 4",
    ] {
        let found = place.run(&format!("--score jaccard --threshold 0.5 {arguments} docs"));
        assert_eq!(found.clean(), complete, "{arguments}");
    }
    let mut planted = 0;
    for (origin, copy, score) in &corpus.planted {
        let (left, right) = (&corpus.documents[*origin].0, &corpus.documents[*copy].0);
        let line = complete
            .lines()
            .find(|line| line.starts_with(&format!("{left} {right} ")));
        match line {
            Some(line) => assert!(line.ends_with(&format!(" {score:?}")), "{line} {score}"),
            None => assert!(*score < 0.5, "{left} {right} {score}"),
        }
        planted += usize::from(line.is_some());
    }
    assert!(planted > 50);
    assert!(jaccard("a b c d e f", "a b c d e f") == 1.0);
}

#[test]
fn what_does_not_fit_into_memory_goes_to_a_file_that_is_gone_at_the_end() {
    let corpus = Corpus::new(Shape {
        seed: 4,
        documents: 3000,
        words: 150,
        one_copy_in: 4,
    });
    let place = Place::new();
    place.file("docs", corpus.jsonl()).file("temp/.keep", "");
    let expected = place.run("--score jaccard docs").clean();
    let flags = "-q --score jaccard --memory 1M --temp-dir temp --stats stats";
    assert_eq!(place.run(&format!("{flags} docs")).clean(), expected);
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    assert_eq!(stats["counts"]["spilled"], true);
    assert_eq!(std::fs::read_dir(place.path("temp")).unwrap().count(), 1);
    let nowhere = place.run("--score jaccard --memory 1M --temp-dir nowhere docs");
    assert_eq!((nowhere.status, nowhere.stdout.as_str()), (2, ""));
    nowhere.says("nowhere: no temporary file there");
}

#[test]
fn against_compares_with_others_only() {
    let place = Place::new();
    let text = "the same text in all of these documents";
    place.file("new", [line("a", text), line("b", text)].concat());
    place.file(
        "old1",
        [line("a", text), line("x", "another text")].concat(),
    );
    place.file("old2", line("y", text));
    let expected = "a a 1.0\na y 1.0\nb a 1.0\nb y 1.0\n";
    for score in ["minhash", "jaccard", "containment"] {
        let flags = format!("--score {score} --against old1 --against old2");
        assert_eq!(
            place.run(&format!("{flags} new")).clean(),
            expected,
            "{score}"
        );
        assert_eq!(
            place.pipe(&flags, place.read("new")).clean(),
            expected,
            "{score}"
        );
    }
}

#[test]
fn against_nothing_finds_nothing() {
    let place = Place::new();
    place.file("new", [line("a", "a text"), line("b", "a text")].concat());
    std::fs::create_dir(place.path("empty")).unwrap();
    place.file("nothing", "");
    for score in ["minhash", "jaccard"] {
        for against in ["empty", "nothing"] {
            let run = place.run(&format!("-q --score {score} --against {against} new"));
            assert_eq!(run.clean(), "", "{score} {against}");
        }
    }
}

/// Versions of one text on one side match each other, which nobody asked for.
#[test]
fn a_dense_side_costs_nothing() {
    let place = Place::new();
    let words: Vec<String> = (0..200).map(|n| format!("w{n}")).collect();
    let version = |n: usize| {
        let mut words = words.clone();
        words[n % 199] = format!("v{n}");
        words.join(" ")
    };
    let dense: String = (0..1500)
        .map(|n| line(&format!("v{n}"), &version(n)))
        .collect();
    place.file("dense", dense);
    place.file(
        "one",
        [line("x", "unrelated"), line("y", &words.join(" "))].concat(),
    );
    for flags in [
        "--score minhash",
        "--score jaccard --bands 32 --rows 4",
        "--score jaccard",
    ] {
        let run = place.run(&format!("{flags} --against one dense"));
        assert!(run.clean().lines().count() > 1400, "{flags}");
    }
}

#[test]
fn common_shingles_can_be_left_out() {
    let place = Place::new();
    let frame = "home news about contact imprint privacy";
    let docs: String = (0..20)
        .map(|n| line(&format!("{n}"), &format!("{frame} {n} body{n}")))
        .collect();
    place.file("docs", docs);
    let flags = "--score jaccard --shingle-words 1 --threshold 0.5";
    assert_eq!(
        place.run(&format!("{flags} docs")).clean().lines().count(),
        190
    );
    for common in ["10", "50%", "19"] {
        let run = place.run(&format!("{flags} --ignore-common {common} docs"));
        assert_eq!(run.clean(), "", "{common}");
    }
    assert_eq!(
        place
            .run(&format!("{flags} --ignore-common 20 docs"))
            .clean()
            .lines()
            .count(),
        190
    );
}

#[test]
fn a_share_too_small_for_the_collection_is_said() {
    let docs = [line("a", "the same text"), line("b", "the same text")].concat();
    let run = Place::new().pipe("--score jaccard --ignore-common 5%", docs);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    run.says("every shingle that two documents share");
}

#[test]
fn statistics_state_the_recall() {
    let place = Place::new();
    place.file("docs", Corpus::new(Shape::default()).jsonl());
    let stats = |flags: &str| {
        place
            .run(&format!("--score jaccard --stats stats {flags} docs"))
            .clean();
        serde_json::from_str::<serde_json::Value>(&place.read("stats")).unwrap()["search"].clone()
    };
    for flags in ["", "--recall 1"] {
        assert_eq!(stats(flags)["recall"][0]["chance"], 1.0, "{flags}");
    }
    let bands = stats("--bands 32 --rows 4");
    assert_eq!(
        (bands["method"].as_str(), bands["bands"].as_u64()),
        (Some("bands"), Some(32))
    );
    let chance = |index: usize| bands["recall"][index]["chance"].as_f64().unwrap();
    assert!(chance(0) > 0.99999 && chance(0) < chance(1) && chance(1) < chance(2));
    assert_eq!(bands["recall"][1]["score"], 0.8);
    assert!(bands["candidates"].as_u64().unwrap() >= bands["merges"].as_u64().unwrap());
}
