//! `simdup dedup`: the documents to keep.

use std::io::{self, BufWriter, Write};

use simdup::read::{InputFormat, twice};
use simdup::score::{Measure, Score};
use simdup::write::{Output, Packed, RecordWriter, write_removed};
use simdup::{
    Chosen, Clustered, DocumentId, Error, ErrorKind, Input, Inputs, KeptRecords, Settings, Similar,
    cluster_documents, copy_documents, find_pairs,
};

use super::args::DedupArgs;
use super::cluster::warn_of_clusters;
use super::files::{self, open_beside};
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Failure, Outcome};

/// What is kept of a pipe between the two times that it is read takes no more than this
/// part of the memory.
const KEPT_SHARE: u64 = 8;
/// Bytes handed to the operating system at a time.
const OUTPUT_BUFFER_BYTES: usize = 1 << 18;

pub(super) fn run(args: &DedupArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.similar.inputs()?;
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    let (output, name) = args.output.open()?;
    let packed = Packed::by_name(output, args.output.output.as_deref())
        .map_err(|error| Failure::write(&name, error))?;
    let mut output = Written {
        output: BufWriter::with_capacity(OUTPUT_BUFFER_BYTES, packed),
        name,
    };
    let terminal = Terminal::new(
        &args.output,
        inputs
            .documents
            .iter()
            .chain(inputs.against.iter().flatten()),
    );
    let chosen = match args.annotate {
        true => Chosen::Json,
        false => Chosen::AsTheyCame,
    };
    let (inputs, again) = both_times(inputs, &settings, chosen);
    let mut removed_written = None;
    let mut stats = if args.annotate {
        let mut similar = find_pairs(inputs, &settings, &terminal)?;
        terminal.finish(&similar.stats);
        let kept = similar.kept.take();
        annotate(
            &similar,
            Again {
                inputs: again,
                kept,
            },
            &settings,
            &mut output,
        )?;
        similar.stats
    } else {
        let removed_output = match &args.removed {
            Some(path) => Some(open_beside("--removed", path)?),
            None => None,
        };
        let choice = &args.clusters;
        let method = choice.cluster.into();
        let mut clustered = cluster_documents(inputs, &settings, method, &choice.keep, &terminal)?;
        terminal.finish(&clustered.stats);
        if !args.output.quiet {
            warn_of_clusters(&clustered, &choice.keep);
            warn_of_emptied_files(&clustered);
        }
        if args.dry_run {
            tell_what_would_go(&clustered, &mut output)?;
        } else {
            let kept = clustered.kept.take();
            write_kept(
                &clustered,
                Again {
                    inputs: again,
                    kept,
                },
                &settings,
                &mut output,
            )?;
        }
        if let Some((removed, name)) = removed_output {
            let failed = |error| Failure::write(&name, error);
            let mut removed = BufWriter::new(removed);
            write_all_removed(&clustered, &mut removed).map_err(failed)?;
            let removed = removed.into_inner().map_err(io::IntoInnerError::into_error);
            removed_written = Some((removed.map_err(failed)?, name.clone()));
        }
        clustered.stats
    };
    let output = output.into_output()?;
    let stats_output = stats_output.write(&mut stats)?;
    files::finish(
        [output]
            .into_iter()
            .chain(removed_written)
            .chain(stats_output),
    )?;
    Ok(match stats.counts.skipped {
        0 => Outcome::Done,
        _ => Outcome::Skipped,
    })
}

/// An output with its name.
struct Written {
    output: BufWriter<Packed>,
    name: String,
}

impl Written {
    fn failure(&self, error: io::Error) -> Failure {
        Failure::write(&self.name, error)
    }

    /// What is to be finished.
    fn into_output(self) -> Result<(Output, String), Failure> {
        let name = self.name;
        let output = self
            .output
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(Packed::into_output)
            .map_err(|error| Failure::write(&name, error))?;
        Ok((output, name))
    }
}

/// The documents for the second time: what was kept, or the inputs once more.
struct Again {
    inputs: Vec<Input>,
    kept: Option<KeptRecords>,
}

/// The inputs, and the documents once more for the second time. To unpack twice takes longer
/// than to keep the records.
fn both_times(inputs: Inputs, settings: &Settings, chosen: Chosen) -> (Inputs, Vec<Input>) {
    let is_packed = inputs.documents.iter().any(Input::is_packed_file);
    let (bytes, folder) = match &settings.memory {
        Some(memory) => (memory.bytes / KEPT_SHARE, memory.temp_dir.clone()),
        None => (u64::MAX, std::env::temp_dir()),
    };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let (documents, again) = inputs
        .documents
        .into_iter()
        .map(|input| twice(input, bytes, &folder))
        .unzip();
    let inputs = Inputs {
        documents,
        against: inputs.against,
        keep: is_packed.then_some(chosen),
    };
    (inputs, again)
}

/// Calls `each` with the records of all documents, which are those of `records`.
fn for_each_document(
    records: &[Option<DocumentId>],
    again: Again,
    settings: &Settings,
    chosen: Chosen,
    mut each: impl FnMut(DocumentId, InputFormat, &[u8]) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let changed = || Error::in_file("-", ErrorKind::Changed);
    let count = copy_documents(
        again.inputs,
        settings,
        chosen,
        again.kept,
        |row, format, bytes| match records.get(row) {
            None => Err(changed()),
            Some(None) => Ok(()),
            Some(Some(document)) => each(*document, format, bytes),
        },
    )?;
    match count == records.len() {
        true => Ok(()),
        false => Err(changed()),
    }
}

fn write_kept(
    clustered: &Clustered,
    again: Again,
    settings: &Settings,
    output: &mut Written,
) -> Result<(), Failure> {
    let mut is_removed = vec![false; clustered.urls.len()];
    for removed in &clustered.removed {
        is_removed[removed.document.index()] = true;
    }
    let name = output.name.clone();
    let mut writer = RecordWriter::new(&mut output.output);
    let mut first_format = None;
    let chosen = Chosen::AsTheyCame;
    let each = |document: DocumentId, format: InputFormat, bytes: &[u8]| {
        if is_removed[document.index()] {
            return Ok(());
        }
        if *first_format.get_or_insert(format) != format {
            return Err(Error::in_file(&name, ErrorKind::MixedFormats));
        }
        writer
            .record(format, bytes)
            .map_err(|error| Error::in_file(&name, ErrorKind::Write(error)))
    };
    Ok(for_each_document(
        &clustered.records,
        again,
        settings,
        chosen,
        each,
    )?)
}

fn write_all_removed(clustered: &Clustered, output: &mut dyn Write) -> io::Result<()> {
    for removed in &clustered.removed {
        let [url, keeper] = [removed.document, removed.keeper].map(|id| clustered.urls.get(id));
        write_removed(url, keeper, &removed.score.to_string(), output)?;
    }
    output.flush()
}

fn tell_what_would_go(clustered: &Clustered, output: &mut Written) -> Result<(), Failure> {
    write_all_removed(clustered, &mut output.output).map_err(|error| output.failure(error))?;
    let gone = clustered.removed.len();
    let documents = clustered.records.iter().flatten().count();
    report::warning(&format!(
        "{gone} of {documents} documents would go, {} would stay",
        documents - gone
    ));
    Ok(())
}

/// Most of a file being gone may mean that the file is a copy, or that its documents have
/// a frame in common.
fn warn_of_emptied_files(clustered: &Clustered) {
    let mut is_removed = vec![false; clustered.urls.len()];
    for removed in &clustered.removed {
        is_removed[removed.document.index()] = true;
    }
    for (name, records) in clustered.files() {
        let documents = records.iter().flatten().count();
        let gone = records
            .iter()
            .flatten()
            .filter(|id| is_removed[id.index()])
            .count();
        if documents > 1 && gone * 2 > documents {
            report::warning(&format!("{name}: {gone} of its {documents} documents go"));
        }
    }
}

/// Writes all documents, each with what is similar to it.
fn annotate(
    similar: &Similar,
    again: Again,
    settings: &Settings,
    output: &mut Written,
) -> Result<(), Failure> {
    let mut of: Vec<Vec<(DocumentId, Score)>> = vec![Vec::new(); similar.urls.len()];
    let is_one_side = similar.pairs.records().iter().flatten().count() == similar.urls.len();
    similar.pairs.for_each(|pair| {
        // Of containment, each document's own share counts.
        let [of_left, of_right] = pair.shares.unwrap_or([pair.score; 2]);
        if settings.threshold.admits(of_left) {
            of[pair.left.index()].push((pair.right, of_left));
        }
        if is_one_side && settings.threshold.admits(of_right) {
            of[pair.right.index()].push((pair.left, of_right));
        }
    });
    for others in &mut of {
        others.sort_by(|one, two| two.1.cmp(&one.1).then(one.0.cmp(&two.0)));
    }
    debug_assert!(similar.pairs.measure() != Measure::MinHash);
    let name = output.name.clone();
    let mut writer = RecordWriter::new(&mut output.output);
    let each = |document: DocumentId, _: InputFormat, bytes: &[u8]| {
        let others: Vec<(&str, String)> = of[document.index()]
            .iter()
            .map(|&(other, score)| (similar.urls.get(other), score.to_string()))
            .collect();
        writer
            .annotated(bytes, &others)
            .map_err(|error| Error::in_file(&name, ErrorKind::Write(error)))
    };
    let records = similar.pairs.records();
    Ok(for_each_document(
        records,
        again,
        settings,
        Chosen::Json,
        each,
    )?)
}
