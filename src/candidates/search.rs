//! The one place that chooses how candidates are found: by the settings, and by nothing else.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bands::{self, GroupSignatures, Layout, Wanted};
use super::prefix::{PlacePair, for_each_pair};
use super::recall::{Bands, positions_needed, scores_to_state};
use super::sets::{LoadedSets, PreparedSets};
use super::{LinkWriter, Links, Match, Method, RecallAt, SearchStats};
use crate::collection::{Collection, Features, Group, GroupScope, Groups, Role};
use crate::error::Error;
use crate::score::{Measure, shared_at_least};
use crate::settings::{Finding, Settings};
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
pub(crate) fn search(collection: &Collection) -> Result<Found, Error> {
    match collection.features() {
        Features::Signatures(signatures) => by_positions(collection, signatures),
        Features::Shingles { lists, .. } => {
            let prepared = PreparedSets::new(collection, lists)?;
            let (links, stats) = search_sets(collection, &prepared)?;
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
fn by_positions(collection: &Collection, signatures: &Signatures) -> Result<Found, Error> {
    let settings = collection.settings();
    let groups = collection.groups();
    let links = LinkWriter::new(groups.len(), &settings.memory());
    let positions = signatures.positions();
    let needed = settings.threshold.needed(positions);
    let of_groups = OfGroups { signatures, groups };
    let all: Vec<u32> = (0..groups.len() as u32).collect();
    let wanted = Wanted {
        signatures: &of_groups,
        groups: &all,
        layout: Layout::Lossless,
        needed,
        scope: &collection.scope().of_groups(groups),
        score: |one, two| shared_at_least(of_groups.of(one), of_groups.of(two), needed),
    };
    let stats = bands::search(wanted, &links)?;
    Ok(Found {
        sizes: vec![positions as u32; groups.len()],
        groups: None,
        links: links.finish()?,
        stats,
    })
}

struct OfGroups<'a> {
    signatures: &'a Signatures,
    groups: &'a Groups,
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
) -> Result<(Links, SearchStats), Error> {
    let settings = collection.settings();
    let scope = collection.scope().of_groups(&prepared.groups);
    let links = LinkWriter::new(prepared.groups.len(), &settings.memory());
    let order: Vec<Group> = prepared.with_partner().collect();
    let sketched = match (way(settings), collection.features()) {
        (
            Way::Bands(bands),
            Features::Shingles {
                signatures: Some(signatures),
                ..
            },
        ) => Some(Sketched { signatures, bands }),
        _ => None,
    };
    let mut stats = SearchStats::default();
    for_each_two_runs(prepared, &order, |loaded, runs| {
        let searched = match &sketched {
            None => {
                let wanted = |one: usize, two: usize| {
                    runs.are_new(one, two) && scope.admits(loaded.groups[one], loaded.groups[two])
                };
                for_each_pair(&loaded.sets, prepared.bound(), wanted, |pairs| {
                    links.push(&mut matches(loaded, pairs))
                })?
            }
            Some(sketched) => sketched.search(prepared, loaded, &scope, runs, &links)?,
        };
        stats = std::mem::take(&mut stats).merge(searched);
        Ok(())
    })?;
    state(collection, &mut stats);
    stats.with_partner = order.len() as u64;
    Ok((links.finish()?, stats))
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

/// Which sets that have been loaded are of which of two runs.
pub(crate) struct TwoRuns {
    /// Whether each, by its place, is of the first; `None` if all are of one run.
    is_first: Option<Vec<bool>>,
}

impl TwoRuns {
    /// Whether two sets, by their places, have not met in other runs.
    #[inline]
    pub(crate) fn are_new(&self, one: usize, two: usize) -> bool {
        let is_first = self.is_first.as_ref();
        is_first.is_none_or(|is_first| is_first[one] != is_first[two])
    }

    /// The part that each of so many groups has if only what is new is compared.
    fn scope(&self, loaded: &LoadedSets, groups: usize) -> Option<GroupScope> {
        let is_first = self.is_first.as_ref()?;
        let mut roles = vec![Role::NONE; groups];
        for (group, is_first) in loaded.groups.iter().zip(is_first) {
            roles[group.index()] = match is_first {
                true => Role::LEFT,
                false => Role::RIGHT,
            };
        }
        Some(GroupScope::of(roles))
    }
}

/// Calls `each` with the sets of every two runs of `order`.
pub(crate) fn for_each_two_runs(
    prepared: &PreparedSets,
    order: &[Group],
    mut each: impl FnMut(&LoadedSets, &TwoRuns) -> Result<(), Error>,
) -> Result<(), Error> {
    let cells = prepared.cells(order);
    if let [cell] = &cells[..]
        && cell.runs.len() == 1
    {
        return each(prepared.load_all()?, &TwoRuns { is_first: None });
    }
    const NO_RUN: u32 = u32::MAX;
    let mut run_of = vec![NO_RUN; prepared.groups.len()];
    for cell in &cells {
        for (number, run) in (0..).zip(&cell.runs) {
            for &place in run {
                run_of[order[place as usize].index()] = number;
            }
        }
        for one in 0..cell.runs.len() as u32 {
            for two in one..cell.runs.len() as u32 {
                let loaded = prepared.load(|group| {
                    let run = run_of[group.index()];
                    run == one || run == two
                })?;
                let is_first = |group: &Group| run_of[group.index()] == one;
                let two_runs = TwoRuns {
                    is_first: (one != two).then(|| loaded.groups.iter().map(is_first).collect()),
                };
                each(&loaded, &two_runs)?;
            }
        }
        for &place in cell.runs.iter().flatten() {
            run_of[order[place as usize].index()] = NO_RUN;
        }
    }
    Ok(())
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

/// Signatures of sets, to find those that are likely to be similar.
struct Sketched<'a> {
    signatures: &'a Signatures,
    bands: Bands,
}

impl Sketched<'_> {
    /// The pairs that agree in a band and share enough. Of the candidates, those fall whose
    /// sizes forbid the threshold, and those of whose positions so few agree that the binomial
    /// distribution all but rules it out; the rest are compared.
    fn search(
        &self,
        prepared: &PreparedSets,
        loaded: &LoadedSets,
        scope: &GroupScope,
        runs: &TwoRuns,
        links: &LinkWriter,
    ) -> Result<SearchStats, Error> {
        let threshold = prepared.bound().threshold().as_f64();
        let positions = self.signatures.positions();
        let (needed, _) = positions_needed(positions, threshold, self.bands);
        let of_groups = OfGroups {
            signatures: self.signatures,
            groups: &prepared.groups,
        };
        let mut groups: Vec<u32> = loaded.groups.iter().map(|group| group.0).collect();
        groups.sort_unstable();
        let places = loaded.places(prepared.groups.len());
        // What is compared with what tells the search where there is nothing to find; only
        // where that is two things at once must each pair be asked.
        let new = runs.scope(loaded, prepared.groups.len());
        let is_new = |one, two| !scope.is_across() || runs.are_new(one, two);
        let scope = match &new {
            Some(new) if !scope.is_across() => new,
            _ => scope,
        };
        let [by_size, by_positions, merges] = [const { AtomicU64::new(0) }; 3];
        let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        let score = |one: u32, two: u32| {
            let places = [one, two].map(|group| places[group as usize] as usize);
            if !is_new(places[0], places[1]) {
                return None;
            }
            let [left, right] = places.map(|place| loaded.sets.sizes()[place]);
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
            let shared = loaded.sets.shared(places[0], places[1]);
            (shared >= least).then_some(shared)
        };
        let mut stats = bands::search(
            Wanted {
                signatures: &of_groups,
                groups: &groups,
                layout: Layout::Chosen {
                    bands: self.bands.bands,
                    rows: self.bands.rows,
                },
                needed,
                scope,
                score,
            },
            links,
        )?;
        stats.fell_by_size = by_size.into_inner();
        stats.fell_by_positions = by_positions.into_inner();
        stats.merges = merges.into_inner();
        Ok(stats)
    }
}
