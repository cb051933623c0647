//! The folders that documents are in.

use std::collections::HashMap;
use std::sync::Arc;

use crate::read::Input;

/// How much of the name of each input is the FILE that was named.
#[derive(Debug, Default)]
pub(super) struct Folders(HashMap<Arc<str>, usize>);

impl Folders {
    pub(super) fn new(inputs: &[Input]) -> Self {
        let known = |input: &Input| (Arc::clone(input.name()), input.named_part());
        Self(inputs.iter().map(known).collect())
    }

    /// The folder, the `level`th below the FILE, in which a file is that was found in a directory
    /// or in an archive; an archive is a folder, too.
    pub(super) fn of<'n>(&self, name: &'n str, level: usize) -> Option<&'n str> {
        // The member of an archive: the input is what comes before one of the marks.
        let marks = name.match_indices('!').map(|(mark, _)| mark);
        let named = std::iter::once(name.len())
            .chain(marks)
            .find_map(|end| self.0.get(&name[..end]).copied())?;
        let below = name.get(named..)?.trim_start_matches(['/', '!']);
        let (folders, _) = below.rsplit_once(['/', '!'])?;
        folders.split(['/', '!']).nth(level.checked_sub(1)?)
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
