//! From inputs to pairs.

mod results;

use std::time::Instant;

use crate::collection::{Collection, Records, Urls};
use crate::error::Error;
use crate::observer::{Observer, Phase};
use crate::run::floor::Purpose;
use crate::run::reading::{Reading, Wants};
use crate::run::{Inputs, in_pool};
use crate::search::{Found, search};
use crate::settings::Settings;
use crate::shingle::Template;
use crate::stats::Stats;

pub(crate) use results::Partners;
pub use results::{Pair, Pairs};

/// What [`find_pairs`] found.
#[derive(Debug)]
pub struct Similar {
    /// The ids of all documents; those of `against` come last.
    pub urls: Urls,
    /// The pairs at or above the threshold.
    pub pairs: Pairs,
    /// What the run did.
    pub stats: Stats,
    /// What was taken out of every document.
    pub(crate) template: Template,
    /// Which record is which document, if that is to be known.
    pub(crate) records: Option<Records>,
}

/// Finds the pairs of documents whose score is at least the threshold:
///
/// 1. read: inputs, in order, into documents; an id met again is skipped;
/// 2. shingle: each document's text into the hashes of its windows of words;
/// 3. sketch: the shingles into a signature; or, for exact scores, all shingles are kept;
/// 4. candidates: what is identical is collapsed; the rest is found by bands of
///    positions, or by the rarest shingles of the sets;
/// 5. score: what a candidate's signatures or sets have in common.
///
/// # Errors
/// If reading is to stop at the first bad record, or a temporary file cannot be written.
///
/// # Performance
/// Time grows with the text and with the answer. What does not fit into the memory of the
/// settings goes to temporary files.
///
/// ```
/// use simdup::{Input, Quiet, Settings, find_pairs};
///
/// let collection = r#"
/// {"url": "a", "text": "one ship came into the harbour at dawn with a torn sail"}
/// {"url": "b", "text": "the bakery on the corner sells out of rye before eight"}
/// {"url": "c", "text": "One ship came into the harbour at dawn, with a torn sail!"}
/// "#;
/// let inputs = vec![Input::from_reader("collection", collection.as_bytes())];
/// let similar = find_pairs(inputs, &Settings::default(), &Quiet)?;
/// let pairs = similar.pairs.to_vec()?;
/// assert_eq!(pairs.len(), 1);
/// assert_eq!(similar.urls.get(pairs[0].left), "a");
/// assert_eq!(similar.urls.get(pairs[0].right), "c");
/// assert_eq!(pairs[0].score.to_string(), "1.0");
/// # Ok::<(), simdup::Error>(())
/// ```
pub fn find_pairs(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Similar, Error> {
    found(inputs.into(), settings, Wants::default(), observer)
}

/// The same for pairs that will be listed with the places of documents in their files.
pub fn find_pairs_with_places(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Similar, Error> {
    let wants = Wants {
        records: true,
        ..Wants::default()
    };
    found(inputs.into(), settings, wants, observer)
}

fn found(
    inputs: Inputs,
    settings: &Settings,
    wants: Wants,
    observer: &dyn Observer,
) -> Result<Similar, Error> {
    let settings = &settings.with_value_field(None);
    let mut reading = Reading::new(settings, observer, wants, Purpose::Pairs);
    in_pool(settings, || {
        let mut collection = reading.collection(inputs)?;
        observer.phase(Phase::Comparing);
        Ok(Similar {
            records: collection.records.take(),
            template: reading.template,
            ..similar(collection, reading.stats, observer)?
        })
    })
}

/// All pairs of a collection.
pub(crate) fn similar(
    collection: Collection,
    mut stats: Stats,
    observer: &dyn Observer,
) -> Result<Similar, Error> {
    let started = Instant::now();
    let found = search(&collection, observer)?;
    let (urls, pairs) = pairs_of(collection, found, &mut stats);
    stats.seconds.candidates += started.elapsed();
    Ok(Similar {
        urls,
        pairs,
        stats,
        template: Template::default(),
        records: None,
    })
}

/// What was found, as pairs of the collection's documents.
pub(crate) fn pairs_of(collection: Collection, found: Found, stats: &mut Stats) -> (Urls, Pairs) {
    let (measure, min_shared, scope, own) = (
        collection.settings().measure,
        collection.settings().min_shared,
        collection.scope().clone(),
        collection.own(),
    );
    let (urls, groups, _) = collection.into_parts();
    let groups = found.groups.unwrap_or(groups);
    let pairs = Pairs {
        parties: scope.parties_of(&groups),
        groups,
        sizes: found.sizes,
        links: found.links,
        measure,
        min_shared,
        scope,
        own,
    };
    stats.counts.identical = pairs.groups.copies() as u64;
    stats.counts.candidates = found.stats.candidates;
    stats.search = found.stats;
    (urls, pairs)
}
