//! The one place that chooses how candidates are found: by the settings, and by nothing else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::bands::{self, GroupSignatures, Layout, Wanted};
use super::prefix::{PlacePair, for_each_pair};
use super::recall::{positions_needed, scores_to_state};
use super::sets::{LoadedSets, PreparedSets};
use super::{FewShared, LinkWriter, Links, Match, Method, RecallAt, SearchStats};
use crate::collection::{Collection, Features, Group, GroupScope, Groups};
use crate::error::Error;
use crate::observer::Observer;
use crate::score::{Measure, shared_at_least};
use crate::settings::{Finding, Settings};
use crate::sketch::Bands;
use crate::sketch::{Signatures, Value};

/// What is similar in a collection.
pub(crate) struct Found {
    /// Documents that are the same, if more is known of that than the collection knew.
    pub(crate) groups: Option<Groups>,
    /// Shingles, or positions, of each group's members.
    pub(crate) sizes: Vec<u32>,
    pub(crate) links: Links,
    pub(crate) stats: SearchStats,
}

/// How exact scores are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// All of them.
    Complete,
    /// Those that agree in one of these bands.
    Bands(Bands),
}

/// How the settings ask for exact scores to be found. If no bands keep the recall that is asked
/// for, it is 1.
pub(crate) fn way(settings: &Settings) -> Way {
    match (settings.measure, settings.finding) {
        (Measure::Jaccard, Finding::Bands(bands)) => Way::Bands(bands),
        (Measure::Jaccard, Finding::Recall(recall)) if recall < 1.0 => {
            let threshold = settings.threshold.as_f64();
            Bands::for_recall(settings.sketch.positions(), threshold, recall)
                .map_or(Way::Complete, Way::Bands)
        }
        _ => Way::Complete,
    }
}

/// Finds all that is similar.
pub(crate) fn search(collection: &Collection, observer: &dyn Observer) -> Result<Found, Error> {
    match collection.features() {
        Features::Signatures(signatures) => by_positions(collection, signatures, observer),
        Features::Shingles { lists, .. } => {
            let mut prepared = PreparedSets::new(collection, lists, observer)?;
            prepared.count_copies(lists)?;
            let (links, stats) = search_sets(collection, &prepared, observer)?;
            Ok(Found {
                groups: Some(prepared.groups),
                sizes: prepared.sizes,
                links,
                stats,
            })
        }
    }
}

/// Broder's score: positions in which two signatures agree.
fn by_positions(
    collection: &Collection,
    signatures: &Signatures,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let groups = collection.groups();
    let all: Vec<u32> = (0..groups.len() as u32).collect();
    let of_groups = OfGroups { signatures, groups };
    let (links, stats) = search_positions(collection, groups, &of_groups, &all, observer)?;
    Ok(Found {
        sizes: vec![signatures.positions() as u32; groups.len()],
        groups: None,
        links,
        stats,
    })
}

/// The same for signatures of these groups, among those that are named.
pub(crate) fn search_positions(
    collection: &Collection,
    groups: &Groups,
    signatures: &dyn GroupSignatures,
    among: &[u32],
    observer: &dyn Observer,
) -> Result<(Links, SearchStats), Error> {
    let settings = collection.settings();
    let links = LinkWriter::new(groups.len(), &settings.memory());
    let needed = settings.threshold.needed(signatures.positions());
    let wanted = Wanted {
        signatures,
        groups: among,
        layout: Layout::Lossless,
        needed,
        scope: &collection.scope().of_groups(groups),
        score: |one, two| shared_at_least(signatures.of(one), signatures.of(two), needed),
    };
    let stats = bands::search(wanted, &links, observer)?;
    Ok((links.finish()?, stats))
}

/// The signatures of groups, each that of its first document.
pub(crate) struct OfGroups<'a> {
    pub(crate) signatures: &'a Signatures,
    pub(crate) groups: &'a Groups,
}

impl GroupSignatures for OfGroups<'_> {
    fn positions(&self) -> usize {
        self.signatures.positions()
    }

    fn of(&self, group: u32) -> &[Value] {
        self.signatures.of(self.groups.first(Group(group)))
    }
}

/// Exact scores of sets.
pub(crate) fn search_sets(
    collection: &Collection,
    prepared: &PreparedSets,
    observer: &dyn Observer,
) -> Result<(Links, SearchStats), Error> {
    let settings = collection.settings();
    let scope = collection.scope().of_groups(&prepared.groups);
    let few_shared = FewShared::new(prepared, collection.scope());
    let links = LinkWriter::new(prepared.groups.len(), &settings.memory()).without(&few_shared);
    let mut stats = match (way(settings), collection.features()) {
        (
            Way::Bands(bands),
            Features::Shingles {
                signatures: Some(signatures),
                ..
            },
        ) => by_bands(prepared, signatures, bands, (&scope, &links), observer)?,
        _ => complete(prepared, &scope, &links, observer)?,
    };
    state(collection, &mut stats);
    stats.pruned_by_min_shared = few_shared.left_out();
    stats.with_partner = prepared.with_partner().count() as u64;
    Ok((links.finish()?, stats))
}

/// All that is similar.
fn complete(
    prepared: &PreparedSets,
    scope: &GroupScope,
    links: &LinkWriter<'_>,
    observer: &dyn Observer,
) -> Result<SearchStats, Error> {
    let mut stats = SearchStats::default();
    let order: Vec<Group> = prepared.with_partner().collect();
    prepared.for_each_block(&order, observer, |block, others, count| {
        let groups = &block.groups;
        let wanted = |one: usize, two: usize| scope.admits(groups[one], groups[two]);
        let found = for_each_pair(&block.sets, prepared.bound(), wanted, count, |pairs| {
            links.push(&mut matches(block, pairs))
        })?;
        stats = std::mem::take(&mut stats).merge(found);
        if let Some(others) = others {
            let found = others.for_each_pair(scope, count, |matches| links.push(matches))?;
            stats = std::mem::take(&mut stats).merge(found);
        }
        Ok(())
    })?;
    Ok(stats)
}

fn matches(loaded: &LoadedSets, pairs: &mut Vec<PlacePair>) -> Vec<Match> {
    pairs
        .drain(..)
        .map(|(one, two, shared)| Match {
            one: loaded.groups[one],
            two: loaded.groups[two],
            shared,
        })
        .collect()
}

/// Those pairs that agree in a band and share enough. Of the candidates, those fall whose
/// sizes forbid the threshold, and those of whose positions so few agree that the binomial
/// distribution all but rules it out; the rest are compared.
fn by_bands(
    prepared: &PreparedSets,
    signatures: &Signatures,
    bands: Bands,
    (scope, links): (&GroupScope, &LinkWriter<'_>),
    observer: &dyn Observer,
) -> Result<SearchStats, Error> {
    let threshold = prepared.bound().threshold().as_f64();
    let (needed, _) = positions_needed(signatures.positions(), threshold, bands);
    let of_groups = OfGroups {
        signatures,
        groups: &prepared.groups,
    };
    let groups: Vec<u32> = prepared.with_partner().map(|group| group.0).collect();
    let [by_size, by_positions, merges] = [const { AtomicU64::new(0) }; 3];
    let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
    let failed = Mutex::new(None);
    let score = |one: u32, two: u32| {
        let [left, right] = [one, two].map(|group| prepared.sizes[group as usize]);
        let least = prepared.bound().shared(left, right);
        if least > left.min(right) {
            count(&by_size);
            return None;
        }
        if shared_at_least(of_groups.of(one), of_groups.of(two), needed).is_none() {
            count(&by_positions);
            return None;
        }
        count(&merges);
        match prepared.shared(Group(one), Group(two)) {
            Ok(shared) => (shared >= least).then_some(shared),
            Err(error) => {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        }
    };
    let mut stats = bands::search(
        Wanted {
            signatures: &of_groups,
            groups: &groups,
            layout: Layout::Chosen {
                bands: bands.bands,
                rows: bands.rows,
            },
            needed,
            scope,
            score,
        },
        links,
        observer,
    )?;
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    stats.fell_by_size = by_size.into_inner();
    stats.fell_by_positions = by_positions.into_inner();
    stats.merges = merges.into_inner();
    Ok(stats)
}

/// States how, and with what chance, exact scores are found.
pub(crate) fn state(collection: &Collection, stats: &mut SearchStats) {
    let settings = collection.settings();
    let threshold = settings.threshold;
    match way(settings) {
        Way::Complete => {
            stats.method = Method::Prefix;
            stats.recall = scores_to_state(threshold)
                .map(|score| RecallAt { score, chance: 1.0 })
                .collect();
        }
        Way::Bands(bands) => {
            stats.method = Method::Bands;
            let positions = settings.sketch.positions();
            let (_, lost) = positions_needed(positions, threshold.as_f64(), bands);
            stats.bands = bands.bands;
            stats.rows = bands.rows;
            stats.recall = bands.curve(threshold, lost);
        }
    }
}
