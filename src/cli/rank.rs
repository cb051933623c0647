//! `simdup rank`: documents by their likeness to a gold standard.

use std::io::{BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;

use simdup::inside::{RankFormat, write_rank, write_rank_header};
use simdup::settings::Combine;
use simdup::{Stats, rank_documents};

use super::args::{PairFormatArg, RankArgs};
use super::files::{self, open_beside};
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Answer, Failure, Outcome, summary};

pub(super) fn run(args: &RankArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let gold = args.gold();
    let inputs = args.input.inputs()?;
    // What is printed as it comes may never end.
    let goes_on = args.write_df.is_some() || args.exit_status && !args.unsorted;
    let (output, name) = args.output.open_to_the_end(goes_on)?;
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    let frequencies_output = match &args.write_df {
        Some(path) => Some(open_beside("--write-df", path)?),
        None => None,
    };
    let terminal = Terminal::new(&args.output, inputs.iter());
    let format = match PairFormatArg::of(args.format, &args.output) {
        Some(format) => RankFormat::Plain(format.into()),
        None if name == "-" && std::io::stdout().is_terminal() => RankFormat::Aligned,
        None => RankFormat::Plain(Default::default()),
    };
    let is_named = gold.len() > 1 && Combine::from(args.combine) == Combine::Max;
    let mut lines = BufWriter::new(output);
    let failure = |error| Failure::write(&name, error);
    write_rank_header(format, is_named, &mut lines).map_err(failure)?;
    let mut failed = None;
    let mut is_encoded = false;
    let mut ranking = rank_documents(inputs, gold, &settings, &terminal, |ranked| {
        let mut written = write_rank(&ranked, format, &mut lines).map(|encoded| {
            is_encoded |= encoded;
        });
        if ranked.is_last_at_hand && args.unsorted {
            written = written.and_then(|()| lines.flush());
        }
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    terminal.finish(&ranking.stats);
    if let Some(error) = failed {
        let failure = failure(error);
        return match failure.is_end_of_interest() {
            true => Ok(outcome(&ranking.stats, args)),
            false => Err(failure),
        };
    }
    let output = lines
        .into_inner()
        .map_err(|error| failure(error.into_error()))?;
    let frequencies_output = match (frequencies_output, &ranking.frequencies) {
        (Some((output, name)), Some(frequencies)) => {
            let mut lines = BufWriter::new(output);
            let written = frequencies.write(&mut lines);
            let output = written.and_then(|()| lines.into_inner().map_err(Into::into));
            Some((output.map_err(|error| Failure::write(&name, error))?, name))
        }
        _ => None,
    };
    let stats_output = stats_output.write(&mut ranking.stats)?;
    let others = frequencies_output.into_iter().chain(stats_output);
    files::finish([(output, name)].into_iter().chain(others))?;
    if is_encoded && !args.output.quiet {
        report::note_encoded_ids(report::EXACT_FORMATS);
    }
    terminal.close(
        &ranking.stats,
        &summary::best(
            ranking.stats.counts.ranked,
            args.top,
            "score above 0",
            "scores above 0",
        ),
    );
    Ok(outcome(&ranking.stats, args))
}

fn outcome(stats: &Stats, args: &RankArgs) -> Outcome {
    let answer = Answer {
        is_asked: args.exit_status,
        documents: stats.counts.documents,
        found: stats.counts.ranked,
    };
    Outcome::answering(stats, &args.resources, answer)
}
