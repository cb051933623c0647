//! Ids as they are printed, and read back: white space, `%`, and what a terminal would act on.

use crate::harness::{Place, line};

const TEXT: &str = "the same text of a few words in every document";

fn docs(ids: &[&str]) -> String {
    ids.iter().map(|id| line(id, TEXT)).collect()
}

const NOTE: &str =
    "some ids contain white space: it is printed as %20 or the like, and % as %25; use ";

#[test]
fn an_id_without_white_space_is_printed_as_it_is_by_every_command() {
    let place = Place::new();
    let (one, two) = ("http://a.ru/%D0%BF", "a%20b");
    place
        .file("docs", docs(&[one, two]))
        .file("one", docs(&[one]))
        .file("two", docs(&[two]))
        .file("gold", TEXT);
    let pair = format!("{one} {two} 1.0\n");
    for flags in ["", "--preset technosphere", "-s jaccard", "--top 3"] {
        assert_eq!(place.run(&format!("{flags} docs")).clean(), pair);
    }
    assert_eq!(place.run("cluster docs").clean(), format!("{one} {two}\n"));
    assert_eq!(
        place.run("rank --gold gold docs").clean(),
        format!("1.0 {one}\n1.0 {two}\n")
    );
    place.run("index build i one").clean();
    let answer = format!("{two} {one} 1.0\n");
    assert_eq!(place.run("query i two").clean(), answer);
    assert_eq!(place.run("-s jaccard --against i two").clean(), answer);
    assert_eq!(place.run("index add i two").clean(), pair);
}

#[test]
fn a_note_says_how_white_space_in_ids_is_written() {
    let place = Place::new();
    place
        .file("docs", docs(&["50% a", "b", "c d"]))
        .file("one", docs(&["50% a"]))
        .file("two", docs(&["b"]))
        .file("gold", TEXT);
    place.run("index build i one").clean();
    let formats = "-f tsv or -f jsonl for exact ids\n";
    for (command, printed, exact) in [
        (
            "docs",
            "50%25%20a b 1.0\n50%25%20a c%20d 1.0\nb c%20d 1.0\n",
            formats,
        ),
        (
            "cluster docs",
            "50%25%20a b c%20d\n",
            "-f jsonl for exact ids\n",
        ),
        ("rank --gold gold one", "1.0 50%25%20a\n", formats),
        ("query i two", "b 50%25%20a 1.0\n", formats),
        ("index add i two", "50%25%20a b 1.0\n", formats),
    ] {
        let run = place.run(command);
        assert_eq!(run.stdout, printed, "{command}");
        assert_eq!(run.stderr, format!("simdup: {NOTE}{exact}"), "{command}");
        assert_eq!(run.status, 0);
    }
    let quiet = place.run("-q docs").clean();
    assert_eq!(quiet, place.run("docs").stdout);
    for flags in ["-f tsv", "-f csv", "-f jsonl", "--count"] {
        place.run(&format!("{flags} docs")).clean();
    }
}

/// What one run writes as text, the next one reads.
#[test]
fn ids_come_back_from_text() {
    let place = Place::new();
    let ids = [
        "50% a",
        "http://a.ru/%D0%BF",
        "http://a.ru/x%20y",
        "c%2520 d",
        "e",
    ];
    place.file("docs", docs(&ids));
    for format in ["txt", "tsv", "csv", "jsonl"] {
        place.run(&format!("-q -o pairs.{format} docs")).clean();
        // The one ambiguity: of text, this id is taken for `http://a.ru/x y`.
        let printed = place
            .run(&format!("cluster -q -f jsonl --pairs pairs.{format}"))
            .clean();
        let expected = place.run("cluster -q -f jsonl docs").clean();
        match format {
            "txt" => assert_eq!(printed, expected.replace("x%20y", "x y")),
            _ => assert_eq!(printed, expected),
        }
        assert_eq!(
            place
                .run(&format!("cluster -q --pairs pairs.{format}"))
                .clean(),
            place.run("cluster -q docs").clean()
        );
        assert_eq!(
            place
                .run(&format!("-q --baseline pairs.{format} docs"))
                .clean(),
            "",
            "{format}"
        );
        let run = place.run(&format!("explain -q --best 99 --pairs pairs.{format} docs"));
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{format}");
    }
    let pairs = place.read("pairs.txt");
    let truth: String = pairs
        .lines()
        .map(|line| format!("{} 1\n", line.rsplit_once(' ').unwrap().0))
        .collect();
    place.file("truth", truth);
    let run = place.run("eval -q --truth truth docs");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

/// As a terminal has it, with the program's own colors and line ends taken out.
#[cfg(target_os = "linux")]
fn on_a_terminal(place: &Place, arguments: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_simdup");
    let output = std::process::Command::new("script")
        .args(["-qec", &format!("{program} {arguments}"), "/dev/null"])
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .current_dir(place.path(""))
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .replace("\r\n", "\n"),
    )
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_not_steered_by_ids() {
    let place = Place::new();
    let steering = "a\x1b[2J\x07\u{9b}31m\u{202e}\u{2066}\u{200f}\u{61c}\u{7f}\r";
    let shown = "a<U+001B>[2J<U+0007><U+009B>31m<U+202E><U+2066><U+200F><U+061C><U+007F>";
    place
        .file("docs", docs(&[steering, "b"]))
        .file("gold", TEXT);
    place.run("index build i docs").clean();
    for command in [
        "docs",
        "-f tsv docs",
        "-f csv docs",
        "-f jsonl docs",
        "-f github docs",
        "-f sarif docs",
        "cluster docs",
        "cluster -f jsonl docs",
        "rank --gold gold docs",
        "query i docs",
        "dedup --dry-run docs",
        "dedup --annotate docs",
        "sketch -k 2 docs",
        "index export i",
        "explain --best 1 -w 2 docs",
        "explain --best 1 -w 2 -f jsonl docs",
    ] {
        let flags = match command.starts_with("index") {
            true => "",
            false => "-q --progress never --summary never",
        };
        let Some(printed) = on_a_terminal(&place, &format!("{command} {flags}")) else {
            return;
        };
        let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!printed.contains(steers), "{command}: {printed:?}");
        assert!(
            !printed.contains(['\u{202e}', '\u{2066}', '\u{200f}', '\u{61c}']),
            "{command}"
        );
        assert!(
            printed.contains("<U+009B>31m<U+202E>"),
            "{command}: {printed}"
        );
        if ["docs", "-f tsv docs", "cluster docs"].contains(&command) {
            assert!(printed.contains(shown), "{printed}");
        }
    }
    // Neither a file nor a pipe has them changed.
    let piped = place.run("-q -f csv docs").clean();
    assert!(piped.contains(steering), "{piped:?}");
    let kept = on_a_terminal(&place, "dedup -q --progress never --summary never docs").unwrap();
    assert!(kept.contains('\u{9b}'), "{kept:?}");
}

#[cfg(unix)]
#[test]
fn a_message_does_not_steer_a_terminal() {
    let place = Place::new();
    place
        .file("d/\x1b[2J\u{202e}.jsonl", "{\"url\":\n")
        .file("d/good.jsonl", docs(&["a"]));
    let run = place.run("d");
    assert!(
        !run.stderr.contains(['\x1b', '\u{202e}']),
        "{:?}",
        run.stderr
    );
    run.says("d/\u{fffd}[2J<U+202E>.jsonl");
    let warned = place.run("--baseline \x1b[2J d");
    warned.fails("--baseline <U+001B>[2J: there is no such file");
}
