//! Work shared among threads whose results come in the order of the work.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Results that may wait for their turn, for each thread. Beyond that a thread
/// waits itself, so that one slow piece of work cannot pile up the others.
const WAITING_PER_THREAD: u64 = 4;

/// Takes pieces of work from `next`, one thread at a time; has all threads of the
/// current pool `work` on them; and gives the results to `finish` in the order in
/// which the pieces were taken, until it breaks.
///
/// Each thread keeps one `P` and one `S` for as long as it runs, so that buffers
/// are allocated once. As a thread works on the piece it has just taken, that is
/// still in its cache.
pub(super) fn map_in_order<P, S, R>(
    next: impl FnMut(&mut P) -> bool + Send,
    work: impl Fn(&mut P, &mut S) -> R + Sync,
    finish: impl FnMut(R) -> ControlFlow<()> + Send,
    scratch: impl Fn() -> S + Sync,
) where
    P: Default,
    R: Send,
{
    let source = Mutex::new(Source { next, taken: 0 });
    let sink = Mutex::new(Sink {
        finish,
        finished: 0,
        waiting: BTreeMap::new(),
        stopped: false,
    });
    let turn = Condvar::new();
    let window = WAITING_PER_THREAD * rayon::current_num_threads() as u64;
    rayon::broadcast(|_| {
        let stop = StopOnPanic {
            sink: &sink,
            turn: &turn,
        };
        let mut piece = P::default();
        let mut scratch = scratch();
        while let Some(number) = take(&source, &mut piece) {
            let result = work(&mut piece, &mut scratch);
            let mut sink = lock(&sink);
            while number >= sink.finished + window && !sink.stopped {
                sink = turn.wait(sink).unwrap_or_else(PoisonError::into_inner);
            }
            sink.accept(number, result);
            turn.notify_all();
            if sink.stopped {
                break;
            }
        }
        std::mem::forget(stop);
    });
}

struct Source<N> {
    next: N,
    taken: u64,
}

fn take<P, N: FnMut(&mut P) -> bool>(source: &Mutex<Source<N>>, piece: &mut P) -> Option<u64> {
    let mut source = lock(source);
    if !(source.next)(piece) {
        return None;
    }
    source.taken += 1;
    Some(source.taken - 1)
}

struct Sink<F, R> {
    finish: F,
    /// Results that `finish` has had.
    finished: u64,
    waiting: BTreeMap<u64, R>,
    stopped: bool,
}

impl<F: FnMut(R) -> ControlFlow<()>, R> Sink<F, R> {
    fn accept(&mut self, number: u64, result: R) {
        self.waiting.insert(number, result);
        while !self.stopped
            && let Some(result) = self.waiting.remove(&self.finished)
        {
            self.finished += 1;
            self.stopped = (self.finish)(result).is_break();
        }
    }
}

/// A thread that panics takes its result with it. Dropped on the way out, this
/// keeps the others from waiting for it; the pool then hands the panic on.
struct StopOnPanic<'a, F, R> {
    sink: &'a Mutex<Sink<F, R>>,
    turn: &'a Condvar,
}

impl<F, R> Drop for StopOnPanic<'_, F, R> {
    fn drop(&mut self) {
        lock(self.sink).stopped = true;
        self.turn.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn run(threads: usize, pieces: u64, stop_at: u64) -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut made = 0;
        let mut finished = vec![];
        pool.install(|| {
            map_in_order(
                |piece: &mut u64| {
                    made += 1;
                    *piece = made;
                    made <= pieces
                },
                |piece, ()| {
                    if *piece % 7 == 1 {
                        std::thread::sleep(Duration::from_micros(300));
                    }
                    *piece * 10
                },
                |result| {
                    finished.push(result);
                    match result == stop_at * 10 {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                },
                || (),
            );
        });
        finished
    }

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [1, 2, 5] {
            let expected: Vec<u64> = (1..=200).map(|n| n * 10).collect();
            assert_eq!(run(threads, 200, 0), expected);
            assert_eq!(run(threads, 200, 17), expected[..17]);
        }
    }

    #[test]
    fn a_panic_does_not_leave_the_others_waiting() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| {
                let mut made = 0_u32;
                map_in_order(
                    |piece: &mut u32| {
                        made += 1;
                        *piece = made;
                        made < 1000
                    },
                    |piece, ()| assert_ne!(*piece, 3),
                    |()| ControlFlow::Continue(()),
                    || (),
                );
            });
        }));
        assert!(result.is_err());
    }
}
