//! The ids of all documents, each once, in input order.

use hashbrown::HashTable;

use crate::document::DocumentId;

/// What came of adding an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It was new, and this is its ordinal.
    New(DocumentId),
    /// It was there already.
    Repeated(DocumentId),
    /// There are more ids than ordinals.
    Full,
}

/// An arena of ids: their bytes back to back, found by ordinal or by content.
///
/// A document costs 8 bytes here, its share of the table (9 to 20), and the
/// length of its id.
#[derive(Debug, Default)]
pub struct Urls {
    bytes: String,
    /// Where each id ends in `bytes`.
    ends: Vec<usize>,
    table: HashTable<Entry>,
    hasher: UrlHasher,
}

/// An id in the table: its ordinal, and part of its hash, so that the id itself, which
/// is far away, is looked at only if it is most likely the same.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u32,
    hash: UrlHash,
}

/// The hash of an id, for the table only: it is another one in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UrlHash(u32);

impl UrlHash {
    /// Spread over all bits, as the table wants it.
    fn spread(self) -> u64 {
        u64::from(self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Hashes ids. Any thread may do it before they are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct UrlHasher(ahash::RandomState);

impl UrlHasher {
    /// The hash of an id.
    pub(crate) fn hash(&self, url: &str) -> UrlHash {
        UrlHash(self.0.hash_one(url) as u32)
    }
}

impl Urls {
    /// What hashes ids for [`Urls::add_hashed`].
    pub(crate) fn hasher(&self) -> &UrlHasher {
        &self.hasher
    }

    /// Adds an id if it is new.
    pub(crate) fn add(&mut self, url: &str) -> Added {
        self.add_hashed(url, self.hasher.hash(url))
    }

    /// Adds an id with its hash if it is new.
    pub(crate) fn add_hashed(&mut self, url: &str, hash: UrlHash) -> Added {
        let Self {
            bytes, ends, table, ..
        } = self;
        let is_same = |known: &Entry| known.hash == hash && at(bytes, ends, known.id) == url;
        if let Some(known) = table.find(hash.spread(), is_same) {
            return Added::Repeated(DocumentId(known.id));
        }
        // One less than there are numbers, so that a count of all is a number too.
        let Some(id) = u32::try_from(ends.len()).ok().filter(|&id| id < u32::MAX) else {
            return Added::Full;
        };
        bytes.push_str(url);
        ends.push(bytes.len());
        table.insert_unique(hash.spread(), Entry { id, hash }, |known| {
            known.hash.spread()
        });
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

    /// Bytes of all ids.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
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
