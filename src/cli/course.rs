//! How far a phase of a run is: in numbers, with a rate, and with the time that is left once that
//! can be told. What is told changes only when something was done, so that nothing sinks while
//! the run waits, and never goes back.

use std::time::{Duration, Instant};

use simdup::results::{Expected, Phase};

use super::summary::{bytes, number};

/// From when on a phase says how fast it is, and how much longer it will take.
const RATE_AFTER: Duration = Duration::from_millis(500);
const LEFT_AFTER: Duration = Duration::from_secs(1);
/// The part of the work from which on it can be told how long the rest will take: one in so many.
/// After so long, any.
const LEFT_PART: u64 = 50;
const LEFT_AFTER_ANYWAY: Duration = Duration::from_secs(20);

pub(super) struct Course {
    phase: Phase,
    input_bytes: Option<u64>,
    expected: Option<Expected>,
    since: Instant,
    /// When something was done last, if ever, and what by then.
    done: Option<Duration>,
    bytes: u64,
    count: u64,
    /// When a line was written last.
    line: Instant,
}

impl Course {
    /// A run that begins; so many bytes are to be read, if that is known.
    pub(super) fn new(input_bytes: Option<u64>) -> Self {
        let now = Instant::now();
        Self {
            phase: Phase::Reading,
            input_bytes,
            expected: None,
            since: now,
            done: None,
            bytes: 0,
            count: 0,
            line: now,
        }
    }

    /// Another phase begins; true unless it goes on with the same one.
    pub(super) fn begin(&mut self, phase: Phase) -> bool {
        let is_other = self.phase != phase;
        *self = Self {
            phase,
            line: self.line,
            ..Self::new(self.input_bytes)
        };
        is_other
    }

    /// From here on, so much is to be done.
    pub(super) fn expect(&mut self, expected: Expected) {
        *self = Self {
            phase: self.phase,
            expected: Some(expected).filter(|expected| expected.count() > 0),
            line: self.line,
            ..Self::new(self.input_bytes)
        };
    }

    /// Takes note of what is done. What comes late does not go back.
    pub(super) fn add(&mut self, bytes: u64, count: u64) {
        self.add_at(Instant::now(), bytes, count);
    }

    fn add_at(&mut self, now: Instant, bytes: u64, count: u64) {
        self.done = Some(now.duration_since(self.since));
        self.bytes = self.bytes.max(bytes);
        self.count = self.count.max(count);
    }

    /// Whether it is time for another line.
    pub(super) fn is_due(&mut self, every: Duration) -> bool {
        let is_due = self.line.elapsed() >= every;
        if is_due {
            self.line = Instant::now();
        }
        is_due
    }

    pub(super) fn name(&self) -> &'static str {
        if matches!(self.expected, Some(Expected::Preparation(_))) {
            return "preparing";
        }
        match self.phase {
            Phase::Reading => "reading",
            Phase::Comparing => "comparing",
            Phase::Writing => "writing",
        }
    }

    /// How much there is to do, if that is known: of what [`Course::position`] counts.
    pub(super) fn length(&self) -> Option<u64> {
        match (self.phase, self.expected) {
            (_, Some(expected)) => Some(expected.count()),
            (Phase::Reading, None) => self.input_bytes.filter(|&bytes| bytes > 0),
            _ => None,
        }
    }

    pub(super) fn position(&self) -> u64 {
        match self.counts_bytes() {
            true => self.bytes,
            false => self.count,
        }
    }

    fn counts_bytes(&self) -> bool {
        self.expected.is_none() && self.length().is_some()
    }

    /// All of it, in words; before anything is done, how long that takes.
    pub(super) fn told(&self) -> String {
        let done = match (self.expected, self.length()) {
            (Some(Expected::Documents(all) | Expected::Preparation(all)), _) => {
                format!("{} of {} documents", number(self.count), number(all))
            }
            (Some(Expected::Pairs(all)), _) => {
                format!("{} of {} pairs", number(self.count), number(all))
            }
            (None, Some(all)) => format!("{} of {}", bytes(self.bytes), bytes(all)),
            (None, None) if self.done.is_none() => {
                return format!("{} s", self.since.elapsed().as_secs());
            }
            (None, None) => format!(
                "{} documents, {} bytes",
                number(self.count),
                number(self.bytes)
            ),
        };
        [Some(done), self.rate(), self.left()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// What is done in a second.
    fn rate(&self) -> Option<String> {
        let elapsed = self.done.filter(|elapsed| *elapsed >= RATE_AFTER)?;
        if self.position() == 0 {
            return None;
        }
        let each_second = (self.position() as f64 / elapsed.as_secs_f64()) as u64;
        Some(match self.counts_bytes() {
            true => format!("{}/s", bytes(each_second)),
            false => format!("{}/s", number(each_second)),
        })
    }

    /// How long the rest will take.
    fn left(&self) -> Option<String> {
        let (length, done) = (self.length()?, self.position());
        let elapsed = self.done.filter(|elapsed| *elapsed >= LEFT_AFTER)?;
        let is_much = done.saturating_mul(LEFT_PART) >= length;
        if done == 0 || !is_much && elapsed < LEFT_AFTER_ANYWAY {
            return None;
        }
        let rest = length.saturating_sub(done) as f64 / done as f64;
        let seconds = (elapsed.as_secs_f64() * rest).ceil() as u64;
        let (minutes, hours) = (seconds / 60, seconds / 3600);
        Some(match (hours, minutes) {
            (0, 0) => format!("{seconds} s left"),
            (0, _) => format!("{minutes} min {:02} s left", seconds % 60),
            _ => format!("{} h {:02} min left", number(hours), minutes % 60),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(course: &mut Course, seconds: f64, bytes: u64, count: u64) {
        let now = course.since + Duration::from_secs_f64(seconds);
        course.add_at(now, bytes, count);
    }

    fn comparing(documents: u64) -> Course {
        let mut course = Course::new(None);
        course.begin(Phase::Comparing);
        course.expect(Expected::Documents(documents));
        course
    }

    #[test]
    fn the_time_left_is_told_once_it_is_known() {
        let mut course = comparing(40_000);
        assert_eq!(course.told(), "0 of 40,000 documents");
        after(&mut course, 0.4, 0, 100);
        assert_eq!(course.told(), "100 of 40,000 documents");
        after(&mut course, 2.0, 0, 500);
        assert_eq!(course.told(), "500 of 40,000 documents, 250/s");
        after(&mut course, 4.0, 0, 4000);
        assert_eq!(
            course.told(),
            "4,000 of 40,000 documents, 1,000/s, 36 s left"
        );
        after(&mut course, 10.0, 0, 40_000);
        assert_eq!(
            course.told(),
            "40,000 of 40,000 documents, 4,000/s, 0 s left"
        );
    }

    #[test]
    fn long_times_are_told_in_minutes_and_hours() {
        let mut course = comparing(1000);
        after(&mut course, 10.0, 0, 100);
        assert!(course.told().ends_with(", 1 min 30 s left"));
        after(&mut course, 1000.0, 0, 120);
        assert!(course.told().ends_with(", 2 h 02 min left"));
    }

    #[test]
    fn what_comes_late_does_not_go_back() {
        let mut course = comparing(10);
        after(&mut course, 1.0, 0, 5);
        after(&mut course, 2.0, 0, 4);
        assert_eq!(course.position(), 5);
    }

    #[test]
    fn a_pipe_has_documents_and_bytes_and_a_file_bytes() {
        let mut course = Course::new(None);
        after(&mut course, 2.0, 1_234_567, 2468);
        assert_eq!(course.told(), "2,468 documents, 1,234,567 bytes, 1,234/s");
        assert_eq!(course.length(), None);
        let mut course = Course::new(Some(1_000_000_000));
        after(&mut course, 2.0, 250_000_000, 2468);
        assert_eq!(course.told(), "250.0 MB of 1.0 GB, 125.0 MB/s, 6 s left");
        assert_eq!(
            (course.position(), course.length()),
            (250_000_000, Some(1_000_000_000))
        );
    }

    #[test]
    fn a_phase_of_which_nothing_is_known_tells_its_time() {
        let mut course = Course::new(None);
        assert_eq!(course.told(), "0 s");
        after(&mut course, 0.01, 300, 2);
        assert_eq!(course.told(), "2 documents, 300 bytes");
    }

    #[test]
    fn lines_are_not_written_too_often() {
        let mut course = comparing(10);
        assert!(!course.is_due(Duration::from_secs(60)));
        assert!(course.is_due(Duration::ZERO));
    }
}
