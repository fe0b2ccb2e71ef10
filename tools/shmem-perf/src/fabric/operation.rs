//! What is measured: an operation, through the library and by the bare program.

use shmem_core::context::{Amo, NonBlocking, Order, Rma, Stores};
use shmem_core::object::{Atomic, On};

use super::{AtomicKind, Lane, Peer};
use crate::name::words;

words! {
    /// How an operation is called in cases.
    OperationName {
        Put = "put", Get = "get", FetchAdd = "fetch-add", PutRate = "put-rate", Bandwidth = "bandwidth", Add = "add",
        Swap = "swap", CompareSwap = "compare-swap",
    }
}

/// One way of using a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name in cases.
    pub name: OperationName,
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
    Atomic(AtomicKind),
}

/// Nanoseconds that a sample is to take, about.
pub(super) const TARGET: usize = 3_000_000;

/// What a transfer that is waited for takes, one among many, and a byte, about, in picoseconds: of TCP in one machine.
const LATENCY: usize = 20_000_000;
const GAP: usize = 6_000_000;
const BYTE: usize = 250;

/// Transfers of a window.
const WINDOW: usize = 64;

/// Bytes of the largest transfers, and of the memory that many of them go to in turn.
const LARGEST: usize = 1 << 20;
const ROOM: usize = 8 << 20;
const PAGE: usize = 4 << 10;

/// The operations of which a network's figures consist. Latencies are those with one in flight.
pub const OPERATIONS: [Operation; 8] = [
    Operation::latency(OperationName::Put, "a put and its quiet", Kind::Put),
    Operation::latency(OperationName::Get, "a get", Kind::Get),
    Operation::latency(OperationName::FetchAdd, "a fetch-add", Kind::Atomic(AtomicKind::FetchAdd)),
    Operation::stream(OperationName::PutRate, "puts with 64 in flight", Kind::Put, 8, 64, 16),
    Operation::stream(
        OperationName::Put,
        "non-blocking puts with 32 in flight",
        Kind::PutNbi,
        64 << 10,
        32,
        4,
    ),
    Operation::stream(OperationName::Put, "non-blocking puts with 8 in flight", Kind::PutNbi, 1 << 20, 8, 2),
    Operation::stream(
        OperationName::Get,
        "non-blocking gets with 32 in flight",
        Kind::GetNbi,
        64 << 10,
        32,
        4,
    ),
    Operation::stream(OperationName::Get, "non-blocking gets with 8 in flight", Kind::GetNbi, 1 << 20, 8, 2),
];

impl Operation {
    const fn latency(name: OperationName, does: &'static str, kind: Kind) -> Self {
        Self { name, does, kind, bytes: 8, in_flight: 1, rounds: 208 / LESS }
    }

    const fn stream(
        name: OperationName,
        does: &'static str,
        kind: Kind,
        bytes: usize,
        in_flight: usize,
        rounds: usize,
    ) -> Self {
        let rounds = rounds.div_ceil(LESS);
        Self { name, does, kind, bytes, in_flight, rounds }
    }

    /// The usual micro-benchmarks that one PE does to another one: latencies of puts, gets and atomic operations, and puts
    /// with 64 in flight, for 1 byte to 1 MiB; `few`: for some sizes between.
    pub fn micro(few: bool) -> Vec<Self> {
        let sizes = Self::sizes(few);
        let of = |one: fn(usize) -> Self| sizes.iter().map(move |&bytes| one(bytes));
        of(Self::put).chain(of(Self::get)).chain(of(Self::bandwidth)).chain(Self::atomics()).collect()
    }

    /// Bytes of what is measured by size.
    pub fn sizes(few: bool) -> Vec<usize> {
        let powers = if few { 3 } else { 1 };
        let sizes = (0..=LARGEST.trailing_zeros()).rev().step_by(powers).map(|power| 1 << power);
        let mut sizes: Vec<usize> = sizes.chain(few.then_some(8)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// A put of so many bytes and its quiet.
    pub fn put(bytes: usize) -> Self {
        Self::timed(OperationName::Put, "a put and its quiet", Kind::Put, bytes, 1)
    }

    fn get(bytes: usize) -> Self {
        Self::timed(OperationName::Get, "a get", Kind::Get, bytes, 1)
    }

    /// Non-blocking puts of so many bytes, and a quiet for each window of them.
    pub fn bandwidth(bytes: usize) -> Self {
        Self::timed(
            OperationName::Bandwidth,
            "non-blocking puts with 64 in flight",
            Kind::PutNbi,
            bytes,
            WINDOW,
        )
    }

    fn atomics() -> [Self; 4] {
        use AtomicKind::{Add, CompareSwap, FetchAdd, Swap};
        [
            (OperationName::FetchAdd, "a fetch-add", FetchAdd),
            (OperationName::Add, "an add and its quiet", Add),
            (OperationName::Swap, "a swap", Swap),
            (OperationName::CompareSwap, "a compare-swap", CompareSwap),
        ]
        .map(|(name, does, kind)| Self::timed(name, does, Kind::Atomic(kind), 8, 1))
    }

    /// As often as fills a sample.
    fn timed(name: OperationName, does: &'static str, kind: Kind, bytes: usize, in_flight: usize) -> Self {
        let each = bytes * BYTE + if in_flight == 1 { LATENCY } else { GAP };
        let rounds = (TARGET * 1000 / (each * in_flight) / LESS).max(1);
        Self { name, does, kind, bytes, in_flight, rounds }
    }

    /// Whether each transfer is waited for.
    pub fn is_latency(&self) -> bool {
        self.in_flight == 1
    }

    /// Bytes of memory that the most hungry one needs, and a page more for what PEs tell each other.
    pub fn room() -> usize {
        ROOM + PAGE
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
        let slots = ROOM / bytes;
        let slot = |k: usize| k % slots * bytes..(k % slots + 1) * bytes;
        for _ in 0..self.rounds {
            match self.kind {
                Kind::Put => {
                    (0..in_flight).for_each(|k| token.put(place.index(slot(k)), &own[slot(k)]));
                    token.quiet();
                }
                Kind::PutNbi => token.scope(|scope| {
                    (0..in_flight).for_each(|k| scope.put(place.index(slot(k)), &own[slot(k)]));
                }),
                Kind::Get => token.get(&mut own[..bytes], place.index(slot(0))),
                Kind::GetNbi => token.scope(|scope| {
                    let places = own[..bytes * in_flight].chunks_mut(bytes).enumerate();
                    places.for_each(|(k, into)| scope.get(into, place.index(slot(k))));
                }),
                Kind::Atomic(AtomicKind::FetchAdd) => _ = token.fetch_add(word, 1),
                Kind::Atomic(AtomicKind::Add) => {
                    token.add(word, 1);
                    token.quiet();
                }
                Kind::Atomic(AtomicKind::Swap) => _ = token.swap(word, 1),
                Kind::Atomic(AtomicKind::CompareSwap) => _ = token.compare_swap(word, 1, 1),
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
        let slots = ROOM / bytes;
        for _ in 0..self.rounds {
            for at in (0..in_flight).map(|k| k % slots * bytes) {
                match self.kind {
                    Kind::Put | Kind::PutNbi => lane.put(peer, at, at, bytes),
                    Kind::Get | Kind::GetNbi => lane.get(peer, at, at, bytes),
                    Kind::Atomic(kind) => lane.atomic(kind, peer, 0, 64),
                }
            }
            lane.quiet();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_from_a_byte_to_a_mebibyte() {
        let all = Operation::sizes(false);
        assert_eq!((all.len(), all[0], all[20]), (21, 1, 1 << 20));
        assert_eq!(Operation::sizes(true), [4, 8, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20]);
    }

    #[test]
    fn what_is_in_flight_has_room_and_each_sample_an_operation() {
        for operation in OPERATIONS.into_iter().chain(Operation::micro(false)) {
            assert!(operation.count() >= operation.in_flight && operation.bytes <= ROOM, "{operation:?}");
            let gets = operation.kind == Kind::GetNbi;
            assert!(!gets || operation.bytes * operation.in_flight <= ROOM, "{operation:?}");
        }
    }
}
