//! What is not compared: documents of one group, hand-outs, what is too short or too long.

use crate::harness::{ONE, ONE_EDITED, OTHER, Place, line, repository};

/// A folder for each of two students and one for nobody, all with much the same text.
fn folders() -> Place {
    let place = Place::new();
    place
        .file("hw/ada/1.txt", ONE)
        .file("hw/ada/2.txt", ONE)
        .file("hw/ben/old/1.txt", ONE_EDITED)
        .file("hw/ben/old/2.txt", ONE)
        .file("hw/cleo.txt", ONE_EDITED);
    place
}

#[test]
fn files_of_one_folder_are_not_paired() {
    let place = folders();
    let pairs = |flags: &str| {
        let found = place.run(&format!("--score jaccard {flags} hw")).clean();
        let short = |line: &str| line.replace("hw/", "").replace(".txt", "");
        found.lines().map(short).collect::<Vec<_>>()
    };
    assert_eq!(pairs("").len(), 10);
    let expected = [
        "ada/1 ben/old/1 0.7777777777777778",
        "ada/1 ben/old/2 1.0",
        "ada/1 cleo 0.7777777777777778",
        "ada/2 ben/old/1 0.7777777777777778",
        "ada/2 ben/old/2 1.0",
        "ada/2 cleo 0.7777777777777778",
        "ben/old/1 cleo 1.0",
        "ben/old/2 cleo 0.7777777777777778",
    ];
    assert_eq!(pairs("--group-by dir"), expected);
    // At the second level, only Ben's are in a folder.
    assert_eq!(pairs("--group-by dir:2").len(), 9);
    assert_eq!(pairs("--group-by regex:^hw/([^/]+)/"), expected);
    let run = place.run("--group-by dir:3 hw");
    assert!(
        run.stderr.contains("no document has a group"),
        "{}",
        run.stderr
    );
}

#[test]
fn fields_and_hosts_make_groups() {
    let place = Place::new();
    let doc = |url: &str, author: &str, text: &str| {
        format!("{{\"url\":\"{url}\",\"author\":{author},\"text\":\"{text}\"}}\n")
    };
    let docs = [
        doc("http://a.example/1", "\"x\"", ONE),
        doc("http://a.example/2", "7", ONE),
        doc("http://b.example/1", "\"x\"", ONE),
        doc("http://b.example/2", "7", ONE),
        doc("c", "null", ONE),
    ]
    .concat();
    let count = |flags: &str| place.pipe(flags, &docs).clean().lines().count();
    assert_eq!(count(""), 10);
    assert_eq!(count("--group-by host"), 8);
    assert_eq!(count("--group-by field:author"), 8);
    assert_eq!(count("--group-by field:author --score containment"), 8);
    // Without the field, all are compared, and that is said.
    let run = place.pipe("--group-by field:auhtor", &docs);
    assert_eq!(run.stdout.lines().count(), 10);
    assert!(
        run.stderr.contains("--group-by field:auhtor: "),
        "{}",
        run.stderr
    );
}

#[test]
fn clusters_and_dedup_respect_groups() {
    let place = folders();
    let clusters = place.run("cluster --group-by dir hw").clean();
    assert_eq!(
        clusters,
        "hw/ada/1.txt hw/ben/old/1.txt hw/ben/old/2.txt hw/cleo.txt\n"
    );
    // Ada's second is her own, and nobody else's that is kept.
    let kept = place.run("dedup --quiet --group-by dir hw").clean();
    assert_eq!(kept, "hw/ada/1.txt\nhw/ada/2.txt\n");
    let kept = place.run("dedup --quiet hw").clean();
    assert_eq!(kept, "hw/ada/1.txt\n");
    let kept = place
        .run("dedup --quiet --group-by dir --against hw hw")
        .clean();
    assert_eq!(kept, "hw/ada/1.txt\nhw/ada/2.txt\n");
    place.file("old/ada/3.txt", ONE).file("new/ada/4.txt", ONE);
    let kept = place
        .run("dedup --quiet --group-by dir --against old new")
        .clean();
    assert_eq!(kept, "new/ada/4.txt\n");
    let annotated = place
        .run("dedup --annotate --quiet --group-by dir hw")
        .clean();
    let first: serde_json::Value = serde_json::from_str(annotated.lines().next().unwrap()).unwrap();
    let similar: Vec<&str> = first["nearDuplicate"]
        .as_array()
        .unwrap()
        .iter()
        .map(|other| other["url"].as_str().unwrap())
        .collect();
    assert_eq!(
        similar,
        ["hw/ben/old/2.txt", "hw/ben/old/1.txt", "hw/cleo.txt"]
    );
}

#[test]
fn a_hand_out_does_not_count() {
    let place = Place::new();
    let [hand_out, homework] =
        ["tests/data/homework-handout.c", "tests/data/homework"].map(repository);
    let run = |flags: &str| {
        let mut command = place.command(flags);
        command.arg(&homework);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{flags}");
        String::from_utf8(output.stdout).unwrap()
    };
    let with = format!("--template {}", hand_out.display());
    let low = "--preset code --threshold 0.3";
    assert_eq!(run(low).lines().count(), 3);
    assert_eq!(run(&format!("{low} {with}")).lines().count(), 1);
    // Broder's score too.
    let broder = "--shingle-code 8 --threshold 0.1";
    assert_eq!(run(broder).lines().count(), 3);
    assert_eq!(run(&format!("{broder} {with}")).lines().count(), 1);
}

#[test]
fn what_is_nothing_but_the_template_is_counted() {
    let place = Place::new();
    place.file("frame/a.txt", ONE).file("frame/b.txt", OTHER);
    let docs = [line("a", ONE), line("b", ONE), line("c", OTHER)].concat();
    let run = place.pipe("--template frame --stats stats", &docs);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(
        run.stderr
            .contains("3 documents with nothing that is not in a template")
    );
    let stats = place.read("stats");
    assert!(stats.contains("\"template_only\": 3"), "{stats}");
    assert!(stats.contains("\"documents\": 3"), "{stats}");
    // A template that cannot be read is an error.
    assert_eq!(place.pipe("--template nowhere", &docs).status, 2);
    let run = place.pipe("--template -", &docs);
    assert!(run.stderr.contains("standard input can be read once"));
    // Nothing is written over it.
    let run = place.pipe("--template frame/a.txt -o frame/a.txt", &docs);
    assert_eq!(run.status, 2);
    assert_eq!(place.read("frame/a.txt"), ONE);
}

#[test]
fn documents_of_too_few_or_too_many_words_are_left_out() {
    let place = Place::new();
    let long = format!("{ONE} {ONE} {ONE}");
    let docs = [
        line("a", "one two"),
        line("b", "One, two!"),
        line("c", ONE),
        line("d", ONE),
        line("e", &long),
        line("f", &long),
    ]
    .concat();
    let run = |flags: &str| place.pipe(flags, &docs);
    assert_eq!(run("").clean(), "a b 1.0\nc d 1.0\ne f 1.0\n");
    let few = run("--min-words 3 --stats stats");
    assert_eq!(few.stdout, "c d 1.0\ne f 1.0\n");
    assert!(
        few.stderr.contains("2 documents with fewer words"),
        "{}",
        few.stderr
    );
    assert!(place.read("stats").contains("\"left_out\": 2"));
    assert_eq!(run("-q --min-words 12 --max-words 12").clean(), "c d 1.0\n");
    assert_eq!(
        run("-q --max-words 12 --shingle-chars 4")
            .stdout
            .lines()
            .count(),
        1
    );
    // What is left out is not lost.
    let kept = run("dedup -q --min-words 3").clean();
    assert_eq!(kept.lines().count(), 4);
    assert!(kept.contains("\"a\"") && kept.contains("\"b\""));
}

#[test]
fn what_makes_no_group_is_refused() {
    let place = Place::new();
    place.file("docs", line("a", ONE));
    for (flags, says) in [
        (
            "--group-by folder",
            "dir, dir:2, field:NAME, host or regex:R",
        ),
        ("--group-by dir:0", "at least 1"),
        ("--group-by field:", "dir, dir:2"),
        ("--group-by regex:(", "unclosed group"),
        ("--min-words 0", "at least 1"),
    ] {
        let run = place.run(&format!("{flags} docs"));
        assert_eq!(run.status, 2, "{flags}");
        assert!(run.stderr.contains(says), "{flags}: {}", run.stderr);
    }
}

#[test]
fn a_field_makes_groups_in_every_format_that_has_fields() {
    let place = Place::new();
    let text = "one two three four five six";
    let rows = [("1", "x"), ("2", "x"), ("3", "y")];
    let csv: String = rows.map(|(id, by)| format!("{id},{by},{text}\n")).concat();
    place.file("rows.csv", format!("id,by,text\n{csv}"));
    let json = rows.map(|(id, by)| {
        format!("{{\"id\":\"{id}\",\"by\":\"{by}\",\"n\":1,\"text\":\"{text}\"}}\n")
    });
    place.file("rows.jsonl", json.concat());
    for name in ["rows.csv", "rows.jsonl"] {
        let pairs = place.run(&format!("--group-by field:by {name}")).clean();
        assert_eq!(pairs, "1 3 1.0\n2 3 1.0\n", "{name}");
        let clusters = place.run(&format!("cluster --group-by field:by {name}"));
        assert_eq!(clusters.clean(), "1 3\n", "{name}");
    }
    let kept = place.run("cluster --keep max:n --group-by field:by rows.jsonl");
    assert_eq!(kept.clean(), "1 3\n");
}

/// A chain through two groups: nothing goes in favour of a document of its own.
#[test]
fn components_take_nothing_for_their_own_group() {
    let place = Place::new();
    let words = |from: usize| -> String {
        let words: Vec<String> = (from..from + 10).map(|word| format!("w{word}")).collect();
        words.join(" ")
    };
    let documents: Vec<String> = ["x/1", "y/2", "x/3", "z/4", "5"]
        .iter()
        .zip(0..)
        .map(|(url, place)| line(url, &words(place)))
        .collect();
    place.file("in.jsonl", documents.concat());
    let flags = "--shingle-words 1 --threshold 0.8 --cluster components";
    let run = |more: &str| {
        place
            .run(&format!("dedup -q {flags} {more} in.jsonl"))
            .clean()
    };
    assert_eq!(run("").lines().count(), 1);
    let apart = run("--group-by regex:^(.)/ --removed removed");
    assert_eq!(apart.lines().count(), 2, "{apart}");
    assert!(
        apart.contains("\"x/1\"") && apart.contains("\"x/3\""),
        "{apart}"
    );
    let removed = std::fs::read_to_string(place.path("removed")).unwrap();
    assert_eq!(
        removed.matches("\"keeper\":\"x/1\"").count(),
        3,
        "{removed}"
    );
    // A cluster has all that is joined.
    let clusters = place.run(&format!("cluster {flags} --group-by regex:^(.)/ in.jsonl"));
    assert_eq!(clusters.clean(), "x/1 y/2 x/3 z/4 5\n");
}

#[test]
fn signatures_are_of_what_counts() {
    let place = Place::new();
    place.file("frame", "one two three");
    let documents = [
        line("a", "one two three four five six"),
        line("b", "one two three"),
        line("c", "four five six"),
        line("d", "four"),
    ];
    place.file("in.jsonl", documents.concat());
    let run = place.run(
        "sketch --hashes 2 --shingle-words 1 --template frame --min-words 2 --max-words 6 in.jsonl",
    );
    assert_eq!(run.status, 0);
    let values = |line: &str| {
        line.split_once("\"shingles\"")
            .map(|(_, values)| values.to_owned())
    };
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stdout);
    assert_eq!(values(lines[0]), values(lines[1]));
    run.says("1 document with fewer words or more than asked for")
        .says("1 document with nothing that is not in a template");
    place
        .run("sketch --min-words 3 --max-words 2 in.jsonl")
        .fails("--min-words");
}

/// Keepers by one field, groups by another.
#[test]
fn both_fields_are_read_in_csv() {
    let place = Place::new();
    place.file(
        "in.csv",
        "id,text,weight,class\na,one two three,1,007\nb,one two three,2,7\nc,one two three,3,7\n",
    );
    let run = |more: &str| {
        let run = place.run(&format!("dedup -q --keep max:weight {more} in.csv"));
        run.clean()
            .lines()
            .skip(1)
            .map(|line| line[..1].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(run(""), ["c"]);
    assert_eq!(run("--group-by field:class"), ["b", "c"]);
}
