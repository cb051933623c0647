//! Documents as lists of the bundles of their chunks.

use std::collections::{HashMap, HashSet};

use super::chunk_bundles::ChunkBundles;
use super::lists::ShingleLists;
use super::shards;
use crate::document::DocumentId;
use crate::error::Error;
use crate::memory::Memory;
use crate::sets::Role;
use crate::spill::{Spill, Store, Stored};

/// A shingle in more documents than this is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    /// However many.
    Keep,
    /// This many.
    Documents(u32),
}

/// The bundles of documents, in order of documents. A document may have a bundle several times.
pub(super) struct DocumentBundles {
    pub(super) stretches: Vec<Stretch>,
    spill: Option<Spill>,
}

/// Some consecutive documents.
pub(super) struct Stretch {
    pub(super) documents: Vec<DocumentId>,
    /// Shingles of each that are in no bundle.
    pub(super) alone: Vec<u32>,
    /// Sum and number of shingles of each bundle.
    bundles: Stored<(u64, u32)>,
    ends: Vec<u32>,
}

/// The part of the memory that they may take before they go to a file.
const BUNDLES_SHARE: u64 = 8;

impl DocumentBundles {
    /// Of those documents that have a role. Each stands for so many `copies`.
    pub(super) fn new(
        lists: &ShingleLists,
        chunks: &ChunkBundles,
        roles: &[Role],
        copies: impl Fn(DocumentId) -> u32 + Sync,
        common: Common,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let store = Store::new(memory, BUNDLES_SHARE);
        let common = match common {
            Common::Keep => None,
            Common::Documents(most) => {
                Some((common_sums(lists, chunks, roles, &copies, most)?, most))
            }
        };
        let has_role = |document: usize| roles[document] != Role::NONE;
        let made = lists.fold(
            |slice| slice.documents().any(has_role),
            Vec::new,
            |made: &mut Vec<Stretch>, lists| {
                let mut stretch = Stretch {
                    documents: Vec::new(),
                    alone: Vec::new(),
                    bundles: Stored::default(),
                    ends: Vec::new(),
                };
                let mut bundles = Vec::new();
                for (document, own) in lists.documents() {
                    if roles[document.index()] == Role::NONE {
                        continue;
                    }
                    let start = bundles.len();
                    let mut alone = chunks.of(own, &mut bundles)?;
                    if let Some((sums, most)) = &common {
                        retain_from(&mut bundles, start, |(sum, _)| !sums.contains(sum));
                        alone *= u32::from(copies(document) <= *most);
                    }
                    stretch.documents.push(document);
                    stretch.alone.push(alone);
                    stretch.ends.push(bundles.len() as u32);
                }
                stretch.documents.shrink_to_fit();
                stretch.alone.shrink_to_fit();
                stretch.ends.shrink_to_fit();
                stretch.bundles = store.keep(bundles)?;
                made.push(stretch);
                Ok(())
            },
        )?;
        let mut stretches: Vec<Stretch> = made.into_iter().flatten().collect();
        stretches.sort_unstable_by_key(|stretch| stretch.documents.first().copied());
        Ok(Self {
            stretches,
            spill: store.finish(),
        })
    }
}

impl shards::Lists for DocumentBundles {
    type Item = (u64, u32);

    fn key((sum, _): (u64, u32)) -> u64 {
        // The highest bits of a sum are no sum.
        sum.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// A document counts as one more: its set takes memory too.
    fn counts(&self) -> impl Iterator<Item = u64> {
        self.stretches
            .iter()
            .map(|stretch| (stretch.bundles.len() + stretch.documents.len()) as u64)
    }

    fn for_each(
        &self,
        part: usize,
        buffer: &mut Vec<(u64, u32)>,
        mut each: impl FnMut(u32, &[(u64, u32)]),
    ) -> Result<(), Error> {
        let stretch = &self.stretches[part];
        let all = 0..stretch.bundles.len();
        let bundles = stretch.bundles.part(self.spill.as_ref(), all, buffer)?;
        let mut start = 0;
        for (document, &end) in stretch.documents.iter().zip(&stretch.ends) {
            let end = end as usize;
            each(document.0, &bundles[start..end]);
            start = end;
        }
        Ok(())
    }
}

fn retain_from<T: Copy>(list: &mut Vec<T>, start: usize, is_kept: impl Fn(&T) -> bool) {
    let mut kept = start;
    for index in start..list.len() {
        list[kept] = list[index];
        kept += usize::from(is_kept(&list[index]));
    }
    list.truncate(kept);
}

/// The bundles whose shingles more than `most` documents have.
fn common_sums(
    lists: &ShingleLists,
    chunks: &ChunkBundles,
    roles: &[Role],
    copies: &(impl Fn(DocumentId) -> u32 + Sync),
    most: u32,
) -> Result<HashSet<u64, ahash::RandomState>, Error> {
    let mut documents: HashMap<u64, u32, ahash::RandomState> = HashMap::default();
    let (mut buffer, mut own) = (Vec::new(), Vec::new());
    for &slice in lists.slices() {
        for (document, list) in lists.lists(slice, &mut buffer)?.documents() {
            if roles[document.index()] != Role::NONE {
                own.clear();
                chunks.of(list, &mut own)?;
                own.sort_unstable();
                own.dedup();
                for &(sum, _) in &own {
                    let count = documents.entry(sum).or_default();
                    *count = count.saturating_add(copies(document));
                }
            }
        }
    }
    let is_common = |&(_, count): &(u64, u32)| count > most;
    let common = documents.into_iter().filter(is_common);
    Ok(common.map(|(sum, _)| sum).collect())
}
