//! Settings in a file, and written as one.

use crate::harness::{Place, four};

#[test]
fn settings_come_from_a_file_unless_typed() {
    let place = Place::new();
    place.file("docs", four().concat()).file(
        "simdup.toml",
        "# reviewed\nscore = \"jaccard\"\nthreshold = 0.78\ndigits = 2\nexit-status = true\n",
    );
    let run = place.run("--config simdup.toml docs");
    assert_eq!((run.status, run.stdout.as_str()), (1, "a d 1.0\n"));
    let run = place.run("--config simdup.toml -t 0.7 docs");
    assert_eq!(
        run.stdout,
        place.run("-s jaccard -t 0.7 --digits 2 docs").stdout
    );
    let run = place.run("cluster -f jsonl --config simdup.toml docs");
    assert_eq!(run.status, 1);
    // `sketch` has none of these.
    assert_eq!(
        place.run("sketch --config simdup.toml docs").clean(),
        place.run("sketch docs").clean()
    );
    place.file("bad.toml", "treshold = 0.5\n");
    place
        .run("--config bad.toml docs")
        .fails("--config bad.toml: `treshold` is no flag of simdup; did you mean `threshold`?");
    place.file("bad.toml", "threshold = 5\n");
    place
        .run("--config bad.toml docs")
        .fails("--config bad.toml: threshold: invalid value '5'")
        .says("a threshold is a decimal");
    place
        .run("--config nowhere docs")
        .fails("--config nowhere: ");
}

#[test]
fn a_command_line_is_printed_as_such_a_file() {
    let place = Place::new();
    place.file("docs", four().concat());
    let flags = "-s jaccard -t 0.5 --digits 3 --glob *.c --glob !x --text-field text -q --top 2";
    let printed = place.run(&format!("{flags} --print-config")).clean();
    assert_eq!(
        printed,
        "# simdup\ntext-field = \"text\"\nglob = [\"*.c\", \"!x\"]\nscore = \"jaccard\"\nthreshold = \
         0.5\ntop = 2\ndigits = 3\nquiet = true\n",
    );
    let flags = "cluster -t 0.5 --keep last -f jsonl";
    place.file(
        "c.toml",
        place.run(&format!("{flags} --print-config")).clean(),
    );
    assert_eq!(
        place.run("cluster --config c.toml docs").clean(),
        place.run(&format!("{flags} docs")).clean()
    );
    // What stands in a file is printed too.
    let again = place.run("cluster --config c.toml --print-config").clean();
    assert_eq!(again, place.read("c.toml"));
}

#[test]
fn a_typed_flag_drops_its_rivals_of_the_file() {
    let place = Place::new();
    place.file("docs", four().concat()).file(
        "simdup.toml",
        "score = \"jaccard\"\nshingle-words = 3\nformat = \"jsonl\"\nthreshold = 0.5\n",
    );
    let run = place.run("--config simdup.toml -c 4 --count docs");
    assert_eq!(
        run.clean(),
        place.run("-s jaccard -c 4 -t 0.5 --count docs").clean()
    );
}

#[test]
fn keys_that_do_not_apply_to_this_call_are_ignored() {
    let place = Place::new();
    place
        .file("src/a.c", "int main() { return 0; } // a")
        .file("src/b.c", "int main() { return 0; } // b")
        .file("src/c.txt", "int main() { return 0; } // c")
        .file("list", "src/a.c\nsrc/b.c\n")
        .file("docs", four().concat())
        .file(
            "simdup.toml",
            "glob = [\"*.c\"]\nhidden = true\npreset = \"code\"\nmin-shared = 0\nremoved = \"gone\"\nskip-ok = true\n",
        );
    let found = "src/a.c src/b.c 1.0\n";
    for files in ["src", "src/a.c src/b.c", "--files-from list"] {
        let run = place.run(&format!("--config simdup.toml {files}"));
        assert_eq!(run.clean(), found, "{files}");
    }
    assert_eq!(
        place
            .run("cluster --config simdup.toml --shingle-code 8 src/a.c src/b.c")
            .clean(),
        "src/a.c src/b.c\n"
    );
    place.run("index build -w 3 i docs").clean();
    assert_eq!(
        place
            .run("--config simdup.toml -s jaccard --against i docs")
            .status,
        0
    );
    // What is typed is an error as before.
    place
        .run("--config simdup.toml --glob *.c src/a.c")
        .fails("--glob is about the files of a directory or an archive");
    place
        .run("--config simdup.toml --strict --count --top 2 src")
        .fails("--count and --top do not go together");
    place.file(
        "bad.toml",
        "glob = [\"*.c\"]\nstrict = true\nskip-ok = true\n",
    );
    place
        .run("--config bad.toml src/a.c")
        .fails("--strict and --skip-ok do not go together");
    // A list that comes through a pipe is read once.
    let run = place.pipe("--config simdup.toml --files-from -", "src/a.c\nsrc/b.c\n");
    assert_eq!(run.clean(), found);
}

#[test]
fn a_command_line_that_cannot_run_is_not_printed() {
    let place = Place::new();
    for flags in [
        "--recall 0.5",
        "--count --top 2",
        "cluster --score containment",
        "dedup --annotate --dry-run",
        "rank --gold nowhere --features nothing",
        "eval --hashes 4,5",
        "tune --preset technosphere",
        "index build x -w 3 -c 4",
        "query x -w 3 -c 4",
    ] {
        let run = place.run(&format!("{flags} --print-config"));
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{flags}");
    }
}
