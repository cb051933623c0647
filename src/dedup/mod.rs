//! From inputs to a clean collection: the documents to keep, as they came in.

mod against_index;
mod removed;
mod shards;
mod writing;

use std::time::Instant;

use super::pairs::pairs_of;
use crate::cluster::documents::{Assigned, assign, assign_rest, for_clusters, has_values, wants};
use crate::cluster::{Cluster, ClusterMethod, Keep};
use crate::collection::{Fate, Records, Urls};
use crate::dedup::against_index::best_of_index;
use crate::error::{Error, ErrorKind};
use crate::index::Index;
use crate::observer::{Expected, Observer, Phase};
use crate::pairs::Pairs;
use crate::read::Input;
use crate::run::floor::Purpose;
use crate::run::reading::{Reading, Wants, Written};
use crate::run::records::RecordForm;
use crate::run::twice::twice;
use crate::run::{Inputs, in_pool};
use crate::search::search;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::write::NamedWriter;
use removed::Recording;
use writing::Writing;

pub use shards::Shards;

/// How a collection is made clean.
#[derive(Clone, Debug, Default)]
pub struct Dedup<'a> {
    /// How documents are joined.
    pub method: ClusterMethod,
    /// Which document of a cluster is kept.
    pub keep: Keep,
    /// What is written.
    pub mode: DedupMode,
    /// What goes if the documents are compared with others.
    pub among: Among,
    /// An index that the documents are compared with instead of other documents.
    pub index: Option<&'a Index>,
}

/// Which documents go if there are others to compare them with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Among {
    /// Those that are similar to one of the others, and of the rest those that would go without
    /// others.
    #[default]
    All,
    /// Those that are similar to one of the others.
    Others,
}

/// What is written of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DedupMode {
    /// The documents to keep.
    #[default]
    Kept,
    /// All documents, each with what is similar to it.
    Annotated,
    /// What would not be kept, and why.
    Removed,
}

/// Where documents go.
pub struct DedupOutput<'a> {
    /// The documents, or what [`DedupMode`] has written.
    pub documents: NamedWriter<'a>,
    /// All that is not among the documents, and why.
    pub removed: Option<NamedWriter<'a>>,
    /// Where the documents to keep go instead, if those of each input have an output of their own.
    pub shards: Option<&'a mut dyn Shards>,
}

/// What [`dedup_documents`] did.
#[derive(Debug)]
pub struct Deduplicated {
    /// The ids of all documents.
    pub urls: Urls,
    /// What the run did.
    pub stats: Stats,
    /// Documents that were kept.
    pub kept: u64,
    /// Documents that others stand for.
    pub removed: u64,
    /// Records of archives that are no documents, and are not written.
    pub no_documents: u64,
    /// Files that were left out of what the documents are compared with, as they are among them.
    pub shared_files: usize,
    /// Documents that were written with something that is similar to them.
    pub annotated: u64,
    /// Whether any document has the field by which the keepers were chosen.
    pub has_values: bool,
    /// Inputs that lost more than half of their documents: name, documents that went, of how
    /// many.
    pub emptied: Vec<(String, usize, usize)>,
    assigned: Assigned,
}

impl Deduplicated {
    /// Returns the clusters of two and more documents, by their keepers, in input order. Documents
    /// for which one of another collection stands are in none.
    pub fn clusters(&self) -> impl Iterator<Item = Cluster> {
        self.assigned.clusters()
    }
}

/// Writes the documents to keep, byte for byte as they came in and in input order: of each
/// cluster of near-duplicates the one that is preferred, and all that are in no cluster.
///
/// With others to compare them with, documents go first that are similar to one of these, which
/// stands for them; [`Among`] says whether the rest is clustered, too. A file that is on both sides,
/// and a document of an index whose id is among the documents, is not among the others: no document
/// goes in favor of one that goes itself. [`DedupMode::Annotated`] does not look for what repeats
/// among the documents if there are others, and leaves out of what is similar to a document that
/// document only.
///
/// # Errors
/// As for [`find_pairs`](crate::find_pairs); and if an output cannot be written, or an input is
/// not the same when it is read for the second time.
///
/// # Performance
/// As for [`cluster_documents`](crate::cluster_documents), and the documents are read twice.
pub fn dedup_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    dedup: &Dedup<'_>,
    mut output: DedupOutput<'_>,
    observer: &dyn Observer,
) -> Result<Deduplicated, Error> {
    let settings = &match dedup.mode {
        DedupMode::Annotated => settings.with_value_field(None),
        _ => for_clusters(settings, &dedup.keep),
    };
    let form = match dedup.mode {
        DedupMode::Annotated => RecordForm::Json,
        _ => RecordForm::AsTheyCame,
    };
    let mut inputs: Inputs = inputs.into();
    let shared = match dedup.mode {
        DedupMode::Annotated => 0,
        DedupMode::Kept | DedupMode::Removed => inputs.drop_shared(),
    };
    let settings = &match dedup.index {
        None => settings.clone(),
        Some(_) if dedup.mode == DedupMode::Annotated => {
            let what = "documents are annotated with what an index has by asking it";
            return Err(Error::in_file("settings", ErrorKind::Settings(what)));
        }
        Some(_) if inputs.against.is_some() || !inputs.templates.is_empty() => {
            let what = "an index is all that documents are compared with, and knows no templates";
            return Err(Error::in_file("settings", ErrorKind::Settings(what)));
        }
        Some(index) => index.settings(settings)?,
    };
    let (inputs, again, is_packed) = both_times(inputs, settings);
    let reads_again = dedup.mode != DedupMode::Removed;
    let wants = Wants {
        records: true,
        // To unpack twice takes longer than to keep the records.
        kept: (reads_again && is_packed).then_some(form),
        written: match (dedup.mode, &output.shards) {
            (DedupMode::Kept, Some(_)) => Written::Apart,
            (DedupMode::Kept, None) => Written::Together,
            (DedupMode::Annotated | DedupMode::Removed, _) => Written::Otherwise,
        },
        rest: dedup.mode != DedupMode::Annotated && dedup.among == Among::All,
        ..wants(&dedup.keep)
    };
    let listing = match dedup.mode {
        DedupMode::Removed => Some(&mut output.documents),
        _ => output.removed.as_mut(),
    };
    let recording = Recording::new(observer, listing);
    let purpose = match dedup.mode {
        DedupMode::Annotated => Purpose::Pairs,
        DedupMode::Kept | DedupMode::Removed => Purpose::Clusters,
    };
    let mut reading = Reading::new(settings, &recording, wants, purpose);
    let found = in_pool(settings, || match dedup.mode {
        DedupMode::Annotated => {
            let mut collection = reading.collection(inputs)?;
            observer.phase(Phase::Comparing);
            let records = collection.records.take().unwrap_or_default();
            let mut stats = std::mem::take(&mut reading.stats);
            let started = Instant::now();
            let found = search(&collection, observer)?;
            let (urls, pairs) = pairs_of(collection, found, &mut stats);
            stats.seconds.candidates += started.elapsed();
            Ok(Decided {
                urls,
                stats,
                records,
                assigned: Assigned::default(),
                pairs: Some(pairs),
                has_values: false,
            })
        }
        DedupMode::Kept | DedupMode::Removed => {
            decide(&mut reading, inputs, settings, dedup, observer)
        }
    })?;
    let kept = reading.kept.take();
    let Decided {
        urls,
        mut stats,
        records,
        assigned,
        pairs,
        has_values,
    } = found;
    let started = Instant::now();
    let mut annotated = 0;
    let no_documents = recording.passed_over();
    recording.finish(&urls, &records, &assigned)?;
    if reads_again {
        observer.phase(Phase::Writing);
        let writing = Writing {
            records: &records,
            urls: &urls,
            assigned: &assigned,
            pairs: pairs.as_ref(),
            settings,
            observer,
        };
        let written = urls.len() as u64 - assigned.count() as u64;
        observer.expect(Expected::Documents(written));
        match output.shards {
            Some(shards) => writing.write_shards(again, kept, shards)?,
            None => annotated = writing.write(again, form, kept, &mut output.documents)?,
        }
    }
    output.documents.flush()?;
    stats.seconds.write = started.elapsed();
    let removed = assigned.count() as u64;
    let documents = records.fates().iter();
    let documents = documents
        .filter(|fate| matches!(fate, Fate::Document(_)))
        .count() as u64;
    Ok(Deduplicated {
        emptied: emptied(&records, &assigned),
        kept: documents - removed,
        removed,
        no_documents,
        shared_files: shared,
        annotated,
        urls,
        stats,
        has_values,
        assigned,
    })
}

/// What is decided once all is read.
struct Decided {
    urls: Urls,
    stats: Stats,
    records: Records,
    assigned: Assigned,
    /// What is similar to each document, if all are written.
    pairs: Option<Pairs>,
    has_values: bool,
}

/// Reads the documents and decides which of them go.
fn decide(
    reading: &mut Reading<'_>,
    inputs: Inputs,
    settings: &Settings,
    dedup: &Dedup<'_>,
    observer: &dyn Observer,
) -> Result<Decided, Error> {
    let joined = (dedup.method, &dedup.keep);
    let (mut collection, known) = match dedup.index {
        Some(index) => {
            let (collection, known) =
                best_of_index(reading, inputs.documents, index, settings, dedup.among)?;
            (collection, Some(known))
        }
        None => (reading.collection(inputs)?, None),
    };
    observer.phase(Phase::Comparing);
    let has_others = known.is_some() || collection.scope().is_across();
    let has_values = has_values(&collection);
    let records = collection.records.take().unwrap_or_default();
    let mut stats = std::mem::take(&mut reading.stats);
    let parties = collection.scope().parties.clone();
    let (of_index, mut assigned) = match known {
        Some(known) => {
            let (of_index, assigned) = known.assigned();
            (Some(of_index), assigned)
        }
        None => (None, assign(&collection, joined, &mut stats, observer)?),
    };
    let mut urls = match (has_others, dedup.among) {
        (true, Among::All) => {
            let urls;
            (urls, assigned) = assign_rest(collection, assigned, joined, &mut stats, observer)?;
            urls
        }
        _ => collection.into_parts().0,
    };
    if let Some(of_index) = of_index {
        of_index.name(&mut urls)?;
    }
    if let (ClusterMethod::Components, Some(parties)) = (dedup.method, &parties) {
        assigned = assigned.apart(parties);
    }
    stats.counts.members = assigned.count() as u64;
    stats.counts.clusters = assigned.clusters().count() as u64;
    Ok(Decided {
        urls,
        stats,
        records,
        assigned,
        pairs: None,
        has_values,
    })
}

/// The inputs, the documents once more for the second time, and whether some must be unpacked
/// each time.
fn both_times(inputs: Inputs, settings: &Settings) -> (Inputs, Vec<Input>, bool) {
    let is_packed = inputs.documents.iter().any(Input::is_packed_file);
    let (documents, again) = twice(inputs.documents, settings);
    let inputs = Inputs {
        documents,
        ..inputs
    };
    (inputs, again, is_packed)
}

/// Most of a file being gone may mean that the file is a copy, or that its documents have a
/// frame in common.
fn emptied(records: &Records, assigned: &Assigned) -> Vec<(String, usize, usize)> {
    let mut emptied = Vec::new();
    for (name, fates) in records.files() {
        let (mut documents, mut gone) = (0, 0);
        for fate in fates {
            if let Fate::Document(document) = *fate {
                documents += 1;
                gone += usize::from(assigned.is_removed(document));
            }
        }
        if documents > 1 && gone * 2 > documents {
            emptied.push((name.to_string(), gone, documents));
        }
    }
    emptied
}
