//! Batches in input order: their documents are numbered, and handed on.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::batch::{Batch, BatchDocument, BlockUrls, Form, Numbered, value_bytes};
use super::{Ids, KEPT_SHARE, Reading, Written, why_not_apart};
use crate::collection::{Added, Fate};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind, Place};
use crate::run::floor::Counted;
use crate::run::folders::Folders;
use crate::run::reading::Present;
use crate::settings::Strictness;
use crate::stats::Counts;

/// Takes batches in input order, numbers the documents, and hands them on.
pub(super) struct Collector<'r, 'a, K> {
    pub(super) reading: &'r mut Reading<'a>,
    pub(super) folders: &'r Folders,
    pub(super) keep: K,
    pub(super) numbers: Vec<Option<DocumentId>>,
    pub(super) failed: Option<Error>,
}

impl<K> Collector<'_, '_, K> {
    pub(super) fn add<T>(&mut self, batch: Batch<T>) -> ControlFlow<()>
    where
        K: FnMut(Numbered<'_>, T) -> ControlFlow<Option<Error>>,
    {
        let reading = &mut *self.reading;
        reading.stats.counts.record_bytes += batch.record_bytes;
        reading.stats.counts.passed_over += batch.passed_over;
        reading.stats.counts.kept_first += batch.kept_first;
        reading.stats.counts.passed_over_records += batch.passed_over_records;
        reading.stats.formats.extend(batch.format);
        reading.fields |= batch.fields;
        reading.stats.texts.merge(batch.texts);
        reading.stats.seconds.read_busy += batch.reading;
        reading.stats.seconds.sketch_busy += batch.sketching;
        let mut others = batch.others.into_iter().peekable();
        let tell_of_other = |(number, what): (u64, &'static str)| {
            if let Some(file) = &batch.file {
                let place = Place {
                    file: Arc::clone(file),
                    record: Some(number),
                    byte: None,
                };
                reading.observer.passed_over(&place, what);
            }
        };
        for error in batch.problems {
            let record = error.place.record.unwrap_or(u64::MAX);
            while let Some(other) = others.next_if(|&(number, _)| number < record) {
                tell_of_other(other);
            }
            if error.is_fatal() || reading.settings.strictness == Strictness::Stop {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            reading.stats.counts.skipped += 1;
            reading.observer.problem(&error);
        }
        others.for_each(tell_of_other);
        let rest = reading.rest_bytes();
        if let (Some(kept), Some(records)) = (&mut reading.kept, batch.records) {
            kept.add(records, rest / KEPT_SHARE);
        }
        self.numbers.clear();
        let mut seen = batch.seen.iter().copied();
        if let (Some(records), Some(file)) = (&mut self.reading.records, &batch.file) {
            records.start(file);
        }
        if let Some(form) = batch.form.filter(|_| !batch.documents.is_empty()) {
            self.check_form(form, batch.documents.len() as u64)?;
        }
        let id_bytes = self.reading.id_bytes();
        let value_bytes: usize = batch.values.iter().map(value_bytes).sum();
        let shared = self.reading.shared.as_ref();
        let shared = shared.and_then(|shared| shared.number(batch.file.as_ref()?));
        let mut url_start = 0;
        for (index, document) in batch.documents.iter().enumerate() {
            let url = &batch.urls[url_start..document.url_end];
            url_start = document.url_end;
            let (fate, number) = self.number(url, document)?;
            self.numbers.push(number);
            let reading = &mut *self.reading;
            if let Some(records) = &mut reading.records {
                records.push(&mut seen, fate);
            }
            if let (Some(files), Some(file)) = (&mut reading.shared, shared) {
                files.add(file, number);
            }
            if number.is_some() {
                reading
                    .descriptions
                    .lengths
                    .extend(batch.lengths.get(index));
                let value = batch.values.get(index).cloned();
                reading.descriptions.values.extend(value);
                if let (Some(parties), Some(party)) =
                    (&mut reading.parties, batch.parties.get(index))
                {
                    let place = parties.push(party.as_deref());
                    if let (Some(watch), Some(name)) = (&mut reading.folders, &batch.file)
                        && let Some(file) = self.folders.file(name)
                    {
                        watch.add(file, name, place.zip(party.as_deref()));
                    }
                }
            }
        }
        if let Some(records) = &mut self.reading.records {
            records.push_unreadable(&mut seen);
        }
        let reading = &mut *self.reading;
        if let Some(sample) = &mut reading.sample {
            for drawn in batch.drawn {
                if let Some(document) = self.numbers.get(drawn.place).copied().flatten() {
                    sample.add(drawn, document);
                }
            }
        }
        reading.floor.add(&Counted {
            documents: self.numbers.iter().flatten().count() as u64,
            id_bytes: (reading.id_bytes() - id_bytes + value_bytes) as u64,
            ..batch.counted
        });
        reading
            .observer
            .progress(batch.input_bytes, reading.stats.counts.documents);
        match batch.digest {
            Some(digest) => {
                let numbered = Numbered {
                    urls: &reading.urls,
                    block_urls: BlockUrls {
                        urls: &batch.urls,
                        documents: &batch.documents,
                    },
                    documents: &self.numbers,
                    rest: reading.rest_bytes(),
                };
                (self.keep)(numbered, digest).map_break(|error| self.failed = error)
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// Refuses what cannot be written, and takes note of what is not written as it came.
    fn check_form(&mut self, form: Form, documents: u64) -> ControlFlow<()> {
        let reading = &mut *self.reading;
        let Form {
            format, head, file, ..
        } = form;
        if form.is_transcoded && !format.is_file() {
            let transcoded = &mut reading.stats.transcoded;
            transcoded.get_or_insert_with(|| (file.to_string(), 0)).1 += documents;
        }
        let refused = match reading.wants.written {
            Written::Otherwise => None,
            Written::Apart => why_not_apart(format).map(ErrorKind::NoShard),
            Written::Together => {
                let format = format.written();
                let first = reading.written.get_or_insert((format, Arc::clone(&head)));
                let is_like = first.0 == format && first.1.is_like(&head);
                (!is_like).then_some(ErrorKind::MixedFormats)
            }
        };
        match refused {
            None => ControlFlow::Continue(()),
            Some(kind) => {
                self.failed = Some(Error::in_file(&file, kind));
                ControlFlow::Break(())
            }
        }
    }

    fn number(
        &mut self,
        url: &str,
        document: &BatchDocument,
    ) -> ControlFlow<(), (Fate, Option<DocumentId>)> {
        let reading = &mut *self.reading;
        let counts = &mut reading.stats.counts;
        if let Some(known) = reading.known.filter(|_| document.is_known) {
            match known.present {
                Present::Replace => {}
                Present::Skip => {
                    counts.present_ids += 1;
                    return ControlFlow::Continue((Fate::Repeated(DocumentId(0)), None));
                }
                Present::Refuse => {
                    let what = format!(
                        "the index has a document of the id {url} already; --replace takes this \
                         one instead, --skip leaves it out. Nothing was added"
                    );
                    let name = known.ids.name();
                    self.failed = Some(Error::in_file(&name, ErrorKind::Index(what)));
                    return ControlFlow::Break(());
                }
            }
        }
        let added = match (is_full(counts), &mut reading.seen) {
            (true, _) => Added::Full,
            (false, _) if reading.wants.ids == Ids::Passed => {
                Added::New(DocumentId(counts.documents as u32))
            }
            (false, Some(seen)) => seen.add(url),
            (false, None) => reading.urls.add_hashed(url, document.url_hash),
        };
        match added {
            Added::New(id) => {
                if document.is_known {
                    counts.present_ids += 1;
                    reading.present.push(id);
                }
                counts.documents += 1;
                counts.short += u64::from(document.is_short);
                counts.left_out += u64::from(document.is_left_out);
                counts.template_only += u64::from(document.is_template);
                if !document.has_shingle {
                    let is_known =
                        document.is_short || document.is_left_out || document.is_template;
                    counts.empty += u64::from(!is_known);
                    if reading.wants.ids == Ids::Kept {
                        reading.empty.push(id);
                    }
                }
                ControlFlow::Continue((Fate::Document(id), Some(id)))
            }
            Added::Repeated(first) => {
                counts.repeated_ids += 1;
                ControlFlow::Continue((Fate::Repeated(first), None))
            }
            Added::Full => {
                self.failed = Some(Error::in_file(url, ErrorKind::TooManyDocuments));
                ControlFlow::Break(())
            }
        }
    }
}

/// Whether what follows would have no number. Each document has one, those too whose ids
/// were met before.
fn is_full(counts: &Counts) -> bool {
    counts.documents + counts.repeated_ids >= u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_documents_than_numbers_are_refused_repeated_or_not() {
        let most = u64::from(u32::MAX);
        let counts = |documents, repeated_ids| Counts {
            documents,
            repeated_ids,
            ..Counts::default()
        };
        assert!(!is_full(&counts(1, most - 2)));
        for counts in [counts(1, most - 1), counts(most, 0), counts(most, most)] {
            assert!(is_full(&counts));
        }
    }
}
