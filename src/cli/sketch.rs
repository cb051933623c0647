//! `simdup sketch`: the signatures.

use std::io::BufWriter;
use std::ops::ControlFlow;

use simdup::inside::write_signature;
use simdup::sketch_documents;

use super::args::SketchArgs;
use super::observer::Terminal;
use super::report::StatsOutput;
use super::{Failure, Outcome, files};

pub(super) fn run(args: &SketchArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.inputs()?;
    let (output, name) = args.output.open()?;
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let mut lines = BufWriter::new(output);
    let mut failed = None;
    let mut stats = sketch_documents(
        inputs,
        &settings,
        &terminal,
        |document| match write_signature(&document, &mut lines) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        },
    )?;
    terminal.finish(&stats);
    let failure = |error| Failure::write(&name, error);
    if let Some(error) = failed {
        return Err(failure(error));
    }
    let output = lines
        .into_inner()
        .map_err(|error| failure(error.into_error()))?;
    let stats_output = stats_output.write(&mut stats)?;
    files::finish([(output, name)].into_iter().chain(stats_output))?;
    terminal.close(&stats, "");
    Ok(Outcome::of(&stats, &args.resources))
}
