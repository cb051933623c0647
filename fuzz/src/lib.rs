//! What the targets have in common: bytes go in as a file would, and the outcome must be the
//! same however they come in and whatever there is of threads and memory.

use std::io::{self, Read};
use std::sync::Mutex;

use simdup::settings::{InputFormat, Memory, ReadSettings};
use simdup::{Error, Input, Observer, Settings, find_pairs};

/// So little that a few shingles go to a file.
const MEMORY_BYTES: u64 = 4096;
/// Bytes that a slow input gives at a time.
const SIP_BYTES: usize = 7;

/// Finds the pairs of a file twice, in different ways. A format of `None` is recognised.
pub fn compare_ways(format: Option<InputFormat>, bytes: &[u8]) {
    let settings = Settings {
        read: ReadSettings {
            format,
            ..ReadSettings::default()
        },
        measure: simdup::settings::Measure::Jaccard,
        threads: 1,
        ..Settings::default()
    };
    let cramped = Settings {
        threads: 2,
        memory: Some(Memory {
            bytes: MEMORY_BYTES,
            temp_dir: std::env::temp_dir(),
        }),
        ..settings.clone()
    };
    let whole = outcome(io::Cursor::new(bytes.to_vec()), &settings);
    let sips = outcome(Sips(bytes.to_vec(), 0), &cramped);
    assert_eq!(whole, sips);
}

/// A document a line in a compressed file: any bytes behind the head that makes a file known
/// as one, and a whole file with a byte changed.
pub fn compare_packed(head: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>, input: (u16, u8, &[u8])) {
    let (place, by, bytes) = input;
    let lines = Some(InputFormat::Lines);
    compare_ways(lines, &[head, bytes].concat());
    compare_ways(lines, &damaged(pack(bytes), place, by));
}

/// A file with one byte changed; with `by` zero, as it is.
pub fn damaged(mut file: Vec<u8>, place: u16, by: u8) -> Vec<u8> {
    let length = file.len().max(1);
    if let Some(byte) = file.get_mut(usize::from(place) % length) {
        *byte ^= by;
    }
    file
}

/// What can be seen of a run.
#[derive(Debug, PartialEq)]
struct Outcome {
    pairs: Result<Vec<String>, String>,
    problems: Vec<String>,
}

fn outcome(bytes: impl Read + Send + 'static, settings: &Settings) -> Outcome {
    let problems = Problems::default();
    let inputs = vec![Input::from_reader("input", bytes)];
    let pairs = find_pairs(inputs, settings, &problems).and_then(|similar| {
        let pairs = similar.pairs.to_vec()?;
        let line = |pair: &simdup::Pair| {
            let [left, right] = [pair.left, pair.right].map(|id| similar.urls.get(id));
            format!("{left:?} {right:?} {}", pair.score)
        };
        Ok(pairs.iter().map(line).collect())
    });
    Outcome {
        pairs: pairs.map_err(|error| error.to_string()),
        problems: problems.0.into_inner().unwrap_or_default(),
    }
}

#[derive(Default)]
struct Problems(Mutex<Vec<String>>);

impl Observer for Problems {
    fn problem(&self, error: &Error) {
        if let Ok(mut problems) = self.0.lock() {
            problems.push(error.to_string());
        }
    }
}

/// An input that gives a few bytes at a time, as a pipe may.
struct Sips(Vec<u8>, usize);

impl Read for Sips {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.0[self.1..];
        let length = rest.len().min(buffer.len()).min(SIP_BYTES);
        buffer[..length].copy_from_slice(&rest[..length]);
        self.1 += length;
        Ok(length)
    }
}
