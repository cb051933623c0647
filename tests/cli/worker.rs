//! `simdup worker`: what stands around its streams. What goes through them is tested in
//! `python/tests`, by an engine.

use crate::harness::Place;

#[cfg(not(feature = "worker"))]
#[test]
fn the_feature_that_is_missing_is_named() {
    Place::new()
        .pipe("worker link", "")
        .fails("feature `worker`");
}

#[cfg(feature = "worker")]
#[test]
fn another_version_is_refused() {
    let run = Place::new().pipe("worker link --expect-version 0.0.0", "");
    run.fails("0.0.0 is expected");
}

#[cfg(feature = "worker")]
#[test]
fn what_is_no_stream_of_rows_is_told() {
    for input in ["", "no rows", "\u{fff}\u{fff}\u{fff}\u{fff}\u{fff}\u{fff}"] {
        let run = Place::new().pipe("worker link", input);
        assert!(run.status == 2 && !run.stderr.is_empty(), "{run:?}");
    }
}

#[cfg(feature = "worker")]
#[test]
fn a_plan_needs_files() {
    let run = Place::new().pipe("worker plan", "");
    run.fails("name the files");
}

#[cfg(feature = "worker")]
#[test]
fn an_input_that_cannot_be_read_ends_the_plan_and_is_named() {
    let place = Place::new();
    place.file("a.jsonl", "{\"text\":\"a b c\"}\n");
    // Standard output is an Arrow stream, no text.
    let plan = |typed: &str| {
        let output = place.command(&format!("worker plan {typed}")).output();
        let output = output.unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), stderr)
    };
    for (typed, says) in [
        ("a.jsonl gone.jsonl", "gone.jsonl: cannot be read"),
        ("a.jsonl --against gone", "gone: cannot be read"),
        (
            "s3a://bucket/x",
            "s3a://bucket/x cannot be read: it is an address",
        ),
        ("a.jsonl --skip-ok gone.jsonl", "gone.jsonl: cannot be read"),
    ] {
        let (status, stderr) = plan(typed);
        assert_eq!(status, Some(2), "{typed}: {stderr}");
        assert!(stderr.contains(says), "{typed}: {stderr}");
    }
    assert_eq!(plan("a.jsonl").0, Some(0));
}

#[cfg(feature = "worker")]
#[test]
fn flags_of_other_stages_are_refused() {
    for (typed, says) in [
        ("link --keys few", "--keys and --key-bits go with `sketch`"),
        ("sketch --output .", "--output goes with"),
        ("verify --output . --emit rows", "leave --emit rows out"),
        ("link --together 5", "go with `forest`"),
        ("verify", "--output says where lines are written"),
        ("link --keep max:date", "--keep has no effect on pairs"),
        (
            "link --cluster components",
            "--cluster has no effect on pairs",
        ),
    ] {
        Place::new()
            .pipe(&format!("worker {typed}"), "")
            .fails(says);
    }
}
