//! A damaged index is refused or answers as before. An index that somebody changed on purpose,
//! with checksums that fit, is refused or gives some answer: no panic, no endless loop.
#![no_main]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use simdup::inside::{Content, Shingles, shingler};
use simdup::settings::{Adding, Measure, Query, ShingleSettings, Wanted, Windows, Writer};
use simdup::{Error, Index, Input, Quiet, Settings};
use xxhash_rust::xxh3::xxh3_64;

const DOCUMENTS: usize = 24;
/// One in so many changed indexes is rewritten, which starts a thread pool.
const REWRITES_ONE_IN: usize = 256;
/// Bytes of a change: the file, the place in it, how it is changed, and a value.
const CHANGE_BYTES: usize = 8;
const PAGE_BYTES: usize = 1024;
const FOOTER_BYTES: usize = 40;

struct Built {
    folder: tempfile::TempDir,
    /// The manifest is the last one.
    files: Vec<(PathBuf, Vec<u8>)>,
    answers: String,
}

fn settings() -> Settings {
    let mut settings = Settings {
        measure: Measure::Jaccard,
        threads: 1,
        ..Settings::default()
    };
    if let ShingleSettings::Tokens { windows, .. } = &mut settings.shingle {
        *windows = Windows::of(1);
    }
    settings
}

/// Documents of 20 words, most of them common.
fn document(number: usize) -> String {
    let words: Vec<String> = (0..20)
        .map(|word| format!("w{}", word * (1 + number % 3 * usize::from(word > 11))))
        .collect();
    let words = words.join(" ");
    format!("{{\"url\": \"document {number}\", \"text\": \"{words} {number}\"}}\n")
}

fn documents(numbers: std::ops::Range<usize>) -> Vec<Input> {
    let all: String = numbers.map(document).collect();
    vec![Input::from_reader("documents", std::io::Cursor::new(all))]
}

/// An index of two segments, in one of which something was removed.
fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        let path = folder.path();
        let (settings, writer) = (settings(), Writer::default());
        Index::create(path, documents(0..20), &settings, &writer, &Quiet).unwrap();
        let added = Index::add(
            path,
            documents(20..DOCUMENTS),
            &settings,
            &Adding::default(),
            &Quiet,
        );
        drop(added.unwrap());
        Index::remove(path, ["document 7"], &writer).unwrap();
        let mut files: Vec<_> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.file_name().is_some_and(|name| name != "lock"))
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        let answers = answers(path).unwrap();
        Built {
            folder,
            files,
            answers,
        }
    })
}

/// Everything that can be asked of an index on one thread.
fn answers(folder: &Path) -> Result<String, Error> {
    let index = Index::open(folder)?;
    let mut all = String::new();
    index.for_each_document(|id, size, fields| {
        all += &format!("{id} {size} {fields}\n");
        ControlFlow::Continue(())
    })?;
    let overlap = Wanted::Overlap {
        share: "0.4".parse().unwrap(),
        chance: None,
    };
    for (measure, wanted) in [
        (Measure::Jaccard, Wanted::Similar),
        (Measure::Containment, Wanted::Similar),
        (Measure::Jaccard, overlap),
    ] {
        let settings = Settings {
            measure,
            ..settings()
        };
        let query = Query {
            wanted,
            ..Query::default()
        };
        for id in ["document 3", "document 11", "document 22"] {
            index.query_id(id, &settings, &query, |answer| {
                for found in answer.found {
                    all += &format!("{} {} {}\n", answer.url, found.url, found.score);
                }
                ControlFlow::Continue(())
            })?;
        }
    }
    Ok(all)
}

/// Looks at an index in every way. What comes of it may be anything but a panic.
fn look(folder: &Path) {
    let Ok(index) = Index::open(folder) else {
        return;
    };
    let _ = index.check();
    let _ = index.info();
    let _ = answers(folder);
    if let Ok(settings) = index.settings(&settings()) {
        let text = Content::Text("some words for the settings of the index".into());
        shingler(&settings.shingle).shingle(&text, &mut Shingles::default());
    }
}

fuzz_target!(|bytes: &[u8]| {
    let built = built();
    let folder = built.folder.path();
    let Some((&how, changes)) = bytes.split_first() else {
        return;
    };
    let mut files = built.files.clone();
    if how % 4 == 0 {
        change(&mut files, changes);
        write(&files);
        if let Ok(index) = Index::open(folder) {
            let _ = index.check();
            let _ = index.info();
        }
        if let Ok(answers) = answers(folder) {
            assert_eq!(answers, built.answers);
        }
        return;
    }
    let (mut parts, manifest) = contents(&built.files);
    change(&mut parts, changes);
    for ((_, file), (_, content)) in files.iter_mut().zip(parts) {
        let kind = file[file.len() - FOOTER_BYTES + 12];
        *file = sealed(content, kind);
    }
    let mut text = with_prints(manifest, &files);
    change_manifest(&mut text, changes);
    if let Some((_, file)) = files.last_mut() {
        *file = [&text[..], format!("\n{:016x}\n", xxh3_64(&text)).as_bytes()].concat();
    }
    write(&files);
    look(folder);
    if usize::from(how) == REWRITES_ONE_IN - 1 {
        let _ = Index::compact(folder, &settings(), &Writer::default());
        look(folder);
    }
});

fn write(files: &[(PathBuf, Vec<u8>)]) {
    for (path, content) in files {
        std::fs::write(path, content).unwrap();
    }
}

/// Changes files: bytes, words, and lengths.
fn change(files: &mut [(PathBuf, Vec<u8>)], changes: &[u8]) {
    for change in changes.chunks_exact(CHANGE_BYTES) {
        let place = usize::from(change[0]) % (files.len() + 1);
        let Some((_, content)) = files.get_mut(place) else {
            continue;
        };
        let at = usize::from(u16::from_le_bytes([change[1], change[2]])) % content.len().max(1);
        let value = i64::from(i32::from_le_bytes([
            change[4], change[5], change[6], change[7],
        ]));
        // Many numbers stand at the end.
        let end = content.len();
        let word = |from: usize, bytes: usize| from..(from + bytes).min(end);
        let range = match change[3] % 8 {
            0 | 1 => word(at, 1),
            2 => word(at / 4 * 4, 4),
            3 => word(at / 8 * 8, 8),
            4 => word(end - (at / 4 * 4).min(end), 4),
            5 => word(end - (at / 8 * 8).min(end), 8),
            6 => {
                content.truncate(at);
                continue;
            }
            _ => {
                content.extend_from_slice(&value.to_le_bytes());
                continue;
            }
        };
        let length = range.len();
        content[range].copy_from_slice(&value.to_le_bytes()[..length]);
    }
}

/// Replaces numbers of a manifest.
fn change_manifest(text: &mut Vec<u8>, changes: &[u8]) {
    for change in changes.chunks_exact(CHANGE_BYTES) {
        if change[0] % 5 != 4 {
            continue;
        }
        let digits: Vec<usize> = (0..text.len())
            .filter(|&at| text[at].is_ascii_digit() && !text[at - 1].is_ascii_digit())
            .collect();
        let Some(&start) = digits.get(usize::from(change[1]) % digits.len().max(1)) else {
            return;
        };
        let length = text[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let range = start..start + length.count();
        let value = i32::from_le_bytes([change[4], change[5], change[6], change[7]]);
        let value = match change[3] % 3 {
            0 => i64::from(value) as u64,
            _ => u64::from(change[4]),
        };
        text.splice(range, value.to_string().into_bytes());
    }
}

/// The files without their checksums, and the manifest.
fn contents(files: &[(PathBuf, Vec<u8>)]) -> (Vec<(PathBuf, Vec<u8>)>, &[u8]) {
    let (manifest, files) = files.split_last().unwrap();
    let content = |(path, file): &(PathBuf, Vec<u8>)| {
        let footer = &file[file.len() - FOOTER_BYTES..];
        let length = u64::from_le_bytes(footer[16..24].try_into().unwrap());
        (path.clone(), file[..length as usize].to_vec())
    };
    let line = manifest.1.split(|&byte| byte == b'\n').next();
    (
        files.iter().map(content).collect(),
        line.unwrap_or_default(),
    )
}

/// A file with checksums that fit.
fn sealed(mut content: Vec<u8>, kind: u8) -> Vec<u8> {
    let length = content.len() as u64;
    let sums: Vec<u8> = content
        .chunks(PAGE_BYTES)
        .flat_map(|page| (xxh3_64(page) as u32).to_le_bytes())
        .collect();
    let mut footer = b"simdupix\x01\0\0\0".to_vec();
    footer.extend([kind, 0, 0, 0]);
    footer.extend(length.to_le_bytes());
    footer.extend(xxh3_64(&sums).to_le_bytes());
    let sum = xxh3_64(&footer);
    footer.extend(sum.to_le_bytes());
    content.extend(sums);
    content.extend(footer);
    content
}

/// The manifest with the lengths and the checksums of these files.
fn with_prints(manifest: &[u8], files: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let mut json: serde_json::Value = serde_json::from_slice(manifest).unwrap();
    let print = |name: String| {
        let is_it = |(path, _): &&(PathBuf, Vec<u8>)| path.ends_with(&name);
        let (_, file) = files.iter().find(is_it).unwrap();
        let sum = u64::from_le_bytes(file[file.len() - 8..].try_into().unwrap());
        serde_json::json!({"bytes": file.len(), "sum": sum})
    };
    for segment in json["segments"].as_array_mut().unwrap() {
        let number = segment["number"].as_u64().unwrap();
        for kind in ["documents", "keys", "lists"] {
            segment["prints"][kind] = print(format!("{number:08}.{kind}"));
        }
        if let Some(removed) = segment["removed"]["number"].as_u64() {
            segment["removed"]["print"] = print(format!("{number:08}-{removed:08}.removed"));
        }
    }
    json.to_string().into_bytes()
}
