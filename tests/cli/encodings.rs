//! Text that is not UTF-8.

use crate::harness::{Place, gzip, line};

const RUSSIAN: &str = "Жили-были старик со старухой у самого синего моря";

/// Windows-1251, where letters are in the order of the alphabet.
pub fn windows_1251(text: &str) -> Vec<u8> {
    let byte = |c: char| match c {
        'А'..='я' => (u32::from(c) - 0x410 + 0xc0) as u8,
        c => c as u8,
    };
    text.chars().map(byte).collect()
}

pub fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn a_mark_tells_wide_characters() {
    let place = Place::new();
    let marked = format!("\u{feff}{RUSSIAN}");
    let wide: Vec<u8> = marked
        .chars()
        .flat_map(|c| u32::from(c).to_be_bytes())
        .collect();
    place
        .file("1", RUSSIAN)
        .file("2", utf16(&marked, u16::to_le_bytes))
        .file("3", utf16(&marked, u16::to_be_bytes))
        .file("4", wide)
        .file("5", gzip(utf16(&marked, u16::to_le_bytes)));
    let pairs = place.run("--threshold 1 1 2 3 4 5").clean();
    assert_eq!(pairs.lines().count(), 10);
    // Lines and records of what Windows writes.
    let lines = format!("\u{feff}{RUSSIAN}\r\nother\r\n{RUSSIAN}\r\n");
    place.file("lines", utf16(&lines, u16::to_le_bytes));
    assert_eq!(
        place.run("--input-format lines lines").clean(),
        "lines:1 lines:3 1.0\n"
    );
    let records = format!("\u{feff}{}{}", line("a", RUSSIAN), line("b", RUSSIAN));
    place.file("records", utf16(&records, u16::to_le_bytes));
    assert_eq!(place.run("records").clean(), "a b 1.0\n");
}

#[test]
fn what_has_no_mark_is_guessed_and_that_is_said_once() {
    let place = Place::new();
    place
        .file("1", RUSSIAN)
        .file("2", windows_1251(RUSSIAN))
        .file("3", windows_1251(RUSSIAN))
        .file("4", utf16(RUSSIAN, u16::to_le_bytes));
    let run = place.run("--threshold 1 --stats s 1 2 3 4");
    assert_eq!(
        (run.status, run.stdout.lines().count()),
        (0, 6),
        "{}",
        run.stderr
    );
    assert_eq!(
        run.stderr,
        "simdup: 3 documents are not UTF-8 and were read as UTF-16LE (1), windows-1251 (2), the first \
         in 2; --encoding names another\n"
    );
    let stats: serde_json::Value = serde_json::from_str(&place.read("s")).unwrap();
    assert_eq!(stats["guessed_encodings"]["windows-1251"], 2);
    for quiet in ["-q", "--encoding detect"] {
        let run = place.run(&format!("{quiet} --threshold 1 1 2 3 4"));
        assert_eq!(run.clean().lines().count(), 6);
    }
}

#[test]
fn an_encoding_can_be_named() {
    let place = Place::new();
    // Too short to be told from others.
    place
        .file("1", "ёж")
        .file("2", b"\xb8\xe6")
        .file("3", b"\xd1\x96");
    let run = place.run("--encoding windows-1251 --threshold 1 2 3");
    assert_eq!(run.clean(), "");
    assert_eq!(
        place
            .run("--encoding cp1251 --keep-case --threshold 1 2 2")
            .status,
        0
    );
    let lines = format!("{RUSSIAN}\nother\n{RUSSIAN}\n");
    place.file("wide", utf16(&lines, u16::to_be_bytes));
    let run = place.run("--encoding utf-16be --input-format lines wide");
    assert_eq!(run.clean(), "wide:1 wide:3 1.0\n");
    // Records are not touched.
    place.file("r", [line("a", RUSSIAN), line("b", RUSSIAN)].concat());
    assert_eq!(place.run("-q --encoding utf-16be r").clean(), "a b 1.0\n");
    assert_eq!(place.run("-q --encoding koi8-r r").clean(), "a b 1.0\n");
    for (arguments, says) in [
        ("--encoding nonsense r", "detect, or an encoding's name"),
        (
            "--encoding detect --input-format jsonl r",
            "JSON, protobuf and Parquet are UTF-8",
        ),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
    place.file("strict", windows_1251(RUSSIAN));
    let run = place.run("--encoding utf-8 strict");
    assert!(
        run.stderr
            .contains("strict: record 1, byte 0: invalid UTF-8"),
        "{}",
        run.stderr
    );
}

/// However the bytes come in and whatever else stands in the file, and the records are written
/// as they came.
#[test]
fn lines_of_one_file_have_one_encoding() {
    let place = Place::new();
    let mut lines = "plain words\n".repeat(30_000).into_bytes();
    for _ in 0..3 {
        lines.extend(windows_1251("еж\n"));
        lines.extend(b"some more\n");
    }
    lines.extend(windows_1251(&format!("{RUSSIAN}\n")));
    lines.extend("plain words\n".repeat(30_000).into_bytes());
    lines.extend(windows_1251(&format!("{RUSSIAN}\n")));
    place.file("l", &lines).file("l.gz", gzip(&lines));
    for threads in [1, 2] {
        let run = place.run(&format!(
            "sketch --hashes 1 -j {threads} --input-format lines l"
        ));
        assert_eq!(run.status, 0);
        assert!(
            run.stderr.contains("read as windows-1251"),
            "{}",
            run.stderr
        );
    }
    let mut expected = b"plain words\n".to_vec();
    expected.extend(windows_1251("еж\n"));
    expected.extend(b"some more\n");
    expected.extend(windows_1251(&format!("{RUSSIAN}\n")));
    for name in ["l", "l.gz"] {
        let arguments = format!("dedup -q --input-format lines {name}");
        let output = place.command(&arguments).output().unwrap();
        assert!(output.stdout == expected, "{name}");
    }
}

#[test]
fn what_is_no_text_is_not_guessed() {
    let place = Place::new();
    let noise: Vec<u8> = (1..2000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_769) >> 13) as u8)
        .collect();
    place.file("noise", &noise).file("t", "text");
    let run = place.run("noise t");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.starts_with("simdup: noise: neither text nor"),
        "{}",
        run.stderr
    );
    let run = place.run("--input-format text noise t");
    assert!(
        run.stderr.contains("noise: record 1, byte "),
        "{}",
        run.stderr
    );
}

/// What is written is one file, in one encoding.
#[test]
fn dedup_does_not_mix_encodings() {
    let place = Place::new();
    let cyrillic = |text: &str| -> Vec<u8> {
        let byte = |c: char| match c {
            '\u{410}'..='\u{44f}' => (c as u32 - 0x410 + 0xc0) as u8,
            c => c as u8,
        };
        text.chars().map(byte).collect()
    };
    let text = "\u{43c}\u{430}\u{44f}\u{43a} \u{432}\u{438}\u{434}\u{435}\u{43d} \u{437}\u{430}                 \u{434}\u{432}\u{430}\u{434}\u{446}\u{430}\u{442}\u{44c} \u{43c}\u{438}\u{43b}\u{44c}\n";
    let other = "\u{43b}\u{43e}\u{434}\u{43a}\u{438} \u{443} \u{43f}\u{440}\u{438}\u{447}\u{430}\u{43b}\u{430}\n";
    place
        .file("1251.txt", cyrillic(text).repeat(3))
        .file("also-1251.txt", cyrillic(other).repeat(3))
        .file("utf8.txt", other)
        .file("ascii.txt", "plain words\n");
    let run = |files: &str| place.run(&format!("dedup -q --input-format lines -o out {files}"));
    run("1251.txt utf8.txt").fails("different encodings");
    assert_eq!(run("1251.txt ascii.txt also-1251.txt").status, 0);
    assert_eq!(run("utf8.txt ascii.txt").status, 0);
}

/// The help said "byte for byte", and UTF-8 was written without a word.
#[test]
fn dedup_tells_that_wide_characters_are_written_as_utf8() {
    let place = Place::new();
    let records = format!("\u{feff}{}{}", line("a", RUSSIAN), line("b", RUSSIAN));
    place.file("records", utf16(&records, u16::to_le_bytes));
    let run = place.run("dedup records");
    assert_eq!(run.stdout, line("a", RUSSIAN));
    assert_eq!(
        run.stderr,
        "simdup: 2 documents of UTF-16 or UTF-32 are written as UTF-8, such as those of records\n"
    );
    // Of text files the names are written.
    place.file("text", utf16(RUSSIAN, u16::to_le_bytes));
    let run = place.run("dedup text");
    assert!(!run.stderr.contains("written as UTF-8"), "{}", run.stderr);
}

/// Five bytes made a text of a megabyte disappear.
#[test]
fn stray_bytes_are_replaced_and_counted() {
    let place = Place::new();
    let words: String = (0..20_000).map(|n| format!("слово{n} ")).collect();
    let mut damaged = words.clone().into_bytes();
    let place_of = |n: usize| words.find(&format!("слово{n} ")).unwrap();
    for n in [15_000, 10_000, 7000, 6999, 5000] {
        damaged.insert(place_of(n), 0xff);
    }
    let first = place_of(5000);
    place.file("1", &words).file("2", &damaged).file(
        "3",
        [RUSSIAN.as_bytes(), b" \xd0 ", RUSSIAN.as_bytes()].concat(),
    );
    let run = place.run("--threshold 1 1 2");
    assert_eq!((run.status, run.stdout.lines().count()), (0, 1));
    assert_eq!(
        run.stderr,
        format!(
            "simdup: 5 bytes were not UTF-8 and were replaced by U+FFFD (first: byte {first} of \
             2); if the file has another encoding, pass --encoding NAME\n"
        )
    );
    let run = place.run("--encoding utf-8 --stats s 2 3");
    assert_eq!(run.status, 0);
    run.says("6 bytes in 2 documents were not UTF-8 and were replaced by U+FFFD (first: byte ");
    let stats: serde_json::Value = serde_json::from_str(&place.read("s")).unwrap();
    assert_eq!(stats["replaced_bytes"], 6);
    // Also after a mark, in lines and in fields of CSV, but not in JSON.
    place
        .file("marked", [b"\xef\xbb\xbf", &damaged[..]].concat())
        .file("l", [RUSSIAN.as_bytes(), b"\nplain \xff words\n"].concat())
        .file(
            "t.csv",
            [b"id,text\na,\"", RUSSIAN.as_bytes(), b"\xff\"\n"].concat(),
        )
        .file(
            "j",
            b"{\"url\":\"a\",\"text\":\"\xd0\x96\xd0\x96\xd0\x96\xff\"}\n",
        );
    place
        .run("marked")
        .says(&format!("(first: byte {} of marked)", first + 3));
    let byte = RUSSIAN.len() + 1 + 6;
    place.run("--input-format lines l").says(&format!(
        "1 byte was not UTF-8 and was replaced by U+FFFD (byte {byte} of l)"
    ));
    let byte = 8 + 3 + RUSSIAN.len();
    place.run("t.csv").says(&format!(
        "1 byte was not UTF-8 and was replaced by U+FFFD (byte {byte} of t.csv)"
    ));
    place.run("j").fails("j: record 1, byte ");
}

#[test]
fn ascii_with_few_accents_is_latin_1() {
    let place = Place::new();
    let mut text = "plain words of a text\n".repeat(1000).into_bytes();
    text.extend(b"caf\xe9, h\xf4tel\n");
    place.file("t", &text);
    place
        .run("t")
        .says("1 document is not UTF-8 and was read as windows-1252");
}

#[test]
fn a_mark_decides_before_frames() {
    let place = Place::new();
    place.file("0", RUSSIAN);
    let mut names = Vec::new();
    for start in ["\n", "\r\n", "\n\n", "\r\n\r\n", "\u{40a}\n", ""] {
        let text = format!("\u{feff}{start}{RUSSIAN}");
        let wide = |unit: fn(u32) -> [u8; 4]| -> Vec<u8> {
            text.chars().flat_map(|c| unit(u32::from(c))).collect()
        };
        for bytes in [
            text.clone().into_bytes(),
            utf16(&text, u16::to_le_bytes),
            utf16(&text, u16::to_be_bytes),
            wide(u32::to_le_bytes),
            wide(u32::to_be_bytes),
        ] {
            let name = format!("t{}", names.len());
            place.file(&name, bytes);
            names.push(name);
        }
    }
    let run = place
        .run(&format!("--threshold 0.6 0 {}", names.join(" ")))
        .clean();
    let found = names
        .iter()
        .filter(|name| run.contains(&format!("0 {name} ")))
        .count();
    assert_eq!(found, names.len());
}

#[test]
fn encodings_within_ascii_are_read_or_reported() {
    let place = Place::new();
    // 昔々、あるところにお爺さんとお婆さんがありました。
    let japanese = "\x1b$B@N!9!\"$\"$k$H$3$m$K$*Ll$5$s$H$*GL$5$s$,$\"$j$^$7$?!#\x1b(B";
    place
        .file(
            "utf8",
            "昔々、あるところにお爺さんとお婆さんがありました。\n",
        )
        .file("jis", format!("{japanese}\n"))
        .file("lines", format!("{japanese}\nother words\n{japanese}\n"))
        .file(
            "page.html",
            format!("<html><meta charset=iso-2022-jp><p>{japanese}"),
        )
        .file("hz", "~{:\\>C:\\>CRTG0SPR;8v9zMu!#~}\n")
        .file("utf7", "+BBYEOAQ7BDg--+BDEESwQ7BDg +BEEEQgQwBEAEOAQ6\n")
        .file("lisp", "(format t \"~{~a~^, ~}\" (list 1 2))\n");
    let run = place.run("--shingle-words 1 --threshold 1 utf8 jis");
    assert_eq!(run.stdout, "utf8 jis 1.0\n");
    run.says("1 document is not UTF-8 and was read as ISO-2022-JP, in jis");
    let run = place.run("--input-format lines lines");
    assert_eq!(run.stdout, "lines:1 lines:3 1.0\n");
    // A page says so itself.
    let run = place.run("--shingle-words 1 --threshold 1 utf8 page.html lisp");
    assert_eq!(run.clean(), "utf8 page.html 1.0\n");
    let run = place.run("hz utf7");
    assert_eq!(
        run.stderr,
        "simdup: 2 documents seem to be HZ (1), UTF-7 (1), which is read as ASCII, the first in hz; \
         convert such files first, as in `iconv -f HZ -t UTF-8 FILE`\n"
    );
    place.run("--encoding utf-8 hz utf7").clean();
}
