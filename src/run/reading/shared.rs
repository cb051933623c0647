//! Files that are read for both sides of a comparison.

use std::collections::HashMap;
use std::sync::Arc;

use crate::collection::{FilePlace, TwinFinder};
use crate::document::DocumentId;
use crate::read::{FileIdentity, Input};
use crate::run::Inputs;

/// Files that are read for both sides, and the documents in them that are found so far.
#[derive(Debug)]
pub(super) struct SharedFiles {
    numbers: HashMap<FileIdentity, u32>,
    /// The files of the side that is read by their names, with the numbers of those that are shared.
    names: HashMap<Arc<str>, Option<u32>>,
    /// How many documents of each file were read for this side.
    counts: Vec<u64>,
    is_right: bool,
    pub(super) finder: TwinFinder,
}

impl SharedFiles {
    /// Returns the files that are among the documents and among what they are compared with; `None`
    /// if there are none.
    pub(super) fn of(inputs: &Inputs) -> Option<Self> {
        let numbers: HashMap<FileIdentity, u32> =
            inputs.shared_files().into_iter().zip(0..).collect();
        let mut shared = Self {
            names: HashMap::new(),
            counts: vec![0; numbers.len()],
            numbers,
            is_right: false,
            finder: TwinFinder::default(),
        };
        shared.name(&inputs.documents);
        (!shared.numbers.is_empty()).then_some(shared)
    }

    /// Goes on with the other side.
    pub(super) fn start_right(&mut self, inputs: &[Input]) {
        self.finder.end_left();
        self.counts.fill(0);
        self.is_right = true;
        self.name(inputs);
    }

    fn name(&mut self, inputs: &[Input]) {
        let number = |input: &Input| self.numbers.get(&input.identity()?).copied();
        let named = |input: &Input| (Arc::clone(input.name()), number(input));
        self.names = inputs.iter().map(named).collect();
    }

    /// Returns the shared file that has this name. The name of a member of an archive begins with
    /// that of its file and a `!`; files may have a `!` in their names, so the longest name decides.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let marks = name.rmatch_indices('!').map(|(mark, _)| mark);
        let mut ends = std::iter::once(name.len()).chain(marks);
        ends.find_map(|end| self.names.get(&name[..end]).copied())?
    }

    /// Takes the next document of a file, unless its id was met before.
    pub(super) fn add(&mut self, file: u32, document: Option<DocumentId>) {
        let count = &mut self.counts[file as usize];
        let place = FilePlace {
            file,
            ordinal: *count,
        };
        *count += 1;
        match document {
            Some(document) if self.is_right => self.finder.add_right(place, document),
            Some(document) => self.finder.add_left(place, document),
            None => {}
        }
    }

    /// Returns the memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        const NAME_BYTES: usize = size_of::<(Arc<str>, Option<u32>)>() + 1;
        const FILE_BYTES: usize = size_of::<(FileIdentity, u32)>() + size_of::<u64>() + 1;
        let files = self.names.capacity() * NAME_BYTES + self.numbers.capacity() * FILE_BYTES;
        files as u64 + self.finder.bytes()
    }
}
