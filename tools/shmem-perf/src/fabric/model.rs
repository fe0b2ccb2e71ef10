//! What transfers between two PEs cost by the three numbers of a [`Model`], and these.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use shmem::scale::Model;
use shmem::thread::ThreadLevel;
use shmem_core::context::Stores;

use super::{OPERATIONS, OperationName, Pair, State};
use crate::samples::{FEWEST, Quartiles, Samples};

/// How long a PE sleeps for a look at what it uses meanwhile.
const IDLE: Duration = Duration::from_millis(50);

/// Blocks at equal distances on both sides, each as long as the gap behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// How many.
    pub count: usize,
    /// Bytes of each.
    pub bytes: usize,
}

/// What is measured of blocks.
pub const BLOCKS: [Blocks; 6] = [
    Blocks { count: 16, bytes: 8 },
    Blocks { count: 16, bytes: 256 },
    Blocks { count: 16, bytes: 4096 },
    Blocks { count: 64, bytes: 8 },
    Blocks { count: 64, bytes: 256 },
    Blocks { count: 64, bytes: 4096 },
];

impl Blocks {
    pub(super) fn stride(self) -> usize {
        2 * self.bytes
    }

    pub(super) fn span(self) -> usize {
        self.count * self.stride()
    }
}

impl<L: ThreadLevel> Pair<'_, L> {
    /// The three numbers between the two PEs: the medians of `repetitions` samples.
    ///
    /// # Panics
    ///
    /// If `repetitions` is 0.
    pub fn model(&self, state: State, repetitions: usize) -> Model {
        let find = |name, bytes| OPERATIONS.iter().find(|one| one.name == name && one.bytes == bytes);
        let median = |name, bytes| {
            let operation = find(name, bytes).unwrap_or_else(|| unreachable!("it stands in the table"));
            self.ready(state);
            self.library(operation, state);
            let samples = (0..repetitions).map(|_| self.library(operation, state));
            Quartiles::of(samples.collect()).median
        };
        let bytes = 64 << 10;
        Model {
            alpha: median(OperationName::Put, 8),
            gap: median(OperationName::PutRate, 8),
            beta: median(OperationName::Put, bytes) / bytes as f64,
        }
    }

    /// Blocks by one strided put and a quiet, against a non-blocking put for each and one quiet: nanoseconds
    /// for all of them.
    pub fn blocks(&self, blocks: Blocks, state: State, repetitions: usize) -> Samples
    where
        shmem::World<L>: Stores,
    {
        self.ready(state);
        Samples::alternate(repetitions, || self.strided(blocks), || self.one_by_one(blocks))
    }

    /// The share of a core that this PE uses while both sleep in their own code, against a hundredth:
    /// hundredths.
    pub fn idle(&self) -> Samples {
        self.ready(State::Asleep);
        let mut samples = Samples::new();
        for _ in 0..FEWEST {
            let before = used();
            std::thread::sleep(IDLE);
            samples.push(100.0 * (used() - before).as_secs_f64() / IDLE.as_secs_f64(), 1.0);
        }
        samples
    }
}

/// Processor time of this process.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}
