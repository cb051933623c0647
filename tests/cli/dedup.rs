//! `simdup dedup`.

use crate::corpus::{Corpus, Shape, frame};
use crate::harness::{ONE, ONE_EDITED, OTHER, Place, four, gunzip, gzip, line, repository};

#[test]
fn what_is_kept_is_byte_for_byte_what_came() {
    let place = Place::new();
    let [a, b, c, d] = four();
    // White space, a carriage return, no line end at the end, a blank line.
    let odd = format!(
        "  {}\r\n\n{}",
        b.trim_end(),
        line("e", "e e e e e e").trim_end()
    );
    place.file("docs", [&a, &odd, "\n", &c, d.trim_end()].concat());
    let run = place.run("dedup --removed removed docs");
    let expected = format!(
        "{a}  {}\r\n{}\n",
        b.trim_end(),
        line("e", "e e e e e e").trim_end()
    );
    assert_eq!(run.stdout, expected);
    assert_eq!(
        place.read("removed"),
        "{\"url\":\"c\",\"reason\":\"near-duplicate\",\"keeper\":\"a\",\"score\":0.7777777777777778}\n\
         {\"url\":\"d\",\"reason\":\"near-duplicate\",\"keeper\":\"a\",\"score\":1.0}\n"
    );
    // The same from a pipe, packed or not, and beyond the memory.
    let docs = std::fs::read(place.path("docs")).unwrap();
    for input in [docs.clone(), gzip(&docs)] {
        for flags in ["", "--memory 1M", "-j 1"] {
            assert_eq!(
                place.pipe(&format!("dedup {flags}"), &input).stdout,
                expected
            );
        }
    }
}

#[test]
fn frames_lines_and_files_are_kept_too() {
    let place = Place::new();
    let frames: Vec<Vec<u8>> = [("a", ONE), ("b", OTHER), ("c", ONE)]
        .map(|(url, text)| frame(url, text))
        .to_vec();
    place.file("frames", frames.concat());
    place.run("dedup -o out frames").clean();
    assert!(std::fs::read(place.path("out")).unwrap() == frames[..2].concat());
    place.file("lines", format!("{ONE}\n{OTHER}\n{ONE}\n"));
    let lines = place.run("dedup --input-format lines lines").clean();
    assert_eq!(lines, format!("{ONE}\n{OTHER}\n"));
    place
        .file("texts/1", ONE)
        .file("texts/2", OTHER)
        .file("texts/3", ONE);
    assert_eq!(place.run("dedup texts").clean(), "texts/1\ntexts/2\n");
    let mixed = place.run("dedup frames lines --input-format auto texts");
    mixed.fails("different formats");
}

#[test]
fn an_output_is_packed_as_its_name_says() {
    let place = Place::new();
    place.file("docs", four().concat());
    let expected = place.run("dedup docs").stdout;
    place.run("dedup -q -o out.gz docs").clean();
    assert_eq!(gunzip(&place.path("out.gz")), expected.as_bytes());
    place.run("dedup -q -o out.zst docs").clean();
    let packed = std::fs::read(place.path("out.zst")).unwrap();
    assert_eq!(zstd::decode_all(&packed[..]).unwrap(), expected.as_bytes());
}

#[test]
fn the_one_that_is_kept_can_be_chosen() {
    let record = |url: &str, text: &str, more: &str| {
        format!("{{\"url\":\"{url}\",\"text\":\"{text}\"{more}}}\n")
    };
    let docs = [
        record("short", ONE, ",\"date\":\"2024-05-01\",\"votes\":3"),
        record("none", ONE, ""),
        record(
            "long",
            &format!("{ONE} and"),
            ",\"date\":\"2023-01-01\",\"votes\":20",
        ),
    ];
    let place = Place::new();
    place.file("docs", docs.concat());
    for (keep, kept) in [
        ("first", 0),
        ("last", 2),
        ("longest", 2),
        ("shortest", 0),
        ("max:date", 0),
        ("min:date", 2),
        ("max:votes", 2),
        ("min:votes", 0),
        ("max:nothing", 0),
    ] {
        let run = place.run(&format!("dedup -q --keep {keep} docs"));
        assert_eq!(run.clean(), docs[kept], "{keep}");
    }
    place
        .run("cluster --keep max:nothing docs")
        .says("no document has a number or a text in the field `nothing`");
    place.run("dedup --keep best docs").fails("max:FIELD");
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let place = Place::new();
    place.file("docs", four().concat());
    let run = place.run("dedup --dry-run docs");
    assert_eq!(run.stdout.lines().count(), 2);
    assert!(
        run.stdout
            .starts_with("{\"url\":\"c\",\"reason\":\"near-duplicate\",\"keeper\":\"a\""),
        "{}",
        run.stdout
    );
    run.says("2 of 4 documents would go, 2 would stay");
    assert_eq!(run.status, 0);
}

#[test]
fn what_another_collection_has_goes_with_a_witness() {
    let place = Place::new();
    place
        .file(
            "old",
            [line("o1", OTHER), line("o2", ONE_EDITED), line("o3", ONE)].concat(),
        )
        .file(
            "new",
            [
                line("n1", ONE),
                line("n2", "new new new new new"),
                line("n3", ONE),
            ]
            .concat(),
        );
    let run = place.run("dedup -q --against old --removed removed new");
    assert_eq!(run.clean(), line("n2", "new new new new new"));
    assert_eq!(
        place.read("removed"),
        "{\"url\":\"n1\",\"reason\":\"near-duplicate\",\"keeper\":\"o3\",\"score\":1.0}\n\
         {\"url\":\"n3\",\"reason\":\"near-duplicate\",\"keeper\":\"o3\",\"score\":1.0}\n"
    );
    // What is left is compared among itself, unless that is not wanted.
    place.file("nothing", line("x", "something else"));
    let all = place
        .run("dedup --against nothing --against-only new")
        .clean();
    assert_eq!(all, place.read("new"));
    let rest = place.run("dedup -q --against nothing new").clean();
    assert_eq!(rest, place.run("dedup -q new").clean());
    assert_eq!(rest.lines().count(), 2);
}

#[test]
fn annotation_names_what_is_similar() {
    let place = Place::new();
    place.file("docs", four().concat());
    let annotated = place.run("dedup --annotate docs").clean();
    let objects: Vec<serde_json::Value> = annotated
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |index: usize| {
        let object = &objects[index];
        let near: Vec<(&str, f64)> = object["nearDuplicate"]
            .as_array()
            .unwrap()
            .iter()
            .map(|other| {
                (
                    other["url"].as_str().unwrap(),
                    other["score"].as_f64().unwrap(),
                )
            })
            .collect();
        (object["isNearDuplicate"].as_bool().unwrap(), near)
    };
    assert_eq!(of(0), (true, vec![("d", 1.0), ("c", 7.0 / 9.0)]));
    assert_eq!(of(1), (false, vec![]));
    assert_eq!(of(2), (true, vec![("a", 7.0 / 9.0), ("d", 7.0 / 9.0)]));
    assert_eq!(objects[0]["text"], ONE);
}

/// As the Conditor project's co-similarity does it: several fields, a range of sizes, and
/// a score that is a document's own.
#[test]
fn containment_is_annotated_from_each_side() {
    let record = |id: &str, title: &str, text: &str| {
        format!(
            "{}\n",
            serde_json::json!({"id": id, "title": title, "authors": "A B", "abstract": text})
        )
    };
    let docs = [
        record("part", "Sea and sky", "The sea is blue."),
        record(
            "whole",
            "Sea and sky",
            "The sea is blue. And then there is much more to be said of it all.",
        ),
    ];
    let flags = "--text-field title,authors,abstract --shingle-words 2-4 --score containment --threshold 0.8";
    let place = Place::new();
    place.file("docs", docs.concat()).file("old", &docs[1]);
    let near = |line: &str| -> Vec<String> {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        let list = object["nearDuplicate"].as_array().unwrap().clone();
        list.iter()
            .map(|other| other["url"].as_str().unwrap().to_owned())
            .collect()
    };
    let run = place.run(&format!("dedup --annotate {flags} docs")).clean();
    let lines: Vec<&str> = run.lines().collect();
    assert_eq!(
        (near(lines[0]), near(lines[1])),
        (vec!["whole".to_owned()], vec![])
    );
    place.file("new", &docs[0]);
    let run = place
        .run(&format!("dedup --annotate {flags} --against old new"))
        .clean();
    assert_eq!(near(run.trim_end()), ["whole"]);
    let refused = place.run(&format!("dedup {flags} docs"));
    refused.fails("--annotate");
}

#[test]
fn large_clusters_and_emptied_files_are_told_of() {
    let place = Place::new();
    let docs: String = (0..30)
        .map(|n| line(&n.to_string(), if n < 20 { ONE } else { OTHER }))
        .collect();
    place.file("docs", docs);
    let run = place.run("dedup docs");
    let warnings: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        warnings,
        [
            "simdup: a cluster of 20 documents, 66.7 % of the collection, around 0",
            "simdup: docs: 28 of its 30 documents go",
        ]
    );
    assert_eq!(place.run("dedup -q docs").stderr, "");
}

#[test]
fn bad_records_and_repeated_ids_are_left_out_and_said() {
    let place = Place::new();
    place.file(
        "docs",
        [
            &line("a", ONE),
            "{broken\n",
            &line("a", OTHER),
            &line("b", OTHER),
        ]
        .concat(),
    );
    let run = place.run("dedup docs");
    assert_eq!(run.stdout, [line("a", ONE), line("b", OTHER)].concat());
    run.fails("docs: record 2");
    run.says("had been met before");
}

#[test]
fn a_repeated_id_is_listed_with_its_place_and_that_of_the_first() {
    let place = Place::new();
    let blank = "\n\n";
    place.file("one", [&line("a", ONE), blank, &line("b", OTHER)].concat());
    let more = ["{broken\n", blank, &line("b", ONE), &line("c\"", OTHER)];
    place.file("two", [&more.concat(), "\n", &line("c\"", ONE)].concat());
    place.run("dedup --removed removed --threshold 1 one two");
    let removed = place.read("removed");
    let listed: Vec<&str> = removed
        .lines()
        .filter(|line| line.contains("repeated-id"))
        .collect();
    assert_eq!(
        listed,
        [
            r#"{"url":"b","reason":"repeated-id","file":"two","record":4,"first_file":"one","first_record":4}"#,
            r#"{"url":"c\"","reason":"repeated-id","file":"two","record":7,"first_file":"two","first_record":5}"#,
        ]
    );
    let frames = [frame("x", ONE), frame("y", OTHER), frame("y", ONE)];
    place.file("frames", frames.concat());
    assert_eq!(
        place.run("dedup -q --dry-run frames").stdout,
        "{\"url\":\"y\",\"reason\":\"repeated-id\",\"file\":\"frames\",\"record\":3,\
         \"first_file\":\"frames\",\"first_record\":2}\n"
    );
}

/// It was taken for plain text, which cannot stand in one output with records.
#[test]
fn a_success_mark_beside_part_files_has_no_record_to_write() {
    let place = Place::new();
    let [a, b, c, d] = four();
    place
        .file("spark/part-00000.json", [a.as_str(), &c].concat())
        .file(
            "spark/.part-00000.json.crc",
            b"crc\0\0\0\x02\0\x12\x34\x56\x78",
        )
        .file("spark/part-00001.json.gz", gzip([b.as_str(), &d].concat()))
        .file("spark/_SUCCESS", "")
        .file("spark/~late", "")
        .file("spark/._SUCCESS.crc", b"crc\0\0\0\x02\0");
    let run = place.run("dedup -q --removed removed --stats stats spark");
    assert_eq!(run.clean(), [a.as_str(), &b].concat());
    assert_eq!(place.read("removed").lines().count(), 2);
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    let counts = &stats["counts"];
    assert_eq!(
        (&counts["documents"], &counts["empty"]),
        (&6.into(), &2.into())
    );
    assert_eq!(
        place
            .run("dedup -q --annotate spark")
            .clean()
            .lines()
            .count(),
        4
    );
    // Among plain text it is a file as any other, wherever it stands.
    place
        .file("texts/0", "")
        .file("texts/1", ONE)
        .file("texts/2", "");
    assert_eq!(
        place.run("dedup texts").clean(),
        "texts/0\ntexts/1\ntexts/2\n"
    );
    assert_eq!(
        place.run("dedup texts/0 texts/2").clean(),
        "texts/0\ntexts/2\n"
    );
}

/// Whatever ends the run, a named output is there whole or not at all.
#[cfg(unix)]
#[test]
fn a_killed_run_leaves_no_half_output() {
    let place = Place::new();
    let docs = Corpus::new(Shape {
        documents: 3000,
        ..Shape::default()
    });
    place.file("docs", docs.jsonl());
    let whole = place.run("dedup -q docs").stdout;
    for milliseconds in [0, 20, 60, 120, 250, 500] {
        let mut child = place.command("dedup -q -o out docs").spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let _ = child.kill();
        let _ = child.wait();
        if let Ok(found) = std::fs::read_to_string(place.path("out")) {
            assert!(found == whole);
            std::fs::remove_file(place.path("out")).unwrap();
        }
    }
}

/// Records of archives that are no documents vanished without a word.
#[test]
fn records_of_archives_without_a_document_are_told_and_listed() {
    let place = Place::new();
    let archive = repository("tests/data/formats/plain.warc");
    let archive = archive.to_str().unwrap();
    let run = place.run(&format!(
        "dedup --summary always -t 0.5 -o kept.warc --removed gone.jsonl {archive}"
    ));
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.says("simdup: 7 records of WARC that are no HTML or plain text, such as requests and ");
    run.says("4 kept, 7 records without a document · ");
    let gone = place.read("gone.jsonl");
    assert_eq!(gone.lines().count(), 8, "{gone}");
    assert!(
        gone.contains(&format!(
            "\"reason\":\"no-document\",\"why\":\"a response that is neither HTML nor plain \
             text\",\"file\":\"{archive}\",\"record\":12}}\n"
        )),
        "{gone}"
    );
    place
        .run(&format!("dedup -t 0.5 --output-dir out {archive}"))
        .says("are not written; --removed lists them\n");
}

/// Documents of both sides were one number, and near-duplicates were "of 0".
#[test]
fn what_documents_are_compared_with_is_counted_apart() {
    let place = Place::new();
    let [a, b, c, d] = four();
    place
        .file("old", a + &c + &d)
        .file("new", four().concat() + &b.replace("\"b\"", "\"e\""));
    let run = place.run("dedup --summary always --stats stats.json -o kept --against old new");
    run.says("simdup: 5 documents against 3, 4 near-duplicates, 1 kept · ");
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats.json")).unwrap();
    let counts = &stats["counts"];
    assert_eq!(
        (&counts["documents"], &counts["against"]),
        (&5.into(), &3.into())
    );
    place
        .run("--score jaccard --summary always --against old new")
        .says("simdup: 5 documents against 3, ");
    place.run("index build -q i.idx old").clean();
    place
        .run("dedup --summary always --against i.idx -o kept new")
        .says("simdup: 5 documents against 3, 3 near-duplicates, 2 kept · ");
}

/// Everything was read and compared before that was said, and some files were there by then.
#[cfg(feature = "parquet")]
#[test]
fn what_cannot_be_written_is_refused_before_anything_is_compared() {
    let place = Place::new();
    let parquet = repository("tests/data/formats/zstd.parquet");
    let parquet = std::fs::read(parquet).unwrap();
    place
        .file("in/a.jsonl", four().concat())
        .file("in/b.parquet", &parquet)
        .file("packed/a.jsonl", four().concat())
        .file("packed/b.parquet.gz", gzip(&parquet))
        .file("c.csv", "url,text\nx,some words\n");
    for (folder, why) in [
        (
            "in",
            "--output-dir: in/b.parquet: Parquet is not written; `--output FILE.jsonl`",
        ),
        (
            "packed",
            "b.parquet.gz: not for --output-dir: Parquet is not written",
        ),
    ] {
        let run = place.run(&format!(
            "dedup --progress always --output-dir out {folder}"
        ));
        run.fails(why);
        assert!(!run.stderr.contains("comparing"), "{}", run.stderr);
        assert!(!place.path("out/a.jsonl").exists());
    }
    let run = place.run("dedup --progress always -o mix.jsonl in/a.jsonl c.csv");
    run.fails("c.csv: the inputs have different formats or headers");
    assert!(!run.stderr.contains("comparing"), "{}", run.stderr);
}

/// What is left out there was counted, and could not be listed.
#[test]
fn what_annotation_leaves_out_can_be_listed() {
    let place = Place::new();
    let docs = four().concat() + &line("a", "another text") + "{\n";
    let run = place.pipe("dedup --annotate -o all.jsonl --removed gone.jsonl", docs);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert_eq!(place.read("all.jsonl").lines().count(), 4);
    let gone = place.read("gone.jsonl");
    let reasons: Vec<bool> = ["unreadable", "repeated-id"]
        .map(|reason| gone.contains(&format!("\"reason\":\"{reason}\"")))
        .to_vec();
    assert_eq!(
        (gone.lines().count(), reasons),
        (2, vec![true, true]),
        "{gone}"
    );
}
