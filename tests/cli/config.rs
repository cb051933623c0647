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
    place
        .run("sketch --config simdup.toml docs")
        .fails("`digits` is no flag of simdup sketch");
    place.file("bad.toml", "treshold = 0.5\n");
    place
        .run("--config bad.toml docs")
        .fails("--config bad.toml: `treshold` is no flag of simdup; did you mean `threshold`?");
    place.file("bad.toml", "threshold = 5\n");
    place
        .run("--config bad.toml docs")
        .fails("a threshold is a decimal");
    place
        .run("--config nowhere docs")
        .fails("--config nowhere: ");
}

#[test]
fn a_command_line_is_printed_as_such_a_file() {
    let place = Place::new();
    place.file("docs", four().concat());
    let flags = "-s jaccard -t 0.5 --digits 3 --glob *.c --glob !x --text-field text -q --top 2";
    let printed = place.run(&format!("{flags} --print-config docs")).clean();
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
