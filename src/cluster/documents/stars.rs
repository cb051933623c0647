//! Stars: a document goes to the most similar of those that are kept before it.

use super::assigned::Keepers;
use super::keeper_index::KeeperIndex;
use super::{Clustering, SAME, runs, score};
use crate::cluster::Stars;
use crate::collection::Group;
use crate::document::DocumentId;
use crate::error::Error;
use crate::observer::{Expected, WorkCount};
use crate::score::Score;
use crate::search::Links;
use crate::search::work;
use crate::search::work::Work;

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
    match clustering.links_if_needed()? {
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

fn by_sets(
    clustering: &mut Clustering<'_>,
    groups: &[Group],
    mut assign: impl FnMut(usize, Taken),
) -> Result<(), Error> {
    clustering.with_partner();
    let prepared = clustering.prepared;
    let mut stars = Stars::new(prepared.groups.len(), SAME);
    let all = groups.len() as u64;
    let count = WorkCount::new(
        clustering.observer,
        Expected::Documents(all),
        all * work::SET,
    );
    prepared.for_each_cell(groups, |loaded, places| {
        let mut index = KeeperIndex::new(prepared, loaded);
        let of_group = |&place: &u32| index.place(groups[place as usize]);
        let work = Work::new(&loaded.sets, places.iter().map(of_group));
        for (run, places) in runs(places) {
            for &place in places {
                let group = groups[place as usize];
                let taken = stars.take(place, group.0, |each| {
                    index.for_each_similar(group, |other, score| each(other.0, score));
                });
                if taken.is_none() {
                    index.add(group);
                }
                assign(place as usize, taken);
            }
            count.add(work.of(run));
        }
        clustering.add_stats(index.into_stats());
    })?;
    Ok(())
}
