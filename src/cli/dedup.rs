//! `simdup dedup`: the documents to keep.

use std::io::{self, BufWriter};

use simdup::inside::{Listing, OutputFormat};
use simdup::settings::{Among, Dedup, DedupMode, Measure, Query, Wanted};
use simdup::{DedupOutput, Index, Inputs, NamedWriter, Settings, Shards, dedup_documents};

use super::args::{DedupArgs, Flag};
use super::cluster::{warn_of_field, warn_of_large_clusters};
use super::files::{self, open_beside};
use super::observer::Terminal;
use super::pairs::warn_of_none;
use super::query::{Asking, check_against, index_of};
use super::report::{self, StatsOutput};
use super::shards::ShardFiles;
use super::{Answer, Failure, Outcome, summary};

/// Bytes handed to the operating system at a time.
const OUTPUT_BUFFER_BYTES: usize = 1 << 18;

pub(super) fn run(args: &DedupArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let index = index_of(&args.similar.similarity.against)?;
    if let Some(index) = &index {
        check_against(index, &settings, typed)?;
        if args.annotate {
            if args.removed.is_some() {
                return Err(Failure::Usage(
                    "--annotate --against an index and --removed do not go together: nothing is \
                     listed there; leave out one of them"
                        .into(),
                ));
            }
            return annotate(args, index, &settings);
        }
    }
    let inputs = match index {
        Some(_) => Inputs::from(args.similar.input.inputs()?),
        None => args.similar.inputs()?,
    };
    let mut shards = match &args.output_dir {
        Some(folder) => Some(ShardFiles::new(folder, &inputs.documents)?),
        None => None,
    };
    if let Some(folder) = args.output.output.as_ref().filter(|path| path.is_dir()) {
        let folder = folder.display();
        return Err(Failure::Usage(format!(
            "--output {folder}: that is a directory; --output-dir {folder} writes a file for each \
             that is read"
        )));
    }
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    let goes_on = args.removed.is_some() || args.exit_status;
    let (output, name) = match args.annotate || args.dry_run {
        true => args.output.open_to_the_end(goes_on)?,
        // Documents are written as they came.
        false => args.output.open_exact(goes_on)?,
    };
    let mut output = BufWriter::with_capacity(OUTPUT_BUFFER_BYTES, output);
    let mut removed = match &args.removed {
        Some(path) => {
            let (removed, name) = open_beside("--removed", path)?;
            Some((BufWriter::new(removed), name))
        }
        None => None,
    };
    let terminal = Terminal::new(&args.output, inputs.iter());
    let dedup = Dedup {
        method: args.clusters.cluster.into(),
        keep: args.clusters.keep.clone(),
        mode: match (args.annotate, args.dry_run) {
            (true, _) => DedupMode::Annotated,
            (false, true) => DedupMode::Removed,
            (false, false) => DedupMode::Kept,
        },
        among: match args.against_only {
            true => Among::Others,
            false => Among::All,
        },
        index: index.as_ref(),
    };
    let outputs = DedupOutput {
        documents: NamedWriter {
            name: &name,
            writer: &mut output,
        },
        removed: removed.as_mut().map(|(removed, name)| NamedWriter {
            name,
            writer: removed,
        }),
        shards: shards.as_mut().map(|shards| shards as &mut dyn Shards),
    };
    let done = dedup_documents(inputs, &settings, &dedup, outputs, &terminal);
    if let (Err(_), Some(shards)) = (&done, &shards) {
        terminal.suspend(|| shards.tell_of_written());
    }
    let mut done = done?;
    terminal.finish(&done.stats);
    if let Some(shards) = &mut shards {
        shards.finish().inspect_err(|_| shards.tell_of_written())?;
    }
    let documents = done.kept + done.removed;
    let against = &args.similar.similarity.against;
    let has_none = !against.is_empty()
        && documents > 0
        && done.shared_files == 0
        && match &index {
            Some(index) => index.is_empty(),
            None => done.stats.counts.against == 0,
        };
    if has_none && !args.output.quiet {
        warn_of_none(against);
    }
    if !args.output.quiet {
        warn_of_field(&dedup.keep, done.has_values);
        warn_of_large_clusters(done.clusters(), &done.urls);
        warn_of_others(done.no_documents, args);
        if let Some((file, documents)) = &done.stats.transcoded {
            let documents = summary::count(*documents, "document", "documents");
            report::warning(&format!(
                "{documents} of UTF-16 or UTF-32 are written as UTF-8, such as those of {file}"
            ));
        }
        for (file, gone, documents) in &done.emptied {
            let [gone, documents] = [gone, documents].map(|&count| summary::number(count as u64));
            report::warning(&format!("{file}: {gone} of its {documents} documents go"));
        }
    }
    if args.dry_run {
        let repeated = match done.stats.counts.repeated_ids {
            0 => String::new(),
            repeated => format!(
                "; {} besides, with an id met before",
                summary::number(repeated)
            ),
        };
        report::warning(&format!(
            "{} of {} documents would go, {} would stay{repeated}",
            summary::number(done.removed),
            summary::number(documents),
            summary::number(done.kept)
        ));
    }
    let output = output
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .map_err(|error| Failure::write(&name, error))?;
    let mut finished = vec![(output, name)];
    if let Some((removed, name)) = removed {
        let removed = removed.into_inner().map_err(io::IntoInnerError::into_error);
        let removed = removed.map_err(|error| Failure::write(&name, error))?;
        finished.push((removed, name));
    }
    finished.extend(stats_output.write(&mut done.stats)?);
    files::finish(finished)?;
    let told = match args.annotate {
        true => String::new(),
        false => {
            let kept = summary::number(done.kept);
            let others = match done.no_documents {
                0 => String::new(),
                others => {
                    let records = summary::count(others, "record", "records");
                    format!(", {records} without a document")
                }
            };
            format!(
                "{}, {kept} kept{others}",
                summary::near_duplicates(&done.stats)
            )
        }
    };
    terminal.close(&done.stats, &told);
    let answer = Answer {
        is_asked: args.exit_status,
        documents: if has_none { 0 } else { documents },
        found: done.removed + done.annotated,
    };
    Ok(Outcome::answering(&done.stats, &args.resources, answer))
}

/// Says how many records of archives are left out, and where they are listed.
fn warn_of_others(others: u64, args: &DedupArgs) {
    let records = match others {
        0 => return,
        1 => "1 record of WARC that is no HTML or plain text is",
        _ => &format!(
            "{} records of WARC that are no HTML or plain text, such as requests and images, are",
            summary::number(others)
        ),
    };
    let listed = match args.removed.is_some() || args.dry_run {
        true => "",
        false => "; --removed lists them",
    };
    report::warning(&format!("{records} not written{listed}"));
}

/// All documents, with what an index has that is similar.
fn annotate(args: &DedupArgs, index: &Index, settings: &Settings) -> Result<Outcome, Failure> {
    let inputs = args.similar.input.inputs()?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let asking = Asking {
        index,
        settings,
        query: Query {
            records: true,
            each_id_once: true,
            // Of containment, the document's own share counts.
            wanted: match settings.measure {
                Measure::Containment => Wanted::Overlap {
                    share: settings.threshold,
                    chance: None,
                },
                _ => Wanted::Similar,
            },
            ..Query::default()
        },
        listing: Listing::of(OutputFormat::Jsonl),
        output: &args.output,
        goes_on: args.exit_status,
        with_shares: false,
    };
    let (stats, found) = asking.ask(|asking, each| {
        let asked = index.query(inputs, settings, &asking.query, &terminal, each)?;
        terminal.finish(&asked.stats);
        Ok((asked.stats.clone(), serde_json::to_value(&asked)))
    })?;
    if index.is_empty() && !args.output.quiet {
        warn_of_none(&args.similar.similarity.against);
    }
    terminal.close(
        &stats,
        &summary::count(found, "near-duplicate", "near-duplicates"),
    );
    let answer = Answer {
        is_asked: args.exit_status,
        documents: match index.is_empty() {
            true => 0,
            false => stats.counts.documents,
        },
        found,
    };
    Ok(Outcome::answering(&stats, &args.resources, answer))
}
