//! Which groups are similar, from both sides: in memory for as long as they fit, then in a
//! temporary file.

use std::mem;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::FewShared;
use crate::collection::Group;
use crate::error::Error;
use crate::memory::Memory;
use crate::spill::{Segment, SortedRuns, Spill, Stored};

/// Two groups that are similar enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) one: Group,
    pub(crate) two: Group,
    /// Positions, or shingles, that they share.
    pub(crate) shared: u32,
}

/// A group that another one is similar to, and what they share.
pub(crate) type Link = (u32, u32);
/// A link with where it comes from.
type Filed = ((u32, u32), u32);

/// What is similar to each group.
#[derive(Debug)]
pub(crate) struct Links {
    /// Where each group's links start, and the end.
    starts: Vec<u64>,
    links: Stored<Link>,
    spill: Option<Spill>,
}

impl Links {
    /// The links of a group, in order, read into `buffer` if they are in the file.
    pub(crate) fn of<'a>(
        &'a self,
        group: Group,
        buffer: &'a mut Vec<Link>,
    ) -> Result<&'a [Link], Error> {
        let range = self.starts[group.index()] as usize..self.starts[group.index() + 1] as usize;
        self.links.part(self.spill.as_ref(), range, buffer)
    }

    /// Whether two groups are linked. `buffer` is as for [`of`](Self::of).
    pub(crate) fn contains(
        &self,
        one: Group,
        two: Group,
        buffer: &mut Vec<Link>,
    ) -> Result<bool, Error> {
        let own = self.of(one, buffer)?;
        Ok(own.binary_search_by_key(&two.0, |&(to, _)| to).is_ok())
    }

    /// How many links a group has.
    pub(crate) fn count(&self, group: Group) -> usize {
        (self.starts[group.index() + 1] - self.starts[group.index()]) as usize
    }
}

/// Collects matches, in any order and from any thread.
pub(crate) struct LinkWriter<'a> {
    groups: usize,
    memory: Memory,
    few_shared: Option<&'a FewShared<'a>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    matches: Vec<Match>,
    /// Links in order, as many at a time as there was room for.
    runs: SortedRuns,
}

/// The part of the memory that matches may take, and bytes that one takes until its links
/// are in order.
const MEMORY_SHARE: u64 = 4;
const MATCH_BYTES: u64 = 36;

impl<'a> LinkWriter<'a> {
    /// For matches between so many groups.
    pub(crate) fn new(groups: usize, memory: &Memory) -> Self {
        Self {
            groups,
            memory: memory.clone(),
            few_shared: None,
            state: Mutex::default(),
        }
    }

    /// The same without matches that share too few shingles.
    pub(crate) fn without(self, few_shared: &'a FewShared<'a>) -> Self {
        Self {
            few_shared: Some(few_shared),
            ..self
        }
    }

    /// Takes matches, each pair once, and leaves nothing of them.
    pub(crate) fn push(&self, matches: &mut Vec<Match>) -> Result<(), Error> {
        if let Some(few_shared) = self.few_shared {
            matches.retain(|found| few_shared.keeps(found.one, found.two, found.shared));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.matches.append(matches);
        if state.matches.len() as u64 * MATCH_BYTES > self.memory.bytes / MEMORY_SHARE {
            self.spill(&mut state)?;
        }
        Ok(())
    }

    fn spill(&self, state: &mut State) -> Result<(), Error> {
        let mut links: Vec<Filed> = Vec::with_capacity(state.matches.len() * 2);
        for found in state.matches.drain(..) {
            links.push(((found.one.0, found.two.0), found.shared));
            links.push(((found.two.0, found.one.0), found.shared));
        }
        state.runs.push(&mut links, &self.memory)
    }

    /// Ends the collecting.
    pub(crate) fn finish(self) -> Result<Links, Error> {
        let mut state = mem::take(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner));
        if state.runs.is_empty() {
            return Ok(self.in_memory(&state.matches));
        }
        self.spill(&mut state)?;
        state.matches = Vec::new();
        self.merged(&state)
    }

    fn in_memory(&self, matches: &[Match]) -> Links {
        let mut starts = vec![0_u64; self.groups + 1];
        for found in matches {
            starts[found.one.index() + 1] += 1;
            starts[found.two.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut links: Vec<Link> = vec![(0, 0); matches.len() * 2];
        for found in matches {
            for (from, to) in [(found.one, found.two), (found.two, found.one)] {
                let place = &mut next[from.index()];
                links[*place as usize] = (to.0, found.shared);
                *place += 1;
            }
        }
        // Each group's links in order: all are looked at in pieces that end where a group's do.
        let mut own = Vec::with_capacity(self.groups);
        let mut rest = &mut links[..];
        for ends in starts.windows(2) {
            let (links, behind) = rest.split_at_mut((ends[1] - ends[0]) as usize);
            rest = behind;
            if links.len() > 1 {
                own.push(links);
            }
        }
        own.into_par_iter()
            .with_min_len(1024)
            .for_each(<[Link]>::sort_unstable);
        Links {
            starts,
            links: Stored::InMemory(links),
            spill: None,
        }
    }

    /// Merges the runs into one, in another file.
    fn merged(&self, state: &State) -> Result<Links, Error> {
        const LINKS_AT_ONCE: usize = 1 << 13;
        let merged = Spill::create(&self.memory.temp_dir)?;
        let mut starts = vec![0_u64; self.groups + 1];
        let mut links: Vec<Link> = Vec::with_capacity(LINKS_AT_ONCE);
        let mut written = 0;
        state.runs.for_each(|((from, to), shared): Filed| {
            starts[from as usize + 1] += 1;
            links.push((to, shared));
            if links.len() == LINKS_AT_ONCE {
                written += merged.append(&links)?.len();
                links.clear();
            }
            Ok(())
        })?;
        written += merged.append(&links)?.len();
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        Ok(Links {
            starts,
            links: Stored::OnDisk(Segment::from_start(written)),
            spill: Some(merged),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use crate::error::ErrorKind;

    #[test]
    fn a_link_that_cannot_be_read_is_an_error_and_not_a_missing_pair() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory {
            bytes: 100,
            temp_dir: folder.path().to_owned(),
        };
        let writer = LinkWriter::new(2, &memory);
        let (one, two) = (Group(0), Group(1));
        writer
            .push(&mut vec![Match {
                one,
                two,
                shared: 7,
            }])
            .unwrap();
        let links = writer.finish().unwrap();
        let mut buffer = vec![];
        assert!(links.contains(one, two, &mut buffer).unwrap());
        links.spill.as_ref().unwrap().truncate();
        let error = links.contains(one, two, &mut buffer).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Spill(_)), "{error}");
    }

    proptest! {
        #[test]
        fn links_lead_both_ways_in_order_from_memory_and_from_a_file(
            pairs in proptest::collection::btree_map((0_u32..30, 30_u32..60), any::<u32>(), 0..300),
            bytes in prop_oneof![Just(u64::MAX), Just(4000_u64), Just(100)],
            at_once in 1_usize..50,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let memory = Memory { bytes, temp_dir: folder.path().to_owned() };
            let writer = LinkWriter::new(60, &memory);
            let mut expected: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
            let mut matches = vec![];
            for (&(one, two), &shared) in pairs.iter().rev() {
                matches.push(Match { one: Group(one), two: Group(two), shared });
                expected.entry(one).or_default().insert(two, shared);
                expected.entry(two).or_default().insert(one, shared);
                if matches.len() == at_once {
                    writer.push(&mut matches).unwrap();
                }
            }
            writer.push(&mut matches).unwrap();
            let links = writer.finish().unwrap();
            let mut buffer = vec![];
            for group in 0..60 {
                let own: Vec<Link> = expected.get(&group).into_iter().flatten().map(|(&to, &shared)| (to, shared)).collect();
                prop_assert_eq!(links.count(Group(group)), own.len());
                for other in 0..60 {
                    let is_linked = own.iter().any(|&(to, _)| to == other);
                    let contains = links.contains(Group(group), Group(other), &mut buffer);
                    prop_assert_eq!(contains.unwrap(), is_linked);
                }
                prop_assert_eq!(links.of(Group(group), &mut buffer).unwrap(), own);
            }
        }
    }
}
