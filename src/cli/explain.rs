//! `simdup explain`: why two documents are similar.

use std::io::{self, BufWriter, IsTerminal};

use simdup::explain_documents;
use simdup::inside::{ExplainFormat, Look, write_explanation};
use simdup::results::Explained;
use simdup::settings::{Explain, Which};

use super::args::{ExplainArgs, ExplainFormatArg, When, nearest_id};
use super::observer::Terminal;
use super::report::StatsOutput;
use super::{Failure, Outcome, files};

pub(super) fn run(args: &ExplainArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.similar.inputs()?;
    let (output, name) = match args.format {
        // It names control characters itself, and has its own for colors.
        ExplainFormatArg::Text => args.output.open_exact(false)?,
        ExplainFormatArg::Jsonl => args.output.open()?,
    };
    let stats = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let which = match (args.ids(), args.pairs()) {
        (Some(ids), _) => Which::Ids(ids),
        (None, Some(pairs)) => Which::Written(pairs, args.choice()),
        (None, None) => Which::Found(args.choice()),
    };
    let explain = Explain {
        which,
        min_tokens: args.min_tokens,
    };
    let mut explained = explain_documents(inputs, &settings, explain, &terminal)?;
    terminal.finish(&explained.stats);
    if !explained.missing.is_empty() {
        return Err(missing(&explained, args));
    }
    let format = match args.format {
        ExplainFormatArg::Jsonl => ExplainFormat::Jsonl,
        ExplainFormatArg::Text => ExplainFormat::Text(look(args)),
    };
    let mut output = BufWriter::new(output);
    for explanation in &explained.explanations {
        write_explanation(explanation, format, &mut output)
            .map_err(|error| Failure::write(&name, error))?;
    }
    let output = output
        .into_inner()
        .map_err(|error| Failure::write(&name, error.into_error()))?;
    let stats = stats.write(&mut explained.stats)?;
    files::finish([(output, name)].into_iter().chain(stats))?;
    terminal.close(&explained.stats, "");
    Ok(Outcome::of(&explained.stats, &args.resources))
}

/// Ids that no document has, each with the one that was meant, perhaps.
fn missing(explained: &Explained, args: &ExplainArgs) -> Failure {
    let ids =
        (0..explained.urls.len() as u32).map(|index| explained.urls.get(simdup::DocumentId(index)));
    let lines = explained
        .missing
        .iter()
        .map(|id| match nearest_id(id, ids.clone()) {
            Some(near) => format!("no document has the id {id}; did you mean {near}?"),
            None => format!("no document has the id {id}"),
        });
    let hint = match args.has_no_files() {
        true => "; name the FILEs to look in, as in `simdup explain ID1 ID2 FILE`",
        false => "",
    };
    Failure::Usage(lines.collect::<Vec<_>>().join("\nsimdup: ") + hint)
}

/// What the terminal is like, if results go there.
fn look(args: &ExplainArgs) -> Look {
    let is_shown = args.output.output.is_none() && io::stdout().is_terminal();
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let width = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    Look {
        colour: match args.color {
            When::Always => true,
            When::Never => false,
            When::Auto => is_shown && !is_set("NO_COLOR"),
        },
        width: width.or_else(|| is_shown.then(terminal).flatten()),
    }
}
