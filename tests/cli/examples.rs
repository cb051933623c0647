//! Every command that the help, the README and the pages in `docs` show without its output is run,
//! where the files are that it names. Those with their output are in `readme.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::archives::zipped;
use crate::harness::{Place, gzip, repository};

/// A folder with all that the examples name.
fn prepared() -> Place {
    let place = Place::new();
    let stored = |name: &str| fs::read(repository(name)).unwrap();
    for name in [
        "tests/data/example.jsonl",
        "tests/data/example.pb.gz",
        "tests/data/gold.txt",
    ] {
        place.file(name, stored(name));
    }
    let documents = stored("tests/data/example.jsonl");
    let ada = stored("tests/data/homework/ada/stats.c");
    let ben = stored("tests/data/homework/ben/hw3.c");
    for folder in ["tests/data/homework", "homework", "src", "essays"] {
        place
            .file(&format!("{folder}/ada/stats.c"), &ada)
            .file(&format!("{folder}/ben/hw3.c"), &ben);
    }
    for name in [
        "old.jsonl",
        "crawl/a.jsonl",
        "last-year/a.jsonl",
        "this-year/b.jsonl",
    ] {
        place.file(name, &documents);
    }
    for name in ["robotics.txt", "g.txt"] {
        place.file(name, stored("tests/data/gold.txt"));
    }
    for name in ["pages.warc.gz", "crawl/b.warc.gz"] {
        place.file(name, stored("tests/data/formats/members.warc.gz"));
    }
    for name in ["part1.gz", "part2.gz"] {
        place.file(name, stored("tests/data/example.pb.gz"));
    }
    let record = |url: &str, topic: u32| {
        let text = "a text of some words, which are enough for a shingle or for two";
        let record = serde_json::json!({
            "url": url, "text": text, "topic": topic, "title": "Words", "body": text, "abstract": text,
        });
        format!("{record}\n")
    };
    let records = record("a", 1) + &record("b", 1) + &record("c", 2);
    for name in ["records.jsonl", "pages.jsonl", "today.jsonl", "feed.jsonl"] {
        place.file(name, &records);
    }
    place
        .file("archive/x.jsonl", record("https://example.org/", 1))
        .file("data.gz", gzip(&documents))
        .file("crawl.gz", gzip(&documents))
        .file("handout.c", stored("tests/data/homework-handout.c"))
        .file("papers/a.pdf", "%PDF-1.7")
        .file("submissions/a.txt", "some words of a text that is long")
        .file("submissions/b.txt", "some words of a text that is long")
        .file(
            "verdicts.csv",
            "url1,url2,label\nsubmissions/a.txt,submissions/b.txt,1\n",
        )
        .file(
            "submissions.zip",
            zipped(&[
                ("x/A.java", b"class A { }"),
                ("test/B.java", b"class B { }"),
            ]),
        )
        .file("simdup.toml", "preset = \"code\"\nexit-status = true\n");
    for (name, script) in [
        ("pdftotext", "echo the text of a page"),
        ("crawl", "cat old.jsonl"),
        ("schedule", "cat"),
        // It would wait for more.
        ("tail", "shift; exec cat \"$@\""),
    ] {
        let name = format!("bin/{name}");
        place.file(&name, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(place.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

/// Runs a line of a shell there; gives its status, whether it prints anything, and what it says.
fn run(place: &Place, example: &str) -> (i32, bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_simdup")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!(
        "{}:{}:{path}",
        place.path("bin").display(),
        program.display()
    );
    let output = Command::new("sh")
        .args(["-c", example])
        .current_dir(place.path(""))
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_silent = output.stdout.is_empty();
    (output.status.code().unwrap(), !is_silent, says)
}

/// The examples of a page of help.
fn of_help(page: &str) -> Vec<String> {
    let (_, examples) = page.split_once("\nExamples:\n").unwrap_or_default();
    let (examples, _) = examples.split_once("\n\n").unwrap_or((examples, ""));
    let joined = examples.replace("\\\n", " ");
    joined.lines().map(|line| line.trim().to_owned()).collect()
}

/// The commands that stand by themselves, or in a job of CI.
fn of_page(page: &str) -> Vec<String> {
    let mut in_console = false;
    let mut examples = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let line = line.trim_start_matches(' ');
        let command = line.trim_start_matches("- run: ").trim_start_matches("- ");
        let is_command = ["simdup ", "zcat "]
            .iter()
            .any(|start| command.starts_with(start));
        let is_shown = command != line || page.contains(&format!("\n    {line}\n"));
        if !in_console && is_command && is_shown {
            examples.push(command.to_owned());
        }
    }
    examples
}

#[test]
fn every_example_of_the_help_runs() {
    let place = prepared();
    let mut count = 0;
    // Those of `worker` have tests of their own: the program is mostly built without.
    for command in [
        "",
        "sketch",
        "cluster",
        "dedup",
        "rank",
        "index build",
        "index add",
        "query",
        "explain",
        "report",
        "eval",
        "tune",
    ] {
        let help = place.run(&format!("{command} --help")).clean();
        let examples = of_help(&help);
        assert!(examples.len() >= 2, "{command}");
        for example in examples {
            let ids = "https://saltmere.example/news/2026/ferry-week-13 \
                       https://saltmere.example/news/2026/ferry-week-12";
            let (status, prints, says) = run(&place, &example.replace("ID1 ID2", ids));
            assert_eq!(status, 0, "{example}: {says}");
            if example.contains("tests/data/") {
                // There is something to be seen.
                let is_silent = example.contains("-o ") || example.contains("index build");
                assert_eq!(prints, !is_silent, "{example}: {says}");
            }
            count += 1;
        }
    }
    assert!(count >= 50, "{count}");
}

#[test]
fn every_command_of_readme_and_docs_runs() {
    let place = prepared();
    let mut count = 0;
    for page in ["README.md", "docs/ci.md"] {
        let text = fs::read_to_string(repository(page)).unwrap();
        for example in of_page(&text) {
            let (status, _, says) = run(&place, &example);
            // There is a pair, and `exit-status` is asked for.
            let expected = i32::from(example.contains("--write-baseline"));
            assert_eq!(status, expected, "{example}: {says}");
            count += 1;
        }
    }
    assert_eq!(count, 7);
    assert_eq!(
        of_page("text\n\n    simdup a\n\n```yaml\n  - run: simdup b\n```\n").len(),
        2
    );
}
