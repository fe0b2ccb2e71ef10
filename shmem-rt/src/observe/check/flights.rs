//! Buffers of this PE that a transfer may still read or write.

use shmem_core::observe::Family;

use super::blocks::Blocks;
use crate::caller::Caller;

/// The side of this PE of a transfer that may be under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) family: Family,
    pub(super) caller: Caller,
    pub(super) endpoint: u32,
    /// The number of the PE at the other end.
    pub(super) pe: usize,
    /// Addresses.
    pub(super) blocks: Blocks,
    /// Whether it is written, not read.
    pub(super) writes: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Flights(Vec<Flight>);

impl Flights {
    /// The transfer that an access to these bytes, a write or not, comes too early for.
    pub(super) fn conflict(&self, blocks: &Blocks, writes: bool) -> Option<&Flight> {
        self.0.iter().find(|flight| (flight.writes || writes) && flight.blocks.overlaps(blocks))
    }

    pub(super) fn add(&mut self, flight: Flight) {
        self.0.push(flight);
    }

    /// What an endpoint has under way to PEs is over.
    pub(super) fn quiet(&mut self, is_meant: impl Fn(u32, usize) -> bool) {
        self.0.retain(|flight| !is_meant(flight.endpoint, flight.pe));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_what_is_read_is_no_conflict() {
        let flight = |start, writes| Flight {
            family: Family::PutNbi,
            caller: Caller { file: "ring.rs", line: 1 },
            endpoint: 1,
            pe: 2,
            blocks: Blocks::range(start, 8),
            writes,
        };
        let mut flights = Flights::default();
        flights.add(flight(64, false));
        flights.add(flight(128, true));
        let at =
            |flights: &Flights, start, writes| flights.conflict(&Blocks::range(start, 8), writes).is_some();
        assert_eq!((at(&flights, 64, false), at(&flights, 64, true)), (false, true));
        assert_eq!((at(&flights, 128, false), at(&flights, 128, true)), (true, true));
        assert!(!at(&flights, 72, true));
        flights.quiet(|endpoint, pe| (endpoint, pe) == (1, 3));
        assert!(at(&flights, 64, true), "that was another PE");
        flights.quiet(|endpoint, _| endpoint == 1);
        assert!(!at(&flights, 64, true));
    }
}
