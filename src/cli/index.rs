//! `simdup index`: documents on disk.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;

use simdup::results::IndexInfo;
use simdup::settings::Adding;
use simdup::{Index, NamedWriter, Settings, Stats};

use super::args::{
    AddArgs, BuildArgs, CheckArgs, CompactArgs, ExportArgs, Flag, IndexCommand, InfoArgs,
    InfoFormatArg, OutputArgs, PairFormatArg, RemoveArgs, When,
};
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Answer, Failure, Outcome, files, summary};

pub(super) fn run(command: &IndexCommand, typed: &[Flag]) -> Result<Outcome, Failure> {
    match command {
        IndexCommand::Build(args) => build(args),
        IndexCommand::Add(args) => add(args, typed),
        IndexCommand::Remove(args) => remove(args),
        IndexCommand::Info(args) => info(args),
        IndexCommand::Check(args) => check(args),
        IndexCommand::Compact(args) => compact(args),
        IndexCommand::Export(args) => export(args),
    }
}

fn build(args: &BuildArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let output = args.told.output();
    let inputs = args.input.inputs()?;
    let stats_output = StatsOutput::open(output.stats.as_deref())?;
    let terminal = Terminal::new(&output, inputs.iter());
    let writer = args.lock.writer("build");
    let mut stats = Index::create(&args.index, inputs, &settings, &writer, &terminal)?;
    terminal.finish(&stats);
    files::finish(stats_output.write(&mut stats)?)?;
    terminal.close(&stats, "");
    Ok(Outcome::of(&stats, &args.resources))
}

fn add(args: &AddArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    check_settings(&args.index, &settings, typed)?;
    let inputs = args.input.inputs()?;
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    // What was added is there, whoever reads its pairs.
    let (mut output, name) = args.output.open_to_the_end(true)?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let adding = Adding {
        present: args.present(),
        pairs: !args.no_pairs,
        writer: args.lock.writer("add"),
    };
    let mut added = Index::add(&args.index, inputs, &settings, &adding, &terminal)?;
    terminal.finish(&added.stats);
    tell_present(&added.stats, args);
    let named = NamedWriter {
        name: &name,
        writer: &mut output,
    };
    let format = PairFormatArg::list_format(args.format, &args.output);
    let listing = args.list.listing(format, args.top);
    let found = added.write(&listing, named)?;
    if args.list.count {
        let counted = writeln!(output, "{found}");
        counted.map_err(|error| Failure::write(&name, error))?;
    }
    let stats = stats_output.write(&mut added.stats)?;
    files::finish([(output, name)].into_iter().chain(stats))?;
    if listing.encoded_ids.any() && !args.output.quiet {
        report::note_encoded_ids(report::EXACT_FORMATS);
    }
    let stats = added.finish()?;
    terminal.close(&stats, &summary::best(found, args.top, "pair", "pairs"));
    let answer = Answer {
        is_asked: args.list.exit_status,
        documents: stats.counts.documents,
        found,
    };
    Ok(Outcome::answering(&stats, &args.resources, answer))
}

fn tell_present(stats: &Stats, args: &AddArgs) {
    let count = stats.counts.present_ids;
    if count > 0 && !args.output.quiet {
        let what = match args.present() {
            simdup::settings::Present::Replace => "took the place of those with their ids",
            _ => "were left out, as their ids are in the index",
        };
        report::warning(&format!("{count} documents {what}"));
    }
}

/// Refuses flags that contradict what the index remembers.
pub(super) fn check_settings(
    index: &Path,
    settings: &Settings,
    typed: &[Flag],
) -> Result<(), Failure> {
    for difference in Index::differences(index, settings)? {
        let contradicts = |flag: &&Flag| difference.flags.contains(&flag.name.as_str());
        if let Some(flag) = typed.iter().find(contradicts) {
            return Err(Failure::Usage(format!(
                "{} and {} contradict each other: it was built with {}; leave out {}",
                flag.name,
                index.display(),
                difference.index,
                flag.name
            )));
        }
    }
    Ok(())
}

fn remove(args: &RemoveArgs) -> Result<Outcome, Failure> {
    let mut listed = Vec::new();
    if let Some(path) = &args.ids_from {
        let read = match path.as_os_str() == "-" {
            true => io::stdin().read_to_end(&mut listed).map(drop),
            false => fs::read(path).map(|read| listed = read),
        };
        let failed = |error: &dyn std::fmt::Display| {
            Failure::Usage(format!("--ids-from {}: {error}", path.display()))
        };
        read.map_err(|error| failed(&error))?;
    }
    let listed = String::from_utf8(listed)
        .map_err(|error| Failure::Usage(format!("--ids-from: ids are UTF-8: {error}")))?;
    let lines = listed.lines().filter(|line| !line.is_empty());
    let ids: Vec<&str> = args.ids.iter().map(String::as_str).chain(lines).collect();
    if ids.is_empty() && args.ids_from.is_none() {
        return Err(Failure::Usage(
            "nothing to remove: name ids, or a file that lists them with --ids-from".into(),
        ));
    }
    let unknown = Index::remove(&args.index, ids, &args.lock.writer("remove"))?;
    for id in &unknown {
        report::warning(&format!(
            "{}: there is no document of the id {id}",
            args.index.display()
        ));
    }
    if !unknown.is_empty() {
        report::warning("nothing was removed; leave out the ids that are not there");
    }
    Ok(match unknown.is_empty() {
        true => Outcome::Done,
        false => Outcome::Skipped,
    })
}

fn check(args: &CheckArgs) -> Result<Outcome, Failure> {
    Index::open(&args.index)?.check()?;
    Ok(Outcome::Done)
}

fn compact(args: &CompactArgs) -> Result<Outcome, Failure> {
    let settings = Settings {
        threads: args.threads,
        ..Settings::default()
    };
    Index::compact(&args.index, &settings, &args.lock.writer("compact"))?;
    Ok(Outcome::Done)
}

fn export(args: &ExportArgs) -> Result<Outcome, Failure> {
    let index = Index::open(&args.index)?;
    let output = OutputArgs {
        output: args.output.clone(),
        stats: None,
        progress: When::Never,
        summary: When::Never,
        config: None,
        print_config: false,
        quiet: false,
    };
    if let Some(path) = &args.output {
        keep_outside(path, &args.index)?;
    }
    let (output, name) = output.open()?;
    let mut lines = BufWriter::new(output);
    let mut written = Ok(());
    index.for_each_document(|id, shingles, fields| {
        let id = serde_json::Value::from(id);
        written = match fields {
            "" => writeln!(lines, "{{\"url\":{id},\"shingles\":{shingles}}}"),
            _ => writeln!(
                lines,
                "{{\"url\":{id},\"shingles\":{shingles},\"fields\":{fields}}}"
            ),
        };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    let failed = |error| Failure::write(&name, error);
    written.map_err(failed)?;
    let output = lines
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    files::finish([(output, name)])?;
    Ok(Outcome::Done)
}

/// Refuses to write into an index.
fn keep_outside(path: &Path, index: &Path) -> Result<(), Failure> {
    let folder = path.parent().map(fs::canonicalize);
    let is_inside =
        matches!((folder, fs::canonicalize(index)), (Some(Ok(one)), Ok(two)) if one == two);
    match is_inside {
        false => Ok(()),
        true => Err(Failure::Usage(format!(
            "--output {} would be in the index itself; name another file",
            path.display()
        ))),
    }
}

fn info(args: &InfoArgs) -> Result<Outcome, Failure> {
    let info = Index::open(&args.index)?.info()?;
    let text = match args.format {
        InfoFormatArg::Json => serde_json::to_string_pretty(&info).map(|json| json + "\n"),
        InfoFormatArg::Text => Ok(described(&info)),
    };
    let mut output = super::standard_output::open();
    text.map_err(io::Error::from)
        .and_then(|text| output.write_all(text.as_bytes()))
        .and_then(|()| output.flush())
        .map_err(|error| Failure::write("-", error))?;
    Ok(Outcome::Done)
}

fn described(info: &IndexInfo) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        text.push_str(&format!("{name:<22}{value}\n"));
    };
    line("documents", &info.documents);
    line(
        "removed",
        &format_args!(
            "{} (they take room until segments are merged)",
            info.removed
        ),
    );
    line("shingles", &info.postings);
    line("format", &info.format);
    line("bytes of documents", &info.document_bytes);
    line("bytes of shingles", &info.key_bytes);
    line("bytes of lists", &info.list_bytes);
    line(
        "written anew",
        &format_args!(
            "a document at most {} time whenever the index doubles",
            info.rewrites_per_doubling
        ),
    );
    if let Some(settings) = info.settings.as_object() {
        for (name, value) in settings {
            match value {
                serde_json::Value::Array(list) if name == "stopwords" => line(name, &list.len()),
                value => line(name, value),
            }
        }
    }
    for segment in &info.segments {
        line(
            &format!("segment {}", segment.number),
            &format_args!(
                "{} documents, {} removed, {} different shingles, {} bytes",
                segment.documents, segment.removed, segment.shingles, segment.bytes
            ),
        );
    }
    for list in &info.longest {
        line(
            "common shingle",
            &format_args!(
                "in {} documents: {} …",
                list.documents,
                list.sample.join(", ")
            ),
        );
    }
    text
}
