//! How far a phase of a run is: in numbers, with a rate, and with the time that is left once that
//! can be told. What is told changes only when something was done, so that nothing sinks while
//! the run waits, and never goes back.

use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount};
use simdup::results::{Expected, Phase};

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
    /// When it was told last, and what was done by then.
    told: Option<Instant>,
    elapsed: Duration,
    bytes: u64,
    count: u64,
}

impl Course {
    /// A run that begins; so many bytes are to be read, if that is known.
    pub(super) fn new(input_bytes: Option<u64>) -> Self {
        Self {
            phase: Phase::Reading,
            input_bytes,
            expected: None,
            since: Instant::now(),
            told: None,
            elapsed: Duration::ZERO,
            bytes: 0,
            count: 0,
        }
    }

    pub(super) fn begin(&mut self, phase: Phase) {
        *self = Self {
            phase,
            ..Self::new(self.input_bytes)
        };
    }

    /// From here on, so much is to be done.
    pub(super) fn expect(&mut self, expected: Expected) {
        let is_any = !matches!(expected, Expected::Documents(0) | Expected::Pairs(0));
        *self = Self {
            phase: self.phase,
            expected: is_any.then_some(expected),
            ..Self::new(self.input_bytes)
        };
    }

    /// Takes note of what is done; true if it is to be told, which is not done more often.
    pub(super) fn add(&mut self, bytes: u64, count: u64, every: Duration) -> bool {
        self.add_at(Instant::now(), bytes, count, every)
    }

    fn add_at(&mut self, now: Instant, bytes: u64, count: u64, every: Duration) -> bool {
        let before = self.told.unwrap_or(self.since);
        if now.duration_since(before) < every || bytes < self.bytes || count < self.count {
            return false;
        }
        self.told = Some(now);
        self.elapsed = now.duration_since(self.since);
        (self.bytes, self.count) = (bytes, count);
        true
    }

    pub(super) fn is_untold(&self) -> bool {
        self.told.is_none()
    }

    pub(super) fn name(&self) -> &'static str {
        match self.phase {
            Phase::Reading => "reading",
            Phase::Comparing => "comparing",
            Phase::Writing => "writing",
        }
    }

    /// How much there is to do, if that is known: of what [`Course::position`] counts.
    pub(super) fn length(&self) -> Option<u64> {
        match (self.phase, self.expected) {
            (_, Some(Expected::Documents(count) | Expected::Pairs(count))) => Some(count),
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

    /// All of it, in words.
    pub(super) fn told(&self) -> String {
        let done = match (self.expected, self.length()) {
            (Some(Expected::Documents(all)), _) => {
                format!(
                    "{} of {} documents",
                    HumanCount(self.count),
                    HumanCount(all)
                )
            }
            (Some(Expected::Pairs(all)), _) => {
                format!("{} of {} pairs", HumanCount(self.count), HumanCount(all))
            }
            (None, Some(all)) => format!("{} of {}", HumanBytes(self.bytes), HumanBytes(all)),
            (None, None) => format!(
                "{} documents, {} bytes",
                HumanCount(self.count),
                HumanCount(self.bytes)
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
        if self.elapsed < RATE_AFTER || self.position() == 0 {
            return None;
        }
        let each_second = (self.position() as f64 / self.elapsed.as_secs_f64()) as u64;
        Some(match self.counts_bytes() {
            true => format!("{}/s", HumanBytes(each_second)),
            false => format!("{}/s", HumanCount(each_second)),
        })
    }

    /// How long the rest will take.
    fn left(&self) -> Option<String> {
        let (length, done) = (self.length()?, self.position());
        let is_much = done.saturating_mul(LEFT_PART) >= length;
        if done == 0 || self.elapsed < LEFT_AFTER || !is_much && self.elapsed < LEFT_AFTER_ANYWAY {
            return None;
        }
        let rest = length.saturating_sub(done) as f64 / done as f64;
        let seconds = (self.elapsed.as_secs_f64() * rest).ceil() as u64;
        let (minutes, hours) = (seconds / 60, seconds / 3600);
        Some(match (hours, minutes) {
            (0, 0) => format!("{seconds} s left"),
            (0, _) => format!("{minutes} min {:02} s left", seconds % 60),
            _ => format!("{} h {:02} min left", HumanCount(hours), minutes % 60),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_WAIT: Duration = Duration::ZERO;

    fn after(course: &mut Course, seconds: f64, bytes: u64, count: u64) -> bool {
        let now = course.since + Duration::from_secs_f64(seconds);
        course.add_at(now, bytes, count, NO_WAIT)
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
        assert!(after(&mut course, 1.0, 0, 5));
        assert!(!after(&mut course, 2.0, 0, 4));
        assert_eq!(course.position(), 5);
    }

    #[test]
    fn a_pipe_has_documents_and_bytes_and_a_file_bytes() {
        let mut course = Course::new(None);
        after(&mut course, 2.0, 1_234_567, 2468);
        assert_eq!(course.told(), "2,468 documents, 1,234,567 bytes, 1,234/s");
        assert_eq!(course.length(), None);
        let mut course = Course::new(Some(1 << 30));
        after(&mut course, 2.0, 1 << 28, 2468);
        assert_eq!(
            course.told(),
            "256.00 MiB of 1.00 GiB, 128.00 MiB/s, 6 s left"
        );
        assert_eq!(
            (course.position(), course.length()),
            (1 << 28, Some(1 << 30))
        );
    }

    #[test]
    fn it_is_not_told_too_often() {
        let mut course = comparing(10);
        let every = Duration::from_secs(1);
        let at = |seconds: f64| course.since + Duration::from_secs_f64(seconds);
        let times = [at(0.5), at(1.1), at(1.2), at(2.2)];
        let told = times.map(|now| course.add_at(now, 0, 1, every));
        assert_eq!(told, [false, true, false, true]);
    }
}
