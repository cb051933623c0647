//! The ids of all documents, each once, in input order.

use hashbrown::HashTable;

use crate::document::DocumentId;

/// What came of adding an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It was new, and this is its ordinal.
    New(DocumentId),
    /// It was there already.
    Repeated(DocumentId),
    /// There are more ids than ordinals.
    Full,
}

/// An arena of ids: their bytes back to back, found by ordinal or by content.
///
/// A document costs 8 bytes here, its share of the table (5 to 12), and the
/// length of its id.
#[derive(Debug, Default)]
pub struct Urls {
    bytes: String,
    /// Where each id ends in `bytes`.
    ends: Vec<usize>,
    /// Ordinals, by hash of the id.
    table: HashTable<u32>,
    hasher: ahash::RandomState,
}

impl Urls {
    /// Adds an id if it is new.
    pub fn add(&mut self, url: &str) -> Added {
        let Self {
            bytes,
            ends,
            table,
            hasher,
        } = self;
        let hash = hasher.hash_one(url);
        if let Some(&known) = table.find(hash, |&known| at(bytes, ends, known) == url) {
            return Added::Repeated(DocumentId(known));
        }
        // One less than there are numbers, so that a count of all is a number too.
        let Some(id) = u32::try_from(ends.len()).ok().filter(|&id| id < u32::MAX) else {
            return Added::Full;
        };
        bytes.push_str(url);
        ends.push(bytes.len());
        table.insert_unique(hash, id, |&known| hasher.hash_one(at(bytes, ends, known)));
        Added::New(DocumentId(id))
    }

    /// The id of a document.
    pub fn get(&self, document: DocumentId) -> &str {
        at(&self.bytes, &self.ends, document.0)
    }

    /// The id, if there is only one.
    pub fn only(&self) -> Option<&str> {
        (self.len() == 1).then(|| self.get(DocumentId(0)))
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no document.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets the content of the ids so far: none of them is met again, and room
    /// is given back. They can still be found by ordinal.
    pub(crate) fn forget(&mut self) {
        self.table = HashTable::new();
    }
}

fn at<'a>(bytes: &'a str, ends: &[usize], id: u32) -> &'a str {
    let index = id as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &bytes[start..ends[index]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbered_in_order_and_repeats_are_seen() {
        let mut urls = Urls::default();
        for n in 0..1000 {
            assert_eq!(urls.add(&format!("id{n}")), Added::New(DocumentId(n)));
        }
        assert_eq!(urls.add("id7"), Added::Repeated(DocumentId(7)));
        assert_eq!(urls.get(DocumentId(0)), "id0");
        assert_eq!(urls.get(DocumentId(999)), "id999");
        assert_eq!(urls.len(), 1000);
    }
}
