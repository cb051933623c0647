//! The folders that documents are in.

use std::collections::HashMap;
use std::sync::Arc;

use crate::read::Input;
use crate::stats::FolderNotes;

/// How much of the name of each input is the FILE that was named.
#[derive(Debug, Default)]
pub(crate) struct Folders(HashMap<Arc<str>, usize>);

impl Folders {
    pub(crate) fn new(inputs: &[Input]) -> Self {
        let known = |input: &Input| (Arc::clone(input.name()), input.named_part());
        Self(inputs.iter().map(known).collect())
    }

    /// The FILE in which a file was found, if that is a directory or an archive.
    pub(crate) fn file<'n>(&self, name: &'n str) -> Option<&'n str> {
        let named = self.named(name)?;
        (named < name.len()).then(|| &name[..named])
    }

    /// The part of a name that is the FILE. Of a member of an archive, the input is what comes
    /// before one of the marks.
    fn named(&self, name: &str) -> Option<usize> {
        let marks = name.match_indices('!').map(|(mark, _)| mark);
        let mut ends = std::iter::once(name.len()).chain(marks);
        let named = ends.find_map(|end| self.0.get(&name[..end]).copied())?;
        name.is_char_boundary(named).then_some(named)
    }

    /// The folder, the `level`th below the FILE, in which a file is that was found in a directory
    /// or in an archive; an archive is a folder, too.
    pub(crate) fn of<'n>(&self, name: &'n str, level: usize) -> Option<&'n str> {
        let below = name[self.named(name)?..].trim_start_matches(['/', '!']);
        let (folders, _) = below.rsplit_once(['/', '!'])?;
        folders.split(['/', '!']).nth(level.checked_sub(1)?)
    }
}

/// Looks at which FILEs the documents of a folder come from: folders of one name below several
/// FILEs are one party, whether that is meant or not.
#[derive(Debug, Default)]
pub(crate) struct FolderWatch {
    /// The FILEs so far, and the place of each.
    files: Vec<Arc<str>>,
    places: HashMap<Arc<str>, usize>,
    /// The FILE of each party's first document.
    of_party: Vec<usize>,
    notes: FolderNotes,
}

impl FolderWatch {
    /// Takes note of a document of a file, found in a FILE, and of its party: its place and name.
    pub(crate) fn add(&mut self, file: &str, name: &str, party: Option<(usize, &str)>) {
        let file = match self.files.last() {
            Some(last) if **last == *file => self.files.len() - 1,
            _ => match self.places.get(file) {
                Some(&place) => place,
                None => {
                    let file: Arc<str> = file.into();
                    self.places.insert(Arc::clone(&file), self.files.len());
                    self.files.push(file);
                    self.files.len() - 1
                }
            },
        };
        match party {
            None => {
                self.notes.outside.get_or_insert_with(|| name.to_owned());
            }
            Some((place, _)) if place >= self.of_party.len() => self.of_party.push(file),
            Some((place, folder)) => {
                let first = self.of_party[place];
                if first != file && self.notes.shared.is_none() {
                    let files = [first, file].map(|file| trimmed(&self.files[file]).to_owned());
                    self.notes.shared = Some((folder.to_owned(), files));
                }
            }
        }
    }

    /// What is to be said, if documents came from several FILEs.
    pub(crate) fn notes(&self) -> Option<FolderNotes> {
        let [one, .., other] = &self.files[..] else {
            return None;
        };
        let above = |file| match trimmed(file).rsplit_once('/') {
            Some((above, _)) if !above.is_empty() => above.to_owned(),
            _ => ".".to_owned(),
        };
        Some(FolderNotes {
            above: Some(above(one)).filter(|folder| *folder == above(other)),
            ..self.notes.clone()
        })
    }
}

fn trimmed(file: &str) -> &str {
    match file.trim_end_matches('/') {
        "" => file,
        trimmed => trimmed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_knows_the_folders_below_the_one_that_was_named() {
        let names = [
            "in/top",
            "in/ada/1",
            "in/ada/old/2",
            "in/bob.zip",
            "all.tar",
            "x!y",
        ];
        let mut known: HashMap<Arc<str>, usize> =
            names.iter().map(|&name| (Arc::from(name), 2)).collect();
        known.insert("all.tar".into(), 7);
        known.insert("x!y".into(), 3);
        let folders = Folders(known);
        for (name, first, second) in [
            ("in/top", None, None),
            ("in/ada/1", Some("ada"), None),
            ("in/ada/old/2", Some("ada"), Some("old")),
            ("in/bob.zip!src/1", Some("bob.zip"), Some("src")),
            ("all.tar!eve/1", Some("eve"), None),
            ("all.tar!eve.zip!src/1", Some("eve.zip"), Some("src")),
            ("all.tar!1", None, None),
            ("x!y", None, None),
            ("other/ada/1", None, None),
        ] {
            assert_eq!(folders.of(name, 1), first, "{name}");
            assert_eq!(folders.of(name, 2), second, "{name}");
            assert_eq!(folders.of(name, 0), None, "{name}");
        }
    }
}
