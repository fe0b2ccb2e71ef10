//! Our own routines, beside a peer's.

use std::hint::black_box;

use shmem_core::context::{Initiator, Order, Stores, Strided};
use shmem_core::object::On;

use super::transfer::{PAGES, START, request};
use super::{Operation, TRANSFERS, Transfer};
use crate::baseline::near;
use crate::name::words;
use crate::peers::{Peer, PeerError, Running};
use crate::samples::{Samples, nanoseconds_each};
use crate::strided::baseline::loop_of_puts;
use crate::strided::{Direction, Spread};

/// The arrays of transfers: one on another PE, and one here. They begin in their pages as the
/// peers' do.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a> {
    pub(super) to: On<'a, [f64]>,
    pub(super) from: &'a [f64],
}

impl<'a> Arrays<'a> {
    /// Doubles that each of two places must have, so that all transfers fit wherever it begins: two
    /// pages for that, and two for the skew of the source.
    pub const DOUBLES: usize = most_doubles() + 2 * PAGES / size_of::<f64>();

    /// The arrays inside two places.
    ///
    /// # Panics
    ///
    /// If a place has fewer than [`DOUBLES`](Self::DOUBLES), or `to` is not on this node.
    pub fn new(token: &impl Initiator, to: On<'a, [f64]>, from: &'a [f64]) -> Self {
        assert!(
            to.len().min(from.len()) >= Self::DOUBLES,
            "the arrays of the comparison have {} and {} doubles, they need {}",
            to.len(),
            from.len(),
            Self::DOUBLES
        );
        let (first_to, first_from) = (skip(near(to.ptr(token)).addr()), skip(from.as_ptr().addr()));
        let first_to = first_to + START / size_of::<f64>();
        Self { to: to.index(first_to..), from: &from[first_from..] }
    }

    /// Nanoseconds of one transfer of ours, complete at the other PE.
    fn time<I: Stores>(&self, token: &I, transfer: &Transfer, ours: Ours) -> f64 {
        let one: &dyn Fn() = match ours {
            Ours::Routine => &|| self.routine(token, black_box(transfer)),
            Ours::LoopOfPuts => &|| self.loop_of_puts(token, black_box(transfer)),
        };
        // The caches belonged to somebody else, as they do for the peer.
        one();
        nanoseconds_each(TRANSFERS, || (0..TRANSFERS).for_each(|_| one()))
    }

    /// Where a transfer's source begins.
    fn source(&self, transfer: &Transfer) -> &'a [f64] {
        &self.from[transfer.skew / size_of::<f64>()..]
    }

    fn routine<I: Stores>(&self, token: &I, transfer: &Transfer) {
        let Transfer { blocks, block, to, from, .. } = *transfer;
        let source = self.source(transfer);
        if block == 1 {
            token.iput(self.to, source, to, from, blocks);
        } else {
            token.ibput(self.to, source, to, from, block, blocks);
        }
        token.quiet();
    }

    fn loop_of_puts<I: Stores>(&self, token: &I, transfer: &Transfer) {
        const DOUBLE: usize = size_of::<f64>();
        let Transfer { blocks, block, to, from, .. } = *transfer;
        let spread = Spread { block: block * DOUBLE, count: blocks, to: to * DOUBLE, from: from * DOUBLE };
        let source = self.source(transfer);
        let (reads, writes) = (source.len() * DOUBLE, self.to.len() * DOUBLE);
        let hulls = spread.hulls();
        assert!(
            hulls.0 <= writes && hulls.1 <= reads,
            "{spread} does not fit arrays of {writes} and {reads}"
        );
        let start: *mut u8 = near(self.to.ptr(token)).cast();
        let place = start.addr()..start.addr() + writes;
        // SAFETY: all blocks lie in the arrays, as just checked. Nobody writes to the source, which is
        // borrowed; the destination is memory of its PE, which lives while the token does.
        unsafe { loop_of_puts(&spread, &place, start, source.as_ptr().cast(), Direction::Put) };
        token.quiet();
    }
}

const fn most_doubles() -> usize {
    let (mut most, mut i) = (0, 0);
    while i < Transfer::ALL.len() {
        let Transfer { to, from, .. } = Transfer::ALL[i];
        let doubles = Transfer::ALL[i].doubles(if to > from { to } else { from });
        if doubles > most {
            most = doubles;
        }
        i += 1;
    }
    most
}

/// Doubles from `address` to a multiple of two pages.
pub(super) const fn skip(address: usize) -> usize {
    (address.next_multiple_of(PAGES) - address) / size_of::<f64>()
}

/// What is compared with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ours {
    /// `iput` or `ibput`, and `quiet`.
    Routine,
    /// Algorithm 1, as other measures of this tool take it for their yardstick: a loop of puts.
    LoopOfPuts,
}

words! {
    /// What is compared: with which library, or with a loop of puts of OpenSHMEM.
    Kind { Mpi = "mpi", Oshmem = "oshmem", A1 = "a1" }
}

/// What came out for one transfer.
#[derive(Debug)]
pub struct Comparison {
    /// What was compared.
    pub ours: Ours,
    /// With which call of the peer.
    pub operation: Operation,
    /// What was transferred.
    pub transfer: Transfer,
    /// Pairs of our time and the peer's, in nanoseconds of one transfer; or why there are none.
    pub samples: Result<Samples, PeerError>,
}

impl Comparison {
    /// What was compared, in a word.
    pub fn kind(&self) -> Kind {
        match (self.ours, self.operation.peer()) {
            (Ours::LoopOfPuts, _) => Kind::A1,
            (Ours::Routine, Peer::Mpi) => Kind::Mpi,
            (Ours::Routine, _) => Kind::Oshmem,
        }
    }

    /// What was compared with what: one text for all transfers, so that they stand in one table.
    pub fn compared(&self, library: &str) -> String {
        let theirs = match (self.operation.peer(), self.ours) {
            (Peer::Mpi, _) => "MPI_Put with vector types and MPI_Win_flush",
            (_, Ours::Routine) => "shmem_double_iput, or a loop of shmem_putmem for blocks, and shmem_quiet",
            (_, Ours::LoopOfPuts) => "a loop of shmem_putmem, then shmem_quiet",
        };
        let ours = match self.ours {
            Ours::Routine => "iput, or ibput for blocks, and quiet",
            Ours::LoopOfPuts => "our loop of puts (A1)",
        };
        format!("{ours}, against {theirs} of {library}; time for each transfer")
    }
}

/// Compares all transfers with a peer's, each complete at its destination, in turn. It ends early if the
/// peer does.
///
/// # Panics
///
/// If the arrays are not on this node.
pub fn compare<I: Stores>(
    token: &I,
    arrays: Arrays<'_>,
    peer: &mut Running,
    repetitions: usize,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for (ours, operation, transfer) in rivals(peer.peer()) {
        let time = || arrays.time(token, &transfer, ours);
        let asked = request(operation, &transfer);
        let samples = peer.check(&asked).and_then(|()| peer.against(&asked, repetitions, time));
        let lost = samples.as_ref().is_err_and(PeerError::is_final);
        comparisons.push(Comparison { ours, operation, transfer, samples });
        if lost {
            break;
        }
    }
    comparisons
}

/// What is compared with which call of a peer: the one of its calls that does such a transfer fastest.
/// OSHMEM's `iput` knows elements only, and is the faster one for these.
fn rivals(peer: Peer) -> impl Iterator<Item = (Ours, Operation, Transfer)> {
    let fastest = move |transfer: Transfer| {
        let operation = match peer {
            Peer::Mpi => Operation::Put,
            _ if transfer.block == 1 => Operation::Iput,
            _ => Operation::Putmem,
        };
        (Ours::Routine, operation, transfer)
    };
    let loops = Transfer::ALL.into_iter().filter(move |_| peer == Peer::Oshmem);
    let loops = loops.map(|transfer| (Ours::LoopOfPuts, Operation::Putmem, transfer));
    Transfer::ALL.into_iter().map(fastest).chain(loops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_where_they_should_in_a_page() {
        for address in (8 << 20..(8 << 20) + 2 * PAGES).step_by(8) {
            let start = address + 8 * skip(address);
            assert_eq!(start % PAGES, 0);
            assert!(start - address < PAGES);
        }
        const { assert!(Arrays::DOUBLES > 1023 * 1032 + PAGES / 8) };
    }

    #[test]
    fn every_transfer_has_a_case_for_each_rival() {
        let mut cases = Vec::new();
        for peer in Peer::STRIDED {
            for (ours, operation, transfer) in rivals(peer) {
                assert_eq!(operation.peer(), peer);
                let comparison = Comparison { ours, operation, transfer, samples: Ok(Samples::new()) };
                cases.push(format!("{}/{}", comparison.kind().name(), transfer.name.name()));
            }
        }
        assert_eq!(cases.len(), 3 * Transfer::ALL.len());
        for case in
            ["mpi/column/128", "mpi/pack4/128", "oshmem/column/2", "oshmem/column4/129", "a1/unpack/2"]
        {
            assert!(cases.iter().any(|one| one == case), "{case} is missing in {cases:?}");
        }
        cases.sort();
        assert!(cases.is_sorted_by(|a, b| a < b), "a case twice: {cases:?}");
    }
}
