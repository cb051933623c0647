//! Source code: copies are found whatever was renamed, commented and moved.

use crate::corpus::Random;
use crate::harness::{Place, line};

/// A program of some functions, each a random sequence of statements over three names.
struct Program(Vec<Vec<String>>);

impl Program {
    fn new(random: &mut Random) -> Self {
        let function = |random: &mut Random| (0..12).map(|_| statement(random)).collect();
        Self((0..6).map(|_| function(random)).collect())
    }

    /// Its text with names, comments and an order of functions of its own.
    fn text(&self, style: usize) -> String {
        let names = [
            ["a", "b", "c"],
            ["total", "index", "limit"],
            ["x1", "y_2", "Zed"],
        ];
        let comment = ["", "// as in the lecture\n", "/* checked\n twice */ "][style % 3];
        let mut functions = self.0.clone();
        functions.rotate_left(style % 6);
        let mut text = String::from("#include <stdio.h>\n");
        for (number, statements) in functions.iter().enumerate() {
            text += &format!("{comment}int f{style}_{number}(int A, int B) {{ int C = {style};\n");
            for statement in statements {
                text += &format!("{}{statement}\n", ["  ", "\t", ""][style % 3]);
            }
            text += "return C; }\n";
        }
        names[style % 3]
            .iter()
            .zip(["A", "B", "C"])
            .fold(text, |text, (name, place)| text.replace(place, name))
    }
}

fn statement(random: &mut Random) -> String {
    let mut pick = |all: &[&str]| all[random.next() as usize % all.len()].to_owned();
    let name = ["A", "B", "C"];
    let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
    let value = format!(
        "{} {} {} {} {}",
        pick(&name),
        pick(&operators),
        pick(&["1", "27", "A", "(B)", "C[0]"]),
        pick(&operators),
        pick(&name)
    );
    match pick(&["=", "+=", "if", "while", "call", "for"]).as_str() {
        "if" => format!("if ({value} > {}) C++;", pick(&name)),
        "while" => format!("while ({value}) {{ A--; }}"),
        "call" => format!("printf(\"%d\\n\", {value});"),
        "for" => format!("for (B = 0; B < {value}; B++) C {}= A;", pick(&operators)),
        sign => format!("{} {sign} {value};", pick(&name)),
    }
}

#[test]
fn copies_are_found_and_independent_programs_are_not() {
    let mut random = Random::new(11);
    let programs: Vec<Program> = (0..60).map(|_| Program::new(&mut random)).collect();
    let mut docs = String::new();
    for (number, program) in programs.iter().enumerate() {
        docs += &line(&format!("{number}"), &program.text(number));
    }
    // Every fourth was handed in twice.
    let copied: Vec<usize> = (0..60).step_by(4).collect();
    for &number in &copied {
        docs += &line(
            &format!("{number}-copy"),
            &programs[number].text(number + 1),
        );
    }
    let place = Place::new();
    let found = place.pipe("--preset code -f tsv", &docs).clean();
    let found: Vec<&str> = found
        .lines()
        .map(|line| line.rsplit_once('\t').unwrap().0)
        .collect();
    let expected: Vec<String> = copied.iter().map(|n| format!("{n}\t{n}-copy")).collect();
    assert_eq!(found, expected);
    // By their words, no program is like another.
    let by_words = "--score containment --threshold 0.5";
    assert_eq!(place.pipe(by_words, &docs).clean(), "");
}

#[test]
fn the_preset_is_four_flags_that_can_be_overridden() {
    let one = "int f(int a) { int b = a + 1; while (a < b) { a++; } return a; }";
    let two = "int g(int x) { int y = x + 2; while (x < y) { x++; } return x * 3 - y / 2 % x; }";
    let docs = [line("a", one), line("b", two)].concat();
    let place = Place::new();
    let run = |flags: &str| place.pipe(flags, &docs).clean();
    // The programs are short.
    assert_eq!(run("--preset code"), "");
    let preset = run("--preset code --min-shared 5");
    assert!(preset.starts_with("a b 0.9"), "{preset}");
    assert_eq!(
        preset,
        run("--shingle-code 8 --score containment --threshold 0.5")
    );
    let preset = "--preset code --min-shared 0";
    assert_eq!(run(&format!("{preset} --threshold 1")), "");
    assert_eq!(
        run(&format!("{preset} --score jaccard")),
        run("--shingle-code 8 --score jaccard --threshold 0.5")
    );
    // An estimate knows of no shingles.
    assert_ne!(run("--preset code --score minhash"), "");
    assert_eq!(run(&format!("{preset} --shingle-code 3 --threshold 1")), "");
    assert_eq!(run(&format!("{preset} --keep-names")), "");
    let words = "--shingle-words 1 --threshold 0.6";
    assert_eq!(run(&format!("{preset} {words}")), "");
    let clusters = |flags: &str| {
        let flags = format!("cluster --preset code --score jaccard {flags}");
        place.pipe(&flags, &docs).clean()
    };
    assert_eq!(clusters("--min-shared 0"), "a b\n");
    assert_eq!(clusters(""), "");
    place
        .pipe("--shingle-code 2-4 --stats stats", &docs)
        .clean();
    assert!(place.read("stats").contains("\"shingle_code\": \"2-4\""));
}

#[test]
fn pairs_that_share_too_few_shingles_are_counted() {
    let code = "int get() { return x; } void set(int y) { x = y; }";
    let docs = ["a", "b", "c"].map(|id| line(id, code)).concat();
    let place = Place::new();
    let run = place.pipe("--preset code --summary always --stats stats", &docs);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    run.says(" · 3 pairs left out for sharing fewer than 30 shingles · ");
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    assert_eq!(stats["search"]["pruned_by_min_shared"], 3);
    assert_eq!(stats["settings"]["min_shared"], 30);
    let dedup = "dedup --shingle-code 8 --min-shared 30 --summary always";
    let run = place.pipe(dedup, &docs);
    assert_eq!(run.stdout, docs);
    // Clusters do not need all pairs, so it is not known how many there are.
    assert!(!run.stderr.contains("left out"), "{}", run.stderr);
    // No document is held against itself.
    place.file("docs.jsonl", &docs);
    place
        .run("--preset code --summary always --against docs.jsonl docs.jsonl")
        .says(" · 6 pairs left out");
    // Against an index too.
    place
        .run("index build --quiet --shingle-code 8 i docs.jsonl")
        .clean();
    let against = |least| {
        let flags = format!("dedup --shingle-code 8 --against i --min-shared {least}");
        place.pipe(&flags, line("d", code)).clean().lines().count()
    };
    assert_eq!([against(3), against(30)], [0, 1]);
    let ask = "--shingle-code 8 -s jaccard --min-shared 30 --summary always --against i";
    let left_out = |id: &str| place.pipe(ask, line(id, code));
    left_out("d").says(" · 3 pairs left out");
    left_out("a").says(" · 2 pairs left out");
}

#[test]
fn windows_over_source_code() {
    let count = |flags: &str| {
        let run = Place::new().pipe(
            &format!("sketch --hashes 1 {flags}"),
            line("a", "if (a) { b; } else { return 1; } // no more"),
        );
        let document: serde_json::Value = serde_json::from_str(&run.clean()).unwrap();
        document["shingles"].as_u64().unwrap()
    };
    assert_eq!(count("--shingle-code 4"), 14 - 3);
    assert_eq!(count("--shingle-code 4-5"), 11 + 10);
    assert_eq!(count("--shingle-code 4 --step 5"), 3);
    assert_eq!(count("--shingle-code 4 --wrap"), 14);
    assert_eq!(count("--preset code"), 7);
}
