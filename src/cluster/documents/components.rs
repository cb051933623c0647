//! Components: whatever is connected by similar pairs is one cluster.

use super::assigned::Keepers;
use super::{Clustering, SAME, runs, score};
use crate::collection::Components;
use crate::collection::Group;
use crate::document::DocumentId;
use crate::error::Error;
use crate::observer::{Expected, WorkCount};
use crate::score::Score;
use crate::search::prefix::{Asked, PrefixIndex, Probe};
use crate::search::work;
use crate::search::work::Work;

/// Who stands for whom of documents in the order of preference.
pub(super) fn keepers(
    clustering: &mut Clustering<'_>,
    order: &[DocumentId],
) -> Result<Keepers, Error> {
    let prepared = clustering.prepared;
    let components = Components::new(prepared.groups.len());
    let links = clustering.links_if_needed()?;
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
        None => join_similar(clustering, &with_partner, &components)?,
    }
    let groups = clustering.groups_of(order);
    // Of each component, the place of the document that is kept.
    let mut keeper_of = vec![u32::MAX; prepared.groups.len()];
    for (place, group) in (0..).zip(&groups) {
        let keeper = &mut keeper_of[components.find(group.0) as usize];
        *keeper = (*keeper).min(place);
    }
    // The score of each group with that of its keeper.
    let mut scores: Vec<Option<Score>> = vec![None; prepared.groups.len()];
    // Documents with too few shingles are in no component.
    for &group in with_partner
        .iter()
        .filter(|&&group| prepared.can_be_paired(group))
    {
        let keeper = groups[keeper_of[components.find(group.0) as usize] as usize];
        if keeper != group {
            let shared = prepared.shared(group, keeper)?;
            scores[group.index()] = Some(score(prepared, group, keeper, shared));
        }
    }
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
    components: &Components,
) -> Result<(), Error> {
    let prepared = clustering.prepared;
    let all = with_partner.len() as u64;
    let count = WorkCount::new(
        clustering.observer,
        Expected::Documents(all),
        all * work::SET,
    );
    prepared.for_each_cell(with_partner, |loaded, _| {
        let work = Work::new(&loaded.sets, (0..loaded.sets.len()).map(Some));
        let mut index = PrefixIndex::new(&loaded.sets, prepared.bound(), Asked::Any);
        let mut probe = Probe::new(loaded.sets.len());
        for (run, groups) in runs(&loaded.groups) {
            for (place, group) in run.clone().zip(groups) {
                let is_new = |other: usize| {
                    components.find(group.0) != components.find(loaded.groups[other].0)
                };
                probe.similar(&index, loaded.sets.get(place), is_new, |other, shared| {
                    if prepared.bound().keeps(shared) {
                        components.join(group.0, loaded.groups[other].0);
                    }
                });
                index.add(place);
            }
            count.add(work.of(run));
        }
        clustering.add_stats(probe.stats);
    })?;
    Ok(())
}
