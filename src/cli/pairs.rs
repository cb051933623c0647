//! `simdup`: the similar pairs.

use simdup::{DocumentId, find_pairs, write_pairs};

use super::args::PairsArgs;
use super::observer::Terminal;
use super::{Failure, Outcome, report};

pub(super) fn run(args: &PairsArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.inputs()?;
    let (mut output, name) = args.output.open()?;
    let terminal = Terminal::new(&args.output, inputs.documents.iter().chain(&inputs.against));
    let mut similar = find_pairs(inputs, &settings, &terminal)?;
    terminal.finish(&similar.stats);
    if similar.urls.len() == 1 && similar.urls.get(DocumentId(0)) == "-" && !args.output.quiet {
        report::warning(
            "standard input was read as one document of plain text; --input-format lines takes \
             each line for one",
        );
    }

    let format = args.pair_output.format.into();
    let count = write_pairs(&mut similar, format, &mut output)
        .and_then(|count| output.finish().map(|()| count))
        .map_err(|error| Failure::write(&name, error))?;
    report::stats(&mut similar.stats, args.output.stats.as_deref())?;

    Ok(if similar.stats.counts.skipped > 0 {
        Outcome::Skipped
    } else if args.pair_output.exit_status && count > 0 {
        Outcome::Found
    } else {
        Outcome::Done
    })
}
