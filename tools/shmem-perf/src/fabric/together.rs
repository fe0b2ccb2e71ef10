//! What both PEs do at the same time: puts in both directions, and collectives.

use shmem::thread::ThreadLevel;

use super::operation::{LESS, TARGET};
use super::{Operation, Pair, State};
use crate::measure::collective::{self, Buffers, CollectiveCase};
use crate::samples::{Samples, nanoseconds_each};

/// Bytes that a collective brings at a time.
const STEP: usize = 16 << 10;

/// What one step of a collective, and its bytes, take about, in nanoseconds.
const COLLECTIVE: usize = 20_000;

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
    Collective(collective::Operation),
}

impl What {
    const ALL: [Self; 7] = {
        use collective::Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
        [
            Self::Exchange,
            Self::BareExchange,
            Self::Collective(Barrier),
            Self::Collective(Broadcast),
            Self::Collective(Sum),
            Self::Collective(Fcollect),
            Self::Collective(Alltoall),
        ]
    };
}

impl Together {
    /// Whether the other PE drives its bare endpoint behind it.
    pub(super) fn is_bare(self) -> bool {
        self.what == What::BareExchange
    }

    /// As it is told: eight bits.
    pub(super) fn encode(self) -> u64 {
        let place = What::ALL.iter().position(|&what| what == self.what);
        place.unwrap_or_else(|| unreachable!("all of them stand there")) as u64
            | u64::from(self.bytes.trailing_zeros()) << 3
    }

    /// What was told.
    pub(super) fn decode(told: u64) -> Self {
        Self { what: What::ALL[(told & 7) as usize], bytes: 1 << (told >> 3 & 31) }
    }

    /// Collectives in one sample.
    fn count(self) -> usize {
        (TARGET / (COLLECTIVE * self.bytes.div_ceil(STEP)) / LESS).max(1)
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
    /// and back: nanoseconds.
    ///
    /// # Panics
    ///
    /// If its bytes are neither 0 nor a power of two from 8 on, or the provider fails.
    pub fn collective(&self, case: CollectiveCase, repetitions: usize) -> Samples {
        let bytes = case.bytes.max(8);
        assert!(bytes.is_power_of_two(), "{bytes} bytes are no power of two");
        let (together, put) =
            (Together { what: What::Collective(case.operation), bytes }, Operation::put(bytes));
        Samples::alternate(repetitions, || self.together(together), || self.bare(&put, State::Polling))
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
                    self.meet_bare();
                })
            }
            What::Collective(operation) => {
                let (world, case) = (self.world(), CollectiveCase { operation, bytes: together.bytes });
                collective::run(world, case, &mut Buffers::new(world.n_pes()), together.count())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_done() {
        for bytes in (0..=20).map(|power| 1 << power) {
            for what in What::ALL {
                let together = Together { what, bytes };
                assert!(together.encode() < 1 << 8);
                assert_eq!(Together::decode(together.encode()), together);
                assert!(together.count() >= 1);
            }
        }
    }
}
