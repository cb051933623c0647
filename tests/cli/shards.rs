//! `dedup --output-dir`: shards stay shards.

use crate::harness::{Place, four, gunzip, gzip, line};

#[test]
fn each_input_has_an_output_of_its_own() {
    let place = Place::new();
    let [a, b, c, d] = four();
    place
        .file("in/one.jsonl", format!("{a}{b}"))
        .file(
            "in/z/two.jsonl.gz",
            gzip(format!("{c}{}", line("e", "another text of five words"))),
        )
        .file("in/three.jsonl", &d)
        .file(
            "in/table.csv",
            "url,text\nf,one two three four five six seven eight nine ten eleven twelve\n",
        );
    place.run("dedup --output-dir out in -q").clean();
    assert_eq!(place.read("out/one.jsonl"), format!("{a}{b}"));
    assert_eq!(
        gunzip(&place.path("out/z/two.jsonl.gz")),
        line("e", "another text of five words").as_bytes()
    );
    // Of what nothing is left, the file is, with the head that it had.
    assert_eq!(place.read("out/three.jsonl"), "");
    assert_eq!(place.read("out/table.csv"), "url,text\n");
    // All in one, in order, is what --output has.
    place
        .run("dedup --output-dir named in/one.jsonl in/z/two.jsonl.gz -q")
        .clean();
    assert_eq!(place.read("named/one.jsonl"), format!("{a}{b}"));
    assert!(place.path("named/two.jsonl.gz").exists());
}

#[test]
fn what_cannot_be_a_shard_is_refused() {
    let place = Place::new();
    let docs = four().concat();
    place
        .file("a/x.jsonl", &docs)
        .file(
            "b/x.jsonl",
            line("z", "something else altogether and long enough"),
        )
        .file("text.txt", "plain text");
    place
        .run("dedup --output-dir out a/x.jsonl b/x.jsonl")
        .fails("would both be out");
    place
        .run("dedup --output-dir a a")
        .fails("would replace what is read");
    place
        .run("dedup --output-dir out text.txt")
        .fails("text.txt: not for --output-dir: a file of text or HTML is one document")
        .says("`xargs cp -t DIR`\n");
    assert!(!place.path("out/text.txt").exists());
    place
        .pipe("dedup --output-dir out", &docs)
        .fails("standard input has no name");
    for flag in ["-o x", "--annotate", "--dry-run"] {
        place
            .run(&format!("dedup --output-dir out {flag} a"))
            .fails("do not go together");
    }
    assert_eq!(place.read("a/x.jsonl"), docs);
}
