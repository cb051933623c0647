//! `simdup report`: one page to look at. What it shows is tested in a browser: tests/browser.

use serde_json::Value;

use crate::harness::{Place, four, line};

/// What the page has besides texts.
fn head(page: &str) -> Value {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

fn place() -> Place {
    let place = Place::new();
    place.file("in.jsonl", four().concat());
    place
}

#[test]
fn the_page_has_the_pairs_best_first() {
    let place = place();
    let run = place.run("report -o page.html --threshold 0.5 in.jsonl");
    assert_eq!(run.status, 0);
    run.says("simdup: page.html: 3 pairs, 0.1 MB\n");
    let head = head(&place.read("page.html"));
    assert_eq!(head["documents"]["ids"], serde_json::json!(["a", "c", "d"]));
    assert_eq!(head["pairs"]["left"], serde_json::json!([0, 0, 1]));
    assert_eq!(head["pairs"]["right"], serde_json::json!([2, 1, 2]));
    assert_eq!(head["pairs"]["shared"], serde_json::json!([8, 7, 7]));
    assert_eq!(head["pairs"]["covered"], serde_json::json!([12, 11, 11]));
    assert_eq!(head["pair_count"], 3);
    assert_eq!(head["counts"]["documents"], 4);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let place = place();
    for (page, flags) in [
        ("1.html", "-j 1"),
        ("2.html", "-j 2"),
        ("3.html", "--memory 1G"),
    ] {
        place
            .run(&format!(
                "report -q -o {page} --threshold 0.5 {flags} in.jsonl"
            ))
            .clean();
    }
    assert_eq!(place.read("1.html"), place.read("2.html"));
    assert_eq!(place.read("1.html"), place.read("3.html"));
    let piped = place
        .pipe("report -q -o - --threshold 0.5", four().concat())
        .clean();
    let named = |page: &str| page.replace("\"in.jsonl\"", "\"-\"");
    assert_eq!(piped, named(&place.read("1.html")));
}

#[test]
fn nothing_of_a_document_is_markup() {
    let place = Place::new();
    let hostile = "</script><img src=x onerror=alert(1)> that goes on for a while, and then some";
    place.file(
        "in.jsonl",
        line("<b>1", hostile) + &line("</style>2", hostile),
    );
    place.run("report -q -o page.html in.jsonl").clean();
    let page = place.read("page.html");
    assert!(!page.contains("<img") && !page.contains("<b>1") && !page.contains("</style>2"));
    assert_eq!(head(&page)["documents"]["ids"][0], "<b>1");
}

#[test]
fn names_are_numbers_if_asked_for() {
    let place = place();
    place
        .run("report -q -o page.html --anonymise --key key.csv --threshold 0.5 in.jsonl")
        .clean();
    let head = head(&place.read("page.html"));
    assert_eq!(
        head["documents"]["ids"],
        serde_json::json!(["Document 1", "Document 3", "Document 4"])
    );
    assert_eq!(head["inputs"], serde_json::json!([]));
    assert_eq!(
        place.read("key.csv"),
        "pseudonym,id\nDocument 1,a\nDocument 2,b\nDocument 3,c\nDocument 4,d\n"
    );
    // The same at another threshold.
    place
        .run("report -q -o other.html --anonymise --threshold 0.9 in.jsonl")
        .clean();
    let other = crate::report::head(&place.read("other.html"));
    assert_eq!(
        other["documents"]["ids"],
        serde_json::json!(["Document 1", "Document 4"])
    );
}

#[test]
fn what_is_left_out_is_counted() {
    let place = place();
    place
        .run("report -o page.html --max-pairs 1 --no-text --threshold 0.5 in.jsonl")
        .says("page.html: 1 of 3 pairs");
    let page = place.read("page.html");
    let head = head(&page);
    assert_eq!(head["pair_count"], 3);
    assert_eq!(head["documents"]["ids"], serde_json::json!(["a", "d"]));
    assert!(!page.contains("id=\"t0\""));
}

#[test]
fn totals_are_of_all_pairs_whatever_is_left_out() {
    let place = place();
    let stars = place.run("cluster --threshold 0.5 in.jsonl").clean();
    let others = |page: &str| {
        let head = head(&place.read(page));
        ["pair_count", "cluster_count", "paired_count", "histogram"].map(|name| head[name].clone())
    };
    for (cluster, clusters) in [("star", stars.lines().count()), ("components", 1)] {
        for (page, flags) in [("all.html", ""), ("one.html", "--max-pairs 1")] {
            place
                .run(&format!(
                    "report -q -o {page} {flags} --cluster {cluster} --stats stats --threshold 0.5 in.jsonl"
                ))
                .clean();
        }
        assert_eq!(others("all.html"), others("one.html"));
        let [pairs, counted, paired, _] = others("one.html");
        assert_eq!((&pairs, &paired), (&3.into(), &3.into()));
        assert_eq!(counted, clusters);
        let stats: Value = serde_json::from_str(&place.read("stats")).unwrap();
        assert_eq!(stats["counts"]["clusters"], clusters);
    }
}

/// A document between two others joins one of them: two stars where there is one component.
#[test]
fn stars_are_counted_where_stars_are_shown() {
    let place = Place::new();
    let words = |from: usize, to: usize| {
        let words: Vec<String> = (from..to).map(|at| format!("w{at}")).collect();
        words.join(" ")
    };
    // The first and the last are like those in the middle, and not like each other.
    let ranges = [(0, 40), (30, 70), (10, 50), (20, 60)];
    let docs = (0..)
        .zip(ranges)
        .map(|(n, (from, to))| line(&format!("{n}"), &words(from, to)));
    place.file("in.jsonl", docs.collect::<String>());
    let clusters = |cluster: &str| {
        let flags = format!("--cluster {cluster} --threshold 0.5 -w 1 in.jsonl");
        place
            .run(&format!("report -q -o page.html --stats stats {flags}"))
            .clean();
        let stats: Value = serde_json::from_str(&place.read("stats")).unwrap();
        let expected = place.run(&format!("cluster {flags}")).clean();
        assert_eq!(stats["counts"]["clusters"], expected.lines().count());
        stats["counts"]["clusters"].as_u64().unwrap()
    };
    assert_eq!([clusters("star"), clusters("components")], [2, 1]);
}

#[test]
fn other_documents_and_groups_are_in_it() {
    let place = place();
    place.file("old.jsonl", four().concat());
    place
        .run("report -q -o page.html --against old.jsonl --threshold 0.9 in.jsonl")
        .clean();
    let page = head(&place.read("page.html"));
    assert_eq!(page["pairs"]["left"].as_array().unwrap().len(), 6);
    assert_eq!(page["across"], true);
    place
        .run("report -q -o page.html --group-by regex:[ad] --threshold 0.5 in.jsonl")
        .clean();
    let page = head(&place.read("page.html"));
    assert_eq!(page["groups"]["names"], serde_json::json!(["a", "d"]));
    assert_eq!(page["documents"]["groups"], serde_json::json!([0, -1, 1]));
}

#[test]
fn flags_without_effect_are_errors() {
    let place = place();
    for (arguments, why) in [
        ("", "-o report.html names the page"),
        ("-o p.html --key k.csv", "--anonymise"),
        ("-o p.html --items", "report and --items"),
        (
            "-o p.html --preset technosphere",
            "report and --preset technosphere",
        ),
        (
            "-o p.html --no-text --min-tokens 3",
            "--no-text and --min-tokens",
        ),
        ("-o p.html --anonymise --key p.html", "name the same file"),
        ("-o in.jsonl", "would replace what is read"),
    ] {
        place
            .run(&format!("report {arguments} in.jsonl"))
            .fails(why);
    }
}
