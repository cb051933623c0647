//! What can be reached from what: a forest whose trees are joined, from any thread (path halving;
//! the tree of the lower root takes the other in).

use std::sync::atomic::{AtomicU32, Ordering};

/// Nodes, each in one component.
#[derive(Debug)]
pub(crate) struct Components {
    parents: Vec<AtomicU32>,
}

impl Components {
    /// Each node is alone.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            parents: (0..count as u32).map(AtomicU32::new).collect(),
        }
    }

    fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize].load(Ordering::Relaxed)
    }

    /// The least node of a node's component.
    pub(crate) fn find(&self, mut node: u32) -> u32 {
        loop {
            let parent = self.parent(node);
            if parent == node {
                return node;
            }
            // Whoever else writes here writes an ancestor, too.
            let above = self.parent(parent);
            self.parents[node as usize].store(above, Ordering::Relaxed);
            node = above;
        }
    }

    /// Joins the components of two nodes.
    pub(crate) fn join(&self, mut one: u32, mut two: u32) {
        loop {
            (one, two) = (self.find(one), self.find(two));
            if one == two {
                return;
            }
            let (low, high) = (one.min(two), one.max(two));
            // Only a root may be hung up; if it no longer is one, look again.
            let place = &self.parents[high as usize];
            if place
                .compare_exchange(high, low, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
            {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn joined_is_what_can_be_reached(
            edges in proptest::collection::vec((0_u32..30, 0_u32..30), 0..40),
        ) {
            let components = Components::new(30);
            // The twin: labels that are replaced all over.
            let mut labels: Vec<u32> = (0..30).collect();
            for &(one, two) in &edges {
                components.join(one, two);
                let (from, to) = (labels[one as usize], labels[two as usize]);
                for label in &mut labels {
                    if *label == from {
                        *label = to;
                    }
                }
            }
            for one in 0..30 {
                for two in 0..30 {
                    let is_joined = components.find(one) == components.find(two);
                    prop_assert!(components.find(one) <= one);
                    prop_assert_eq!(is_joined, labels[one as usize] == labels[two as usize]);
                }
            }
        }
    }
}
