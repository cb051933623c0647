//! Components: whatever is connected by similar pairs is one cluster.

use std::cell::RefCell;

use super::assigned::Keepers;
use super::{Clustering, SAME, score};
use crate::candidates::prefix::{Asked, PrefixIndex, Probe};
use crate::candidates::{LoadedSets, for_each_two_runs};
use crate::cluster::Components;
use crate::collection::Group;
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::Score;

/// Who stands for whom of documents in the order of preference.
pub(super) fn keepers(
    clustering: &mut Clustering<'_>,
    order: &[DocumentId],
) -> Result<Keepers, Error> {
    let prepared = clustering.prepared;
    let mut components = Components::new(prepared.groups.len());
    let links = clustering.links()?;
    let with_partner = clustering.with_partner();
    match links {
        Some(links) => {
            let mut buffer = Vec::new();
            for &group in &with_partner {
                for &(to, _) in links.of(group, &mut buffer)? {
                    components.join(group.0, to);
                }
            }
        }
        None => join_similar(clustering, &with_partner, &mut components)?,
    }
    let groups = clustering.groups_of(order);
    // Of each component, the place of the document that is kept.
    let mut keeper_of = vec![u32::MAX; components.len()];
    for (place, group) in (0..).zip(&groups) {
        let keeper = &mut keeper_of[components.find(group.0) as usize];
        *keeper = (*keeper).min(place);
    }
    // The score of each group with that of its keeper.
    let mut scores: Vec<Option<Score>> = vec![None; prepared.groups.len()];
    for_each_two_runs(prepared, &with_partner, |loaded, _| {
        let places = loaded.places(prepared.groups.len());
        for (place, &group) in loaded.groups.iter().enumerate() {
            let keeper = keeper_of[components.find(group.0) as usize];
            let keeper = groups[keeper as usize];
            let at = places[keeper.index()];
            if at != LoadedSets::NOWHERE && keeper != group {
                let shared = loaded.sets.shared(place, at as usize);
                scores[group.index()] = Some(score(prepared, group, keeper, shared));
            }
        }
        Ok(())
    })?;
    let mut keepers: Keepers = vec![None; clustering.collection.own() as usize];
    for (place, (&document, group)) in (0..).zip(order.iter().zip(&groups)) {
        let keeper = keeper_of[components.find(group.0) as usize];
        if keeper != place {
            let score = match groups[keeper as usize] == *group {
                true => SAME,
                false => scores[group.index()].unwrap_or(SAME),
            };
            keepers[document.index()] = Some((order[keeper as usize], score));
        }
    }
    Ok(keepers)
}

/// Joins what is similar, without comparing what is joined already.
fn join_similar(
    clustering: &mut Clustering<'_>,
    with_partner: &[Group],
    components: &mut Components,
) -> Result<(), Error> {
    let prepared = clustering.prepared;
    let components = RefCell::new(components);
    for_each_two_runs(prepared, with_partner, |loaded, runs| {
        let mut index = PrefixIndex::new(&loaded.sets, prepared.bound(), Asked::Any);
        let mut probe = Probe::new(loaded.sets.len());
        for (place, group) in loaded.groups.iter().enumerate() {
            let wanted = |other: usize| {
                let mut components = components.borrow_mut();
                runs.are_new(place, other)
                    && components.find(group.0) != components.find(loaded.groups[other].0)
            };
            probe.similar(&index, place, wanted, |other, _| {
                let other = loaded.groups[other];
                components.borrow_mut().join(group.0, other.0);
            });
            index.add(place);
        }
        clustering.add_stats(probe.stats);
        Ok(())
    })
}
