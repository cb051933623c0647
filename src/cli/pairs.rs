//! `simdup`: the similar pairs.

use simdup::inside::write_pairs;
use simdup::settings::{CommonSettings, Measure, Query};
use simdup::{Index, NamedWriter, Settings, find_pairs};

use super::args::{Flag, PairsArgs};
use super::observer::Terminal;
use super::query::{Asking, check_against, index_of};
use super::report::{self, StatsOutput};
use super::{Failure, Outcome, files};

pub(super) fn run(args: &PairsArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    if let Some(index) = index_of(&args.similar.similarity.against)? {
        check_against(&index, &settings, typed)?;
        return ask(args, &index, &settings);
    }
    let inputs = args.similar.inputs()?;
    let (mut output, name) = args.output.open()?;
    let stats = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let names = match &inputs.documents[..] {
        [only] if !args.output.quiet => Some(only.name().to_string()),
        _ => None,
    };
    let mut similar = find_pairs(inputs, &settings, &terminal)?;
    terminal.finish(&similar.stats);
    if let Some(name) = names.filter(|name| similar.urls.only() == Some(name)) {
        report::warning(&format!(
            "{name} was read as one document; --input-format tells otherwise, and \
             `lines` takes each line for one"
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
    let format = args.pair_output.format.into();
    let named = NamedWriter {
        name: &name,
        writer: &mut output,
    };
    let count = write_pairs(&mut similar, format, named)?;
    let stats = stats.write(&mut similar.stats)?;
    files::finish([(output, name)].into_iter().chain(stats))?;

    Ok(match Outcome::of(&similar.stats) {
        Outcome::Done if args.pair_output.exit_status && count > 0 => Outcome::Found,
        outcome => outcome,
    })
}

/// The pairs with documents of an index.
fn ask(args: &PairsArgs, index: &Index, settings: &Settings) -> Result<Outcome, Failure> {
    let inputs = args.similar.input.inputs()?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let asking = Asking {
        index,
        settings,
        query: Query {
            each_id_once: true,
            ..Query::default()
        },
        format: args.pair_output.format.into(),
        output: &args.output,
        with_shares: settings.measure == Measure::Containment,
    };
    let (stats, count) = asking.ask(|asking, each| {
        let asked = index.query(inputs, settings, &asking.query, &terminal, each)?;
        terminal.finish(&asked.stats);
        Ok((asked.stats.clone(), serde_json::to_value(&asked)))
    })?;
    Ok(match Outcome::of(&stats) {
        Outcome::Done if args.pair_output.exit_status && count > 0 => Outcome::Found,
        outcome => outcome,
    })
}
