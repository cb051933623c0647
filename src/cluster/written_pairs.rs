//! Clusters of pairs that were found earlier.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{ClusterMethod, Keep, Stars};
use crate::collection::Components;
use crate::document::DocumentId;

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

/// A cluster made of pairs that were found earlier.
#[derive(Clone, Debug, PartialEq)]
pub struct PairCluster {
    /// The one that stands for all.
    pub keeper: DocumentId,
    /// The others, each with its score to the keeper, if there was such a pair.
    pub members: Vec<(DocumentId, Option<f64>)>,
}

impl PairCluster {
    /// The lowest of the members' scores to the keeper, if all are known.
    pub fn lowest(&self) -> Option<f64> {
        let scores: Option<Vec<f64>> = self.members.iter().map(|&(_, score)| score).collect();
        scores?.into_iter().min_by(f64::total_cmp)
    }
}

/// Joins documents into clusters by those pairs found earlier whose score is at least
/// `threshold`. Of each cluster the first document is kept, or with `keep` the last.
///
/// Pairs come as they were written: which document came before which is known as far as
/// the pairs tell it, those below the threshold included.
pub fn cluster_pairs(
    documents: usize,
    pairs: &[ScoredPair],
    threshold: f64,
    method: ClusterMethod,
    keep: &Keep,
) -> Vec<PairCluster> {
    let input_order = input_order(documents, pairs);
    let mut order = input_order.clone();
    if *keep == Keep::Last {
        order.reverse();
    }
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
    let similar = |node: u32| links(node).iter().filter(|link| link.2 >= threshold);
    let mut keeper_of: Vec<u32> = (0..documents as u32).collect();
    match method {
        ClusterMethod::Star => {
            let mut stars = Stars::new(documents, 1.0);
            for (place, &node) in (0..).zip(&order) {
                let assigned = stars.take(place, node, |each| {
                    similar(node).for_each(|&(_, to, score)| each(to, score));
                });
                if let Some((keeper, _)) = assigned {
                    keeper_of[node as usize] = order[keeper as usize];
                }
            }
        }
        ClusterMethod::Components => {
            let components = Components::new(documents);
            for node in 0..documents as u32 {
                similar(node).for_each(|&(_, to, _)| components.join(node, to));
            }
            let mut keepers: Vec<Option<u32>> = vec![None; documents];
            for &node in &order {
                let root = components.find(node) as usize;
                keeper_of[node as usize] = *keepers[root].get_or_insert(node);
            }
        }
    }
    let mut members: Vec<Vec<(DocumentId, Option<f64>)>> = vec![Vec::new(); documents];
    for &node in &input_order {
        let keeper = keeper_of[node as usize];
        if keeper != node {
            let link = links(node).iter().find(|link| link.1 == keeper);
            members[keeper as usize].push((DocumentId(node), link.map(|link| link.2)));
        }
    }
    input_order
        .iter()
        .map(|&keeper| PairCluster {
            keeper: DocumentId(keeper),
            members: std::mem::take(&mut members[keeper as usize]),
        })
        .filter(|cluster| !cluster.members.is_empty())
        .collect()
}

/// The documents in the order in which they came, as far as pairs tell it: the left one of
/// each comes before the right one; pairs are in order of the left one, then of the right.
fn input_order(documents: usize, pairs: &[ScoredPair]) -> Vec<u32> {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); documents];
    let mut waiting_for = vec![0_u32; documents];
    let mut comes_before = |one: DocumentId, two: DocumentId| {
        after[one.index()].push(two.0);
        waiting_for[two.index()] += 1;
    };
    for pair in pairs {
        comes_before(pair.left, pair.right);
    }
    for two in pairs.windows(2) {
        match two[0].left == two[1].left {
            true => comes_before(two[0].right, two[1].right),
            false => comes_before(two[0].left, two[1].left),
        }
    }
    let mut ready: BinaryHeap<Reverse<u32>> = (0..documents as u32)
        .filter(|&node| waiting_for[node as usize] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(documents);
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &next in &after[node as usize] {
            waiting_for[next as usize] -= 1;
            if waiting_for[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    // Pairs that contradict each other were not written by one run: those documents come
    // last, in the order in which they were met.
    if order.len() < documents {
        order.extend((0..documents as u32).filter(|&node| waiting_for[node as usize] > 0));
    }
    order
}
