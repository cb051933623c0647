//! Who belongs together: whatever is connected by links. Those who belong together go to one
//! place, where they are compared; several such are put into one place for as long as it is not
//! full.
//!
//! Where very many are connected, they are filed once more, under what is rare ([`narrow`]), and
//! are connected only by that. If there are still too many, and pairs are asked for, they are
//! cut into blocks, and each two of these have a place: all go to several places, but none is too
//! large.
//!
//! [`narrow`]: super::narrow

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::link::{hand_on, unpack_pairs};
use super::narrow::{pack_ordinals, unpack_ordinals};
use super::pack::{Unpack, put};
use super::rows::{Kind, for_each_row};
use super::sketch::{ENTRIES_MAX, pack_common, unpack_common};
use super::tokens::Common;
use super::{Order, Task, Verb, stage_error};
use crate::collection::Components;
use crate::error::Error;

/// Documents in a place at the least, and at the most unless more belong together.
const PLACE_MIN: usize = 256;
const PLACE_MAX: usize = 20_000;
/// Places to a part, so that parts come out even.
const PLACES_PER_PART: usize = 4;
/// Lists that may be connected before they are too many. Filing again costs a second reading, and
/// comparing fewer costs less than that.
const TOGETHER_MAX: usize = 1 << 17;
/// Blocks into which they are cut at the most.
const BLOCKS_MAX: usize = 1 << 9;

/// Documents that are linked, in trees.
pub(super) struct Forest {
    /// In order.
    nodes: Vec<Order>,
    components: Components,
}

impl Forest {
    /// Of links between no more than 2³² documents, as [`Forest::check`] makes sure.
    pub(super) fn new(links: Vec<(Order, Order)>) -> Self {
        let mut nodes: Vec<Order> = links.iter().flat_map(|&(one, two)| [one, two]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let components = Components::new(nodes.len());
        for (one, two) in links {
            let place = |order| nodes.binary_search(&order).unwrap_or(0) as u32;
            components.join(place(one), place(two));
        }
        Self { nodes, components }
    }

    /// Refuses more documents than can be told apart.
    fn check(&self) -> Result<(), Error> {
        match u32::try_from(self.nodes.len()) {
            Ok(_) => Ok(()),
            Err(_) => Err(stage_error("more than 2³² documents are linked")),
        }
    }

    /// The first that belongs together with each, in order.
    fn firsts(&self) -> impl Iterator<Item = (Order, Order)> {
        let first = |place| self.nodes[self.components.find(place) as usize];
        (0..)
            .zip(&self.nodes)
            .map(move |(place, &node)| (first(place), node))
    }

    /// As few links as connect the same: each with the first of all.
    pub(super) fn links(&self) -> Vec<(Order, Order)> {
        self.firsts()
            .filter(|(first, node)| first != node)
            .collect()
    }
}

/// All that is known of who is connected.
#[derive(Default)]
struct Known {
    links: Vec<(Order, Order)>,
    /// The first with a list, and another with the same.
    copies: Vec<(Order, Order)>,
    /// The first with an id, and another with the same.
    repeated: Vec<(Order, Order)>,
    /// Those that were filed again, and their links.
    filed_again: HashSet<Order>,
    narrowed: Vec<(Order, Order)>,
    common: Common,
}

impl Known {
    fn take(rows: RowReader<impl Read>) -> Result<Self, Error> {
        let mut known = Self::default();
        for_each_row(rows, |row| match row.kind {
            Kind::Links => unpack_pairs(&row.data, &mut known.links),
            Kind::Copies => unpack_pairs(&row.data, &mut known.copies),
            Kind::Repeated => unpack_pairs(&row.data, &mut known.repeated),
            Kind::Narrowed => unpack_pairs(&row.data, &mut known.narrowed),
            Kind::Narrow => {
                let mut ordinals = Vec::new();
                unpack_ordinals(&row.data, &mut ordinals)?;
                let order = |ordinal| Order::new(row.part as u32, ordinal);
                known.filed_again.extend(ordinals.into_iter().map(order));
                Ok(())
            }
            Kind::Common => unpack_common(&row.data, &mut known.common),
            _ => Ok(()),
        })?;
        // A row may come twice where an engine repeats what failed.
        for pairs in [&mut known.copies, &mut known.repeated] {
            pairs.sort_unstable_by_key(|&(first, other)| (other, first));
            pairs.dedup_by_key(|&mut (_, other)| other);
        }
        Ok(known)
    }
}

pub(super) fn run<R: Read, W: Write>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let mut known = Known::take(rows)?;
    if task.parts == 0 {
        // More such processes follow.
        hand_on(&Forest::new(known.links).links(), Kind::Links, &mut output)?;
        hand_on(
            &Forest::new(known.narrowed).links(),
            Kind::Narrowed,
            &mut output,
        )?;
        hand_on(&known.copies, Kind::Copies, &mut output)?;
        hand_on(&known.repeated, Kind::Repeated, &mut output)?;
        let mut again: Vec<Order> = known.filed_again.into_iter().collect();
        again.sort_unstable();
        hand_on_orders(&again, &mut output)?;
        let common = known.common.most(usize::MAX);
        output.push(0, Kind::Common, &pack_common(&common))?;
        return output.finish();
    }
    let mut forest = Forest::new([&known.links[..], &known.copies].concat());
    forest.check()?;
    let limits = Limits::new(task, forest.nodes.len());
    let copies: HashSet<Order> = known.copies.iter().map(|&(_, copy)| copy).collect();
    let is_first = |order: &Order| !copies.contains(order);
    let large = large(&forest, |together| match task.is_narrowed {
        // Whatever was too many then.
        true => together
            .iter()
            .any(|(_, order)| known.filed_again.contains(order)),
        false => {
            let lists = together.iter().filter(|(_, order)| is_first(order));
            together.len() > limits.together_max && lists.count() > limits.together_max
        }
    });
    let counts = serde_json::json!({
        "repeated_ids": if task.is_narrowed { 0 } else { known.repeated.len() },
        "to_narrow": if task.is_narrowed { 0 } else { large.len() },
    });
    output.push(0, Kind::Counts, counts.to_string().as_bytes())?;
    if !large.is_empty() && !task.is_narrowed {
        let firsts: Vec<Order> = large.into_iter().filter(is_first).collect();
        hand_on_orders(&firsts, &mut output)?;
        let common = known.common.most(usize::MAX);
        output.push(0, Kind::Common, &pack_common(&common))?;
        return output.finish();
    }
    if !large.is_empty() {
        // Of those that were filed again, only what they were filed under then counts.
        let is_large = |order: &Order| large.binary_search(order).is_ok();
        known.links.retain(|(one, _)| !is_large(one));
        known.links.append(&mut known.narrowed);
        forest = Forest::new([&known.links[..], &known.copies].concat());
    }
    let wanted = wanted(task, &limits, &forest, &known);
    let has_text = |wanted: &&Wanted| wanted.places.is_some() && wanted.text_of == wanted.order;
    let counts = serde_json::json!({ "linked": wanted.iter().filter(has_text).count() });
    output.push(0, Kind::Counts, counts.to_string().as_bytes())?;
    for of_task in wanted.chunk_by(|one, two| one.order.task() == two.order.task()) {
        for some in of_task.chunks(ENTRIES_MAX) {
            output.push(of_task[0].order.task(), Kind::Wanted, &pack(some))?;
        }
    }
    output.finish()
}

/// Hands on who is to be filed again, by task.
fn hand_on_orders<W: Write>(orders: &[Order], output: &mut RowWriter<W>) -> Result<(), Error> {
    for of_task in orders.chunk_by(|one, two| one.task() == two.task()) {
        for some in of_task.chunks(ENTRIES_MAX) {
            let bytes = pack_ordinals(some.iter().map(|order| order.ordinal()));
            output.push(of_task[0].task(), Kind::Narrow, &bytes)?;
        }
    }
    Ok(())
}

/// How many may be in one place.
struct Limits {
    place_max: usize,
    together_max: usize,
}

impl Limits {
    fn new(task: &Task, linked: usize) -> Self {
        let parts = task.parts.max(1) as usize;
        Self {
            place_max: (linked / (PLACES_PER_PART * parts)).clamp(PLACE_MIN, PLACE_MAX),
            together_max: task.together.unwrap_or(TOGETHER_MAX).max(1),
        }
    }
}

/// All of those who are connected and too many, in order.
fn large(forest: &Forest, is_large: impl Fn(&[(Order, Order)]) -> bool) -> Vec<Order> {
    let mut firsts: Vec<(Order, Order)> = forest.firsts().collect();
    firsts.sort_unstable();
    let mut large: Vec<Order> = firsts
        .chunk_by(|one, two| one.0 == two.0)
        .filter(|together| is_large(together))
        .flatten()
        .map(|&(_, order)| order)
        .collect();
    large.sort_unstable();
    large
}

/// A document that is wanted, or at least not to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) order: Order,
    /// Where it is compared, if it is, or its text is needed.
    pub(super) places: Option<Places>,
    /// Who has the same text; itself, if it is the one that brings it.
    pub(super) text_of: Order,
    /// The document before it that has its id: it does not count.
    pub(super) repeats: Option<Order>,
    /// A document behind it has its id.
    pub(super) is_repeated: bool,
}

/// Where a document is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The only one, or the first of several.
    pub(super) first: u32,
    /// Its block, of how many, if it is in one.
    pub(super) block: u32,
    pub(super) blocks: u32,
}

/// A place, and what a document is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtPlace {
    pub(super) place: u32,
    /// Those of one side are compared with those of the other, not among themselves.
    pub(super) has_sides: bool,
    /// It is of the other side.
    pub(super) is_other: bool,
}

impl Places {
    fn count(blocks: u32) -> u32 {
        blocks * blocks
    }

    /// All places of a document of one of two sides, or of the only one. Of two sides, the row is
    /// the block of the one and the column that of the other; of one side, the row comes not behind
    /// the column.
    pub(super) fn each(self, has_sides: bool, is_other: bool) -> impl Iterator<Item = AtPlace> {
        let Self {
            first,
            block,
            blocks,
        } = self;
        (0..blocks.max(1)).map(move |with| {
            let (row, column) = match (has_sides, is_other) {
                (false, _) => (block.min(with), block.max(with)),
                (true, false) => (block, with),
                (true, true) => (with, block),
            };
            AtPlace {
                place: first.wrapping_add(row.wrapping_mul(blocks).wrapping_add(column)),
                has_sides: has_sides || row != column,
                is_other: if has_sides { is_other } else { with < block },
            }
        })
    }

    /// Whether those with the same list are all at the same places, whatever their side.
    pub(super) fn brings_copies_together(self, has_sides: bool) -> bool {
        self.blocks <= 1 || !has_sides
    }
}

/// All who are wanted, in order.
fn wanted(task: &Task, limits: &Limits, forest: &Forest, known: &Known) -> Vec<Wanted> {
    let mut firsts: Vec<(Order, Order)> = forest.firsts().collect();
    firsts.sort_unstable();
    let texts: HashMap<Order, Order> = known
        .copies
        .iter()
        .map(|&(first, copy)| (copy, first))
        .collect();
    let text_of = |order: Order| texts.get(&order).copied().unwrap_or(order);
    let mut wanted: Vec<Wanted> = Vec::with_capacity(firsts.len() + known.repeated.len());
    let mut push = |order: Order, places: Option<Places>| {
        wanted.push(Wanted {
            order,
            places,
            text_of: text_of(order),
            repeats: None,
            is_repeated: false,
        });
    };
    let (mut place, mut filled) = (0, 0);
    for together in firsts.chunk_by(|one, two| one.0 == two.0) {
        let lists = together
            .iter()
            .filter(|(_, order)| text_of(*order) == *order)
            .count();
        let is_cut = matches!(task.verb, Verb::Pairs(_)) && lists > 2 * limits.together_max;
        if filled > 0 && (is_cut || filled + together.len() > limits.place_max) {
            (place, filled) = (place + 1, 0);
        }
        if !is_cut {
            filled += together.len();
            for &(_, order) in together {
                let places = Places {
                    first: place,
                    block: 0,
                    blocks: 1,
                };
                push(order, Some(places));
            }
            continue;
        }
        let blocks = lists.div_ceil(limits.together_max).min(BLOCKS_MAX) as u32;
        // Those with one list are in one block.
        let mut block_of = HashMap::new();
        for &(_, order) in together {
            let next = (block_of.len() * blocks as usize / lists) as u32;
            let block = *block_of.entry(text_of(order)).or_insert(next);
            let places = Places {
                first: place,
                block,
                blocks,
            };
            push(order, Some(places));
        }
        place += Places::count(blocks);
    }
    let repeats: HashMap<Order, Order> = known.repeated.iter().map(|&(f, o)| (o, f)).collect();
    let mut others: Vec<Order> = known.repeated.iter().flat_map(|&(f, o)| [f, o]).collect();
    others.sort_unstable();
    others.dedup();
    let compared: HashSet<Order> = firsts.iter().map(|&(_, order)| order).collect();
    for order in others.iter().filter(|order| !compared.contains(order)) {
        push(*order, None);
    }
    for wanted in &mut wanted {
        wanted.repeats = repeats.get(&wanted.order).copied();
        wanted.is_repeated =
            wanted.repeats.is_none() && others.binary_search(&wanted.order).is_ok();
    }
    wanted.sort_unstable_by_key(|wanted| wanted.order);
    wanted
}

const HAS_PLACE: u64 = 1;
const IS_COPY: u64 = 2;
const REPEATS: u64 = 4;
const IN_BLOCK: u64 = 8;
const IS_REPEATED: u64 = 16;

fn pack(wanted: &[Wanted]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for one in wanted {
        let is_copy = one.text_of != one.order;
        let is_in_block = one.places.is_some_and(|places| places.blocks > 1);
        let mut flags = 0;
        for (is_set, flag) in [
            (one.places.is_some(), HAS_PLACE),
            (is_copy, IS_COPY),
            (one.repeats.is_some(), REPEATS),
            (is_in_block, IN_BLOCK),
            (one.is_repeated, IS_REPEATED),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        put(&mut bytes, one.order.ordinal() - last);
        put(&mut bytes, flags);
        if let Some(places) = one.places {
            put(&mut bytes, places.first.into());
            if is_in_block {
                put(&mut bytes, places.block.into());
                put(&mut bytes, places.blocks.into());
            }
        }
        if is_copy {
            put(&mut bytes, one.text_of.0);
        }
        if let Some(first) = one.repeats {
            put(&mut bytes, first.0);
        }
        last = one.order.ordinal();
    }
    bytes
}

/// Who is wanted of a task, in order.
pub(super) fn unpack_wanted(
    task: u32,
    bytes: &[u8],
    wanted: &mut Vec<Wanted>,
) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let mut ordinal = 0_u64;
    while !packed.is_empty() {
        ordinal = ordinal.wrapping_add(packed.number()?);
        let order = Order::new(task, ordinal & u64::from(u32::MAX));
        let flags = packed.number()?;
        let has = |flag| flags & flag != 0;
        let places = match has(HAS_PLACE) {
            false => None,
            true => {
                let first = packed.small()?;
                let (block, blocks) = match has(IN_BLOCK) {
                    true => (packed.small()?, packed.small()?.min(BLOCKS_MAX as u32)),
                    false => (0, 1),
                };
                Some(Places {
                    first,
                    block,
                    blocks,
                })
            }
        };
        let text_of = match has(IS_COPY) {
            false => order,
            true => Order(packed.number()?),
        };
        let repeats = match has(REPEATS) {
            false => None,
            true => Some(Order(packed.number()?)),
        };
        wanted.push(Wanted {
            order,
            places,
            text_of,
            repeats,
            is_repeated: has(IS_REPEATED),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(number: u64) -> Order {
        Order::new((number / 10) as u32, number % 10)
    }

    proptest::proptest! {
        /// As a search from each node finds it.
        #[test]
        fn a_forest_connects_what_links_connect(
            links in proptest::collection::vec((0_u64..40, 0_u64..40), 0..60),
        ) {
            let links: Vec<(Order, Order)> = links
                .into_iter()
                .filter(|(one, two)| one != two)
                .map(|(one, two)| (order(one.min(two)), order(one.max(two))))
                .collect();
            let reach = |links: &[(Order, Order)], from: Order| {
                let mut found = vec![from];
                let mut next = 0;
                while let Some(&node) = found.get(next) {
                    next += 1;
                    for &(one, two) in links {
                        for (here, there) in [(one, two), (two, one)] {
                            if here == node && !found.contains(&there) {
                                found.push(there);
                            }
                        }
                    }
                }
                found.sort_unstable();
                found
            };
            let few = Forest::new(links.clone()).links();
            assert!(few.len() <= links.len());
            for number in 0..40 {
                assert_eq!(reach(&few, order(number)), reach(&links, order(number)));
            }
            let mut bytes = Vec::new();
            let mut packed = Vec::new();
            for (place, &(first, other)) in (0..).zip(&few) {
                packed.push(Wanted {
                    order: Order::new(3, place * 7),
                    places: (place % 3 > 0).then_some(Places {
                        first: place as u32,
                        block: place as u32 % 2,
                        blocks: 1 + place as u32 % 2,
                    }),
                    text_of: if place % 2 == 0 { Order::new(3, place * 7) } else { first },
                    repeats: (other.ordinal() % 2 == 0).then_some(first),
                    is_repeated: other.ordinal() % 3 == 0,
                });
            }
            bytes.extend(pack(&packed));
            let mut unpacked = Vec::new();
            unpack_wanted(3, &bytes, &mut unpacked).unwrap();
            assert_eq!(unpacked, packed);
        }
    }

    /// Every two documents are compared at one place.
    #[test]
    fn every_two_blocks_have_a_place() {
        let each = |block, has_sides, is_other| {
            let places = Places {
                first: 5,
                block,
                blocks: 4,
            };
            let all = places.each(has_sides, is_other);
            all.map(|at| (at.place, at.is_other)).collect::<Vec<_>>()
        };
        let met = |one: &[(u32, bool)], two: &[(u32, bool)], is_same_side: bool| {
            let pairs = one.iter().flat_map(|x| two.iter().map(move |y| (x, y)));
            let compared = pairs.filter(|(x, y)| x.0 == y.0 && (x.1 == y.1) == is_same_side);
            compared.count()
        };
        for one in 0..4 {
            for two in 0..4 {
                let (of_one, of_two) = (each(one, false, false), each(two, false, false));
                if one != two {
                    assert_eq!(met(&of_one, &of_two, false), 1);
                    assert_eq!(met(&of_one, &of_two, true), 0);
                }
                assert_eq!(
                    met(&each(one, true, false), &each(two, true, true), false),
                    1
                );
            }
            // At all other places, those of a block are on one side with nobody to be compared with
            // among themselves.
            let own: Vec<_> = each(one, false, false);
            assert_eq!(own.iter().filter(|at| at.0 == 5 + one * 5).count(), 1);
        }
    }
}
