//! Which pairs are listed, in what order, and what is said of them.

#[cfg(all(feature = "bzip2", feature = "xz"))]
use std::io::Read;

use crate::corpus::{Corpus, Shape};
use crate::harness::{Place, four, gunzip, line, repository};

/// Pairs of the example by exact scores, with those.
fn scores(listed: &str) -> Vec<f64> {
    let score = |line: &str| line.rsplit_once(' ').unwrap().1.parse().unwrap();
    listed.lines().map(score).collect()
}

fn corpus(place: &Place) -> &Place {
    place.file("docs", Corpus::new(Shape::default()).jsonl())
}

#[test]
fn the_best_come_first_if_asked() {
    let place = Place::new();
    corpus(&place);
    for score in ["minhash", "jaccard", "containment"] {
        let flags = format!("-s {score} -t 0.3 docs");
        let all = place.run(&flags).clean();
        let mut lines: Vec<&str> = all.lines().collect();
        assert!(lines.len() > 20);
        assert_eq!(place.run(&format!("--sort input {flags}")).clean(), all);
        // As a stable sort has it: of equal ones, the first comes first.
        lines.sort_by(|one, two| scores(two)[0].total_cmp(&scores(one)[0]));
        let sorted = place.run(&format!("--sort score {flags}")).clean();
        assert!(sorted.lines().eq(lines.iter().copied()));
        let small = format!("--sort score --memory 1M -q {flags}");
        assert_eq!(place.run(&small).clean(), sorted);
        for top in [1, 7, 1000] {
            let best: Vec<&str> = lines.iter().copied().take(top).collect();
            let listed = place.run(&format!("--top {top} {flags}")).clean();
            assert!(listed.lines().eq(best.iter().copied()));
            let listed = place
                .run(&format!("--top {top} --sort input {flags}"))
                .clean();
            let in_order = all.lines().filter(|line| best.contains(line));
            assert!(listed.lines().eq(in_order));
        }
        let count = place.run(&format!("--count {flags}")).clean();
        assert_eq!(count, format!("{}\n", lines.len()));
    }
}

#[test]
fn digits_are_rounded_and_the_threshold_is_not() {
    let place = Place::new();
    place.file("docs", four().concat());
    // Seven of nine shingles.
    let exact = place.run("-s jaccard docs").clean();
    assert!(exact.contains("a c 0.7777777777777778\n"));
    let run = place.run("-s jaccard --digits 2 docs").clean();
    assert!(run.contains("a c 0.78\n") && run.contains("a d 1.0\n"));
    assert_eq!(
        place.run("-s jaccard -t 0.78 --digits 2 docs").clean(),
        "a d 1.0\n"
    );
    let run = place.run("-s containment --digits 1 -f jsonl docs").clean();
    assert!(run.contains(r#""score":0.9,"in1":0.9,"in2":0.9}"#), "{run}");
    let run = place.run("cluster --digits 3 -f jsonl docs").clean();
    assert!(run.contains(r#""lowest":0.778"#), "{run}");
    place.file("pairs", "a b 0.8125\n");
    let run = place
        .run("cluster --pairs pairs --digits 3 -f jsonl")
        .clean();
    assert!(run.contains(r#""score":0.812}"#), "{run}");
    assert_eq!(place.run("cluster --pairs pairs --count").clean(), "1\n");
    assert_eq!(place.run("cluster --count docs").clean(), "1\n");
    place
        .run("--digits 0 docs")
        .fails("a whole number from 1 to 17");
}

#[test]
fn an_index_lists_in_order_too() {
    let place = Place::new();
    let docs = Corpus::new(Shape::default()).jsonl();
    let lines: Vec<&str> = docs.lines().collect();
    let half = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    place
        .file("docs", &docs)
        .file("one", half(&lines[..150]))
        .file("two", half(&lines[150..]));
    let added = |flags: &str| {
        let _ = std::fs::remove_dir_all(place.path("index"));
        place.run("index build index one").clean();
        place.run(&format!("index add {flags} index two")).clean()
    };
    let all = added("");
    let mut lines: Vec<&str> = all.lines().collect();
    assert!(lines.len() > 5);
    lines.sort_by(|one, two| scores(two)[0].total_cmp(&scores(one)[0]));
    assert!(added("--sort score").lines().eq(lines.iter().copied()));
    assert!(added("--top 3").lines().eq(lines.iter().copied().take(3)));
    assert_eq!(added("--count"), format!("{}\n", lines.len()));
    assert!(
        added("--digits 2")
            .lines()
            .all(|line| line.rsplit_once(' ').unwrap().1.len() <= 4)
    );
    let asked = |flags: &str| {
        place
            .run(&format!("query index -t 0.1 {flags} two"))
            .clean()
    };
    let all = asked("");
    let best = asked("--sort score");
    assert_eq!(best.lines().count(), all.lines().count());
    assert_eq!(asked("--count"), format!("{}\n", all.lines().count()));
    for top in ["--top 2", "--top 2 --sort input"] {
        let listed = asked(top);
        assert!(listed.lines().all(|line| all.contains(line)));
        assert!(listed.lines().count() < all.lines().count());
    }
    let listed = asked("--top 2 --sort input");
    let in_order = all.lines().filter(|line| listed.contains(line));
    assert!(listed.lines().eq(in_order));
    let refused = "--sort score --against index -s jaccard two";
    place.run(refused).fails("do not go together");
}

#[test]
fn names_say_how_they_are_written() {
    let place = Place::new();
    place.file("docs", four().concat());
    for (name, format) in [
        ("pairs.tsv", "tsv"),
        ("pairs.csv", "csv"),
        ("pairs.jsonl", "jsonl"),
        ("pairs.txt", "text"),
        ("pairs.out", "text"),
    ] {
        let expected = place.run(&format!("-f {format} docs")).clean();
        place.run(&format!("-o {name} docs")).clean();
        assert_eq!(place.read(name), expected);
        place.run(&format!("-o {name}.gz docs")).clean();
        assert_eq!(
            gunzip(&place.path(&format!("{name}.gz"))),
            expected.as_bytes()
        );
        place.run(&format!("-f text -o {name} docs")).clean();
        assert_eq!(place.read(name), place.run("docs").clean());
    }
    place.run("cluster -o clusters.jsonl docs").clean();
    assert!(place.read("clusters.jsonl").starts_with("{\"keeper\""));
    place
        .run("cluster -o clusters.csv docs")
        .fails("clusters are written as text or jsonl");
    for name in [
        "pairs.lz4",
        "pairs.tsv.br",
        "pairs.7z",
        "pairs.zip",
        "pairs.Z",
    ] {
        for command in ["", "cluster", "dedup", "sketch"] {
            place
                .run(&format!("{command} -o {name} docs"))
                .fails("is not written; name it .gz");
        }
        place
            .run(&format!("--stats {name} docs"))
            .fails("is not written");
        assert!(!place.path(name).exists());
    }
}

#[cfg(all(feature = "bzip2", feature = "xz"))]
#[test]
fn what_is_written_compressed_is_read_again() {
    let place = Place::new();
    place.file("docs", four().concat());
    let kept = place.run("dedup docs").clean();
    for ending in ["gz", "zst", "bz2", "xz"] {
        place.run(&format!("dedup -o kept.{ending} docs")).clean();
        let name = format!("kept.{ending}");
        let packed = std::fs::read(place.path(&name)).unwrap();
        assert!(!packed.starts_with(b"{"), "{ending}");
        // What is kept has no near-duplicates, and stays as it is.
        assert_eq!(place.run(&format!("dedup {name}")).clean(), kept);
    }
    let mut unpacked = String::new();
    let file = std::fs::File::open(place.path("kept.bz2")).unwrap();
    bzip2::read::BzDecoder::new(file)
        .read_to_string(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, kept);
    let mut unpacked = String::new();
    let file = std::fs::File::open(place.path("kept.xz")).unwrap();
    liblzma::read::XzDecoder::new(file)
        .read_to_string(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, kept);
}

#[test]
fn pairs_of_every_format_are_clustered() {
    let place = Place::new();
    let strange = [
        line("a b\t\"c\"", "one two three"),
        line("d,e\\\nf", "one two three"),
        line("100%41", "one two three"),
    ];
    place.file("docs", strange.concat());
    let expected = place.run("cluster -q docs").clean();
    for name in [
        "p.txt",
        "p.tsv",
        "p.csv",
        "p.jsonl",
        "p.csv.gz",
        "p.jsonl.zst",
    ] {
        place
            .run(&format!("-q -s containment -o {name} docs"))
            .clean();
        let clusters = place.run(&format!("cluster -q --pairs {name}")).clean();
        assert_eq!(clusters, expected, "{name}");
    }
    place.file("p", "not a pair\nat all\n");
    place
        .run("cluster --pairs p")
        .fails("p: record 1, byte 0: not a pair and its score");
}

#[test]
fn more_is_said_of_pairs_if_asked() {
    let place = Place::new();
    let text = "one two three four five six seven\neight nine ten eleven twelve thirteen\n";
    place
        .file("d/a.txt", format!("Something else\nfirst of all.\n{text}"))
        .file("d/b.txt", text)
        .file("d/c.html", format!("<html><body><p>{text}</body></html>"));
    let run = place
        .run("-s containment --digits 2 --with shared,sizes,lines -f csv d")
        .clean();
    let expected = "url1,url2,score,in1,in2,shared,size1,size2,line1,line2\n\
                    d/a.txt,d/b.txt,1.0,0.64,1.0,9,14,9,3,1\n\
                    d/a.txt,d/c.html,1.0,0.64,1.0,9,14,9,,\n\
                    d/b.txt,d/c.html,1.0,1.0,1.0,9,9,9,,\n";
    assert_eq!(run, expected);
    let run = place
        .run("-s jaccard -t 0.6 --with lines -f jsonl --top 1 d")
        .clean();
    let expected = r#"{"url1":"d/b.txt","url2":"d/c.html","score":1.0,"line1":null,"line2":null}"#;
    assert_eq!(run.trim_end(), expected);
    place
        .run("--with sizes -f csv d")
        .fails("signatures do not tell");
    place
        .run("--with lines d")
        .fails("there is no room for names");
    place
        .run("--with names -f csv d")
        .fails("some of shared, sizes, lines");
    // What has no file has no lines.
    place.file("docs", four().concat());
    let run = place.run("--with lines -f csv docs").clean();
    assert!(run.contains("a,d,1.0,,\n"), "{run}");
}

#[test]
fn annotations_name_file_and_line() {
    let place = Place::new();
    let text = "one two three four five six seven\neight nine ten eleven twelve thirteen\n";
    place
        .file("d/a,b.txt", format!("first.\n{text}"))
        .file("d/b.txt", text);
    assert_eq!(
        place.run("-f github -s containment --digits 2 d").clean(),
        "::warning file=d/a%2Cb.txt,line=2,title=near-duplicate::d/a,b.txt is similar to \
         d/b.txt:1 (score 1.0)\n\
         ::warning file=d/b.txt,line=1,title=near-duplicate::d/b.txt is similar to d/a,b.txt:2 (score \
         1.0)\n"
    );
    place.file("docs", four().concat());
    let run = place.run("-f github docs").clean();
    assert!(
        run.starts_with("::warning file=docs,line=1,title=near-duplicate::a is similar to "),
        "{run}"
    );
}

#[test]
fn known_pairs_are_not_listed_and_do_not_count() {
    let place = Place::new();
    place.file("docs", four().concat());
    let all = place.run("docs").clean();
    assert_eq!(all.lines().count(), 3);
    for name in ["known", "known.csv", "known.tsv", "known.jsonl.gz"] {
        let run = place.run(&format!("--write-baseline {name} --exit-status docs"));
        assert_eq!((run.status, run.stdout.as_str()), (1, all.as_str()));
        let run = place.run(&format!("--baseline {name} --exit-status docs"));
        assert_eq!(
            (run.status, run.stdout.as_str(), run.stderr.as_str()),
            (0, "", "")
        );
        assert_eq!(
            place
                .run(&format!("--baseline {name} --count docs"))
                .clean(),
            "0\n"
        );
    }
    // In whatever order, and those that are gone are named.
    place.file("some", "d a 0.5\nx y 1.0\n");
    let run = place.run("--baseline some --sort score --exit-status --summary always docs");
    assert_eq!(run.status, 1);
    assert_eq!(run.stdout.lines().count(), 2);
    run.says("some: no longer a pair: x y\n")
        .says("4 documents, 2 pairs, 1 other known · ");
    // A baseline may be written over the one that is read.
    place
        .run("--baseline some --write-baseline some -q docs")
        .clean();
    assert_eq!(place.read("some"), all);
    place
        .run("--baseline nowhere docs")
        .fails("--baseline nowhere: there is no such file");
    place
        .run("--write-baseline docs docs")
        .fails("would replace what is read");
    place
        .run("--write-baseline out -o out docs")
        .fails("name the same file");
    place.run("index build index docs").clean();
    let run = place.run("-s jaccard --against index --baseline some -t 1 docs");
    assert!(
        run.stdout.lines().all(|line| !line.starts_with("a d ")),
        "{}",
        run.stdout
    );
}

#[test]
fn the_run_is_closed_with_a_line_if_asked() {
    let place = Place::new();
    place.file("docs", four().concat());
    let run = place.run("--summary always docs");
    run.says("4 documents, 3 pairs · ")
        .says(" · 0 skipped\n")
        .says("scores are estimates, ±0.04 at 0.75; --score jaccard is exact\n");
    assert!(
        !place
            .run("--summary always -s jaccard docs")
            .stderr
            .contains("estimates")
    );
    place
        .run("--summary always -k 20 docs")
        .says("±0.10 at 0.75");
    place
        .run("cluster --summary always docs")
        .says("4 documents, 2 near-duplicates of 1 · ");
    let run = place.run("dedup --summary always docs");
    run.says("4 documents, 2 near-duplicates of 1, 2 kept · ");
    place
        .run("sketch --summary always -q docs")
        .says("4 documents · ");
    for command in ["", "cluster", "dedup", "sketch"] {
        place.run(&format!("{command} docs")).clean();
        place
            .run(&format!("{command} --summary never docs"))
            .clean();
    }
    place.run("--stats stats docs").clean();
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    let estimate = &stats["estimate"];
    assert!((estimate["deviation"].as_f64().unwrap() - 0.038).abs() < 0.001);
    assert!(estimate["expected_wrong"].as_f64().unwrap() > 0.0);
    assert!(estimate["expected_missed"].as_f64().unwrap() > 0.0);
    place.run("-s jaccard --stats stats docs").clean();
    assert!(!place.read("stats").contains("estimate"));
}

#[test]
fn short_flags_are_those_of_every_day() {
    let place = Place::new();
    let example = repository("tests/data/example.jsonl");
    let docs = example.display();
    for (short, long) in [
        (
            "-t 0.6 -k 64 -w 3",
            "--threshold 0.6 --hashes 64 --shingle-words 3",
        ),
        ("-c 9 -s jaccard", "--shingle-chars 9 --score jaccard"),
    ] {
        let short = place.run(&format!("{short} {docs}")).clean();
        assert_eq!(short, place.run(&format!("{long} {docs}")).clean());
        assert!(!short.is_empty());
    }
    place.run(&format!("sketch -k 4 -w 2 {docs}")).clean();
}
