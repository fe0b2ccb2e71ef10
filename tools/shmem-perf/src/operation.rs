//! Operations through the library, for measures beside other libraries and over networks: transfers, atomics, collectives.

use std::hint::black_box;

use shmem::prelude::*;

use crate::baseline::near;
use crate::samples::each;
use crate::sheet::sizes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Name in cases: for example `put`, `put-rate`, `bandwidth`, an atomic operation, or a [collective](is_collective).
    pub(crate) name: &'static str,
    /// Bytes of each transfer, or of a PE's contribution to a collective (to an alltoall: for each PE).
    pub(crate) bytes: usize,
    /// Number of transfers between two quiets. 1 measures the latency of blocking transfers.
    pub(crate) in_flight: usize,
    /// Number of quiets, or of collectives.
    pub(crate) rounds: usize,
}

/// Divisor of repetitions. It is large in a debug build, which only tests the tool.
pub(crate) const LESS: usize = if cfg!(debug_assertions) { 16 } else { 1 };

/// Bytes of the destination of many transfers over a network. A transfer has at most 1 MiB.
pub(crate) const ROOM: usize = 8 << 20;

pub(crate) fn operations() -> Vec<Operation> {
    let of = |(name, of): (_, Vec<usize>)| Operation { name, bytes: of[0], in_flight: of[1], rounds: of[2] };
    sizes("ofi", "operations").map(of).collect()
}

/// Returns whether a name is that of a collective. `broadcast` has each PE in turn as root; `sum` is of `f64`. With the ending
/// `-direct`, a collective is on symmetric objects instead of private memory. Requests to a peer omit this ending.
pub(crate) fn is_collective(name: &str) -> bool {
    ["barrier", "broadcast", "sum", "fcollect", "alltoall"].contains(&name.trim_end_matches("-direct"))
}

impl Operation {
    /// Returns an operation with as many repetitions as take some milliseconds over TCP on one machine. The constants are estimates
    /// in picoseconds: of a byte, of a blocking transfer, of one of many transfers in flight.
    pub(crate) fn timed(name: &'static str, bytes: usize, in_flight: usize) -> Self {
        let byte = if is_collective(name) { 500 } else { 250 };
        let each = bytes * byte + if in_flight == 1 { 20_000_000 } else { 6_000_000 };
        Self { name, bytes, in_flight, rounds: (3_000_000_000 / (each * in_flight)).max(1) }
    }

    pub(crate) fn count(self) -> usize {
        self.rounds * self.in_flight
    }

    /// Performs the transfers of a sample between `own` and the first `room` bytes of `place`. The match on the name is outside of
    /// all loops.
    pub(crate) fn through<I: Stores>(
        self,
        token: &I,
        (place, room): (On<'_, [u8]>, usize),
        word: On<'_, Atomic<u64>>,
        own: &mut [u8],
    ) {
        let Self { name, bytes, in_flight, rounds } = self;
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

    pub(crate) fn is_direct(self) -> bool {
        self.name.ends_with("-direct")
    }

    /// Returns the name without the ending `-direct`.
    pub(crate) fn kind(self) -> &'static str {
        self.name.trim_end_matches("-direct")
    }

    /// Returns how many elements a PE contributes to a collective. The PE rewrites them before each collective, as peers do
    /// (`micro.h`), because constant data would stay in the caches of the readers.
    pub(crate) fn written(self, pes: usize, is_root: bool) -> usize {
        let items = self.bytes / size_of::<f64>();
        match self.kind() {
            "barrier" => 0,
            "broadcast" => items * usize::from(is_root),
            "alltoall" => items * pes,
            _ => items,
        }
    }

    pub(crate) fn together<L: ThreadLevel>(self, world: &World<L>, data: &mut Data) -> f64 {
        let (pes, me, items, kind) =
            (world.n_pes(), world.my_pe(), self.bytes / size_of::<f64>(), self.kind());
        let roots: Vec<_> = world.pes().iter().collect();
        let written = [false, true].map(|is_root| self.written(pes, is_root));
        let mut turn = 0;
        // Each PE is root in turn, because a constant root would run ahead of the other PEs.
        let mut next = || {
            turn += 1;
            let root = roots[turn % pes];
            (root, written[usize::from(root.number() == me)], (turn % 100) as u8)
        };
        let Some([given, taken]) = data.objects.as_ref().filter(|_| self.is_direct()) else {
            let Data { mine, all, .. } = data;
            let given = if kind == "alltoall" { items * pes } else { items };
            // The name is compared here, outside of the measured loop.
            let one: fn(&World<L>, &mut [f64], &mut [f64], Pe) = match kind {
                "barrier" => |world, _, _, _| world.barrier_all(),
                "broadcast" => |world, mine, _, root| world.broadcast(mine, root),
                "sum" => |world, mine, _, _| world.sum(mine),
                "fcollect" => |world, mine, all, _| world.fcollect(&*mine, all),
                _ => |world, mine, all, _| world.alltoall(&*mine, all),
            };
            return timed(world, self.rounds, || {
                let (root, written, byte) = next();
                bytemuck::cast_slice_mut(&mut mine[..written]).fill(byte);
                one(world, &mut mine[..given], &mut all[..items * pes], root);
            });
        };
        let (whole, all) = (given.here(world).index(..items * pes), taken.here(world).index(..items * pes));
        let one = given.here(world).index(..items);
        let own = near(given.on(roots[me]).index(..items * pes).ptr(world)).cast::<f64>();
        timed(world, self.rounds, || {
            let (root, written, byte) = next();
            // SAFETY: this PE's copy has at least `written` elements, for which any bytes are valid. Other PEs access it only in
            // collectives in which this PE takes part, and none is running now.
            unsafe { own.write_bytes(byte, written) };
            match kind {
                "broadcast" => world.broadcast(one, root),
                "sum" => world.sum(one),
                "fcollect" => world.fcollect(&one, all),
                _ => world.alltoall(&whole, all),
            }
        })
    }
}

/// Returns the mean nanoseconds of a collective. Untimed calls first warm the caches, and then a barrier aligns the PEs.
fn timed<L: ThreadLevel>(world: &World<L>, rounds: usize, mut collective: impl FnMut()) -> f64 {
    (0..4).for_each(|_| collective());
    world.barrier_all();
    each(rounds, collective)
}

pub(crate) struct Data {
    mine: Vec<f64>,
    all: Vec<f64>,
    objects: Option<[SymBox<[f64]>; 2]>,
}

impl Data {
    /// Allocates data for collectives on private memory, and two objects of `bytes` bytes for direct collectives. Collective.
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Result<Self> {
        let most = (1 << 20) / size_of::<f64>() * world.n_pes();
        let object = || world.alloc(zeroed::<f64>(bytes / size_of::<f64>()));
        let objects = if bytes > 0 { Some([object()?, object()?]) } else { None };
        Ok(Self { mine: vec![0.0; most], all: vec![0.0; most], objects })
    }
}
