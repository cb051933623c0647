//! What the exit status tells.

use crate::harness::{Place, four, line};

/// The table of the help, row by row.
#[test]
fn the_status_is_as_the_table_says() {
    let place = Place::new();
    place
        .file("found", four().concat())
        .file("none", line("a", "one two three four five six"))
        .file("bad", format!("{}{{\"url\":\n", four().concat()))
        .file("bad-only", "{\"url\":\n")
        .file("empty/.keep", "");
    for (command, has_status) in [
        ("", true),
        ("-s jaccard", true),
        ("--count", true),
        ("--sort score", true),
        ("cluster", true),
        ("dedup", true),
        ("dedup --annotate", true),
        ("dedup --dry-run", true),
        ("sketch", false),
    ] {
        let status = |arguments: &str| {
            let run = place.run(&format!("{command} -q {arguments}"));
            (run.status, run.stderr)
        };
        let jsonl = "--input-format jsonl";
        assert_eq!(status("found").0, 0, "{command}");
        assert_eq!(status(&format!("{jsonl} bad")).0, 2);
        assert_eq!(status(&format!("{jsonl} --skip-ok bad")).0, 0);
        assert_eq!(status("nowhere").0, 2);
        assert_eq!(status("--skip-ok nowhere").0, 0);
        assert_eq!(status("empty").0, 0);
        assert!(!status("empty").1.contains("no document"));
        place
            .run(&format!("{command} empty"))
            .says("no document was read\n");
        let (code, told) = status("--strict --skip-ok found");
        assert!(code == 2 && told.contains("do not go together"), "{told}");
        if !has_status {
            continue;
        }
        assert_eq!(status("--exit-status found").0, 1, "{command}");
        assert_eq!(status("--exit-status none").0, 0, "{command}");
        assert_eq!(status("--exit-status empty").0, 3, "{command}");
        assert_eq!(status(&format!("{jsonl} --exit-status bad")).0, 2);
        assert_eq!(status(&format!("{jsonl} --exit-status --skip-ok bad")).0, 1);
        let (code, told) = status("--exit-status nowhere");
        assert!(
            code == 3 && told.contains("nowhere: cannot be read"),
            "{told}"
        );
        assert_eq!(status("--exit-status found nowhere").0, 2);
        assert_eq!(status("--exit-status --skip-ok found nowhere").0, 1);
        assert_eq!(status("--exit-status --skip-ok nowhere").0, 3);
    }
    // What is compared with is not what is read.
    assert_eq!(place.run("--exit-status --against found empty").status, 3);
    assert_eq!(
        place
            .run("dedup --exit-status --against found empty")
            .status,
        3
    );
}

#[test]
fn an_index_answers_in_its_status_too() {
    let place = Place::new();
    place
        .file("found", four().concat())
        .file(
            "more",
            line(
                "e",
                "one two three four five six seven eight nine ten eleven twelve",
            ),
        )
        .file(
            "none",
            line("z", "nothing like it in there at all whatever one says"),
        )
        .file("empty/.keep", "");
    place.run("index build index found").clean();
    for (arguments, status) in [
        ("query index --exit-status more", 1),
        ("query index --exit-status none", 0),
        ("query index --exit-status empty", 3),
        ("query index --exit-status --id b", 0),
        ("query index --exit-status --id a", 1),
        ("index add --exit-status index none", 0),
        ("index add --exit-status index more", 1),
        ("index add --exit-status index empty", 3),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.status, status, "{arguments}: {}", run.stderr);
    }
}
