//! Stars: who is kept is decided in the order of preference. What is similar enough to
//! one that is kept already goes to the most similar of those; what is not is kept.

use crate::score::Score;

/// For each node, the kept one that it goes to and their score; `None` if it is kept
/// itself.
pub type Assigned<S = Score> = Vec<Option<(u32, S)>>;

/// Assigns the nodes, taken in `order`. `similar` calls back with every node that is
/// similar to one and is kept already, which `kept` tells it of; it may call back with
/// others too. Of equals, the one that was kept first counts.
pub fn stars<S: PartialOrd + Copy>(
    count: usize,
    order: &[u32],
    mut similar: impl FnMut(u32, &mut dyn FnMut(u32, S)),
    mut kept: impl FnMut(u32),
) -> Assigned<S> {
    let mut assigned: Assigned<S> = vec![None; count];
    /// The place in the order of those that are kept.
    const NOT_KEPT: u32 = u32::MAX;
    let mut places = vec![NOT_KEPT; count];
    for (place, &node) in (0..).zip(order) {
        let mut best: Option<(u32, S)> = None;
        similar(node, &mut |other, score| {
            let is_better = best.is_none_or(|(known, best)| {
                score > best || (score == best && places[other as usize] < places[known as usize])
            });
            if places[other as usize] != NOT_KEPT && is_better {
                best = Some((other, score));
            }
        });
        assigned[node as usize] = best;
        if best.is_none() {
            places[node as usize] = place;
            kept(node);
        }
    }
    assigned
}
