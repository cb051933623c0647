//! What can be reached from what: a forest whose trees are joined (union by size, path
//! halving).

/// Nodes, each in one component.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    parents: Vec<u32>,
    sizes: Vec<u32>,
}

impl Components {
    /// Each node is alone.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            parents: (0..count as u32).collect(),
            sizes: vec![1; count],
        }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The node that stands for a node's component; any, but the same for all of it.
    pub(crate) fn find(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }

    /// Joins the components of two nodes.
    pub(crate) fn join(&mut self, one: u32, two: u32) {
        let (one, two) = (self.find(one), self.find(two));
        if one == two {
            return;
        }
        let (small, large) = match self.sizes[one as usize] < self.sizes[two as usize] {
            true => (one, two),
            false => (two, one),
        };
        self.parents[small as usize] = large;
        self.sizes[large as usize] += self.sizes[small as usize];
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
            let mut components = Components::new(30);
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
                    prop_assert_eq!(is_joined, labels[one as usize] == labels[two as usize]);
                }
            }
        }
    }
}
