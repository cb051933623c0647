//! Clusters of documents of which some are not compared with each other: those of one party.
//! Documents that are the same may then have different keepers, so that all that is similar is
//! found first, and each document is looked at by itself.

use super::clusters::{Keepers, SAME, score};
use crate::candidates::{Links, PreparedSets};
use crate::collection::{Group, Parties};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::Score;

/// Stars: a document goes to the most similar of those that are kept before it and are not of
/// its party. Of equals, to the one that was kept first.
pub(super) fn stars(
    prepared: &PreparedSets,
    links: &Links,
    parties: &Parties,
    order: &[DocumentId],
    own: u32,
) -> Result<Keepers, Error> {
    let (groups, sizes) = (&prepared.groups, &prepared.sizes);
    let mut keepers: Keepers = vec![None; own as usize];
    // The first of each group that is kept, by its place in the order. Another one of the group
    // is kept only if it is of the same party, and then the first does for all others.
    let mut kept: Vec<Option<u32>> = vec![None; groups.len()];
    let mut buffer = Vec::new();
    for (place, &document) in (0..).zip(order) {
        let Some(group) = groups.of(document) else {
            continue;
        };
        let mut best: Option<(u32, Score)> = None;
        let mut ask = |other: Group, score: Score| {
            let admitted = |place: &u32| parties.admits(document, order[*place as usize]);
            let keeper = kept[other.index()].filter(admitted);
            if let Some(keeper) = keeper
                && best
                    .is_none_or(|(known, best)| score > best || (score == best && keeper < known))
            {
                best = Some((keeper, score));
            }
        };
        ask(group, SAME);
        for &(to, shared) in links.of(group, &mut buffer)? {
            ask(Group(to), score(sizes, group, Group(to), shared));
        }
        match best {
            Some((keeper, score)) => {
                keepers[document.index()] = Some((order[keeper as usize], score));
            }
            None => {
                kept[group.index()].get_or_insert(place);
            }
        }
    }
    Ok(keepers)
}

/// Those documents before `first` that are similar to one from it on which is not of their
/// party, each with the most similar; of equals, with the first.
pub(super) fn against(
    prepared: &PreparedSets,
    links: &Links,
    parties: &Parties,
    first: DocumentId,
) -> Result<Keepers, Error> {
    let (groups, sizes) = (&prepared.groups, &prepared.sizes);
    let mut buffer = Vec::new();
    let mut keepers: Keepers = Vec::with_capacity(first.index());
    for document in (0..first.0).map(DocumentId) {
        let group = groups.of(document);
        let Some(group) = group.filter(|group| sizes[group.index()] > 0) else {
            keepers.push(None);
            continue;
        };
        let mut best: Option<(DocumentId, Score)> = None;
        let mut ask = |other: Group, score: Score| {
            let members = groups.members(other);
            let others = &members[members.partition_point(|&member| member < first)..];
            let admitted = |other: &&DocumentId| parties.admits(document, **other);
            if let Some(&other) = others.iter().find(admitted)
                && best.is_none_or(|(known, best)| score > best || (score == best && other < known))
            {
                best = Some((other, score));
            }
        };
        ask(group, SAME);
        for &(to, shared) in links.of(group, &mut buffer)? {
            ask(Group(to), score(sizes, group, Group(to), shared));
        }
        keepers.push(best);
    }
    Ok(keepers)
}
