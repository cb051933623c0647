//! What is read as a document, and from where.

use crate::corpus::{Corpus, Shape};
use crate::harness::{ONE, Place, gzip, line};

/// The ids that have a signature, in order.
fn ids(place: &Place, arguments: &str) -> Vec<String> {
    let signatures = place.run(&format!("sketch --hashes 1 {arguments}")).clean();
    signatures
        .lines()
        .map(|line| {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            document["url"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn the_id_is_url_else_id_else_the_place() {
    let place = Place::new();
    place.file(
        "docs",
        "{\"url\":\"u\",\"id\":\"i\",\"text\":\"x\"}\n\
         \n\
         {\"id\":\"i\",\"text\":\"x\"}\n\
         {\"text\":\"x\"}\r\n\
         {\"url\":null,\"text\":\"x\"}\n\
         {\"name\":\"n\",\"text\":\"x\",\"url\":\"other\"}",
    );
    assert_eq!(ids(&place, "docs"), ["u", "i", "docs:4", "docs:5", "other"]);
    place.file("named", "{\"name\":\"n\",\"text\":\"x\",\"url\":\"other\"}");
    assert_eq!(ids(&place, "--id-field name named"), ["n"]);
}

#[test]
fn text_fields_are_joined() {
    let place = Place::new();
    place.file(
        "docs",
        "{\"id\":\"a\",\"title\":\"one two\",\"abstract\":\"three four\"}\n\
         {\"id\":\"b\",\"abstract\":\"Three four\",\"title\":\"One\\ntwo\"}\n\
         {\"id\":\"c\",\"abstract\":\"one two three four\"}\n\
         {\"id\":\"d\",\"title\":\"one two three\",\"abstract\":null}\n",
    );
    let pairs = place.run("--shingle-words 1 --threshold 1 --text-field title,abstract docs");
    assert_eq!(pairs.clean(), "a b 1.0\na c 1.0\nb c 1.0\n");
    let later = place.run("--threshold 1 --text-field nothing --text-field abstract docs");
    assert_eq!(later.stdout, "a b 1.0\n");
}

#[test]
fn the_first_document_of_an_id_counts() {
    let place = Place::new();
    let docs = [
        line("a", "one two"),
        line("b", "three"),
        line("a", "three"),
        line("a", "three"),
    ];
    let run = place.pipe("", docs.concat());
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert_eq!(
        run.stderr,
        "simdup: 2 documents were skipped: their ids had been met before, and the first counts\n"
    );
    assert_eq!(place.pipe("-q", docs.concat()).stderr, "");
}

#[test]
fn a_directory_is_read_file_by_file_as_each_says() {
    let place = Place::new();
    place
        .file("d/b.txt", "plain text in a file")
        .file("d/a/2.jsonl", line("json", "a line"))
        .file("d/a/1", "another plain text")
        .file("d/empty", "");
    assert_eq!(ids(&place, "d"), ["d/a/1", "json", "d/b.txt"]);
    assert_eq!(
        ids(&place, "--input-format text d/b.txt d/a"),
        ["d/b.txt", "d/a/1", "d/a/2.jsonl"]
    );
}

#[test]
fn lines_are_documents_if_so_asked() {
    let place = Place::new();
    place.file("l", "one\n\nTwo words\r\ntwo words");
    assert_eq!(ids(&place, "--input-format lines l"), ["l:1", "l:3", "l:4"]);
    assert_eq!(place.run("--input-format lines l").clean(), "l:3 l:4 1.0\n");
    assert_eq!(
        place.pipe("--input-format lines", "a b\na b\n").clean(),
        "-:1 -:2 1.0\n"
    );
}

#[test]
fn a_text_on_a_pipe_is_one_document_which_is_said() {
    let run = Place::new().pipe("", "a b\na b\n");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    run.says("as one document");
    assert_eq!(Place::new().pipe("-q", "a b\n").stderr, "");
}

#[test]
fn protobuf_may_lack_text_and_hold_strange_bodies() {
    let place = Place::new();
    let mut docs = b"\x10\0\0\0\x0a\x01a\x12\x02\xff\xfe\x1a\x03a b\x48\x05".to_vec();
    docs[0] = docs.len() as u8 - 4;
    docs.extend(b"\x03\0\0\0\x0a\x01e");
    docs.extend(b"\x08\0\0\0\x1a\x03A b\x0a\x01b");
    place.file("docs", docs);
    assert_eq!(place.run("--stats stats docs").clean(), "a b 1.0\n");
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    assert_eq!(stats["counts"]["documents"], 3);
    assert_eq!(stats["counts"]["empty"], 1);
    place
        .run("--text-field body docs")
        .fails("docs: record 1, byte 0: invalid UTF-8");
}

/// However the bytes of a collection are packed and spread over files, and however many
/// threads read them, the documents are the same and in the same order.
#[test]
fn packing_files_and_threads_change_nothing() {
    let corpus = Corpus::new(Shape {
        documents: 900,
        ..Shape::default()
    });
    let jsonl = corpus.jsonl().into_bytes();
    let place = Place::new();
    let members: Vec<u8> = jsonl.chunks(40_000).flat_map(gzip).collect();
    place
        .file("plain", &jsonl)
        .file("one.gz", gzip(&jsonl))
        .file("members.gz", &members)
        .file("frames.zst", zstd::encode_all(&jsonl[..], 1).unwrap())
        .file("frames", corpus.protobuf());
    let lines: Vec<&[u8]> = jsonl.split_inclusive(|&byte| byte == b'\n').collect();
    for (number, part) in lines.chunks(150).enumerate() {
        place.file(&format!("parts/{number}.gz"), gzip(part.concat()));
    }
    let expected = place.run("-j 1 --threshold 0.6 plain").clean();
    assert!(expected.lines().count() > 100);
    for input in [
        "plain",
        "one.gz",
        "members.gz",
        "frames.zst",
        "frames",
        "parts",
    ] {
        for threads in [1, 2, 5] {
            let run = place.run(&format!("-j {threads} --threshold 0.6 {input}"));
            assert_eq!(run.clean(), expected, "{input}, {threads} threads");
        }
        let exact = place.run(&format!("--score jaccard -j 3 {input}")).clean();
        assert_eq!(exact, place.run("--score jaccard --recall 1 plain").clean());
    }
}

/// A problem in one of many files comes in its turn, and nothing else is lost.
#[test]
fn a_damaged_member_hides_only_what_follows_it_in_its_file() {
    let place = Place::new();
    let text = |id: &str| line(id, &format!("text of {id}"));
    let mut damaged = [gzip(text("a1")), gzip(text("a2")), gzip(text("a3"))];
    // Behind the header: a kind of block that there is not.
    damaged[1][10] = 0x07;
    place
        .file("a.gz", damaged.concat())
        .file("b.gz", gzip([text("b1"), text("b2")].concat()));
    for threads in [1, 2] {
        let run = place.run(&format!("sketch --hashes 1 -j {threads} a.gz b.gz"));
        let ids: Vec<&str> = run.stdout.lines().map(|line| &line[8..10]).collect();
        assert_eq!(ids, ["a1", "b1", "b2"]);
        run.fails("a.gz: record 2");
    }
}

#[test]
fn standard_input_is_read_once_however_often_it_is_named() {
    let docs: String = (0..3000)
        .map(|n| line(&n.to_string(), "some words here"))
        .collect();
    let run = Place::new().pipe("sketch --hashes 1 - -", docs);
    assert_eq!(run.clean().lines().count(), 3000);
}

/// Documents whose id was met before are not held against each other.
#[test]
fn repeated_ids_cost_nothing() {
    let docs = line("a", "one two three four five six").repeat(100_000);
    let started = std::time::Instant::now();
    let run = Place::new().pipe("-q --score jaccard", docs);
    assert_eq!(run.clean(), "");
    assert!(started.elapsed().as_secs() < 15, "{:?}", started.elapsed());
}

#[test]
fn fields_within_objects_numbers_and_lists_are_taken() {
    let place = Place::new();
    let docs = [
        r#"{"meta":{"id":7,"tags":["one two","three"]},"n":4.10,"text":"five"}"#,
        r#"{"meta":{"id":18446744073709551616},"meta.tags":"One two three","n":4.10,"text":"five"}"#,
        r#"{"meta":{"id":18446744073709551617},"meta.tags":"One two three","n":"4.10","text":"five"}"#,
        r#"{"meta":{"id":"x","tags":[]},"n":4.1,"text":"five"}"#,
    ]
    .join("\n");
    let flags = "--id-field meta.id --text-field meta.tags,n,text";
    let pairs = place.pipe(flags, &docs).clean();
    assert_eq!(
        pairs,
        "7 18446744073709551616 1.0\n7 18446744073709551617 1.0\n\
         18446744073709551616 18446744073709551617 1.0\n"
    );
    let kept = place.pipe(&format!("dedup --keep max:meta.id {flags}"), &docs);
    assert_eq!(kept.clean().lines().count(), 2);
}

#[test]
fn files_are_listed_in_a_file() {
    let place = Place::new();
    place
        .file("a b.txt", ONE)
        .file("c.txt", ONE)
        .file("d/e.txt", ONE)
        .file("list", "a b.txt\r\n\nc.txt")
        .file("zeros", "a b.txt\0d\0")
        .file("nothing", "");
    let pairs = |arguments: &str| place.run(&format!("-q {arguments}")).clean();
    assert_eq!(pairs("--files-from list"), "a%20b.txt c.txt 1.0\n");
    assert_eq!(pairs("--files-from zeros -0"), "a%20b.txt d/e.txt 1.0\n");
    assert_eq!(pairs("--files-from list d").lines().count(), 3);
    assert_eq!(pairs("--files-from nothing"), "");
    let piped = place.pipe("--files-from -", "c.txt\nd/e.txt\n");
    assert_eq!(piped.clean(), "c.txt d/e.txt 1.0\n");
    for (arguments, says) in [
        ("--files-from nowhere", "--files-from nowhere: "),
        ("--files-from - -", "standard input can be read once"),
        ("--files-from list -o c.txt", "would replace what is read"),
        ("--files-from list -o list", "would replace what is read"),
        ("-0 c.txt", "--files-from"),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.status, 2, "{arguments}");
        assert!(run.stderr.contains(says), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn an_array_of_objects_is_records_on_one_line_or_over_many() {
    let records = [
        serde_json::json!({"id": 1, "text": "one [two], three \"four\" five six"}),
        serde_json::json!({"id": 2, "text": "one [two], three \"four\" five six", "n": [{}, []]}),
    ];
    let place = Place::new();
    place.file("line", serde_json::to_string(&records).unwrap());
    let pretty = serde_json::to_string_pretty(&records).unwrap();
    place.file("lines", &pretty);
    place.file("lines.gz", gzip(&pretty));
    for name in ["line", "lines", "lines.gz"] {
        assert_eq!(place.run(name).clean(), "1 2 1.0\n", "{name}");
    }
    let run = place.run("dedup -q lines");
    assert_eq!(run.clean().lines().count(), 1);
    place.file("cut", &pretty[..pretty.len() - 30]);
    place.run("cut").fails("cut: record 2, byte");
}

#[test]
fn a_field_that_no_record_has_is_told() {
    let place = Place::new();
    place.file(
        "docs",
        "{\"title\":\"a b\",\"text\":\"c d\"}\n{\"text\":\"e f\"}\n",
    );
    let run = place.run("--text-field title,txet,text docs");
    assert_eq!(run.status, 0);
    let told = "simdup: --text-field: no record has the field `txet`\n";
    assert_eq!(run.stderr, told);
    assert_eq!(place.run("--text-field title,text docs").stderr, "");
    assert_eq!(place.run("--text-field text,text,title docs").stderr, "");
}
