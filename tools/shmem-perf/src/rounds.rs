//! What several threads do at the same time, in turn with its limit.

use std::sync::Barrier;
use std::time::Instant;

use shmem_core::exclusion::Mutex;

use crate::samples::Samples;

/// What the threads of a sample do together.
pub(crate) struct Rounds {
    barrier: Barrier,
    repetitions: usize,
    passes: u64,
    /// When each thread has begun and ended what is measured, and its limit, for each round.
    times: Mutex<Vec<[Vec<Span>; 2]>>,
}

type Span = (Instant, Instant);

/// What `threads` threads cost that make `passes` passes of `operations` each, against their limit: nanoseconds for each operation of a
/// thread. Where every thread has a core that of the slowest one, and otherwise from the first start to the last end. `thread` is what
/// each does, by its number: it makes what it needs, and calls [`Rounds::run`].
pub(crate) fn in_turn(
    threads: usize,
    (passes, operations): (u64, usize),
    repetitions: usize,
    thread: impl Fn(usize, &Rounds) + Sync,
) -> Samples {
    let times = Mutex::new(vec![[Vec::new(), Vec::new()]; repetitions + 1]);
    let rounds = Rounds { barrier: Barrier::new(threads), repetitions, passes, times };
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (thread, rounds) = (&thread, &rounds);
            scope.spawn(move || thread(number, rounds));
        }
    });
    let have_cores = std::thread::available_parallelism().is_ok_and(|cores| threads <= cores.get());
    let each = |times: &[Span]| {
        let slowest = times.iter().map(|(start, end)| *end - *start).max();
        let (starts, ends) = (times.iter().map(|time| time.0), times.iter().map(|time| time.1));
        // They take turns: one that has its turn alone seems to be fast.
        let all = ends.max().zip(starts.min()).map(|(end, start)| end - start);
        let duration = if have_cores { slowest } else { all };
        duration.unwrap_or_default().as_nanos() as f64 / (passes * operations as u64) as f64
    };
    // The first round is for first touches.
    rounds.times.into_inner()[1..].iter().map(|[cost, limit]| (each(cost), each(limit))).collect()
}

impl Rounds {
    /// Takes part, with a pass of what is measured and one of its limit, which are given the number of the
    /// pass.
    pub(crate) fn run(&self, mut cost: impl FnMut(u64), mut limit: impl FnMut(u64)) {
        for round in 0..=self.repetitions {
            self.time(round, 0, &mut cost);
            self.time(round, 1, &mut limit);
        }
    }

    fn time(&self, round: usize, kind: usize, pass: &mut impl FnMut(u64)) {
        self.barrier.wait();
        let start = Instant::now();
        (0..self.passes).for_each(pass);
        let end = Instant::now();
        self.times.lock()[round][kind].push((start, end));
    }
}
