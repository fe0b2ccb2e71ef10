//! What both PEs do at the same time: puts in both directions, and collectives.

use shmem::thread::ThreadLevel;
use shmem::{World, zeroed};

use super::operation::{LESS, TARGET};
use super::{Operation, Pair};
use crate::measure::collective::{self, Buffers, CollectiveCase};
use crate::samples::{Samples, nanoseconds_each};

/// What a collective takes about, and a byte of it, in picoseconds.
const COLLECTIVE: usize = 20_000_000;
const BYTE: usize = 500;

/// Where the bare program puts from; others put to what is before it.
const OWN: usize = 4 << 20;

const PES: usize = 2;

/// Something that both PEs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    what: What,
    /// A power of two.
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Exchange,
    BareExchange,
    /// One put each way at a time, of one of so many parts that are written before.
    BareSwap(usize),
    Collective(collective::Operation),
    /// The same in place, on symmetric objects.
    Direct(collective::Operation),
}

impl What {
    const ALL: [Self; 13] = {
        use collective::Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
        [
            Self::Exchange,
            Self::BareExchange,
            Self::BareSwap(1),
            Self::BareSwap(2),
            Self::Collective(Barrier),
            Self::Collective(Broadcast),
            Self::Collective(Sum),
            Self::Collective(Fcollect),
            Self::Collective(Alltoall),
            Self::Direct(Broadcast),
            Self::Direct(Sum),
            Self::Direct(Fcollect),
            Self::Direct(Alltoall),
        ]
    };
}

/// What a collective works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Slices of the PEs' own.
    Private,
    /// Symmetric objects, in place.
    Direct,
}

impl Together {
    /// A collective; without bytes, as of those of a word.
    fn of(case: CollectiveCase, form: Form) -> Self {
        let bytes = case.bytes.max(8);
        assert!(bytes.is_power_of_two(), "{bytes} bytes are no power of two");
        let what = match form {
            Form::Private => What::Collective(case.operation),
            Form::Direct => What::Direct(case.operation),
        };
        Self { what, bytes }
    }

    /// Whether the other PE drives its bare endpoint behind it.
    pub(super) fn is_bare(self) -> bool {
        matches!(self.what, What::BareExchange | What::BareSwap(_))
    }

    /// As it is told: nine bits.
    pub(super) fn encode(self) -> u64 {
        let place = What::ALL.iter().position(|&what| what == self.what);
        place.unwrap_or_else(|| unreachable!("all of them stand there")) as u64
            | u64::from(self.bytes.trailing_zeros()) << 4
    }

    /// What was told.
    pub(super) fn decode(told: u64) -> Self {
        Self { what: What::ALL[(told & 15) as usize], bytes: 1 << (told >> 4 & 31) }
    }

    /// Collectives in one sample.
    fn count(self) -> usize {
        (TARGET * 1000 / (COLLECTIVE + self.bytes * BYTE) / LESS).max(1)
    }
}

impl<L: ThreadLevel> Pair<'_, L> {
    /// Puts of so many bytes in both directions at once, against the same by the bare program: nanoseconds for a put
    /// of each PE.
    ///
    /// # Panics
    ///
    /// If the bytes are no power of two, or the provider fails.
    pub fn both_ways(&self, bytes: usize, repetitions: usize) -> Samples {
        assert!(bytes.is_power_of_two(), "{bytes} bytes are no power of two");
        let of = |what| move || self.together(Together { what, bytes });
        Samples::alternate(repetitions, of(What::Exchange), of(What::BareExchange))
    }

    /// A collective of the two PEs, against a put of as many bytes by the bare program and its quiet, which is there
    /// and back: nanoseconds. On both sides what is given is written anew each time.
    ///
    /// # Panics
    ///
    /// If its bytes are neither 0 nor a power of two from 8 on, it has no such form, or the provider fails.
    pub fn collective(&self, case: CollectiveCase, form: Form, repetitions: usize) -> Samples {
        let (together, written) = (Together::of(case, form), case.written(PES, true) * size_of::<f64>());
        let bare = || self.bare_puts(together.bytes, together.bytes, written);
        Samples::alternate(repetitions, || self.together(together), bare)
    }

    /// A collective of the two PEs, against a put of as many bytes by each of them at once by the bare program, behind whose
    /// quiets they meet: nanoseconds. On both sides what is given is written anew each time.
    ///
    /// # Panics
    ///
    /// As [`collective`](Self::collective).
    pub fn collective_both_ways(&self, case: CollectiveCase, form: Form, repetitions: usize) -> Samples {
        let together = Together::of(case, form);
        let bare = Together {
            what: What::BareSwap(case.written(PES, true) * size_of::<f64>() / case.bytes),
            ..together
        };
        Samples::alternate(repetitions, || self.together(together), || self.together(bare))
    }

    /// A put of so many bytes by each PE at once by the bare program, behind whose quiets they meet, against one of one of them
    /// and its quiet: nanoseconds. What is put is written anew each time.
    ///
    /// # Panics
    ///
    /// If the bytes are no power of two, or the provider fails.
    pub fn bare_both_ways(&self, bytes: usize, repetitions: usize) -> Samples {
        assert!(bytes.is_power_of_two(), "{bytes} bytes are no power of two");
        let swap = || self.together(Together { what: What::BareSwap(1), bytes });
        Samples::alternate(repetitions, swap, || self.bare_puts(bytes, bytes, bytes))
    }

    /// So many bytes in puts of `each` by the bare program and their quiet, against one put of all and its quiet: nanoseconds.
    /// What is put is written anew each time.
    ///
    /// # Panics
    ///
    /// If the provider fails.
    pub fn bare_chunks(&self, bytes: usize, each: usize, repetitions: usize) -> Samples {
        let puts = |each| move || self.bare_puts(bytes, each, bytes);
        Samples::alternate(repetitions, puts(each), puts(bytes))
    }

    /// So many bytes by the bare program, in puts of `each` and one quiet; `written` bytes are written before.
    fn bare_puts(&self, bytes: usize, each: usize, written: usize) -> f64 {
        self.ready_bare();
        let times = Operation::put(bytes).count();
        let puts = || (0..times).for_each(|turn| self.bare_put(bytes, each, written, turn));
        steadily(|| nanoseconds_each(times, puts))
    }

    fn bare_put(&self, bytes: usize, each: usize, written: usize, turn: usize) {
        let lane = self.lane();
        lane.bare().fill(OWN, written, (turn % 100) as u8);
        (0..bytes).step_by(each).for_each(|at| lane.put(&self.peer(), at, OWN + at, each));
        lane.quiet();
    }

    fn together(&self, together: Together) -> f64 {
        self.tell_together(together);
        self.take_part(together)
    }

    /// What each of the two PEs does: nanoseconds each.
    pub(super) fn take_part(&self, together: Together) -> f64 {
        match together.what {
            What::Exchange => {
                let operation = Operation::bandwidth(together.bytes);
                nanoseconds_each(operation.count(), || {
                    self.through(&operation);
                    self.world().barrier_all();
                })
            }
            What::BareExchange => {
                let operation = Operation::bandwidth(together.bytes);
                nanoseconds_each(operation.count(), || {
                    operation.by_hand(self.lane(), &self.peer());
                    self.meet_bare(1);
                })
            }
            What::BareSwap(parts) => {
                let (bytes, times) = (together.bytes, Operation::put(together.bytes).count());
                let mut turn = 0;
                let mut swap = || {
                    turn += 1;
                    self.bare_put(bytes, bytes, parts * bytes, turn);
                    self.meet_bare(turn as u64);
                };
                steadily(|| nanoseconds_each(times, || (0..times).for_each(|_| swap())))
            }
            What::Collective(operation) => {
                let (world, case) = (self.world(), CollectiveCase { operation, bytes: together.bytes });
                let mut buffers = Buffers::new(world.n_pes());
                steadily(|| collective::run(world, case, &mut buffers, together.count()))
            }
            What::Direct(operation) => {
                steadily(|| direct(self.world(), operation, together.bytes, together.count()))
            }
        }
    }
}

/// The second of two runs: in the first one the progress thread of the library finds out that the program polls, and leaves
/// it the cores.
fn steadily(mut run: impl FnMut() -> f64) -> f64 {
    run();
    run()
}

/// Nanoseconds of one of `times` collectives on symmetric objects of both PEs. What is given is written anew each time.
fn direct<L: ThreadLevel>(
    world: &World<L>,
    operation: collective::Operation,
    bytes: usize,
    times: usize,
) -> f64 {
    use collective::Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
    let items = bytes / size_of::<f64>();
    let object = || {
        let object = world.alloc(zeroed::<f64>(items * PES));
        object.unwrap_or_else(|error| panic!("{bytes} bytes for a collective on objects: {error}"))
    };
    let (mine, all) = (object(), object());
    let (mine, all) = (mine.here(world), all.here(world));
    let roots: Vec<_> = world.pes().iter().collect();
    let mut turn = 0;
    let mut one = || {
        turn += 1;
        // In turn, as privately: otherwise the root would run ahead.
        let root = roots[turn % roots.len()];
        let written = CollectiveCase { operation, bytes }.written(PES, root.number() == world.my_pe());
        mine.index(..written).fill((turn % 100) as f64);
        match operation {
            Broadcast => world.broadcast(mine.index(..items), root),
            Sum => world.sum(mine.index(..items)),
            Fcollect => world.fcollect(&mine.index(..items), all),
            Alltoall => world.alltoall(&mine, all),
            Barrier => panic!("a barrier is on no objects"),
        }
    };
    (0..4).for_each(|_| one());
    world.barrier_all();
    nanoseconds_each(times, || (0..times).for_each(|_| one()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_done() {
        for bytes in (0..=20).map(|power| 1 << power) {
            for what in What::ALL {
                let together = Together { what, bytes };
                assert!(together.encode() < 1 << 9);
                assert_eq!(Together::decode(together.encode()), together);
                assert!(together.count() >= 1);
            }
        }
    }
}
