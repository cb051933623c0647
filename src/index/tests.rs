//! An index against a plain list of sets.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::document::DocumentId;
use crate::score::{Measure, SetBound, Threshold};
use crate::settings::Settings;
use crate::shingle::Shingle;

type Set = BTreeSet<u64>;
type Plain = Vec<(String, Set)>;

fn writer(folder: &Path) -> IndexWriter {
    match Index::is_at(folder) {
        true => IndexWriter::open(folder, &Writer::default()).unwrap(),
        false => {
            let settings = Remembered::of(&Settings::default());
            IndexWriter::create(folder, settings, &Writer::default()).unwrap()
        }
    }
}

fn add(folder: &Path, documents: &[(String, Set)], run_bytes: u64) -> IndexWriter {
    let mut writer = writer(folder);
    writer.limit(run_bytes);
    for (id, set) in documents {
        let mut block = KeyBlock::default();
        let shingles: Vec<Shingle> = set.iter().copied().map(Shingle).collect();
        block.push(&shingles, "");
        writer.push(&block, &[Some(DocumentId(0))], |_| id).unwrap();
    }
    writer.commit().unwrap();
    writer
}

fn keys(set: &Set) -> Vec<Key> {
    let shingles: Vec<Shingle> = set.iter().copied().map(Shingle).collect();
    let mut keys = vec![];
    keys_of(&shingles, &mut keys);
    keys
}

fn found(index: &Index, set: &Set, enough: Enough) -> Vec<(String, u32)> {
    let mut all = vec![];
    index
        .search(
            &keys(set),
            None,
            enough,
            &mut Searcher::default(),
            |spot, shared| {
                assert_eq!(index.size(spot).unwrap(), shared.size);
                all.push((index.id(spot).unwrap().to_owned(), shared.shared));
            },
        )
        .unwrap();
    all
}

fn expected(plain: &Plain, set: &Set, is_enough: impl Fn(u32, u32) -> bool) -> Vec<(String, u32)> {
    let shared = |(id, other): &(String, Set)| {
        let shared = set.intersection(other).count() as u32;
        (shared > 0 && is_enough(shared, other.len() as u32)).then(|| (id.clone(), shared))
    };
    plain.iter().filter_map(shared).collect()
}

fn compare(index: &Index, plain: &Plain, threshold: Threshold) {
    index.check().unwrap();
    let ids: Vec<&str> = index
        .documents()
        .map(|spot| index.id(spot).unwrap())
        .collect();
    assert_eq!(ids, plain.iter().map(|(id, _)| &id[..]).collect::<Vec<_>>());
    for (id, set) in plain {
        let spot = index.find(id).unwrap().unwrap();
        let mut own = vec![];
        index.keys(spot, &mut own).unwrap();
        assert_eq!(own, keys(set));
        let size = set.len() as u32;
        for measure in [Measure::Jaccard, Measure::Containment] {
            let enough = Enough::Similar(SetBound::new(measure, threshold));
            let is_enough = |shared, other| threshold.admits(measure.score(shared, [size, other]));
            assert_eq!(found(index, set, enough), expected(plain, set, is_enough));
            let bound = SetBound::new(measure, threshold).with_min_shared(4);
            let is_enough = |shared, other| shared >= 4 && is_enough(shared, other);
            let found = found(index, set, Enough::Similar(bound));
            assert_eq!(found, expected(plain, set, is_enough));
        }
        let enough = Enough::Overlap {
            share: threshold,
            chance: None,
        };
        let is_enough = |shared, _| shared as usize >= threshold.needed(set.len());
        let all = expected(plain, set, is_enough);
        assert_eq!(found(index, set, enough), all);
        let by_chance = Enough::Overlap {
            share: threshold,
            chance: Some(0.6),
        };
        let some = found(index, set, by_chance);
        assert!(some.iter().all(|one| all.contains(one)));
    }
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != "lock")
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Sets with much in common: families, with what all have besides.
fn sets() -> impl Strategy<Value = Vec<Set>> {
    let set = (
        0_u64..4,
        proptest::collection::btree_set(0_u64..40, 0..30),
        0_u64..12,
    );
    let set = set.prop_map(|(family, own, common)| {
        let own = own.into_iter().map(move |n| n * 1_000_003 + family % 2);
        own.chain((0..common).map(|n| n + 7_000_000_000)).collect()
    });
    proptest::collection::vec(set, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_is_a_list_of_sets(
        sets in sets(),
        parts in 1_usize..6,
        run_bytes in prop_oneof![Just(0_u64), Just(3000), Just(u64::MAX)],
        removed in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        hundredths in 10_u32..=100,
        merges in any::<bool>(),
    ) {
        let threshold: Threshold = format!("{}.{:02}", hundredths / 100, hundredths % 100).parse().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = &folder.path().join("index");
        let mut plain: Plain = vec![];
        let documents: Plain = sets.into_iter().enumerate().map(|(n, set)| (format!("id {n}"), set)).collect();
        drop(add(folder, &[], 0));
        for part in documents.chunks(documents.len().div_ceil(parts).max(1)) {
            plain.extend_from_slice(part);
            let mut writer = add(folder, part, run_bytes);
            if merges {
                writer.merge_tiers().unwrap();
            }
        }
        compare(&Index::open(folder).unwrap(), &plain, threshold);
        let mut writer = writer(folder);
        for index in removed {
            if !plain.is_empty() {
                let (id, _) = plain.remove(index.index(plain.len()));
                let spot = writer.index().find(&id).unwrap().unwrap();
                writer.remove(spot);
            }
        }
        writer.commit().unwrap();
        compare(writer.index(), &plain, threshold);
        if merges {
            writer.merge_tiers().unwrap();
            compare(writer.index(), &plain, threshold);
        }
        writer.compact().unwrap();
        compare(writer.index(), &plain, threshold);
        // The same bytes as if nothing had ever been removed or merged, but for the numbers.
        let whole = folder.with_extension("whole");
        drop(add(&whole, &plain, u64::MAX));
        let contents = |folder| -> Vec<Vec<u8>> {
            let files = files(folder);
            files.into_iter().filter(|(name, _)| !name.starts_with("manifest")).map(|(_, bytes)| bytes).collect()
        };
        prop_assert!(contents(folder) == contents(&whole));
    }

    #[test]
    fn the_memory_leaves_no_trace(sets in sets(), run_bytes in 0_u64..5000) {
        let folder = tempfile::tempdir().unwrap();
        let documents: Plain = sets.into_iter().enumerate().map(|(n, set)| (format!("{n}"), set)).collect();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        drop(add(&one, &documents, run_bytes));
        drop(add(&two, &documents, u64::MAX));
        prop_assert!(files(&one) == files(&two));
    }
}

#[test]
fn a_flipped_bit_or_a_cut_anywhere_is_found_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    let document = |n: u64| {
        let set = (0..40).map(|k| (n / 3) * 1000 + k * (1 + n % 3)).collect();
        (format!("document {n}"), set)
    };
    let documents: Plain = (0..60).map(document).collect();
    let mut writer = add(folder, &documents, u64::MAX);
    let spot = writer.index().find("document 7").unwrap().unwrap();
    writer.remove(spot);
    writer.commit().unwrap();
    drop(writer);
    let bound = SetBound::new(Measure::Jaccard, "0.5".parse().unwrap());
    let answers = |index: &Index| -> Result<Vec<(Spot, Shared)>, Error> {
        let mut all = vec![];
        let mut searcher = Searcher::default();
        for (_, set) in &documents {
            index.search(
                &keys(set),
                None,
                Enough::Similar(bound),
                &mut searcher,
                |spot, shared| {
                    all.push((spot, shared));
                },
            )?;
        }
        Ok(all)
    };
    let right = answers(&Index::open(folder).unwrap()).unwrap();
    for (name, content) in files(folder) {
        let path = folder.join(&name);
        let step = (content.len() / 150).max(1);
        for byte in (0..content.len()).step_by(step) {
            let mut damaged = content.clone();
            damaged[byte] ^= 1 << (byte % 8);
            std::fs::write(&path, &damaged).unwrap();
            let index = Index::open(folder);
            let checked = index
                .as_ref()
                .map_err(|_| ())
                .and_then(|index| index.check().map_err(|_| ()));
            assert!(checked.is_err(), "{name} {byte}");
            if let Ok(answers) = index.and_then(|index| answers(&index)) {
                assert_eq!(answers, right, "{name} {byte}");
            }
        }
        for end in (0..content.len()).step_by(step * 7) {
            std::fs::write(&path, &content[..end]).unwrap();
            assert!(Index::open(folder).is_err(), "{name} {end}");
        }
        std::fs::write(&path, &content).unwrap();
    }
    Index::open(folder).unwrap().check().unwrap();
}

#[test]
fn leftovers_go_and_other_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().join("index");
    let documents: Plain = (0..9).map(|n| (format!("{n}"), (0..n).collect())).collect();
    drop(add(folder, &documents, u64::MAX));
    for name in [
        "00000009.keys",
        "00000001-00000003.removed",
        "manifest.json.new",
        "notes.txt",
    ] {
        std::fs::write(folder.join(name), "x").unwrap();
    }
    drop(writer(folder));
    let names: Vec<String> = files(folder).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "00000001.documents",
        "00000001.keys",
        "00000001.lists",
        "manifest.json",
        "notes.txt",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_later_version_another_folder_and_a_second_writer_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(
        Index::open(at("none"))
            .unwrap_err()
            .to_string()
            .contains("there is no index")
    );
    std::fs::create_dir(at("other")).unwrap();
    std::fs::write(at("other").join("file"), "x").unwrap();
    let settings = || Remembered::of(&Settings::default());
    let refused = IndexWriter::create(&at("other"), settings(), &Writer::default());
    assert!(refused.unwrap_err().to_string().contains("something else"));
    let held = add(&at("index"), &[], 0);
    let impatient = Writer {
        name: "two".into(),
        wait: Default::default(),
    };
    let refused = IndexWriter::open(&at("index"), &impatient).unwrap_err();
    assert!(
        refused.to_string().contains(&Writer::default().name),
        "{refused}"
    );
    drop(held);
    let refused = IndexWriter::create(&at("index"), settings(), &Writer::default());
    assert!(refused.unwrap_err().to_string().contains("already"));
    let manifest = at("index").join(manifest::NAME);
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(
        &manifest,
        text.replace("\"simdup_index\":1", "\"simdup_index\":2"),
    )
    .unwrap();
    assert!(
        Index::open(at("index"))
            .unwrap_err()
            .to_string()
            .contains("later simdup")
    );
}
