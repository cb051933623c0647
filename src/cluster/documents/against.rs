//! Against another collection: a document goes if something there is similar to it, and the
//! most similar of those stands for it.

use super::assigned::Keepers;
use super::{Clustering, SAME, score};
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
    let links = clustering.links()?;
    let mut buffer = Vec::new();
    for group in groups.iter() {
        for &(to, shared) in links.of(group, &mut buffer)? {
            if let Some(other) = others[to as usize] {
                let score = score(prepared, group, Group(to), shared);
                take_better(&mut best[group.index()], (other, score));
            }
        }
    }
    let keeper = |document| {
        let group = groups.of(DocumentId(document))?;
        best[group.index()].filter(|_| prepared.can_be_paired(group))
    };
    Ok((0..own).map(keeper).collect())
}

/// Of equals, the document that came first counts.
fn take_better(best: &mut Option<Scored>, other: Scored) {
    let is_better = |known: Scored| other.1 > known.1 || other.1 == known.1 && other.0 < known.0;
    if best.is_none_or(is_better) {
        *best = Some(other);
    }
}
