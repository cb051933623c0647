//! `--memory` is kept: on inputs of any size, down to a floor that is told.

use std::fmt::Write;

use crate::harness::{Place, gzip};

const MEGABYTE: u64 = 1 << 20;
/// What a run may take beyond `--memory`, or beyond the floor if that is more.
const BEYOND: u64 = 64 * MEGABYTE;
const COMMANDS: [&str; 8] = [
    "--hashes 20",
    "--score jaccard",
    "--score containment",
    "cluster",
    "dedup",
    "dedup --annotate",
    "dedup --removed gone",
    "sketch --hashes 20",
];

/// Every other command that reads documents, with what is to be prepared for it; and other ways of
/// the commands above. The file of documents comes last.
const OTHERS: [&str; 15] = [
    "--score jaccard --sort score",
    "--score jaccard --recall 0.9",
    "--score jaccard --against small",
    "cluster --cluster components",
    "dedup --against index",
    "dedup --annotate --against index",
    "rank --gold gold",
    "rank --gold gold --weight tfidf",
    "query index",
    "explain --best 20",
    "report -o page.html",
    "eval",
    "eval --sweep bands",
    "eval --sweep hashes",
    "tune",
];

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// About so many bytes of documents, every third an edited version of the one before.
fn documents(bytes: usize) -> String {
    let mut numbers = Numbers(1);
    let mut all = String::new();
    let mut words: Vec<u64> = vec![];
    for document in 0.. {
        if document % 3 == 2 {
            let at = numbers.below(words.len() as u64) as usize;
            words[at] = numbers.below(30_000);
        } else {
            let count = 100 + numbers.below(300);
            words = (0..count).map(|_| numbers.below(30_000)).collect();
        }
        write!(all, "{{\"url\":\"{document}\",\"text\":\"").unwrap();
        for word in &words {
            write!(all, "w{word} ").unwrap();
        }
        all.push_str("\"}\n");
        if all.len() > bytes {
            break;
        }
    }
    all
}

/// What a run printed, its peak and its floor; no peak where the system does not tell.
struct Measured {
    output: String,
    stderr: String,
    peak: Option<u64>,
    floor: u64,
}

fn measure(place: &Place, command: &str) -> Measured {
    let run = place.run(&format!("{command} --stats stats"));
    assert_eq!(run.status, 0, "{command}: {}", run.stderr);
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    Measured {
        output: run.stdout,
        stderr: run.stderr,
        peak: stats["peak_memory_bytes"].as_u64(),
        floor: stats["floor_memory_bytes"].as_u64().unwrap(),
    }
}

/// The promise.
#[track_caller]
fn check(measured: &Measured, memory: u64, command: &str) {
    if let Some(peak) = measured.peak {
        let most = memory.max(measured.floor) + BEYOND;
        assert!(peak <= most, "{command}: {peak} of {most}");
    }
}

#[test]
fn peaks_do_not_grow_with_the_input() {
    let place = Place::new();
    place
        .file("small", documents(1 << 18))
        .file("gold", "{\"url\":\"g\",\"text\":\"w1 w2 w3 w4 w5\"}\n")
        .file("2", documents(2 << 20))
        .file("8", documents(8 << 20));
    place.run("index build index small").clean();
    for command in COMMANDS.iter().chain(&OTHERS) {
        assert_growth(&place, command, ["2", "8"], || {});
    }
}

/// Of these sizes, both fill the memory, and documents are written in runs: many of these are merged
/// a few at a time, since each has some pages in memory.
#[test]
fn an_index_takes_what_the_floor_counts() {
    let place = Place::new();
    place
        .file("small", documents(1 << 18))
        .file("8", documents(8 << 20))
        .file("24", documents(24 << 20));
    let remove = || {
        let _ = std::fs::remove_dir_all(place.path("index"));
    };
    assert_growth(&place, "index build index", ["8", "24"], remove);
    for command in [
        "index add --skip index",
        "index add --skip --no-pairs index",
    ] {
        assert_growth(&place, command, ["8", "24"], || {
            remove();
            place.run("index build index small").clean();
        });
    }
}

/// Runs over a small and a large file keep the promise, and the larger one does not go further
/// beyond its floor. What a run takes depends on how its threads meet: the least of three tries counts.
#[track_caller]
fn assert_growth(place: &Place, command: &str, files: [&str; 2], prepare: impl Fn()) {
    const MEMORY: u64 = 24 * MEGABYTE;
    /// Blocks on their way, and what the allocator keeps, are not the same in every run.
    const TOLERANCE: u64 = 12 * MEGABYTE;
    const TRIES: usize = 3;
    let mut beyond = u64::MAX;
    for _ in 0..TRIES {
        let measured = files.map(|file| {
            prepare();
            let command = format!("{command} -q --skip-ok -j 2 --memory 24M {file}");
            let measured = measure(place, &command);
            check(&measured, MEMORY, &command);
            measured
        });
        let [Some(least), Some(most)] = measured.each_ref().map(|measured| measured.peak) else {
            return;
        };
        // The floor itself grows, by some dozens of bytes a document.
        let grown = measured[1].floor.saturating_sub(measured[0].floor);
        beyond = beyond.min(most.saturating_sub(least + grown));
        if beyond <= TOLERANCE {
            return;
        }
    }
    panic!("{command}: {beyond} bytes more than the floor has grown");
}

#[test]
fn tiny_documents_with_partners_take_what_the_floor_counts() {
    let place = Place::new();
    for count in [50_000, 150_000] {
        let mut numbers = Numbers(1);
        let mut tiny = String::new();
        for n in 0..count {
            let [one, two] = [0; 2].map(|_| numbers.below(count / 2));
            writeln!(tiny, "{{\"url\":\"{n}\",\"text\":\"w{one} w{two}\"}}").unwrap();
        }
        place.file(&format!("{count}"), tiny);
    }
    for command in ["--score jaccard -w 1 -t 0.9", "cluster -w 1 -t 0.9"] {
        assert_growth(&place, command, ["50000", "150000"], || {});
    }
}

#[test]
fn a_long_document_takes_what_the_floor_counts() {
    let place = Place::new();
    for megabytes in [2_usize, 6] {
        let mut long = String::new();
        for copy in 0..2 {
            write!(long, "{{\"url\":\"{copy}\",\"text\":\"").unwrap();
            let mut numbers = Numbers(copy);
            let end = long.len() + (megabytes << 20);
            while long.len() < end {
                write!(long, "w{} ", numbers.below(1 << 12)).unwrap();
            }
            long.push_str("\"}\n");
        }
        place.file(&format!("{megabytes}"), long);
    }
    for command in [
        "--score jaccard -c 5",
        "--score jaccard -c 1-3",
        "explain --min-tokens 40 0 1",
    ] {
        assert_growth(&place, command, ["2", "6"], || {});
    }
}

#[test]
fn a_long_template_takes_what_the_floor_counts() {
    let place = Place::new();
    for size in [1_usize, 3] {
        place
            .file(&format!("{size}.txt"), documents(size << 20))
            .file(&format!("{size}"), documents(size << 20));
    }
    for size in ["1", "3"] {
        let command = format!("--score jaccard -c 1-3 --template {size}.txt");
        assert_growth(&place, &command, [size, size], || {});
    }
}

#[test]
fn a_wide_header_takes_little() {
    let place = Place::new();
    for columns in [100_000, 500_000] {
        let mut wide = "url,text".to_owned();
        (0..columns).for_each(|column| write!(wide, ",c{column}").unwrap());
        let record = format!("\na,one two three{}", ",".repeat(columns));
        place.file(&format!("{columns}.csv"), wide + &record + "\n");
    }
    for command in ["", "--score jaccard"] {
        assert_growth(&place, command, ["100000.csv", "500000.csv"], || {});
    }
}

/// What the page has does not depend on where the texts were kept.
#[test]
fn a_report_is_the_same_with_little_memory() {
    let place = Place::new();
    place.file("docs", documents(4 << 20));
    let page = |memory: &str| {
        place
            .run(&format!("report -q --memory {memory} -o page.html docs"))
            .clean();
        place.read("page.html")
    };
    assert!(page("1M") == page("1G"));
}

#[test]
fn the_bytes_are_the_same_with_little_memory() {
    let place = Place::new();
    place.file("docs", documents(1 << 18));
    for command in COMMANDS {
        let all = measure(&place, &format!("{command} docs"));
        assert_eq!(all.stderr, "");
        for memory in ["1M", "30M"] {
            let less = measure(&place, &format!("{command} -q --memory {memory} docs"));
            assert!(less.output == all.output, "{command} --memory {memory}");
        }
    }
}

#[test]
fn a_floor_above_the_memory_is_told_once() {
    let place = Place::new();
    let mut tiny = String::new();
    for n in 0..40_000 {
        writeln!(tiny, "{{\"url\":\"{n}\",\"text\":\"w{n}\"}}").unwrap();
    }
    place.file("tiny", tiny);
    for command in COMMANDS {
        let command = format!("{command} -j 2 --memory 12M tiny");
        let measured = measure(&place, &command);
        check(&measured, 12 * MEGABYTE, &command);
        let told = format!("take {} MB", measured.floor.div_ceil(MEGABYTE));
        let warnings: Vec<&str> = measured.stderr.lines().collect();
        assert_eq!(warnings.len(), 1, "{command}: {}", measured.stderr);
        assert!(
            warnings[0].starts_with("simdup: --memory is 12 MB, but ")
                && warnings[0].contains(&told),
            "{command}: {}",
            measured.stderr
        );
        let quiet = measure(&place, &format!("{command} -q"));
        assert_eq!((quiet.stderr.as_str(), quiet.floor), ("", measured.floor));
    }
}

/// The floor has a few times the largest record, not that of every thread.
#[test]
fn huge_records_are_held_one_at_a_time() {
    const COPIES: usize = 4;
    let place = Place::new();
    let mut huge = String::new();
    for copy in 0..COPIES {
        write!(huge, "{{\"url\":\"{copy}\",\"text\":\"").unwrap();
        let mut numbers = Numbers(copy as u64);
        let end = huge.len() + (4 << 20);
        while huge.len() < end {
            write!(huge, "w{} ", numbers.below(1 << 20)).unwrap();
        }
        huge.push_str("\"}\n");
    }
    place.file("huge", &huge);
    for command in ["--hashes 20", "--score jaccard", "sketch --hashes 20"] {
        let command = format!("{command} -j 4 --memory 20M huge");
        let measured = measure(&place, &command);
        check(&measured, 20 * MEGABYTE, &command);
    }
}

#[test]
fn bad_records_do_not_pile_up() {
    let place = Place::new();
    let lines = "{\n".repeat(20_000);
    place.file(
        "bad.gz",
        gzip([lines.as_bytes(), &vec![0; 30 << 20]].concat()),
    );
    let run =
        place.run("--input-format jsonl --score jaccard -j 8 --memory 30M --stats stats bad.gz");
    assert_eq!(run.status, 2);
    let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
    let floor = stats["floor_memory_bytes"].as_u64().unwrap();
    if let Some(peak) = stats["peak_memory_bytes"].as_u64() {
        assert!(peak <= floor.max(30 * MEGABYTE) + BEYOND, "{peak}, {floor}");
    }
}

#[test]
fn a_window_of_zstd_counts() {
    let place = Place::new();
    let text = documents(1 << 20);
    let packed = |log: u32| {
        let mut encoder = zstd::Encoder::new(vec![], 1).unwrap();
        encoder.window_log(log).unwrap();
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    place.file("small", packed(20)).file("large", packed(26));
    let [small, large] =
        ["small", "large"].map(|name| measure(&place, &format!("-j 2 {name}")).floor);
    assert_eq!(large - small, (1 << 26) - (1 << 20));
}

/// Of each column a page is held, as it came and unpacked.
#[cfg(feature = "parquet")]
#[test]
fn pages_of_parquet_count() {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;

    let place = Place::new();
    let table = |page_bytes: usize| {
        let schema = "message m { required binary text (UTF8); }";
        let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(page_bytes)
            .set_write_batch_size(16);
        let properties = Arc::new(properties.build());
        let mut writer = SerializedFileWriter::new(vec![], Arc::new(schema), properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts: Vec<ByteArray> = documents(8 << 20).lines().map(ByteArray::from).collect();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap()
    };
    place
        .file("small", table(1 << 16))
        .file("large", table(1 << 30));
    let [small, large] =
        ["small", "large"].map(|name| measure(&place, &format!("-j 2 {name}")).floor);
    let more = large - small;
    assert!((15..18).contains(&(more / MEGABYTE)), "{more}");
}
