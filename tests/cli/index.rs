//! `simdup index`, `simdup query`, and an index in place of documents.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::corpus::{Corpus, Random, Shape};
use crate::harness::{ONE, ONE_EDITED, OTHER, Place, four, line};

/// Lines of documents, near-duplicates among them.
fn documents(seed: u64, count: usize) -> Vec<String> {
    let corpus = Corpus::new(Shape {
        seed,
        documents: count,
        words: 60,
        ..Shape::default()
    });
    let documents = corpus.documents.iter();
    documents.map(|(url, text)| line(url, text)).collect()
}

fn sorted(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

/// Pairs with both documents on the left.
fn both_ways(pairs: &str) -> BTreeSet<String> {
    let turned = |pair: &str| {
        let [one, two, score] = pair.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{pair}");
        };
        [
            format!("{one} {two} {score}"),
            format!("{two} {one} {score}"),
        ]
    };
    pairs.lines().flat_map(turned).collect()
}

#[test]
fn parts_that_are_added_bring_the_pairs_of_one_run_over_all() {
    for (seed, flags) in [
        (1, "--score jaccard --threshold 0.6"),
        (2, "--score containment --threshold 0.7"),
    ] {
        let place = Place::new();
        let documents = documents(seed, 240);
        let parts: Vec<&[String]> = documents.chunks(40).collect();
        place.file("part", parts[0].concat());
        place.run("index build i.idx part").clean();
        let mut pairs = place.run(&format!("part {flags}")).clean();
        for part in &parts[1..] {
            place.file("part", part.concat());
            pairs += &place.run(&format!("index add i.idx part {flags}")).clean();
        }
        place.file("all", documents.concat());
        let all = place.run(&format!("all {flags}")).clean();
        assert!(all.lines().count() > 20);
        assert_eq!(sorted(&pairs), sorted(&all));
        place.run("index check i.idx").clean();

        let asked = place.run(&format!("query i.idx all {flags}")).clean();
        let is_itself = |pair: &&str| pair.split(' ').next() == pair.split(' ').nth(1);
        let others = asked
            .lines()
            .filter(|pair| !is_itself(pair))
            .collect::<Vec<_>>();
        assert_eq!(sorted(&others.join("\n")), both_ways(&all));
        for id in ["doc/3", "doc/17"] {
            let id = all.split(' ').find(|word| word.contains(id)).unwrap_or("");
            if !id.is_empty() {
                let own = place.run(&format!("query i.idx --id {id} {flags}")).clean();
                let starts = format!("{id} ");
                let expected = both_ways(&all)
                    .into_iter()
                    .filter(|pair| pair.starts_with(&starts));
                assert_eq!(sorted(&own), expected.collect());
            }
        }

        // The documents on the left are those that are asked about; older ones come first.
        place.file(
            "new",
            [
                line("new", ONE),
                documents[7].replace("\"url\":\"", "\"url\":\"x"),
            ]
            .concat(),
        );
        let against_file = place.run(&format!("new --against all {flags}")).clean();
        let against_index = place.run(&format!("new --against i.idx {flags}")).clean();
        assert_eq!(against_file, against_index);
        assert!(!against_file.is_empty());
    }
}

#[test]
fn the_pairs_of_what_is_added_come_in_the_order_of_one_run() {
    let place = Place::new();
    let [a, b, c, d] = four();
    place
        .file("old", [&a[..], &b].concat())
        .file("new", [&c[..], &d].concat());
    place.run("index build i.idx old").clean();
    let flags = "--threshold 0.5 -f csv";
    let added = place.run(&format!("index add i.idx new {flags}")).clean();
    assert_eq!(
        added,
        place
            .run(&format!("old new --score jaccard {flags}"))
            .clean()
    );
    assert_eq!(
        place.run("index add i.idx --no-pairs --skip new").stdout,
        ""
    );
    let found = place
        .run("query i.idx --id a --threshold 0.5 -f jsonl --top 1")
        .clean();
    assert_eq!(
        found,
        "{\"url1\":\"a\",\"url2\":\"d\",\"score\":1.0,\"in1\":1.0,\"in2\":1.0}\n"
    );
    assert_eq!(place.run("query i.idx --id a --exit-status").status, 1);
}

#[test]
fn removals_and_replacements_leave_what_one_run_over_the_rest_would_find() {
    let place = Place::new();
    let mut documents = documents(5, 200);
    place.file("all", documents.concat());
    place.run("index build i.idx all").clean();
    let mut random = Random::new(3);
    for round in 0..4 {
        let mut ids = String::new();
        for _ in 0..25 {
            let gone = documents.remove(random.below(documents.len()));
            let gone: serde_json::Value = serde_json::from_str(&gone).unwrap();
            ids += &format!("{}\n", gone["url"].as_str().unwrap());
        }
        place.file("ids", ids);
        place.run("index remove i.idx --ids-from ids").clean();
        // The text of another document, under an old id.
        let one = documents.remove(random.below(documents.len()));
        let other = &documents[random.below(documents.len())];
        let (mut one, other): (serde_json::Value, serde_json::Value) = (
            serde_json::from_str(&one).unwrap(),
            serde_json::from_str(other).unwrap(),
        );
        one["text"] = other["text"].clone();
        documents.push(format!("{one}\n"));
        place.file("one", format!("{one}\n"));
        let added = place.run("index add --replace i.idx one --threshold 0.6");
        assert_eq!(added.status, 0);
        added.says("1 documents took the place");
        if round == 2 {
            place.run("index compact i.idx").clean();
        }
        place.run("index check i.idx").clean();
        place.file("rest", documents.concat());
        let all = place.run("rest --score jaccard --threshold 0.6").clean();
        let asked = place.run("query i.idx rest --threshold 0.6").clean();
        let is_itself = |pair: &&str| pair.split(' ').next() == pair.split(' ').nth(1);
        let others = asked
            .lines()
            .filter(|pair| !is_itself(pair))
            .collect::<Vec<_>>();
        assert_eq!(sorted(&others.join("\n")), both_ways(&all));
        let new = one["url"].as_str().unwrap();
        let own = all
            .lines()
            .filter(|pair| pair.split(' ').any(|id| id == new));
        assert_eq!(sorted(&added.stdout), own.map(str::to_owned).collect());
    }
    let exported = place.run("index export i.idx").clean();
    assert_eq!(exported.lines().count(), documents.len());
    assert!(exported.lines().next().unwrap().contains("\"shingles\":"));
}

#[test]
fn an_index_remembers_its_settings_and_refuses_others() {
    let place = Place::new();
    place.file("words", "the\n");
    place.file("docs", "{\"id\":\"a\",\"body\":\"The Sea and the Sky\"}\n");
    place
        .run("index build --shingle-words 2 --keep-case --stopwords words --text-field body i.idx docs")
        .clean();
    place.file("more", "{\"id\":\"b\",\"body\":\"Sea the and Sky\"}\n");
    // `The` counts, as capitals do, and `the` does not.
    assert_eq!(
        place.run("index add i.idx more --threshold 0.3").clean(),
        "a b 0.6666666666666666\n"
    );
    for (flags, built) in [
        ("--shingle-words 3", "--shingle-words 2"),
        ("--shingle-chars 2", "--shingle-words 2"),
        ("--text-field text", "--text-field body"),
        ("--id-field name", "no --id-field"),
        ("--wrap", "no --wrap"),
        ("--step 2", "--step 1"),
        ("--html", "no --html"),
    ] {
        let flag = flags.split(' ').next().unwrap();
        for command in [
            "query i.idx docs",
            "index add i.idx docs",
            "docs --score jaccard --against i.idx",
        ] {
            let run = place.run(&format!("{command} {flags}"));
            run.fails(flag).says(&format!("it was built with {built}"));
        }
    }
    place.file("asked", place.read("docs").replace("\"a\"", "\"x\""));
    assert_eq!(
        place
            .run("query i.idx asked --shingle-words 2 --keep-case")
            .clean(),
        "x a 1.0\n"
    );
    place
        .run("docs --against i.idx")
        .fails("an index has no signatures");
    place
        .run("docs --score jaccard --against i.idx --group-by host")
        .fails("--group-by");
    place
        .run("docs --score jaccard --against i.idx --against docs")
        .fails("only thing");
}

#[test]
fn ids_that_are_there_are_refused_skipped_or_replaced() {
    let place = Place::new();
    place.file("old", [line("a", ONE), line("b", OTHER)].concat());
    place.run("index build i.idx old").clean();
    place.file("new", [line("c", ONE_EDITED), line("a", OTHER)].concat());
    place
        .run("index add i.idx new")
        .fails("the index has a document of the id a already");
    assert!(!place.run("index export i.idx").clean().contains("\"c\""));
    let skipped = place.run("index add --skip i.idx new --threshold 0.5");
    assert_eq!(
        (skipped.stdout.as_str(), skipped.status),
        ("a c 0.7777777777777778\n", 0)
    );
    skipped.says("1 documents were left out");
    place.run("index remove i.idx c").clean();
    let replaced = place
        .run("index add --replace -q i.idx new --threshold 0.5")
        .clean();
    assert_eq!(replaced, "b a 1.0\n");
    place
        .run("index remove i.idx a nowhere")
        .fails("no document of the id nowhere")
        .says("nothing was removed; leave out the ids that are not there\n");
    assert_eq!(place.run("index export i.idx").clean().lines().count(), 3);
    place.run("index remove i.idx a").clean();
    assert_eq!(place.run("index export i.idx").clean().lines().count(), 2);
    place
        .run("index add --skip --replace i.idx new")
        .fails("--replace and --skip");
    place.run("index remove i.idx").fails("nothing to remove");
    place
        .run("query i.idx --id nowhere")
        .fails("no document of the id nowhere");
    place
        .run("index build i.idx old")
        .fails("there is an index already");
    place.run("query none.idx old").fails("there is no index");
    place.run("query old old").fails("there is no index");
    place.run("i.idx").fails("is an index, which has no texts");
    place
        .run("report -o x.html old --against i.idx")
        .fails("an index has shingles and no texts");
}

#[test]
fn overlap_is_the_share_of_what_is_asked_about() {
    let place = Place::new();
    let whole = format!("{ONE} {OTHER}");
    place.file(
        "docs",
        [
            line("whole", &whole),
            line("one", ONE),
            line("other", OTHER),
        ]
        .concat(),
    );
    place
        .run("index build --shingle-words 1 i.idx docs")
        .clean();
    place.file("quote", line("q", "one two three four blue"));
    assert_eq!(
        place.run("query i.idx quote --overlap 80").clean(),
        "q whole 0.8\nq one 0.8\n"
    );
    assert_eq!(place.run("query i.idx quote --overlap 80.1").clean(), "");
    assert_eq!(
        place.run("query i.idx --id one --overlap 100").clean(),
        "one whole 1.0\n"
    );
    place
        .run("query i.idx quote --overlap 20 --threshold 0.5")
        .fails("--overlap and --threshold");
    place
        .run("query i.idx quote --probability 20")
        .fails("--overlap");
    place
        .run("query i.idx quote --overlap 0")
        .fails("percent above 0");
}

/// A document at just the share is found as often as it is said; what is found has its true score.
#[test]
fn fewer_look_ups_find_what_they_promise() {
    let place = Place::new();
    let mut random = Random::new(11);
    let mut word = || format!("w{}", random.next());
    let (mut held, mut asked) = (String::new(), String::new());
    const COUNT: usize = 400;
    for n in 0..COUNT {
        // Of 40 words, 20 are in the index.
        let shared: Vec<String> = (0..20).map(|_| word()).collect();
        let own: Vec<String> = (0..20).map(|_| word()).collect();
        held += &line(&format!("d{n}"), &shared.join(" "));
        asked += &line(&format!("q{n}"), &[shared, own].concat().join(" "));
    }
    place.file("held", held).file("asked", asked);
    place
        .run("index build --shingle-words 1 i.idx held")
        .clean();
    let mut spared = vec![];
    for (probability, least) in [(100, COUNT), (95, 360), (80, 295), (50, 180)] {
        let flags = format!("--overlap 50 --probability {probability} --stats stats.json");
        let found = place.run(&format!("query i.idx asked {flags}")).clean();
        let count = found.lines().count();
        assert!(
            count >= least && (probability < 100 || count == COUNT),
            "{probability} {count}"
        );
        assert!(found.lines().all(|pair| pair.ends_with(" 0.5")));
        let stats: serde_json::Value = serde_json::from_str(&place.read("stats.json")).unwrap();
        spared.push(stats["lookups_spared"].as_u64().unwrap());
        assert!(stats["lookups"].as_u64().unwrap() > 0);
    }
    assert!(spared.is_sorted() && spared[0] < spared[3], "{spared:?}");
}

#[test]
fn documents_are_annotated_and_deduplicated_against_an_index() {
    let place = Place::new();
    let documents = documents(9, 120);
    let (old, new) = documents.split_at(60);
    place.file("old", old.concat()).file("new", new.concat());
    place.run("index build i.idx old").clean();
    for flags in [
        "--threshold 0.6",
        "--threshold 0.8 --annotate",
        "--threshold 0.6 --dry-run",
    ] {
        let by_file = place.run(&format!("dedup new --against old {flags}"));
        let by_index = place.run(&format!("dedup new --against i.idx {flags}"));
        assert_eq!(by_file, by_index, "{flags}");
        assert_eq!(by_file.status, 0);
    }
    place
        .run("dedup new --against old --removed one -o /dev/null")
        .clean();
    place
        .run("dedup new --against i.idx --removed two -o /dev/null")
        .clean();
    assert_eq!(place.read("one"), place.read("two"));
    assert!(!place.read("one").is_empty());
    let annotated = place
        .run("query i.idx new --annotate --threshold 0.8")
        .clean();
    assert_eq!(
        annotated,
        place
            .run("dedup new --against old --annotate --threshold 0.8")
            .clean()
    );
    let text = place
        .file("text.txt", ONE)
        .run("query i.idx text.txt --annotate")
        .clean();
    assert!(
        text.starts_with("{\"text\":\"one two") || text.starts_with("{\"url\":\"text.txt\""),
        "{text}"
    );
    assert!(text.contains("\"isNearDuplicate\":false"));
}

/// A program can hold simdup open at both ends.
#[test]
fn an_answer_comes_before_the_next_question() {
    let place = Place::new();
    place.file("docs", [line("a", ONE), line("b", OTHER)].concat());
    place.run("index build i.idx docs").clean();
    let mut child = place
        .command("query i.idx --threshold 0.5")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (text, expected) in [
        (ONE, "q a 1.0"),
        (OTHER, "q b 1.0"),
        (ONE_EDITED, "q a 0.7777777777777778"),
    ] {
        stdin.write_all(line("q", text).as_bytes()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), expected);
    }
    drop(stdin);
    assert!(answers.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_memory_and_the_threads_leave_no_trace() {
    let place = Place::new();
    place.file("docs", documents(13, 2000).concat());
    let mut expected = None;
    for (name, flags) in [
        ("one", "-j 1"),
        ("two", "-j 2"),
        ("three", "--memory 1M -q"),
    ] {
        place.run(&format!("index build {flags} {name} docs"));
        let mut files = vec![];
        for entry in std::fs::read_dir(place.path(name)).unwrap() {
            let entry = entry.unwrap();
            let content = std::fs::read(entry.path()).unwrap();
            if entry.file_name() != "lock" {
                files.push((entry.file_name(), content));
            }
        }
        files.sort();
        assert_eq!(files.len(), 4);
        let expected = expected.get_or_insert_with(|| files.clone());
        assert!(files == *expected, "{name}");
    }
}

/// After whatever end, all of a batch is there or nothing of it, and nothing is left lying about.
#[test]
fn a_batch_is_there_as_a_whole_or_not_at_all() {
    let place = Place::new();
    let all = documents(17, 800);
    let batches: Vec<&[String]> = all.chunks(40).collect();
    place.file("first", batches[0].concat());
    place.run("index build i.idx first").clean();
    let mut random = Random::new(23);
    let mut expected = batches[0].len();
    for (round, batch) in batches[1..].iter().enumerate() {
        place.file("batch", batch.concat());
        let mut child = place
            .command("index add --skip -q i.idx batch")
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(random.below(30_000) as u64));
        let _ = child.kill();
        let status = child.wait().unwrap();
        let count = place.run("index export i.idx").clean().lines().count();
        assert!(
            count == expected + batch.len() || count == expected && !status.success(),
            "{round}: {count} of {expected}, {status}"
        );
        place.run("index check i.idx").clean();
        place.run("index add --skip -q i.idx batch");
        expected += batch.len();
        if round % 5 == 0 {
            let mut child = place.command("index compact i.idx").spawn().unwrap();
            std::thread::sleep(Duration::from_micros(random.below(20_000) as u64));
            let _ = child.kill();
            child.wait().unwrap();
        }
    }
    place.run("index compact i.idx").clean();
    assert_eq!(
        place.run("index export i.idx").clean().lines().count(),
        expected
    );
    let names = std::fs::read_dir(place.path("i.idx")).unwrap().count();
    assert_eq!(
        names, 5,
        "three files of a segment, the manifest and the lock"
    );
}

/// Files may become no larger than a limit: the same as a full disk.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full_leaves_the_index_as_it_was() {
    let place = Place::new();
    place.file("docs", documents(19, 60).concat());
    place.run("index build i.idx docs").clean();
    let before = place.run("index export i.idx").clean();
    let more = documents(20, 300)
        .concat()
        .replace("\"url\":\"", "\"url\":\"new/");
    place.file("more", more);
    for blocks in [1, 4, 16, 64, 128] {
        let mut shell = std::process::Command::new("sh");
        let program = env!("CARGO_BIN_EXE_simdup");
        let script = format!("ulimit -f {blocks}; exec {program} index add --no-pairs i.idx more");
        let output = shell
            .args(["-c", &script])
            .current_dir(place.path(""))
            .output()
            .unwrap();
        if output.status.success() {
            continue;
        }
        assert!(!output.stderr.is_empty());
        assert_eq!(place.run("index export i.idx").clean(), before);
        place.run("index check i.idx").clean();
    }
    place.run("index add --no-pairs i.idx more").clean();
    assert_eq!(place.run("index export i.idx").clean().lines().count(), 360);
    assert_eq!(std::fs::read_dir(place.path("i.idx")).unwrap().count(), 8);
}

#[test]
fn a_second_writer_waits_and_is_told_who_holds_the_index() {
    let place = Place::new();
    place.file("docs", line("a", ONE));
    place.run("index build i.idx docs").clean();
    let mut child = place
        .command("index add --no-pairs i.idx")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let holder = format!("process {} (simdup index add)", child.id());
    for _ in 0..500 {
        if std::fs::read_to_string(place.path("i.idx/lock"))
            .unwrap()
            .starts_with(&holder)
        {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = place.run("index remove --lock-timeout 0.1 i.idx a");
    refused.fails(&format!("it is being written by {holder}"));
    // Those who read do not wait.
    place.file("asked", line("x", ONE));
    assert_eq!(place.run("query i.idx asked").clean(), "x a 1.0\n");
    stdin.write_all(line("b", OTHER).as_bytes()).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    place.run("index remove --lock-timeout 5 i.idx a").clean();
    assert_eq!(
        place.run("index export i.idx").clean(),
        "{\"url\":\"b\",\"shingles\":10}\n"
    );
}

#[test]
fn what_an_index_is_made_of_is_told() {
    let place = Place::new();
    place.file("docs", four().concat());
    place.run("index build i.idx docs").clean();
    place.run("index remove i.idx b").clean();
    let info = place.run("index info i.idx").clean();
    for text in [
        "documents             3",
        "removed               1",
        "segment 1 ",
        "in 3 documents: a, c, d",
    ] {
        assert!(info.contains(text), "{text}: {info}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&place.run("index info i.idx -f json").clean()).unwrap();
    assert_eq!(json["documents"], 3);
    assert_eq!(json["settings"]["sizes"], serde_json::json!([5, 5]));
    place
        .run("index export i.idx -o i.idx/x")
        .fails("would be in the index itself");
}

#[test]
fn fields_are_kept_for_those_who_ask() {
    let place = Place::new();
    place.file(
        "docs",
        "{\"url\":\"a\",\"text\":\"sea\",\"year\":2026,\"meta\":{\"author\":\"Ann\"}}\n",
    );
    place
        .run("index build --store-field year,meta.author i.idx docs")
        .clean();
    place.file(
        "more",
        "{\"url\":\"b\",\"text\":\"sky\",\"year\":1.5}\n{\"url\":\"c\",\"text\":\"\"}\n",
    );
    place.run("index add i.idx more").clean();
    place.run("index compact i.idx").clean();
    place.run("index check i.idx").clean();
    let expected = "{\"url\":\"a\",\"shingles\":1,\"fields\":{\"meta.author\":\"Ann\",\"year\":2026}}\n\
                    {\"url\":\"b\",\"shingles\":1,\"fields\":{\"year\":1.5}}\n\
                    {\"url\":\"c\",\"shingles\":0}\n";
    assert_eq!(place.run("index export i.idx").clean(), expected);
}

/// An empty one was left behind, in the way of the next attempt.
#[test]
fn no_index_is_made_of_files_that_are_not_there() {
    let place = Place::new();
    place
        .run("index build i.idx nosuch.csv")
        .fails("i.idx: no document could be read, and no index was made\n");
    place.file("docs", four().concat());
    place.run("index build i.idx docs").clean();
    assert_eq!(place.run("index export i.idx").clean().lines().count(), 4);
    // Nothing to read is no failure.
    place.file("nothing", "");
    assert_eq!(place.run("index build n.idx nothing").status, 0);
}

/// Nothing was stored of CSV, and nothing of a field that is not there, without a word.
#[test]
fn a_stored_field_that_no_document_has_is_told() {
    let place = Place::new();
    place
        .file("d.csv", "url,text,year\na,some words,2024\n")
        .file(
            "d.jsonl",
            "{\"url\":\"a\",\"text\":\"some words\",\"year\":2024}\n",
        );
    place
        .run("index build c.idx --store-field year d.csv")
        .says("--store-field: no document has the field `year`; fields of JSON are stored\n");
    let run = place.run("index build j.idx --store-field year,yaer d.jsonl");
    run.says("--store-field: no document has the field `yaer`");
    assert!(!run.stderr.contains("`year`"), "{}", run.stderr);
}

#[test]
fn pairs_with_an_index_that_share_too_few_shingles_are_left_out() {
    let place = Place::new();
    let docs = [
        line("a", "one two three"),
        line("b", "one two three four five six"),
    ];
    place.file("docs", docs.concat());
    place.run("index build -q -w 1 i docs").clean();
    let ask = |flags: &str| {
        let asked = line("c", "one two three four five six");
        place
            .pipe(&format!("query -t 0.1 {flags} i"), asked)
            .clean()
    };
    assert_eq!(ask(""), "c a 0.5\nc b 1.0\n");
    assert_eq!(ask("--min-shared 4"), "c b 1.0\n");
    place
        .run("query --overlap 20 --min-shared 4 i docs")
        .fails("--overlap and --min-shared do not go together");
    place
        .run("index add --no-pairs --min-shared 4 i docs")
        .fails("--no-pairs and --min-shared do not go together");
    let add = "index add -q -t 0.1 --min-shared 4 i";
    let added = place
        .pipe(add, line("d", "one two three four five"))
        .clean();
    assert_eq!(added, "b d 0.8333333333333334\n");
}
