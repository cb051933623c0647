//! Who stands for whom: what clustering decides.

use crate::cluster::Cluster;
use crate::collection::Parties;
use crate::document::DocumentId;
use crate::score::Score;

/// For each document, the one that stands for it and their score.
pub(crate) type Keepers = Vec<Option<(DocumentId, Score)>>;

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

/// Who stands for whom.
#[derive(Debug, Default)]
pub(crate) struct Assigned {
    keepers: Keepers,
    /// Documents that others stand for, in order of those, then of input.
    members: Vec<DocumentId>,
    /// Where the members of each document start, and the end.
    starts: Vec<u32>,
}

impl Assigned {
    /// From who stands for each. Documents for which one of another collection stands are in no
    /// cluster.
    pub(crate) fn new(keepers: Keepers) -> Self {
        let is_own = |keeper: &DocumentId| keeper.index() < keepers.len();
        let mut starts = vec![0_u32; keepers.len() + 1];
        for (keeper, _) in keepers
            .iter()
            .flatten()
            .filter(|(keeper, _)| is_own(keeper))
        {
            starts[keeper.index() + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut members = vec![DocumentId(0); starts[keepers.len()] as usize];
        for (document, assigned) in (0..).map(DocumentId).zip(&keepers) {
            if let Some((keeper, _)) = assigned
                && is_own(keeper)
            {
                let place = &mut next[keeper.index()];
                members[*place as usize] = document;
                *place += 1;
            }
        }
        Self {
            keepers,
            members,
            starts,
        }
    }

    /// The same, but no document stands for one of its own party: that stays. One of another
    /// collection was chosen so.
    pub(crate) fn apart(mut self, parties: &Parties) -> Self {
        let own = self.keepers.len();
        let is_of_party = |document, keeper: DocumentId| {
            keeper.index() < own && !parties.admits(document, keeper)
        };
        for (document, assigned) in (0..).map(DocumentId).zip(&mut self.keepers) {
            if assigned.is_some_and(|(keeper, _)| is_of_party(document, keeper)) {
                *assigned = None;
            }
        }
        Self::new(self.keepers)
    }

    /// The same, and for documents that stay who of the rest stands for them.
    pub(crate) fn and_rest(mut self, rest: Self) -> Self {
        for (assigned, of_rest) in self.keepers.iter_mut().zip(rest.keepers) {
            *assigned = assigned.or(of_rest);
        }
        Self::new(self.keepers)
    }

    pub(crate) fn clusters(&self) -> impl Iterator<Item = Cluster> {
        let scored = |&member: &DocumentId| {
            let (_, score) = self.keepers[member.index()]?;
            Some((member, score))
        };
        let of = move |(keeper, ends): (DocumentId, &[u32])| Cluster {
            keeper,
            members: self.members[ends[0] as usize..ends[1] as usize]
                .iter()
                .filter_map(scored)
                .collect(),
        };
        (0..)
            .map(DocumentId)
            .zip(self.starts.windows(2))
            .filter(|(_, ends)| ends[1] > ends[0])
            .map(of)
    }

    pub(crate) fn removed(&self) -> impl Iterator<Item = Removed> {
        (0..self.keepers.len() as u32).filter_map(|document| self.of(DocumentId(document)))
    }

    /// What stands for a document, if something does.
    pub(crate) fn of(&self, document: DocumentId) -> Option<Removed> {
        let &(keeper, score) = self.keepers.get(document.index())?.as_ref()?;
        Some(Removed {
            document,
            keeper,
            score,
        })
    }

    /// Whether another one stands for a document.
    pub(crate) fn is_removed(&self, document: DocumentId) -> bool {
        let assigned = self.keepers.get(document.index());
        assigned.is_some_and(Option::is_some)
    }

    /// Of how many documents another one stands for.
    pub(crate) fn count(&self) -> usize {
        self.keepers.iter().flatten().count()
    }
}
