//! A document is never compared with itself, whatever path or side it comes from, and none goes
//! in favor of one that goes itself.

use crate::harness::{ONE, ONE_EDITED, OTHER, Place, four, line};

fn stats(place: &Place) -> serde_json::Value {
    serde_json::from_str(&place.read("stats")).unwrap()
}

#[test]
fn a_file_is_no_match_for_itself_across_two_sides() {
    let place = Place::new();
    place.file("src/main.c", ONE).file("src/other.c", OTHER);
    for score in ["minhash", "jaccard", "containment"] {
        let run = |files: &str| place.run(&format!("-q -s {score} {files}")).clean();
        assert_eq!(run("--against src/ src/main.c"), "", "{score}");
        assert_eq!(run("--against src ./src/main.c"), "", "{score}");
    }
    place.file("src/copy.c", ONE);
    assert_eq!(
        place.run("--against src/ src/main.c").clean(),
        "src/main.c src/copy.c 1.0\n"
    );
    let annotated = place
        .run("dedup --annotate --against src/ src/main.c")
        .clean();
    assert!(
        annotated.contains("\"nearDuplicate\":[{\"url\":\"src/copy.c\",\"score\":1.0}]"),
        "{annotated}"
    );
    let gone = place.run("dedup --dry-run -q --against src/ src/main.c");
    assert!(
        gone.stdout.contains("\"keeper\":\"src/copy.c\""),
        "{gone:?}"
    );
}

#[test]
fn a_file_with_an_exclamation_mark_is_no_member_of_another() {
    let place = Place::new();
    place.file("a!b", ONE_EDITED).file("a", ONE);
    let pairs = place
        .run("-s jaccard -w 2 -t 0.1 --against a a!b a")
        .clean();
    assert!(pairs.starts_with("a!b a 0."), "{pairs}");
    assert_eq!(pairs.lines().count(), 1, "{pairs}");
}

#[test]
fn a_record_is_no_match_for_itself_but_for_others_of_its_file() {
    let place = Place::new();
    place.file("docs", four().concat());
    let pairs = "a c 0.7777777777777778\na d 1.0\nc a 0.7777777777777778\nc d 0.7777777777777778\n\
                 d a 1.0\nd c 0.7777777777777778\n";
    let run = |command: &str| place.run(command).clean();
    assert_eq!(run("-s jaccard --against docs docs"), pairs);
    assert_eq!(run("-s jaccard --against ./docs docs"), pairs);
    assert_eq!(
        run("dedup --annotate --against docs docs"),
        run("dedup --annotate docs")
    );
}

#[test]
fn a_document_of_an_index_is_no_match_for_itself() {
    let place = Place::new();
    place.file("docs", four().concat());
    place.run("index build -q idx docs").clean();
    let run = |command: &str| place.run(command).clean();
    let pairs = run("-s jaccard --against docs docs");
    assert_eq!(run("query idx docs"), pairs);
    assert_eq!(run("-s jaccard --against idx docs"), pairs);
    assert_eq!(run("query idx docs --top 1").lines().count(), 3);
    let annotated = run("dedup --annotate docs");
    assert_eq!(run("dedup --annotate --against idx docs"), annotated);
    assert_eq!(run("query --annotate idx docs"), annotated);
    // What has no id but its place in a pipe is another document.
    let text = |text: &str| format!("{}\n", serde_json::json!({ "text": text }));
    place.pipe("index build -q pipe", text(ONE)).clean();
    assert_eq!(place.pipe("query pipe", text(ONE)).clean(), "-:1 -:1 1.0\n");
}

#[test]
fn nothing_goes_for_a_document_that_goes_itself() {
    let place = Place::new();
    place.file("docs", four().concat());
    place.run("index build -q idx docs").clean();
    let kept = place.run("dedup -q docs --removed all").clean();
    for against in ["docs", "./docs", "idx"] {
        let run = place.run(&format!("dedup -q --against {against} docs --removed some"));
        assert_eq!(run.clean(), kept, "{against}");
        assert_eq!(place.read("some"), place.read("all"), "{against}");
        let run = place.run(&format!("dedup -q --against {against} --against-only docs"));
        assert_eq!(run.clean(), place.read("docs"), "{against}");
    }
    // The next best of an index stands for those whose best is among them.
    place.file("more", line("x", ONE_EDITED));
    place.run("index add -q --no-pairs idx more").clean();
    place
        .run("dedup -q -t 0.7 --against idx --against-only docs --removed some")
        .clean();
    let gone: Vec<serde_json::Value> = place
        .read("some")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(gone.len(), 3);
    assert!(gone.iter().all(|gone| gone["keeper"] == "x"), "{gone:?}");
}

#[test]
fn a_file_by_two_paths_is_read_once() {
    let place = Place::new();
    place.file("docs/a.txt", OTHER).file("docs/sub/b.txt", ONE);
    #[cfg(unix)]
    {
        std::fs::hard_link(place.path("docs/a.txt"), place.path("docs/hard.txt")).unwrap();
        std::os::unix::fs::symlink("a.txt", place.path("docs/soft.txt")).unwrap();
    }
    let whole = place.path("docs");
    for (files, repeated) in [
        ("docs docs/sub".to_owned(), 2),
        (format!("docs {}", whole.display()), 4),
        ("--follow docs".to_owned(), 2),
        ("docs/sub/b.txt docs/sub/b.txt".to_owned(), 1),
    ] {
        if !cfg!(unix) {
            break;
        }
        let run = place.run(&format!("--stats stats {files}"));
        assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{files}");
        run.says("already read");
        assert_eq!(
            stats(&place)["counts"]["repeated_files"],
            repeated,
            "{files}"
        );
        place
            .run(&format!("dedup -q --removed gone {files}"))
            .clean();
        assert_eq!(place.read("gone"), "", "{files}");
    }
    let run = place.run("dedup -q --output-dir out docs docs/sub");
    run.fails("not for --output-dir");
}

#[test]
fn a_missing_other_side_is_an_error_before_anything_is_written() {
    let place = Place::new();
    place.file("docs", four().concat());
    for command in ["", "-s jaccard", "dedup", "dedup --annotate", "report"] {
        for more in ["", "--skip-ok"] {
            let run = place.run(&format!("{command} {more} -o out --against nowhere docs"));
            run.fails("nowhere: cannot be read: ");
            assert!(!place.path("out").exists(), "{command}");
        }
    }
}

#[test]
fn what_is_left_is_clustered_as_without_another_side() {
    let place = Place::new();
    place.file("old", line("o", ONE)).file(
        "new",
        [
            line("a", ONE_EDITED),
            line("b", OTHER),
            line("c", &format!("{OTHER} and more")),
            line("d", "nothing like it"),
        ]
        .concat(),
    );
    place.run("index build -q idx old").clean();
    for against in ["old", "idx"] {
        let run = |more: &str| {
            place
                .run(&format!(
                    "dedup -q -t 0.5 --against {against} {more} new --removed gone"
                ))
                .clean()
                .lines()
                .map(|line| {
                    let line: serde_json::Value = serde_json::from_str(line).unwrap();
                    line["url"].as_str().unwrap().to_owned()
                })
                .collect::<String>()
        };
        assert_eq!(run(""), "bd", "{against}");
        let gone = place.read("gone");
        assert!(
            gone.contains("\"keeper\":\"o\"") && gone.contains("\"keeper\":\"b\""),
            "{gone}"
        );
        assert_eq!(run("--keep longest"), "cd", "{against}");
        assert_eq!(run("--cluster components"), "bd", "{against}");
        assert_eq!(run("--against-only"), "bcd", "{against}");
    }
}

#[test]
fn a_template_counts_however_long_it_is() {
    let place = Place::new();
    let long = format!("{ONE} {ONE} {ONE}");
    place.file("frame", &long);
    let docs = [line("a", ONE), line("b", ONE)].concat();
    let run = place.pipe("--template frame --max-words 12", &docs);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    run.says("2 documents with nothing that is not in a template");
}

#[test]
fn a_template_that_cannot_be_read_is_an_error_whatever_is_skipped() {
    let place = Place::new();
    place
        .file("picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        .file("docs", four().concat());
    for template in ["nowhere", "picture"] {
        for command in ["", "dedup", "cluster", "sketch", "explain a d"] {
            let run = place.run(&format!("{command} --skip-ok --template {template} docs"));
            run.fails(template);
            assert_eq!(run.stdout, "", "{command}");
        }
    }
}
