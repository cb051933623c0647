//! Lists back to back.

use rayon::prelude::*;

/// Lists of different lengths, back to back.
#[derive(Debug)]
pub(crate) struct Jagged<T> {
    all: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Jagged<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            ends: Vec::new(),
        }
    }
}

/// Lists that a thread makes at a time.
const LISTS_AT_ONCE: usize = 1 << 10;

impl<T: Copy + Send + Sync> Jagged<T> {
    /// So many lists, each made by `make`, which appends it.
    pub(crate) fn made<S: Send>(
        count: usize,
        scratch: impl Fn() -> S + Sync + Send,
        make: impl Fn(&mut S, usize, &mut Vec<T>) + Sync + Send,
    ) -> Self {
        let made: Vec<Self> = (0..count.div_ceil(LISTS_AT_ONCE))
            .into_par_iter()
            .map_init(scratch, |scratch, some| {
                let mut lists = Self::default();
                let first = some * LISTS_AT_ONCE;
                for index in first..count.min(first + LISTS_AT_ONCE) {
                    lists.push(|all| make(scratch, index, all));
                }
                lists
            })
            .collect();
        Self::joined(made)
    }

    /// Lists that were made apart, in order.
    pub(crate) fn joined(made: Vec<Self>) -> Self {
        let mut lists = Self {
            all: super::pages::room(made.iter().map(|some| some.all.len()).sum()),
            ends: Vec::with_capacity(made.iter().map(|some| some.ends.len()).sum()),
        };
        for some in made {
            let base = lists.all.len();
            lists.all.extend_from_slice(&some.all);
            lists.ends.extend(some.ends.iter().map(|end| base + end));
        }
        lists
    }

    /// Adds a list, which `make` appends.
    pub(crate) fn push(&mut self, make: impl FnOnce(&mut Vec<T>)) {
        make(&mut self.all);
        self.ends.push(self.all.len());
    }

    /// One of them.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[T] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.all[start..self.ends[index]]
    }

    /// All elements of all lists.
    pub(crate) fn all(&self) -> &[T] {
        &self.all
    }
}
