//! Stars: who is kept is decided in the order of preference. What is similar enough to
//! one that is kept already goes to the most similar of those; what is not is kept.

use crate::score::Score;

/// For each document, by its place in the order of preference, the place of the one that
/// stands for it and their score; `None` if it is kept itself.
pub type Assigned<S = Score> = Vec<Option<(u32, S)>>;

/// A kept node and a score with it.
type Best<S> = Option<(u32, S)>;

/// Assigns documents, given in order of preference, each by its node: documents that are
/// the same may be one node, and have the score `same`. `similar` calls back with every
/// node that is similar to one and is kept already, which `kept` tells it of; it may call
/// back with others too. Of equals, the one that was kept first counts.
pub fn stars<S: PartialOrd + Copy>(
    nodes: usize,
    order: &[u32],
    same: S,
    mut similar: impl FnMut(u32, &mut dyn FnMut(u32, S)),
    mut kept: impl FnMut(u32),
) -> Assigned<S> {
    let mut kept_at: Vec<Option<u32>> = vec![None; nodes];
    // What a node was told when so many were kept: it need not ask again before more are.
    let mut told: Vec<Option<(u32, Best<S>)>> = vec![None; nodes];
    let mut kept_count = 0;
    let mut assigned = Vec::with_capacity(order.len());
    for (place, &node) in (0..).zip(order) {
        let index = node as usize;
        if let Some(keeper) = kept_at[index] {
            assigned.push(Some((keeper, same)));
            continue;
        }
        let best = match told[index] {
            Some((count, best)) if count == kept_count => best,
            _ => {
                let mut best: Best<S> = None;
                similar(node, &mut |other, score| {
                    let Some(at) = kept_at[other as usize] else {
                        return;
                    };
                    let is_better = best.is_none_or(|(known, best)| {
                        score > best || (score == best && Some(at) < kept_at[known as usize])
                    });
                    if is_better {
                        best = Some((other, score));
                    }
                });
                told[index] = Some((kept_count, best));
                best
            }
        };
        let keeper = best.and_then(|(keeper, score)| Some((kept_at[keeper as usize]?, score)));
        assigned.push(keeper);
        if keeper.is_none() {
            kept_at[index] = Some(place);
            kept_count += 1;
            kept(node);
        }
    }
    assigned
}
