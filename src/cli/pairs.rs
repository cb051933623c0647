//! `simdup`: the similar pairs.

use simdup::inside::write_pairs;
use simdup::settings::CommonSettings;
use simdup::{NamedWriter, find_pairs};

use super::args::PairsArgs;
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Failure, Outcome, files};

pub(super) fn run(args: &PairsArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
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
