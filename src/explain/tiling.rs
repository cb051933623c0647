//! Greedy string tiling: of two sequences, the longest run that both have, then the longest of
//! what is left, and so on.
//!
//! Runs of K tokens are looked up in an index of all such runs on the other side, and extended as
//! far as they go; a heap gives the longest first, and what loses tokens to a longer one goes back
//! with what it has left. That is linear in how often runs of K tokens meet, and a tile takes
//! from a shorter run at an end, never in the middle, so that no run goes back more than a few
//! times. In text that repeats itself runs meet too often: then K is doubled until they do not,
//! and once the long tiles have taken their tokens, shorter ones are looked for. Where even that
//! is too much, tiles are found length by length ([`Tiling::by_length`]), each length in linear
//! time; as tiles of n different lengths have n²/2 tokens, there are few of these: at the worst
//! the time is n^1.5 log n for n tokens, which a text must be made for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

/// A run of tokens that both sides have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    /// Where it starts on the first side.
    pub(super) left: usize,
    /// Where it starts on the second side.
    pub(super) right: usize,
    pub(super) length: usize,
}

/// One of the two sequences.
#[derive(Clone, Debug)]
pub(super) struct Side {
    tokens: Vec<u64>,
    /// Whether a tile may begin and end with a token; empty if with all of them.
    edges: Vec<(bool, bool)>,
    /// Tokens that are in no tile any more.
    taken: Vec<bool>,
}

impl Side {
    pub(super) fn new(tokens: Vec<u64>, edges: impl Iterator<Item = (bool, bool)>) -> Self {
        let mut edges: Vec<(bool, bool)> = edges.collect();
        if edges.iter().all(|&edge| edge == (true, true)) {
            edges.clear();
        }
        let taken = vec![false; tokens.len()];
        Self {
            tokens,
            edges,
            taken,
        }
    }

    pub(super) fn tokens(&self) -> &[u64] {
        &self.tokens
    }

    /// These tokens are in no further tile.
    pub(super) fn take(&mut self, part: Range<usize>) {
        self.taken[part].fill(true);
    }

    fn is_free(&self, part: Range<usize>) -> bool {
        !self.taken[part].contains(&true)
    }

    fn may_begin(&self, at: usize) -> bool {
        self.edges.get(at).is_none_or(|edge| edge.0)
    }

    fn may_end(&self, at: usize) -> bool {
        self.edges.get(at).is_none_or(|edge| edge.1)
    }

    /// Calls `each` with the start and the hash of every run of so many free tokens.
    fn for_each_run(&self, length: usize, mut each: impl FnMut(usize, u64)) {
        let power = (1..length).fold(1, |power, _| multiply(power, BASE));
        let (mut hash, mut free) = (0, 0);
        for (at, &token) in self.tokens.iter().enumerate() {
            if self.taken[at] {
                (hash, free) = (0, 0);
                continue;
            }
            if free == length {
                let old = multiply(reduced(self.tokens[at - length]), power);
                hash = reduced(hash + MODULUS - old);
            } else {
                free += 1;
            }
            hash = reduced(multiply(hash, BASE) + reduced(token));
            if free == length {
                each(at + 1 - length, hash);
            }
        }
    }
}

/// Runs are hashed by a polynomial in a prime field: unlike one that wraps, it has no texts in
/// which all runs collide. What is found is compared besides.
const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0bf5_8476_d1ce_4e5b;

/// As 2^61 is 1 in this field, a remainder is a sum of parts.
fn multiply(one: u64, two: u64) -> u64 {
    let product = u128::from(one) * u128::from(two);
    reduced((product as u64 & MODULUS) + (product >> 61) as u64)
}

fn reduced(number: u64) -> u64 {
    let number = (number & MODULUS) + (number >> 61);
    if number >= MODULUS {
        number - MODULUS
    } else {
        number
    }
}

/// How often runs may meet for each token there is, and for the whole in any case.
const MEETINGS_PER_TOKEN: usize = 16;
const MEETINGS_MIN: usize = 1 << 12;

/// The tiles of at least so many tokens, the longest first; of equal ones the earlier on the
/// first side, then on the second.
pub(super) fn tiles(left: &Side, right: &Side, least: usize) -> Vec<Tile> {
    let allowed = MEETINGS_MIN + MEETINGS_PER_TOKEN * (left.tokens.len() + right.tokens.len());
    tiles_within(left, right, least, allowed)
}

fn tiles_within(left: &Side, right: &Side, least: usize, allowed: usize) -> Vec<Tile> {
    let mut tiling = Tiling {
        left: left.clone(),
        right: right.clone(),
        tiles: Vec::new(),
    };
    let longest = left.tokens.len().min(right.tokens.len());
    let mut length = least;
    while length <= longest {
        match tiling.runs(length, allowed) {
            Some(runs) => {
                tiling.by_extending(&runs, length);
                break;
            }
            None => length *= 2,
        }
    }
    while length > least {
        let most = longest.min(length - 1);
        length /= 2;
        match tiling.runs(length, allowed) {
            Some(runs) => tiling.by_extending(&runs, length),
            None => tiling.by_length(length..=most),
        }
    }
    tiling.tiles
}

/// Runs of one length on a side, by their hashes, each with the next that has the same.
struct Runs {
    known: HashMap<u64, Alike, ahash::RandomState>,
    /// By start; `NONE` at the end.
    next: Vec<u32>,
}

/// Runs with the same hash.
#[derive(Clone, Copy)]
struct Alike {
    first: u32,
    last: u32,
    count: u32,
}

const NONE: u32 = u32::MAX;

impl Runs {
    fn new(side: &Side, length: usize) -> Self {
        let mut known: HashMap<u64, Alike, ahash::RandomState> = HashMap::default();
        let mut next = vec![NONE; side.tokens.len()];
        side.for_each_run(length, |start, hash| {
            let start = start as u32;
            known
                .entry(hash)
                .and_modify(|alike| {
                    next[alike.last as usize] = start;
                    alike.last = start;
                    alike.count += 1;
                })
                .or_insert(Alike {
                    first: start,
                    last: start,
                    count: 1,
                });
        });
        Self { known, next }
    }

    fn of(&self, hash: u64) -> impl Iterator<Item = usize> {
        let first = self.known.get(&hash).map(|alike| alike.first);
        std::iter::successors(first, |&start| {
            Some(self.next[start as usize]).filter(|&next| next != NONE)
        })
        .map(|start| start as usize)
    }
}

struct Tiling {
    left: Side,
    right: Side,
    tiles: Vec<Tile>,
}

/// By length, then by where it starts.
type Ranked = (usize, Reverse<usize>, Reverse<usize>);

impl Tiling {
    /// The runs of that length on the second side, unless those of both sides meet more often than
    /// allowed.
    fn runs(&self, length: usize, allowed: usize) -> Option<Runs> {
        let runs = Runs::new(&self.right, length);
        let mut meetings = 0_usize;
        self.left.for_each_run(length, |_, hash| {
            let count = runs.known.get(&hash).map_or(0, |alike| alike.count);
            meetings = meetings.saturating_add(count as usize);
        });
        (meetings <= allowed).then_some(runs)
    }

    fn is_same(&self, left: usize, right: usize) -> bool {
        self.left.tokens[left] == self.right.tokens[right]
            && !self.left.taken[left]
            && !self.right.taken[right]
    }

    fn accept(&mut self, tile: Tile) {
        self.left.take(tile.left..tile.left + tile.length);
        self.right.take(tile.right..tile.right + tile.length);
        self.tiles.push(tile);
    }

    /// All tiles of at least so many tokens.
    fn by_extending(&mut self, runs: &Runs, least: usize) {
        let mut heap: BinaryHeap<Ranked> = BinaryHeap::new();
        self.left.for_each_run(least, |left, hash| {
            for right in runs.of(hash) {
                if left > 0 && right > 0 && self.is_same(left - 1, right - 1) {
                    continue;
                }
                let places = (left..self.left.tokens.len()).zip(right..self.right.tokens.len());
                let length = places
                    .take_while(|&(left, right)| self.is_same(left, right))
                    .count();
                let whole = Tile {
                    left,
                    right,
                    length,
                };
                self.push_trimmed(whole, least, &mut heap);
            }
        });
        while let Some((length, Reverse(left), Reverse(right))) = heap.pop() {
            let tile = Tile {
                left,
                right,
                length,
            };
            if self.left.is_free(left..left + length) && self.right.is_free(right..right + length) {
                self.accept(tile);
            } else {
                self.push_rest(tile, least, &mut heap);
            }
        }
    }

    /// Puts back what is left of a run.
    fn push_rest(&self, run: Tile, least: usize, heap: &mut BinaryHeap<Ranked>) {
        let mut start = 0;
        for at in 0..=run.length {
            if at == run.length || !self.is_same(run.left + at, run.right + at) {
                let rest = Tile {
                    left: run.left + start,
                    right: run.right + start,
                    length: at - start,
                };
                self.push_trimmed(rest, least, heap);
                start = at + 1;
            }
        }
    }

    /// Puts a run on the heap, without what a tile may not begin or end with.
    fn push_trimmed(&self, run: Tile, least: usize, heap: &mut BinaryHeap<Ranked>) {
        let mut part = 0..run.length;
        let may_begin =
            |at| self.left.may_begin(run.left + at) && self.right.may_begin(run.right + at);
        let may_end = |at| self.left.may_end(run.left + at) && self.right.may_end(run.right + at);
        while !part.is_empty() && !may_begin(part.start) {
            part.start += 1;
        }
        while !part.is_empty() && !may_end(part.end - 1) {
            part.end -= 1;
        }
        if part.len() >= least {
            let (left, right) = (run.left + part.start, run.right + part.start);
            heap.push((part.len(), Reverse(left), Reverse(right)));
        }
    }

    /// All tiles of these lengths. Tokens that a tile may not begin or end with are in none of
    /// them.
    fn by_length(&mut self, lengths: std::ops::RangeInclusive<usize>) {
        for side in [&mut self.left, &mut self.right] {
            for at in 0..side.edges.len() {
                side.taken[at] |= side.edges[at] != (true, true);
            }
        }
        let (least, mut most) = lengths.into_inner();
        while most >= least {
            // The greatest length that there is.
            let (mut low, mut high) = (least, most);
            if !self.has_length(least) {
                return;
            }
            while low < high {
                let middle = (low + high).div_ceil(2);
                match self.has_length(middle) {
                    true => low = middle,
                    false => high = middle - 1,
                }
            }
            self.of_length(low);
            most = low - 1;
        }
    }

    fn has_length(&self, length: usize) -> bool {
        let mut hashes = std::collections::HashSet::<u64, ahash::RandomState>::default();
        self.right.for_each_run(length, |_, hash| {
            hashes.insert(hash);
        });
        let mut found = false;
        self.left
            .for_each_run(length, |_, hash| found |= hashes.contains(&hash));
        found
    }

    /// All tiles of one length, while there are no longer ones: each run on the first side takes
    /// the first that is free on the second. One that is not free will never be, so that each is
    /// passed over once.
    fn of_length(&mut self, length: usize) {
        let mut runs = Runs::new(&self.right, length);
        let mut all = Vec::new();
        self.left
            .for_each_run(length, |start, hash| all.push((start, hash)));
        let mut behind = 0;
        for (left, hash) in all {
            if left < behind {
                continue;
            }
            while let Some(alike) = runs.known.get_mut(&hash) {
                let right = alike.first as usize;
                let is_free = self.right.is_free(right..right + length);
                let [one, two] = [(&self.left, left), (&self.right, right)]
                    .map(|(side, start)| &side.tokens[start..start + length]);
                if is_free && one == two {
                    self.accept(Tile {
                        left,
                        right,
                        length,
                    });
                    behind = left + length;
                    break;
                }
                match runs.next[right] {
                    NONE => {
                        runs.known.remove(&hash);
                    }
                    next => alike.first = next,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: of all runs that both sides have and that are free, the longest, and
    /// again.
    fn twin(left: &Side, right: &Side, least: usize) -> Vec<Tile> {
        let (mut left, mut right) = (left.clone(), right.clone());
        let mut tiles = vec![];
        loop {
            let mut best: Option<Tile> = None;
            for i in 0..left.tokens.len() {
                for j in 0..right.tokens.len() {
                    if !(left.may_begin(i) && right.may_begin(j)) {
                        continue;
                    }
                    let mut length = 0;
                    while i + length < left.tokens.len()
                        && j + length < right.tokens.len()
                        && left.tokens[i + length] == right.tokens[j + length]
                        && !left.taken[i + length]
                        && !right.taken[j + length]
                    {
                        length += 1;
                        let at = length - 1;
                        let is_longer = length > best.map_or(0, |best| best.length);
                        if left.may_end(i + at) && right.may_end(j + at) && is_longer {
                            best = Some(Tile {
                                left: i,
                                right: j,
                                length,
                            });
                        }
                    }
                }
            }
            let Some(best) = best.filter(|best| best.length >= least) else {
                return tiles;
            };
            left.take(best.left..best.left + best.length);
            right.take(best.right..best.right + best.length);
            tiles.push(best);
        }
    }

    fn side(tokens: &[u64]) -> Side {
        Side::new(tokens.to_vec(), std::iter::empty())
    }

    fn of_text(text: &str) -> Side {
        side(&text.bytes().map(u64::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_longest_comes_first_and_a_moved_one_is_one() {
        let (left, right) = (of_text("abcdefghXijklm"), of_text("ijklmYabcdefgh"));
        let found = tiles(&left, &right, 3);
        let spans: Vec<_> = found
            .iter()
            .map(|tile| (tile.left, tile.right, tile.length))
            .collect();
        assert_eq!(spans, [(0, 6, 8), (9, 0, 5)]);
    }

    #[test]
    fn text_that_repeats_itself_takes_no_square() {
        for (one, two) in [
            (vec![1; 200_000], vec![1; 150_000]),
            ([1, 2].repeat(100_000), [1, 2, 1].repeat(70_000)),
            (
                [vec![1; 7], vec![2]].concat().repeat(20_000),
                [vec![1; 9], vec![3]].concat().repeat(20_000),
            ),
        ] {
            let tokens = |tokens: &[u64]| tiles(&side(tokens), &side(&two), 3).len();
            assert!(tokens(&one) > 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn tiles_are_those_of_the_definition(
            left in proptest::collection::vec(0_u64..4, 0..50),
            right in proptest::collection::vec(0_u64..4, 0..50),
            least in 1_usize..5,
            allowed in prop_oneof![Just(0_usize), Just(30), Just(1000)],
        ) {
            let (left, right) = (side(&left), side(&right));
            prop_assert_eq!(tiles_within(&left, &right, least, allowed), twin(&left, &right, least));
        }

        #[test]
        fn moved_and_edited_texts_too(
            parts in proptest::collection::vec(proptest::collection::vec(0_u64..30, 1..12), 1..8),
            order in proptest::collection::vec(0_usize..8, 0..10),
            edits in proptest::collection::vec((0_usize..80, 0_u64..30), 0..6),
            least in 1_usize..6,
            allowed in prop_oneof![Just(0_usize), Just(30), Just(1000)],
        ) {
            let left = parts.concat();
            let mut right: Vec<u64> = order.iter().flat_map(|&at| parts[at % parts.len()].clone()).collect();
            for (at, token) in edits {
                if let Some(old) = right.get_mut(at) {
                    *old = token;
                }
            }
            let (left, right) = (side(&left), side(&right));
            prop_assert_eq!(tiles_within(&left, &right, least, allowed), twin(&left, &right, least));
        }

        #[test]
        fn tiles_begin_and_end_where_they_may(
            left in proptest::collection::vec((0_u64..3, any::<bool>(), any::<bool>()), 0..40),
            right in proptest::collection::vec((0_u64..3, any::<bool>(), any::<bool>()), 0..40),
            least in 1_usize..4,
        ) {
            let side = |tokens: &[(u64, bool, bool)]| Side::new(
                tokens.iter().map(|token| token.0).collect(),
                tokens.iter().map(|token| (token.1, token.2)),
            );
            let (left, right) = (side(&left), side(&right));
            prop_assert_eq!(tiles(&left, &right, least), twin(&left, &right, least));
        }
    }
}
