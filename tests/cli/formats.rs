//! HTML, CSV, WARC and Parquet, from files that other programs wrote and from pages made here.

use crate::corpus::Random;
use crate::harness::{Place, gzip, repository};

/// A file that `make.py` made.
fn made(name: &str) -> String {
    repository(&format!("tests/data/formats/{name}"))
        .display()
        .to_string()
}

/// What all files of that folder hold: two versions of one text.
fn check_pair(arguments: &str, prefix: &str) {
    let run = Place::new().run(&format!(
        "--score jaccard --threshold 0.5 -f tsv {arguments}"
    ));
    let pairs = run.clean();
    let fields: Vec<&str> = pairs.trim_end().split('\t').collect();
    assert_eq!(pairs.lines().count(), 1, "{arguments}: {pairs}");
    assert_eq!(
        fields[..2],
        [format!("{prefix}a"), format!("{prefix}b")],
        "{arguments}"
    );
}

#[test]
fn what_other_programs_write_is_read() {
    for name in ["python.csv", "excel.csv", "python.tsv"] {
        check_pair(&made(name), "");
    }
    for name in ["plain.warc", "members.warc.gz", "text.warc.wet.gz"] {
        check_pair(&made(name), "https://saltmere.example/");
    }
    for name in ["snappy", "zstd", "gzip", "none", "v2"] {
        check_pair(&made(&format!("{name}.parquet")), "");
        check_pair(
            &format!(
                "--text-field meta.body {}",
                made(&format!("{name}.parquet"))
            ),
            "",
        );
    }
}

#[test]
fn all_of_these_hold_the_same_texts() {
    let place = Place::new();
    let signatures = |arguments: &str| -> Vec<String> {
        let run = place.run(&format!("sketch --hashes 8 {arguments}"));
        run.clean()
            .lines()
            .map(|line| line.replace("https://saltmere.example/", ""))
            .collect()
    };
    let expected = signatures(&made("python.csv"));
    assert_eq!(expected.len(), 4);
    for name in [
        "excel.csv",
        "python.tsv",
        "text.warc.wet.gz",
        "snappy.parquet",
        "v2.parquet",
    ] {
        assert_eq!(signatures(&made(name)), expected, "{name}");
    }
    let pages = signatures(&made("plain.warc"));
    assert_eq!(signatures(&made("members.warc.gz")), pages);
    let stats = place
        .run(&format!("--stats - {}", made("members.warc.gz")))
        .stderr;
    assert!(stats.contains("\"passed_over_records\": 7"), "{stats}");
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    let place = Place::new();
    for name in ["snappy.parquet", "plain.warc", "text.warc.wet.gz"] {
        let file = place
            .run(&format!("--threshold 0.5 {}", made(name)))
            .clean();
        let bytes = std::fs::read(made(name)).unwrap();
        let piped = place.pipe("--threshold 0.5", &bytes);
        assert_eq!(piped.stdout, file, "{name}");
        let is_told = piped.stderr.matches("was kept first").count();
        assert_eq!(is_told, usize::from(name.ends_with("parquet")), "{name}");
        assert_eq!(
            place.pipe("-q --threshold 0.5", &bytes).clean(),
            file,
            "{name}"
        );
    }
    let csv = std::fs::read(made("excel.csv")).unwrap();
    let pairs = place
        .pipe("--threshold 0.5 --input-format csv", &csv)
        .clean();
    assert!(pairs.starts_with("a b 0."), "{pairs}");
    // Content cannot tell that it is CSV.
    let text = place.pipe("-q --threshold 0.5", &csv).clean();
    assert_eq!(text, "");
}

#[test]
fn dedup_writes_csv_with_its_header_once() {
    let place = Place::new();
    let rows = "a;1;\"one; two\nthree\"\r\nb;2;four five six\r\nc;3;\"One two three\"\r\n";
    place
        .file("1.csv", format!("\u{feff}id;n;text\r\n{rows}"))
        .file(
            "2.csv",
            "id;n;text\nd;4;seven eight nine\ne;5;four five six",
        );
    let run = place.run("dedup --shingle-words 1 1.csv 2.csv").clean();
    assert_eq!(
        run,
        "\u{feff}id;n;text\r\na;1;\"one; two\nthree\"\r\nb;2;four five six\r\nd;4;seven eight nine\n"
    );
    let run = place
        .run("dedup --shingle-words 1 --keep max:n 1.csv")
        .clean();
    assert!(run.contains("c;3;") && !run.contains("a;1;"), "{run}");
    place.file("3.csv", "text,id\nx y z,f\n");
    let run = place.run("dedup 1.csv 3.csv");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("different formats or headers"),
        "{}",
        run.stderr
    );
    // Kept in memory because it is packed, the same.
    place.file("1.csv.gz", gzip(format!("id;n;text\r\n{rows}")));
    let run = place.run("dedup --shingle-words 1 1.csv.gz").clean();
    assert!(run.starts_with("id;n;text\r\na;1;"), "{run}");
}

#[test]
fn csv_of_which_nothing_is_kept_has_its_header() {
    let place = Place::new();
    place
        .file("a.csv", "\u{feff}id;text\r\na;one two three\r\n")
        .file("b.csv", "id,text\nb,one two three\n");
    let run = place.run("dedup --against b.csv -q a.csv").clean();
    assert_eq!(run, "\u{feff}id;text\r\n");
}

#[test]
fn records_of_crawls_are_members_of_gzip() {
    let place = Place::new();
    let run = place.run(&format!(
        "dedup --threshold 0.5 -o kept.warc.gz {}",
        made("members.warc.gz")
    ));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let kept = std::fs::read(place.path("kept.warc.gz")).unwrap();
    let mut rest = &kept[..];
    let mut members = Vec::new();
    while !rest.is_empty() {
        let mut decoder = flate2::bufread::GzDecoder::new(rest);
        let mut member = Vec::new();
        std::io::Read::read_to_end(&mut decoder, &mut member).unwrap();
        members.push(member);
        rest = decoder.into_inner();
    }
    assert_eq!(members.len(), 4);
    for member in members {
        assert!(member.starts_with(b"WARC/1.") && member.ends_with(b"\r\n\r\n"));
    }
    // Of other formats there is one member, and one of nothing.
    place
        .file("a.jsonl", "{\"url\":\"a\",\"text\":\"x\"}\n")
        .file("b.jsonl", "{\"url\":\"b\",\"text\":\"x\"}\n");
    for (arguments, length) in [("a.jsonl", 23), ("-q --against b.jsonl a.jsonl", 0)] {
        place.run(&format!("dedup -o out.gz {arguments}")).clean();
        let packed = std::fs::read(place.path("out.gz")).unwrap();
        let mut content = Vec::new();
        let mut decoder = flate2::bufread::GzDecoder::new(&packed[..]);
        std::io::Read::read_to_end(&mut decoder, &mut content).unwrap();
        assert_eq!(content.len(), length, "{arguments}");
        assert!(decoder.into_inner().is_empty());
    }
}

/// One field with an open comment or element does not swallow the next.
#[test]
fn each_field_is_a_page_of_its_own() {
    let place = Place::new();
    let (title, body) = ("<b>Saltmere <script>", "<p>The ferry leaves</p> at seven");
    let json = serde_json::json!({"url": "j", "title": title, "body": body});
    let csv = format!("id,title,body\nc,\"{title}\",\"{body}\"\n");
    place
        .file("j.jsonl", format!("{json}\n"))
        .file("c.csv", csv)
        .file(
            "p.jsonl",
            "{\"url\":\"p\",\"title\":\"Saltmere the ferry leaves at seven\"}\n",
        )
        .file("t.txt", "<b>Saltmere the ferry <i>leaves at seven");
    let run = place.run(
        "--text-field title,body --html --shingle-words 2 --threshold 1 j.jsonl c.csv p.jsonl t.txt",
    );
    assert_eq!(run.clean().lines().count(), 6);
}

#[test]
fn dedup_writes_archives_and_tables() {
    let place = Place::new();
    let whole = std::fs::read(made("plain.warc")).unwrap();
    let run = place.run(&format!(
        "dedup --threshold 0.5 -o kept.warc {}",
        made("plain.warc")
    ));
    assert_eq!(run.status, 0, "{}", run.stderr);
    let kept = std::fs::read(place.path("kept.warc")).unwrap();
    let kept = String::from_utf8_lossy(&kept);
    assert_eq!(kept.matches("WARC/1.").count(), 4);
    assert!(kept.contains("saltmere.example/a") && !kept.contains("saltmere.example/b\r\n"));
    assert!(kept.len() < whole.len());
    assert_eq!(place.run("--threshold 0.5 kept.warc").clean(), "");
    // Rows come out as JSONL.
    let run = place
        .run(&format!("dedup --threshold 0.5 {}", made("zstd.parquet")))
        .clean();
    assert_eq!(run.lines().count(), 4);
    assert!(
        run.starts_with("{\"text\":\"The ferry") && run.contains("\"url\":\"a\""),
        "{run}"
    );
    assert_eq!(place.pipe("--threshold 0.5", &run).clean(), "");
    let run = place.run(&format!(
        "dedup --threshold 0.5 --keep max:score {}",
        made("v2.parquet")
    ));
    let run = run.clean();
    assert!(
        run.contains("\"url\":\"b\"") && !run.contains("\"url\":\"a\""),
        "{run}"
    );
    // Of HTML files the names, as of text files, with which they may be mixed.
    place
        .file("d/1.html", "<p>one two</p>")
        .file("d/2.txt", "one two")
        .file("d/3.txt", "three");
    assert_eq!(place.run("dedup d").clean(), "d/1.html\nd/3.txt\n");
}

#[test]
fn columns_are_named() {
    let place = Place::new();
    let run = |arguments: &str| place.run(&format!("{arguments} {}", made("snappy.parquet")));
    let numbered = run("sketch --hashes 1 --id-field number").clean();
    assert!(numbered.starts_with("{\"url\":\"100\""), "{numbered}");
    for (arguments, says) in [
        (
            "--text-field words",
            "no column `words`; the file has `id`, `number`, `text`",
        ),
        (
            "--text-field meta",
            "no column `meta` itself; there is `meta.lang`",
        ),
        (
            "--text-field tags.list.element",
            "no column `tags.list.element`",
        ),
        ("--id-field tags", "is a list of BYTE_ARRAY"),
        ("--text-field number", "not a string"),
        ("--id-field words", "no column `words`"),
    ] {
        let run = run(arguments);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
    let run = place.run(&format!("--text-field words {}", made("python.csv")));
    assert!(
        run.stderr
            .contains("no column `words`; the header has `id`, `count`, `text`")
    );
}

/// pyarrow wrote the lists, compressed with lz4, two rows to a group.
#[test]
fn lists_of_strings_are_joined_or_items() {
    let place = Place::new();
    let run = |arguments: &str| {
        let lists = made("lists.parquet");
        let exact = "--score jaccard --threshold 0.5";
        place.run(&format!("{exact} {arguments} {lists}"))
    };
    // A list that is null is no text, as in JSON.
    let null = run("-q --text-field words");
    assert_eq!(null.status, 2);
    assert!(null.stderr.contains("record 4: no text"), "{}", null.stderr);
    let joined = null.stdout;
    assert!(joined.starts_with("a b 0."), "{joined}");
    assert_eq!(run("--text-field deep.lines").clean(), joined);
    let items = run("-q --text-field words --items").stdout;
    assert!(items.starts_with("a b 0.9"), "{items}");
    // Both fields are read: what is preferred, and what is a group.
    let kept = |arguments: &str| {
        let run = place.run(&format!(
            "dedup --threshold 0.5 --text-field deep.lines --keep max:weight {arguments} {}",
            made("lists.parquet")
        ));
        run.clean().matches("\"url\"").count()
    };
    assert_eq!(kept(""), 4);
    assert_eq!(kept("--group-by field:group"), 5);
    let brotli = place.run(&format!("--text-field words {}", made("brotli.parquet")));
    assert_eq!(brotli.status, 2);
    brotli.says(
        "brotli.parquet: Parquet compressed with Brotli, which is not read; write the file with zstd \
         or snappy\n",
    );
    assert_eq!(brotli.stderr.matches("Brotli").count(), 1);
}

/// Whatever byte of a file is changed, there is an answer or a message, and no panic.
#[test]
fn damaged_files_are_reported() {
    let place = Place::new();
    let mut random = Random::new(7);
    for name in [
        "snappy.parquet",
        "v2.parquet",
        "members.warc.gz",
        "plain.warc",
        "excel.csv",
    ] {
        let whole = std::fs::read(made(name)).unwrap();
        for _ in 0..40 {
            let mut damaged = whole.clone();
            for _ in 0..random.below(3) + 1 {
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
            }
            if random.below(4) == 0 {
                damaged.truncate(random.below(damaged.len()));
            }
            place.file(name, &damaged);
            let run = place.run(&format!("-j 2 {name}"));
            assert!(matches!(run.status, 0 | 2), "{name}: {}", run.stderr);
        }
    }
    place.file("no.parquet", "PAR1 for the course");
    assert_eq!(place.run("-q no.parquet").clean(), "");
    let run = place.run("--input-format parquet no.parquet");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("no.parquet: malformed Parquet"),
        "{}",
        run.stderr
    );
}

#[test]
fn flags_of_formats_must_have_an_effect() {
    let place = Place::new();
    place.file("a", "x");
    for (arguments, says) in [
        ("--delimiter ; --input-format jsonl a", "--delimiter"),
        ("--delimiter ab a", "one ASCII character"),
        ("--html --items a", "--items and --html do not go together"),
        ("--html=some a", "invalid value 'some'"),
        (
            "--text-field body --input-format html a",
            "do not go together",
        ),
        (
            "--text-field body --input-format warc a",
            "do not go together",
        ),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.status, 2, "{arguments}");
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
}

/// Pages as a site's readers save them: each article between navigation of its own.
struct Site {
    random: Random,
}

impl Site {
    fn sentences(&mut self, count: usize) -> Vec<String> {
        const SYLLABLES: [&str; 16] = [
            "ka", "lo", "mi", "ren", "sta", "vo", "tu", "pel", "dar", "ni", "gro", "sha", "fe",
            "bur", "ol", "zy",
        ];
        (0..count)
            .map(|_| {
                let words: Vec<String> = (0..12)
                    .map(|_| (0..3).map(|_| SYLLABLES[self.random.below(16)]).collect())
                    .collect();
                words.join(" ") + ". "
            })
            .collect()
    }

    fn page(&mut self, article: &[String]) -> String {
        let menu: String = (0..12)
            .map(|_| format!("<li><a href='/x'>{}</a></li>", self.sentences(1)[0]))
            .collect();
        let paragraphs: String = article
            .chunks(4)
            .map(|part| format!("<p>{}</p>\n", part.concat()))
            .collect();
        format!(
            "<html><head><title>Review</title><script>var x = '<p>';</script></head>\
             <body><nav class=menu><ul>{menu}</ul></nav><div class=content><h1>Review</h1>\
             {paragraphs}</div><footer><p>{}</p></footer></body></html>",
            self.sentences(2).concat()
        )
    }
}

/// Copies between other navigation are found, nothing else is; by the article alone they score
/// higher; and what is inside of another is found by containment.
#[test]
fn saved_pages_are_found_by_what_is_read_in_them() {
    let mut site = Site {
        random: Random::new(3),
    };
    let articles: Vec<Vec<String>> = (0..12).map(|_| site.sentences(40)).collect();
    let place = Place::new();
    let mut jsonl = String::new();
    for number in 1..=12 {
        let article = match number {
            5 | 6 => articles[1].clone(),
            10 => articles[9].clone(),
            11 => [&articles[11][..], &articles[4]].concat(),
            number => articles[number % 12].clone(),
        };
        let page = site.page(&article);
        place.file(&format!("pages/{number:02}"), &page);
        let line = serde_json::json!({"id": format!("{number:02}"), "body": page});
        jsonl.push_str(&format!("{line}\n"));
    }
    let scores = |arguments: &str| -> Vec<(String, f64)> {
        place
            .run(&format!(
                "--score jaccard -f tsv --threshold 0.55 {arguments}"
            ))
            .clean()
            .lines()
            .map(|line| {
                let (pair, score) = line.rsplit_once('\t').unwrap();
                (
                    pair.replace("pages/", "").replace('\t', " "),
                    score.parse().unwrap(),
                )
            })
            .collect()
    };
    let all = scores("pages");
    let pairs: Vec<&str> = all.iter().map(|(pair, _)| pair.as_str()).collect();
    assert_eq!(pairs, ["01 05", "01 06", "05 06", "09 10"]);
    place.file("pages.jsonl", &jsonl);
    assert_eq!(scores("--html --text-field body pages.jsonl"), all);
    if cfg!(feature = "article") {
        let articles = scores("--html=article pages");
        assert_eq!(articles.len(), all.len());
        for ((pair, article), (_, all)) in articles.iter().zip(&all) {
            assert!(article > all && *article > 0.95, "{pair}: {article}, {all}");
        }
        let inside = place.run("--score containment --html=article --threshold 0.9 -f tsv pages");
        assert!(inside.clean().contains("pages/04\tpages/11\t"));
    }
}

#[test]
fn the_body_of_the_course_is_html_in_any_encoding() {
    let frame = |url: &str, body: &[u8]| {
        let mut message = vec![0x0a, url.len() as u8];
        message.extend(url.as_bytes());
        message.extend([0x12, body.len() as u8]);
        message.extend(body);
        [&(message.len() as i32).to_le_bytes()[..], &message].concat()
    };
    let docs = [
        frame(
            "a",
            b"<meta charset=windows-1251><p>\xcc\xe8\xf0 \xe8 \xf2\xf0\xf3\xe4",
        ),
        frame("b", "<b>Мир</b> <i>и</i><br>труд".as_bytes()),
    ];
    let place = Place::new();
    place.file("docs", docs.concat());
    let pairs = place
        .run("--threshold 1 --text-field body --html docs")
        .clean();
    assert_eq!(pairs, "a b 1.0\n");
}

/// A name decides where a text could be read in two ways. What is really of a format is that.
#[test]
fn a_name_decides_between_readings() {
    let place = Place::new();
    let record = "{\"url\":\"a\",\"text\":\"some words\"}\n";
    let header = "WARC/1.0\nis the first line of a record.\n\nContent-Length stands below it.\n";
    let array = "[{\"a\": 1, \"b\": 2},\n {\"a\": 2}]\n";
    place
        .file("d/1.txt", "{} are braces.\nMore prose\n")
        .file("d/2.md", "{}\n{ \"a\": stands for a member }\n")
        .file("d/3.txt", "%PDF-1.4 is how a file starts\n")
        .file("d/4.txt", header)
        .file("d/5.js", array)
        .file("d/6.txt", gzip("some words"))
        .file("d/7.txt", record);
    let run = place.run("sketch --hashes 1 d").clean();
    let ids: Vec<&str> = run
        .lines()
        .filter_map(|line| line.split('"').nth(3))
        .collect();
    assert_eq!(
        ids,
        [
            "d/1.txt", "d/2.md", "d/3.txt", "d/4.txt", "d/5.js", "d/6.txt", "a"
        ]
    );
    // A PDF is one, whatever it is called; so are records that are spoiled.
    place
        .file("pdf.txt", "%PDF-1.4\n1 0 obj\n<<>>\nendobj\n")
        .file("text.jsonl", "{} are braces\n");
    place.run("pdf.txt").fails("pdf.txt: a PDF");
    place
        .run("text.jsonl")
        .fails("text.jsonl: record 1, byte 3: malformed JSON");
}

#[test]
fn a_json_array_in_a_folder_of_code_is_a_text() {
    let place = Place::new();
    let array = "[{\"a\": 1, \"b\": 2},\n {\"a\": 2}]\n";
    place
        .file("d/1.json", array)
        .file("d/2.json", array)
        .file("d/3.py", "import json\n")
        .file("records/1.json", "[{\"id\": \"a\", \"text\": \"x\"}]");
    let run = place.run("d");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (0, "d/1.json d/2.json 1.0\n")
    );
    assert_eq!(
        run.stderr,
        "simdup: 2 JSON arrays without the field `text` were read as plain text, the first in \
         d/1.json; --text-field names the field of records\n"
    );
    // What is named, or whose fields are named, holds records.
    place.run("d/1.json").fails("no text in the field `text`");
    assert!(
        place
            .run("--text-field b d")
            .stderr
            .contains("no text in the field `b`")
    );
    let run = place.run("sketch --hashes 1 records").clean();
    assert!(run.contains("\"a\""), "{run}");
}

/// Their first bytes are a length of 67 million and an empty field.
#[test]
fn books_and_office_documents_are_named_and_are_no_frames() {
    let place = Place::new();
    let stored =
        b"PK\x03\x04\x0a\0\0\0\0\0\0\0!\0\x8a\x21\x39\x45\x1b\0\0\0\x1b\0\0\0\x08\0\0\0mimetype";
    for (name, content) in [
        ("b.epub", "application/epub+zipPK\x03\x04"),
        ("d.odt", "application/vnd.oasis.opendocument.textPK\x03\x04"),
    ] {
        place.file(name, [&stored[..], content.as_bytes()].concat());
        place
            .run(name)
            .fails("an e-book or an OpenDocument file; take its text out");
    }
}
