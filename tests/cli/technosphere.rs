//! The Technosphere course's own algorithm.

use crate::harness::{Place, line};

#[test]
fn five_words_have_no_shingle_and_six_have_one() {
    let place = Place::new();
    let docs = [
        line("five", "один два три четыре пять"),
        line("six", "Один, два «три» четыре&nbsp;пять шесть"),
        line("copy", "один два три четыре пять шесть"),
        line("other", "один два три четыре шесть пять"),
    ];
    let pairs = place.pipe("--preset technosphere", docs.concat()).clean();
    assert_eq!(pairs, "six copy 1.0\n");
    let signatures = place
        .pipe("sketch --preset technosphere", docs.concat())
        .clean();
    // MurmurHash3 of the five words, as the course publishes it.
    let values = ["328566618"; 20].join(",");
    assert_eq!(
        signatures.lines().next().unwrap(),
        format!("{{\"url\":\"six\",\"shingles\":1,\"values\":[{values}]}}")
    );
}

#[test]
fn flags_that_say_the_same_are_fine() {
    let place = Place::new();
    let docs = [line("a", "a b c d e f"), line("b", "a b c d e f")].concat();
    let flags = "--preset technosphere --shingle-words 5 --hashes 20 --threshold 0.75";
    assert_eq!(place.pipe(flags, docs).clean(), "a b 1.0\n");
}
