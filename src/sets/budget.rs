//! Memory that threads take and give back: who asks for too much waits for the others.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Memory for several threads. One of them may take more than there is, if no other has any.
pub(super) struct Budget {
    bytes_max: u64,
    taken: Mutex<u64>,
    returned: Condvar,
}

/// Memory that a thread has taken, until this is dropped.
pub(super) struct Taken<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max,
            taken: Mutex::new(0),
            returned: Condvar::new(),
        }
    }

    /// Takes memory, as soon as there is enough.
    pub(super) fn take(&self, bytes: u64) -> Taken<'_> {
        let mut taken = self.lock();
        while *taken > 0 && taken.saturating_add(bytes) > self.bytes_max {
            let woken = self.returned.wait(taken);
            taken = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        Taken {
            budget: self,
            bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.budget.lock() -= self.bytes;
        self.budget.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn no_more_is_taken_at_a_time_than_there_is_but_by_one_alone() {
        let budget = Budget::new(100);
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (budget, now, most) = (&budget, &now, &most);
                scope.spawn(move || {
                    for round in 0..50 {
                        let bytes = if (thread + round) % 10 == 0 { 300 } else { 40 };
                        let _taken = budget.take(bytes);
                        let all = now.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        assert!(all <= 100 || all == 300, "{all}");
                        most.fetch_max(all, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 300);
    }
}
