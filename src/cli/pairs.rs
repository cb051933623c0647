//! `simdup`: the similar pairs.

use std::io::Write;
use std::path::PathBuf;

use simdup::inside::{Listing, Packed, TextFiles, find_pairs_with_places, write_pairs};
use simdup::results::Similar;
use simdup::settings::{CommonSettings, Measure, Query};
use simdup::{Index, NamedWriter, Settings, find_pairs};

use super::args::{Flag, PairListArgs, PairsArgs};
use super::observer::Terminal;
use super::query::{Asking, check_against, index_of};
use super::report::{self, StatsOutput};
use super::{Answer, Failure, Outcome, baseline, files, summary};

pub(super) fn run(args: &PairsArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    if let Some(index) = index_of(&args.similar.similarity.against)? {
        check_against(&index, &settings, typed)?;
        args.pairs.check_index(index.folder())?;
        return ask(args, &index, &settings);
    }
    let listing = listing(args)?;
    let inputs = args.similar.inputs()?;
    let files = match args.pairs.has_lines(&listing) {
        true => TextFiles::of(inputs.iter()),
        false => TextFiles::default(),
    };
    let goes_on = args.pairs.write_baseline.is_some() || args.pairs.list.exit_status;
    let output = args.output.open_to_the_end(goes_on)?;
    let known = match &args.pairs.write_baseline {
        Some(path) => Some(files::open_beside("--write-baseline", path)?),
        None => None,
    };
    let stats = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let names = match &inputs.documents[..] {
        [only] if !args.output.quiet => Some(only.name().to_string()),
        _ => None,
    };
    let find = match args.pairs.has_annotations(&listing) {
        true => find_pairs_with_places,
        false => find_pairs,
    };
    let mut similar = find(inputs, &settings, &terminal)?;
    terminal.finish(&similar.stats);
    let own_documents = similar.pairs.own_documents();
    if own_documents == 0 && !similar.urls.is_empty() && !args.output.quiet {
        report::warning("no document was read that could be held against those of --against");
    }
    let against = &args.similar.similarity.against;
    let all_documents = similar.urls.len() as u64;
    let has_none = !against.is_empty() && own_documents > 0 && all_documents == own_documents;
    if has_none && !args.output.quiet {
        warn_of_none(against);
    }
    if let Some(name) = names.filter(|name| similar.urls.only() == Some(name)) {
        report::warning(&format!(
            "{name} was read as one document; --input-format tells otherwise: `lines` takes each \
             line for one, `csv` each row of a table"
        ));
    }

    if let CommonSettings::Share(share) = settings.common
        && share.whole_part_of(similar.urls.len()) < 2
        && !args.output.quiet
    {
        report::warning(&format!(
            "--ignore-common leaves out every shingle that two documents share: of {} documents, \
             that is more than the share allows",
            similar.urls.len()
        ));
    }
    let write = |similar: &mut Similar, listing: &Listing, to: &mut (Packed, String)| {
        let (writer, name) = to;
        let named = NamedWriter { name, writer };
        write_pairs(similar, listing, &files, named, &terminal)
    };
    let mut outputs = vec![output];
    if let (Some(path), Some(mut output)) = (&args.pairs.write_baseline, known) {
        write(
            &mut similar,
            &PairListArgs::baseline_listing(path),
            &mut output,
        )?;
        outputs.push(output);
    }
    let listed = write(&mut similar, &listing, &mut outputs[0])?;
    let found = listed.pairs;
    if listing.is_counted {
        count(found, &mut outputs[0])?;
    }
    terminal.clear();
    outputs.extend(stats.write(&mut similar.stats)?);
    files::finish(outputs)?;

    if listing.encoded_ids.any() && !args.output.quiet {
        report::note_encoded_ids(report::EXACT_FORMATS);
    }
    let known = listing
        .accepted
        .as_ref()
        .map_or(0, |accepted| accepted.met());
    let mut told = summary::pairs(listed);
    if known > 0 {
        told += &format!(", {} known", summary::count(known, "other", "others"));
    }
    if let (Some(accepted), Some(path)) = (&listing.accepted, &args.pairs.baseline) {
        if !args.output.quiet {
            baseline::warn(accepted, path);
        }
        if terminal.is_summarised() {
            baseline::tell(accepted, path);
        }
    }
    terminal.close_pairs(&similar.stats, &told);
    let answer = Answer {
        is_asked: args.pairs.list.exit_status,
        documents: if has_none { 0 } else { own_documents },
        found,
    };
    Ok(Outcome::answering(&similar.stats, &args.resources, answer))
}

/// Prints how many.
fn count(found: u64, (output, name): &mut (Packed, String)) -> Result<(), Failure> {
    let counted = writeln!(output, "{found}").and_then(|()| output.flush());
    counted.map_err(|error| Failure::write(name, error))
}

/// How pairs are listed, and which are left out.
fn listing(args: &PairsArgs) -> Result<Listing, Failure> {
    let mut listing = args.pairs.listing(&args.output);
    if let Some(path) = &args.pairs.baseline {
        listing.accepted = Some(baseline::read(path)?);
    }
    Ok(listing)
}

/// There is nothing to compare with, which is seldom meant.
pub(super) fn warn_of_none(against: &[PathBuf]) {
    let names: Vec<String> = against
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    report::warning(&format!(
        "--against {}: there is no document to compare with",
        names.join(", ")
    ));
}

/// The pairs with documents of an index.
fn ask(args: &PairsArgs, index: &Index, settings: &Settings) -> Result<Outcome, Failure> {
    let inputs = args.similar.input.inputs()?;
    let listing = listing(args)?;
    let accepted = listing.accepted.clone();
    let terminal = Terminal::new(&args.output, inputs.iter());
    let asking = Asking {
        index,
        settings,
        query: Query {
            each_id_once: true,
            ..Query::default()
        },
        listing,
        output: &args.output,
        goes_on: args.pairs.list.exit_status,
        with_shares: settings.measure == Measure::Containment,
    };
    let (stats, found) = asking.ask(|asking, each| {
        let asked = index.query(inputs, settings, &asking.query, &terminal, each)?;
        terminal.finish(&asked.stats);
        Ok((asked.stats.clone(), serde_json::to_value(&asked)))
    })?;
    if index.is_empty() && !args.output.quiet {
        warn_of_none(&args.similar.similarity.against);
    }
    if let (Some(accepted), Some(path), false) =
        (&accepted, &args.pairs.baseline, args.output.quiet)
    {
        baseline::warn(accepted, path);
    }
    terminal.close(&stats, &summary::count(found, "pair", "pairs"));
    let answer = Answer {
        is_asked: args.pairs.list.exit_status,
        documents: match index.is_empty() {
            true => 0,
            false => stats.counts.documents,
        },
        found,
    };
    Ok(Outcome::answering(&stats, &args.resources, answer))
}
