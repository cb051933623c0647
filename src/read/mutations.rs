//! Files of all kinds, damaged in thousands of ways: there is an answer or a message for each,
//! as many records as documents, and no panic.

use std::io::Cursor;

use super::testing::Random;
use super::{Input, Piece, Pieces, ReadSettings};

impl Random {
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let Some(byte) = bytes.get_mut(at) else {
                return;
            };
            match self.below(10) {
                0..=4 => *byte ^= 1 << self.below(8),
                5 => *byte = [0, 0x7f, 0x80, 0xff][self.below(4)],
                6 => *byte = self.below(256) as u8,
                7 => drop(bytes.drain(at..(at + 1 + self.below(8)).min(bytes.len()))),
                8 => bytes.insert(at, self.below(256) as u8),
                _ => bytes.truncate(at),
            }
        }
    }
}

fn read(name: &str, bytes: Vec<u8>, settings: &ReadSettings) {
    let input = Input::from_reader(name, Cursor::new(bytes));
    let mut pieces = Pieces::new(vec![input], settings);
    let mut piece = Piece::default();
    while pieces.next(&mut piece) {
        for block in piece.blocks() {
            let (mut records, mut documents) = (0, 0);
            block.records(&mut |_| records += 1);
            block.documents(settings, &mut |_| documents += 1);
            assert_eq!(records, documents, "{name}");
        }
    }
}

#[test]
fn damage_of_any_kind_is_survived() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats");
    let mut random = Random(1);
    let settings = ReadSettings {
        text_fields: ["text", "words", "deep.lines"].map(Into::into).into(),
        ..ReadSettings::default()
    };
    for name in [
        "snappy.parquet",
        "zstd.parquet",
        "gzip.parquet",
        "none.parquet",
        "v2.parquet",
        "lists.parquet",
        "plain.warc",
        "members.warc.gz",
        "excel.csv",
        "python.tsv",
    ] {
        let whole = std::fs::read(folder.join(name)).unwrap();
        for _ in 0..500 {
            let mut bytes = whole.clone();
            random.damage(&mut bytes);
            read(name, bytes, &settings);
        }
    }
}
