//! What operations of a provider cost between two PEs: the numbers by which strided transfers choose their way.
//!
//! Each number is the difference of two times: of many blocks and of few, of long ones and of short ones. The
//! time of a put for each block is that of non-blocking puts; messages and lists are strided puts, in jobs whose
//! table leaves no other way ([`Costs::forcing`]).

use std::hint::black_box;

use shmem::World;
use shmem::thread::ThreadLevel;
use shmem_core::context::{NonBlocking, Order, Stores, Strided};
use shmem_core::transport::ofi::strided::{Row, Way};

use super::model::Blocks;
use super::{Pair, State};
use crate::samples::{Quartiles, nanoseconds_each};

/// Transfers in one sample.
const TRANSFERS: usize = 8;

/// So dear that it is not done.
const NEVER: u64 = 1 << 50;

/// As few as fit a list of any provider that has lists.
const PAIR: Blocks = Blocks { count: 2, bytes: 8 };
/// Few and many short blocks, which fit one message; not so few that it is handed over without a buffer.
const FEW: Blocks = Blocks { count: 16, bytes: 8 };
const MANY: Blocks = Blocks { count: 130, bytes: 8 };
/// As many as a program has, short and long: an operation of many under way takes longer than the second of two.
const SHORT: Blocks = Blocks { count: 32, bytes: 8 };
const LONG: Blocks = Blocks { count: 32, bytes: 4096 };

/// The numbers as they are measured, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    latency: f64,
    operation: f64,
    byte: f64,
}

impl Costs {
    /// Bytes of the longest transfer that is measured.
    pub const LONGEST: usize = LONG.count * LONG.bytes;

    /// A row by which every strided transfer goes one way.
    pub fn forcing(way: Way) -> Row {
        let row = Row { operation: NEVER, ..Row::TCP };
        match way {
            Way::Messages => Row { piece: NEVER, engine: 0, pack: 0, unpack: 0, copy: 0, ..row },
            Way::Lists => Row { engine: NEVER, piece: 0, operation: 1, ..row },
            Way::Each => Row { operation: 0, piece: NEVER, engine: NEVER, ..row },
        }
    }
}

impl<L: ThreadLevel> Pair<'_, L>
where
    World<L>: Stores,
{
    /// What puts cost.
    fn costs(&self, state: State, repetitions: usize) -> Costs {
        self.ready(state);
        let each = |blocks| self.median(repetitions, || self.one_by_one(blocks));
        let one = each(Blocks { count: 1, bytes: 8 });
        let (short, long) = (each(SHORT), each(LONG));
        let further = (SHORT.count - 1) as f64;
        let operation = ((short - one) / further).max(0.0);
        let byte = ((long - short) / (LONG.count * (LONG.bytes - SHORT.bytes)) as f64).max(0.0);
        Costs { latency: (one - operation).max(0.0), operation, byte }
    }

    /// The row of the provider but for its lists, in a job where blocks go in messages that carry so many bytes of
    /// them.
    ///
    /// # Panics
    ///
    /// If `repetitions` is 0.
    pub fn row(&self, state: State, carries: usize, repetitions: usize) -> Row {
        let Costs { latency, operation, byte } = self.costs(state, repetitions);
        let message = |blocks| self.median(repetitions, || self.strided(blocks));
        let (few, many, short, long) = (message(FEW), message(MANY), message(SHORT), message(LONG));
        let further = (LONG.count * LONG.bytes).div_ceil(carries) - 1;
        let engine = few - latency - operation;
        let block = (many - few) / (MANY.count - FEW.count) as f64;
        let bytes = (LONG.count * (LONG.bytes - SHORT.bytes)) as f64;
        let moved = (long - short - further as f64 * operation) / bytes;
        let (copy, half) = ((moved - byte) / 2.0, block / 2.0);
        Row {
            latency: picoseconds(latency),
            engine: picoseconds(engine),
            operation: picoseconds(operation),
            byte: picoseconds(byte),
            copy: picoseconds(copy),
            pack: picoseconds(half),
            unpack: picoseconds(half),
            ..Row::TCP
        }
    }

    /// What a further piece of a list costs, in picoseconds, in a job where blocks go in lists.
    ///
    /// # Panics
    ///
    /// If `repetitions` is 0.
    pub fn piece(&self, state: State, repetitions: usize) -> u64 {
        let Costs { latency, operation, .. } = self.costs(state, repetitions);
        // One operation, whatever the provider's limit.
        let list = self.median(repetitions, || self.strided(PAIR));
        picoseconds((list - latency - operation) / PAIR.count as f64)
    }

    fn median(&self, repetitions: usize, mut sample: impl FnMut() -> f64) -> f64 {
        sample();
        Quartiles::of((0..repetitions).map(|_| sample()).collect()).median
    }

    /// A strided put and a quiet: nanoseconds.
    pub(super) fn strided(&self, blocks: Blocks) -> f64 {
        let (world, to, pe) = (self.world(), self.here().addr(), self.place().pe());
        let (source, stride) = (vec![1_u8; blocks.span()], blocks.stride());
        nanoseconds_each(TRANSFERS, || {
            for _ in 0..TRANSFERS {
                world.iputmem(to, black_box(&source[..]), stride, stride, blocks.bytes, blocks.count, pe);
                world.quiet();
            }
        })
    }

    /// A non-blocking put for each block, and one quiet: nanoseconds.
    pub(super) fn one_by_one(&self, blocks: Blocks) -> f64 {
        let (world, place) = (self.world(), self.place());
        let (source, stride) = (vec![1_u8; blocks.span()], blocks.stride());
        nanoseconds_each(TRANSFERS, || {
            for _ in 0..TRANSFERS {
                world.scope(|scope| {
                    for at in (0..blocks.count).map(|k| k * stride) {
                        scope.put(place.index(at..at + blocks.bytes), &source[at..at + blocks.bytes]);
                    }
                });
            }
        })
    }
}

fn picoseconds(nanoseconds: f64) -> u64 {
    (nanoseconds.max(0.0) * 1000.0) as u64
}

#[cfg(test)]
mod tests {
    use shmem_core::transport::ofi::strided::{Blocks, Reach};

    use super::*;

    #[test]
    fn a_row_that_forces_a_way_leaves_no_other() {
        let reach = Reach { pieces: 4, message: 16 << 10 };
        for way in Way::ALL {
            for (count, bytes) in [(2, 8), (8, 1024), (64, 4096), (1000, 64)] {
                assert_eq!(
                    Costs::forcing(way).choose(Blocks { count, bytes }, reach),
                    way,
                    "{count} x {bytes}"
                );
            }
        }
    }
}
