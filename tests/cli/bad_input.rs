//! Bad input: a line about each, nothing else lost, status 2.

use crate::corpus::{Random, frame};
use crate::harness::{Place, gzip, line};

const GOOD: &str = "{\"url\":\"a\",\"text\":\"one two\"}\n";
const ALSO: &str = "{\"url\":\"b\",\"text\":\"one two\"}\n";

#[track_caller]
fn check(input: &[u8], arguments: &str, says: &[&str]) {
    let place = Place::new();
    place.file("docs", input);
    let run = place.run(&format!("{arguments} docs"));
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (2, "a b 1.0\n"),
        "{}",
        run.stderr
    );
    let mut lines: Vec<&str> = run.stderr.lines().collect();
    let last = lines.pop().unwrap();
    assert!(last.ends_with("skipped"), "{last}");
    assert_eq!(lines.len(), says.len(), "{}", run.stderr);
    for (line, says) in lines.iter().zip(says) {
        assert!(line.starts_with(&format!("simdup: docs: {says}")), "{line}");
    }
    let strict = place.run(&format!("{arguments} --strict docs"));
    assert_eq!((strict.status, strict.stdout.as_str()), (2, ""));
    assert_eq!(strict.stderr, format!("{}\n", lines[0]));
}

#[test]
fn bad_json_lines_are_named_and_the_others_used() {
    for (bad, says) in [
        (
            &b"{\"url\":\"c\",\"text\"\n"[..],
            "record 2, byte 45: malformed JSON: ",
        ),
        (
            b"{\"url\":\"c\",\"text\":\"x\"} {}\n",
            "record 2, byte 52: malformed JSON: trailing",
        ),
        (b"[1,2]\n", "record 2, byte 29: malformed JSON: "),
        (b"nonsense\n", "record 2, byte 30: malformed JSON: "),
        (b"{\"url\":\"c\",\"text\":\"\\ud800\"}\n", "record 2, byte "),
        (
            b"{\"url\":\"c\",\"text\":\"\xff\"}\n",
            "record 2, byte 48: invalid UTF-8",
        ),
        (
            b"{\"url\":\"c\"}\n",
            "record 2, byte 29: no text in the field `text`; the record has `url`; --id-field",
        ),
        (
            b"{\"url\":\"c\",\"text\":null}\n",
            "record 2, byte 29: no text in the field `text`; the record has `url`; --id-field",
        ),
        (
            b"{\"url\":\"c\",\"text\":true}\n",
            "record 2, byte 29: `text` is a boolean, not a string",
        ),
        (
            b"{\"url\":\"c\",\"text\":[\"x\",1]}\n",
            "record 2, byte 29: `text` is an array with something else in it, not a string",
        ),
        (
            b"{\"url\":[\"x\"],\"text\":\"x\"}\n",
            "record 2, byte 29: `url` is an array, not a string",
        ),
        (
            b"{\"url\":{},\"text\":\"x\"}\n",
            "record 2, byte 29: `url` is an object, not a string",
        ),
    ] {
        let input = [GOOD.as_bytes(), bad, ALSO.as_bytes()].concat();
        check(&input, "", &[says]);
    }
    let deep = format!("{{\"url\":\"c\",\"x\":{}1\n", "[".repeat(100_000));
    let input = [GOOD, &deep, ALSO].concat();
    check(input.as_bytes(), "", &["record 2, byte "]);
    let missing = [GOOD, "{\"id\":\"c\",\"text\":\"x\"}\n", ALSO].concat();
    check(
        missing.as_bytes(),
        "--id-field url",
        &["record 2, byte 29: no id in the field `url`"],
    );
}

#[test]
fn items_must_be_arrays_of_strings() {
    let input = "{\"url\":\"a\",\"text\":[\"x\",\"y\"]}\n\
                 {\"url\":\"c\",\"text\":\"x\"}\n\
                 {\"url\":\"d\",\"text\":[\"x\",1]}\n\
                 {\"url\":\"b\",\"text\":[\"Y\",\"x\",\"\"]}\n";
    check(
        input.as_bytes(),
        "--items",
        &[
            "record 2, byte 29: `text` is a string, not an array of strings",
            "record 3, byte 52: `text` is an array with something else in it",
        ],
    );
}

#[test]
fn bad_frames_are_named_and_the_others_used() {
    let (a, b) = (frame("a", "one two"), frame("b", "one two"));
    for (bad, says) in [
        (
            &b"\x02\0\0\0\x0a\x09"[..],
            "record 2, byte 16: malformed protobuf message: field 1",
        ),
        (
            b"\x02\0\0\0\x08\x01",
            "record 2, byte 16: malformed protobuf message: field 1 is not",
        ),
        (
            b"\x01\0\0\0\xff",
            "record 2, byte 16: malformed protobuf message: ",
        ),
        (b"\0\0\0\0", "record 2, byte 16: no url in the message"),
        (
            b"\x03\0\0\0\x1a\x01x",
            "record 2, byte 16: no url in the message",
        ),
        (
            b"\x03\0\0\0\x0a\x01\xff",
            "record 2, byte 16: invalid UTF-8",
        ),
    ] {
        check(&[&a[..], bad, &b[..]].concat(), "", &[says]);
    }
    // Behind these, no frame can be found.
    for (end, says) in [
        (
            &b"\xff\xff\xff\xff\x0a\x01x"[..],
            "record 3, byte 32: impossible frame length -1",
        ),
        (
            b"\xff\xff\xff\x7f\x0a\x01x",
            "record 3, byte 32: impossible frame length 2147483647",
        ),
        (
            b"\xff\xff\xff\x3f\x0a\x01x",
            "record 3, byte 32: the input ends inside a record: 1073741823",
        ),
        (
            b"\x09\0\0",
            "record 3, byte 32: the input ends inside a record",
        ),
        (
            b"\x09\0\0\0\x0a",
            "record 3, byte 32: the input ends inside a record: 9 bytes announced, 1",
        ),
    ] {
        check(&[&a[..], &b[..], end].concat(), "", &[says]);
    }
}

#[test]
fn a_cut_off_gzip_file_gives_what_it_has() {
    // Stored, not packed, so that the cut comes behind both documents.
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::none());
    let long = line("c", &"word ".repeat(1000));
    std::io::Write::write_all(&mut encoder, [GOOD, ALSO, &long].concat().as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    for length in [500, whole.len() - 9] {
        check(
            &whole[..length],
            "",
            &["record 3, byte 58: damaged or incomplete compressed data"],
        );
    }
    let mut spoiled = whole.clone();
    let at = spoiled.len() - 6;
    spoiled[at] ^= 1;
    check(&spoiled, "", &["record 4, byte "]);
    check(
        &[&gzip([GOOD, ALSO].concat())[..], b"junk"].concat(),
        "",
        &["record 3, byte 58: damaged"],
    );
}

#[test]
fn an_unreadable_file_among_good_ones_is_named() {
    let place = Place::new();
    place.file("1", GOOD).file("3", ALSO);
    let run = place.run("1 2 3");
    assert_eq!((run.status, run.stdout.as_str()), (2, "a b 1.0\n"));
    assert!(
        run.stderr.starts_with("simdup: 2: cannot be read: "),
        "{}",
        run.stderr
    );
    let strict = place.run("--strict 1 2 3");
    assert_eq!((strict.status, strict.stdout.as_str()), (2, ""));
}

#[test]
fn many_alike_are_counted() {
    let place = Place::new();
    let bad = "{\"url\":\"c\"}\n".repeat(50) + "not json\n";
    let run = place.pipe("", [GOOD, &bad, ALSO].concat());
    assert_eq!((run.status, run.stdout.as_str()), (2, "a b 1.0\n"));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 10 + 1 + 2, "{}", run.stderr);
    assert_eq!(lines[11], "simdup: 40 more of the kind: missing field");
    assert_eq!(lines[12], "simdup: 51 records or files were skipped");
}

#[test]
fn text_that_is_named_utf8_and_is_not_is_refused() {
    let place = Place::new();
    place
        .file("t", b"Where is the caf\xe9 of the h\xf4tel?")
        .file("u", "fine");
    place
        .run("--encoding utf-8 t u")
        .fails("t: record 1, byte 16: invalid UTF-8");
}

#[test]
fn no_bytes_make_it_panic() {
    let place = Place::new();
    let mut random = Random::new(11);
    let seeds: [Vec<u8>; 5] = [
        [GOOD, ALSO].concat().into_bytes(),
        [frame("a", "one two"), frame("b", "one two")].concat(),
        gzip([GOOD, ALSO].concat()),
        zstd::encode_all(GOOD.as_bytes(), 1).unwrap(),
        "Plain text, “quoted”.\n".into(),
    ];
    for round in 0..300 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, random.next() as u8),
            }
        }
        let format = ["auto", "jsonl", "protobuf", "text", "lines"][random.below(5)];
        place.file("fuzz", &bytes);
        let run = place.run(&format!("--hashes 4 --input-format {format} fuzz"));
        assert!(run.status == 0 || run.status == 2, "{bytes:?}");
        assert!(!run.stderr.contains("panick"), "{bytes:?}: {}", run.stderr);
    }
}

/// A pipe whose reader has gone takes no messages, and that is no reason to fail in
/// another way.
#[cfg(target_os = "linux")]
#[test]
fn nobody_listening_to_errors_changes_nothing() {
    let place = Place::new();
    place.file("docs", [GOOD, "nonsense\n", ALSO].concat());
    let full = || {
        std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    for (arguments, status) in [
        ("docs nothing", 2),
        ("--threshold 2 docs", 2),
        ("--stats - docs", 2),
    ] {
        let output = place.command(arguments).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let place = Place::new();
    place.file(
        "bom",
        [b"\xef\xbb\xbf", GOOD.as_bytes(), ALSO.as_bytes()].concat(),
    );
    assert_eq!(place.run("bom").clean(), "a b 1.0\n");
    place.file("t", b"\xef\xbb\xbftext").file("u", "text");
    assert_eq!(
        place.run("--keep-case --shingle-chars 2 t u").clean(),
        "t u 1.0\n"
    );
    place.file("bad", b"\xef\xbb\xbfab\xff");
    place
        .run("--input-format lines bad")
        .says("1 byte was not UTF-8 and was replaced by U+FFFD (byte 5 of bad)");
}
