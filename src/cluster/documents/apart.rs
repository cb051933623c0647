//! Clusters of documents of which some are not compared with each other: those of one party.
//! Documents that are the same may then have different keepers, so that all that is similar is
//! found first, and each document is looked at by itself.

use super::assigned::Keepers;
use super::{SAME, score};
use crate::collection::Components;
use crate::collection::{Group, Parties};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::Score;
use crate::search::{Links, PreparedSets};

/// Stars: a document goes to the most similar of those that are kept before it and are not of
/// its party. Of equals, to the one that was kept first.
pub(super) fn stars(
    prepared: &PreparedSets,
    links: &Links,
    parties: &Parties,
    order: &[DocumentId],
    own: u32,
) -> Result<Keepers, Error> {
    let groups = &prepared.groups;
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
            ask(Group(to), score(prepared, group, Group(to), shared));
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

/// Components: what is connected by similar pairs, none of them of one party, is one cluster.
pub(super) fn components(
    prepared: &PreparedSets,
    links: &Links,
    parties: &Parties,
    order: &[DocumentId],
    own: u32,
) -> Result<Keepers, Error> {
    let groups = &prepared.groups;
    let components = Components::new(own as usize);
    // Whoever is not of the party of one of two documents of different parties is not of that
    // of the other: two of a group are enough to connect all that it connects.
    let two_of = |group: Group| {
        let members = groups.members(group);
        let first = members.first().copied();
        let is_other = |other: &&DocumentId| first.is_some_and(|one| parties.admits(one, **other));
        first
            .into_iter()
            .chain(members.iter().find(is_other).copied())
    };
    let join = |from: Group, to: Group| {
        for &one in groups.members(from) {
            for two in two_of(to).filter(|&two| two != one && parties.admits(one, two)) {
                components.join(one.0, two.0);
            }
        }
    };
    let mut buffer = Vec::new();
    for group in groups.iter().filter(|&group| prepared.can_be_paired(group)) {
        join(group, group);
        for &(to, _) in links.of(group, &mut buffer)? {
            join(group, Group(to));
        }
    }
    let mut keeper_of: Vec<Option<DocumentId>> = vec![None; own as usize];
    let mut keepers: Keepers = vec![None; own as usize];
    for &document in order {
        let component = components.find(document.0) as usize;
        let keeper = *keeper_of[component].get_or_insert(document);
        let group_of = |document| groups.of(document).unwrap_or(Group(0));
        let (group, keeper_group) = (group_of(document), group_of(keeper));
        if keeper != document {
            let score = match group == keeper_group {
                true => SAME,
                false => {
                    let shared = prepared.shared(group, keeper_group)?;
                    score(prepared, group, keeper_group, shared)
                }
            };
            keepers[document.index()] = Some((keeper, score));
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
    let groups = &prepared.groups;
    let mut buffer = Vec::new();
    let mut keepers: Keepers = Vec::with_capacity(first.index());
    for document in (0..first.0).map(DocumentId) {
        let group = groups.of(document);
        let Some(group) = group.filter(|&group| prepared.can_be_paired(group)) else {
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
            ask(Group(to), score(prepared, group, Group(to), shared));
        }
        keepers.push(best);
    }
    Ok(keepers)
}
