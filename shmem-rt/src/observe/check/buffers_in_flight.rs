//! Buffers of this PE that incomplete transfers may still read or write.

use std::collections::VecDeque;

use super::blocks::Blocks;

/// Upper limit on the recorded buffers that transfers read, and on those that transfers write.
const MOST: usize = 256;

const LATEST: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// Index of the transfer's source line in `Body::sites`.
    pub(super) site: u32,
    pub(super) endpoint: u32,
    pub(super) pe: usize,
    pub(super) blocks: Blocks,
    pub(super) writes: bool,
}

#[derive(Debug, Default)]
pub(super) struct Flights {
    /// The latest buffers that transfers read, and the latest that transfers write.
    all: [VecDeque<Flight>; 2],
    /// Whether buffers of incomplete transfers were dropped, because the list was full.
    pub(super) is_short: bool,
}

impl Flights {
    pub(super) fn conflict(&self, blocks: &Blocks, writes: bool) -> Option<&Flight> {
        let others = if writes { &self.all[..] } else { &self.all[1..] };
        others.iter().flatten().find(|flight| flight.blocks.overlaps(blocks))
    }

    pub(super) fn add(&mut self, flight: Flight) {
        let all = &mut self.all[usize::from(flight.writes)];
        let of = |one: &Flight| (one.site, one.endpoint, one.pe);
        let mut latest = all.iter_mut().rev().take(LATEST).filter(|one| of(one) == of(&flight));
        if latest.any(|one| one.blocks.extend(&flight.blocks)) {
            return;
        }
        if all.len() == MOST {
            self.is_short = true;
            all.pop_front();
        }
        all.push_back(flight);
    }

    /// Removes the transfers for which `is_meant(endpoint, target PE)` is true, because they are complete.
    pub(super) fn quiet(&mut self, is_meant: impl Fn(u32, usize) -> bool) {
        self.all.iter_mut().for_each(|all| all.retain(|flight| !is_meant(flight.endpoint, flight.pe)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(start: usize, writes: bool) -> Flight {
        Flight { site: 1, endpoint: 1, pe: 2, blocks: Blocks::range(start, 8), writes }
    }

    #[test]
    fn a_loop_without_a_quiet_keeps_as_many_as_it_can() {
        let mut flights = Flights::default();
        (0..1000).for_each(|i| flights.add(flight(8 * i, true)));
        (0..1000).for_each(|_| flights.add(flight(0, true)));
        assert_eq!((flights.all[1].len(), flights.is_short), (1, false), "neighbours, and the same again");
        (0..2 * MOST).for_each(|i| flights.add(flight((1 << 20) + 32 * i, false)));
        assert_eq!((flights.all[0].len(), flights.is_short), (MOST, true));
        let at = |i: usize| flights.conflict(&Blocks::range((1 << 20) + 32 * i, 8), true).is_some();
        assert!(at(2 * MOST - 1) && at(MOST) && !at(MOST - 1), "the latest");
    }
}
