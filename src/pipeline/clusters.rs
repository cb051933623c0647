//! From inputs to clusters: the documents are compared as for pairs, but only as far as
//! clusters need it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use super::copying::KeptRecords;
use super::exact::{Compared, Found};
use super::reading::Described;
use super::{Inputs, Run, in_pool};
use crate::candidates::growing::GrowingIndex;
use crate::candidates::identical::{Group, Groups};
use crate::candidates::least::LeastIndex;
use crate::candidates::{Match, Method, RecallAt, least, recall};
use crate::cluster::{Assigned, Cluster, ClusterMethod, Components, Keep, preference, stars};
use crate::document::DocumentId;
use crate::error::Error;
use crate::observer::Observer;
use crate::pairs::Sides;
use crate::score::{Measure, Score, SetBound};
use crate::settings::{Finding, Settings};
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
    /// The documents' records, if they were to be kept.
    pub kept: Option<KeptRecords>,
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

    /// Whether any document has the field by which the keepers were chosen.
    pub fn has_values(&self) -> bool {
        self.described.rows.iter().any(|row| row.value.is_some())
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

/// The recall unless another is asked for: higher than for pairs, as it costs next to
/// nothing here and a pair that is missed leaves two of a kind.
const DEFAULT_RECALL: f64 = 1.0 - 1e-9;

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
    if settings.finding == Finding::default() {
        settings.finding = Finding::Recall(DEFAULT_RECALL);
    }
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
            compared = run.clusters_of_lists(compared, &preferred, method)?;
            preferred = Preferred::new(&compared, &rows);
        }
        let likeness = Likeness::new(&compared, settings);
        let clusters = match method {
            ClusterMethod::Star => likeness.stars(&preferred),
            ClusterMethod::Components => likeness.components(&preferred),
        };
        run.state_search(&compared);
        run.stats.counts.clusters = clusters.len() as u64;
        run.stats.counts.members = clusters
            .iter()
            .map(|cluster| cluster.members.len() as u64)
            .sum();
        run.stats.seconds.candidates += started.elapsed();
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
            kept: run.kept,
            stats: run.stats,
            described,
        })
    })
}

impl Run<'_> {
    /// Clusters by the least shingles, or sets of bundles if too many share those.
    fn clusters_of_lists(
        &mut self,
        compared: Compared,
        preferred: &Preferred,
        method: ClusterMethod,
    ) -> Result<Compared, Error> {
        let settings = self.settings;
        let found = match &compared.found {
            Found::Lists { shingles, sizes } => shingles.lists().and_then(|lists| {
                let firsts: Vec<Row> = compared.groups.representatives().collect();
                let bound = SetBound::new(settings.measure, settings.threshold);
                let index = LeastIndex::new(lists, &firsts, bound);
                let (assigned, mut index) = preferred.stars_of_index(firsts.len(), index)?;
                let joined = match method {
                    ClusterMethod::Star => None,
                    ClusterMethod::Components => Some(preferred.joined(&assigned, &mut index)?),
                };
                // Those that were compared with none are as large as they are long.
                let known = index.into_sizes().into_iter().zip(sizes);
                let sizes = known.map(|(size, &length)| if size == 0 { length } else { size });
                let search = least::stated(lists, settings.threshold);
                Some((assigned, joined, sizes.collect(), search))
            }),
            _ => None,
        };
        let Some((assigned, joined, sizes, search)) = found else {
            return self.without_lists(compared);
        };
        let found = match (joined, compared.found) {
            (Some(components), Found::Lists { shingles, .. }) => Found::Joined {
                components,
                sizes,
                search,
                shingles,
            },
            _ => Found::Stars {
                assigned,
                sizes,
                search,
            },
        };
        Ok(Compared { found, ..compared })
    }

    fn without_lists(&mut self, compared: Compared) -> Result<Compared, Error> {
        match compared.found {
            Found::Lists { shingles, .. } => {
                self.bundle(compared.documents, compared.sides, shingles)
            }
            _ => Ok(compared),
        }
    }

    /// Those documents that are similar to one of the others, each with the most similar.
    fn against(mut self) -> Result<Clustered, Error> {
        let compared = self.compare_sets()?;
        let started = Instant::now();
        let rows = match compared.sides {
            Sides::One => compared.documents.len(),
            Sides::Across(first) => first.0 as usize,
        };
        let removed = Likeness::new(&compared, self.settings).removed(rows);
        self.stats.counts.members = removed.len() as u64;
        self.state_search(&compared);
        self.stats.seconds.candidates += started.elapsed();
        let mut described = self.described.take().unwrap_or_default();
        described.files.retain(|&(_, first)| first < rows);
        let mut records = compared.documents;
        records.truncate(rows);
        Ok(Clustered {
            urls: self.urls,
            clusters: Vec::new(),
            removed,
            records,
            kept: self.kept,
            stats: self.stats,
            described,
        })
    }

    /// How what is similar was found.
    fn state_search(&mut self, compared: &Compared) {
        let stats = &mut self.stats;
        stats.counts.identical = (compared.groups.rows() - compared.groups.len()) as u64;
        match &compared.found {
            Found::Matches { search, .. }
            | Found::Stars { search, .. }
            | Found::Joined { search, .. } => {
                stats.search = search.clone();
            }
            Found::Lists { .. } | Found::Sets(_) => {
                stats.search.method = Method::Prefix;
                stats.search.recall = recall::scores_to_state(self.settings.threshold)
                    .map(|score| RecallAt { score, chance: 1.0 })
                    .collect();
            }
        }
        stats.counts.candidates = stats.search.candidates;
    }
}

/// The documents in order of preference, as rows, and the group of each. Those without
/// shingles are left out: they are like no other.
struct Preferred {
    rows: Vec<Row>,
    groups: Vec<u32>,
}

impl Preferred {
    fn new(compared: &Compared, rows: &[u32]) -> Self {
        let group = |row: &Row| compared.groups.of(*row).0;
        let counts = |row: &Row| {
            compared.documents[row.0 as usize].is_some() && compared.size(group(row)) > 0
        };
        let rows: Vec<Row> = rows.iter().copied().map(Row).filter(counts).collect();
        Self {
            groups: rows.iter().map(group).collect(),
            rows,
        }
    }

    /// Stars, and the index that found them; `None` if there is too much to compare.
    fn stars_of_index<'i>(
        &self,
        groups: usize,
        index: LeastIndex<'i>,
    ) -> Option<(Assigned, LeastIndex<'i>)> {
        let index = RefCell::new(index);
        let mut is_too_much = false;
        let similar = |node: u32, each: &mut dyn FnMut(u32, Score)| {
            is_too_much = is_too_much || index.borrow_mut().similar(node, each).is_none();
        };
        let kept = |node: u32| index.borrow_mut().add(node);
        let assigned = stars(groups, &self.groups, SAME, similar, kept);
        (!is_too_much).then(|| (assigned, index.into_inner()))
    }

    /// Stars joined to components where they are similar; `None` if there is too much to
    /// compare.
    fn joined(&self, assigned: &Assigned, index: &mut LeastIndex<'_>) -> Option<Components> {
        let mut groups = self.groups.clone();
        groups.sort_unstable();
        groups.dedup();
        let mut components = Components::new(groups.last().map_or(0, |&last| last as usize + 1));
        for (&group, assigned) in self.groups.iter().zip(assigned) {
            if let Some((keeper, _)) = assigned {
                components.join(group, self.groups[*keeper as usize]);
            }
        }
        let components = RefCell::new(components);
        index.join_apart(
            &groups,
            |group| components.borrow_mut().find(group),
            |one, two| components.borrow_mut().join(one, two),
        )?;
        Some(components.into_inner())
    }
}

impl Compared {
    /// Shingles in a group's set; only whether it is zero is sure of a group that is
    /// like no other.
    fn size(&self, group: u32) -> u32 {
        match &self.found {
            Found::Matches { sizes, .. }
            | Found::Lists { sizes, .. }
            | Found::Joined { sizes, .. }
            | Found::Stars { sizes, .. } => sizes[group as usize],
            Found::Sets(sets) => sets.size(group as usize),
        }
    }
}

/// Calls back with every group that is similar to one, and what they share.
type Similar<'a> = Box<dyn FnMut(u32, &mut dyn FnMut(u32, u32)) + 'a>;

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
            Found::Matches { shingles, .. }
            | Found::Lists { shingles, .. }
            | Found::Joined { shingles, .. } => {
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
        let assigned: Assigned = match &self.compared.found {
            Found::Stars { assigned, .. } => assigned.clone(),
            Found::Lists { .. } | Found::Joined { .. } => vec![None; order.len()],
            Found::Matches { matches, .. } => {
                let links = Links::new(count, matches);
                let similar = |node: u32, each: &mut dyn FnMut(u32, Score)| {
                    for &(to, shared) in links.of(node) {
                        each(to, self.score(node, to, shared));
                    }
                };
                stars(count, order, SAME, similar, |_| {})
            }
            Found::Sets(sets) => {
                let index = RefCell::new(GrowingIndex::new(sets, self.bound));
                let similar = |node: u32, each: &mut dyn FnMut(u32, Score)| {
                    let mut scored = |other, shared| each(other, self.score(node, other, shared));
                    index.borrow_mut().similar(node, |_| true, &mut scored);
                };
                let kept = |node: u32| index.borrow_mut().add(node);
                stars(count, order, SAME, similar, kept)
            }
        };
        self.clusters(preferred, &assigned)
    }

    /// The documents of the first `rows` that are similar to one of the others.
    fn removed(&self, rows: usize) -> Vec<Removed> {
        let documents = &self.compared.documents;
        let counts = |row: &&Row| row.0 as usize >= rows && documents[row.0 as usize].is_some();
        // Of each group, the first among the others.
        let others: Vec<Option<Row>> = (0..self.groups.len() as u32)
            .map(|group| {
                self.groups
                    .members(Group(group))
                    .iter()
                    .find(counts)
                    .copied()
            })
            .collect();
        let mut similar: Similar<'_> = match &self.compared.found {
            Found::Matches { matches, .. } => {
                let links = Links::new(self.groups.len(), matches);
                Box::new(move |group, each| {
                    links
                        .of(group)
                        .iter()
                        .for_each(|&(to, shared)| each(to, shared));
                })
            }
            Found::Sets(sets) => {
                let mut index = GrowingIndex::new(sets, self.bound);
                let has_other = |group: &u32| others[*group as usize].is_some();
                (0..self.groups.len() as u32)
                    .filter(has_other)
                    .for_each(|group| index.add(group));
                Box::new(move |group, each| index.similar(group, |_| true, each))
            }
            Found::Lists { .. } | Found::Stars { .. } | Found::Joined { .. } => Box::new(|_, _| {}),
        };
        let mut best_of = |group: u32| {
            if self.compared.size(group) == 0 {
                return None;
            }
            let mut best = others[group as usize].map(|row| (row, SAME));
            similar(group, &mut |other, shared| {
                let Some(row) = others[other as usize] else {
                    return;
                };
                let score = self.score(group, other, shared);
                let is_better =
                    best.is_none_or(|(known, best)| score > best || (score == best && row < known));
                if is_better {
                    best = Some((row, score));
                }
            });
            best
        };
        let mut told: Vec<Option<Option<(Row, Score)>>> = vec![None; self.groups.len()];
        let mut removed = Vec::new();
        for (row, document) in (0..).map(Row).zip(&documents[..rows]) {
            let Some(document) = *document else {
                continue;
            };
            let group = self.groups.of(row).0;
            let best = *told[group as usize].get_or_insert_with(|| best_of(group));
            if let Some((keeper, score)) = best
                && let Some(keeper) = documents[keeper.0 as usize]
            {
                removed.push(Removed {
                    document,
                    keeper,
                    score,
                });
            }
        }
        removed
    }

    fn components(&self, preferred: &Preferred) -> Vec<Cluster> {
        let mut components = Components::new(self.groups.len());
        match &self.compared.found {
            Found::Matches { matches, .. } => {
                for found in matches {
                    components.join(found.left.0, found.right.0);
                }
            }
            Found::Joined {
                components: joined, ..
            } => components = joined.clone(),
            Found::Lists { .. } | Found::Stars { .. } => {}
            Found::Sets(sets) => {
                let mut index = GrowingIndex::new(sets, self.bound);
                let mut is_added = vec![false; self.groups.len()];
                let components = RefCell::new(&mut components);
                for &group in &preferred.groups {
                    if std::mem::replace(&mut is_added[group as usize], true) {
                        continue;
                    }
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
        let mut known: Vec<Option<Score>> = vec![None; self.groups.len()];
        let mut assigned: Assigned = Vec::with_capacity(preferred.rows.len());
        for (place, &group) in (0..).zip(&preferred.groups) {
            let keeper = *keepers[components.find(group) as usize].get_or_insert(place);
            assigned.push((keeper != place).then(|| {
                let keeper_group = preferred.groups[keeper as usize];
                let score =
                    *known[group as usize].get_or_insert_with(|| match keeper_group == group {
                        true => SAME,
                        false => self.any_score(group, keeper_group),
                    });
                (keeper, score)
            }));
        }
        self.clusters(preferred, &assigned)
    }

    /// The documents, each with the one that stands for it.
    fn clusters(&self, preferred: &Preferred, assigned: &Assigned) -> Vec<Cluster> {
        let document = |place: usize| {
            // All that are preferred have one.
            self.compared.documents[preferred.rows[place].0 as usize].unwrap_or(DocumentId(0))
        };
        let mut members: Vec<Vec<(DocumentId, Score)>> = vec![Vec::new(); assigned.len()];
        for (place, assigned) in assigned.iter().enumerate() {
            if let Some((keeper, score)) = *assigned {
                members[keeper as usize].push((document(place), score));
            }
        }
        let mut clusters: Vec<Cluster> = members
            .into_iter()
            .enumerate()
            .filter(|(_, members)| !members.is_empty())
            .map(|(keeper, mut members)| {
                members.sort_unstable_by_key(|&(member, _)| member);
                Cluster {
                    keeper: document(keeper),
                    members,
                }
            })
            .collect();
        clusters.sort_unstable_by_key(|cluster| cluster.keeper);
        clusters
    }
}

/// The score of documents that are the same.
const SAME: Score = Score::WHOLE;

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
