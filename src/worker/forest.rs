//! Who belongs together: whatever is connected by links. Those who belong together go to one
//! place, where they are compared; several such are put into one place for as long as it is not
//! full.

use std::collections::HashMap;
use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::link::{hand_on, unpack_pairs};
use super::pack::{Unpack, put};
use super::rows::{Kind, for_each_row};
use super::{Order, Task};
use crate::cluster::Components;
use crate::error::Error;

/// Documents in a place at the least, and at the most unless more belong together.
const PLACE_MIN: usize = 256;
const PLACE_MAX: usize = 20_000;
/// Places to a part, so that parts come out even.
const PLACES_PER_PART: usize = 4;

/// Documents that are linked, in trees.
pub(super) struct Forest {
    /// In order.
    nodes: Vec<Order>,
    components: Components,
}

impl Forest {
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

pub(super) fn run<R: Read, W: Write>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let (mut links, mut copies, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for_each_row(rows, |row| match row.kind {
        Kind::Links => unpack_pairs(&row.data, &mut links),
        Kind::Copies => unpack_pairs(&row.data, &mut copies),
        Kind::Repeated => unpack_pairs(&row.data, &mut repeated),
        _ => Ok(()),
    })?;
    let counts = serde_json::json!({"repeated_ids": repeated.len()});
    if task.parts == 0 {
        // More such processes follow.
        hand_on(&Forest::new(links).links(), Kind::Links, &mut output)?;
        hand_on(&copies, Kind::Copies, &mut output)?;
        hand_on(&repeated, Kind::Repeated, &mut output)?;
        return output.finish();
    }
    links.extend_from_slice(&copies);
    let wanted = wanted(task, &Forest::new(links), copies, &repeated);
    for of_task in wanted.chunk_by(|one, two| one.order.task() == two.order.task()) {
        let bytes = pack(of_task);
        output.push(of_task[0].order.task(), Kind::Wanted, &bytes)?;
    }
    output.push(0, Kind::Counts, counts.to_string().as_bytes())?;
    output.finish()
}

/// A document that is wanted, or at least not to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) order: Order,
    /// Where it is compared, if it is, or its text is needed.
    pub(super) place: Option<u32>,
    /// Who has the same text; itself, if it is the one that brings it.
    pub(super) text_of: Order,
    /// A document before it has its id: it does not count.
    pub(super) is_repeated: bool,
}

/// All who are wanted, in order.
fn wanted(
    task: &Task,
    forest: &Forest,
    copies: Vec<(Order, Order)>,
    repeated: &[(Order, Order)],
) -> Vec<Wanted> {
    let mut firsts: Vec<(Order, Order)> = forest.firsts().collect();
    firsts.sort_unstable();
    let per_part = firsts.len() / (PLACES_PER_PART * task.parts.max(1) as usize);
    let place_max = per_part.clamp(PLACE_MIN, PLACE_MAX);
    let texts: HashMap<Order, Order> = copies
        .into_iter()
        .map(|(first, copy)| (copy, first))
        .collect();
    let mut wanted = Vec::with_capacity(firsts.len() + repeated.len());
    let (mut place, mut filled) = (0, 0);
    for together in firsts.chunk_by(|one, two| one.0 == two.0) {
        if filled > 0 && filled + together.len() > place_max {
            (place, filled) = (place + 1, 0);
        }
        filled += together.len();
        wanted.extend(together.iter().map(|&(_, order)| Wanted {
            order,
            place: Some(place),
            text_of: texts.get(&order).copied().unwrap_or(order),
            is_repeated: false,
        }));
    }
    wanted.sort_unstable_by_key(|wanted| wanted.order);
    let known = wanted.len();
    for &(_, order) in repeated {
        match wanted[..known].binary_search_by_key(&order, |wanted| wanted.order) {
            Ok(index) => wanted[index].is_repeated = true,
            Err(_) => wanted.push(Wanted {
                order,
                place: None,
                text_of: order,
                is_repeated: true,
            }),
        }
    }
    wanted.sort_unstable_by_key(|wanted| wanted.order);
    wanted
}

const HAS_PLACE: u64 = 1;
const IS_COPY: u64 = 2;
const IS_REPEATED: u64 = 4;

fn pack(wanted: &[Wanted]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for one in wanted {
        let is_copy = one.text_of != one.order;
        let flags = if one.place.is_some() { HAS_PLACE } else { 0 }
            | if is_copy { IS_COPY } else { 0 }
            | if one.is_repeated { IS_REPEATED } else { 0 };
        put(&mut bytes, one.order.ordinal() - last);
        put(&mut bytes, flags);
        if let Some(place) = one.place {
            put(&mut bytes, place.into());
        }
        if is_copy {
            put(&mut bytes, one.text_of.0);
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
        let place = match flags & HAS_PLACE {
            0 => None,
            _ => Some(packed.small()?),
        };
        let text_of = match flags & IS_COPY {
            0 => order,
            _ => Order(packed.number()?),
        };
        wanted.push(Wanted {
            order,
            place,
            text_of,
            is_repeated: flags & IS_REPEATED != 0,
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
                    place: (place % 3 > 0).then_some(place as u32),
                    text_of: if place % 2 == 0 { Order::new(3, place * 7) } else { first },
                    is_repeated: other.ordinal() % 2 == 0,
                });
            }
            bytes.extend(pack(&packed));
            let mut unpacked = Vec::new();
            unpack_wanted(3, &bytes, &mut unpacked).unwrap();
            assert_eq!(unpacked, packed);
        }
    }
}
