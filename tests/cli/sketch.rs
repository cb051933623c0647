//! `simdup sketch`.

use crate::harness::{Place, line};

#[test]
fn signatures_are_one_object_a_line() {
    let place = Place::new();
    let docs = [line("a\"", "x"), line("empty", ""), line("b", "x")].concat();
    let signatures = place.pipe("sketch --hashes 3", docs).clean();
    let lines: Vec<&str> = signatures.lines().collect();
    assert_eq!(lines.len(), 2);
    let values = lines[1]
        .strip_prefix("{\"url\":\"b\",\"shingles\":1,\"values\":")
        .unwrap();
    assert_eq!(
        lines[0],
        format!("{{\"url\":\"a\\\"\",\"shingles\":1,\"values\":{values}")
    );
}

/// The signature of a text is the same for ever.
#[test]
fn signatures_are_frozen() {
    let place = Place::new();
    let text = "The quick brown fox jumps over the lazy dog; a naïve café.";
    for (flags, expected) in [
        (
            "--hashes 4",
            "\"shingles\":8,\"values\":[1245881290,1390023041,657402270,371119244]",
        ),
        (
            "--hashes 4 --seed 1",
            "\"shingles\":8,\"values\":[-667450463,-1882834685,1462843334,250857259]",
        ),
        (
            "--hashes 4 --shingle-chars 8",
            "\"shingles\":51,\"values\":[-792883519,-2139606991,-801185346,273495930]",
        ),
    ] {
        let signature = place
            .pipe(&format!("sketch {flags}"), line("a", text))
            .clean();
        assert_eq!(
            signature,
            format!("{{\"url\":\"a\",{expected}}}\n"),
            "{flags}"
        );
    }
}
