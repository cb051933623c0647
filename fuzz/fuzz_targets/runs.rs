//! Whole runs over any file, of a named format or recognized: neither threads nor memory nor the
//! steps in which bytes come in change the outcome.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::compare_runs;

const FORMATS: [Option<InputFormat>; 9] = [
    None,
    Some(InputFormat::Jsonl),
    Some(InputFormat::Protobuf),
    Some(InputFormat::Text),
    Some(InputFormat::Lines),
    Some(InputFormat::Html),
    Some(InputFormat::Csv),
    Some(InputFormat::Warc),
    Some(InputFormat::Parquet),
];

fuzz_target!(|bytes: &[u8]| {
    // The last byte says the format, so that a file is its own seed.
    let (format, bytes) = match bytes.split_last() {
        Some((&format, bytes)) => (format, bytes),
        None => (0, bytes),
    };
    compare_runs(FORMATS[usize::from(format) % FORMATS.len()], bytes);
});
