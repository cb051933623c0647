//! Which files of directories are read, and through what.

use crate::harness::Place;

/// The ids that have a signature, in order.
fn ids(place: &Place, arguments: &str) -> Vec<String> {
    let signatures = place.run(&format!("sketch --hashes 1 {arguments}")).clean();
    let id = |line: &str| {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        document["url"].as_str().unwrap().to_owned()
    };
    signatures.lines().map(id).collect()
}

#[test]
fn globs_and_hidden_files_are_as_in_ripgrep() {
    let place = Place::new();
    for name in [
        "d/A.java",
        "d/b/C.java",
        "d/b/c.txt",
        "d/.git/x",
        "d/.h.txt",
        "d/lib/E.java",
    ] {
        place.file(name, format!("words of {name}"));
    }
    for (arguments, expected) in [
        (
            "d",
            &["d/A.java", "d/b/C.java", "d/b/c.txt", "d/lib/E.java"][..],
        ),
        (
            "--glob *.java d",
            &["d/A.java", "d/b/C.java", "d/lib/E.java"],
        ),
        ("--glob *.java --glob !lib d", &["d/A.java", "d/b/C.java"]),
        ("--glob !*.java d", &["d/b/c.txt"]),
        ("--glob b/* d", &["d/b/C.java", "d/b/c.txt"]),
        ("--hidden --glob *.txt d", &["d/.h.txt", "d/b/c.txt"]),
        // What is named is read.
        (
            "--glob *.java d d/.git d/.h.txt",
            &["d/A.java", "d/b/C.java", "d/lib/E.java", "d/.h.txt"],
        ),
    ] {
        assert_eq!(ids(&place, arguments), expected, "{arguments}");
    }
    for (arguments, says) in [
        (
            "--glob *.java d/A.java",
            "--glob is about the files of a directory",
        ),
        (
            "--follow d/A.java",
            "--follow is about the files of a directory",
        ),
        ("--glob [ d", "invalid value '['"),
        ("--pre-glob * d", "--pre <COMMAND>"),
        ("--pre cat -", "--pre is run for files"),
        (
            "--pre cat --input-format jsonl d",
            "what a command prints is plain text",
        ),
    ] {
        let run = place.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments}");
        assert!(run.stderr.contains(says), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn files_without_text_are_passed_over_unless_they_are_named() {
    let place = Place::new();
    place
        .file("d/1.txt", "some words")
        .file("d/2.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        .file("d/3.bin", b"\x01\x02\0\0\xff\xfe\0\0\x07\x01\x01")
        .file("d/4.txt", "some words");
    let run = place.run("d");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (0, "d/1.txt d/4.txt 1.0\n")
    );
    assert_eq!(
        run.stderr,
        "simdup: 2 files without text were passed over\n"
    );
    assert_eq!(place.run("-q d").stderr, "");
    assert_eq!(place.run("d d/2.png").status, 2);
    // There is text in these.
    place.file("d/5.pdf", "%PDF-1.4\n");
    let run = place.run("d");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .starts_with("simdup: d/5.pdf: a PDF; take its text out"),
        "{}",
        run.stderr
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_where_they_are_named_or_it_is_asked_for() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place
        .file("d/1.txt", "some words")
        .file("e/2.txt", "some words");
    symlink("../e", place.path("d/e")).unwrap();
    symlink("..", place.path("e/up")).unwrap();
    symlink("d/1.txt", place.path("link")).unwrap();
    assert_eq!(ids(&place, "e link"), ["e/2.txt", "link"]);
    let run = place.run("sketch --follow --hashes 1 d");
    assert!(run.stdout.contains("\"d/e/2.txt\""), "{}", run.stdout);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("a link to a folder that it is in"),
        "{}",
        run.stderr
    );
}

#[cfg(unix)]
mod commands {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(place: &Place, name: &str, text: &str) {
        place.file(name, format!("#!/bin/sh\n{text}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path(name), mode).unwrap();
    }

    #[test]
    fn what_a_command_prints_is_the_text() {
        let place = Place::new();
        place
            .file("d/1.x", "SOME WORDS OF A TEXT")
            .file("d/2.txt", "some words of a text")
            .file("d/3.bad", "anything")
            .file("d/4.x", "{\"url\":\"a\",\"text\":\"b\"}");
        script(
            &place,
            "pre",
            "case $1 in *.bad) echo cannot do that >&2; echo again >&2; exit 3;; esac\n\
             tr A-Z a-z; echo",
        );
        let run = place.run("--pre ./pre --pre-glob *.x --pre-glob *.bad --threshold 1 d");
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (2, "d/1.x d/2.txt 1.0\n")
        );
        assert_eq!(
            run.stderr,
            "simdup: d/3.bad: cannot be read: `./pre` failed, exit status: 3: \
             cannot do that\nsimdup: 1 record or file was skipped\n"
        );
        assert_eq!(
            ids(&place, "--pre ./pre --pre-glob *.x d/1.x d/4.x"),
            ["d/1.x", "d/4.x"]
        );
        let run = place.run("--pre ./nothing d/1.x");
        assert_eq!(run.status, 2);
        assert!(
            run.stderr
                .starts_with("simdup: d/1.x: cannot be read: `./nothing` cannot be run: "),
            "{}",
            run.stderr
        );
        assert_eq!(
            place
                .run("dedup --pre ./pre --pre-glob *.x d/1.x d/2.txt")
                .stdout,
            "d/1.x\n"
        );
    }

    #[test]
    fn a_command_has_arguments() {
        let place = Place::new();
        place
            .file("d/1 1.x", "SOME WORDS")
            .file("d/2.txt", "some words");
        script(
            &place,
            "my pre",
            "for last; do :; done; tr A-Z a-z < \"$last\"",
        );
        script(
            &place,
            "pre",
            "[ $1 = -a ] && tr A-Z a-z < \"$2\" && [ \"$3\" = 'b c' ]",
        );
        for pre in ["./pre -a {} 'b c'", "./my pre", "'./my pre' -x"] {
            let mut command = place.command("--pre-glob *.x --threshold 1 d --pre");
            let output = command.arg(pre).output().unwrap();
            let stdout = String::from_utf8(output.stdout).unwrap();
            assert_eq!(
                stdout, "d/1%201.x d/2.txt 1.0\n",
                "{pre}: {:?}",
                output.stderr
            );
        }
        let output = place.command("d --pre").arg("cat 'x").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr.contains("a quote is opened and never closed"),
            "{stderr}"
        );
    }

    #[test]
    fn a_command_that_prints_nothing_for_any_file_is_an_error() {
        let place = Place::new();
        place
            .file("d/1.x", "some words")
            .file("d/2.x", "other words")
            .file("d/3.x", "")
            .file("d/4.txt", "some words");
        script(&place, "silent", "cat > /dev/null; echo");
        script(&place, "pre", "case $1 in *2.x) ;; *) cat;; esac");
        for verb in ["", "dedup", "cluster", "sketch"] {
            place
                .run(&format!("{verb} --pre ./silent --pre-glob *.x d"))
                .fails(
                    "d/1.x: the command printed nothing for this file, nor for the other one; it",
                );
        }
        let run = place.run("--pre ./pre --pre-glob *.x d");
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (0, "d/1.x d/4.txt 1.0\n")
        );
        assert_eq!(
            run.stderr,
            "simdup: --pre: the command printed nothing for 1 of 2 files, in d/2.x\n"
        );
        // A file that is empty has nothing to print.
        assert_eq!(
            place
                .run("--pre ./silent --pre-glob *.x d/3.x d/4.txt")
                .clean(),
            ""
        );
    }

    #[test]
    fn pdftotext_prints_the_text() {
        let place = Place::new();
        place
            .file("1.pdf", "%PDF-1.4\n")
            .file("2.txt", "some words");
        script(
            &place,
            "pdftotext",
            "[ \"$2\" = - ] && echo some words || echo no > $1.txt",
        );
        let run = place.run("--pre ./pdftotext --pre-glob *.pdf 1.pdf 2.txt");
        assert_eq!(run.clean(), "1.pdf 2.txt 1.0\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_interrupt_ends_the_command_too() {
        use std::os::unix::process::ExitStatusExt;

        let place = Place::new();
        place.file("d/1", "x");
        script(&place, "pre", "echo $$ > pid; exec sleep 1000");
        let mut child = place.signalled("--pre ./pre d").spawn().unwrap();
        let pid = loop {
            match std::fs::read_to_string(place.path("pid")) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => std::thread::sleep(std::time::Duration::from_millis(5)),
            }
        };
        let signal = format!("kill -INT {}", child.id());
        std::process::Command::new("sh")
            .args(["-c", &signal])
            .status()
            .unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(2));
        let is_there = || {
            std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z"))
        };
        for _ in 0..1000 {
            if !is_there() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("{pid} is still there");
    }
}
