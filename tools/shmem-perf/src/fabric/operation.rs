//! What one PE does to another one: through the library, and by the bare program.

use std::hint::black_box;

use shmem_core::context::{Amo, NonBlocking, Order, Rma, Stores};
use shmem_core::object::{Atomic, On};

use super::{Lane, Peer, WORD_OPERATIONS};

/// One way of using memory of another PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Its name in cases: `put`, `get`, `put-rate`, `bandwidth`, or one of [`WORD_OPERATIONS`].
    pub(crate) name: &'static str,
    /// Bytes of each transfer.
    pub(crate) bytes: usize,
    /// Transfers between two quiets. Latencies are those with one in flight.
    pub(crate) in_flight: usize,
    /// Quiets in one sample: over a network some milliseconds.
    pub(crate) rounds: usize,
}

/// How much less is measured where figures do not count: tests want to see that all of it works.
pub(crate) const LESS: usize = if cfg!(debug_assertions) { 16 } else { 1 };

/// Nanoseconds that a sample is to take over a network, about.
pub(super) const TARGET: usize = 3_000_000;

/// What a transfer that is waited for takes, one among many, and a byte, about, in picoseconds: of TCP in one machine.
const LATENCY: usize = 20_000_000;
const GAP: usize = 6_000_000;
const BYTE: usize = 250;

/// Bytes of the memory that many transfers over a network go to in turn, of which the largest are of 1 MiB.
pub(super) const ROOM: usize = 8 << 20;

/// The operations of which a network's figures consist.
pub(crate) const OPERATIONS: [Operation; 8] = {
    const fn of(name: &'static str, bytes: usize, in_flight: usize, rounds: usize) -> Operation {
        Operation { name, bytes, in_flight, rounds: rounds.div_ceil(LESS) }
    }
    [
        of("put", 8, 1, 208),
        of("get", 8, 1, 208),
        of("fetch-add", 8, 1, 208),
        of("put-rate", 8, 64, 16),
        of("put", 64 << 10, 32, 4),
        of("put", 1 << 20, 8, 2),
        of("get", 64 << 10, 32, 4),
        of("get", 1 << 20, 8, 2),
    ]
};

impl Operation {
    /// Bytes of memory that the most hungry one needs over a network, and a page more for what PEs tell each other.
    pub(crate) const ROOM: usize = ROOM + (4 << 10);

    /// The usual micro-benchmarks over a network: latencies of puts, gets and atomic operations, and puts with 64 in flight.
    pub(crate) fn micro(sizes: &[usize]) -> Vec<Self> {
        let of = |name, in_flight| sizes.iter().map(move |&bytes| Self::timed(name, bytes, in_flight));
        let words = WORD_OPERATIONS.map(|name| Self::timed(name, 8, 1));
        of("put", 1).chain(of("get", 1)).chain(of("bandwidth", 64)).chain(words).collect()
    }

    /// As often as fills a sample over a network.
    pub(crate) fn timed(name: &'static str, bytes: usize, in_flight: usize) -> Self {
        let each = bytes * BYTE + if in_flight == 1 { LATENCY } else { GAP };
        let rounds = (TARGET * 1000 / (each * in_flight) / LESS).max(1);
        Self { name, bytes, in_flight, rounds }
    }

    /// Transfers of one sample.
    pub(crate) fn count(&self) -> usize {
        self.rounds * self.in_flight
    }

    /// The transfers of one sample through the library: to and from the first bytes of `place`, as many as there is `room` for,
    /// with `own` on this side. What is done is chosen before the first of them.
    pub(crate) fn through<I: Stores>(
        &self,
        token: &I,
        (place, room): (On<'_, [u8]>, usize),
        word: On<'_, Atomic<u64>>,
        own: &mut [u8],
    ) {
        let Self { name, bytes, in_flight, rounds } = *self;
        let (place, word, values) = (black_box(place), black_box(word), 0..rounds as u64);
        let slot = |k: usize| k * bytes % room..k * bytes % room + bytes;
        match (name, in_flight) {
            ("put", 1) => values.for_each(|_| {
                token.put(place.index(..bytes), black_box(&own[..bytes]));
                token.quiet();
            }),
            ("put-rate", _) => values.for_each(|_| {
                (0..in_flight).for_each(|k| token.put(place.index(slot(k)), &own[slot(k)]));
                token.quiet();
            }),
            ("get", 1) => values.for_each(|_| token.get(black_box(&mut own[..bytes]), place.index(..bytes))),
            ("get", _) => values.for_each(|_| {
                token.scope(|scope| {
                    let places = own[..bytes * in_flight].chunks_mut(bytes).enumerate();
                    places.for_each(|(k, into)| scope.get(into, place.index(slot(k))));
                });
            }),
            ("fetch-add", _) => values.for_each(|value| _ = black_box(token.fetch_add(word, value))),
            ("add", _) => values.for_each(|_| {
                (0..in_flight as u64).for_each(|value| token.add(word, value));
                token.quiet();
            }),
            ("swap", _) => values.for_each(|value| _ = black_box(token.swap(word, value))),
            ("compare-swap", _) => {
                values.for_each(|value| _ = black_box(token.compare_swap(word, value, value + 1)));
            }
            ("fetch", _) => values.for_each(|_| _ = black_box(token.fetch(word))),
            _ => values.for_each(|_| {
                token.scope(|scope| {
                    (0..in_flight).for_each(|k| scope.put(place.index(slot(k)), black_box(&own[slot(k)])));
                });
            }),
        }
    }

    /// The same by the bare program, between registered memory of `own` bytes on both sides.
    pub(crate) fn by_hand(&self, lane: &Lane, peer: &Peer) {
        let Self { name, bytes, in_flight, rounds } = *self;
        for _ in 0..rounds {
            for at in (0..in_flight).map(|k| k * bytes % ROOM) {
                match name {
                    "put" | "put-rate" | "bandwidth" => lane.put(peer, at, at, bytes),
                    "get" => lane.get(peer, at, at, bytes),
                    word => lane.atomic(word, peer, 0, 64),
                }
            }
            lane.quiet();
        }
    }
}
