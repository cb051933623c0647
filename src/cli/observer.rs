//! What is shown while a run goes on: problems, each in a line, and a bar on a
//! terminal. The only file that knows indicatif.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simdup::{Error, Input, Observer, Phase, Stats};

use super::args::{OutputArgs, When};
use super::report;

/// Problems of one kind that are printed; the others are counted.
const ALIKE_MAX: u64 = 10;

/// How often progress is told where there is no terminal to show a bar.
const LINE_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Terminal {
    bar: ProgressBar,
    /// When progress was last told in a line, if it is told in lines.
    told: Option<Mutex<Instant>>,
    quiet: bool,
    problems: Mutex<BTreeMap<&'static str, u64>>,
}

impl Terminal {
    pub(super) fn new<'a>(args: &OutputArgs, inputs: impl Iterator<Item = &'a Input>) -> Self {
        let shown = match args.progress {
            When::Always => true,
            When::Never => false,
            When::Auto => io::stderr().is_terminal(),
        };
        let is_terminal = io::stderr().is_terminal();
        let bar = if shown && is_terminal {
            bar(inputs.map(Input::bytes).sum())
        } else {
            ProgressBar::hidden()
        };
        Self {
            bar,
            told: (shown && !is_terminal).then(|| Mutex::new(Instant::now())),
            quiet: args.quiet,
            problems: Mutex::default(),
        }
    }

    /// Takes the bar away and says what was counted.
    pub(super) fn finish(&self, stats: &Stats) {
        self.bar.finish_and_clear();
        if self.told.is_some() {
            tell(stats.counts.input_bytes, stats.counts.documents);
        }
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, count) in problems.iter().filter(|(_, count)| **count > ALIKE_MAX) {
            report::warning(&format!("{} more of the kind: {name}", count - ALIKE_MAX));
        }
        let skipped = stats.counts.skipped;
        match skipped {
            0 => {}
            1 => report::warning("1 record or file was skipped"),
            _ => report::warning(&format!("{skipped} records or files were skipped")),
        }
        let repeated = stats.counts.repeated_ids;
        if repeated > 0 && !self.quiet {
            let what = if repeated == 1 {
                "1 document was skipped: its id".to_owned()
            } else {
                format!("{repeated} documents were skipped: their ids")
            };
            report::warning(&format!("{what} had been met before, and the first counts"));
        }
    }
}

fn tell(input_bytes: u64, documents: u64) {
    report::warning(&format!("{input_bytes} bytes read, {documents} documents"));
}

/// Bytes where the size is known, else documents.
fn bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}",
        ),
        None => (
            ProgressBar::no_length(),
            "{spinner} {human_pos} documents, {per_sec} {msg}",
        ),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Observer for Terminal {
    fn problem(&self, error: &Error) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let count = problems.entry(error.kind.name()).or_default();
        *count += 1;
        if *count <= ALIKE_MAX {
            self.bar.suspend(|| report::problem(error));
        }
    }

    fn progress(&self, input_bytes: u64, documents: u64) {
        if let Some(told) = &self.told {
            let mut last = told.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() >= LINE_EVERY {
                *last = Instant::now();
                tell(input_bytes, documents);
            }
        }
        if self.bar.length().is_some() {
            self.bar.set_position(input_bytes);
        } else {
            self.bar.set_position(documents);
        }
    }

    fn phase(&self, phase: Phase) {
        if phase == Phase::Comparing {
            self.bar.set_message("comparing");
        }
    }
}
