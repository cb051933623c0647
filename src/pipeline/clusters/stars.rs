//! Stars: a document goes to the most similar of those that are kept before it.

use super::assigned::Keepers;
use super::keeper_index::KeeperIndex;
use super::{Clustering, SAME, score};
use crate::candidates::Links;
use crate::cluster::Stars;
use crate::collection::Group;
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::Score;

/// A place in the order of preference, and the score with the document there.
type Taken = Option<(u32, Score)>;

/// Who stands for whom of documents in the order of preference.
pub(super) fn keepers(
    clustering: &mut Clustering<'_>,
    order: &[DocumentId],
) -> Result<Keepers, Error> {
    let groups = clustering.groups_of(order);
    let mut keepers: Keepers = vec![None; clustering.collection.own() as usize];
    let assign = |place: usize, taken: Taken| {
        let keeper = taken.map(|(keeper, score)| (order[keeper as usize], score));
        keepers[order[place].index()] = keeper;
    };
    match clustering.links()? {
        Some(links) => by_links(clustering, &links, &groups, assign)?,
        None => by_sets(clustering, &groups, assign)?,
    }
    Ok(keepers)
}

fn by_links(
    clustering: &Clustering<'_>,
    links: &Links,
    groups: &[Group],
    mut assign: impl FnMut(usize, Taken),
) -> Result<(), Error> {
    let prepared = clustering.prepared;
    let mut stars = Stars::new(prepared.groups.len(), SAME);
    let mut buffer = Vec::new();
    for (place, &group) in groups.iter().enumerate() {
        let own = links.of(group, &mut buffer)?;
        let taken = stars.take(place as u32, group.0, |each| {
            for &(to, shared) in own {
                each(to, score(prepared, group, Group(to), shared));
            }
        });
        assign(place, taken);
    }
    Ok(())
}

/// Sets that do not fit into memory are taken in runs; what is kept of a run is held against
/// each of those that follow.
fn by_sets(
    clustering: &mut Clustering<'_>,
    groups: &[Group],
    mut assign: impl FnMut(usize, Taken),
) -> Result<(), Error> {
    clustering.with_partner();
    let prepared = clustering.prepared;
    let count = prepared.groups.len();
    let runs = prepared.runs(groups);
    let mut stars = Stars::new(count, SAME);
    // Of groups whose turn is in a later run, the best of those that are kept so far.
    let mut earlier: Vec<Taken> = match runs.len() {
        1 => Vec::new(),
        _ => vec![None; count],
    };
    for (number, run) in runs.iter().enumerate() {
        let is_in_run = marked(count, &groups[run.clone()]);
        let loaded = prepared.load(|group| is_in_run[group.index()])?;
        let mut index = KeeperIndex::new(prepared, &loaded);
        let mut kept = vec![false; count];
        for place in run.clone() {
            let group = groups[place];
            let taken = stars.take(place as u32, group.0, |each| {
                if let Some(Some((keeper, score))) = earlier.get(group.index()) {
                    each(*keeper, *score);
                }
                index.for_each_similar(group, |other, score| each(other.0, score));
            });
            if taken.is_none() {
                kept[group.index()] = index.add(group);
            }
            assign(place, taken);
        }
        clustering.add_stats(index.into_stats());
        for later in &runs[number + 1..] {
            let waiting = &groups[later.clone()];
            let is_waiting = marked(count, waiting);
            let loaded = prepared.load(|group| kept[group.index()] || is_waiting[group.index()])?;
            let mut index = KeeperIndex::new(prepared, &loaded);
            for &group in loaded.groups.iter().filter(|group| kept[group.index()]) {
                index.add(group);
            }
            for &group in waiting {
                index.for_each_similar(group, |other, score| {
                    let best = &mut earlier[group.index()];
                    if stars.is_better(*best, other.0, score) {
                        *best = Some((other.0, score));
                    }
                });
            }
            clustering.add_stats(index.into_stats());
        }
    }
    Ok(())
}

/// For each of so many groups, whether it is one of these.
fn marked(count: usize, groups: &[Group]) -> Vec<bool> {
    let mut marks = vec![false; count];
    groups.iter().for_each(|group| marks[group.index()] = true);
    marks
}
