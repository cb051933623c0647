//! The documents to keep, or all of them with what is similar: written when their records come
//! for the second time.

use std::io;
use std::sync::Arc;

use crate::cluster::documents::Assigned;
use crate::collection::{Fate, Records, Sides, Urls};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::pairs::{Pairs, Partners};
use crate::read::{Charset, Head, Input, InputFormat};
use crate::run::records::{KeptRecords, Record, RecordForm, for_each_record};
use crate::score::Score;
use crate::settings::Settings;
use crate::write::{NamedWriter, RecordWriter};

/// What is needed to write documents.
pub(super) struct Writing<'a> {
    pub(super) records: &'a Records,
    pub(super) urls: &'a Urls,
    pub(super) assigned: &'a Assigned,
    pub(super) pairs: Option<&'a Pairs>,
    pub(super) settings: &'a Settings,
    pub(super) observer: &'a dyn Observer,
}

impl Writing<'_> {
    /// Gives back how many documents were written with something that is similar to them.
    ///
    /// Of a file without content there is a record, its name, only among plain text.
    pub(super) fn write(
        &self,
        again: Vec<Input>,
        form: RecordForm,
        kept: Option<KeptRecords>,
        output: &mut NamedWriter<'_>,
    ) -> Result<u64, Error> {
        let name = output.name.to_owned();
        let failed = |error: io::Error| Error::in_file(&name, ErrorKind::Write(error));
        let mut writer = RecordWriter::new(output.writer);
        let mut partners = Partners::default();
        let mut has_head = false;
        let mut with_similar = 0;
        let mut put = |document: Option<DocumentId>, format, head: &Head, bytes: &[u8]| {
            if let (Some(pairs), Some(document)) = (self.pairs, document) {
                let similar = self.similar(pairs, document, &mut partners)?;
                with_similar += u64::from(!similar.is_empty());
                return writer.annotated(bytes, &similar).map_err(failed);
            }
            if !has_head {
                writer.head(format, &head.bytes).map_err(failed)?;
                has_head = true;
            }
            match document {
                Some(_) => writer.record(format, bytes).map_err(failed),
                None => Ok(()),
            }
        };
        let no_head = Head::default();
        let mut first: Option<(InputFormat, Arc<Head>)> = None;
        let mut blank: Vec<(DocumentId, Vec<u8>)> = Vec::new();
        let mut written = 0;
        let mut encoding = OneEncoding::default();
        // The head of the first input, for when nothing is kept.
        let mut first_head: Option<(InputFormat, Arc<Head>)> = None;
        let each = |record: Record<'_>, taken: u64| {
            if first_head.is_none() && !record.is_blank {
                first_head = Some((record.format.written(), Arc::clone(record.head)));
            }
            let fate = self.records.fate(record.index, record.print);
            let changed = || self.changed(record.index, Some(record.file));
            let document = match fate.ok_or_else(changed)? {
                Fate::Document(document) if !self.assigned.is_removed(document) => document,
                _ => return Ok(()),
            };
            written += 1;
            self.tell(taken, written);
            let (format, head) = (record.format.written(), record.head);
            match (record.is_blank, &first) {
                // Whether it has a record is not known before something else is written.
                (true, None) => blank.push((document, record.bytes.to_vec())),
                // As the marks that Hadoop and Spark leave beside records.
                (true, Some((first, _))) if *first != InputFormat::Text => {}
                (false, Some((first, first_head)))
                    if self.pairs.is_none() && (*first != format || !first_head.is_like(head)) =>
                {
                    return Err(Error::in_file(&name, ErrorKind::MixedFormats));
                }
                (_, known) => {
                    if known.is_none() {
                        if self.pairs.is_none() {
                            check_name(&name, record.format)?;
                        }
                        if format == InputFormat::Text {
                            for (document, bytes) in &blank {
                                put(Some(*document), format, &no_head, bytes)?;
                            }
                        }
                        first = Some((format, Arc::clone(head)));
                    }
                    if self.pairs.is_none() && !encoding.admits(&record) {
                        return Err(Error::in_file(&name, ErrorKind::MixedEncodings));
                    }
                    put(Some(document), format, head, record.bytes)?;
                }
            }
            Ok(())
        };
        let count = for_each_record(again, self.settings, form, kept, each)?;
        if first.is_none() {
            for (document, bytes) in &blank {
                put(Some(*document), InputFormat::Text, &no_head, bytes)?;
            }
        }
        if let (Some((format, head)), None) = (first_head, self.pairs) {
            put(None, format, &head, &[])?;
        }
        match count == self.records.len() {
            true => Ok(with_similar),
            false => Err(self.changed(count, None)),
        }
    }

    /// The error of an input that is not what it was, as its record with this index tells.
    pub(super) fn changed(&self, index: usize, file: Option<&str>) -> Error {
        let name = self.records.changed_file(index, file);
        Error::in_file(name, ErrorKind::Changed)
    }

    /// Tells how far it is, now and then.
    pub(super) fn tell(&self, taken: u64, written: u64) {
        if written.is_multiple_of(PROGRESS_EVERY) {
            self.observer.progress(taken, written);
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
        let from = match pairs.scope.sides {
            Sides::All => DocumentId(0),
            Sides::Across(first) => first,
        };
        pairs.for_each_partner(document, from, partners, |pair| {
            // Of containment, the document's own share counts.
            let score = pair.shares.map_or(pair.score, |[own, _]| own);
            if self.settings.threshold.admits(score) {
                similar.push((pair.right, score));
            }
        })?;
        similar.sort_by(|one, two| two.1.cmp(&one.1).then(one.0.cmp(&two.0)));
        let named = |(other, score): (DocumentId, Score)| (self.urls.get(other), score.to_string());
        Ok(similar.into_iter().map(named).collect())
    }
}

/// Refuses a name that says another format than records of this one are written in.
fn check_name(name: &str, format: InputFormat) -> Result<(), Error> {
    let named = |endings: &[&str]| {
        let name = name.to_lowercase();
        let packed = [".gz", ".zst", ".zstd", ".bz2", ".xz"];
        let plain = packed.iter().find_map(|ending| name.strip_suffix(ending));
        let plain = plain.unwrap_or(&name);
        endings.iter().any(|ending| plain.ends_with(ending))
    };
    let (records, endings): (_, &[&'static str]) = match format {
        InputFormat::Jsonl | InputFormat::Parquet => ("JSONL", &[".jsonl", ".json", ".ndjson"]),
        InputFormat::Protobuf => ("protobuf", &[".pb"]),
        InputFormat::Text | InputFormat::Html => ("names of files", &[".txt"]),
        InputFormat::Lines => ("lines", &[".txt"]),
        // What stands between the fields may be anything.
        InputFormat::Csv => ("CSV", &[".csv", ".tsv"]),
        InputFormat::Tsv => ("TSV", &[".tsv"]),
        InputFormat::Warc => ("WARC", &[".warc", ".wet"]),
    };
    let others = [
        ".jsonl", ".json", ".ndjson", ".pb", ".csv", ".tsv", ".warc", ".wet", ".html", ".htm",
    ];
    match named(&others) && !named(endings) {
        false => Ok(()),
        true => {
            let ending = endings.first().copied().unwrap_or(".txt");
            let kind = ErrorKind::OtherFormat { records, ending };
            Err(Error::in_file(name, kind))
        }
    }
}

/// Whether records of several inputs are in one encoding, as those of one output are.
#[derive(Default)]
struct OneEncoding(Option<(Arc<str>, Charset)>);

impl OneEncoding {
    fn admits(&mut self, record: &Record<'_>) -> bool {
        let is_text = matches!(
            record.format,
            InputFormat::Lines | InputFormat::Csv | InputFormat::Tsv
        );
        if !is_text || record.bytes.is_ascii() {
            return true;
        }
        let charset = record.encoding.charset();
        match &self.0 {
            Some((file, known)) if !Arc::ptr_eq(file, record.file) => *known == charset,
            // What one input has may be of several, and stays as it came.
            _ => {
                self.0 = Some((Arc::clone(record.file), charset));
                true
            }
        }
    }
}

/// Documents after which progress is told.
const PROGRESS_EVERY: u64 = 1024;
