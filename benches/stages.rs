//! Each stage by itself, in bytes or shingles per second, and all of them from a
//! gzip'd file to pairs.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::io::{Cursor, Write};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use simdup::inside::{
    Content, Listing, Masks, Piece, Pieces, Shingles, TextFiles, Work, run, run_plainly, shingler,
    sketcher, write_pairs,
};
use simdup::settings::{
    Finding, Measure, ReadSettings, ShingleSettings, SketchSettings, Tokens, Windows,
};
use simdup::{Index, Input, NamedWriter, Quiet, Settings, find_pairs};

#[path = "../tests/corpus/mod.rs"]
mod corpus;
use corpus::{Corpus, Shape};

fn collection() -> Corpus {
    Corpus::new(Shape {
        seed: 7,
        documents: 4000,
        words: 400,
        one_copy_in: 8,
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn settings(hashes: usize) -> Settings {
    Settings {
        sketch: SketchSettings::Fast { hashes, seed: 0 },
        ..Settings::default()
    }
}

fn reading(c: &mut Criterion) {
    let corpus = collection();
    let jsonl = corpus.jsonl().into_bytes();
    let mut group = c.benchmark_group("read");
    group.sample_size(10);
    for (name, plain) in [("jsonl", jsonl), ("protobuf", corpus.protobuf())] {
        group.throughput(Throughput::Bytes(plain.len() as u64));
        let blocked: Vec<u8> = plain.chunks(65_280).flat_map(gzip).collect();
        let packed = zstd::encode_all(&plain[..], 3).unwrap();
        for (kind, bytes) in [
            ("plain", plain.clone()),
            ("gzip", gzip(&plain)),
            ("blocked gzip", blocked),
            ("zstd", packed),
        ] {
            group.bench_function(format!("{name} {kind}, cut into blocks"), |b| {
                b.iter_batched(
                    || vec![Input::from_reader("bench", Cursor::new(bytes.clone()))],
                    |inputs| {
                        let settings = ReadSettings::default();
                        let mut pieces = Pieces::new(inputs, &settings);
                        let mut piece = Piece::default();
                        while pieces.next(&mut piece) {}
                    },
                    BatchSize::LargeInput,
                );
            });
        }
        group.bench_function(format!("{name} parsed"), |b| {
            let inputs = vec![Input::from_reader("bench", Cursor::new(plain.clone()))];
            let settings = ReadSettings::default();
            let mut pieces = Pieces::new(inputs, &settings);
            let mut all = vec![];
            loop {
                let mut piece = Piece::default();
                if !pieces.next(&mut piece) {
                    break;
                }
                all.push(piece);
            }
            b.iter(|| {
                for block in all.iter().flat_map(Piece::blocks) {
                    block.documents(&settings, &mut |document| {
                        black_box(document).unwrap();
                    });
                }
            });
        });
    }
}

/// Looks at every block, and does nothing else.
struct CountBits<'a>(&'a [u8]);

impl Work for CountBits<'_> {
    type Output = u32;

    #[inline(always)]
    fn with<M: Masks>(self) -> u32 {
        let (blocks, _) = self.0.as_chunks();
        let bits = |block| {
            let classes = M::classes(block);
            let words = classes.letter | classes.digit | classes.extend;
            let between = classes.mid_letter ^ classes.mid_digit;
            words.count_ones() + between.count_ones() + M::specials(block).count_ones()
        };
        blocks.iter().map(bits).sum()
    }
}

/// What the vector path buys: by itself, and for words all in all.
fn simd(c: &mut Criterion) {
    let jsonl = collection().jsonl();
    let mut group = c.benchmark_group("simd");
    group.throughput(Throughput::Bytes(jsonl.len() as u64));
    group.bench_function("vector", |b| {
        b.iter(|| run(CountBits(black_box(jsonl.as_bytes()))));
    });
    group.bench_function("plain twin", |b| {
        b.iter(|| run_plainly(CountBits(black_box(jsonl.as_bytes()))));
    });
}

/// What large pages buy for memory that is filled once.
fn pages(c: &mut Criterion) {
    const WORDS: usize = 8 << 20;
    let mut group = c.benchmark_group("pages");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(WORDS as u64 * 8));
    let fill = |mut words: Vec<u64>| {
        words.extend((0..WORDS as u64).map(black_box));
        words
    };
    group.bench_function("large", |b| b.iter(|| fill(simdup::inside::room(WORDS))));
    group.bench_function("as they come", |b| {
        b.iter(|| fill(Vec::with_capacity(WORDS)));
    });
}

fn shingling(c: &mut Criterion) {
    let corpus = collection();
    let mut group = c.benchmark_group("shingle");
    let english: String = corpus
        .documents
        .iter()
        .map(|(_, text)| text.as_str())
        .collect();
    // The same letters in other scripts: two bytes each or three, with a mark on every other
    // letter, composed of several characters.
    let in_script = |first: char, marks: &[&str]| -> String {
        let mut text = String::new();
        for (index, c) in english.chars().enumerate() {
            if !c.is_ascii_lowercase() {
                text.push(c);
                continue;
            }
            text.extend(char::from_u32(
                u32::from(first) + u32::from(c) - u32::from('a'),
            ));
            if index % 2 == 0 && !marks.is_empty() {
                text.push_str(marks[index / 2 % marks.len()]);
            }
        }
        text
    };
    let cyrillic = in_script('а', &[]);
    let han = in_script('一', &[]);
    let thai = in_script('ก', &["\u{e31}", "\u{e34}\u{e48}"]);
    let devanagari = in_script('क', &["\u{93f}", "\u{94d}"]);
    let arabic = in_script('ب', &["\u{64e}", "\u{651}\u{650}"]);
    let hebrew = in_script('א', &["\u{5b8}", "\u{5bc}\u{5b6}"]);
    let vietnamese = in_script('a', &["\u{301}", "\u{302}\u{300}"]);
    let jamo = english.replace(|c: char| c.is_ascii_lowercase(), "\u{1100}\u{1161}\u{11ab}");
    let emoji = english.replace(' ', " 👍🏽❤\u{fe0f}👨\u{200d}👩🇩🇪 ");
    // A letter in a hundred has an accent.
    let accented = english.replace("rea", "réa");
    let chars = ShingleSettings::Tokens {
        tokens: Tokens::Chars,
        case: simdup::settings::Case::Fold,
        windows: Windows::of(8),
    };
    let code = ShingleSettings::Tokens {
        tokens: Tokens::Code {
            names: simdup::settings::Names::Fold,
        },
        case: simdup::settings::Case::Keep,
        windows: Windows::of(8),
    };
    let source = include_str!("stages.rs").repeat(100);
    for (name, settings, text) in [
        ("source code", code, &source),
        ("words, ASCII", ShingleSettings::default(), &english),
        ("words, some accents", ShingleSettings::default(), &accented),
        ("words, Cyrillic", ShingleSettings::default(), &cyrillic),
        ("words, Han", ShingleSettings::default(), &han),
        ("words, Thai", ShingleSettings::default(), &thai),
        ("words, Devanagari", ShingleSettings::default(), &devanagari),
        (
            "words, Arabic with marks",
            ShingleSettings::default(),
            &arabic,
        ),
        (
            "words, Hebrew with marks",
            ShingleSettings::default(),
            &hebrew,
        ),
        (
            "words, marks apart",
            ShingleSettings::default(),
            &vietnamese,
        ),
        ("words, jamo", ShingleSettings::default(), &jamo),
        ("words, emoji", ShingleSettings::default(), &emoji),
        ("chars, ASCII", chars, &english),
        (
            "technosphere, Cyrillic",
            ShingleSettings::Technosphere,
            &cyrillic,
        ),
    ] {
        let shingler = shingler(&settings);
        let mut shingles = Shingles::default();
        let content = Content::Text(text.as_str().into());
        group.sample_size(10);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| shingler.shingle(black_box(&content), &mut shingles));
        });
    }
}

fn sketching(c: &mut Criterion) {
    let mut random = corpus::Random::new(1);
    let mut group = c.benchmark_group("sketch");
    for count in [20, 200, 1000, 10_000] {
        let shingles: Vec<_> = (0..count)
            .map(|_| simdup::inside::Shingle(random.next()))
            .collect();
        group.throughput(Throughput::Elements(count));
        for hashes in [20, 128] {
            let mut sketcher = sketcher(&SketchSettings::Fast { hashes, seed: 0 });
            let mut values = vec![];
            group.bench_function(format!("{count} shingles, {hashes} positions"), |b| {
                b.iter(|| {
                    values.clear();
                    sketcher.sketch(black_box(&shingles), &mut values);
                });
            });
        }
    }
}

fn end_to_end(c: &mut Criterion) {
    let jsonl = collection().jsonl().into_bytes();
    let packed = gzip(&jsonl);
    let blocked: Vec<u8> = jsonl.chunks(65_280).flat_map(gzip).collect();
    let mut group = c.benchmark_group("all stages");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(jsonl.len() as u64));
    for (name, bytes, measure, hashes, recall) in [
        ("jsonl, 20 positions", &jsonl, Measure::MinHash, 20, 1.0),
        ("jsonl.gz, 20 positions", &packed, Measure::MinHash, 20, 1.0),
        (
            "blocked jsonl.gz, 20 positions",
            &blocked,
            Measure::MinHash,
            20,
            1.0,
        ),
        (
            "jsonl.gz, 128 positions",
            &packed,
            Measure::MinHash,
            128,
            1.0,
        ),
        (
            "jsonl.gz, exact Jaccard",
            &packed,
            Measure::Jaccard,
            128,
            1.0,
        ),
        (
            "jsonl.gz, exact Jaccard, recall 0.999",
            &packed,
            Measure::Jaccard,
            128,
            0.999,
        ),
    ] {
        for threads in [1, 2] {
            let settings = Settings {
                threads,
                measure,
                finding: Finding::Recall(recall),
                ..settings(hashes)
            };
            group.bench_function(format!("{name}, {threads} threads"), |b| {
                b.iter_batched(
                    || vec![Input::from_reader("bench", Cursor::new(bytes.clone()))],
                    |inputs| {
                        let mut similar = find_pairs(inputs, &settings, &Quiet).unwrap();
                        let mut out = vec![];
                        let output = NamedWriter {
                            name: "bench",
                            writer: &mut out,
                        };
                        write_pairs(
                            &mut similar,
                            &Listing::default(),
                            &TextFiles::default(),
                            output,
                            &Quiet,
                        )
                        .unwrap();
                        out
                    },
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

/// Clusters of ordinary text, of copies, and of versions: none costs more than its size.
fn clusters(c: &mut Criterion) {
    use simdup::settings::{ClusterMethod, Keep};

    let ordinary = collection().jsonl();
    let pages: Vec<&str> = ordinary.lines().take(10).collect();
    let page = |number: usize| -> serde_json::Value {
        serde_json::from_str(pages[number % pages.len()]).unwrap()
    };
    let many = |text: &dyn Fn(usize) -> String| -> String {
        (0..10_000)
            .map(|number| {
                format!(
                    "{}\n",
                    serde_json::json!({"url": number.to_string(), "text": text(number)})
                )
            })
            .collect()
    };
    let copy = |number: usize| page(number)["text"].as_str().unwrap().to_owned();
    let copies = many(&copy);
    let versions = many(&|number| copy(number).replacen(' ', &format!(" v{number} "), 3));
    let mut group = c.benchmark_group("clusters");
    group.sample_size(10);
    for (name, text) in [
        ("ordinary text", ordinary.clone()),
        ("10 pages, 1000 copies each", copies),
        ("10 pages, 1000 versions each", versions),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| {
            b.iter_batched(
                || vec![Input::from_reader("bench", Cursor::new(text.clone()))],
                |inputs| {
                    let settings = Settings::default();
                    simdup::cluster_documents(
                        inputs,
                        &settings,
                        ClusterMethod::Star,
                        &Keep::First,
                        &Quiet,
                    )
                },
                BatchSize::LargeInput,
            );
        });
    }
}

/// Cosines to a gold standard: at most 1.3 times what 20 positions take.
fn ranking(c: &mut Criterion) {
    use std::ops::ControlFlow;

    use simdup::settings::{RankSettings, Weight};

    let jsonl = collection().jsonl();
    let gold = jsonl.lines().next().unwrap_or_default();
    let mut group = c.benchmark_group("rank");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(jsonl.len() as u64));
    for weight in [Weight::Tf, Weight::Binary, Weight::Log, Weight::TfIdf] {
        let settings = Settings {
            rank: Some(RankSettings {
                weight,
                ..RankSettings::default()
            }),
            ..settings(20)
        };
        group.bench_function(weight.name(), |b| {
            b.iter_batched(
                || vec![Input::from_reader("bench", Cursor::new(jsonl.clone()))],
                |inputs| {
                    let gold = simdup::Gold {
                        name: "gold".into(),
                        inputs: vec![Input::from_reader("gold", Cursor::new(gold.to_owned()))],
                    };
                    let mut count = 0;
                    let each = |_: simdup::results::Ranked<'_>| {
                        count += 1;
                        ControlFlow::Continue(())
                    };
                    simdup::rank_documents(inputs, vec![gold], &settings, &Quiet, each).unwrap();
                    count
                },
                BatchSize::LargeInput,
            );
        });
    }
}

/// The passages of two texts of a megabyte: versions with paragraphs moved, and text that repeats
/// itself.
fn passages(c: &mut Criterion) {
    use simdup::inside::{Spanned, Template, passages};

    let corpus = collection().jsonl();
    let texts: Vec<String> = corpus
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|record| record["text"].as_str().unwrap().to_owned())
        .collect();
    let mut paragraphs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let most = |text: String| text.chars().take(1 << 20).collect::<String>();
    let version = most(paragraphs.join("\n\n"));
    paragraphs[..300].rotate_left(90);
    let moved = most(paragraphs.join(" edited\n\n"));
    let (shingle, template) = (ShingleSettings::default(), Template::default());
    let spanned = |text: &str| Spanned::new(text, &shingle, &template).unwrap();
    let mut group = c.benchmark_group("passages");
    group.sample_size(10);
    for (name, one, two) in [
        ("paragraphs moved and edited", version, moved),
        (
            "text that repeats itself",
            "la la li la ".repeat(87_000),
            "la li la li ".repeat(87_000),
        ),
    ] {
        group.throughput(Throughput::Bytes((one.len() + two.len()) as u64));
        group.bench_function(name, |b| {
            b.iter(|| passages(&spanned(black_box(&one)), &spanned(black_box(&two)), 5));
        });
    }
}

/// Documents that are remembered on disk, and asked about.
fn index(c: &mut Criterion) {
    use std::ops::ControlFlow;

    use simdup::results::Answer;
    use simdup::settings::{Query, Writer};

    let corpus = collection();
    let jsonl = corpus.jsonl();
    let input = || {
        vec![Input::from_reader(
            "bench",
            Cursor::new(jsonl.clone().into_bytes()),
        )]
    };
    let settings = Settings {
        measure: Measure::Jaccard,
        ..Settings::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    Index::create(&path, input(), &settings, &Writer::default(), &Quiet).unwrap();
    let built = Index::open(&path).unwrap();
    let mut group = c.benchmark_group("index");
    group.sample_size(10);
    group.throughput(Throughput::Elements(corpus.documents.len() as u64));
    group.bench_function("build", |b| {
        b.iter(|| {
            let path = tempfile::tempdir().unwrap();
            Index::create(path.path(), input(), &settings, &Writer::default(), &Quiet).unwrap()
        });
    });
    group.bench_function("query", |b| {
        b.iter(|| {
            let query = Query::default();
            let each = |answer: Answer<'_>| {
                black_box(answer.found.len());
                ControlFlow::Continue(())
            };
            built
                .query(input(), &settings, &query, &Quiet, each)
                .unwrap()
        });
    });
    group.finish();
}

criterion_group!(
    stages, reading, simd, shingling, sketching, pages, clusters, passages, ranking, index,
    end_to_end
);
criterion_main!(stages);
