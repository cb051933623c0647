//! What is shown while a run goes on: problems, each in a line, and a bar on a
//! terminal. The only file that knows indicatif, but for `screen.rs`.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use simdup::results::{Expected, Phase, TextStats};
use simdup::settings::{PartyBy, TextEncoding};
use simdup::{Error, Input, Observer, Stats};

use super::args::{OutputArgs, When};
use super::course::Course;
use super::screen::Screen;
use super::{report, summary};

/// Problems of one kind that are printed; the others are counted.
const ALIKE_MAX: u64 = 10;

/// How often progress is told where there is no terminal to show a bar.
const LINE_EVERY: Duration = Duration::from_secs(1);

/// How often the bar moves, whether there is progress or not.
const TICK: Duration = Duration::from_millis(200);

/// How often the bar is drawn at the most.
const DRAWN_A_SECOND: u8 = 20;

/// The bar that is on the terminal.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Whether there is no bar for as long as something is done.
static IS_SUSPENDED: AtomicBool = AtomicBool::new(false);

/// Whether anything was skipped so far.
static HAS_SKIPPED: AtomicBool = AtomicBool::new(false);

/// Takes the bar away, whoever has it.
pub(super) fn clear() {
    if let Some(bar) = locked(&SHOWN).take() {
        bar.finish_and_clear();
        // Whoever has it cannot draw it again.
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// How long there is no bar when something goes to a pipe for the first time: most that is piped to
/// a program which prints it is over by then.
const ASIDE: Duration = Duration::from_secs(1);

/// When the bar stood aside.
static STOOD_ASIDE: OnceLock<Instant> = OnceLock::new();

/// Whether it still does.
static IS_ASIDE: AtomicBool = AtomicBool::new(false);

/// Takes the bar away for a while, the first time.
pub(super) fn stand_aside() {
    if STOOD_ASIDE.get().is_some() || IS_SUSPENDED.load(Relaxed) {
        return;
    }
    if let Some(bar) = locked(&SHOWN).as_ref()
        && STOOD_ASIDE.set(Instant::now()).is_ok()
    {
        bar.finish_and_clear();
        bar.set_draw_target(ProgressDrawTarget::hidden());
        IS_ASIDE.store(true, Relaxed);
    }
}

/// Whether the bar stood aside, and has done so for long enough.
fn comes_back() -> bool {
    let is_over = |since: &Instant| since.elapsed() >= ASIDE;
    IS_ASIDE.load(Relaxed)
        && STOOD_ASIDE.get().is_some_and(is_over)
        && IS_ASIDE.swap(false, Relaxed)
}

/// Takes the bar away before results stand where it does, unless that was seen to.
pub(super) fn give_way() {
    if !IS_SUSPENDED.load(Relaxed) {
        clear();
    }
}

/// Whether anything was skipped so far.
pub(super) fn has_skipped() -> bool {
    HAS_SKIPPED.load(Relaxed)
}

pub(super) struct Terminal {
    bar: ProgressBar,
    /// How far it is, if somebody is shown that.
    course: Option<Arc<Mutex<Course>>>,
    /// Whether that is told in lines.
    in_lines: bool,
    quiet: bool,
    /// When the run began, if a line closes it.
    summarised: Option<Instant>,
    problems: Mutex<BTreeMap<&'static str, u64>>,
}

impl Terminal {
    pub(super) fn new<'a>(args: &OutputArgs, inputs: impl Iterator<Item = &'a Input>) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let shown = match args.progress {
            When::Always => true,
            When::Never => false,
            When::Auto => is_terminal,
        };
        let now = Instant::now();
        let has_bar = shown && is_terminal && Screen::is_there();
        // To look at every file takes its time: not if nobody sees it.
        let input_bytes = has_bar.then(|| inputs.map(Input::bytes).sum()).flatten();
        let in_lines = shown && !is_terminal;
        let terminal = Self {
            bar: ProgressBar::hidden(),
            course: (has_bar || in_lines).then(|| Arc::new(Mutex::new(Course::new(input_bytes)))),
            in_lines,
            quiet: args.quiet,
            summarised: match args.summary {
                When::Always => Some(now),
                When::Never => None,
                When::Auto => (is_terminal && !args.quiet).then_some(now),
            },
            problems: Mutex::default(),
        };
        if has_bar {
            terminal.bar.set_draw_target(screen());
            *locked(&SHOWN) = Some(terminal.bar.clone());
        }
        terminal.phase(Phase::Reading);
        terminal
    }

    /// Does something while there is no bar.
    pub(super) fn suspend<T>(&self, run: impl FnOnce() -> T) -> T {
        self.bar.suspend(|| {
            IS_SUSPENDED.store(true, Relaxed);
            let done = run();
            IS_SUSPENDED.store(false, Relaxed);
            done
        })
    }

    /// Takes the bar away and says what was counted.
    pub(super) fn finish(&self, stats: &Stats) {
        self.bar.finish_and_clear();
        if self.in_lines {
            report::warning(&format!(
                "{} documents, {} bytes read",
                summary::number(stats.counts.documents + stats.counts.against),
                summary::number(stats.counts.input_bytes)
            ));
        }
        for (name, count) in locked(&self.problems)
            .iter()
            .filter(|(_, count)| **count > ALIKE_MAX)
        {
            let more = summary::number(count - ALIKE_MAX);
            report::warning(&format!("{more} more of the kind: {name}"));
        }
        match stats.counts.skipped {
            0 => {}
            1 => report::warning("1 record or file was skipped"),
            skipped => {
                let skipped = summary::number(skipped);
                report::warning(&format!("{skipped} records or files were skipped"));
            }
        }
        if !self.quiet {
            tell_of_texts(stats);
            tell_of_formats(stats);
            if stats.counts.documents == 0 {
                report::warning("no document was read");
            }
        }
        if !self.quiet {
            tell_of_repeated_files(stats);
        }
        let repeated = stats.counts.repeated_ids;
        if repeated > 0 && !self.quiet {
            let what = if repeated == 1 {
                "1 document was skipped: its id".to_owned()
            } else {
                let repeated = summary::number(repeated);
                format!("{repeated} documents were skipped: their ids")
            };
            report::warning(&format!("{what} had been met before, and the first counts"));
        }
        if !self.quiet {
            tell_of_scope(stats);
        }
    }
}

impl Terminal {
    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Whether a line closes the run.
    pub(super) fn is_summarised(&self) -> bool {
        self.summarised.is_some()
    }

    /// Closes the run with a line; `found` is what came of it.
    pub(super) fn close(&self, stats: &Stats, found: &str) {
        if let Some(started) = self.summarised {
            report::warning(&summary::line(stats, found, started.elapsed()));
            if let Some(told) = summary::of_short(stats) {
                report::warning(&told);
            }
        }
    }

    /// The same for pairs, whose scores may be estimates.
    pub(super) fn close_pairs(&self, stats: &Stats, found: &str) {
        self.close(stats, found);
        let told = summary::of_estimates(stats).filter(|_| self.is_summarised());
        if let Some(told) = told {
            report::warning(&told);
        }
    }
}

/// Files that were named or found more than once.
fn tell_of_repeated_files(stats: &Stats) {
    match stats.counts.repeated_files {
        0 => {}
        1 => report::warning("1 path was skipped: it is a file that was already read"),
        repeated => {
            let repeated = summary::number(repeated);
            report::warning(&format!(
                "{repeated} paths were skipped: they are files that were already read"
            ));
        }
    }
}

/// What was not compared, and why.
fn tell_of_scope(stats: &Stats) {
    let counts = &stats.counts;
    let documents = |count: u64| summary::count(count, "document", "documents");
    if counts.left_out > 0 {
        report::warning(&format!(
            "{} with fewer words or more than asked for: not compared",
            documents(counts.left_out)
        ));
    }
    if counts.template_only > 0 {
        report::warning(&format!(
            "{} with nothing that is not in a template: not compared",
            documents(counts.template_only)
        ));
    }
    if let Some(party_by) = &stats.settings.party_by
        && counts.documents + counts.against > 0
    {
        tell_of_groups(stats, party_by);
    }
}

/// Says where groups are perhaps not what was meant.
fn tell_of_groups(stats: &Stats, party_by: &PartyBy) {
    let counts = &stats.counts;
    // Where there are several FILEs, folders count from each of them.
    let above = stats.folders.as_ref().map(|notes| match &notes.above {
        Some(above) => {
            format!("name the folder above them, as in `simdup --group-by {party_by} {above}`")
        }
        None => "name the folder above them instead".to_owned(),
    });
    if counts.groups == 0 {
        let hint = above.map_or(String::new(), |above| format!("; {above}"));
        report::warning(&format!(
            "--group-by {party_by}: no document has a group, and all were compared{hint}"
        ));
        return;
    }
    let documents = counts.documents + counts.against;
    if counts.groups == 1 && counts.grouped == documents && documents > 1 {
        let hint = match (above, party_by) {
            (Some(above), _) => format!("; {above}"),
            (None, PartyBy::Folder(level)) => {
                format!("; dir:{} is a folder further down", level + 1)
            }
            (None, _) => String::new(),
        };
        report::warning(&format!(
            "--group-by {party_by}: all documents are of one group, and none were compared{hint}"
        ));
        return;
    }
    let (Some(notes), Some(above)) = (&stats.folders, above) else {
        return;
    };
    if let Some((folder, [one, other])) = &notes.shared {
        report::warning(&format!(
            "--group-by {party_by}: the folder `{folder}` in {one} and in {other} is one group, not \
             compared with itself; if {one} and {other} are different groups, {above}"
        ));
    }
    if let Some(outside) = &notes.outside {
        report::warning(&format!(
            "--group-by {party_by}: {outside} is in no folder of its FILE, has no group, and was \
             compared with all; if its FILE is a group, {above}"
        ));
    }
}

/// Flags that say how to read what was not there.
fn tell_of_formats(stats: &Stats) {
    let read = &stats.settings.read;
    let formats = &stats.formats;
    let is_any = |names: &[&str]| names.iter().any(|name| formats.contains(name));
    if formats.is_empty() {
        return;
    }
    if read.delimiter.is_some() && !is_any(&["csv", "tsv"]) {
        report::warning("--delimiter: no CSV was read, and nothing else has delimiters");
    }
    let is_utf8 = formats
        .iter()
        .all(|name| ["jsonl", "protobuf", "parquet"].contains(name));
    // Pages in fields may have an encoding of their own.
    if read.encoding != TextEncoding::default() && is_utf8 && read.html.is_none() {
        report::warning(
            "--encoding: nothing was read that has one to choose; JSON, protobuf and Parquet are \
             UTF-8",
        );
    }
}

/// Says what was read otherwise than it stands, and what was not read since there is no text
/// in it.
fn tell_of_texts(stats: &Stats) {
    match stats.counts.passed_over {
        0 => {}
        1 => report::warning("1 file without text was passed over"),
        files => {
            let files = summary::number(files);
            report::warning(&format!("{files} files without text were passed over"));
        }
    }
    if stats.counts.kept_first > 0 {
        report::warning(
            "what came through a pipe or compressed was kept first, beyond 16 MB in --temp-dir: \
             Parquet and zip are read from their end",
        );
    }
    for field in &stats.missing_fields {
        report::warning(&format!("--text-field: no record has the field `{field}`"));
    }
    for field in &stats.missing_stored_fields {
        report::warning(&format!(
            "--store-field: no document has the field `{field}`; fields of JSON are stored"
        ));
    }
    tell_of_encodings(&stats.texts);
    tell_of_commands(&stats.texts);
}

/// Reports the texts that are not UTF-8 or seem not to be, and those of JSON arrays.
fn tell_of_encodings(texts: &TextStats) {
    if !texts.guessed_encodings.is_empty() {
        let (documents, names) = counted(&texts.guessed_encodings);
        let what = match documents {
            1 => "1 document is not UTF-8 and was".to_owned(),
            _ => format!(
                "{} documents are not UTF-8 and were",
                summary::number(documents)
            ),
        };
        let first = first_of(documents, texts.first_guessed.as_deref());
        report::warning(&format!(
            "{what} read as {names}{first}; --encoding names another"
        ));
    }
    if let Some((file, byte)) = &texts.first_repaired {
        let bytes = match texts.replaced_bytes {
            1 => "1 byte".to_owned(),
            bytes => format!("{} bytes", summary::number(bytes)),
        };
        let documents = match texts.repaired {
            1 => String::new(),
            documents => format!(" in {} documents", summary::number(documents)),
        };
        let (was, first) = match texts.replaced_bytes {
            1 => ("was", ""),
            _ => ("were", "first: "),
        };
        report::warning(&format!(
            "{bytes}{documents} {was} not UTF-8 and {was} replaced by U+FFFD ({first}byte {byte} \
             of {file}); if the file has another encoding, pass --encoding NAME"
        ));
    }
    if !texts.unread_encodings.is_empty() {
        let (documents, names) = counted(&texts.unread_encodings);
        let what = match documents {
            1 => "1 document seems".to_owned(),
            _ => format!("{} documents seem", summary::number(documents)),
        };
        let first = first_of(documents, texts.first_unread.as_deref());
        let name = texts.unread_encodings.keys().next().unwrap_or(&"NAME");
        report::warning(&format!(
            "{what} to be {names}, which is read as ASCII{first}; convert such files first, as in \
             `iconv -f {name} -t UTF-8 FILE`"
        ));
    }
    if let Some(file) = &texts.first_plain_array {
        let what = match texts.plain_arrays {
            1 => "1 JSON array without the field `text` was".to_owned(),
            arrays => format!(
                "{} JSON arrays without the field `text` were",
                summary::number(arrays)
            ),
        };
        let first = first_of(texts.plain_arrays, Some(file));
        report::warning(&format!(
            "{what} read as plain text{first}; --text-field names the field of records"
        ));
    }
}

/// Reports the files for which a command printed nothing.
fn tell_of_commands(texts: &TextStats) {
    let Some(file) = &texts.first_silent else {
        return;
    };
    let first = first_of(texts.silent, Some(file));
    report::warning(&format!(
        "--pre: the command printed nothing for {} of {} files{first}",
        summary::number(texts.silent),
        summary::number(texts.printed)
    ));
}

/// The number of documents, and the names of their encodings, with numbers if there are several.
fn counted(encodings: &BTreeMap<&'static str, u64>) -> (u64, String) {
    let names: Vec<String> = match encodings.len() {
        1 => encodings.keys().map(ToString::to_string).collect(),
        _ => encodings
            .iter()
            .map(|(name, &documents)| format!("{name} ({})", summary::number(documents)))
            .collect(),
    };
    (encodings.values().sum(), names.join(", "))
}

/// The file of the first of some documents.
fn first_of(documents: u64, file: Option<&str>) -> String {
    match file {
        Some(file) if documents == 1 => format!(", in {file}"),
        Some(file) => format!(", the first in {file}"),
        None => String::new(),
    }
}

/// However the run ends, the bar goes.
impl Drop for Terminal {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn screen() -> ProgressDrawTarget {
    ProgressDrawTarget::term_like_with_hz(Box::new(Screen), DRAWN_A_SECOND)
}

/// What stands around what is told, of a phase that has a length, and of one that has none.
const WITH_LENGTH: &str = "{prefix} {bar:18} {told}";
const WITHOUT_LENGTH: &str = "{spinner} {prefix}: {told}";

impl Terminal {
    /// Draws the bar anew, for what there is to do from here on. A bar asks for what it tells
    /// whenever it is drawn, so that nobody may hold that meanwhile.
    fn begin(&self, course: &Arc<Mutex<Course>>) {
        if self.bar.is_hidden() {
            return;
        }
        let (name, length) = {
            let course = locked(course);
            (course.name(), course.length())
        };
        self.bar.reset();
        self.bar.set_prefix(name);
        match length {
            Some(length) => self.bar.set_length(length),
            None => self.bar.unset_length(),
        }
        let template = match length {
            Some(_) => WITH_LENGTH,
            None => WITHOUT_LENGTH,
        };
        let told = Arc::clone(course);
        let told = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            // A bar that cannot be drawn is no reason to stop.
            let _ = out.write_str(&locked(&told).told());
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.with_key("told", told));
        }
        self.bar.enable_steady_tick(TICK);
    }
}

impl Observer for Terminal {
    fn problem(&self, error: &Error) {
        let mut problems = locked(&self.problems);
        let count = problems.entry(error.kind.name()).or_default();
        *count += 1;
        HAS_SKIPPED.store(true, Relaxed);
        if *count <= ALIKE_MAX {
            self.bar.suspend(|| report::problem(error));
        }
    }

    fn floor(&self, bytes: u64, memory_bytes: u64) {
        if !self.quiet {
            let megabytes = |bytes: u64| summary::number(bytes.div_ceil(1 << 20));
            self.bar.suspend(|| {
                report::warning(&format!(
                    "--memory is {} MB, but ids, what is known of each document, threads, windows of \
                     compression, pages of Parquet and the largest record take {} MB, and that is used",
                    megabytes(memory_bytes),
                    megabytes(bytes),
                ));
            });
        }
    }

    fn expect(&self, expected: Expected) {
        if let Some(course) = &self.course {
            locked(course).expect(expected);
            self.begin(course);
        }
    }

    fn phase(&self, phase: Phase) {
        if let Some(course) = &self.course {
            let is_other = locked(course).begin(phase);
            self.begin(course);
            if self.in_lines && is_other && phase == Phase::Comparing {
                report::warning("comparing");
            }
        }
    }

    fn progress(&self, bytes: u64, documents: u64) {
        let Some(course) = &self.course else {
            return;
        };
        let position = {
            let mut course = locked(course);
            course.add(bytes, documents);
            if self.in_lines && course.is_due(LINE_EVERY) {
                report::warning(&format!("{}: {}", course.name(), course.told()));
            }
            course.position()
        };
        if !self.in_lines {
            if comes_back() {
                self.bar.set_draw_target(screen());
                self.begin(course);
            }
            self.bar.set_position(position);
        }
    }
}
