//! Stars: who is kept is decided in the order of preference. What is similar enough to
//! one that is kept already goes to the most similar of those; what is not is kept.

/// For each node, the kept one that it goes to and what they share; `None` if it is
/// kept itself.
pub type Assigned = Vec<Option<(u32, u32)>>;

/// Assigns the nodes, taken in `order`. `similar` calls back with every node that is
/// similar to one and is kept already, if it is told of all that are kept; with others
/// it may.
///
/// `is_better(one, two)` tells whether a node is better off with the first of two such,
/// each with what it shares with the node.
pub fn stars(
    count: usize,
    order: &[u32],
    mut similar: impl FnMut(u32, &mut dyn FnMut(u32, u32)),
    mut kept: impl FnMut(u32),
    is_better: impl Fn(u32, (u32, u32), (u32, u32)) -> bool,
) -> Assigned {
    let mut assigned: Assigned = vec![None; count];
    let mut is_kept = vec![false; count];
    for &node in order {
        let mut best: Option<(u32, u32)> = None;
        similar(node, &mut |other, shared| {
            let found = (other, shared);
            if is_kept[other as usize] && best.is_none_or(|best| is_better(node, found, best)) {
                best = Some(found);
            }
        });
        assigned[node as usize] = best;
        if best.is_none() {
            is_kept[node as usize] = true;
            kept(node);
        }
    }
    assigned
}
