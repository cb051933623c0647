//! The shape of the library: which folder may use which, which files may name a dependency, and that
//! no text of the library spells a flag of the command line.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files of `src/` that each of them may use. A new edge is a decision: it must not
/// close a cycle, and ARCHITECTURE.md says what each folder must not know.
const MAY_USE: [(&str, &str); 24] = [
    (
        "cluster",
        "collection document error observer read run score search settings stats",
    ),
    (
        "collection",
        "document error read score sets settings shingle sketch",
    ),
    (
        "dedup",
        "cluster collection document error index observer pairs read run score search sets settings shingle stats write",
    ),
    ("error", "document"),
    (
        "eval",
        "cluster collection document error id_text observer pairs random read run score search sets settings shingle sketch stats",
    ),
    (
        "explain",
        "collection document error id_text observer pairs read run score settings shingle stats",
    ),
    (
        "index",
        "collection document error memory observer read run score sets settings shingle spill stats write",
    ),
    ("observer", "error"),
    (
        "pairs",
        "collection document error observer run score search settings shingle stats",
    ),
    (
        "rank",
        "document error memory observer read run score settings shingle spill stats",
    ),
    ("read", "document error guard id_text simd"),
    (
        "report",
        "cluster collection document error explain memory observer pairs read run score search settings shingle stats write",
    ),
    (
        "run",
        "collection document error memory observer random read score search sets settings shingle sketch spill stats",
    ),
    ("score", "error shingle sketch"),
    (
        "search",
        "collection document error memory observer score sets settings sketch spill",
    ),
    ("sets", "document error memory observer score shingle spill"),
    ("settings", "error memory read score sets shingle sketch"),
    ("shingle", "document simd"),
    ("sketch", "document shingle"),
    ("sketches", "error observer run settings sketch stats"),
    ("spill", "error memory"),
    ("stats", "document error score search settings"),
    (
        "worker",
        "cluster collection document error guard observer pairs read run score search settings shingle simd sketch stats write",
    ),
    (
        "write",
        "collection document error eval explain id_text memory observer pairs rank read run score settings shingle sketches spill",
    ),
];

/// Files that list what is public: they name everything, and nothing depends on them.
const FACE: [&str; 2] = ["lib.rs", "settings/public.rs"];

/// The files that may name a dependency, or the folder whose files may. What is not here may be named
/// anywhere.
const NAMED_IN: [(&str, &str); 29] = [
    ("arrow_array", "worker/arrow.rs"),
    ("arrow_ipc", "worker/arrow.rs"),
    ("arrow_schema", "worker/arrow.rs"),
    ("chardetng", "read/text/encoding.rs"),
    ("clap", "cli/"),
    ("clap_complete", "cli/"),
    ("clap_mangen", "cli/"),
    ("ctor", "cli/standard_output.rs"),
    ("ctrlc", "cli/interrupt.rs"),
    ("dom_smoothie", "read/format/html/article.rs"),
    ("encoding_rs", "read/text/encoding.rs"),
    ("globset", "read/input/walk.rs"),
    ("hashbrown", "collection/ids.rs"),
    ("html5gum", "read/format/html/visible.rs"),
    ("indicatif", "cli/"),
    ("lz4_flex", "read/open/compression/lz4.rs"),
    ("memmap2", "index/map.rs"),
    ("prost", "read/format/protobuf.rs"),
    ("rawzip", "read/open/archive/zip.rs"),
    ("regex", "settings/party.rs"),
    ("shlex", "read/input/command.rs"),
    ("signal_hook", "cli/interrupt.rs"),
    ("simdutf8", "read/text/utf8.rs"),
    ("snap", "read/format/parquet/pages.rs"),
    ("stop_words", "shingle/stopwords.rs"),
    ("strsim", "cli/"),
    ("terminal_size", "cli/"),
    ("toml", "cli/"),
    ("url", "read/format/html/links.rs"),
];

/// Texts of the library that spell a flag today, by file. The numbers may only fall: the command line
/// turns kinds of errors into sentences.
const SPELL_FLAGS: [(&str, usize); 14] = [
    ("error.rs", 4),
    ("eval/documents.rs", 1),
    ("index/lock.rs", 1),
    ("index/matching.rs", 1),
    ("index/remembered.rs", 26),
    ("read/format/foreign.rs", 3),
    ("run/reading/collector.rs", 1),
    ("run/reading/mod.rs", 2),
    ("worker/mod.rs", 4),
    ("worker/plan.rs", 1),
    ("worker/probe.rs", 3),
    ("worker/refine.rs", 1),
    ("worker/wire.rs", 1),
    ("worker/write.rs", 1),
];

/// A source file: its path below `src/`, and its code without comments and unit tests.
struct Source {
    path: String,
    code: String,
}

impl Source {
    fn is_library(&self) -> bool {
        !self.path.starts_with("cli/") && self.path != "main.rs"
    }

    /// The folder or file directly in `src/` that it is in.
    fn folder(&self) -> &str {
        let name = self.path.split('/').next().unwrap();
        name.trim_end_matches(".rs")
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut waiting: Vec<PathBuf> = vec![root.clone()];
    let mut sources = vec![];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let below = path.strip_prefix(&root).unwrap();
                sources.push(Source {
                    path: below.to_str().unwrap().replace('\\', "/"),
                    code: code_of(&fs::read_to_string(&path).unwrap()),
                });
            }
        }
    }
    assert!(sources.len() > 200);
    sources.sort_by(|one, two| one.path.cmp(&two.path));
    sources
}

/// Leaves out lines that are comments, and the unit tests at the end.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names after each `prefix` that is no part of a longer path.
fn names_after<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(prefix).filter_map(move |(start, _)| {
        let is_path = code[..start].ends_with(|c: char| is_of_a_name(c) || c == ':' || c == '$');
        let rest = &code[start + prefix.len()..];
        let end = rest.find(|c: char| !is_of_a_name(c)).unwrap_or(rest.len());
        (!is_path && end > 0).then(|| &rest[..end])
    })
}

/// Which folder uses which, with a file that does.
fn edges(sources: &[Source]) -> BTreeMap<(String, String), String> {
    let mut edges = BTreeMap::new();
    let inner = sources.iter().filter(|source| source.is_library());
    for source in inner.filter(|source| !FACE.contains(&source.path.as_str())) {
        let braces = source.code.contains("crate::{");
        assert!(!braces, "{}: write a `use` for each folder", source.path);
        for name in names_after(&source.code, "crate::") {
            if name != source.folder() {
                let edge = (source.folder().to_owned(), name.to_owned());
                edges.entry(edge).or_insert_with(|| source.path.clone());
            }
        }
    }
    edges
}

fn allowed() -> BTreeSet<(String, String)> {
    let pairs = MAY_USE.iter().flat_map(|(folder, others)| {
        let others = others.split_whitespace();
        others.map(|other| ((*folder).to_owned(), other.to_owned()))
    });
    pairs.collect()
}

#[test]
fn folders_use_what_the_table_allows() {
    let (edges, allowed) = (edges(&sources()), allowed());
    for (edge, path) in &edges {
        let (one, two) = edge;
        assert!(allowed.contains(edge), "{path}: {one} may not use {two}");
    }
    for edge in &allowed {
        let (one, two) = edge;
        assert!(
            edges.contains_key(edge),
            "{one} no longer uses {two}: take it out of the table"
        );
    }
}

#[test]
fn no_folder_depends_on_one_that_depends_on_it() {
    let mut left = allowed();
    loop {
        let users: BTreeSet<String> = left.iter().map(|(user, _)| user.clone()).collect();
        let before = left.len();
        // What uses nothing that is left is in no cycle.
        left.retain(|(_, used)| users.contains(used));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "a cycle is among these: {left:?}");
}

#[test]
fn a_dependency_is_named_where_the_table_says() {
    let sources = sources();
    for (name, place) in NAMED_IN {
        let mut is_named = false;
        for source in &sources {
            let prefix = format!("{name}::");
            let names = source.code.match_indices(&prefix).any(|(start, _)| {
                let before = &source.code[..start];
                !before.ends_with(|c: char| is_of_a_name(c) || c == ':')
            });
            is_named |= names;
            assert!(
                !names || source.path.starts_with(place),
                "{} names {name}, which is for {place}",
                source.path
            );
        }
        assert!(is_named, "no file names {name}: take it out of the table");
    }
}

/// The texts in quotation marks.
fn texts(code: &str) -> Vec<&str> {
    let mut found = vec![];
    let mut start = None;
    let mut chars = code.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, start) {
            // Also over an escaped quotation mark.
            ('\\', _) => {
                chars.next();
            }
            ('"', None) if !code[..at].ends_with('\'') => start = Some(at + 1),
            ('"', Some(first)) => {
                found.push(&code[first..at]);
                start = None;
            }
            _ => {}
        }
    }
    found
}

#[test]
fn the_library_spells_no_flag() {
    let spells = |text: &&str| {
        text.match_indices("--").any(|(start, _)| {
            let is_apart = !text[..start].ends_with(|c: char| is_of_a_name(c) || c == '-');
            let next = text[start + 2..].chars().next();
            is_apart && next.is_some_and(|c| c.is_ascii_lowercase())
        })
    };
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources().iter().filter(|source| source.is_library()) {
        let count = texts(&source.code)
            .iter()
            .filter(|text| spells(text))
            .count();
        if count > 0 {
            found.insert(source.path.clone(), count);
        }
    }
    let known: BTreeMap<String, usize> = SPELL_FLAGS
        .iter()
        .map(|&(path, count)| (path.to_owned(), count))
        .collect();
    assert_eq!(found, known, "left: what there is; right: the table");
}
