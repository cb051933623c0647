//! What is true: read from a file or a field, and held against groups of documents.

use std::collections::{BTreeMap, HashMap};

use super::TruthSource;
use crate::collection::{Collection, Group, Groups};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::id_text;
use crate::observer::Observer;
use crate::read::{KnownPair, field_text, read_known_pairs};
use crate::settings::Strictness;
use crate::stats::Stats;

/// What is known to be true, by ids.
pub(super) enum Known {
    Join,
    Pairs(Vec<KnownPair>),
    Clusters,
}

/// What is known to be true of a collection's documents.
#[derive(Debug)]
pub(super) enum Truth {
    /// What the complete exact join finds.
    Join,
    /// Pairs, the first document before the second.
    Pairs {
        labels: BTreeMap<(DocumentId, DocumentId), bool>,
        /// Whether only those in the list count: some are labelled.
        is_labelled: bool,
    },
    /// The class of each document, if it has one.
    Classes(Vec<Option<u32>>),
}

impl Known {
    /// Reads what is to be read before the documents.
    pub(super) fn read(source: TruthSource) -> Result<Self, Error> {
        match source {
            TruthSource::Join => Ok(Self::Join),
            TruthSource::Clusters(_) => Ok(Self::Clusters),
            TruthSource::Pairs(input) => {
                let mut pairs = Vec::new();
                read_known_pairs(input, |pair| {
                    pairs.push(pair);
                    Ok(())
                })?;
                Ok(Self::Pairs(pairs))
            }
        }
    }

    /// What it says of a collection's documents. Ids that none has are told, and count as records
    /// that were skipped.
    pub(super) fn of(
        &self,
        collection: &Collection,
        stats: &mut Stats,
        observer: &dyn Observer,
    ) -> Result<Truth, Error> {
        let urls = collection.urls();
        let pairs = match self {
            Self::Join => return Ok(Truth::Join),
            Self::Clusters => {
                let mut numbers = HashMap::new();
                let values = collection.descriptions.values.iter();
                let class = |value: &Option<_>| {
                    let text = field_text(value.as_ref()?);
                    let next = numbers.len() as u32;
                    Some(*numbers.entry(text.to_string()).or_insert(next))
                };
                return Ok(Truth::Classes(values.map(class).collect()));
            }
            Self::Pairs(pairs) => pairs,
        };
        // A document may have the id as text wrote it.
        let names = |url: &String| [Some(url.clone()), id_text::encoded(url)];
        let mut documents: HashMap<String, Option<DocumentId>> = pairs
            .iter()
            .flat_map(|pair| pair.urls.iter().flat_map(names))
            .filter_map(|name| Some((name?, None)))
            .collect();
        for document in (0..urls.len() as u32).map(DocumentId) {
            if let Some(found) = documents.get_mut(urls.get(document)) {
                found.get_or_insert(document);
            }
        }
        let mut labels = BTreeMap::new();
        let mut is_labelled = false;
        for pair in pairs {
            let [one, two] = pair.urls.each_ref().map(|url| {
                let mut names = names(url).into_iter().flatten();
                let found = names.find_map(|name| documents.get(&name).copied().flatten());
                found.ok_or_else(|| Error {
                    place: pair.place.clone(),
                    kind: ErrorKind::UnknownId(url.clone()),
                })
            });
            match (one, two) {
                (Ok(one), Ok(two)) => {
                    is_labelled |= pair.label.is_some();
                    if one != two {
                        let key = (one.min(two), one.max(two));
                        labels.insert(key, pair.label.unwrap_or(true));
                    }
                }
                (Err(error), _) | (_, Err(error)) => {
                    if collection.settings().strictness == Strictness::Stop {
                        return Err(error);
                    }
                    stats.counts.skipped += 1;
                    observer.problem(&error);
                }
            }
        }
        Ok(Truth::Pairs {
            labels,
            is_labelled,
        })
    }
}

/// A truth of groups: how many pairs of documents of two groups are true, and how many not.
pub(super) struct Judge {
    weights: Vec<u64>,
    kind: JudgeKind,
}

enum JudgeKind {
    All,
    /// By groups, the lower first: true ones, and those that are known not to be.
    Pairs {
        counts: HashMap<(u32, u32), (u64, u64)>,
        is_labelled: bool,
    },
    /// Of each group, the classes of its documents and how many are of each, in order.
    Classes(Vec<Vec<(u32, u64)>>),
}

impl Judge {
    pub(super) fn new(truth: &Truth, groups: &Groups) -> Self {
        let weights = groups.iter().map(|g| groups.members(g).len() as u64);
        let kind = match truth {
            Truth::Join => JudgeKind::All,
            Truth::Pairs {
                labels,
                is_labelled,
            } => {
                let mut counts: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
                for (&(one, two), &is_true) in labels {
                    if let (Some(one), Some(two)) = (groups.of(one), groups.of(two)) {
                        let count = counts.entry(key(one, two)).or_default();
                        count.0 += u64::from(is_true);
                        count.1 += u64::from(!is_true);
                    }
                }
                JudgeKind::Pairs {
                    counts,
                    is_labelled: *is_labelled,
                }
            }
            Truth::Classes(classes) => {
                let of = |group| {
                    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
                    for member in groups.members(group) {
                        if let Some(class) = classes[member.index()] {
                            *counts.entry(class).or_default() += 1;
                        }
                    }
                    counts.into_iter().collect()
                };
                JudgeKind::Classes(groups.iter().map(of).collect())
            }
        };
        Self {
            weights: weights.collect(),
            kind,
        }
    }

    /// Documents in a group.
    pub(super) fn weight(&self, group: Group) -> u64 {
        self.weights[group.index()]
    }

    /// Pairs of documents, one of each group, or both of the same.
    pub(super) fn pairs(&self, one: Group, two: Group) -> u64 {
        match one == two {
            true => self.weight(one) * (self.weight(one) - 1) / 2,
            false => self.weight(one) * self.weight(two),
        }
    }

    /// Of these, those that are true, and those that are known not to be. All that a complete join
    /// finds is true, if that is the truth.
    pub(super) fn judged(&self, one: Group, two: Group) -> (u64, u64) {
        let all = self.pairs(one, two);
        match &self.kind {
            JudgeKind::All => (all, 0),
            JudgeKind::Pairs {
                counts,
                is_labelled,
            } => {
                let (yes, no) = counts.get(&key(one, two)).copied().unwrap_or_default();
                match is_labelled {
                    true => (yes, no),
                    false => (yes, all - yes),
                }
            }
            JudgeKind::Classes(classes) => {
                let yes: u64 = match one == two {
                    true => classes[one.index()]
                        .iter()
                        .map(|(_, n)| n * (n - 1) / 2)
                        .sum(),
                    false => shared(&classes[one.index()], &classes[two.index()]),
                };
                (yes, all - yes)
            }
        }
    }
}

fn key(one: Group, two: Group) -> (u32, u32) {
    (one.0.min(two.0), one.0.max(two.0))
}

fn shared(one: &[(u32, u64)], two: &[(u32, u64)]) -> u64 {
    let of = |class: u32| {
        let found = two.binary_search_by_key(&class, |&(class, _)| class);
        found.map_or(0, |place| two[place].1)
    };
    one.iter().map(|&(class, count)| count * of(class)).sum()
}
