//! What transfers cost by a model of three numbers, which are measured between two PEs.
//!
//! A transfer of `n` messages that are waited for together takes `alpha + (n - 1) * gap + bytes * beta`:
//! a latency, there and back; what each further message costs whoever sends it; and the time of a byte.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use shmem_core::context::{NonBlocking, Order, Stores, Strided};
use shmem_core::strided::{Algorithm, Pattern, Plan, Thresholds, execute_later};

use super::operation::LESS;
use super::{OPERATIONS, Pair, State};
use crate::perf::samples::{FEWEST, Quartiles, Samples, nanoseconds_each};
use crate::thread::ThreadLevel;

/// How long a PE sleeps for a look at what it uses meanwhile.
const IDLE: Duration = Duration::from_millis(50);

/// Transfers of blocks in one sample.
const TRANSFERS: usize = 16 / LESS;

/// The three numbers, in nanoseconds: of a round trip, of a message, of a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// A put of 8 bytes and its quiet.
    pub alpha: f64,
    /// A put of 8 bytes among many.
    pub gap: f64,
    /// A byte among many.
    pub beta: f64,
}

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

impl Model {
    /// Messages of `bytes` bytes in all that are waited for together.
    pub fn messages(&self, messages: usize, bytes: usize) -> f64 {
        self.alpha + messages.saturating_sub(1) as f64 * self.gap + bytes as f64 * self.beta
    }

    /// How many times faster blocks are in one message than in one for each, if to pack and to unpack them
    /// takes `packing` nanoseconds.
    pub fn gain(&self, blocks: Blocks, packing: f64) -> f64 {
        let bytes = blocks.count * blocks.bytes;
        self.messages(blocks.count, bytes) / (self.messages(1, bytes) + packing)
    }
}

impl Blocks {
    fn stride(self) -> usize {
        2 * self.bytes
    }

    fn span(self) -> usize {
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
            alpha: median("put", 8),
            gap: median("put-rate", 8),
            beta: median("put", bytes) / bytes as f64,
        }
    }

    /// Blocks by one strided put and a quiet, against a non-blocking put for each and one quiet: nanoseconds
    /// for all of them.
    pub fn blocks(&self, blocks: Blocks, state: State, repetitions: usize) -> Samples
    where
        crate::world::World<L>: Stores,
    {
        self.ready(state);
        let (world, place) = (self.world(), self.place());
        let to = self.here();
        let source = vec![1_u8; blocks.span()];
        let Blocks { count, bytes } = blocks;
        let stride = blocks.stride();
        let cost = || {
            nanoseconds_each(TRANSFERS, || {
                for _ in 0..TRANSFERS {
                    world.iputmem(to, black_box(&source[..]), stride, stride, bytes, count, place.pe());
                    world.quiet();
                }
            })
        };
        let limit = || {
            nanoseconds_each(TRANSFERS, || {
                for _ in 0..TRANSFERS {
                    world.scope(|scope| {
                        for at in (0..count).map(|k| k * stride) {
                            scope.put(place.index(at..at + bytes), &source[at..at + bytes]);
                        }
                    });
                }
            })
        };
        Samples::alternate(repetitions, cost, limit)
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

/// Nanoseconds to pack blocks and to unpack them again on this machine: the median of `repetitions` samples.
///
/// # Panics
///
/// If `repetitions` is 0.
pub fn packing(blocks: Blocks, repetitions: usize) -> f64 {
    let (mut packed, mut apart) = (vec![0_u8; blocks.count * blocks.bytes], vec![1_u8; blocks.span()]);
    let pattern = Pattern::blocks(blocks.bytes, blocks.count, blocks.stride(), blocks.stride());
    let plan = |pattern| Plan::of(pattern, 1, Algorithm::Auto, &Thresholds::DEFAULT);
    let (pack, unpack) = (plan(pattern.packed()), plan(pattern.unpacked()));
    let mut sample = || {
        nanoseconds_each(1, || {
            // SAFETY: `packed` has room for all blocks, `apart` for their span.
            unsafe { execute_later(&pack, packed.as_mut_ptr(), apart.as_ptr()) };
            // SAFETY: as above.
            unsafe { execute_later(&unpack, apart.as_mut_ptr(), packed.as_ptr()) };
        })
    };
    sample();
    Quartiles::of((0..repetitions).map(|_| sample()).collect()).median
}

/// Processor time of this process.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_saves_what_the_others_cost() {
        let model = Model { alpha: 1000.0, gap: 100.0, beta: 0.5 };
        assert_eq!(
            (model.messages(1, 0), model.messages(11, 0), model.messages(1, 8)),
            (1000.0, 2000.0, 1004.0)
        );
        let blocks = Blocks { count: 21, bytes: 0 };
        assert_eq!((model.gain(blocks, 0.0), model.gain(blocks, 500.0)), (3.0, 2.0));
    }

    #[test]
    fn packing_more_takes_longer() {
        let of = |count| packing(Blocks { count, bytes: 4096 }, FEWEST);
        assert!(of(256) > of(4));
    }
}
