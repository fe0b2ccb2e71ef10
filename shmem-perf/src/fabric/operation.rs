//! What is measured: an operation, through the library and by the bare program.

use shmem_core::context::{Amo, NonBlocking, Order, Rma, Stores};
use shmem_core::object::{Atomic, On};

use super::{Lane, Peer};

/// One way of using a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name in cases: `put`.
    pub name: &'static str,
    /// What it does, in words.
    pub does: &'static str,
    kind: Kind,
    /// Bytes of each transfer.
    pub bytes: usize,
    /// Transfers between two quiets.
    pub in_flight: usize,
    /// Quiets in one sample: some milliseconds.
    rounds: usize,
}

/// How much less is measured where figures do not count: tests want to see that all of it works.
pub(super) const LESS: usize = if cfg!(debug_assertions) { 16 } else { 1 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Put,
    PutNbi,
    Get,
    GetNbi,
    FetchAdd,
}

/// The operations of which a network's figures consist. Latencies are those with one in flight.
pub const OPERATIONS: [Operation; 8] = [
    Operation::latency("put", "a put and its quiet", Kind::Put),
    Operation::latency("get", "a get", Kind::Get),
    Operation::latency("fetch-add", "a fetch-add", Kind::FetchAdd),
    Operation::stream("put-rate", "puts with 64 in flight", Kind::Put, 8, 64, 16),
    Operation::stream("put", "non-blocking puts with 32 in flight", Kind::PutNbi, 64 << 10, 32, 4),
    Operation::stream("put", "non-blocking puts with 8 in flight", Kind::PutNbi, 1 << 20, 8, 2),
    Operation::stream("get", "non-blocking gets with 32 in flight", Kind::GetNbi, 64 << 10, 32, 4),
    Operation::stream("get", "non-blocking gets with 8 in flight", Kind::GetNbi, 1 << 20, 8, 2),
];

impl Operation {
    const fn latency(name: &'static str, does: &'static str, kind: Kind) -> Self {
        Self { name, does, kind, bytes: 8, in_flight: 1, rounds: 208 / LESS }
    }

    const fn stream(
        name: &'static str,
        does: &'static str,
        kind: Kind,
        bytes: usize,
        in_flight: usize,
        rounds: usize,
    ) -> Self {
        let rounds = rounds.div_ceil(LESS);
        Self { name, does, kind, bytes, in_flight, rounds }
    }

    /// Whether each transfer is waited for.
    pub fn is_latency(&self) -> bool {
        self.in_flight == 1
    }

    /// Bytes of memory that the most hungry one needs.
    pub fn room() -> usize {
        OPERATIONS.iter().map(|operation| operation.bytes * operation.in_flight).max().unwrap_or(0)
    }

    /// Transfers of one sample.
    pub fn count(&self) -> usize {
        self.rounds * self.in_flight
    }

    /// The transfers of one sample through the library: to and from `place`, with `own` on this side.
    ///
    /// # Panics
    ///
    /// If either is shorter than what is in flight.
    pub fn through<I: Stores>(
        &self,
        token: &I,
        place: On<'_, [u8]>,
        word: On<'_, Atomic<u64>>,
        own: &mut [u8],
    ) {
        let Self { bytes, in_flight, .. } = *self;
        let at = |k: usize| place.index(k * bytes..(k + 1) * bytes);
        for _ in 0..self.rounds {
            match self.kind {
                Kind::Put => {
                    own[..bytes * in_flight]
                        .chunks(bytes)
                        .enumerate()
                        .for_each(|(k, source)| token.put(at(k), source));
                    token.quiet();
                }
                Kind::PutNbi => token.scope(|scope| {
                    let sources = own[..bytes * in_flight].chunks(bytes).enumerate();
                    sources.for_each(|(k, source)| scope.put(at(k), source));
                }),
                Kind::Get => token.get(&mut own[..bytes], at(0)),
                Kind::GetNbi => token.scope(|scope| {
                    let places = own[..bytes * in_flight].chunks_mut(bytes).enumerate();
                    places.for_each(|(k, into)| scope.get(into, at(k)));
                }),
                Kind::FetchAdd => _ = token.fetch_add(word, 1),
            }
        }
    }

    /// The same by the bare program, between registered memory of `own` bytes on both sides.
    ///
    /// # Panics
    ///
    /// If there is less than what is in flight, or the provider fails.
    pub fn by_hand(&self, lane: &Lane, peer: &Peer) {
        let Self { bytes, in_flight, .. } = *self;
        for _ in 0..self.rounds {
            for k in 0..in_flight {
                match self.kind {
                    Kind::Put | Kind::PutNbi => lane.put(peer, k * bytes, k * bytes, bytes),
                    Kind::Get | Kind::GetNbi => lane.get(peer, k * bytes, k * bytes, bytes),
                    Kind::FetchAdd => lane.fetch_add(peer, 0, 64),
                }
            }
            lane.quiet();
        }
    }
}
