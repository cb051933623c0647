//! Stars: who is kept is decided in the order of preference. What is similar enough to
//! one that is kept already goes to the most similar of those; what is not is kept.

/// A kept node and a score with it.
type Best<S> = Option<(u32, S)>;

/// Stands where nothing is kept.
const NOT_KEPT: u32 = u32::MAX;

/// Who is kept so far. Documents come in order of preference, each by its node: documents that
/// are the same may be one node.
pub(crate) struct Stars<S> {
    /// For each node, the place of the document of it that is kept.
    kept_at: Vec<u32>,
    /// What a node was told when so many were kept: it need not ask again before more are.
    told: Vec<(u32, Best<S>)>,
    kept: u32,
    same: S,
}

impl<S: PartialOrd + Copy> Stars<S> {
    /// For so many nodes. Documents of one node have the score `same`.
    pub(crate) fn new(nodes: usize, same: S) -> Self {
        Self {
            kept_at: vec![NOT_KEPT; nodes],
            told: vec![(NOT_KEPT, None); nodes],
            kept: 0,
            same,
        }
    }

    /// The place of the document of a node that is kept, if one is.
    pub(crate) fn kept_at(&self, node: u32) -> Option<u32> {
        Some(self.kept_at[node as usize]).filter(|&place| place != NOT_KEPT)
    }

    /// Takes the document in the next place: it goes to the one in the place that is given
    /// back, with their score, or is kept itself. `similar` calls back with every node that is
    /// similar to its own and is kept already; it may call back with others too. Of equals,
    /// the one that was kept first counts.
    pub(crate) fn take(
        &mut self,
        place: u32,
        node: u32,
        similar: impl FnOnce(&mut dyn FnMut(u32, S)),
    ) -> Option<(u32, S)> {
        if let Some(keeper) = self.kept_at(node) {
            return Some((keeper, self.same));
        }
        let best = match self.told[node as usize] {
            (count, best) if count == self.kept => best,
            _ => {
                let mut best: Best<S> = None;
                similar(&mut |other, score| {
                    if self.is_better(best, other, score) {
                        best = Some((other, score));
                    }
                });
                self.told[node as usize] = (self.kept, best);
                best
            }
        };
        let keeper = best.and_then(|(keeper, score)| Some((self.kept_at(keeper)?, score)));
        if keeper.is_none() {
            self.kept_at[node as usize] = place;
            self.kept += 1;
        }
        keeper
    }

    /// Whether a node is kept, and better than the best so far.
    pub(crate) fn is_better(&self, best: Best<S>, node: u32, score: S) -> bool {
        let Some(at) = self.kept_at(node) else {
            return false;
        };
        best.is_none_or(|(known, best)| {
            score > best || (score == best && at < self.kept_at[known as usize])
        })
    }
}
