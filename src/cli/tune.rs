//! `simdup tune`: settings for these documents, in words and in flags.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;

use simdup::results::Advice;
use simdup::settings::Measure;
use simdup::tune_documents;

use super::args::{Flag, TuneArgs};
use super::observer::Terminal;
use super::report::StatsOutput;
use super::{Failure, Outcome, files};

/// Pairs in a sample from which on its histogram tells something.
const PAIRS_MIN: u64 = 30;

pub(super) fn run(args: &TuneArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.inputs()?;
    let (mut output, name) = args.output.open()?;
    let stats_output = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let seed = args.signature.seed.unwrap_or(0);
    let mut advice = tune_documents(
        inputs,
        &settings,
        args.threshold,
        args.recall(),
        args.sample,
        seed,
        &terminal,
    )?;
    terminal.finish(&advice.stats);
    let text = text(&advice, args, settings.measure, typed);
    let written = output.write_all(text.as_bytes());
    written.map_err(|error| Failure::write(&name, error))?;
    let stats = stats_output.write(&mut advice.stats)?;
    files::finish([(output, name)].into_iter().chain(stats))?;
    terminal.close(&advice.stats, "");
    Ok(Outcome::of(&advice.stats, &args.resources))
}

/// A command on the same documents, read in the same way; `flags` is what else it is told.
fn command(flags: &str, typed: &[Flag]) -> String {
    let typed = || typed.iter().filter(|flag| flag.is_of_documents());
    let how = typed().filter(|flag| !flag.is_file());
    let files = typed().filter(|flag| flag.is_file());
    std::iter::once("simdup".to_owned())
        .chain(how.map(Flag::in_shell))
        .chain([flags.to_owned()])
        .chain(files.map(Flag::in_shell))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The flags that say what a score is.
fn score_flags(args: &TuneArgs, measure: Measure) -> String {
    let name = match measure {
        Measure::MinHash => "minhash",
        Measure::Jaccard => "jaccard",
        Measure::Containment => "containment",
    };
    match (args.is_code(), args.score) {
        (true, None) => "--preset code".into(),
        (true, Some(_)) => format!("--preset code --score {name}"),
        (false, _) => format!("--score {name}"),
    }
}

fn text(advice: &Advice, args: &TuneArgs, measure: Measure, typed: &[Flag]) -> String {
    let score = score_flags(args, measure);
    let seed = match args.signature.seed {
        Some(seed) => format!(" --seed {seed}"),
        None => String::new(),
    };
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} of {} documents were compared: {} pairs of 0.3 and more.",
        advice.sampled, advice.documents, advice.pairs
    );
    let is_cut = advice.sampled < advice.documents.min(args.sample as u64);
    if is_cut {
        out.push_str("The texts of more do not fit an eighth of --memory.\n");
    }
    if advice.pairs < PAIRS_MIN {
        let more = match advice.sampled < advice.documents {
            true if is_cut => "give more --memory",
            true => "take a larger --sample",
            false => "there are no more documents",
        };
        let _ = writeln!(out, "That is few to judge by: {more}.");
    }
    for (score, pairs) in &advice.histogram {
        let _ = writeln!(out, "  {score:.2}  {pairs}");
    }
    out.push_str("\nWhich threshold separates?\n");
    let _ = match (advice.valley, advice.threshold) {
        (Some((from, to, _)), Some(threshold)) => writeln!(
            out,
            "Fewest pairs have a score from {from:.2} to {to:.2}, and more have one above.\n  \
             --threshold {threshold}"
        ),
        (Some((from, to, _)), None) => writeln!(
            out,
            "None: fewest pairs have a score from {from:.2} to {to:.2}, and not twice as many a \
             higher one."
        ),
        (None, _) => writeln!(out, "None: there is no such pair."),
    };
    if measure == Measure::Jaccard {
        put_bands(
            advice,
            &format!("{score} --threshold {}", advice.used_threshold),
            &seed,
            typed,
            &mut out,
        );
    }
    let [least, most] = advice.all_comparing.map(seconds);
    let _ = writeln!(
        out,
        "\nWhat does a full run cost?\nReading: {}, measured, for all documents. Comparing: {}, \
         measured, for the sample; for all\n{least} if it grows with the documents, {most} if with \
         their square. Memory: about {}, disk: {},\nfrom the shingles of all documents and \
         --memory.\n  {}",
        seconds(advice.reading),
        seconds(advice.comparing),
        megabytes(advice.memory_bytes),
        match advice.disk_bytes {
            0 => "none".to_owned(),
            bytes => format!("about {}", megabytes(bytes)),
        },
        command(
            &format!(
                "{score} --threshold {} --stats -",
                args.threshold
                    .map_or(advice.used_threshold, simdup::settings::Threshold::as_f64)
            ),
            typed
        ),
    );
    out
}

/// The bands that are advised, and the command that searches by them with this score.
fn put_bands(advice: &Advice, score: &str, seed: &str, typed: &[Flag], out: &mut String) {
    let _ = writeln!(
        out,
        "\nWhich bands find a pair of {} with a chance of {}?",
        advice.used_threshold, advice.recall
    );
    let _ = match advice.bands {
        Some(bands) => writeln!(
            out,
            "{} bands of {} positions, with {:.0} candidates in the sample and about {:.0} in all, \
             if pairs grow\nwith the square of the documents.\n  {}",
            bands.bands,
            bands.rows,
            advice.candidates,
            advice.all_candidates,
            command(
                &format!(
                    "{score} --hashes {}{seed} --bands {} --rows {}",
                    advice.hashes, bands.bands, bands.rows
                ),
                typed
            )
        ),
        None => writeln!(
            out,
            "None of {} positions: ask for more --hashes, or leave it complete with --recall 1.",
            advice.hashes
        ),
    };
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1 << 20))
}
