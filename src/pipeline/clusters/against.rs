//! Against another collection: a document goes if something there is similar to it, and the
//! most similar of those stands for it.

use std::sync::{Mutex, PoisonError};

use super::assigned::Keepers;
use super::{Clustering, SAME, score};
use crate::candidates::for_each_two_runs;
use crate::candidates::prefix::for_each_pair;
use crate::collection::Group;
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::Score;

/// A document and a score with it.
type Scored = (DocumentId, Score);

/// Who of the other collection stands for whom.
pub(super) fn keepers(clustering: &mut Clustering<'_>) -> Result<Keepers, Error> {
    let prepared = clustering.prepared;
    let groups = &prepared.groups;
    let own = clustering.collection.own();
    // Of each group, the first document on the other side.
    let first_other = |group| {
        let members = groups.members(group);
        let others = members.partition_point(|member| member.0 < own);
        members.get(others).copied()
    };
    let others: Vec<Option<DocumentId>> = groups.iter().map(first_other).collect();
    let same = |other: &Option<DocumentId>| other.map(|other| (other, SAME));
    let mut best: Keepers = others.iter().map(same).collect();
    match clustering.links()? {
        Some(links) => {
            let mut buffer = Vec::new();
            for group in groups.iter() {
                for &(to, shared) in links.of(group, &mut buffer)? {
                    if let Some(other) = others[to as usize] {
                        let score = score(prepared, group, Group(to), shared);
                        take_better(&mut best[group.index()], (other, score));
                    }
                }
            }
        }
        None => best = by_sets(clustering, &others, best)?,
    }
    let keeper = |document| {
        let group = groups.of(DocumentId(document))?;
        best[group.index()].filter(|_| prepared.sizes[group.index()] > 0)
    };
    Ok((0..own).map(keeper).collect())
}

fn by_sets(
    clustering: &mut Clustering<'_>,
    others: &[Option<DocumentId>],
    best: Keepers,
) -> Result<Keepers, Error> {
    let prepared = clustering.prepared;
    let own = clustering.collection.own();
    let with_partner = clustering.with_partner();
    let best = Mutex::new(best);
    for_each_two_runs(prepared, &with_partner, |loaded, runs| {
        // What is on both sides has its like there already.
        let asks = |place: usize| {
            let group = loaded.groups[place];
            prepared.groups.first(group).0 < own && others[group.index()].is_none()
        };
        let answers = |place: usize| others[loaded.groups[place].index()].is_some();
        let wanted = |one: usize, two: usize| {
            runs.are_new(one, two) && (asks(one) && answers(two) || asks(two) && answers(one))
        };
        let stats = for_each_pair(&loaded.sets, prepared.bound(), wanted, |pairs| {
            let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
            for (one, two, shared) in pairs.drain(..) {
                let (one, two) = match asks(one) {
                    true => (loaded.groups[one], loaded.groups[two]),
                    false => (loaded.groups[two], loaded.groups[one]),
                };
                if let Some(other) = others[two.index()] {
                    let score = score(prepared, one, two, shared);
                    take_better(&mut best[one.index()], (other, score));
                }
            }
            Ok(())
        })?;
        clustering.add_stats(stats);
        Ok(())
    })?;
    Ok(best.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Of equals, the document that came first counts.
fn take_better(best: &mut Option<Scored>, other: Scored) {
    let is_better = |known: Scored| other.1 > known.1 || other.1 == known.1 && other.0 < known.0;
    if best.is_none_or(is_better) {
        *best = Some(other);
    }
}
