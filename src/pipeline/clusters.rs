//! From inputs to clusters: documents are compared only as far as clusters need it.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::reading::{Reading, Wants};
use super::{Inputs, apart, in_pool};
use crate::candidates::prefix::{Asked, PrefixIndex, Probe, for_each_pair};
use crate::candidates::{
    Links, LoadedSets, PreparedSets, SearchStats, Way, for_each_two_runs, search_sets, state, way,
};
use crate::cluster::{Cluster, ClusterMethod, Components, Keep, Stars, preference};
use crate::collection::{Collection, Features, Group, Groups, Sides, Urls};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::{Observer, Phase};
use crate::score::{Measure, Score};
use crate::settings::Settings;
use crate::stats::Stats;

/// A document that another one stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The document.
    pub document: DocumentId,
    /// The other one.
    pub keeper: DocumentId,
    /// Their score.
    pub score: Score,
}

/// What [`cluster_documents`] found.
#[derive(Debug)]
pub struct Clustered {
    /// The ids of all documents.
    pub urls: Urls,
    /// What the run did.
    pub stats: Stats,
    /// Whether any document has the field by which the keepers were chosen.
    pub has_values: bool,
    assigned: Assigned,
}

impl Clustered {
    /// The clusters of two and more, by their keepers, in input order; none if the
    /// documents were compared with others.
    pub fn clusters(&self) -> impl Iterator<Item = Cluster> {
        self.assigned.clusters()
    }

    /// The documents that others stand for, in input order.
    pub fn removed(&self) -> impl Iterator<Item = Removed> {
        self.assigned.removed()
    }
}

/// Who stands for whom.
#[derive(Debug, Default)]
pub(super) struct Assigned {
    /// For each document, the one that stands for it and their score.
    keepers: Vec<Option<(DocumentId, Score)>>,
    /// Documents that others stand for, in order of those, then of input.
    members: Vec<DocumentId>,
    /// Where the members of each document start, and the end; empty if they are not joined
    /// among themselves.
    starts: Vec<u32>,
}

impl Assigned {
    fn clustered(keepers: Vec<Option<(DocumentId, Score)>>) -> Self {
        let mut starts = vec![0_u32; keepers.len() + 1];
        for (keeper, _) in keepers.iter().flatten() {
            starts[keeper.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut members = vec![DocumentId(0); starts[keepers.len()] as usize];
        for (document, assigned) in (0..).map(DocumentId).zip(&keepers) {
            if let Some((keeper, _)) = assigned {
                let place = &mut next[keeper.index()];
                members[*place as usize] = document;
                *place += 1;
            }
        }
        Self {
            keepers,
            members,
            starts,
        }
    }

    pub(super) fn clusters(&self) -> impl Iterator<Item = Cluster> {
        let scored = |&member: &DocumentId| {
            let (_, score) = self.keepers[member.index()]?;
            Some((member, score))
        };
        let of = move |(keeper, ends): (DocumentId, &[u32])| Cluster {
            keeper,
            members: self.members[ends[0] as usize..ends[1] as usize]
                .iter()
                .filter_map(scored)
                .collect(),
        };
        (0..)
            .map(DocumentId)
            .zip(self.starts.windows(2))
            .filter(|(_, ends)| ends[1] > ends[0])
            .map(of)
    }

    fn removed(&self) -> impl Iterator<Item = Removed> {
        (0..self.keepers.len() as u32).filter_map(|document| self.of(DocumentId(document)))
    }

    /// What stands for a document, if something does.
    pub(super) fn of(&self, document: DocumentId) -> Option<Removed> {
        let &(keeper, score) = self.keepers.get(document.index())?.as_ref()?;
        Some(Removed {
            document,
            keeper,
            score,
        })
    }

    /// Whether another one stands for a document.
    pub(super) fn is_removed(&self, document: DocumentId) -> bool {
        let assigned = self.keepers.get(document.index());
        assigned.is_some_and(Option::is_some)
    }

    /// Of how many documents another one stands for.
    pub(super) fn count(&self) -> usize {
        self.keepers.iter().flatten().count()
    }
}

/// Joins similar documents into clusters, by exact Jaccard similarity. Of each, the one
/// that `keep` prefers is the keeper.
///
/// With something to compare them with, documents are not joined among themselves:
/// those go that are similar to one of the others, and the most similar of these stands
/// for them.
///
/// # Errors
/// As for [`find_pairs`](crate::find_pairs).
///
/// # Performance
/// Not every pair is found on the way: the cost does not grow with the square of a cluster.
pub fn cluster_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    method: ClusterMethod,
    keep: &Keep,
    observer: &dyn Observer,
) -> Result<Clustered, Error> {
    let settings = &for_clusters(settings, keep);
    let mut reading = Reading::new(settings, observer, wants(keep));
    let inputs = inputs.into();
    in_pool(settings, || {
        let collection = reading.collection(inputs)?;
        observer.phase(Phase::Comparing);
        let has_values = has_values(&collection);
        let assigned = assign(&collection, method, keep, &mut reading.stats)?;
        Ok(Clustered {
            urls: collection.into_parts().0,
            stats: reading.stats,
            has_values,
            assigned,
        })
    })
}

/// The settings with what clusters need.
pub(super) fn for_clusters(settings: &Settings, keep: &Keep) -> Settings {
    let mut settings = settings.clone();
    settings.measure = Measure::Jaccard;
    settings.read.value_field = keep.field().map(str::to_owned);
    settings
}

/// What is to be known of documents to choose between them.
pub(super) fn wants(keep: &Keep) -> Wants {
    Wants {
        lengths: matches!(keep, Keep::Longest | Keep::Shortest),
        values: keep.field().is_some(),
        ..Wants::default()
    }
}

/// Whether any document has the field that counts.
pub(super) fn has_values(collection: &Collection) -> bool {
    let values = &collection.descriptions.values;
    values.iter().any(Option::is_some)
}

/// Decides who stands for whom.
pub(super) fn assign(
    collection: &Collection,
    method: ClusterMethod,
    keep: &Keep,
    stats: &mut Stats,
) -> Result<Assigned, Error> {
    let Features::Shingles { lists, .. } = collection.features() else {
        return Ok(Assigned::default());
    };
    let started = Instant::now();
    let prepared = PreparedSets::new(collection, lists)?;
    stats.counts.identical = prepared.groups.copies() as u64;
    let mut clusters = Clusters {
        collection,
        searched: SearchStats::default(),
    };
    let parties = collection.scope().parties.as_deref();
    let assigned = match (collection.scope().sides, parties) {
        (Sides::Across(first), Some(parties)) => {
            let links = clusters.links(&prepared)?;
            Assigned {
                keepers: apart::against(&prepared, &links, parties, first)?,
                ..Assigned::default()
            }
        }
        (Sides::Across(_), None) => clusters.against(&prepared)?,
        (Sides::All, _) => {
            let descriptions = &collection.descriptions;
            let mut order = preference(
                keep,
                collection.own(),
                &descriptions.lengths,
                &descriptions.values,
            );
            // Those without shingles are like no other.
            let size = |group: Group| prepared.sizes[group.index()];
            order.retain(|&document| prepared.groups.of(document).map_or(0, size) > 0);
            let keepers = match (method, parties) {
                (ClusterMethod::Star, Some(parties)) => {
                    let links = clusters.links(&prepared)?;
                    apart::stars(&prepared, &links, parties, &order, collection.own())?
                }
                (ClusterMethod::Star, None) => clusters.stars(&prepared, &order)?,
                (ClusterMethod::Components, Some(_)) => {
                    let what = "components take no heed of groups that are not compared";
                    return Err(Error::in_file("settings", ErrorKind::Settings(what)));
                }
                (ClusterMethod::Components, None) => clusters.components(&prepared, &order)?,
            };
            Assigned::clustered(keepers)
        }
    };
    state(collection, &mut clusters.searched);
    stats.search = clusters.searched;
    stats.counts.candidates = stats.search.candidates;
    stats.counts.members = assigned.count() as u64;
    stats.counts.clusters = assigned.clusters().count() as u64;
    stats.seconds.candidates += started.elapsed();
    Ok(assigned)
}

/// The score of documents that are the same.
pub(super) const SAME: Score = Score::WHOLE;

/// For each document, the one that stands for it and their score.
pub(super) type Keepers = Vec<Option<(DocumentId, Score)>>;

struct Clusters<'a> {
    collection: &'a Collection,
    searched: SearchStats,
}

/// What two sets of these groups have in common, as a score.
pub(super) fn score(sizes: &[u32], one: Group, two: Group, shared: u32) -> Score {
    Measure::Jaccard.score(shared, [sizes[one.index()], sizes[two.index()]])
}

/// The groups of documents that all have one.
fn groups_of(groups: &Groups, order: &[DocumentId]) -> Vec<Group> {
    order.iter().filter_map(|&d| groups.of(d)).collect()
}

impl Clusters<'_> {
    /// All that is similar, for those ways of finding it that do not find all.
    fn links(&mut self, prepared: &PreparedSets) -> Result<Links, Error> {
        let (links, stats) = search_sets(self.collection, prepared)?;
        self.searched = stats;
        Ok(links)
    }

    /// Stars: a document goes to the most similar of those that are kept before it.
    fn stars(&mut self, prepared: &PreparedSets, order: &[DocumentId]) -> Result<Keepers, Error> {
        let mut keepers: Keepers = vec![None; self.collection.own() as usize];
        let assign = |keepers: &mut Keepers, place: usize, taken: Option<(u32, Score)>| {
            let keeper = taken.map(|(keeper, score)| (order[keeper as usize], score));
            keepers[order[place].index()] = keeper;
        };
        if let Way::Bands(_) = way(self.collection.settings()) {
            let links = self.links(prepared)?;
            let mut stars = Stars::new(prepared.groups.len(), SAME);
            let mut buffer = Vec::new();
            for (place, group) in groups_of(&prepared.groups, order).into_iter().enumerate() {
                let own = links.of(group, &mut buffer)?;
                let taken = stars.take(place as u32, group.0, |each| {
                    for &(to, shared) in own {
                        each(to, score(&prepared.sizes, group, Group(to), shared));
                    }
                });
                assign(&mut keepers, place, taken);
            }
            return Ok(keepers);
        }
        self.searched.with_partner = prepared.with_partner().count() as u64;
        let (groups, sizes) = (&prepared.groups, &prepared.sizes);
        let order_groups = groups_of(groups, order);
        let runs = prepared.runs(&order_groups);
        let mut stars = Stars::new(groups.len(), SAME);
        // Of groups whose turn is in a later run, the best of those that are kept so far.
        let mut earlier: Vec<Option<(u32, Score)>> = match runs.len() {
            1 => Vec::new(),
            _ => vec![None; groups.len()],
        };
        for (number, run) in runs.iter().enumerate() {
            let mut kept = vec![false; groups.len()];
            self.run(
                prepared,
                &order_groups[run.clone()],
                |loaded, places, probe| {
                    let mut index = PrefixIndex::new(&loaded.sets, prepared.bound(), Asked::Any);
                    for place in run.clone() {
                        let group = order_groups[place];
                        let at = places[group.index()];
                        let taken = stars.take(place as u32, group.0, |each| {
                            if let Some(Some((keeper, score))) = earlier.get(group.index()) {
                                each(*keeper, *score);
                            }
                            if at != LoadedSets::NOWHERE {
                                probe.similar(
                                    &index,
                                    at as usize,
                                    |_| true,
                                    |other, shared| {
                                        let other = loaded.groups[other];
                                        each(other.0, score(sizes, group, other, shared));
                                    },
                                );
                            }
                        });
                        if taken.is_none() && at != LoadedSets::NOWHERE {
                            index.add(at as usize);
                            kept[group.index()] = true;
                        }
                        assign(&mut keepers, place, taken);
                    }
                },
            )?;
            for later in &runs[number + 1..] {
                let mut those = kept.clone();
                let waiting = &order_groups[later.clone()];
                waiting.iter().for_each(|group| those[group.index()] = true);
                let together: Vec<Group> = groups.iter().filter(|g| those[g.index()]).collect();
                self.run(prepared, &together, |loaded, places, probe| {
                    let mut index = PrefixIndex::new(&loaded.sets, prepared.bound(), Asked::Any);
                    for (place, group) in loaded.groups.iter().enumerate() {
                        if kept[group.index()] {
                            index.add(place);
                        }
                    }
                    for &group in waiting {
                        let at = places[group.index()];
                        if at == LoadedSets::NOWHERE {
                            continue;
                        }
                        probe.similar(
                            &index,
                            at as usize,
                            |_| true,
                            |other, shared| {
                                let other = loaded.groups[other];
                                let score = score(sizes, group, other, shared);
                                let best = &mut earlier[group.index()];
                                if stars.is_better(*best, other.0, score) {
                                    *best = Some((other.0, score));
                                }
                            },
                        );
                    }
                })?;
            }
        }
        Ok(keepers)
    }

    /// Has `work` done with the sets of some groups, of those that can have a partner.
    fn run(
        &mut self,
        prepared: &PreparedSets,
        groups: &[Group],
        work: impl FnOnce(&LoadedSets, &[u32], &mut Probe),
    ) -> Result<(), Error> {
        let mut is_in = vec![false; prepared.groups.len()];
        groups.iter().for_each(|group| is_in[group.index()] = true);
        let loaded = prepared.load(|group| is_in[group.index()])?;
        let mut probe = Probe::new(loaded.sets.len());
        work(&loaded, &loaded.places(prepared.groups.len()), &mut probe);
        self.searched = std::mem::take(&mut self.searched).merge(probe.stats);
        Ok(())
    }

    /// Components: whatever is connected by similar pairs is one cluster.
    fn components(
        &mut self,
        prepared: &PreparedSets,
        order: &[DocumentId],
    ) -> Result<Keepers, Error> {
        let mut keepers: Keepers = vec![None; self.collection.own() as usize];
        let mut components = Components::new(prepared.groups.len());
        // The score of each group with that of its keeper, once it is known.
        let mut scores: Vec<Option<Score>> = vec![None; prepared.groups.len()];
        let with_partner: Vec<Group> = prepared.with_partner().collect();
        let groups = groups_of(&prepared.groups, order);
        let keepers_of = |components: &mut Components| {
            let mut keeper_of = vec![u32::MAX; components.len()];
            for (place, group) in (0..).zip(&groups) {
                let keeper = &mut keeper_of[components.find(group.0) as usize];
                *keeper = (*keeper).min(place);
            }
            keeper_of
        };
        if let Way::Bands(_) = way(self.collection.settings()) {
            let links = self.links(prepared)?;
            let mut buffer = Vec::new();
            for &group in &with_partner {
                for &(to, _) in links.of(group, &mut buffer)? {
                    components.join(group.0, to);
                }
            }
        } else {
            self.searched = join_components(prepared, &with_partner, &mut components)?;
            self.searched.with_partner = with_partner.len() as u64;
        }
        let keeper_of = keepers_of(&mut components);
        for_each_two_runs(prepared, &with_partner, |loaded, _| {
            let places = loaded.places(prepared.groups.len());
            for (place, &group) in loaded.groups.iter().enumerate() {
                let keeper = keeper_of[components.find(group.0) as usize];
                let keeper = groups[keeper as usize];
                let at = places[keeper.index()];
                if at != LoadedSets::NOWHERE && keeper != group {
                    let shared = loaded.sets.shared(place, at as usize);
                    scores[group.index()] = Some(score(&prepared.sizes, group, keeper, shared));
                }
            }
            Ok(())
        })?;
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

    /// Those documents that are similar to one of the others, each with the most similar.
    fn against(&mut self, prepared: &PreparedSets) -> Result<Assigned, Error> {
        let own = self.collection.own();
        // Of each group, the first among the others.
        let first_other = |groups: &Groups, group: Group| {
            let members = groups.members(group);
            members
                .get(members.partition_point(|member| member.0 < own))
                .copied()
        };
        let better = |best: Option<(DocumentId, Score)>, other: (DocumentId, Score)| match best {
            Some(known) if known.1 > other.1 || (known.1 == other.1 && known.0 <= other.0) => {
                Some(known)
            }
            _ => Some(other),
        };
        let same = |groups: &Groups| -> Keepers {
            let same = |group| first_other(groups, group).map(|other| (other, SAME));
            groups.iter().map(same).collect()
        };
        let (groups, sizes) = (&prepared.groups, &prepared.sizes);
        let best = if let Way::Bands(_) = way(self.collection.settings()) {
            let links = self.links(prepared)?;
            let mut best = same(groups);
            let mut buffer = Vec::new();
            for group in groups.iter() {
                for &(to, shared) in links.of(group, &mut buffer)? {
                    if let Some(other) = first_other(groups, Group(to)) {
                        let score = score(sizes, group, Group(to), shared);
                        best[group.index()] = better(best[group.index()], (other, score));
                    }
                }
            }
            best
        } else {
            let is_left = |group: Group| groups.first(group).0 < own;
            let others: Vec<Option<DocumentId>> = groups
                .iter()
                .map(|group| first_other(groups, group))
                .collect();
            let best = Mutex::new(same(groups));
            let with_partner: Vec<Group> = prepared.with_partner().collect();
            let mut searched = SearchStats::default();
            for_each_two_runs(prepared, &with_partner, |loaded, runs| {
                // What is on both sides has its like there already.
                let asks = |place: usize| {
                    let group = loaded.groups[place];
                    is_left(group) && others[group.index()].is_none()
                };
                let answers = |place: usize| others[loaded.groups[place].index()].is_some();
                let wanted = |one: usize, two: usize| {
                    runs.are_new(one, two)
                        && (asks(one) && answers(two) || asks(two) && answers(one))
                };
                let stats = for_each_pair(&loaded.sets, prepared.bound(), wanted, |pairs| {
                    let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
                    for (one, two, shared) in pairs.drain(..) {
                        let (one, two) = match asks(one) {
                            true => (loaded.groups[one], loaded.groups[two]),
                            false => (loaded.groups[two], loaded.groups[one]),
                        };
                        if let Some(other) = others[two.index()] {
                            let score = score(sizes, one, two, shared);
                            best[one.index()] = better(best[one.index()], (other, score));
                        }
                    }
                    Ok(())
                })?;
                searched = std::mem::take(&mut searched).merge(stats);
                Ok(())
            })?;
            searched.with_partner = with_partner.len() as u64;
            self.searched = searched;
            best.into_inner().unwrap_or_else(PoisonError::into_inner)
        };
        let keepers = (0..own)
            .map(|document| {
                let group = groups.of(DocumentId(document))?;
                best[group.index()].filter(|_| sizes[group.index()] > 0)
            })
            .collect();
        Ok(Assigned {
            keepers,
            ..Assigned::default()
        })
    }
}

/// Joins what is similar, without comparing what is joined already.
fn join_components(
    prepared: &PreparedSets,
    with_partner: &[Group],
    components: &mut Components,
) -> Result<SearchStats, Error> {
    let mut searched = SearchStats::default();
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
                components
                    .borrow_mut()
                    .join(group.0, loaded.groups[other].0);
            });
            index.add(place);
        }
        searched = std::mem::take(&mut searched).merge(probe.stats);
        Ok(())
    })?;
    Ok(searched)
}
