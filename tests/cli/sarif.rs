//! SARIF 2.1.0, held against the schema of the standard.

use serde_json::{Value, json};

use crate::harness::{Place, line};
use crate::json_schema::errors;

const TEXT: &str = "one two three four five six seven\neight nine ten eleven twelve thirteen\n";

fn schema() -> Value {
    serde_json::from_str(include_str!("../data/sarif-schema-2.1.0.json")).unwrap()
}

/// What is written, checked.
fn log(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap();
    assert_eq!(errors(&log, &schema()), [""; 0]);
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        // What the standard says in words only.
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(result["ruleId"], run["tool"]["driver"]["rules"][rule]["id"]);
        for places in ["locations", "relatedLocations"] {
            for place in result[places].as_array().unwrap() {
                if let Some(file) = place.pointer("/physicalLocation/artifactLocation/uri") {
                    assert!(!file.as_str().unwrap().contains([' ', '\\', ':']));
                }
            }
        }
    }
    log
}

fn results(log: &Value) -> &[Value] {
    log["runs"][0]["results"].as_array().unwrap()
}

#[test]
fn sarif_is_as_its_schema_has_it() {
    let place = Place::new();
    place
        .file("d/a b.txt", format!("first.\n{TEXT}"))
        .file("d/b.txt", TEXT)
        .file("d/c.txt", TEXT)
        .file("none.txt", "nothing");
    for (arguments, count) in [("-s containment d", 3), ("none.txt", 0), ("--top 1 d", 1)] {
        place.run(&format!("{arguments} -q -o out.sarif")).clean();
        let log = log(&place.read("out.sarif"));
        let found = results(&log);
        assert_eq!(found.len(), count, "{arguments}");
        for result in found {
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["region"]["startLine"].as_u64().unwrap() <= 2);
        }
    }
    let log = log(&place.read("out.sarif"));
    assert_eq!(results(&log)[0]["properties"]["score"], "1.0");
}

#[test]
fn a_record_of_a_file_of_lines_has_its_line_in_sarif_and_on_github() {
    let place = Place::new();
    let records = [line("a", TEXT), "\n".to_owned(), line("b", TEXT)].concat();
    place.file("in/docs.jsonl", &records);
    let found = log(&place.run("-f sarif in/docs.jsonl").clean());
    let result = &results(&found)[0];
    let located = |name: &str, line: u64| {
        json!({
            "logicalLocations": [{"fullyQualifiedName": name}],
            "physicalLocation": {
                "artifactLocation": {"uri": "in/docs.jsonl"},
                "region": {"startLine": line},
            },
        })
    };
    assert_eq!(result["locations"], json!([located("a", 1)]));
    let mut related = located("b", 3);
    related["id"] = 1.into();
    related["message"] = json!({"text": "b"});
    assert_eq!(result["relatedLocations"], json!([related]));
    assert_eq!(
        place.run("-f github in/docs.jsonl").clean(),
        "::warning file=in/docs.jsonl,line=1,title=near-duplicate::a is similar to b in \
         in/docs.jsonl:3 (score 1.0)\n\
         ::warning file=in/docs.jsonl,line=3,title=near-duplicate::b is similar to a in \
         in/docs.jsonl:1 (score 1.0)\n"
    );
    // The lines of `lines` are documents, too.
    place.file("names", "first name\n\nfirst name\n");
    assert_eq!(
        place.run("-f github --input-format lines names").clean(),
        "::warning file=names,line=1,title=near-duplicate::names:1 is similar to names:3 \
         (score 1.0)\n\
         ::warning file=names,line=3,title=near-duplicate::names:3 is similar to names:1 (score 1.0)\n"
    );
    // In a folder, among those that are no records; an id met again counts where it was first.
    place.file("in/z.txt", TEXT);
    place.file("in/e.jsonl", line("a", "other") + &line("c", TEXT));
    let run = place.run("-f github -q in");
    assert!(
        run.stdout.contains(
            "::warning file=in/e.jsonl,line=2,title=near-duplicate::c is similar to in/z.txt (score"
        ),
        "{}",
        run.stdout
    );
}

#[test]
fn what_has_no_line_of_a_file_has_its_name() {
    let place = Place::new();
    let records = line("a", TEXT) + &line("b", TEXT);
    // An array may have several elements in a line, a table cells of several lines, a pipe is no
    // file, and the lines of what is compressed are nowhere to be seen.
    let array = format!("[{}]", records.trim_end().replace('\n', ","));
    place.file("array.json", array);
    place.file(
        "table.csv",
        format!("id,text\na,\"{TEXT}\"\nb,\"{TEXT}\"\n"),
    );
    place.file("docs.jsonl.gz", crate::harness::gzip(records.as_bytes()));
    for name in ["array.json", "table.csv", "docs.jsonl.gz"] {
        let found = log(&place.run(&format!("-f sarif {name}")).clean());
        assert_eq!(
            results(&found)[0]["locations"],
            json!([{"logicalLocations": [{"fullyQualifiedName": "a"}]}]),
            "{name}"
        );
    }
    let found = log(&place.pipe("-f sarif", records).stdout);
    assert_eq!(results(&found).len(), 1);
}

/// That the schema is looked at: each of these is against it.
#[test]
fn what_is_against_the_schema_is_found() {
    let place = Place::new();
    place.file("d/a.txt", TEXT).file("d/b.txt", TEXT);
    let log = log(&place.run("-f sarif d").clean());
    let result = "/runs/0/results/0";
    for (at, name, value) in [
        ("", "version", json!("2.0.0")),
        ("", "runs", json!({})),
        ("", "results", json!([])),
        ("/runs/0", "columnKind", json!("bytes")),
        ("/runs/0/tool", "driver", json!({"version": "1"})),
        (result, "message", json!("text")),
        (result, "rank", json!(101.0)),
        (result, "ruleIndex", json!(-2)),
        (result, "ruleIndex", json!(0.5)),
        (result, "level", json!("bad")),
        (result, "guid", json!("none")),
        (result, "relatedLocations", json!([{"id": 1}, {"id": 1}])),
        (
            "/runs/0/results/0/locations/0/physicalLocation/region",
            "startLine",
            json!(0),
        ),
    ] {
        let mut wrong = log.clone();
        wrong.pointer_mut(at).unwrap()[name] = value;
        assert_ne!(errors(&wrong, &schema()), [""; 0], "{at}/{name}");
    }
}
