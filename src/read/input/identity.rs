//! Which file it is, whatever path leads to it.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::Path;

use crate::read::input::Input;

/// The identity of a file or folder: its device and inode.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

/// The identity of a file or folder: its path without links.
#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity(std::path::PathBuf);

impl FileIdentity {
    /// Returns the identity of what is at a path; `None` if the file system does not tell.
    #[cfg(unix)]
    pub(in crate::read) fn of(_: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let (device, inode) = (metadata.dev(), metadata.ino());
        (inode != 0).then_some(Self { device, inode })
    }

    /// Returns the identity of what is at a path; `None` if the file system does not tell.
    #[cfg(not(unix))]
    pub(in crate::read) fn of(path: &Path, _: &Metadata) -> Option<Self> {
        std::fs::canonicalize(path).ok().map(Self)
    }
}

/// Leaves out inputs that are a file before them under the same or another path. The first one
/// stands for all, and counts the others.
///
/// Takes 16 bytes and a share of a hash table for each file while it runs.
pub fn distinct(inputs: Vec<Input>) -> Vec<Input> {
    let mut firsts: HashMap<FileIdentity, usize> = HashMap::new();
    let mut distinct: Vec<Input> = Vec::with_capacity(inputs.len());
    for input in inputs {
        if let Some(identity) = input.identity() {
            if let Some(&first) = firsts.get(&identity) {
                distinct[first].merge_repeated(&input);
                continue;
            }
            firsts.insert(identity, distinct.len());
        }
        distinct.push(input);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Walk;
    use std::fs;

    fn names(inputs: &[Input]) -> Vec<&str> {
        inputs.iter().map(|input| &**input.name()).collect()
    }

    #[test]
    fn a_file_with_several_paths_is_one_input() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/a"), "a text").unwrap();
        fs::write(at("b"), "a text").unwrap();
        #[cfg(unix)]
        fs::hard_link(at("b"), at("c")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("b"), at("d")).unwrap();
        let walk = Walk {
            follow: true,
            ..Walk::default()
        };
        let paths = [
            at("sub/.."),
            at("sub"),
            at("b"),
            at("nowhere"),
            at("nowhere"),
        ];
        let all: Vec<Input> = paths.iter().flat_map(|path| walk.inputs(path)).collect();
        let distinct = distinct(all);
        let expected = ["sub/../b", "sub/../sub/a", "nowhere", "nowhere"];
        let expected = expected.map(|name| at(name).to_str().unwrap().to_owned());
        assert_eq!(names(&distinct), expected);
        let repeats: Vec<u64> = distinct.iter().map(Input::repeats).collect();
        assert_eq!(
            repeats,
            if cfg!(unix) {
                [3, 1, 0, 0]
            } else {
                [1, 1, 0, 0]
            }
        );
    }

    #[test]
    fn what_is_named_is_read_even_if_a_directory_would_pass_over_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.zip"), "no archive").unwrap();
        let mut walk = Walk::default();
        walk.globs.add("*.java").unwrap();
        let found = walk.inputs(folder.path());
        assert!(found[0].is_if_archive());
        let named = walk.inputs(&folder.path().join("a.zip"));
        let both = distinct(found.into_iter().chain(named).collect());
        assert_eq!(both.len(), 1);
        assert!(!both[0].is_if_archive());
    }
}
