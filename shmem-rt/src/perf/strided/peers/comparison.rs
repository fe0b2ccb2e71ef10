//! Our own routines, beside a peer's.

use std::hint::black_box;

use shmem_core::context::{Order, Strided};
use shmem_core::object::On;

use super::{Operation, PeerError, Running, SOURCE_OFFSET, TRANSFERS, Transfer};
use crate::perf::samples::{Samples, nanoseconds_each};

/// Bytes of a page, to which arrays are laid.
const PAGE: usize = 4096;

/// The arrays of a transfer: one on another PE, and one here. They lie in their pages as the peers'
/// arrays do.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a> {
    to: On<'a, [f64]>,
    from: &'a [f64],
}

impl<'a> Arrays<'a> {
    /// Doubles that each of two places must have, so that all transfers fit wherever it begins.
    pub const DOUBLES: usize = most_doubles() + 2 * PAGE / size_of::<f64>();

    /// The arrays inside two places.
    ///
    /// # Panics
    ///
    /// If a place has fewer than [`DOUBLES`](Self::DOUBLES).
    pub fn new(to: On<'a, [f64]>, from: &'a [f64]) -> Self {
        assert!(
            to.len().min(from.len()) >= Self::DOUBLES,
            "the arrays of the comparison have {} and {} doubles, they need {}",
            to.len(),
            from.len(),
            Self::DOUBLES
        );
        // Places of PEs begin with a page, so an offset says as much as an address.
        let (first_to, first_from) = (skip(to.offset(), 0), skip(from.as_ptr().addr(), SOURCE_OFFSET));
        Self { to: to.index(first_to..), from: &from[first_from..] }
    }

    /// Nanoseconds of one transfer by our own routine, complete at the other PE.
    fn ours<I: Strided + Order>(&self, token: &I, transfer: &Transfer) -> f64 {
        let one = || {
            let Transfer { blocks, block, to, from, .. } = *black_box(transfer);
            if block == 1 {
                token.iput(self.to, self.from, to, from, blocks);
            } else {
                token.ibput(self.to, self.from, to, from, block, blocks);
            }
            token.quiet();
        };
        // The caches belonged to somebody else, as they do for the peer.
        one();
        nanoseconds_each(TRANSFERS, || (0..TRANSFERS).for_each(|_| one()))
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

/// Doubles from `address` to the first place that lies `offset` bytes behind the start of a page.
const fn skip(address: usize, offset: usize) -> usize {
    (PAGE + offset - address % PAGE) % PAGE / size_of::<f64>()
}

/// What came out for one transfer.
#[derive(Debug)]
pub struct Comparison {
    /// The peer's call.
    pub operation: Operation,
    /// What was transferred.
    pub transfer: Transfer,
    /// Pairs of our time and the peer's, in nanoseconds of one transfer; or why there are none.
    pub samples: Result<Samples, PeerError>,
}

impl Comparison {
    /// The name of the case: `mpi/column/128`.
    pub fn case(&self) -> String {
        format!("{}/{}", self.operation.name(), self.transfer.name)
    }
}

/// Compares all transfers that the peer's calls do in one go with our own routines, each complete at its
/// destination, in turn. It ends early if the peer does.
pub fn compare<I: Strided + Order>(
    token: &I,
    arrays: Arrays<'_>,
    peer: &mut Running,
    repetitions: usize,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    let whose = peer.peer();
    for operation in Operation::ALL.into_iter().filter(|operation| operation.peer() == whose) {
        for transfer in Transfer::ALL.into_iter().filter(|transfer| operation.fits(transfer)) {
            let ours = || arrays.ours(token, &transfer);
            let samples = against(peer, operation, &transfer, repetitions, ours);
            let lost = samples.as_ref().is_err_and(PeerError::is_final);
            comparisons.push(Comparison { operation, transfer, samples });
            if lost {
                return comparisons;
            }
        }
    }
    comparisons
}

/// Takes pairs of a time of ours and the peer's, in turn.
fn against(
    peer: &mut Running,
    operation: Operation,
    transfer: &Transfer,
    repetitions: usize,
    ours: impl FnMut() -> f64,
) -> Result<Samples, PeerError> {
    peer.check(operation, transfer)?;
    let mut failed = None;
    let theirs = || match failed {
        Some(_) => f64::NAN,
        None => peer.sample(operation, transfer).unwrap_or_else(|error| {
            failed = Some(error);
            f64::NAN
        }),
    };
    let samples = Samples::alternate(repetitions, ours, theirs);
    failed.map_or(Ok(samples), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_where_they_should_in_a_page() {
        for address in (8 << 20..(8 << 20) + 2 * PAGE).step_by(8) {
            for offset in [0, SOURCE_OFFSET] {
                let start = address + 8 * skip(address, offset);
                assert_eq!(start % PAGE, offset);
                assert!(start - address < PAGE);
            }
        }
        assert!(Arrays::DOUBLES > 1023 * 1032 + PAGE / 8);
    }
}
