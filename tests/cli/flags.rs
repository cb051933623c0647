//! What can be typed and what is refused, before anything is read.

use crate::harness::{Place, four, line};

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let place = Place::new();
    place.file("docs", line("a", "one two"));
    for (arguments, says) in [
        (
            "--threshold 0 docs",
            "a threshold is a decimal above 0 and at most 1",
        ),
        ("--threshold 1.5 docs", "a threshold is a decimal"),
        ("--hashes 0 docs", "1..=4096"),
        ("--hashes 5000 docs", "1..=4096"),
        ("--shingle-words 3-2 docs", "a range such as 2-4"),
        ("--step 0 docs", "at least 1"),
        ("--stopwords nowhere docs", "--stopwords nowhere: "),
        (
            "-o no/such/folder docs",
            "no/such/folder: cannot be written",
        ),
        ("--nonsense docs", "--nonsense"),
        (
            "--stats no/such/folder docs",
            "no/such/folder: cannot be written",
        ),
        (
            "--score jaccard --bands 50 --rows 4 docs",
            "more positions than the 128",
        ),
        ("--score jaccard --bands 5 docs", "--rows"),
        ("--score jaccard --rows 5 docs", "--bands"),
        ("--score jaccard --recall 0 docs", "a chance above 0"),
        (
            "--score jaccard --ignore-common 0% docs",
            "a share such as 5%",
        ),
        ("--score jaccard --memory 4X docs", "a size such as 512M"),
        ("--against - -", "standard input can be read once"),
        ("-j 2 sketch docs", "flags go behind the command"),
        ("--text-field a,,b docs", "names of fields"),
        ("sketch --threshold 0.5 docs", "--threshold"),
        ("dedup --keep best docs", "max:FIELD"),
    ] {
        let run = place.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments}");
        assert!(run.stderr.contains(says), "{arguments}: {}", run.stderr);
    }
}

/// Every flag of every command beside which it has no effect.
#[test]
fn a_flag_without_effect_is_refused() {
    let place = Place::new();
    place
        .file("docs", line("a", "one two"))
        .file("old", line("b", "one two"))
        .file("stop", "of\n")
        .file("pairs", "a\tb\t0.9\n");
    let mut refused: Vec<(String, String, String)> = vec![];
    let mut refuse = |command: &str, one: &str, other: &str| {
        refused.push((command.into(), one.into(), other.into()));
    };
    // Shingles, and what is read, for every command that reads documents.
    for command in ["", "sketch", "cluster", "dedup"] {
        for (one, other) in [
            ("--shingle-words 3", "--shingle-chars 3"),
            ("--shingle-words 5", "--shingle-chars 3"),
            ("--shingle-words 5", "--shingle-code 3"),
            ("--shingle-chars 5", "--shingle-code 3"),
            ("--items", "--shingle-code 3"),
            ("--shingle-code 3", "--keep-case"),
            ("--shingle-code 3", "--stopwords stop"),
            ("--keep-names", "--shingle-words 5"),
            ("--items", "--shingle-words 3"),
            ("--items", "--shingle-chars 3"),
            ("--items", "--step 2"),
            ("--items", "--wrap"),
            ("--items", "--stopwords stop"),
            ("--shingle-chars 3", "--stopwords stop"),
            ("--id-field x", "--input-format text"),
            ("--id-field x", "--input-format lines"),
            ("--text-field x", "--input-format text"),
            ("--text-field x", "--input-format lines"),
        ] {
            refuse(command, one, other);
        }
    }
    for command in ["", "sketch"] {
        for other in [
            "--shingle-words 4",
            "--shingle-words 5-6",
            "--shingle-chars 5",
            "--shingle-code 5",
            "--keep-names",
            "--items",
            "--step 2",
            "--wrap",
            "--keep-case",
            "--stopwords stop",
            "--hashes 128",
            "--seed 1",
        ] {
            refuse(command, "--preset technosphere", other);
        }
    }
    // Scores, and how pairs are found.
    for score in ["--score minhash", "--score containment"] {
        refuse("", "--recall 0.9", score);
        refuse("", "--bands 4 --rows 4", score);
    }
    refuse("", "--ignore-common 5", "--score minhash");
    refuse("", "--min-shared 5", "--score minhash");
    refuse("eval", "--min-shared 5", "--score minhash");
    for score in ["--score jaccard", "--score containment"] {
        refuse("", "--preset technosphere", score);
        refuse("", "--hashes 20", score);
        refuse("", "--seed 1", score);
        refuse("", "--hashes 20", &format!("{score} --recall 1"));
    }
    for command in ["--score jaccard", "cluster", "dedup", "dedup --annotate"] {
        refuse(command, "--recall 0.9", "--bands 4 --rows 4");
        refuse(command, "--recall 1", "--bands 4 --rows 4");
    }
    for command in ["cluster", "dedup", "dedup --annotate"] {
        for flag in ["--hashes 20", "--seed 1", "--preset technosphere"] {
            refuse(command, flag, "");
        }
    }
    // Clusters.
    refuse("", "cluster", "--score minhash");
    refuse("", "cluster", "--score containment");
    refuse("", "cluster", "--preset code");
    refuse("", "dedup", "--preset code");
    refuse("", "cluster", "--against old");
    refuse("", "dedup", "--score minhash");
    refuse("", "dedup", "--score containment");
    for command in ["", "cluster", "dedup"] {
        refuse(command, "--min-words 3", "--items");
        refuse(command, "--max-words 3", "--items");
        refuse(command, "--min-words 3", "--max-words 2");
        refuse(command, "--group-by field:x", "--input-format text");
    }
    for command in ["cluster", "dedup"] {
        for format in ["text", "lines"] {
            let format = format!("--input-format {format}");
            refuse(command, "--keep max:x", &format);
            refuse(command, "--keep min:x", &format);
        }
    }
    for flag in ["--dry-run", "--keep last", "--cluster components"] {
        refuse("dedup", "--annotate", flag);
    }
    for flag in ["--recall 0.9", "--bands 4 --rows 4", "--hashes 20"] {
        refuse("dedup --annotate", flag, "--score containment");
    }
    refuse("dedup", "--dry-run", "--removed out");
    refuse("eval", "--sweep shingles", "--plot out.svg");
    for flag in ["--annotate", "--dry-run", "--output out"] {
        refuse("dedup", "--output-dir out.d", flag);
    }
    // How results are listed.
    for flag in ["--format csv", "--sort score", "--top 3", "--digits 2"] {
        refuse("", "--count", flag);
    }
    refuse("", "--count", "--with lines");
    refuse("", "--with lines", "--format tsv");
    refuse("-f csv", "--with shared", "--score minhash");
    refuse("-f jsonl", "--with sizes", "--score minhash");
    refuse("cluster", "--count", "--format jsonl");
    refuse("cluster", "--count", "--digits 2");
    for command in ["", "sketch", "cluster", "dedup"] {
        refuse(command, "--strict", "--skip-ok");
    }
    refuse("dedup --against old", "--keep last", "--against-only");
    refuse(
        "dedup --against old",
        "--cluster components",
        "--against-only",
    );
    refuse("dedup --against old", "--against-only", "--annotate");
    // Pairs that were written earlier, whatever the values.
    for flag in [
        "docs",
        "--input-format auto",
        "--id-field x",
        "--text-field text",
        "--shingle-words 5",
        "--shingle-chars 5",
        "--shingle-code 5",
        "--keep-names",
        "--items",
        "--step 1",
        "--wrap",
        "--keep-case",
        "--stopwords stop",
        "--ignore-common 5",
        "--score jaccard",
        "--score minhash",
        "--hashes 128",
        "--seed 0",
        "--preset technosphere",
        "--recall 1",
        "--bands 4 --rows 4",
        "--against old",
        "--threads 0",
        "--memory 1G",
        "--temp-dir /tmp",
        "--strict",
        "--group-by dir",
        "--files-from old",
        "--template old",
        "--min-words 2",
        "--max-words 2",
        "--keep longest",
        "--keep max:x",
    ] {
        refuse("cluster", "--pairs pairs", flag);
    }
    assert!(refused.len() > 100);
    for (command, one, other) in refused {
        for (first, second) in [(&one, &other), (&other, &one)] {
            // A command stands before its flags.
            if second.as_str() == "cluster" || second.as_str() == "dedup" {
                continue;
            }
            let docs = if one == "--pairs pairs" { "" } else { "docs" };
            let arguments = format!("{command} {first} {second} {docs}");
            let run = place.run(&arguments);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments}");
            let says = run.stderr;
            assert!(
                says.contains(" do not go together: "),
                "{arguments}: {says}"
            );
            assert_eq!(says.lines().count(), 1, "{arguments}: {says}");
            for flag in [&one, &other] {
                let name = match flag.split_whitespace().next() {
                    Some("docs") => "FILE",
                    name => name.unwrap_or_default(),
                };
                assert!(says.contains(name), "{arguments}: {says}");
            }
        }
    }
}

/// What says no more than what holds anyway, and what has an effect.
#[test]
fn a_flag_with_effect_or_of_the_default_is_fine() {
    let place = Place::new();
    let docs: String = ["a", "b", "c"].map(|id| line(id, "one two three")).concat();
    place
        .file("docs", docs)
        .file("old", line("o", "one two three"))
        .file("lists", "{\"url\":\"a\",\"text\":[\"x\"]}\n")
        .file("pairs", "a\tb\t0.9\n");
    for arguments in [
        "--recall 1 docs",
        "--score containment --recall 1 --hashes 128 --seed 0 docs",
        "--score jaccard --hashes 128 --seed 0 docs",
        "--score jaccard --recall 0.9 --hashes 64 --seed 7 docs",
        "--score jaccard --bands 4 --rows 4 --hashes 64 --seed 7 docs",
        "--items --step 1 --keep-case lists",
        "--hashes 20 --hashes 30 --seed 1 docs",
        "--preset technosphere --shingle-words 5 --hashes 20 --step 1 --seed 0 docs",
        "--input-format lines --text-field text docs",
        "--shingle-code 3 --step 1 --keep-names docs",
        "--preset code --recall 1 docs",
        "dedup --preset code --annotate docs",
        "sketch --preset code docs",
        "--memory 1G --temp-dir /tmp --strict -j 1 -q --progress never docs",
        "sketch --memory 1G --temp-dir /tmp docs",
        "cluster --recall 1 --score jaccard --hashes 128 docs",
        "cluster --recall 0.9 docs",
        "cluster --bands 4 --rows 4 docs",
        "dedup --recall 0.9 --hashes 64 docs",
        "dedup --bands 4 --rows 4 docs",
        "dedup --keep first --cluster star --against old --against-only docs",
        "dedup --keep last --cluster components --against old docs",
        "dedup --annotate --keep first --cluster star docs",
        "dedup --dry-run -o out docs",
        "cluster --pairs pairs --keep last --cluster components -q --progress never -f jsonl",
        "cluster --pairs pairs --threshold 0.8 --stats stats -o out",
    ] {
        let run = place.run(arguments);
        assert!(run.status == 0, "{arguments}: {}", run.stderr);
    }
}

#[test]
fn a_later_flag_overrides_the_same_one() {
    let place = Place::new();
    place.file("docs", line("a", "one two"));
    let run = place.run("sketch --hashes 3 --hashes 2 --shingle-words 9 --shingle-words 1 docs");
    assert!(run.clean().starts_with("{\"url\":\"a\",\"shingles\":2,"));
}

#[test]
fn a_flag_of_another_command_is_named_with_what_to_do() {
    let place = Place::new();
    place.file("docs", four().concat());
    for (arguments, says) in [
        (
            "cluster --with shared docs",
            "`simdup cluster` has no --with: `simdup -s jaccard -o pairs.tsv` lists pairs with it, and \
             `simdup cluster --pairs pairs.tsv` joins those\n",
        ),
        ("cluster --baseline=known docs", "has no --baseline: "),
        ("dedup --count docs", "has no --count: --dry-run counts\n"),
        (
            "dedup -f csv docs",
            "has no -f: documents are written as they came in",
        ),
        (
            "sketch --removed x docs",
            "`simdup sketch` has no --removed: that is a flag of `simdup dedup`\n",
        ),
        (
            "index build --exit-status i docs",
            "`simdup index build` has no --exit-status: that is a flag of `simdup`, ",
        ),
        // What no command has is told as before.
        (
            "cluster --thresold 0.5 docs",
            "a similar argument exists: '--threshold'",
        ),
    ] {
        place.run(arguments).fails(says);
    }
    // And it does what is said.
    place.file("known", "a d 1.0\n");
    place
        .run("-s jaccard --baseline known -o pairs.tsv docs")
        .clean();
    place.run("cluster --pairs pairs.tsv").clean();
}
