//! `simdup report`: a page to look at.

use simdup::{NamedWriter, ReportOutput, report_documents};

use super::args::ReportArgs;
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Failure, Outcome, files, summary};

pub(super) fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.similar.inputs()?;
    let (mut output, name) = args.output.open_to_the_end(args.key().is_some())?;
    let mut key = match args.key() {
        Some(path) => Some(files::open_beside("--key", path)?),
        None => None,
    };
    let stats = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let to = ReportOutput {
        page: NamedWriter {
            name: &name,
            writer: &mut output,
        },
        key: key
            .as_mut()
            .map(|(writer, name)| NamedWriter { name, writer }),
    };
    let mut reported = report_documents(inputs, &settings, &args.report(), to, &terminal)?;
    terminal.finish(&reported.stats);
    let stats = stats.write(&mut reported.stats)?;
    files::finish([(output, name.clone())].into_iter().chain(key).chain(stats))?;
    if !args.output.quiet {
        let pairs = reported.stats.counts.pairs;
        let of = match reported.shown as u64 == pairs {
            true => String::new(),
            false => format!(" of {}", summary::number(pairs)),
        };
        report::warning(&format!(
            "{name}: {}{of} pairs, {:.1} MB",
            summary::number(reported.shown as u64),
            reported.page_bytes as f64 / 1e6
        ));
    }
    let pairs = summary::count(reported.stats.counts.pairs, "pair", "pairs");
    terminal.close_pairs(&reported.stats, &pairs);
    Ok(Outcome::of(&reported.stats, &args.resources))
}
