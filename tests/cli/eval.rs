//! `simdup eval` and `simdup tune`.

use serde_json::Value;

use crate::harness::{Place, line};

/// Numbers that look drawn.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % count
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 24] = [
            "ba", "re", "to", "ki", "lan", "mer", "so", "du", "ven", "ta", "pi", "or", "sel", "mi",
            "gra", "no", "chu", "fe", "ran", "il", "sto", "we", "ha", "lu",
        ];
        let count = 1 + self.below(3);
        (0..count)
            .map(|_| SYLLABLES[self.below(SYLLABLES.len())])
            .collect()
    }
}

/// 75 documents of 80 words, and edited copies of 25 of them. Each has its pair's number as topic.
fn case_study(seed: u64) -> String {
    let mut draw = Draw(seed.wrapping_mul(77) + 5);
    let documents: Vec<Vec<String>> = (0..75)
        .map(|_| (0..80).map(|_| draw.word()).collect())
        .collect();
    let mut lines = String::new();
    let mut push = |url: String, topic: usize, words: &[String]| {
        let object = serde_json::json!({"url": url, "topic": topic, "text": words.join(" ")});
        lines.push_str(&format!("{object}\n"));
    };
    for (number, words) in documents.iter().enumerate() {
        push(format!("d{number}"), number, words);
    }
    for (number, words) in documents.iter().take(25).enumerate() {
        let mut words = words.clone();
        for _ in 0..12 {
            let place = draw.below(words.len());
            words[place] = draw.word();
        }
        push(format!("copy{number}"), number, &words);
    }
    lines
}

fn rows(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name} in {row}"))
}

#[test]
fn the_case_study_has_its_shape_over_seeds() {
    let place = Place::new();
    for seed in 0..5 {
        place.file("d.jsonl", case_study(seed));
        let run = place.run(&format!(
            "eval --sweep bands --hashes 100 --bands 5,20,25,50 --shingle-chars 3 --threshold 0.5 \
             --seed {seed} -f jsonl d.jsonl"
        ));
        let rows = rows(&run.clean());
        let figure = |row: usize, name| number(&rows[row], name);
        assert_eq!(rows.len(), 4);
        // 5 × 20 finds nothing or next to it.
        assert!(figure(0, "recall") <= 0.1, "{}", rows[0]);
        // 20 × 5.
        assert!(figure(1, "recall") >= 0.6, "{}", rows[1]);
        assert_eq!(figure(1, "precision"), 1.0);
        // 25 × 4 and 50 × 2.
        for row in [2, 3] {
            assert!(figure(row, "recall") >= 0.96, "{}", rows[row]);
            assert_eq!(figure(row, "precision"), 1.0);
        }
        assert_eq!(figure(3, "recall"), 1.0);
        let candidates: Vec<f64> = (0..4).map(|row| figure(row, "candidates")).collect();
        assert!(candidates.is_sorted(), "{candidates:?}");
        assert!(candidates[3] > 4000.0, "{candidates:?}");
        for row in &rows {
            let (low, high) = (number(row, "predicted_low"), number(row, "predicted_high"));
            assert!((low..=high).contains(&number(row, "recall")), "{row}");
        }
    }
}

#[test]
fn bands_find_what_a_search_by_them_finds() {
    let place = Place::new();
    place.file("d.jsonl", case_study(3));
    let flags = "--hashes 60 --shingle-chars 3 --threshold 0.4";
    let swept = place
        .run(&format!("eval --sweep bands {flags} -f jsonl d.jsonl"))
        .clean();
    let swept = rows(&swept);
    assert_eq!(swept.len(), 12);
    for row in swept {
        let (bands, rows) = (&row["bands"], &row["rows"]);
        let found = place
            .run(&format!(
                "--score jaccard {flags} --bands {bands} --rows {rows} d.jsonl"
            ))
            .clean();
        let all = place
            .run("--score jaccard --shingle-chars 3 --threshold 0.4 d.jsonl")
            .clean();
        let recall = found.lines().count() as f64 / all.lines().count() as f64;
        assert!((number(&row, "recall") - recall).abs() < 1e-12, "{row}");
    }
}

#[test]
fn thresholds_remove_what_dedup_removes() {
    let place = Place::new();
    place.file("d.jsonl", case_study(1));
    let swept = place
        .run("eval --sweep threshold --shingle-chars 3 -f jsonl d.jsonl")
        .clean();
    let swept = rows(&swept);
    assert_eq!(swept.len(), 15);
    for row in swept.iter().step_by(3) {
        let threshold = &row["threshold"];
        let flags = format!("--shingle-chars 3 --threshold {threshold} d.jsonl");
        let clusters = place.run(&format!("cluster --quiet {flags}")).clean();
        let sizes: Vec<usize> = clusters
            .lines()
            .map(|line| line.split(' ').count())
            .collect();
        let pairs = place.run(&format!("--score jaccard {flags}")).clean();
        assert_eq!(
            number(row, "pairs") as usize,
            pairs.lines().count(),
            "{row}"
        );
        assert_eq!(number(row, "clusters") as usize, sizes.len(), "{row}");
        let removed = sizes.iter().sum::<usize>() - sizes.len();
        assert_eq!(number(row, "removed") as usize, removed, "{row}");
        let largest = sizes.iter().copied().max().unwrap_or(1);
        assert_eq!(number(row, "largest_cluster") as usize, largest, "{row}");
    }
}

#[test]
fn hashes_find_what_minhash_finds() {
    let place = Place::new();
    place.file("d.jsonl", case_study(2));
    let flags = "--shingle-chars 3 --threshold 0.5";
    let swept = place
        .run(&format!(
            "eval --sweep hashes --hashes 16,64 {flags} -f jsonl d.jsonl"
        ))
        .clean();
    for row in rows(&swept) {
        let hashes = &row["hashes"];
        let found = place
            .run(&format!("{flags} --hashes {hashes} d.jsonl"))
            .clean();
        assert_eq!(
            number(&row, "pairs") as usize,
            found.lines().count(),
            "{row}"
        );
        let (found, expected) = (
            number(&row, "deviation"),
            number(&row, "predicted_deviation"),
        );
        assert!(found > 0.0 && found < 2.0 * expected, "{row}");
        assert!(number(&row, "mean_error") <= number(&row, "largest_error"));
        let given = place
            .run(&format!(
                "eval --score minhash --hashes {hashes} {flags} -f jsonl d.jsonl"
            ))
            .clean();
        let given = &rows(&given)[0];
        assert_eq!(given["recall"], row["recall"]);
        assert_eq!(given["precision"], row["precision"]);
    }
}

#[test]
fn a_truth_is_a_file_or_a_field() {
    let place = Place::new();
    place.file("d.jsonl", case_study(4));
    let truth: String = (0..25).map(|n| format!("d{n} copy{n}\n")).collect();
    let labelled: String = (0..25)
        .map(|n| format!("d{n}\tcopy{n}\t1\nd{n}\tcopy{}\t0\n", (n + 1) % 25))
        .collect();
    place.file("truth.txt", truth).file("labels.tsv", labelled);
    let flags = "--shingle-chars 3 --threshold 0.6 -f jsonl d.jsonl";
    let by_file = place
        .run(&format!("eval --truth truth.txt {flags}"))
        .clean();
    let by_field = place
        .run(&format!("eval --truth-clusters topic {flags}"))
        .clean();
    let by_label = place
        .run(&format!("eval --truth labels.tsv {flags}"))
        .clean();
    let [by_file, by_field, by_label] =
        [by_file, by_field, by_label].map(|text| rows(&text).remove(0));
    let pairs = place
        .run("--score jaccard --shingle-chars 3 --threshold 0.6 d.jsonl")
        .clean();
    let is_true = |line: &&str| {
        let mut ids = line.split(' ');
        let (one, two) = (ids.next().unwrap(), ids.next().unwrap());
        two.strip_prefix("copy") == one.strip_prefix('d')
    };
    let hits = pairs.lines().filter(is_true).count() as f64;
    for row in [&by_file, &by_field, &by_label] {
        assert!((number(row, "recall") - hits / 25.0).abs() < 1e-12, "{row}");
        let (low, high) = (number(row, "recall_low"), number(row, "recall_high"));
        assert!((low..=high).contains(&number(row, "recall")), "{row}");
        assert_eq!(number(row, "best_f1"), 1.0, "{row}");
    }
    assert!(by_field["ari"].is_number() && by_file["ari"].is_null());
    assert_eq!(by_file["precision"], by_field["precision"]);
    // Labelled pairs tell thresholds below the one of the search.
    assert!(number(&by_label, "best_threshold") > 0.3);
    place.file("unknown.txt", "d0 copy0\nd0 nobody\n");
    place
        .run(&format!("eval --truth unknown.txt {flags}"))
        .fails("no document has the id nobody");
    place.file("bad.txt", "d0 copy0 0.5\n");
    place
        .run(&format!("eval --truth bad.txt {flags}"))
        .fails("bad.txt");
}

#[test]
fn shingles_are_compared_also_from_a_pipe() {
    let place = Place::new();
    let documents = case_study(0);
    place.file("d.jsonl", &documents);
    let flags = "eval --sweep shingles --threshold 0.5 --truth-clusters topic -f jsonl";
    let from_file = place.run(&format!("{flags} d.jsonl")).clean();
    assert_eq!(place.pipe(flags, &documents).clean(), from_file);
    let rows = rows(&from_file);
    assert_eq!(rows.len(), 8 + 10 + 13);
    for row in rows.iter().filter(|row| row["shingle"] == "chars") {
        let found = place
            .run(&format!(
                "--score jaccard --threshold 0.5 --shingle-chars {} d.jsonl",
                row["size"]
            ))
            .clean();
        assert_eq!(
            number(row, "pairs") as usize,
            found.lines().count(),
            "{row}"
        );
    }
}

#[test]
fn planted_copies_are_found_less_the_more_they_are_edited() {
    let place = Place::new();
    place.file("d.jsonl", case_study(0));
    let flags = "eval --inject 490 --shingle-words 2 --threshold 0.6";
    let planted = place.run(&format!("{flags} -f jsonl d.jsonl")).clean();
    assert_eq!(
        planted,
        place.run(&format!("{flags} -f jsonl -j 1 d.jsonl")).clean()
    );
    let rows = rows(&planted);
    assert_eq!(rows.len(), 49);
    let share = |edit: &str, percent: u64| {
        let is_it = |row: &&Value| row["edit"] == edit && row["percent"] == percent;
        number(rows.iter().find(is_it).unwrap(), "share")
    };
    assert_eq!(share("words replaced", 1), 1.0);
    assert_eq!(share("words replaced", 50), 0.0);
    assert_eq!(share("truncated", 30), 1.0);
    assert_eq!(share("truncated", 50), 0.0);
    assert_eq!(share("case and punctuation", 50), 1.0);
    let all: f64 = rows.iter().map(|row| number(row, "planted")).sum();
    assert_eq!(all, 490.0);
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let place = Place::new();
    place.file("d.jsonl", case_study(0));
    for sweep in ["bands", "hashes", "threshold"] {
        let flags = format!(
            "eval --sweep {sweep} --shingle-chars 3 --threshold 0.4 --truth-clusters topic"
        );
        let one = place
            .run(&format!("{flags} -j 1 --plot one.svg d.jsonl"))
            .clean();
        let two = place
            .run(&format!("{flags} -j 2 --plot two.svg d.jsonl"))
            .clean();
        assert_eq!(one, two);
        assert_eq!(place.read("one.svg"), place.read("two.svg"));
        assert!(place.read("one.svg").starts_with("<svg"));
        let csv = place.run(&format!("{flags} -f csv d.jsonl")).clean();
        let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{csv}");
    }
}

#[test]
fn flags_without_effect_are_refused() {
    let place = Place::new();
    place.file("d.jsonl", line("a", "b"));
    for (flags, says) in [
        ("--sweep bands --recall 0.9", "--recall"),
        ("--sweep threshold --bands 4", "--bands"),
        ("--sweep shingles --shingle-words 3", "shingles"),
        ("--hashes 64", "--hashes"),
        ("--bands 4", "--rows"),
        ("--bands 40 --rows 4", "more positions"),
        ("--sweep bands --bands 400", "more positions"),
        ("--inject 5 --sweep bands", "--inject"),
        ("--inject 5 --plot x.svg", "--plot"),
        ("--truth t --truth-clusters f", "--truth"),
        ("--hashes 3,4 --recall 0.5", "--sweep hashes"),
    ] {
        place.run(&format!("eval {flags} d.jsonl")).fails(says);
    }
    place.run("tune --recall 1 d.jsonl").fails("--recall 1");
    for (flags, says) in [
        (
            "eval --sweep bands -s containment",
            "signatures estimate Jaccard",
        ),
        (
            "eval --sweep hashes --preset code",
            "--preset code's --score containment",
        ),
        ("eval --sweep threshold -s minhash", "exact scores"),
        (
            "eval --sweep shingles --preset code --keep-names",
            "--keep-names",
        ),
        (
            "eval --preset technosphere --sweep threshold",
            "the course's settings",
        ),
        (
            "eval --preset technosphere -s jaccard",
            "the course's score",
        ),
        (
            "eval --preset code --recall 0.9",
            "all pairs of that score are found",
        ),
        ("tune -s minhash", "same threshold"),
        ("tune --preset technosphere", "the course's settings"),
        ("tune --preset code --recall 0.9", "bands find pairs"),
        ("tune -s containment --hashes 64", "bands find pairs"),
    ] {
        place.run(&format!("{flags} d.jsonl")).fails(says);
    }
}

/// Tokens of source code, in an order that is drawn.
fn tokens(seed: u64) -> Vec<&'static str> {
    const TOKENS: [&str; 24] = [
        "+", "-", "*", "%", "&", "|", "^", "<", ">", "=", "!", "?", ":", ";", ",", ".", "(", ")",
        "[", "]", "if", "for", "while", "return",
    ];
    let mut draw = Draw(seed);
    (0..400).map(|_| TOKENS[draw.below(TOKENS.len())]).collect()
}

#[test]
fn the_preset_for_code_is_evaluated_and_tuned() {
    let place = Place::new();
    let [whole, other] = [1, 2].map(tokens);
    for (name, tokens) in [
        ("a", &whole[..]),
        ("b", &whole[100..250]),
        ("c", &other[..]),
    ] {
        place.file(&format!("s/{name}.c"), tokens.join(" "));
    }
    place.file("truth.tsv", "s/a.c\ts/b.c\t1\ns/a.c\ts/c.c\t0\n");
    let flags = "--preset code --truth truth.tsv -f jsonl s";
    let given = &rows(&place.run(&format!("eval {flags}")).clean())[0];
    assert_eq!(given["score"], "containment");
    assert_eq!(given["threshold"], 0.5);
    assert_eq!(given["f1"], 1.0);
    let found = place.run("--preset code -f jsonl s").clean();
    assert_eq!(given["best_threshold"], rows(&found)[0]["score"]);
    // A part of a text is not similar to it by Jaccard similarity.
    let jaccard = place.run(&format!("eval {flags} -s jaccard"));
    assert_eq!(rows(&jaccard.clean())[0]["pairs"], 0);
    for sweep in ["threshold", "shingles"] {
        let swept = place.run(&format!("eval --sweep {sweep} {flags}"));
        let all = rows(&swept.clean());
        let is_it =
            |row: &&Value| row["threshold"] == 0.5 || row["size"] == 8 && row["shingle"] == "code";
        let row = all.iter().find(is_it).unwrap();
        assert_eq!(row["pairs"], given["pairs"], "{sweep}");
        assert_eq!(row["best_threshold"], given["best_threshold"], "{sweep}");
    }
    let advice = place.run("tune --preset code s").clean();
    assert!(!advice.contains("bands"), "{advice}");
    let command = advice
        .lines()
        .find(|line| line.contains("simdup --preset code --threshold 0."));
    let command = command.unwrap().trim().strip_prefix("simdup ").unwrap();
    assert_eq!(
        place.run(command).stdout.lines().next(),
        place.run("--preset code s").stdout.lines().next()
    );
}

#[test]
fn the_course_is_evaluated_by_its_own_score() {
    let place = Place::new();
    place.file("d.jsonl", case_study(2));
    let row = &rows(
        &place
            .run("eval --preset technosphere --seed 3 -f jsonl d.jsonl")
            .clean(),
    )[0];
    let found = place.run("--preset technosphere d.jsonl").clean();
    assert_eq!(row["score"], "minhash");
    assert_eq!(number(row, "pairs") as usize, found.lines().count());
}

#[test]
fn an_empty_collection_has_rows_too() {
    let place = Place::new();
    place.file("d.jsonl", "");
    for flags in [
        "--sweep bands",
        "--sweep hashes",
        "--sweep threshold",
        "",
        "--inject 5",
        "--plot p.svg",
    ] {
        place.run(&format!("eval -q {flags} d.jsonl")).clean();
    }
    place.run("tune -q d.jsonl").clean();
}

#[test]
fn tune_answers_in_flags() {
    let place = Place::new();
    place.file("d.jsonl", case_study(0));
    let advice = place
        .run("tune --shingle-chars 3 --sample 1000 d.jsonl")
        .clean();
    for text in [
        "100 of 100 documents",
        "--threshold",
        "--bands",
        "--rows",
        "Memory",
    ] {
        assert!(advice.contains(text), "{advice}");
    }
    let sampled = place
        .run("tune --shingle-chars 3 --sample 50 d.jsonl")
        .clean();
    assert!(sampled.contains("50 of 100 documents"), "{sampled}");
    // The bands are as good as they say.
    let flags = advice
        .lines()
        .find(|line| line.contains("--bands"))
        .unwrap();
    let flags = flags.trim().strip_prefix("simdup ").unwrap();
    let found = place.run(&format!("eval {flags} -f jsonl"));
    assert!(number(&rows(&found.clean())[0], "recall") > 0.9);
}

/// They left out the size of shingles and how documents are read.
#[test]
fn what_tune_prints_can_be_copied() {
    let place = Place::new();
    let docs = case_study(0).replace("\"url\"", "\"the id\"");
    place.file("d d.jsonl", docs).file("common.txt", "the\n");
    let mut tune =
        place.command("tune -w 2 --stopwords common.txt --seed 3 --html=all --sample 1000");
    let tune = tune
        .args(["--id-field", "the id", "d d.jsonl"])
        .output()
        .unwrap();
    let advice = String::from_utf8(tune.stdout).unwrap();
    let lines: Vec<&str> = advice.lines().map(str::trim).collect();
    let lines = lines.iter().filter(|line| line.starts_with("simdup "));
    let lines: Vec<&str> = lines.copied().collect();
    let how = "simdup --id-field 'the id' --html=all --shingle-words 2 --stopwords common.txt --score \
               jaccard --threshold ";
    assert!(lines.iter().all(|line| line.starts_with(how)), "{advice}");
    assert!(
        lines[0].contains(" --hashes 128 --seed 3 --bands "),
        "{advice}"
    );
    assert!(lines[0].ends_with(" 'd d.jsonl'"), "{advice}");
    assert!(lines[1].ends_with(" --stats - 'd d.jsonl'"), "{advice}");
}

/// The sample was read again without the template.
#[test]
fn tune_takes_the_template_out() {
    let place = Place::new();
    let hand_out = "all of these words are in the hand out that everybody has";
    let docs = ["a", "b", "c"].map(|id| line(id, &format!("{hand_out} {id}1 {id}2 {id}3 {id}4")));
    place
        .file("d.jsonl", docs.concat())
        .file("hand-out.txt", hand_out);
    let advice = |flags: &str| place.run(&format!("tune -w 2 {flags} d.jsonl")).stdout;
    let all = advice("");
    assert!(
        all.starts_with("3 of 3 documents were compared: 3 pairs"),
        "{all}"
    );
    let own = advice("--template hand-out.txt");
    assert!(
        own.starts_with("3 of 3 documents were compared: 0 pairs"),
        "{own}"
    );
}

#[test]
fn tune_does_not_count_documents_without_text() {
    let docs = [
        line("a", "one two three"),
        line("b", "one two four"),
        line("c", ""),
    ];
    let advice = Place::new().pipe("tune -w 1", docs.concat()).stdout;
    assert!(
        advice.starts_with("2 of 2 documents were compared"),
        "{advice}"
    );
    assert!(!advice.contains("--memory is"), "{advice}");
    assert!(!advice.contains("do not fit"), "{advice}");
}

/// True pairs without a common shingle have a score of 0, at which no threshold finds them.
#[test]
fn the_best_f1_is_one_that_a_threshold_reaches() {
    let place = Place::new();
    let texts = [
        "one two three four",
        "one two three five",
        "six",
        "seven",
        "eight",
    ];
    let docs = ["a", "b", "c", "d", "e"].iter().zip(texts);
    let docs: String = docs.map(|(id, text)| line(id, text)).collect();
    place
        .file("z.jsonl", docs)
        .file("z.tsv", "a\tb\t1\nc\td\t1\nc\te\t1\n");
    let run = |flags: &str| {
        let eval = format!("eval -w 1 -s jaccard -t 0.5 {flags} -f jsonl --truth z.tsv z.jsonl");
        let row = &rows(&place.run(&eval).stdout)[0];
        (row["best_f1"].as_f64(), row["best_threshold"].as_f64())
    };
    assert_eq!(run(""), (Some(0.5), Some(0.6)));
    assert_eq!(run("--min-shared 10"), (None, None));
}
