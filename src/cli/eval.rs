//! `simdup eval`: what settings find and miss.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

use simdup::eval_documents;
use simdup::inside::{FigureFormat, FigureLines, write_plot};

use super::args::{EvalArgs, FigureFormatArg};
use super::files::{self, open_beside};
use super::observer::Terminal;
use super::report::StatsOutput;
use super::{Failure, Outcome};

pub(super) fn run(args: &EvalArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let eval = args.eval()?;
    let inputs = args.inputs()?;
    let (output, name) = args.output.open_to_the_end(args.plot.is_some())?;
    let plot_output = match &args.plot {
        Some(path) => Some(open_beside("--plot", path)?),
        None => None,
    };
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let mut figures = FigureLines::new(match args.format() {
        FigureFormatArg::Text => FigureFormat::Table,
        FigureFormatArg::Csv => FigureFormat::Csv,
        FigureFormatArg::Jsonl => FigureFormat::Jsonl,
    });
    let mut lines = BufWriter::new(output);
    let mut failed = None;
    let mut evaluated = eval_documents(inputs, &settings, eval, &terminal, |row| {
        let line = figures.line(row);
        // What is there is out, if the run is ended.
        let written = terminal.suspend(|| {
            lines
                .write_all(line.as_bytes())
                .and_then(|()| lines.flush())
        });
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    terminal.finish(&evaluated.stats);
    let end = figures.end(evaluated.stats.uneven_clusters);
    let ended = match failed {
        None => lines.write_all(end.as_bytes()),
        Some(error) => Err(error),
    };
    if let Err(error) = ended {
        return Err(Failure::write(&name, error));
    }
    let output = lines.into_inner().map_err(io::IntoInnerError::into_error);
    let output = output.map_err(|error| Failure::write(&name, error))?;
    let mut finished = vec![(output, name)];
    if let Some((mut output, name)) = plot_output {
        let written = write_plot(&evaluated.plot, &mut output);
        written.map_err(|error| Failure::write(&name, error))?;
        finished.push((output, name));
    }
    finished.extend(stats_output.write(&mut evaluated.stats)?);
    files::finish(finished)?;
    terminal.close(&evaluated.stats, "");
    Ok(Outcome::of(&evaluated.stats, &args.resources))
}
