//! From inputs to a clean collection: the documents to keep, as they came in.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::clusters::{Assigned, Removed, assign, for_clusters, has_values, wants};
use super::pairs::pairs_of;
use super::reading::{Reading, Wants};
use super::records::{KeptRecords, Record, RecordForm, for_each_record};
use super::{Inputs, in_pool};
use crate::candidates::search;
use crate::cluster::{Cluster, ClusterMethod, Keep};
use crate::collection::{Fate, Records, Scope, Urls};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::{Observer, Phase};
use crate::pairs::{Pairs, Partners};
use crate::read::{Head, Input, InputFormat, twice};
use crate::score::Score;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::write::{NamedWriter, RecordWriter, RemovedLine, write_removed};

/// How a collection is made clean.
#[derive(Clone, Debug, Default)]
pub struct Dedup {
    /// How documents are joined.
    pub method: ClusterMethod,
    /// Which document of a cluster is kept.
    pub keep: Keep,
    /// What is written.
    pub mode: DedupMode,
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
    /// Whether any document has the field by which the keepers were chosen.
    pub has_values: bool,
    /// Inputs that lost more than half of their documents: name, documents that went, of how
    /// many.
    pub emptied: Vec<(String, usize, usize)>,
    assigned: Assigned,
}

impl Deduplicated {
    /// The clusters of two and more, by their keepers, in input order; none if the
    /// documents were compared with others.
    pub fn clusters(&self) -> impl Iterator<Item = Cluster> {
        self.assigned.clusters()
    }
}

/// What comes from a pipe is kept between the two times that it is read: in memory up to this
/// part of it, then in a temporary file.
const SPOOL_SHARE: u64 = 8;

/// Writes the documents to keep, byte for byte as they came in and in input order: of each
/// cluster of near-duplicates the one that is preferred, and all that are in no cluster.
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
    dedup: &Dedup,
    mut output: DedupOutput<'_>,
    observer: &dyn Observer,
) -> Result<Deduplicated, Error> {
    let settings = &match dedup.mode {
        DedupMode::Annotated => settings.clone(),
        _ => for_clusters(settings, &dedup.keep),
    };
    let form = match dedup.mode {
        DedupMode::Annotated => RecordForm::Json,
        _ => RecordForm::AsTheyCame,
    };
    let (inputs, again, is_packed) = both_times(inputs.into(), settings);
    let reads_again = dedup.mode != DedupMode::Removed;
    let wants = Wants {
        records: true,
        // To unpack twice takes longer than to keep the records.
        kept: (reads_again && is_packed).then_some(form),
        ..wants(&dedup.keep)
    };
    let listing = match dedup.mode {
        DedupMode::Removed => Some(&mut output.documents),
        _ => output.removed.as_mut(),
    };
    let recording = Recording {
        observer,
        listing: Mutex::new((listing, Ok(()))),
    };
    let mut reading = Reading::new(settings, &recording, wants);
    let found = in_pool(settings, || {
        let mut collection = reading.collection(inputs)?;
        observer.phase(Phase::Comparing);
        let has_values = has_values(&collection);
        let records = collection.records.take().unwrap_or_default();
        let mut stats = std::mem::take(&mut reading.stats);
        if dedup.mode == DedupMode::Annotated {
            let started = Instant::now();
            let found = search(&collection)?;
            let (urls, pairs) = pairs_of(collection, found, &mut stats);
            stats.seconds.candidates += started.elapsed();
            return Ok((
                urls,
                stats,
                records,
                Assigned::default(),
                Some(pairs),
                has_values,
            ));
        }
        let assigned = assign(&collection, dedup.method, &dedup.keep, &mut stats)?;
        let urls = collection.into_parts().0;
        Ok((urls, stats, records, assigned, None, has_values))
    })?;
    let kept = reading.kept.take();
    let (urls, mut stats, records, assigned, pairs, has_values) = found;
    let (listing, written) = recording
        .listing
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    written?;
    let started = Instant::now();
    if let Some(listing) = listing {
        list_removed(&urls, &records, &assigned, listing)?;
    }
    if reads_again {
        observer.phase(Phase::Writing);
        let mut writing = Writing {
            records: &records,
            urls: &urls,
            assigned: &assigned,
            pairs: pairs.as_ref(),
            settings,
            observer,
        };
        writing.write(again, form, kept, &mut output.documents)?;
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
        urls,
        stats,
        has_values,
        assigned,
    })
}

/// The inputs, the documents once more for the second time, and whether some must be unpacked
/// each time.
fn both_times(inputs: Inputs, settings: &Settings) -> (Inputs, Vec<Input>, bool) {
    let is_packed = inputs.documents.iter().any(Input::is_packed_file);
    let memory = settings.memory();
    let bytes = usize::try_from(memory.bytes / SPOOL_SHARE).unwrap_or(usize::MAX);
    let (documents, again) = inputs
        .documents
        .into_iter()
        .map(|input| twice(input, bytes, &memory.temp_dir))
        .unzip();
    let inputs = Inputs {
        documents,
        against: inputs.against,
    };
    (inputs, again, is_packed)
}

/// Where what was left out is listed, and whether that went well.
type Listing<'l, 'w> = (Option<&'l mut NamedWriter<'w>>, Result<(), Error>);

/// Lists records that cannot be used as they are met, and tells of them.
struct Recording<'o, 'l, 'w> {
    observer: &'o dyn Observer,
    listing: Mutex<Listing<'l, 'w>>,
}

impl Observer for Recording<'_, '_, '_> {
    fn problem(&self, error: &Error) {
        self.observer.problem(error);
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(output), Ok(())) = &mut *listing else {
            return;
        };
        let line = RemovedLine::Unreadable {
            place: &error.place,
            why: &error.kind,
        };
        let written = write_removed(&line, output.writer).map_err(|error| output.failed(error));
        listing.1 = written;
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.observer.progress(bytes, documents);
    }

    fn phase(&self, phase: Phase) {
        self.observer.phase(phase);
    }
}

/// Lists the documents that others stand for, and those whose ids were met before.
fn list_removed(
    urls: &Urls,
    records: &Records,
    assigned: &Assigned,
    output: &mut NamedWriter<'_>,
) -> Result<(), Error> {
    for fate in records.fates() {
        let line = match *fate {
            Fate::Unreadable => continue,
            Fate::Repeated(first) => RemovedLine::RepeatedId {
                url: urls.get(first),
            },
            Fate::Document(document) => match assigned.of(document) {
                None => continue,
                Some(Removed { keeper, score, .. }) => RemovedLine::NearDuplicate {
                    url: urls.get(document),
                    keeper: urls.get(keeper),
                    score,
                },
            },
        };
        write_removed(&line, output.writer).map_err(|error| output.failed(error))?;
    }
    output.flush()
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

/// What is needed to write documents.
struct Writing<'a> {
    records: &'a Records,
    urls: &'a Urls,
    assigned: &'a Assigned,
    pairs: Option<&'a Pairs>,
    settings: &'a Settings,
    observer: &'a dyn Observer,
}

impl Writing<'_> {
    fn write(
        &mut self,
        again: Vec<Input>,
        form: RecordForm,
        kept: Option<KeptRecords>,
        output: &mut NamedWriter<'_>,
    ) -> Result<(), Error> {
        let changed = || Error::in_file("-", ErrorKind::Changed);
        let name = output.name.to_owned();
        let failed = |error: io::Error| Error::in_file(&name, ErrorKind::Write(error));
        let mut writer = RecordWriter::new(output.writer);
        let mut first: Option<(InputFormat, Arc<Head>)> = None;
        let mut partners = Partners::default();
        let mut written = 0;
        let each = |record: Record<'_>, taken: u64| {
            let fate = self.records.fate(record.index, record.print);
            let fate = fate.ok_or_else(changed)?;
            let Fate::Document(document) = fate else {
                return Ok(());
            };
            if let Some(pairs) = self.pairs {
                let similar = self.similar(pairs, document, &mut partners)?;
                writer.annotated(record.bytes, &similar).map_err(failed)?;
            } else if !self.assigned.is_removed(document) {
                let format = record.format.written();
                if first.is_none() {
                    writer.head(format, &record.head.bytes).map_err(failed)?;
                }
                let (first_format, first_head) =
                    first.get_or_insert_with(|| (format, Arc::clone(record.head)));
                if *first_format != format || !first_head.is_like(record.head) {
                    return Err(Error::in_file(&name, ErrorKind::MixedFormats));
                }
                writer.record(format, record.bytes).map_err(failed)?;
            }
            written += 1;
            if written % PROGRESS_EVERY == 0 {
                self.observer.progress(taken, written);
            }
            Ok(())
        };
        let count = for_each_record(again, self.settings, form, kept, each)?;
        match count == self.records.len() {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    /// What is similar to a document, the most similar first.
    fn similar(
        &self,
        pairs: &Pairs,
        document: DocumentId,
        partners: &mut Partners,
    ) -> Result<Vec<(&str, String)>, Error> {
        let mut similar: Vec<(DocumentId, Score)> = Vec::new();
        let from = match pairs.scope {
            Scope::All => DocumentId(0),
            Scope::Across(first) => first,
        };
        pairs.for_each_partner(document, from, partners, |other, score, shares| {
            // Of containment, the document's own share counts.
            let score = shares.map_or(score, |[own, _]| own);
            if self.settings.threshold.admits(score) {
                similar.push((other, score));
            }
        })?;
        similar.sort_by(|one, two| two.1.cmp(&one.1).then(one.0.cmp(&two.0)));
        let named = |(other, score): (DocumentId, Score)| (self.urls.get(other), score.to_string());
        Ok(similar.into_iter().map(named).collect())
    }
}

/// Documents after which progress is told.
const PROGRESS_EVERY: u64 = 1024;
