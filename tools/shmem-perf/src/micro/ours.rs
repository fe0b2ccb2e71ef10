//! The benchmarks by our own routines.

use std::hint::black_box;

use shmem::prelude::*;
use shmem::thread::ThreadLevel;
use shmem::zeroed;
use shmem_core::object::On;

use super::operation::{INDICES, ROOM};
use super::{MicroCase, Operation, WINDOW};
use crate::baseline::near;
use crate::measure::collective::{self, Buffers, CollectiveCase};
use crate::measure::indexed::random;
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

/// Symmetric objects: for collectives in direct form twice the largest case, and the halves of tables.
#[derive(Debug)]
pub struct Objects {
    /// What a PE gives.
    given: SymBox<[f64]>,
    /// What comes out, where that is something else.
    taken: SymBox<[f64]>,
    /// What histograms count in.
    counts: SymBox<[Atomic<u64>]>,
    /// What is read by its indices.
    table: SymBox<[u64]>,
}

impl Objects {
    /// Of this job. Collective.
    ///
    /// # Errors
    ///
    /// If the symmetric heap has no room for them.
    pub fn new<L: ThreadLevel>(world: &World<L>) -> shmem::Result<Self> {
        const ITEMS: usize = 2 * ROOM / size_of::<f64>();
        const HALF: usize = ROOM / size_of::<u64>();
        Ok(Self {
            given: world.alloc(zeroed(ITEMS))?,
            taken: world.alloc(zeroed(ITEMS))?,
            counts: world.alloc(zeroed(HALF))?,
            table: world.alloc(zeroed(HALF))?,
        })
    }
}

/// What our benchmarks work on.
#[derive(Debug)]
pub struct Ours<'a, L: ThreadLevel> {
    world: &'a World<L>,
    places: Places<'a>,
    objects: &'a Objects,
    given: Vec<u8>,
    taken: Vec<u8>,
    indices: Vec<u32>,
    read: Vec<u64>,
    buffers: Buffers,
}

impl<'a, L: ThreadLevel> Ours<'a, L> {
    /// With memory of this PE's own.
    ///
    /// # Panics
    ///
    /// If there are fewer than [`Places::BYTES`] bytes.
    pub fn new(world: &'a World<L>, places: Places<'a>, objects: &'a Objects) -> Self {
        assert!(places.bytes.len() >= ROOM, "there are {} bytes, {ROOM} are needed", places.bytes.len());
        let buffers = Buffers::new(world.n_pes());
        let (indices, read) = (Vec::new(), vec![0; INDICES]);
        Self { world, places, objects, given: vec![1; ROOM], taken: vec![1; ROOM], indices, read, buffers }
    }

    /// Nanoseconds of one operation of a case. Of those that both PEs take part in, both call it.
    pub fn time(&mut self, case: MicroCase) -> f64 {
        let (bytes, times) = (case.bytes, case.times());
        let operation = match case.operation {
            Operation::Barrier => collective::Operation::Barrier,
            Operation::Broadcast => collective::Operation::Broadcast,
            Operation::Sum => collective::Operation::Sum,
            Operation::Fcollect => collective::Operation::Fcollect,
            Operation::Alltoall => collective::Operation::Alltoall,
            Operation::BroadcastDirect => {
                return self.directly(collective::Operation::Broadcast, bytes, times);
            }
            Operation::SumDirect => return self.directly(collective::Operation::Sum, bytes, times),
            Operation::FcollectDirect => return self.directly(collective::Operation::Fcollect, bytes, times),
            Operation::AlltoallDirect => return self.directly(collective::Operation::Alltoall, bytes, times),
            Operation::Histogram | Operation::IndexGather => {
                self.indices = random(INDICES, 2 * bytes / size_of::<u64>(), self.world.my_pe() as u64);
                self.visit(case, 4);
                return nanoseconds_each(times, || self.visit(case, times));
            }
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

    /// Nanoseconds of one collective on symmetric objects.
    fn directly(&self, operation: collective::Operation, bytes: usize, times: usize) -> f64 {
        let Self { world, objects: Objects { given, taken, .. }, .. } = self;
        let (case, pes) = (CollectiveCase { operation, bytes }, world.n_pes());
        let (me, items) = (world.my_pe(), bytes / size_of::<f64>());
        let roots: Vec<_> = world.pes().iter().collect();
        let own = near(given.on(roots[me]).index(..items * pes).ptr(world)).cast::<f64>();
        let (one, all) = (given.here(world).index(..items), taken.here(world).index(..items * pes));
        let mut turn = 0;
        let mut collective = || {
            turn += 1;
            let root = roots[turn % pes];
            let written = case.written(pes, root.number() == me);
            // SAFETY: the own copy has as many elements, of which any bytes are a value; other PEs read and write them
            // in collectives, between the meetings of which this PE is in one as well.
            unsafe { own.write_bytes((turn % 100) as u8, written) };
            match operation {
                collective::Operation::Broadcast => world.broadcast(one, root),
                collective::Operation::Sum => world.sum(one),
                collective::Operation::Fcollect => world.fcollect(&one, all),
                _ => world.alltoall(&given.here(world).index(..items * pes), all),
            }
        };
        // As private ones: the PEs come together, and the caches belonged to somebody else.
        (0..4).for_each(|_| collective());
        world.barrier_all();
        nanoseconds_each(times, || (0..times).for_each(|_| collective()))
    }

    /// Adds to so many elements of a table that both PEs have a half of, or reads them, and is complete with the other PE.
    fn visit(&mut self, case: MicroCase, times: usize) {
        let Self { world, objects: Objects { counts, table, .. }, indices, read, .. } = self;
        let (indices, half) = (black_box(&indices[..times]), case.bytes / size_of::<u64>());
        let halves = Block::of(2 * half);
        if case.operation == Operation::Histogram {
            world.add_each(counts.over(world.team(), halves).at(indices), 1);
        } else {
            world.gather(black_box(&mut read[..times]), table.over(world.team(), halves).at(indices));
        }
        world.barrier_all();
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
            _ => unreachable!("a collective"),
        }
    }
}

#[inline(always)]
fn each(times: usize, operation: impl FnMut(u64)) {
    (0..times as u64).for_each(operation);
}
