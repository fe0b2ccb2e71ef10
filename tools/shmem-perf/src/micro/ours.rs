//! The benchmarks by our own routines.

use std::hint::black_box;

use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::{Amo, NonBlocking as _, Order as _, Rma as _};
use shmem_core::object::{Atomic, On};

use super::operation::ROOM;
use super::{MicroCase, Operation, WINDOW};
use crate::measure::collective::{self, Buffers, CollectiveCase};
use crate::samples::nanoseconds_each;

/// Places on the other PE.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// What is written and read.
    pub bytes: On<'a, [u8]>,
    /// What atomic operations work on.
    pub word: On<'a, Atomic<u64>>,
}

impl Places<'_> {
    /// Bytes that are written and read.
    pub const BYTES: usize = ROOM;
}

/// What our benchmarks work on.
#[derive(Debug)]
pub struct Ours<'a, L: ThreadLevel> {
    world: &'a World<L>,
    places: Places<'a>,
    given: Vec<u8>,
    taken: Vec<u8>,
    buffers: Buffers,
}

impl<'a, L: ThreadLevel> Ours<'a, L> {
    /// With memory of this PE's own.
    ///
    /// # Panics
    ///
    /// If there are fewer than [`Places::BYTES`] bytes.
    pub fn new(world: &'a World<L>, places: Places<'a>) -> Self {
        assert!(places.bytes.len() >= ROOM, "there are {} bytes, {ROOM} are needed", places.bytes.len());
        let buffers = Buffers::new(world.n_pes());
        Self { world, places, given: vec![1; ROOM], taken: vec![1; ROOM], buffers }
    }

    /// Nanoseconds of one operation of a case. Of those that both PEs take part in, both call it.
    pub fn time(&mut self, case: MicroCase) -> f64 {
        let (bytes, times) = (case.bytes, case.times());
        let operation = match case.operation {
            Operation::Barrier => collective::Operation::Barrier,
            Operation::Broadcast => collective::Operation::Broadcast,
            Operation::Sum => collective::Operation::Sum,
            Operation::Alltoall => collective::Operation::Alltoall,
            _ => {
                // The caches belonged to somebody else.
                self.repeat(case, if times < 4 { 1 } else { 4 });
                if case.operation == Operation::Bidirectional {
                    self.world.barrier_all();
                }
                return nanoseconds_each(times, || self.repeat(case, times));
            }
        };
        collective::run(self.world, CollectiveCase { operation, bytes }, &mut self.buffers, times)
    }

    /// So many operations, complete at the end.
    fn repeat(&mut self, case: MicroCase, times: usize) {
        let Self { world, places: Places { bytes: place, word }, given, taken, .. } = self;
        let bytes = case.bytes;
        let (place, word) = (black_box(*place), black_box(*word));
        match case.operation {
            Operation::Put => {
                for _ in 0..times {
                    world.put(place.index(..bytes), black_box(&given[..bytes]));
                    world.quiet();
                }
            }
            Operation::Get => {
                for _ in 0..times {
                    world.get(black_box(&mut taken[..bytes]), place.index(..bytes));
                }
            }
            Operation::Bandwidth | Operation::Rate | Operation::Bidirectional => {
                for _ in 0..times {
                    world.scope(|scope| {
                        for message in 0..WINDOW {
                            let at = message * bytes % ROOM;
                            scope.put(place.index(at..at + bytes), black_box(&given[at..at + bytes]));
                        }
                    });
                }
                if case.operation == Operation::Bidirectional {
                    world.barrier_all();
                }
            }
            Operation::FetchAdd => each(times, |value| _ = black_box(world.fetch_add(word, value))),
            Operation::Add => {
                each(times, |value| world.add(word, value));
                world.quiet();
            }
            Operation::Swap => each(times, |value| _ = black_box(world.swap(word, value))),
            Operation::CompareSwap => {
                each(times, |value| _ = black_box(world.compare_swap(word, value, value + 1)));
            }
            Operation::Fetch => each(times, |_| _ = black_box(world.fetch(word))),
            Operation::Barrier | Operation::Broadcast | Operation::Sum | Operation::Alltoall => {
                unreachable!("a collective")
            }
        }
    }
}

#[inline(always)]
fn each(times: usize, operation: impl FnMut(u64)) {
    (0..times as u64).for_each(operation);
}
