//! `simdup rank`: documents and links by their likeness to a gold standard.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::harness::{Place, gzip, line};

/// Four documents, the second of which is nearest to `sea sky`.
fn documents() -> String {
    [
        line("a", "The sea, the sea"),
        line("b", "Sea and SKY"),
        line("c", "nothing of the kind"),
        line("d", "the"),
    ]
    .concat()
}

fn place() -> Place {
    let place = Place::new();
    place
        .file("docs.jsonl", documents())
        .file("gold.txt", "Sea; sky.\n")
        .file("stop", "The\nand\nof the\n");
    place
}

#[test]
fn the_best_come_first_and_ties_in_input_order() {
    let place = place();
    let all = place.run("rank --gold gold.txt docs.jsonl").clean();
    assert_eq!(all, "0.816496580927726 b\n0.5 a\n0.0 c\n0.0 d\n");
    assert_eq!(
        place.run("rank --gold gold.txt --top 2 docs.jsonl").clean(),
        all[..all.len() - 12]
    );
    assert_eq!(
        place
            .run("rank --gold gold.txt --threshold 0.5 docs.jsonl")
            .clean(),
        all[..all.len() - 12]
    );
    assert_eq!(
        place
            .run("rank --gold gold.txt --unsorted docs.jsonl")
            .clean(),
        "0.5 a\n0.816496580927726 b\n0.0 c\n0.0 d\n"
    );
}

#[test]
fn stopwords_are_left_out_on_both_sides() {
    let place = place();
    let run = place.run("rank --gold gold.txt --stopwords stop --top 2 docs.jsonl");
    assert_eq!(run.stdout, "1.0 b\n0.7071067811865476 a\n");
    run.says(
        "--stopwords stop: 1 lines hold more than one word and were not used, line 3 the first",
    );
    let built_in = "rank --gold gold.txt --stopwords english --top 2 docs.jsonl";
    assert_eq!(place.run(built_in).clean(), "1.0 b\n0.7071067811865476 a\n");
    // A file of that name needs a path; apostrophes are compared as words are.
    place
        .file("english", "Aren't\nkind\n")
        .file("g", "kind aren’t sea");
    let own = place.run("rank --gold g --stopwords ./english --top 1 docs.jsonl");
    assert_eq!(own.clean(), "0.7071067811865476 a\n");
    place
        .run("rank --gold stop --stopwords english docs.jsonl")
        .fails("stop: this gold standard has no term to compare with");
    place
        .run("rank --gold gold.txt --stopwords klingon docs.jsonl")
        .fails("one of english, russian");
    // The flag means the same elsewhere.
    let pairs = "--stopwords english --shingle-words 1 docs.jsonl --threshold 0.4 --score jaccard";
    assert_eq!(place.run(pairs).clean(), "a b 0.5\n");
}

#[test]
fn several_gold_standards_are_combined() {
    let place = place();
    place.file("other.txt", "kind").file(
        "all.jsonl",
        [line("1", "sea sky"), line("2", "kind")].concat(),
    );
    let gold = "rank --gold gold.txt --gold other.txt --stopwords stop -q docs.jsonl";
    assert_eq!(
        place.run(&format!("{gold} -f jsonl --top 3")).stdout,
        "{\"score\":1.0,\"url\":\"b\",\"gold\":\"gold.txt\"}\n\
         {\"score\":0.7071067811865476,\"url\":\"a\",\"gold\":\"gold.txt\"}\n\
         {\"score\":0.5773502691896257,\"url\":\"c\",\"gold\":\"other.txt\"}\n"
    );
    assert_eq!(
        place.run(&format!("{gold} -f csv --top 1")).stdout,
        "score,url,gold\n1.0,b,gold.txt\n"
    );
    assert_eq!(
        place
            .run(&format!("{gold} --combine mean -f csv --top 1"))
            .stdout,
        "score,url\n0.5,b\n"
    );
    let joined = place.run(&format!("{gold} --combine joined -f tsv")).stdout;
    assert!(joined.starts_with("0.816496580927726\tb\n"), "{joined}");
    // All of one file is one vector.
    let one = place
        .run("rank --gold all.jsonl --stopwords stop -f tsv docs.jsonl")
        .stdout;
    assert_eq!(one, joined);
}

#[test]
fn the_terms_that_add_most_are_told() {
    let place = place();
    place.file("gold.txt", "sea sea sky");
    assert_eq!(
        place
            .run("rank --gold gold.txt --explain 1 -f jsonl --top 1 docs.jsonl")
            .clean(),
        "{\"score\":0.7745966692414834,\"url\":\"b\",\"terms\":[{\"term\":\"sea\",\
         \"share\":0.6666666666666666}]}\n"
    );
}

#[test]
fn frequencies_are_written_and_read_back() {
    let place = place();
    let own = place
        .run("rank --gold gold.txt --weight tfidf --write-df df docs.jsonl")
        .clean();
    assert_eq!(
        place.read("df"),
        "simdup-df\t1\t4\nand\t1\nkind\t1\nnothing\t1\nof\t1\nsea\t2\nsky\t1\nthe\t3\n"
    );
    let again = "rank --gold gold.txt --weight tfidf --df df";
    assert_eq!(place.run(&format!("{again} docs.jsonl")).clean(), own);
    let live = place
        .pipe(&format!("{again} --unsorted"), documents())
        .clean();
    let mut lines: Vec<&str> = live.lines().collect();
    lines.sort_by(|one, other| other.cmp(one));
    assert_eq!(lines[0], own.lines().next().unwrap());
    place
        .run(&format!("{again} --df gold.txt docs.jsonl"))
        .fails("--df gold.txt");
}

#[test]
fn the_same_bytes_however_it_is_run() {
    let place = place();
    let many: String = (0..3000)
        .map(|n| {
            let words: Vec<String> = (0..n % 50).map(|w| format!("w{}", n * w % 97)).collect();
            line(&n.to_string(), &words.join(" "))
        })
        .collect();
    let halves = many.split_at(many.match_indices('\n').nth(1234).unwrap().0 + 1);
    place
        .file("many.jsonl", &many)
        .file("many.jsonl.gz", gzip(&many))
        .file("1.jsonl", halves.0)
        .file("2.jsonl", halves.1)
        .file("gold.txt", "w1 w2 w3 w3 w50 w60");
    for flags in [
        "",
        "--weight log",
        "--weight tfidf",
        "--top 100",
        "--unsorted",
        "--weight binary",
    ] {
        let run = |rest: &str| {
            place
                .run(&format!("rank --gold gold.txt {flags} {rest}"))
                .clean()
        };
        let all = run("many.jsonl");
        for rest in [
            "-j 1 many.jsonl",
            "-j 2 many.jsonl.gz",
            "-j 3 1.jsonl 2.jsonl",
        ] {
            assert!(run(rest) == all, "{flags} {rest}");
        }
        let piped = place
            .pipe(&format!("rank --gold gold.txt {flags}"), &many)
            .clean();
        assert!(piped == all, "{flags}");
        if flags == "--weight tfidf" {
            let spilled =
                place.run("rank --gold gold.txt --weight tfidf --memory 1M -q many.jsonl");
            assert!(spilled.clean() == all);
        }
    }
}

const PAGE: &str = "<html><head><title>Sea</title><meta name=keywords content='sky, gull'>
    <meta name=Description content='A shore'></head><body><p hidden>no <p>sand
    <img src=x alt='a boat' title=sail></body>";

#[test]
fn the_features_of_pages_are_chosen() {
    let place = Place::new();
    place
        .file("gold.txt", "sea sky gull shore sand boat sail a")
        .file("page.html", PAGE);
    let score = |flags: &str| {
        let run = place.run(&format!("rank --gold gold.txt {flags} page.html"));
        run.clean().split(' ').next().unwrap().to_owned()
    };
    assert_eq!(score("--weight binary"), "1.0");
    let of = |terms: f64| (terms / 8.0).sqrt().to_string();
    for (features, terms) in [
        ("text", 1.0),
        ("title", 1.0),
        ("keywords", 2.0),
        ("description", 2.0),
        ("images", 3.0),
        ("text,title,keywords", 4.0),
    ] {
        assert_eq!(
            score(&format!("--features {features}")),
            of(terms),
            "{features}"
        );
    }
    // What other commands take for its text stays the same.
    let record = serde_json::json!({"url": "x", "text": PAGE});
    let sketch = "sketch --html --shingle-words 1 --hashes 1";
    let text = place.pipe(sketch, format!("{record}\n")).clean();
    assert!(text.contains("\"shingles\":2,"), "{text}");
    place
        .run("rank --gold gold.txt --features text,links page.html")
        .fails("text, title, keywords");
    place
        .run("rank --gold gold.txt --features text --input-format jsonl page.html")
        .fails("--features and --input-format jsonl do not go together");
}

fn pages() -> String {
    let page =
        |url: &str, html: &str| format!("{}\n", serde_json::json!({"url": url, "text": html}));
    [
        page(
            "https://a.example/1",
            "sand sand sand sand <a href=low>sky sea</a> <a href=/both#x>x</a> <a href=javascript:x>x</a>",
        ),
        page(
            "https://a.example/d/2",
            "sea sky <a href=high>sand</a> <a href=/both>y</a> <a href=//b.example?q>z</a>
             <a href='mailto:x'>x</a> <a href=no rel=nofollow>x</a> <a href='http://[x'>x</a>",
        ),
    ]
    .concat()
}

#[test]
fn links_have_the_best_score_of_their_pages() {
    let place = Place::new();
    place
        .file("gold.txt", "sea sky")
        .file("pages.jsonl", pages());
    let links = "rank --gold gold.txt --html --outlinks pages.jsonl";
    let all = place.run(links).clean();
    assert_eq!(
        all,
        "0.3779644730092272 https://a.example/both\n\
         0.3779644730092272 https://a.example/d/high\n\
         0.3779644730092272 https://b.example/?q\n\
         0.30151134457776363 https://a.example/low\n"
    );
    for top in 1..5 {
        let best: Vec<&str> = all.lines().take(top).collect();
        let run = place.run(&format!("{links} --top {top}")).clean();
        assert_eq!(run.lines().collect::<Vec<_>>(), best);
    }
    assert_eq!(
        place
            .run(&format!("{links} --threshold 0.35"))
            .clean()
            .lines()
            .count(),
        3
    );
    assert_eq!(
        place
            .run(&format!("{links} --unsorted"))
            .clean()
            .lines()
            .count(),
        5
    );
    // Its own words: `sky sea` and `a example low`.
    let own = place.run(&format!("{links} --anchor 1 --top 1")).clean();
    assert_eq!(
        own,
        format!("{} https://a.example/low\n", (4.0_f64 / 10.0).sqrt())
    );
    let mixed = place
        .run(&format!("{links} --anchor 0.5 --weight tfidf"))
        .clean();
    assert!(mixed.starts_with("0."), "{mixed}");
    assert_eq!(mixed.lines().count(), 4);
    place
        .run("rank --gold gold.txt --anchor 0.5 pages.jsonl")
        .fails("--anchor is for links: add --outlinks");
}

#[test]
fn an_id_that_is_met_again_is_skipped() {
    let place = place();
    let docs = [line("a", "sea"), line("a", "sea sky"), line("b", "sky")].concat();
    for flags in ["", "--top 5", "--unsorted", "--weight tfidf"] {
        let run = place.pipe(&format!("rank --gold gold.txt {flags}"), &docs);
        assert_eq!(run.stdout.lines().count(), 2, "{flags}");
        run.says("1 document was skipped: its id had been met before");
    }
}

#[test]
fn what_has_no_effect_or_makes_no_sense_is_refused() {
    let place = place();
    for (flags, said) in [
        ("docs.jsonl", "--gold <FILE>"),
        (
            "--gold gold.txt --gold nowhere docs.jsonl",
            "nowhere: cannot be read",
        ),
        ("--gold gold.txt --explain 3 docs.jsonl", "use -f jsonl"),
        (
            "--gold gold.txt --explain 3 -f csv docs.jsonl",
            "use -f jsonl",
        ),
        (
            "--gold gold.txt --unsorted --top 3 docs.jsonl",
            "--unsorted and --top do not go",
        ),
        (
            "--gold gold.txt --unsorted --weight tfidf docs.jsonl",
            "give --df FILE",
        ),
        (
            "--gold gold.txt --df gold.txt docs.jsonl",
            "--df and --weight tf do not go",
        ),
        ("--gold gold.txt --top 0 docs.jsonl", "at least 1"),
        (
            "--gold gold.txt --anchor 1.5 --outlinks docs.jsonl",
            "a share from 0 to 1",
        ),
        (
            "--gold gold.txt --outlinks --input-format jsonl docs.jsonl",
            "--html",
        ),
        (
            "--gold gold.txt --outlinks --explain 1 -f jsonl docs.jsonl",
            "do not go together",
        ),
        ("--gold - -", "standard input can be read once"),
        (
            "--gold gold.txt -o gold.txt docs.jsonl",
            "would replace what is read",
        ),
        (
            "--gold gold.txt --write-df docs.jsonl docs.jsonl",
            "would replace what is read",
        ),
        (
            "--gold gold.txt --write-df x -o x docs.jsonl",
            "name the same file",
        ),
    ] {
        place.run(&format!("rank {flags}")).fails(said);
    }
    assert_eq!(place.read("docs.jsonl"), documents());
}

#[test]
fn outputs_statistics_and_status_are_as_everywhere() {
    let place = place();
    let run = place.run("rank --gold gold.txt --exit-status -o out --stats stats docs.jsonl");
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(place.read("out").starts_with("0.816496580927726 b\n"));
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    assert_eq!(stats["settings"]["weight"], "tf");
    assert_eq!(stats["settings"]["combine"], "max");
    assert_eq!(stats["counts"]["documents"], 4);
    assert_eq!(stats["counts"]["ranked"], 2);
    place.file("gold.txt", "elsewhere");
    let none = place.run("rank --gold gold.txt --exit-status docs.jsonl");
    assert_eq!((none.status, none.stdout.lines().count()), (0, 4));
    let spoiled = place.pipe("rank --gold gold.txt", format!("{}{{\n", documents()));
    assert_eq!((spoiled.status, spoiled.stdout.lines().count()), (2, 4));
}

/// A crawler at both ends waits for a line before it writes the next.
#[test]
fn a_line_comes_when_the_input_pauses() {
    let place = place();
    for flags in ["", "-j 1", "-j 3", "--input-format jsonl"] {
        let mut child = place
            .command(&format!("rank --gold gold.txt --unsorted {flags}"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for document in ["a", "b", "c"] {
            stdin
                .write_all(line(document, "sea sky").as_bytes())
                .unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), format!("1.0 {document}"));
        }
        drop(stdin);
        assert!(lines.next().is_none());
        assert!(child.wait().unwrap().success());
    }
}
