//! From inputs to clusters: documents are compared only as far as clusters need it.

mod against;
mod apart;
mod assigned;
mod components;
mod keeper_index;
mod stars;

use std::ops::Range;
use std::time::Instant;

use crate::cluster::{Cluster, ClusterMethod, Keep, preference};
use crate::collection::{Collection, Features, Group, Sides, Urls};
use crate::document::DocumentId;
use crate::error::Error;
use crate::observer::{Observer, Phase};
use crate::run::floor::Purpose;
use crate::run::reading::{Reading, Wants};
use crate::run::{Inputs, in_pool};
use crate::score::{Measure, Score};
use crate::search::{Links, PreparedSets, SearchStats, Way, search_sets, state, way};
use crate::settings::Settings;
use crate::stats::Stats;

pub use assigned::Removed;
pub(crate) use assigned::{Assigned, Keepers};

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

/// Joins similar documents into clusters, by exact Jaccard similarity. Of each, the one
/// that `keep` prefers is the keeper.
///
/// With something to compare them with, documents are not joined among themselves:
/// those go that are similar to one of the others, and the most similar of these stands
/// for them. A file that is on both sides is not among the others.
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
    let mut reading = Reading::new(settings, observer, wants(keep), Purpose::Clusters);
    let mut inputs = inputs.into();
    inputs.drop_shared();
    in_pool(settings, || {
        let collection = reading.collection(inputs)?;
        observer.phase(Phase::Comparing);
        let has_values = has_values(&collection);
        let assigned = assign(&collection, (method, keep), &mut reading.stats, observer)?;
        Ok(Clustered {
            urls: collection.into_parts().0,
            stats: reading.stats,
            has_values,
            assigned,
        })
    })
}

/// The settings with what clusters need.
pub(crate) fn for_clusters(settings: &Settings, keep: &Keep) -> Settings {
    Settings {
        measure: Measure::Jaccard,
        ..settings.with_value_field(keep.field())
    }
}

/// What is to be known of documents to choose between them.
pub(crate) fn wants(keep: &Keep) -> Wants {
    Wants {
        lengths: matches!(keep, Keep::Longest | Keep::Shortest),
        values: keep.field().is_some(),
        ..Wants::default()
    }
}

/// Whether any document has the field that counts.
pub(crate) fn has_values(collection: &Collection) -> bool {
    let values = collection.descriptions.values.iter();
    values.take(collection.own() as usize).any(Option::is_some)
}

/// Decides who stands for whom if documents that repeat among themselves go, too: for some, one of
/// another collection, as was `assigned`; for the rest, one of the rest. Gives back the ids of all
/// documents.
pub(crate) fn assign_rest(
    collection: Collection,
    assigned: Assigned,
    joined: (ClusterMethod, &Keep),
    stats: &mut Stats,
    observer: &dyn Observer,
) -> Result<(Urls, Assigned), Error> {
    let own = collection.own();
    let rest = collection.rest(|document| document.0 >= own || assigned.is_removed(document));
    let (identical, candidates) = (stats.counts.identical, stats.counts.candidates);
    let searched = std::mem::take(&mut stats.search);
    let of_rest = assign(&rest, joined, stats, observer)?;
    let assigned = assigned.and_rest(of_rest);
    stats.counts.identical = identical.max(stats.counts.identical);
    stats.counts.candidates += candidates;
    stats.search = std::mem::take(&mut stats.search).merge(searched);
    stats.counts.members = assigned.count() as u64;
    Ok((rest.into_parts().0, assigned))
}

/// Decides who stands for whom.
pub(crate) fn assign(
    collection: &Collection,
    (method, keep): (ClusterMethod, &Keep),
    stats: &mut Stats,
    observer: &dyn Observer,
) -> Result<Assigned, Error> {
    let Features::Shingles { lists, .. } = collection.features() else {
        return Ok(Assigned::default());
    };
    let started = Instant::now();
    let mut prepared = PreparedSets::new(collection, lists, observer)?;
    if collection.settings().min_shared > 0 {
        prepared.count_copies(lists)?;
    }
    let prepared = &prepared;
    stats.counts.identical = prepared.groups.copies() as u64;
    let mut clustering = Clustering {
        collection,
        prepared,
        searched: SearchStats::default(),
        observer,
    };
    let (sides, parties) = {
        let scope = collection.scope();
        (scope.sides, scope.parties.as_deref())
    };
    let assigned = match (sides, parties) {
        (Sides::Across(_), None) => Assigned::new(against::keepers(&mut clustering)?),
        (Sides::Across(first), Some(parties)) => {
            let links = clustering.links()?;
            Assigned::new(apart::against(prepared, &links, parties, first)?)
        }
        (Sides::All, _) => {
            let descriptions = &collection.descriptions;
            let mut order = preference(
                keep,
                collection.own(),
                &descriptions.lengths,
                &descriptions.values,
            );
            // Those without shingles are like no other.
            order.retain(|&document| {
                let group = prepared.groups.of(document);
                group.is_some_and(|group| prepared.can_be_paired(group))
            });
            Assigned::new(match (method, parties) {
                (ClusterMethod::Star, None) => stars::keepers(&mut clustering, &order)?,
                (ClusterMethod::Components, None) => components::keepers(&mut clustering, &order)?,
                (method, Some(parties)) => {
                    let links = clustering.links()?;
                    let keepers = match method {
                        ClusterMethod::Star => apart::stars,
                        ClusterMethod::Components => apart::components,
                    };
                    keepers(prepared, &links, parties, &order, collection.own())?
                }
            })
        }
    };
    state(collection, &mut clustering.searched);
    // Not all pairs are compared: how many were left out depends on the way to the clusters.
    clustering.searched.pruned_by_min_shared = 0;
    stats.search = clustering.searched;
    stats.counts.candidates = stats.search.candidates;
    stats.counts.members = assigned.count() as u64;
    stats.counts.clusters = assigned.clusters().count() as u64;
    stats.seconds.candidates += started.elapsed();
    Ok(assigned)
}

/// Some at a time, after each of which progress is told: their places, and they themselves.
fn runs<T>(all: &[T]) -> impl Iterator<Item = (Range<usize>, &[T])> {
    const AT_ONCE: usize = 64;
    let runs = (0..).step_by(AT_ONCE).zip(all.chunks(AT_ONCE));
    runs.map(|(start, some)| (start..start + some.len(), some))
}

/// The score of documents that are the same.
const SAME: Score = Score::WHOLE;

/// Sets that are to be clustered, and how the search in them went so far.
struct Clustering<'a> {
    collection: &'a Collection,
    prepared: &'a PreparedSets,
    searched: SearchStats,
    observer: &'a dyn Observer,
}

impl Clustering<'_> {
    /// All that is similar, where clusters must be made of it: if it is found in a way that does
    /// not find all, or if what must be compared does not fit into memory.
    fn links_if_needed(&mut self) -> Result<Option<Links>, Error> {
        match way(self.collection.settings()) {
            Way::Complete if self.prepared.fits() => Ok(None),
            _ => self.links().map(Some),
        }
    }

    /// All that is similar.
    fn links(&mut self) -> Result<Links, Error> {
        let (links, stats) = search_sets(self.collection, self.prepared, self.observer)?;
        self.searched = stats;
        Ok(links)
    }

    /// The groups of documents that all have one.
    fn groups_of(&self, order: &[DocumentId]) -> Vec<Group> {
        let group = |&document| self.prepared.groups.of(document);
        order.iter().filter_map(group).collect()
    }

    /// The groups that can have a partner.
    fn with_partner(&mut self) -> Vec<Group> {
        let groups: Vec<Group> = self.prepared.with_partner().collect();
        self.searched.with_partner = groups.len() as u64;
        groups
    }

    fn add_stats(&mut self, stats: SearchStats) {
        self.searched = std::mem::take(&mut self.searched).merge(stats);
    }
}

/// What the sets of two groups have in common, as a score.
fn score(prepared: &PreparedSets, one: Group, two: Group, shared: u32) -> Score {
    let sizes = [one, two].map(|group| prepared.sizes[group.index()]);
    Measure::Jaccard.score(shared, sizes)
}
