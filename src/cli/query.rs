//! `simdup query`: what an index holds.

use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use simdup::inside::{IdLines, Listing, Packed, PairFacts, write_annotated};
use simdup::results::Answer;
use simdup::settings::{Measure, Query};
use simdup::{Index, Settings, Stats};

use super::args::{Flag, OutputArgs, PairFormatArg, QueryArgs};
use super::files;
use super::index::check_settings;
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Answer as StatusAnswer, Failure, Outcome, summary};

pub(super) fn run(args: &QueryArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    check_settings(&args.index, &settings, typed)?;
    let index = Index::open(&args.index)?;
    let asking = Asking {
        index: &index,
        settings: &settings,
        query: args.query(),
        listing: args.list.listing(
            PairFormatArg::list_format(args.format, &args.output),
            args.top,
        ),
        output: &args.output,
        goes_on: args.list.exit_status,
        with_shares: true,
    };
    let inputs = match args.id {
        Some(_) => Vec::new(),
        None => args.input.inputs()?,
    };
    let terminal = Terminal::new(&args.output, inputs.iter());
    let (stats, found) = match &args.id {
        Some(id) => asking.ask(|asking, each| {
            let asked = asking
                .index
                .query_id(id, asking.settings, &asking.query, each)?;
            Ok((asked.stats.clone(), serde_json::to_value(&asked)))
        })?,
        None => asking.ask(|asking, each| {
            let Asking {
                index,
                settings,
                query,
                ..
            } = asking;
            let asked = index.query(inputs, settings, query, &terminal, each)?;
            terminal.finish(&asked.stats);
            Ok((asked.stats.clone(), serde_json::to_value(&asked)))
        })?,
    };
    terminal.close(&stats, &summary::count(found, "pair", "pairs"));
    let answer = StatusAnswer {
        is_asked: args.list.exit_status,
        documents: match args.id {
            Some(_) => 1,
            None => stats.counts.documents,
        },
        found,
    };
    Ok(Outcome::answering(&stats, &args.resources, answer))
}

/// What is asked, and where the answers go.
pub(super) struct Asking<'a> {
    pub(super) index: &'a Index,
    pub(super) settings: &'a Settings,
    pub(super) query: Query,
    pub(super) listing: Listing,
    pub(super) output: &'a OutputArgs,
    /// Whether it is asked to the end even if nobody reads the answers.
    pub(super) goes_on: bool,
    /// Whether both shares are written where there are names for them.
    pub(super) with_shares: bool,
}

/// What answers are given to.
type Each<'e> = &'e mut (dyn FnMut(Answer<'_>) -> ControlFlow<()> + Send);
/// What asking took, and the same as JSON.
type Asked = (Stats, serde_json::Result<serde_json::Value>);

impl Asking<'_> {
    /// Has `ask` ask, and writes the answers as they come. Gives back how many were found.
    pub(super) fn ask(
        &self,
        ask: impl FnOnce(&Self, Each<'_>) -> Result<Asked, Failure>,
    ) -> Result<(Stats, u64), Failure> {
        let stats_output = StatsOutput::open(self.output.stats.as_deref())?;
        let (output, name) = self.output.open_to_the_end(self.goes_on)?;
        let mut writer = AnswerWriter {
            lines: IdLines::new(&self.listing),
            output: BufWriter::new(output),
            text: Vec::new(),
            is_annotated: self.query.records,
            with_shares: self.with_shares,
            listing: &self.listing,
            count: 0,
        };
        let failed = |error| Failure::write(&name, error);
        if !writer.is_annotated && !self.listing.is_counted {
            let header = writer.lines.header(self.with_shares);
            writer.output.write_all(header.as_bytes()).map_err(failed)?;
        }
        let mut result = Ok(());
        let (stats, json) = ask(self, &mut |answer| {
            result = writer.write(&answer);
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        result.map_err(failed)?;
        let count = writer.count;
        if self.listing.is_counted {
            writeln!(writer.output, "{count}").map_err(failed)?;
        }
        let output = writer.output.into_inner();
        let output = output.map_err(|error| failed(error.into_error()))?;
        let mut json = json.map_err(|error| failed(error.into()))?;
        json["peak_memory_bytes"] = report::peak_memory_bytes().into();
        let stats_output = stats_output.write_as_json(&json)?;
        files::finish([(output, name)].into_iter().chain(stats_output))?;
        if self.listing.encoded_ids.any() && !self.output.quiet {
            report::note_encoded_ids(report::EXACT_FORMATS);
        }
        Ok((stats, count))
    }
}

/// Writes answers.
struct AnswerWriter<'a> {
    lines: IdLines,
    output: BufWriter<Packed>,
    listing: &'a Listing,
    text: Vec<u8>,
    is_annotated: bool,
    with_shares: bool,
    count: u64,
}

impl AnswerWriter<'_> {
    fn write(&mut self, answer: &Answer<'_>) -> io::Result<()> {
        if self.is_annotated {
            self.count += answer.found.len() as u64;
            let mut found: Vec<_> = answer.found.iter().collect();
            found.sort_by_key(|found| Reverse(found.score));
            let named = found
                .iter()
                .map(|found| (found.url, found.score.printed(self.listing.digits)));
            write_annotated(answer.record, &named.collect::<Vec<_>>(), &mut self.output)?;
        } else if !answer.found.is_empty() {
            self.text.clear();
            self.lines.left(answer.url);
            for found in answer.found {
                let accepted = self.listing.accepted.as_ref();
                if accepted.is_some_and(|accepted| accepted.meet(answer.url, found.url)) {
                    continue;
                }
                self.count += 1;
                let facts = PairFacts {
                    score: found.score,
                    shares: self.with_shares.then_some(found.shares),
                    shared: found.shared,
                    sizes: found.sizes,
                    places: Default::default(),
                };
                if !self.listing.is_counted {
                    self.lines.pair(found.url, &facts, &mut self.text);
                }
            }
            self.output.write_all(&self.text)?;
        }
        match answer.is_last {
            true => self.output.flush(),
            false => Ok(()),
        }
    }
}

/// The index among what documents are compared with, which must be all of it.
pub(super) fn index_of(against: &[impl AsRef<Path>]) -> Result<Option<Index>, Failure> {
    let mut indexes = against
        .iter()
        .map(AsRef::as_ref)
        .filter(|path| Index::is_at(path));
    match (indexes.next(), against.len()) {
        (None, _) => Ok(None),
        (Some(path), 1) => Ok(Some(Index::open(path)?)),
        (Some(path), _) => Err(Failure::Usage(format!(
            "--against {}: an index is the only thing that documents are compared with; add the \
             others to it, or leave them out",
            path.display()
        ))),
    }
}

/// Refuses what an index cannot do.
pub(super) fn check_against(
    index: &Index,
    settings: &Settings,
    typed: &[Flag],
) -> Result<(), Failure> {
    check_settings(index.folder(), settings, typed)?;
    let clash = |flag: &str, why: &str| {
        Err(Failure::Usage(format!(
            "{flag} and --against {} do not go together: {why}",
            index.folder().display()
        )))
    };
    if settings.measure == Measure::MinHash {
        return clash(
            "--score minhash",
            "an index has no signatures; use --score jaccard or containment",
        );
    }
    const OTHERS: [&str; 8] = [
        "--group-by",
        "--template",
        "--min-words",
        "--max-words",
        "--ignore-common",
        "--recall",
        "--bands",
        "--preset",
    ];
    match typed
        .iter()
        .find(|flag| OTHERS.contains(&flag.name.as_str()))
    {
        Some(flag) => clash(
            &flag.name,
            "an index has shingles and ids, and all is found in it; leave it out",
        ),
        None => Ok(()),
    }
}
