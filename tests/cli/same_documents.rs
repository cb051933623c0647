//! The same documents, stored in every way there is, give the same pairs with the same scores.

use std::io::Write;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::archives::{tar, zipped};
use crate::corpus::Random;
use crate::encodings::{utf16, windows_1251};
use crate::harness::{Place, gzip, line};

const COUNT: usize = 60;

const ENGLISH: [&str; 24] = [
    "harbour", "storm", "council", "bridge", "winter", "market", "ferry", "school", "river",
    "letter", "garden", "train", "museum", "library", "island", "concert", "window", "doctor",
    "forest", "mayor", "bread", "cinema", "lamp", "road",
];
const RUSSIAN: [&str; 24] = [
    "море",
    "буря",
    "совет",
    "мост",
    "зима",
    "рынок",
    "паром",
    "школа",
    "река",
    "письмо",
    "сад",
    "поезд",
    "музей",
    "книга",
    "остров",
    "концерт",
    "окно",
    "врач",
    "лес",
    "город",
    "хлеб",
    "кино",
    "лампа",
    "дорога",
];

/// Texts of one line, some of them versions of the one before. There are signs in them that
/// some formats must take care of.
fn texts() -> Vec<String> {
    let mut random = Random::new(7);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for number in 0..COUNT {
        let words = match number % 4 < 2 {
            true => &ENGLISH,
            false => &RUSSIAN,
        };
        let word = |random: &mut Random| {
            let word = words[random.below(words.len())];
            match random.below(12) {
                0 => format!("{word},"),
                1 => format!("\"{word}\";"),
                2 => format!("{word}."),
                _ => word.to_owned(),
            }
        };
        let text = match texts.last() {
            Some(before) if number % 2 == 1 => {
                let mut text = before.clone();
                for _ in 0..random.below(4) {
                    let place = random.below(text.len());
                    text[place] = word(&mut random);
                }
                text
            }
            _ => (0..60).map(|_| word(&mut random)).collect(),
        };
        texts.push(text);
    }
    texts.into_iter().map(|text| text.join(" ")).collect()
}

/// The id of a document, whose last digits are its number. The number of a line is the same.
fn id(index: usize) -> String {
    format!("https://saltmere.example/{}", index + 1)
}

/// All documents, each written by `one`.
fn each(texts: &[String], one: impl Fn(String, &str) -> Vec<u8>) -> Vec<u8> {
    let written = texts.iter().enumerate();
    written
        .flat_map(|(index, text)| one(id(index), text))
        .collect()
}

/// Pairs by the numbers of their documents, whatever else their ids say.
fn pairs(place: &Place, arguments: &str) -> Vec<(usize, usize, String)> {
    let run = place.run(&format!("-q -f tsv {arguments}"));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments}");
    let number = |id: &str| -> usize {
        let is_other = |c: char| !c.is_ascii_digit();
        let id = id.strip_suffix(".txt").unwrap_or(id);
        id.rsplit(is_other).next().unwrap().parse().unwrap()
    };
    let mut pairs: Vec<_> = run
        .stdout
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let (left, right) = (number(fields[0]), number(fields[1]));
            (left.min(right), left.max(right), fields[2].to_owned())
        })
        .collect();
    pairs.sort();
    pairs
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn separated(texts: &[String], delimiter: &str) -> String {
    let rows = each(texts, |id, text| {
        format!("{id}{delimiter}7{delimiter}{}\r\n", quoted(text)).into()
    });
    let header = ["url", "n", "text"].join(delimiter);
    format!("{header}\r\n{}", String::from_utf8(rows).unwrap())
}

fn protobuf(texts: &[String]) -> Vec<u8> {
    each(texts, |url, text| {
        let mut message = Vec::new();
        for (key, value) in [(0x0a, url.as_str()), (0x1a, text)] {
            let mut length = value.len();
            message.push(key);
            while length >= 0x80 {
                message.push(length as u8 | 0x80);
                length >>= 7;
            }
            message.push(length as u8);
            message.extend(value.as_bytes());
        }
        [&(message.len() as u32).to_le_bytes()[..], &message].concat()
    })
}

fn warc_record(kind: &str, url: &str, media_type: &str, content: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: {media_type}\r\n\
         Content-Length: {}\r\n\r\n",
        content.len()
    );
    [head.as_bytes(), content, b"\r\n\r\n"].concat()
}

fn wet(texts: &[String]) -> Vec<u8> {
    each(texts, |url, text| {
        warc_record("conversion", &url, "text/plain", text.as_bytes())
    })
}

/// Pages in an encoding that the server names, with requests between them, each record
/// compressed on its own.
fn warc(texts: &[String], charset: &str, encode: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
    each(texts, |url, text| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={charset}\r\n\r\n");
        let page = format!("<html><title></title><script>no()</script><p>{text}</p></html>");
        let response = [head.as_bytes(), &encode(&page)].concat();
        let request = warc_record(
            "request",
            &url,
            "application/http",
            b"GET / HTTP/1.1\r\n\r\n",
        );
        let response = warc_record("response", &url, "application/http", &response);
        [gzip(request), gzip(response)].concat()
    })
}

fn parquet(texts: &[String]) -> Vec<u8> {
    let schema = "message m { required binary url (UTF8); required binary text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    for first in (0..COUNT).step_by(COUNT / 3) {
        let rows = first..(first + COUNT / 3).min(COUNT);
        let mut group = writer.next_row_group().unwrap();
        let ids: Vec<ByteArray> = rows.clone().map(|row| id(row).as_str().into()).collect();
        let texts: Vec<ByteArray> = rows.map(|row| texts[row].as_str().into()).collect();
        for values in [ids, texts] {
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn however_they_are_stored() {
    let place = Place::new();
    let texts = texts();
    let mark = "\u{feff}";
    let little = |text: &str| utf16(&format!("{mark}{text}"), u16::to_le_bytes);
    let big = |text: &str| utf16(&format!("{mark}{text}"), u16::to_be_bytes);

    let jsonl = each(&texts, |id, text| line(&id, text).into());
    let jsonl = String::from_utf8(jsonl).unwrap();
    let (csv, tsv) = (separated(&texts, ","), separated(&texts, "\t"));
    let lines = texts.join("\n");
    let parquet = parquet(&texts);
    let names: Vec<String> = (1..=COUNT)
        .map(|number| format!("t/{number}.txt"))
        .collect();
    let members = |encode: &dyn Fn(&str) -> Vec<u8>| -> Vec<(String, Vec<u8>)> {
        let contents = texts.iter().map(|text| encode(text));
        names.iter().cloned().zip(contents).collect()
    };
    let utf8 = members(&|text| text.into());
    let utf8: Vec<(&str, &[u8])> = utf8.iter().map(|(n, c)| (&**n, &**c)).collect();
    let (tar, zip) = (tar(&utf8), zipped(&utf8));
    for (folder, encode) in [
        (
            "utf8",
            &(|text: &str| text.into()) as &dyn Fn(&str) -> Vec<u8>,
        ),
        ("utf16", &little),
        ("utf16-no-mark", &|text| utf16(text, u16::to_be_bytes)),
        ("windows-1251", &|text| windows_1251(text)),
    ] {
        for (name, content) in members(encode) {
            place.file(&format!("{folder}/{name}"), content);
        }
    }
    place
        .file("jsonl", &jsonl)
        .file("jsonl16", little(&jsonl))
        .file("1.csv", &csv)
        .file("2.csv", format!("{mark}{csv}"))
        .file("16.csv", little(&csv))
        .file("16b.csv.gz", gzip(big(&csv)))
        .file("semicolon.csv", separated(&texts, ";"))
        .file("cp1251.csv", windows_1251(&csv))
        .file("cp1251.csv.xz", xz(&windows_1251(&csv)))
        .file("1.tsv", &tsv)
        .file("16.tsv", little(&tsv))
        .file("protobuf", protobuf(&texts))
        .file("pages.warc.gz", warc(&texts, "utf-8", |page| page.into()))
        .file("cp1251.warc.gz", warc(&texts, "cp1251", windows_1251))
        .file("wet", wet(&texts))
        .file("wet.gz", gzip(wet(&texts)))
        .file("t.tar.gz", gzip(&tar))
        .file("t.tar.xz", xz(&tar))
        .file("z.zip", &zip)
        .file("lines", &lines)
        .file("lines16", little(&lines))
        .file("lines1251", windows_1251(&lines))
        .file("parquet", &parquet)
        .file("parquet.gz", gzip(&parquet))
        .file(
            "inside.zip",
            zipped(&[("d/x.csv", &windows_1251(&csv)), ("e", b"")]),
        )
        .file("parquet.zip", zipped(&[("x.parquet", &parquet)]))
        .file(
            "inside.tar.xz",
            xz(&crate::archives::tar(&[("x.tsv.gz", &gzip(little(&tsv)))])),
        );
    for score in ["--score jaccard --threshold 0.3", "--threshold 0.4"] {
        let expected = pairs(&place, &format!("{score} jsonl"));
        assert!(expected.len() >= COUNT / 3, "{}", expected.len());
        for input in [
            "jsonl16",
            "1.csv",
            "2.csv",
            "16.csv",
            "16b.csv.gz",
            "semicolon.csv",
            "cp1251.csv",
            "cp1251.csv.xz",
            "--encoding windows-1251 cp1251.csv",
            "--encoding detect cp1251.csv",
            "1.tsv",
            "16.tsv",
            "--input-format csv 1.tsv",
            "protobuf",
            "pages.warc.gz",
            "cp1251.warc.gz",
            "wet",
            "wet.gz",
            "t.tar.gz",
            "t.tar.xz",
            "z.zip",
            "utf8",
            "utf16",
            "utf16-no-mark",
            "windows-1251",
            "--encoding windows-1251 windows-1251",
            "--encoding windows-1251 utf16",
            "--input-format lines lines",
            "--input-format lines lines16",
            "--input-format lines lines1251",
            "--input-format lines --encoding windows-1251 lines1251",
            "parquet",
            "parquet.gz",
            "parquet.zip",
            "inside.zip",
            "--encoding windows-1251 inside.zip",
            "inside.tar.xz",
        ] {
            let found = pairs(&place, &format!("{score} {input}"));
            assert_eq!(found, expected, "{input}");
        }
        for (input, file) in [
            ("", "parquet"),
            ("", "parquet.zip"),
            ("--input-format csv", "cp1251.csv.xz"),
            ("", "pages.warc.gz"),
        ] {
            let bytes = std::fs::read(place.path(file)).unwrap();
            let run = place.pipe(&format!("{score} {input}"), bytes);
            let lines = run.stdout.lines().count();
            assert_eq!((run.status, lines), (0, expected.len()), "{file}");
        }
    }
}

#[test]
fn records_are_written_as_they_came() {
    let place = Place::new();
    let texts = texts();
    let csv = separated(&texts, ",");
    place
        .file("x.csv", windows_1251(&csv))
        .file("y.csv", utf16(&format!("\u{feff}{csv}"), u16::to_le_bytes))
        .file("x.zip", zipped(&[("x.csv", &windows_1251(&csv))]))
        .file("p", parquet(&texts))
        .file("j", each(&texts, |id, text| line(&id, text).into()));
    let dedup = |input: &str| {
        let run = place.run(&format!(
            "dedup -q --threshold 0.5 --score jaccard -o out {input}"
        ));
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{input}");
        std::fs::read(place.path("out")).unwrap()
    };
    let written = dedup("x.csv");
    assert!(windows_1251(&csv).starts_with(&written[..60]));
    assert!(written.len() < csv.len() / 2, "{}", written.len());
    assert_eq!(dedup("x.zip"), written);
    // What is not UTF-8 as a whole becomes that.
    let text = String::from_utf8(dedup("y.csv")).unwrap();
    assert_eq!(windows_1251(&text), written);
    let rows = String::from_utf8(dedup("p")).unwrap();
    let records = String::from_utf8(dedup("j")).unwrap();
    let ids = |lines: &str| -> Vec<String> {
        let id = |line: &str| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            object["url"].as_str().unwrap().to_owned()
        };
        lines.lines().map(id).collect()
    };
    assert_eq!(ids(&rows), ids(&records));
    assert_eq!(ids(&rows).len(), text.lines().count() - 1);
}

#[test]
fn a_header_is_in_the_encoding_of_its_records() {
    let place = Place::new();
    let csv = "номер;текст\n1;у самого синего моря\n2;У самого синего моря\n3;другое\n";
    place
        .file("a.csv", windows_1251(csv))
        .file("b.csv", utf16(&format!("\u{feff}{csv}"), u16::to_le_bytes));
    let fields = "--shingle-words 1 --threshold 1 --id-field номер --text-field текст";
    for input in ["a.csv", "b.csv", "--encoding windows-1251 a.csv"] {
        let run = place.run(&format!("-q {fields} {input}"));
        assert_eq!(run.clean(), "1 2 1.0\n", "{input}");
    }
    let run = place.run(&format!("{fields} a.csv"));
    run.says("3 documents are not UTF-8 and were read as windows-1251");
}

#[test]
fn a_page_is_read_as_its_mark_the_user_or_itself_says() {
    let place = Place::new();
    let text = "Жили-были старик со старухой у самого синего моря";
    let page = |charset: &str| format!("<html><meta charset={charset}><p>{text}</p></html>");
    place
        .file("plain", text)
        .file("1.html", windows_1251(&page("windows-1251")))
        // What it says is not so.
        .file(
            "2.html",
            utf16(&format!("\u{feff}{}", page("koi8-r")), u16::to_le_bytes),
        )
        .file("3.html", format!("\u{feff}{}", page("koi8-r")))
        .file("4.html", windows_1251(&page("koi8-r")))
        .file(
            "5.html",
            windows_1251(&format!("<html><p>{text}</p></html>")),
        );
    let run = place.run("--threshold 1 plain 1.html 2.html 3.html 5.html");
    assert_eq!((run.status, run.stdout.lines().count()), (0, 10), "{run:?}");
    run.says("1 document is not UTF-8 and was read as windows-1251");
    place.file("w/plain", windows_1251(text));
    let named =
        place.run("--threshold 1 --encoding windows-1251 w/plain 2.html 3.html 4.html 5.html");
    assert_eq!(named.clean().lines().count(), 10);
}
