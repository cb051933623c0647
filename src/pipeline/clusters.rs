//! From inputs to clusters: the documents are compared as for pairs, but only as far as
//! clusters need it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use super::reading::Described;
use super::{Compared, Found, Inputs, Run, in_pool};
use crate::candidates::growing::GrowingIndex;
use crate::candidates::identical::{Group, Groups};
use crate::candidates::least::LeastIndex;
use crate::candidates::{Match, Method, RecallAt, least, recall};
use crate::cluster::{Assigned, Cluster, ClusterMethod, Components, Keep, preference, stars};
use crate::document::DocumentId;
use crate::error::Error;
use crate::observer::Observer;
use crate::score::{Measure, Score, SetBound};
use crate::settings::Settings;
use crate::sketch::Row;
use crate::stats::Stats;
use crate::urls::Urls;

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
    /// The clusters of two and more, by their keepers, in input order; none if the
    /// documents were compared with others.
    pub clusters: Vec<Cluster>,
    /// The documents that others stand for, in input order.
    pub removed: Vec<Removed>,
    /// For each record that could be used, in input order, its document; `None` if its
    /// id was met before.
    pub records: Vec<Option<DocumentId>>,
    /// What the run did.
    pub stats: Stats,
    described: Described,
}

impl Clustered {
    /// How a document's text begins.
    pub fn sample(&self, document: DocumentId) -> &str {
        let row = self
            .records
            .iter()
            .position(|&known| known == Some(document));
        row.map_or("", |row| &self.described.rows[row].sample)
    }

    /// For each input, its name and which of [`Clustered::records`] are its own.
    pub fn files(&self) -> impl Iterator<Item = (&Arc<str>, &[Option<DocumentId>])> {
        let files = &self.described.files;
        files.iter().enumerate().map(move |(index, (name, first))| {
            let end = files
                .get(index + 1)
                .map_or(self.records.len(), |(_, next)| *next);
            (name, &self.records[*first..end])
        })
    }
}

/// Joins similar documents into clusters, by exact Jaccard similarity. Of each, the one
/// that `keep` prefers is the keeper.
///
/// Not every pair is found on the way: the cost does not grow with the square of a
/// cluster.
///
/// With something to compare them with, documents are not joined among themselves:
/// those go that are similar to one of the others, and the most similar of these stands
/// for them.
pub fn cluster_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    method: ClusterMethod,
    keep: &Keep,
    observer: &dyn Observer,
) -> Result<Clustered, Error> {
    let mut settings = settings.clone();
    settings.measure = Measure::Jaccard;
    settings.read.value_field = keep.field().map(str::to_owned);
    let settings = &settings;
    let mut run = Run::new(inputs.into(), settings, observer);
    run.described = Some(Described::default());
    in_pool(settings, || {
        if run.inputs.against.is_some() {
            return run.against();
        }
        let mut compared = run.compare_lists()?;
        let started = Instant::now();
        let described = run.described.take().unwrap_or_default();
        let rows = preference(
            keep,
            compared.documents.len(),
            |row| described.rows[row].length,
            |row| described.rows[row].value.clone(),
        );
        let mut preferred = Preferred::new(&compared, &rows);
        if matches!(compared.found, Found::Lists { .. }) {
            compared = match method {
                ClusterMethod::Star => run.stars_of_lists(compared, &preferred)?,
                ClusterMethod::Components => run.without_lists(compared)?,
            };
            preferred = Preferred::new(&compared, &rows);
        }
        let likeness = Likeness::new(&compared, settings);
        let clusters = match method {
            ClusterMethod::Star => likeness.stars(&preferred),
            ClusterMethod::Components => likeness.components(&preferred),
        };
        let stats = &mut run.stats;
        stats.counts.identical = (compared.groups.rows() - compared.groups.len()) as u64;
        stats.counts.clusters = clusters.len() as u64;
        stats.counts.members = clusters
            .iter()
            .map(|cluster| cluster.members.len() as u64)
            .sum();
        match &compared.found {
            Found::Matches { search, .. } | Found::Stars { search, .. } => {
                stats.search = search.clone();
            }
            Found::Lists { .. } | Found::Sets(_) => {
                stats.search.method = Method::Prefix;
                stats.search.recall = recall::scores_to_state(settings.threshold)
                    .map(|score| RecallAt { score, chance: 1.0 })
                    .collect();
            }
        }
        stats.counts.candidates = stats.search.candidates;
        stats.seconds.candidates += started.elapsed();
        let mut removed: Vec<Removed> = clusters
            .iter()
            .flat_map(|cluster| {
                cluster.members.iter().map(|&(document, score)| Removed {
                    document,
                    keeper: cluster.keeper,
                    score,
                })
            })
            .collect();
        removed.sort_unstable_by_key(|removed| removed.document);
        Ok(Clustered {
            urls: run.urls,
            clusters,
            removed,
            records: compared.documents,
            stats: run.stats,
            described,
        })
    })
}

impl Run<'_> {
    /// Stars by the least shingles, or sets of bundles if too many share those.
    fn stars_of_lists(
        &mut self,
        compared: Compared,
        preferred: &Preferred,
    ) -> Result<Compared, Error> {
        let settings = self.settings;
        let found = match &compared.found {
            Found::Lists { shingles, sizes } => shingles.lists().and_then(|lists| {
                let firsts: Vec<Row> = compared.groups.representatives().collect();
                let bound = SetBound::new(settings.measure, settings.threshold);
                let index = LeastIndex::new(lists, &firsts, bound);
                let (assigned, mut counted) = preferred.stars_of_index(index)?;
                // Those that were compared with none are as large as they are long.
                for (size, length) in counted.iter_mut().zip(sizes) {
                    if *size == 0 {
                        *size = *length;
                    }
                }
                Some(Found::Stars {
                    assigned,
                    sizes: counted,
                    search: least::stated(lists, settings.threshold),
                })
            }),
            _ => None,
        };
        match found {
            Some(found) => Ok(Compared { found, ..compared }),
            None => self.without_lists(compared),
        }
    }

    fn without_lists(&mut self, compared: Compared) -> Result<Compared, Error> {
        match compared.found {
            Found::Lists { shingles, .. } => {
                self.bundle(compared.documents, compared.sides, shingles)
            }
            _ => Ok(compared),
        }
    }

    /// Those documents that are similar to one of the others.
    fn against(mut self) -> Result<Clustered, Error> {
        let pairs = self.by_sets()?;
        let mut removed = Vec::new();
        pairs.for_each_best(|pair| {
            removed.push(Removed {
                document: pair.left,
                keeper: pair.right,
                score: pair.score,
            });
        });
        self.stats.counts.members = removed.len() as u64;
        let mut described = self.described.take().unwrap_or_default();
        let rows = pairs.records().len();
        described.files.retain(|&(_, first)| first < rows);
        Ok(Clustered {
            urls: self.urls,
            clusters: Vec::new(),
            removed,
            records: pairs.records().to_vec(),
            stats: self.stats,
            described,
        })
    }
}

/// The groups of identical documents in order of preference, and of each the row that is
/// preferred. Groups without shingles, and rows that do not count, are left out.
struct Preferred {
    groups: Vec<u32>,
    /// By group: its place among the groups, and its preferred row.
    places: Vec<Option<(u32, Row)>>,
}

impl Preferred {
    fn new(compared: &Compared, rows: &[u32]) -> Self {
        let mut preferred = Self {
            groups: Vec::new(),
            places: vec![None; compared.groups.len()],
        };
        for &row in rows {
            let group = compared.groups.of(Row(row)).0;
            if compared.documents[row as usize].is_none()
                || compared.size(group) == 0
                || preferred.places[group as usize].is_some()
            {
                continue;
            }
            preferred.places[group as usize] = Some((preferred.groups.len() as u32, Row(row)));
            preferred.groups.push(group);
        }
        preferred
    }

    /// Stars, and the sizes of all groups that were compared; `None` if there is too much
    /// to compare.
    fn stars_of_index(&self, index: LeastIndex<'_>) -> Option<(Assigned, Vec<u32>)> {
        let index = RefCell::new(index);
        let mut is_too_much = false;
        let similar = |node: u32, each: &mut dyn FnMut(u32, Score)| {
            is_too_much = is_too_much || index.borrow_mut().similar(node, each).is_none();
        };
        let kept = |node: u32| index.borrow_mut().add(node);
        let assigned = stars(self.places.len(), &self.groups, similar, kept);
        (!is_too_much).then(|| (assigned, index.into_inner().into_sizes()))
    }
}

impl Compared {
    /// Shingles in a group's set; only whether it is zero is sure of a group that is
    /// like no other.
    fn size(&self, group: u32) -> u32 {
        match &self.found {
            Found::Matches { sizes, .. }
            | Found::Lists { sizes, .. }
            | Found::Stars { sizes, .. } => sizes[group as usize],
            Found::Sets(sets) => sets.size(group as usize),
        }
    }
}

/// Which groups are similar, and how much.
struct Likeness<'a> {
    compared: &'a Compared,
    groups: &'a Groups,
    bound: SetBound,
}

impl<'a> Likeness<'a> {
    fn new(compared: &'a Compared, settings: &Settings) -> Self {
        Self {
            compared,
            groups: &compared.groups,
            bound: SetBound::new(settings.measure, settings.threshold),
        }
    }

    fn score(&self, one: u32, two: u32, shared: u32) -> Score {
        let sizes = [self.compared.size(one), self.compared.size(two)];
        Measure::Jaccard.score(shared, sizes)
    }

    /// The score of two groups, however low.
    fn any_score(&self, one: u32, two: u32) -> Score {
        let shared = match &self.compared.found {
            Found::Sets(sets) => sets.shared(one as usize, two as usize),
            Found::Matches { shingles, .. } | Found::Lists { shingles, .. } => {
                let first = |group: u32| self.groups.members(Group(group))[0].0 as usize;
                shingles.lists().map_or(0, |lists| {
                    least::overlap(lists.list(first(one)), lists.list(first(two)))
                })
            }
            Found::Stars { .. } => 0,
        };
        self.score(one, two, shared)
    }

    fn stars(&self, preferred: &Preferred) -> Vec<Cluster> {
        let count = self.groups.len();
        let order = &preferred.groups;
        let found: Assigned = match &self.compared.found {
            Found::Stars { assigned, .. } => assigned.clone(),
            Found::Lists { .. } => vec![None; count],
            Found::Matches { matches, .. } => {
                let links = Links::new(count, matches);
                let similar = |node: u32, each: &mut dyn FnMut(u32, Score)| {
                    for &(to, shared) in links.of(node) {
                        each(to, self.score(node, to, shared));
                    }
                };
                stars(count, order, similar, |_| {})
            }
            Found::Sets(sets) => {
                let index = RefCell::new(GrowingIndex::new(sets, self.bound));
                let similar = |node: u32, each: &mut dyn FnMut(u32, Score)| {
                    let mut scored = |other, shared| each(other, self.score(node, other, shared));
                    index.borrow_mut().similar(node, |_| true, &mut scored);
                };
                let kept = |node: u32| index.borrow_mut().add(node);
                stars(count, order, similar, kept)
            }
        };
        let whole = Score::new(1, 1);
        self.clusters(preferred, |group| {
            found[group as usize].unwrap_or((group, whole))
        })
    }

    fn components(&self, preferred: &Preferred) -> Vec<Cluster> {
        let mut components = Components::new(self.groups.len());
        match &self.compared.found {
            Found::Matches { matches, .. } => {
                for found in matches {
                    components.join(found.left.0, found.right.0);
                }
            }
            Found::Lists { .. } | Found::Stars { .. } => {}
            Found::Sets(sets) => {
                let mut index = GrowingIndex::new(sets, self.bound);
                let components = RefCell::new(&mut components);
                for &group in &preferred.groups {
                    // What is joined already need not be compared.
                    let is_apart = |other: u32| {
                        let mut components = components.borrow_mut();
                        components.find(group) != components.find(other)
                    };
                    index.similar(group, is_apart, &mut |other, _| {
                        components.borrow_mut().join(group, other);
                    });
                    index.add(group);
                }
            }
        }
        let mut keepers: Vec<Option<u32>> = vec![None; self.groups.len()];
        let mut to_keeper: Vec<Option<(u32, Score)>> = vec![None; self.groups.len()];
        for &group in &preferred.groups {
            let keeper = *keepers[components.find(group) as usize].get_or_insert(group);
            let score = match keeper == group {
                true => Score::new(1, 1),
                false => self.any_score(group, keeper),
            };
            to_keeper[group as usize] = Some((keeper, score));
        }
        self.clusters(preferred, |group| {
            to_keeper[group as usize].unwrap_or((group, Score::new(1, 1)))
        })
    }

    /// Documents by the keepers of their groups, each with its group's score.
    fn clusters(
        &self,
        preferred: &Preferred,
        to_keeper: impl Fn(u32) -> (u32, Score),
    ) -> Vec<Cluster> {
        let mut members: Vec<Vec<(DocumentId, Score)>> = vec![Vec::new(); self.groups.len()];
        let mut keepers: Vec<Option<DocumentId>> = vec![None; self.groups.len()];
        for (row, document) in (0..).map(Row).zip(&self.compared.documents) {
            let group = self.groups.of(row).0;
            let (Some(document), Some((_, _))) = (*document, preferred.places[group as usize])
            else {
                continue;
            };
            let (keeper, score) = to_keeper(group);
            let is_keeper = preferred.places[keeper as usize]
                .is_some_and(|(_, preferred_row)| preferred_row == row);
            match is_keeper {
                true => keepers[keeper as usize] = Some(document),
                false => members[keeper as usize].push((document, score)),
            }
        }
        let mut clusters: Vec<Cluster> = keepers
            .into_iter()
            .zip(members)
            .filter_map(|(keeper, members)| {
                let keeper = keeper.filter(|_| !members.is_empty())?;
                Some(Cluster { keeper, members })
            })
            .collect();
        clusters.sort_unstable_by_key(|cluster| cluster.keeper);
        clusters
    }
}

/// Matches from both sides.
struct Links {
    links: Vec<(u32, u32)>,
    starts: Vec<usize>,
}

impl Links {
    fn new(count: usize, matches: &[Match]) -> Self {
        let mut all: Vec<(u32, u32, u32)> = matches
            .iter()
            .flat_map(|found| {
                let (left, right) = (found.left.0, found.right.0);
                [(left, right, found.shared), (right, left, found.shared)]
            })
            .collect();
        all.sort_unstable();
        let starts = (0..=count as u32)
            .map(|node| all.partition_point(|&(from, _, _)| from < node))
            .collect();
        Self {
            links: all
                .into_iter()
                .map(|(_, to, shared)| (to, shared))
                .collect(),
            starts,
        }
    }

    fn of(&self, node: u32) -> &[(u32, u32)] {
        &self.links[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

/// A pair of ids with a score, as [`cluster_pairs`] takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredPair {
    /// The document that came first.
    pub left: DocumentId,
    /// The document that came later.
    pub right: DocumentId,
    /// Their score.
    pub score: f64,
}

/// Joins documents into clusters by pairs that were found earlier. Of each cluster the
/// first document is kept, or with `keep` the last.
pub fn cluster_pairs(
    documents: usize,
    pairs: &[ScoredPair],
    method: ClusterMethod,
    keep: &Keep,
) -> Vec<PairCluster> {
    let mut edges: Vec<(u32, u32, f64)> = pairs
        .iter()
        .flat_map(|pair| {
            let (left, right) = (pair.left.0, pair.right.0);
            [(left, right, pair.score), (right, left, pair.score)]
        })
        .collect();
    edges.sort_by(|one, two| one.0.cmp(&two.0).then(one.1.cmp(&two.1)));
    let starts: Vec<usize> = (0..=documents as u32)
        .map(|node| edges.partition_point(|&(from, _, _)| from < node))
        .collect();
    let links = |node: u32| &edges[starts[node as usize]..starts[node as usize + 1]];
    // Each document of a pair is before the other, so it can be told who is preferred.
    let order = before_order(documents, pairs, keep);
    let score_of = |node: u32, other: u32| {
        links(node)
            .iter()
            .find(|link| link.1 == other)
            .map(|link| link.2)
    };
    let keeper_of: Vec<u32> = match method {
        ClusterMethod::Star => {
            let similar = |node: u32, each: &mut dyn FnMut(u32, f64)| {
                links(node)
                    .iter()
                    .for_each(|&(_, to, score)| each(to, score));
            };
            // Those that are the same stay together, and go where the first of them goes.
            let mut same = Components::new(documents);
            for pair in pairs.iter().filter(|pair| pair.score >= 1.0) {
                same.join(pair.left.0, pair.right.0);
            }
            let mut firsts: Vec<Option<u32>> = vec![None; documents];
            let mut first_of = vec![0; documents];
            for &node in &order {
                let root = same.find(node) as usize;
                first_of[node as usize] = *firsts[root].get_or_insert(node);
            }
            let is_first = |&&node: &&u32| first_of[node as usize] == node;
            let order: Vec<u32> = order.iter().filter(is_first).copied().collect();
            let assigned = stars(documents, &order, similar, |_| {});
            let keeper = |first: u32| assigned[first as usize].map_or(first, |(keeper, _)| keeper);
            first_of.into_iter().map(keeper).collect()
        }
        ClusterMethod::Components => {
            let mut components = Components::new(documents);
            pairs
                .iter()
                .for_each(|pair| components.join(pair.left.0, pair.right.0));
            let mut keepers: Vec<Option<u32>> = vec![None; documents];
            let mut keeper_of = vec![0; documents];
            for &node in &order {
                let root = components.find(node) as usize;
                keeper_of[node as usize] = *keepers[root].get_or_insert(node);
            }
            keeper_of
        }
    };
    let mut clusters: Vec<PairCluster> = (0..documents as u32)
        .map(|keeper| PairCluster {
            keeper: DocumentId(keeper),
            members: Vec::new(),
        })
        .collect();
    for (node, &keeper) in (0..).zip(&keeper_of) {
        if node != keeper {
            let member = (DocumentId(node), score_of(node, keeper));
            clusters[keeper as usize].members.push(member);
        }
    }
    clusters.retain(|cluster| !cluster.members.is_empty());
    clusters
}

/// A cluster made of pairs that were found earlier.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCluster {
    /// The one that stands for all.
    pub keeper: DocumentId,
    /// The others, each with its score to the keeper, if there was such a pair.
    pub members: Vec<(DocumentId, Option<f64>)>,
}

/// An order in which the left document of each pair comes before the right one, or after
/// it with [`Keep::Last`].
fn before_order(documents: usize, pairs: &[ScoredPair], keep: &Keep) -> Vec<u32> {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); documents];
    let mut waiting_for = vec![0_u32; documents];
    for pair in pairs {
        after[pair.left.index()].push(pair.right.0);
        waiting_for[pair.right.index()] += 1;
    }
    let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<u32>> = (0..documents as u32)
        .filter(|&node| waiting_for[node as usize] == 0)
        .map(std::cmp::Reverse)
        .collect();
    let mut order = Vec::with_capacity(documents);
    while let Some(std::cmp::Reverse(node)) = ready.pop() {
        order.push(node);
        for &next in &after[node as usize] {
            waiting_for[next as usize] -= 1;
            if waiting_for[next as usize] == 0 {
                ready.push(std::cmp::Reverse(next));
            }
        }
    }
    // Pairs that contradict each other come in the order of their ids.
    if order.len() < documents {
        order.extend((0..documents as u32).filter(|&node| waiting_for[node as usize] > 0));
    }
    if *keep == Keep::Last {
        order.reverse();
    }
    order
}
