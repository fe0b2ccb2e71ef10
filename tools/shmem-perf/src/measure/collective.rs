//! What collectives cost: against what a machine needs for them at least, and against another library.

use shmem::prelude::*;

use super::{Measure, micro};
use crate::baseline::{self, FutexBarrier, LIMIT_WORDS, near, word_at};
use crate::bench::{Bench, Done, Task};
use crate::check::Guard;
use crate::peers::Peer;
use crate::samples::each;

pub(crate) const MEASURE: Measure = Measure {
    name: "collective",
    about: "Collectives, against a round trip of a cache line or memcpy; and in turn with those of Open MPI's OpenSHMEM where \
            it is installed",
    run: |runner, _| {
        runner.jobs(&COLLECTIVE, 2)?;
        runner.jobs(&COLLECTIVE, 4)?;
        micro::measure(runner, &[Peer::OshmemMicro], &BESIDE_A_PEER)
    },
    tasks: &[COLLECTIVE, BESIDE_A_PEER],
    rows: &[
        // Small ones: one meeting, and no more.
        "collective ** | operation/bytes/PEs | `barrier_all`, `broadcast` (each PE in turn), `sum`, `fcollect`, `alltoall` | 2 \
         PEs with a core each: a round trip of a cache line up to 64 bytes, else `memcpy` of what is read of the other PE; \
         PEs that share cores: a plain futex barrier | */..64/* 2.5",
        "collective-oshmem ** | operation/bytes/PEs | these collectives | those of Open MPI's OpenSHMEM, in turn, where `oshcc` and \
         `oshrun` are | */..64/* 1",
    ],
    guards: &[Guard::of(
        "collective",
        |runner| runner.jobs(&COLLECTIVE, 2),
        &["collective {broadcast,sum,fcollect,alltoall}/8/2 | 2 | goal x4"],
    )],
    ..Measure::PLAIN
};

const COLLECTIVE: Task = Task::near("collective", collectives);
const BESIDE_A_PEER: Task = Task::near("collective-peer", |bench| {
    let chosen = |case: micro::MicroCase| {
        let mut all = cases();
        all.any(|one| (one.operation, one.bytes) == (case.operation, case.bytes))
    };
    micro::in_turn(bench, chosen, |case, _| format!("collective-oshmem {}/2", case.name()), false)
});

/// Each case that fits the PEs.
fn collectives(bench: &mut Bench<'_>) -> Done {
    let (world, pes) = (bench.world, bench.world.n_pes());
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let bytes = world.alloc(zeroed::<u8>(1 << 20))?;
    let words = words.on(world.pe(0)?);
    let (line, barrier) = (word_at(world, words.index(0)), FutexBarrier::on(world, words));
    let from: *const u8 = near(bytes.on(bench.other()).ptr(world)).cast();
    let apart = pes == 2 && !bench.site.shared_cores;
    let mut data = Data::new(world, 0)?;
    for case in cases().filter(|case| apart || case.is_small()) {
        let times = match case.is_small() {
            _ if !apart => 20,
            true => 500,
            false => (4 << 20) / (case.bytes + 4096) / 4 + 4,
        };
        // What is read of others.
        let read = match case.operation {
            "broadcast" => case.bytes,
            _ => case.bytes * (pes - 1),
        };
        let mut into = vec![0_u8; read];
        let limit = || match (apart, case.is_small()) {
            (false, _) => each(times, || barrier.wait(pes as u32)),
            (true, true) => baseline::round_trip(line, world.my_pe() == 0, times),
            (true, false) => {
                let copies = each(times, || {
                    // SAFETY: the object has a mebibyte there, which nobody writes, and `into` fewer.
                    unsafe { baseline::memcpy(into.as_mut_ptr(), from, into.len()) };
                    std::hint::black_box(&mut into);
                });
                world.barrier_all();
                copies
            }
        };
        let name = format!("collective {}/{}/{pes}", case.operation, case.bytes);
        bench.pairs(name, || case.run(world, &mut data, times), limit);
    }
    Ok(())
}

/// A collective, as cases and requests to a peer name it: `barrier`; `broadcast`, from each PE in turn; `sum` of `f64`;
/// `fcollect`; `alltoall`.
pub(crate) const OPERATIONS: [&str; 5] = ["barrier", "broadcast", "sum", "fcollect", "alltoall"];

/// A collective and how much it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Collective {
    /// One of [`OPERATIONS`].
    pub(crate) operation: &'static str,
    /// Bytes that one PE contributes; of an alltoall, those for each PE.
    pub(crate) bytes: usize,
    /// Whether it works on symmetric objects, in place, and not on memory of the PEs' own.
    pub(crate) direct: bool,
}

/// All cases, none of which is direct.
pub(crate) fn cases() -> impl Iterator<Item = Collective> {
    OPERATIONS.into_iter().flat_map(|operation| {
        let sizes: &[usize] = match operation {
            "barrier" => &[0],
            "broadcast" | "sum" => &[8, 4 << 10, 64 << 10, 1 << 20],
            _ => &[8, 4 << 10, 64 << 10],
        };
        sizes.iter().map(move |&bytes| Collective { operation, bytes, direct: false })
    })
}

/// What collectives work on: memory of a PE's own, and symmetric objects.
pub(crate) struct Data {
    mine: Vec<f64>,
    all: Vec<f64>,
    objects: Option<[SymBox<[f64]>; 2]>,
}

impl Data {
    /// For all cases that are not direct, and direct ones whose objects have at most so many bytes. Collective.
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Result<Self> {
        let most = (1 << 20) / size_of::<f64>() * world.n_pes();
        let object = || world.alloc(zeroed::<f64>(bytes / size_of::<f64>()));
        let objects = if bytes > 0 { Some([object()?, object()?]) } else { None };
        Ok(Self { mine: vec![0.0; most], all: vec![0.0; most], objects })
    }
}

impl Collective {
    /// Whether it takes the time of messages, and not of copies.
    const fn is_small(self) -> bool {
        self.bytes <= 64
    }

    /// Elements that a PE contributes, and writes anew before each collective, as the peers do (`micro.h`): what never
    /// changes would lie in the caches of those who read it.
    pub(crate) fn written(self, pes: usize, is_root: bool) -> usize {
        let items = self.bytes / size_of::<f64>();
        match self.operation {
            "barrier" => 0,
            "broadcast" => items * usize::from(is_root),
            "alltoall" => items * pes,
            _ => items,
        }
    }

    /// Nanoseconds of one of `times` collectives of all PEs, which call it.
    pub(crate) fn run<L: ThreadLevel>(self, world: &World<L>, data: &mut Data, times: usize) -> f64 {
        let (pes, me, items) = (world.n_pes(), world.my_pe(), self.bytes / size_of::<f64>());
        let roots: Vec<_> = world.pes().iter().collect();
        let written = [false, true].map(|is_root| self.written(pes, is_root));
        let mut turn = 0;
        // In turn, so that each waits for the data of the one before: otherwise the root would run ahead.
        let mut next = || {
            turn += 1;
            let root = roots[turn % pes];
            (root, written[usize::from(root.number() == me)], (turn % 100) as u8)
        };
        let Some([given, taken]) = data.objects.as_ref().filter(|_| self.direct) else {
            let Data { mine, all, .. } = data;
            let given = if self.operation == "alltoall" { items * pes } else { items };
            // Words are compared outside of what is measured.
            let one: fn(&World<L>, &mut [f64], &mut [f64], Pe) = match self.operation {
                "barrier" => |world, _, _, _| world.barrier_all(),
                "broadcast" => |world, mine, _, root| world.broadcast(mine, root),
                "sum" => |world, mine, _, _| world.sum(mine),
                "fcollect" => |world, mine, all, _| world.fcollect(&*mine, all),
                _ => |world, mine, all, _| world.alltoall(&*mine, all),
            };
            return timed(world, times, || {
                let (root, written, byte) = next();
                bytemuck::cast_slice_mut(&mut mine[..written]).fill(byte);
                one(world, &mut mine[..given], &mut all[..items * pes], root);
            });
        };
        let (whole, all) = (given.here(world).index(..items * pes), taken.here(world).index(..items * pes));
        let one = given.here(world).index(..items);
        let own = near(given.on(roots[me]).index(..items * pes).ptr(world)).cast::<f64>();
        timed(world, times, || {
            let (root, written, byte) = next();
            // SAFETY: the own copy has as many elements, of which any bytes are a value; other PEs read and write them
            // in collectives, between the meetings of which this PE is in one as well.
            unsafe { own.write_bytes(byte, written) };
            match self.operation {
                "broadcast" => world.broadcast(one, root),
                "sum" => world.sum(one),
                "fcollect" => world.fcollect(&one, all),
                _ => world.alltoall(&whole, all),
            }
        })
    }
}

/// Nanoseconds of one of so many. The PEs come together before, and the caches belonged to somebody else.
fn timed<L: ThreadLevel>(world: &World<L>, times: usize, mut collective: impl FnMut()) -> f64 {
    (0..4).for_each(|_| collective());
    world.barrier_all();
    each(times, collective)
}
