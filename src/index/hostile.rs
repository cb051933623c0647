//! Indexes that somebody changed on purpose, with checksums that fit: each is refused, or gives
//! some answer. None panics, and none runs without end.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::checked::{CheckedFile, CheckedWriter, FilePrint, Kind, hash};
use super::manifest::{self, Manifest};
use super::*;
use crate::document::DocumentId;
use crate::score::{Measure, SetBound};
use crate::settings::{Settings, Tokens, Windows};
use crate::shingle::{Shingle, ShingleSettings};

const DOCUMENTS: u64 = 24;

/// The shingles of a document: some that all have, some of its family, one of its own.
fn set(document: u64) -> BTreeSet<u64> {
    let common = 0..6;
    let family = (0..8).map(|n| 1000 * (1 + document % 3) + n);
    common.chain(family).chain([document + 5000]).collect()
}

fn keys(document: u64) -> Vec<Key> {
    let shingles: Vec<Shingle> = set(document).into_iter().map(Shingle).collect();
    let mut keys = vec![];
    keys_of(&shingles, &mut keys);
    keys
}

fn add(writer: &mut IndexWriter, documents: std::ops::Range<u64>) {
    for document in documents {
        let shingles: Vec<Shingle> = set(document).into_iter().map(Shingle).collect();
        let mut block = KeyBlock::default();
        block.push(&shingles, "{\"n\":1}");
        let id = format!("document {document}");
        let number = [Some(DocumentId(0))];
        writer.push(&block, &number, |_| &id).unwrap();
    }
    writer.commit().unwrap();
}

/// Two segments, in one of which a document was removed.
fn build(folder: &Path) {
    let settings = Remembered::of(&Settings::default());
    let mut writer = IndexWriter::create(folder, settings, &Writer::default()).unwrap();
    add(&mut writer, 0..20);
    add(&mut writer, 20..DOCUMENTS);
    let spot = writer.index().find("document 7").unwrap().unwrap();
    writer.remove(spot);
    writer.commit().unwrap();
}

/// A file of an index without its checksums.
struct Content {
    path: PathBuf,
    kind: Kind,
    bytes: Vec<u8>,
}

/// The files of an index, and in the manifest's order the places of their prints.
fn contents(folder: &Path) -> Vec<(Content, String)> {
    let manifest = Manifest::read(folder).unwrap();
    let mut all = vec![];
    for (place, segment) in manifest.segments.iter().enumerate() {
        let prints = segment.prints;
        let mut files = vec![
            ("documents", Kind::Documents, prints.documents),
            ("keys", Kind::Keys, prints.keys),
            ("lists", Kind::Lists, prints.lists),
        ];
        files.extend(
            segment
                .removed
                .map(|removed| ("removed", Kind::Removed, removed.print)),
        );
        for (name, kind, print) in files {
            let (file, pointer) = match segment.removed {
                Some(removed) if kind == Kind::Removed => (
                    format!("{:08}-{:08}.removed", segment.number, removed.number),
                    format!("/segments/{place}/removed/print"),
                ),
                _ => (
                    format!("{:08}.{name}", segment.number),
                    format!("/segments/{place}/prints/{name}"),
                ),
            };
            let path = folder.join(file);
            let checked = CheckedFile::open(path.clone(), kind, print).unwrap();
            let bytes = checked.get(0, checked.bytes()).unwrap().to_vec();
            all.push((Content { path, kind, bytes }, pointer));
        }
    }
    all
}

/// The manifest of an index, to be changed.
fn manifest_of(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join(manifest::NAME)).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

/// Writes a manifest with the checksum that fits.
fn write_manifest(folder: &Path, manifest: &Value) {
    let text = manifest.to_string();
    let sum = hash(text.as_bytes());
    fs::write(folder.join(manifest::NAME), format!("{text}\n{sum:016x}\n")).unwrap();
}

/// Writes a file with the checksums that fit, those of the manifest among them.
fn write(folder: &Path, content: &Content, bytes: &[u8], pointer: &str) {
    let mut writer = CheckedWriter::create(content.path.clone(), content.kind).unwrap();
    writer.write(bytes).unwrap();
    let print: FilePrint = writer.finish(false).unwrap();
    let mut manifest = manifest_of(folder);
    *manifest.pointer_mut(pointer).unwrap() = json!({"bytes": print.bytes, "sum": print.sum});
    write_manifest(folder, &manifest);
}

/// Asks everything that an index can be asked.
fn ask(index: &Index) -> Result<(), Error> {
    let mut all_keys = vec![];
    for spot in index.documents() {
        index.id(spot)?;
        index.keys(spot, &mut all_keys)?;
    }
    index.for_each_document(|_, _, _| ControlFlow::Continue(()))?;
    index.info()?;
    Ok(())
}

fn search(index: &Index) -> Result<(), Error> {
    let threshold = "0.4".parse().unwrap();
    let enough = [
        Enough::Similar(SetBound::new(Measure::Jaccard, threshold)),
        Enough::Similar(SetBound::new(Measure::Containment, threshold)),
        Enough::Overlap {
            share: threshold,
            chance: None,
        },
    ];
    for enough in enough {
        for document in [0, 7, 22] {
            let keys = keys(document);
            let each = |_, shared: Shared| {
                assert!(shared.shared <= shared.size && shared.shared <= keys.len() as u32);
                assert!(shared.size > 0);
            };
            index.search(&keys, None, enough, &mut Searcher::default(), each)?;
        }
        index.find("document 11")?;
    }
    Ok(())
}

/// Does something in a while, or fails.
fn in_time(run: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        run();
        done.send(()).unwrap();
    });
    match is_done.recv_timeout(Duration::from_secs(300)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it runs without end"),
        _ => thread.join().unwrap(),
    }
}

#[test]
fn settings_that_no_flag_could_set_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    build(folder);
    let whole = manifest_of(folder);
    for (field, value) in [
        ("step", json!(0)),
        ("sizes", json!([0, 0])),
        ("sizes", json!([0, 5])),
        ("sizes", json!([5, 4])),
        ("sizes", json!([1, usize::MAX])),
        (
            "sizes",
            json!([Windows::SIZE_MAX + 1, Windows::SIZE_MAX + 1]),
        ),
        ("html", json!("main")),
        ("text_field", json!([])),
        ("text_field", json!(["text", ""])),
        ("store_field", json!([""])),
        ("stopwords", json!([3, 2, 1])),
        ("stopwords", json!([1, 1])),
        ("keep_names", json!(true)),
        ("shingles", json!("items")),
        ("shingles", json!("sounds")),
        ("step", json!(-1)),
        ("step", json!(1.5)),
        ("step", json!(null)),
    ] {
        let mut manifest = whole.clone();
        manifest["settings"][field] = value.clone();
        write_manifest(folder, &manifest);
        let error = Index::open(folder).map(drop).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::DamagedIndex(_)),
            "{field} {value}: {error}"
        );
        assert!(
            IndexWriter::open(folder, &Writer::default()).is_err(),
            "{field} {value}"
        );
    }
    for (field, value) in [
        ("step", json!(usize::MAX)),
        ("sizes", json!([1, Windows::SIZE_MAX])),
    ] {
        let mut manifest = whole.clone();
        manifest["settings"][field] = value;
        write_manifest(folder, &manifest);
        let settings = Index::open(folder).unwrap().settings(&Settings::default());
        assert!(matches!(
            settings.unwrap().shingle,
            ShingleSettings::Tokens {
                tokens: Tokens::Words { .. },
                ..
            }
        ));
    }
}

#[test]
fn numbers_of_a_manifest_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    build(folder);
    let whole = manifest_of(folder);
    let huge = json!(u64::MAX);
    for (pointer, value) in [
        ("/simdup_index", &json!(0)),
        ("/next", &json!(0)),
        ("/next", &json!(2)),
        ("/next", &huge),
        ("/segments/0/number", &huge),
        ("/segments/0/number", &whole["segments"][1]["number"]),
        ("/segments/1/number", &json!(9)),
        ("/segments/0/documents", &huge),
        ("/segments/0/documents", &json!(0)),
        ("/segments/0/documents", &json!(21)),
        ("/segments/0/removed/number", &huge),
        ("/segments/0/removed/documents", &huge),
        ("/segments/0/removed/documents", &json!(2)),
        ("/segments/0/prints/keys/bytes", &json!(0)),
        ("/segments/0/prints/keys/bytes", &huge),
        ("/segments/1", &whole["segments"][0]),
    ] {
        let mut manifest = whole.clone();
        *manifest.pointer_mut(pointer).unwrap() = value.clone();
        write_manifest(folder, &manifest);
        let error = Index::open(folder).map(drop).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::DamagedIndex(_)),
            "{pointer} {value}: {error}"
        );
    }
}

#[test]
fn a_list_of_impossible_documents_is_damage_and_no_endless_search() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("index");
    build(&folder);
    let (lists, pointer) = contents(&folder)
        .into_iter()
        .find(|(content, _)| content.kind == Kind::Lists)
        .unwrap();
    in_time(move || {
        // The last document of each list, which starts with its length.
        let mut bytes = lists.bytes.clone();
        let mut at = 0;
        while at < bytes.len() {
            let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            at += 4 * (length + 1);
            bytes[at - 4..at].copy_from_slice(&[0xff; 4]);
        }
        write(&folder, &lists, &bytes, &pointer);
        let index = Index::open(&folder).unwrap();
        let error = search(&index).unwrap_err();
        assert!(
            error.to_string().contains("there is no such document"),
            "{error}"
        );
        // All documents of each list are the same one.
        let mut bytes = lists.bytes.clone();
        let mut at = 0;
        while at < bytes.len() {
            let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            for place in 1..=length {
                bytes[at + 4 * place..][..4].copy_from_slice(&[3, 0, 0, 0]);
            }
            at += 4 * (length + 1);
        }
        write(&folder, &lists, &bytes, &pointer);
        let index = Index::open(&folder).unwrap();
        let error = search(&index).unwrap_err();
        assert!(error.to_string().contains("not in order"), "{error}");
        assert!(index.check().is_err());
    });
}

#[test]
fn any_number_with_fitting_checksums_is_an_error_or_an_answer() {
    in_time(|| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("index");
        build(&folder);
        let whole = fs::read(folder.join(manifest::NAME)).unwrap();
        let (mut changes, mut found) = (0, 0);
        for (content, pointer) in contents(&folder) {
            let written = fs::read(&content.path).unwrap();
            // Numbers of 4 and of 8 bytes, and single bytes; where they start differs.
            for at in 0..content.bytes.len() {
                let end = content.bytes.len();
                for (value, width) in [(u64::MAX, 8), (1 << 31, 4), (1, 4), (0x40, 1)] {
                    let is_chosen = match width {
                        1 => at % 16 == 0,
                        8 => at % 8 == end % 8,
                        // One value or the other.
                        _ => at % 8 == (end + 4 * value as usize) % 8,
                    };
                    if at + width > end || !is_chosen {
                        continue;
                    }
                    let mut bytes = content.bytes.clone();
                    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                    write(&folder, &content, &bytes, &pointer);
                    changes += 1;
                    let Ok(index) = Index::open(&folder) else {
                        found += 1;
                        continue;
                    };
                    found += u32::from(index.check().is_err());
                    let _ = (ask(&index), search(&index));
                    if changes % 300 == 0 {
                        let merged = folder.with_extension("merged");
                        fs::create_dir_all(&merged).unwrap();
                        for entry in fs::read_dir(&folder).unwrap() {
                            let entry = entry.unwrap();
                            fs::copy(entry.path(), merged.join(entry.file_name())).unwrap();
                        }
                        if let Ok(mut writer) = IndexWriter::open(&merged, &Writer::default()) {
                            let _ = writer.compact();
                        }
                        fs::remove_dir_all(&merged).unwrap();
                    }
                }
            }
            fs::write(&content.path, written).unwrap();
            fs::write(folder.join(manifest::NAME), &whole).unwrap();
        }
        assert!(
            changes > 1500 && found > changes / 10 * 9,
            "{found} of {changes}"
        );
    });
}

#[test]
fn a_check_names_the_count_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    build(folder);
    let count = 20;
    // From the end: counts, documents by common shingles, common shingles, ids, sizes.
    let (common, sizes) = (32 + 8 * count, 32 + 20 * count);
    let add = |bytes: &mut Vec<u8>, from_end: usize, by: u8| {
        let at = bytes.len() - from_end;
        bytes[at] = bytes[at].wrapping_add(by);
    };
    let check = |expected: &str| {
        let error = Index::open(folder).unwrap().check().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    let mut files = contents(folder);
    files.truncate(2);
    let [(documents, documents_at), (keys, keys_at)] = &files[..] else {
        panic!("two files are expected");
    };
    assert_eq!((documents.kind, keys.kind), (Kind::Documents, Kind::Keys));
    for (from_end, by, expected) in [
        (
            sizes,
            1,
            "of the document document 0, there are 15 shingles, not 16 as it says",
        ),
        (
            common,
            255,
            "of the document document 0, there are 6 common shingles, not 5 as it says",
        ),
        (40, 1, "the place among all by common shingles is wrong"),
    ] {
        let mut bytes = documents.bytes.clone();
        add(&mut bytes, from_end, by);
        write(folder, documents, &bytes, documents_at);
        check(expected);
    }
    // How many shingles all documents have stands in two files.
    let mut bytes = documents.bytes.clone();
    add(&mut bytes, 24, 1);
    write(folder, documents, &bytes, documents_at);
    let mut bytes = keys.bytes.clone();
    add(&mut bytes, 16 * 8 + 8, 1);
    write(folder, keys, &bytes, keys_at);
    check("there are 300 shingles of documents, not 301 as it says");
    write(folder, documents, &documents.bytes, documents_at);
    // The longest list.
    let mut bytes = keys.bytes.clone();
    add(&mut bytes, 16 * 8, 1);
    write(folder, keys, &bytes, keys_at);
    check("the most common shingles are not those that it names");
    write(folder, keys, &keys.bytes, keys_at);
    Index::open(folder).unwrap().check().unwrap();
}
