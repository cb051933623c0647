use std::io::Cursor;

use proptest::prelude::*;

use super::fields::tests::plain;
use super::*;
use crate::document::Content;
use crate::read::{Input, InputFormat, Piece, Pieces};

/// Ids and texts, or what is wrong, however the content is cut.
fn read(settings: &ReadSettings, bytes: &[u8]) -> Vec<Result<(String, String), String>> {
    let input = Input::from_reader("f", Cursor::new(bytes.to_vec()));
    let mut pieces = Pieces::new(vec![input], settings);
    let mut piece = Piece::default();
    let mut all = vec![];
    while pieces.next(&mut piece) {
        for block in piece.blocks() {
            let mut records = vec![];
            block.records(&mut |record| records.push(record.to_vec()));
            let mut count = 0;
            block.documents(settings, &mut |document| {
                all.push(match document {
                    Ok(document) => {
                        assert_eq!(document.record, records[count]);
                        let Content::Text(text) = document.content else {
                            panic!("no text")
                        };
                        Ok((document.url.into_owned(), text.into_owned()))
                    }
                    Err(error) => Err(error.to_string()),
                });
                count += 1;
            });
            assert_eq!(count, records.len());
        }
        all.extend(piece.problem.take().map(|error| Err(error.to_string())));
    }
    all
}

fn csv(format: InputFormat) -> ReadSettings {
    ReadSettings {
        format: Some(format),
        ..ReadSettings::default()
    }
}

fn ok(id: &str, text: &str) -> Result<(String, String), String> {
    Ok((id.into(), text.into()))
}

#[test]
fn what_spreadsheets_write_is_read() {
    let settings = csv(InputFormat::Csv);
    let both = [ok("a", "one, two"), ok("b", "three\nfour \"five\"")];
    for text in [
        "url,text\na,\"one, two\"\nb,\"three\nfour \"\"five\"\"\"\n",
        "\u{feff}\"url\",\"text\"\r\n\"a\",\"one, two\"\r\n\r\n\"b\",\"three\nfour \"\"five\"\"\"",
        "text;url;x\none, two;a;\n\"three\nfour \"\"five\"\"\";b;\n",
        "url\ttext\na\tone, two\nb\t\"three\nfour \"\"five\"\"\"\n",
        "id|text\na|one, two\nb|\"three\nfour \"\"five\"\"\"\n",
        "sep=;\r\nurl;text\r\na;one, two\r\nb;\"three\nfour \"\"five\"\"\"\r\n",
        "\n\nurl,text,\na,\"one, two\",\nb,\"three\nfour \"\"five\"\"\",\n",
        "url,text\ra,\"one, two\"\rb,\"three\nfour \"\"five\"\"\"\r",
        " url , text \na,\"one, two\"\nb,\"three\nfour \"\"five\"\"\"\n",
        // More commas than columns.
        "url;text, all of it;text\na;x;one, two\nb;x;\"three\nfour \"\"five\"\"\"\n",
    ] {
        assert_eq!(read(&settings, text.as_bytes()), both, "{text}");
    }
    let tabs = "url\ttext;x,y,z\ttext\na\t\tone\n";
    assert_eq!(
        read(&csv(InputFormat::Tsv), tabs.as_bytes()),
        [ok("a", "one")]
    );
    let colons = ReadSettings {
        delimiter: Some(b':'),
        ..settings
    };
    assert_eq!(read(&colons, b"url:text\na:b,c,d\n"), [ok("a", "b,c,d")]);
}

#[test]
fn fields_are_named_and_ids_are_found() {
    let text = b"id,url,text,title\n1,u,x,t\n2,,y,\n,,z,\n";
    let settings = csv(InputFormat::Csv);
    let all = read(&settings, text);
    assert_eq!(all, [ok("u", "x"), ok("2", "y"), ok("f:3", "z")]);
    let named = ReadSettings {
        id_field: Some("id".into()),
        text_fields: vec!["title".into(), "text".into(), "title".into()],
        ..settings.clone()
    };
    let all = read(&named, text);
    assert_eq!(all[..2], [ok("1", "t\nx"), ok("2", "\ny")]);
    assert!(
        all[2]
            .as_ref()
            .unwrap_err()
            .starts_with("f: record 3, byte 32: no id")
    );
    assert_eq!(read(&settings, b"url,text\n"), []);
}

#[test]
fn bad_records_have_a_place_and_hide_nothing() {
    let settings = csv(InputFormat::Csv);
    let all = read(
        &settings,
        b"url,text\na,x\nb\nc,y,z\nd,f\xc3\xaen\xc3\xa9 b\xc3\xaf \xff\xfe\ne,\"o\"k\n\nf,\"never closed\ng,h\n",
    );
    let says = |index: usize| all[index].as_ref().unwrap_err().as_str();
    assert_eq!((&all[0], &all[4]), (&ok("a", "x"), &ok("e", "ok")));
    assert_eq!(
        says(1),
        "f: record 2, byte 13: malformed CSV: 1 fields where the header has 2"
    );
    assert_eq!(
        says(2),
        "f: record 3, byte 15: malformed CSV: 3 fields where the header has 2"
    );
    assert_eq!(all[3], ok("d", "fîné bï \u{fffd}\u{fffd}"));
    assert!(says(5).starts_with("f: record 6, byte 47: malformed CSV: a quote is opened"));
    assert_eq!(all.len(), 6);
    // Without the columns there is nothing to read, which is said once.
    let all = read(&settings, b"name,value\na,b\nc,d\n");
    assert_eq!(all.len(), 1);
    let error = all[0].as_ref().unwrap_err();
    assert!(
        error.contains("no column `text`; the header has `name`, `value`"),
        "{error}"
    );
}

/// A quote that is never closed is not looked through again and again.
#[test]
fn a_record_without_end_takes_linear_time() {
    let text = format!("url,text\na,\"{}", "x\n".repeat(8_000_000));
    let started = std::time::Instant::now();
    let all = read(&csv(InputFormat::Csv), text.as_bytes());
    assert!(all.len() == 1 && all[0].is_err());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

fn records() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        4 => "[a-zé ]{0,8}",
        2 => "\"([a-z,\n\r]|\"\"){0,8}\"",
        1 => "[a\"]{0,4}",
    ];
    let record = proptest::collection::vec(field, 1..4).prop_map(|fields| fields.join(","));
    (proptest::collection::vec(record, 0..8), "\n|\r\n|\r")
        .prop_map(|(records, end)| records.join(&end))
}

proptest! {
    /// The documents are the records of the plain reader that have as many fields as the
    /// header, wherever pieces end.
    #[test]
    fn documents_are_those_of_the_plain_reader(text in records(), copies in 1..3_usize) {
        // Long enough to be cut in the middle.
        let filler = format!("f,\"{}\"\n", "word, \"\"word\"\"\n".repeat(20_000));
        let text = format!("url,text\n{}{text}\n", filler.repeat(copies));
        let all = read(&csv(InputFormat::Csv), text.as_bytes());
        let twin = plain(text.as_bytes(), b',');
        prop_assert_eq!(all.len(), twin.len() - 1);
        for (found, record) in all.iter().zip(&twin[1..]) {
            match (found, &record[..]) {
                (Ok((url, found)), [id, text]) => {
                    prop_assert_eq!(found.as_bytes(), text);
                    prop_assert!(id.is_empty() || url.as_bytes() == id);
                }
                (Err(error), _) => {
                    prop_assert!(record.len() != 2 || error.contains("never closed"), "{}", error);
                }
                _ => prop_assert!(false, "{:?} {:?}", found, record),
            }
        }
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        read(&csv(InputFormat::Csv), &bytes);
        read(&csv(InputFormat::Tsv), &bytes);
    }
}
