//! Files of each wire format, in `tests/data/worker`: today's code must read them and give the
//! known answer. A format may change with any version (`--expect-version` keeps versions apart),
//! but not by accident. After a change that is meant, write the files anew:
//! `cargo test --features worker --lib write_the_files_anew -- --ignored`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::arrow::testing::{rows_of, stream_of};
use super::rows::{Kind, Row};
use super::{Emit, Keys, Planned, Stage, Task, Verb, run_stage};
use crate::cluster::{ClusterMethod, Keep};
use crate::observer::Quiet;
use crate::read::Input;
use crate::score::Measure;
use crate::settings::Settings;

const FOLDER: &str = "tests/data/worker";
/// The collection, which the plan names: paths are relative to the package, where tests run.
const COLLECTION: &str = "tests/data/worker/ferries.jsonl";

fn place(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// A run of all stages, each of one process.
struct Run {
    task: Task,
    output: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        let task = Task {
            settings: Settings {
                measure: Measure::Jaccard,
                threads: 1,
                ..Settings::default()
            },
            verb: Verb::Dedup,
            method: ClusterMethod::default(),
            keep: Keep::default(),
            certain: false,
            keys: Keys::Many,
            key_bits: None,
            signs: None,
            has_others: false,
            is_narrowed: false,
            together: None,
            parts: 3,
            split_bytes: 3000,
            emit: Emit::Lines,
            output: None,
            typed: vec!["--threads=1".into()],
        };
        let output = tempfile::tempdir().unwrap();
        Self { task, output }
    }

    fn stage(&self, stage: Stage, change: impl FnOnce(&mut Task), rows: &[Row]) -> Vec<Row> {
        let mut task = self.task.clone();
        change(&mut task);
        let inputs = match stage {
            Stage::Plan => Planned::from(vec![Input::from_path(COLLECTION)]),
            _ => Planned::default(),
        };
        let mut given = Vec::new();
        let taken = stream(rows);
        run_stage(stage, &task, inputs, &taken[..], &mut given, &Quiet).unwrap();
        rows_of(&given)
    }

    fn sketch(&self, plan: &[Row], signs: Option<PathBuf>) -> Vec<Row> {
        self.stage(Stage::Sketch, |task| task.signs = signs, plan)
    }

    fn number(&self, plan: &[Row], sketched: &[Row]) -> Vec<Row> {
        let rows = [plan, &of(sketched, &[Kind::Sizes])].concat();
        self.stage(Stage::Number, |_| {}, &rows)
    }

    fn link(&self, rows: &[Row]) -> Vec<Row> {
        let kinds = [Kind::Ids, Kind::Lists, Kind::Keys, Kind::Prefixes];
        self.stage(Stage::Link, |_| {}, &of(rows, &kinds))
    }

    fn forest(&self, rows: &[Row], change: impl FnOnce(&mut Task)) -> Vec<Row> {
        let kinds = [
            Kind::Links,
            Kind::Copies,
            Kind::Repeated,
            Kind::Common,
            Kind::Narrow,
            Kind::Narrowed,
        ];
        self.stage(Stage::Forest, change, &of(rows, &kinds))
    }

    fn fetch(&self, counted: &[Row], forest: &[Row], signs: Option<PathBuf>) -> Vec<Row> {
        let rows = [counted, &of(forest, &[Kind::Wanted])].concat();
        self.stage(Stage::Fetch, |task| task.signs = signs, &rows)
    }

    fn verify(&self, documents: &[Row], sketched: &[Row]) -> Vec<Row> {
        let rows = [documents, &of(sketched, &[Kind::Unused])].concat();
        let output = self.output.path().join("removed");
        fs::create_dir_all(&output).unwrap();
        self.stage(Stage::Verify, |task| task.output = Some(output), &rows)
    }

    /// Compares what goes, and what stays, with the answer of one machine.
    fn check(&self, counted: &[Row], forest: &[Row], verified: &[Row]) {
        assert_eq!(
            lines_below(&self.output.path().join("removed")),
            lines_of(&place("removed.jsonl"))
        );
        self.check_kept(counted, forest, verified);
    }

    fn check_kept(&self, counted: &[Row], forest: &[Row], verified: &[Row]) {
        let wanted = of(forest, &[Kind::Wanted]);
        let rows = [counted, &wanted, &of(verified, &[Kind::Removed])].concat();
        let output = self.output.path().join("kept");
        fs::create_dir(&output).unwrap();
        let folder = Some(output.clone());
        self.stage(Stage::Write, |task| task.output = folder, &rows);
        assert_eq!(lines_below(&output), lines_of(&place("kept.jsonl")));
    }

    /// All stages behind `forest`.
    fn finish(&self, counted: &[Row], forest: &[Row], sketched: &[Row]) {
        let documents = self.fetch(counted, forest, None);
        let verified = self.verify(&documents, sketched);
        self.check(counted, forest, &verified);
    }
}

fn of(rows: &[Row], kinds: &[Kind]) -> Vec<Row> {
    let is_of = |row: &&Row| kinds.contains(&row.kind);
    rows.iter().filter(is_of).cloned().collect()
}

fn stream(rows: &[Row]) -> Vec<u8> {
    let row = |row: &Row| (row.part as u32, row.kind, row.data.clone());
    stream_of(&rows.iter().map(row).collect::<Vec<_>>())
}

/// The rows of a file, without the last one, which says how many they are.
fn read(name: &str) -> Vec<Row> {
    let mut rows = rows_of(&fs::read(place(name)).unwrap());
    let last = rows.pop().unwrap();
    assert_eq!(last.kind, Kind::End);
    assert_eq!(last.data, (rows.len() as u64).to_le_bytes());
    rows
}

fn lines_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    lines.sort_unstable();
    lines
}

fn lines_below(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut lines: Vec<String> = files
        .flat_map(|file| lines_of(&file.unwrap().path()))
        .collect();
    lines.sort_unstable();
    lines
}

/// The files, and the kinds of rows that each must have.
const FILES: [(&str, &[Kind]); 10] = [
    ("plan.arrow", &[Kind::Typed, Kind::Input]),
    (
        "sketch.arrow",
        &[
            Kind::Ids,
            Kind::Lists,
            Kind::Keys,
            Kind::Common,
            Kind::Sizes,
            Kind::Unused,
            Kind::Counts,
            Kind::Notes,
        ],
    ),
    ("number.arrow", &[Kind::Input]),
    ("link.arrow", &[Kind::Links, Kind::Copies, Kind::Repeated]),
    ("forest.arrow", &[Kind::Wanted, Kind::Counts]),
    ("forest-to-narrow.arrow", &[Kind::Narrow, Kind::Common]),
    ("narrow.arrow", &[Kind::Prefixes]),
    ("link-narrowed.arrow", &[Kind::Narrowed]),
    ("fetch-signs.arrow", &[Kind::Signs]),
    ("fetch.arrow", &[Kind::Documents, Kind::Places]),
];
const VERIFIED: &str = "verify.arrow";
const SIGNS: &str = "signs";

#[test]
#[ignore = "it writes the files that the other tests read"]
fn write_the_files_anew() {
    let run = Run::new();
    let write = |name: &str, rows: &[Row]| fs::write(place(name), stream(rows)).unwrap();
    let mut plan = run.stage(Stage::Plan, |_| {}, &[]);
    for row in plan.iter_mut().filter(|row| row.kind == Kind::Input) {
        let mut part: Value = serde_json::from_slice(&row.data).unwrap();
        part["path"] = COLLECTION.into();
        row.data = serde_json::to_vec(&part).unwrap();
    }
    write("plan.arrow", &plan);
    fs::create_dir_all(place(SIGNS)).unwrap();
    let sketched = run.sketch(&plan, Some(place(SIGNS)));
    write("sketch.arrow", &sketched);
    let counted = run.number(&plan, &sketched);
    write("number.arrow", &counted);
    let linked = run.link(&sketched);
    write("link.arrow", &linked);
    let links = [linked, sketched].concat();
    let forest = run.forest(&links, |_| {});
    write("forest.arrow", &forest);
    let to_narrow = run.forest(&links, |task| task.together = Some(2));
    write("forest-to-narrow.arrow", &to_narrow);
    let rows = [&counted[..], &to_narrow].concat();
    let narrowed = run.stage(Stage::Narrow, |_| {}, &rows);
    write("narrow.arrow", &narrowed);
    write("link-narrowed.arrow", &run.link(&narrowed));
    let bits = run.fetch(&counted, &forest, Some(place(SIGNS)));
    write("fetch-signs.arrow", &bits);
    let documents = run.fetch(&counted, &forest, None);
    write("fetch.arrow", &documents);
    write(VERIFIED, &run.verify(&documents, &links));
}

#[test]
fn the_files_have_all_kinds_of_rows() {
    let mut known = vec![Kind::End, Kind::Again, Kind::Result];
    for (name, kinds) in FILES {
        let rows = read(name);
        for kind in kinds {
            assert!(!of(&rows, &[*kind]).is_empty(), "{name}: no {kind:?}");
        }
        known.extend(kinds);
    }
    assert!(!of(&read(VERIFIED), &[Kind::Removed]).is_empty());
    known.push(Kind::Removed);
    // `again` has no data, and results are for the engine.
    for number in 0..=24 {
        if let Ok(kind) = Kind::new(number) {
            assert!(known.contains(&kind), "no file has rows of {kind:?}");
        }
    }
}

#[test]
fn a_plan_is_read_and_gives_the_known_answer() {
    let run = Run::new();
    let plan = read("plan.arrow");
    let sketched = run.sketch(&plan, None);
    let counted = run.number(&plan, &sketched);
    let linked = run.link(&sketched);
    let forest = run.forest(&[linked, sketched.clone()].concat(), |_| {});
    run.finish(&counted, &forest, &sketched);
}

#[test]
fn keys_and_links_are_read_and_give_the_known_answer() {
    let sketched = read("sketch.arrow");
    let counted = Run::new().number(&read("plan.arrow"), &sketched);
    assert_eq!(counted, read("number.arrow"));
    for linked in [Run::new().link(&sketched), read("link.arrow")] {
        let run = Run::new();
        let forest = run.forest(&[linked, sketched.clone()].concat(), |_| {});
        run.finish(&counted, &forest, &sketched);
    }
}

#[test]
fn rarer_keys_are_read_and_give_the_known_answer() {
    let counted = read("number.arrow");
    let (sketched, linked) = (read("sketch.arrow"), read("link.arrow"));
    let to_narrow = read("forest-to-narrow.arrow");
    let rows = [&counted[..], &to_narrow].concat();
    let narrowed = Run::new().stage(Stage::Narrow, |_| {}, &rows);
    for relinked in [
        Run::new().link(&narrowed),
        Run::new().link(&read("narrow.arrow")),
        read("link-narrowed.arrow"),
    ] {
        let links = of(&sketched, &[Kind::Links]);
        let asked = of(&to_narrow, &[Kind::Narrow]);
        let rows = [&linked[..], &links, &relinked, &asked].concat();
        let run = Run::new();
        let forest = run.forest(&rows, |task| {
            (task.is_narrowed, task.together) = (true, Some(2));
        });
        run.finish(&counted, &forest, &sketched);
    }
}

#[test]
fn files_of_bits_are_read_and_give_the_known_answer() {
    let (counted, sketched) = (read("number.arrow"), read("sketch.arrow"));
    let forest = read("forest.arrow");
    let fetched = Run::new().fetch(&counted, &forest, Some(place(SIGNS)));
    for bits in [fetched, read("fetch-signs.arrow")] {
        let run = Run::new();
        let alike = run.stage(Stage::Refine, |_| {}, &bits);
        let others = of(&read("link.arrow"), &[Kind::Copies, Kind::Repeated]);
        let forest = run.forest(&[alike, others].concat(), |task| task.is_narrowed = true);
        run.finish(&counted, &forest, &sketched);
    }
}

#[test]
fn documents_and_what_goes_are_read_and_give_the_known_answer() {
    let (counted, forest) = (read("number.arrow"), read("forest.arrow"));
    let run = Run::new();
    let verified = run.verify(&read("fetch.arrow"), &read("sketch.arrow"));
    run.check(&counted, &forest, &verified);
    Run::new().check_kept(&counted, &forest, &read(VERIFIED));
}
