//! What reading gives: the documents of a run, down to what is compared. Does not know how it
//! will be searched.
//!
//! A collection is a value: searching does not consume it, so that it can be searched again.

mod buckets;
mod components;
mod identical;
mod ids;
mod party;
mod records;
mod scope;
mod seen;
mod twins;

use crate::document::{DocumentId, FieldValue};
use crate::score::{Measure, Threshold};
use crate::sets::ShingleLists;
use crate::settings::{Finding, Settings};
use crate::sketch::{Signatures, combine};

pub(crate) use buckets::for_each_bucket;
pub(crate) use components::Components;
pub(crate) use identical::{Group, Groups};
pub use ids::Urls;
pub(crate) use ids::{Added, UrlHash, UrlHasher};
pub(crate) use party::{OneParty, Parties};
pub(crate) use records::{Fate, RecordPlace, Records, SeenRecord, record_print};
pub(crate) use scope::{GroupScope, Scope, Sides};
pub(crate) use seen::SeenIds;
pub(crate) use twins::{FilePlace, TwinFinder, Twins};

/// Documents that have been read, with the settings that made them what they are.
#[derive(Debug)]
pub(crate) struct Collection {
    settings: Settings,
    urls: Urls,
    features: Features,
    groups: Groups,
    scope: Scope,
    /// Documents that are in no group, as they are left out of what is compared.
    left_out: usize,
    pub(crate) descriptions: Descriptions,
    /// Which record is which document, if that is to be known.
    pub(crate) records: Option<Records>,
}

/// What documents are compared by.
#[derive(Debug)]
pub(crate) enum Features {
    /// A signature of each; of one without a shingle, zeros.
    Signatures(Signatures),
    /// All shingles of each, and perhaps signatures by which to find what is similar.
    Shingles {
        lists: Box<ShingleLists>,
        signatures: Option<Signatures>,
    },
}

/// What else is known of documents, for choosing between them; empty unless it is asked for.
#[derive(Debug, Default)]
pub(crate) struct Descriptions {
    /// Characters in the text of each.
    pub(crate) lengths: Vec<u64>,
    /// What a named field of each holds.
    pub(crate) values: Vec<Option<FieldValue>>,
}

impl Collection {
    /// From what was read. Documents without a shingle are empty, and like no other.
    pub(crate) fn new(
        settings: &Settings,
        urls: Urls,
        mut features: Features,
        scope: Scope,
        is_empty: impl Fn(DocumentId) -> bool,
    ) -> Self {
        let counts = |document| !is_empty(document);
        let groups = match &features {
            Features::Signatures(signatures) => Groups::new(
                urls.len(),
                counts,
                |document| signatures.of(document).iter().copied().fold(0, combine),
                |one, two| signatures.of(one) == signatures.of(two),
            ),
            Features::Shingles { lists, .. } => Groups::new(
                urls.len(),
                counts,
                |document| lists.print(document).hash(),
                |one, two| lists.print(one) == lists.print(two),
            ),
        };
        if let Features::Shingles { lists, .. } = &mut features {
            lists.forget_prints();
        }
        Self {
            settings: settings.clone(),
            urls,
            features,
            groups,
            scope,
            left_out: 0,
            descriptions: Descriptions::default(),
            records: None,
        }
    }

    /// What made the collection.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Asks something else of the same documents.
    pub(crate) fn ask(&mut self, measure: Measure, finding: Finding, threshold: Threshold) {
        self.settings.measure = measure;
        self.settings.finding = finding;
        self.settings.threshold = threshold;
    }

    /// The ids of all documents.
    pub(crate) fn urls(&self) -> &Urls {
        &self.urls
    }

    /// What documents are compared by.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// Documents that are the same.
    pub(crate) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Who is compared with whom.
    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the documents that are compared with each other, without those that are left out
    /// and without another side.
    pub(crate) fn rest(self, is_left_out: impl Fn(DocumentId) -> bool) -> Self {
        let all = (0..self.urls.len() as u32).map(DocumentId);
        Self {
            left_out: all.filter(|&document| is_left_out(document)).count(),
            groups: self.groups.without(is_left_out),
            scope: Scope {
                sides: Sides::All,
                ..self.scope
            },
            ..self
        }
    }

    /// Returns how many documents may be compared.
    pub(crate) fn compared(&self) -> usize {
        self.urls.len() - self.left_out
    }

    /// The documents that are asked about: not those that they are only compared with.
    pub(crate) fn own(&self) -> u32 {
        match self.scope.sides {
            Sides::All => self.urls.len() as u32,
            Sides::Across(first) => first.0,
        }
    }

    /// Takes the collection apart.
    pub(crate) fn into_parts(self) -> (Urls, Groups, Option<Records>) {
        (self.urls, self.groups, self.records)
    }
}
