//! Patience: how long a PE spins or yields before it sleeps.

use std::time::{Duration, Instant};

/// The time that a PE polls before it sleeps in the kernel, and the way of polling: spinning or yielding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    spin: Duration,
    /// Whether the node has more PEs than cores.
    outnumbered: bool,
}

/// Time of polling: longer than a round trip between cores, and shorter than two sleeps and wake-ups.
const SPIN: Duration = Duration::from_micros(50);

/// Time of polling that is added for each byte in flight from another node.
const BYTE: Duration = Duration::from_nanos(1);

/// Number of polls before the first check whether PEs share a CPU. These polls take longer than an answer from another core.
const FIRST_LOOKS: u32 = 32;

/// Number of polls between two readings of the clock.
const LOOKS: u32 = 256;

impl Patience {
    /// Returns the patience for a node with `pes` PEs and `cores` cores.
    pub fn for_node(pes: usize, cores: usize) -> Self {
        Self { spin: SPIN, outnumbered: pes > cores }
    }

    /// Returns the patience for a wait for `bytes` that are known to be in flight from another node.
    #[must_use]
    pub fn for_bytes(self, bytes: usize) -> Self {
        if self.has_cores() {
            Self { spin: self.spin + BYTE * bytes.min(u32::MAX as usize) as u32, ..self }
        } else {
            self
        }
    }

    /// Whether the node has a core for each PE.
    pub fn has_cores(self) -> bool {
        !self.outnumbered
    }

    /// Polls until `done` returns true, or until patience ends. Returns whether `done` has returned true.
    ///
    /// Spins between polls. Yields the CPU instead if PEs outnumber cores, or if `shares_cpu` says that another PE runs on this
    /// CPU. With `expects_sharing`, calls `shares_cpu` before the first spin.
    #[inline]
    pub fn look_until(
        self,
        expects_sharing: bool,
        shares_cpu: impl Fn() -> bool,
        mut done: impl FnMut() -> bool,
    ) -> bool {
        if done() {
            return true;
        }
        if self.has_cores() && !expects_sharing {
            for _ in 0..FIRST_LOOKS {
                crate::loom_atomics::spin_loop();
                if done() {
                    return true;
                }
            }
        }
        self.look_on(&shares_cpu, &mut done)
    }

    #[cold]
    fn look_on(self, shares_cpu: &dyn Fn() -> bool, done: &mut dyn FnMut() -> bool) -> bool {
        let start = Instant::now();
        loop {
            if self.outnumbered || shares_cpu() {
                std::thread::yield_now();
                if done() {
                    return true;
                }
            } else {
                for _ in 0..LOOKS {
                    crate::loom_atomics::spin_loop();
                    if done() {
                        return true;
                    }
                }
            }
            if start.elapsed() >= self.spin {
                return false;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    /// How often the word goes to the other thread and back.
    const TURNS: u64 = 500;

    #[test]
    fn a_waiter_yields_to_whom_it_shares_its_cpu_with() {
        let allowed = sched_getaffinity(None).unwrap();
        let mut one = CpuSet::new();
        one.set((0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap());
        // Known of the other one, or of the job.
        for (patience, shares_cpu) in [(Patience::for_node(2, 2), true), (Patience::for_node(2, 1), false)] {
            let (word, looks) = (AtomicU64::new(0), AtomicU64::new(0));
            let hand_over = |first: u64| {
                sched_setaffinity(None, &one).unwrap();
                for turn in (first..2 * TURNS).step_by(2) {
                    let done = || {
                        looks.fetch_add(1, Ordering::Relaxed);
                        word.load(Ordering::Acquire) == turn
                    };
                    while !patience.look_until(shares_cpu, || shares_cpu, done) {}
                    word.store(turn + 1, Ordering::Release);
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(|| hand_over(0));
                scope.spawn(|| hand_over(1));
            });
            let looks = looks.into_inner() / (2 * TURNS);
            assert!(looks < 40, "{looks} looks until the other thread runs: who spins takes thousands");
        }
    }
}
