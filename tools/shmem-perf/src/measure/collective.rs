//! What collectives cost: against what a machine needs for them at least, and against another library.

use shmem::prelude::*;

use super::{At, Cases, Measure, row};
use crate::baseline::{self, FutexBarrier, LIMIT_WORDS, near, word_at};
use crate::bench::{Bench, Records};
use crate::check::{Bound, Guard, held_by_two};
use crate::goal::Goal;
use crate::peers::{PATIENCE, Peer, Request};
use crate::samples::{Samples, nanoseconds_each};
use crate::task::Task;

pub(crate) const MEASURE: Measure = Measure {
    name: "collective",
    about: "Collectives, against a round trip of a cache line or memcpy; and in turn with those of Open MPI's OpenSHMEM where \
            it is installed",
    run: |runner, _| {
        runner.jobs(&COLLECTIVE, 2)?;
        runner.jobs(&COLLECTIVE, 4)?;
        let Some(programs) = runner.programs(&[Peer::OshmemMicro], PATIENCE)? else { return Ok(()) };
        runner.repeat(&runner.job(&BESIDE_A_PEER, 2, &[]).beside(&programs))
    },
    tasks: &[COLLECTIVE, BESIDE_A_PEER],
    rows: ROWS,
    guards: &[Guard::of(
        "collective",
        |runner| runner.jobs(&COLLECTIVE, 2),
        || {
            let small = |operation| held_by_two(&format!("collective {operation}/8/2"), Bound::Eased(4.0));
            ["broadcast", "sum", "fcollect", "alltoall"].map(small).into()
        },
    )],
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("collective | operation/bytes/PEs | `barrier_all`, `broadcast` (each PE in turn), `sum`, `fcollect`, `alltoall` | 2 \
         PEs with a core each: a round trip of a cache line up to 64 bytes, else `memcpy` of what is read of the other PE; \
         PEs that share cores: a plain futex barrier",
        // Small ones: one meeting, and no more.
         &[("collective */..64/*", At::Anywhere, Goal::Ratio(2.5))]),
    row("collective-oshmem | operation/bytes/PEs | the same | those of Open MPI's OpenSHMEM, in turn, where `oshcc` and \
         `oshrun` are", &[("collective-oshmem */..64/*", At::Anywhere, Goal::Ratio(1.0))]),
];

const COLLECTIVE: Task = Task::near("collective", collectives);
const BESIDE_A_PEER: Task = Task::near("collective-peer", beside_a_peer);

/// Each case that fits the PEs.
fn collectives(bench: &mut Bench<'_>) -> Records {
    let (world, repetitions, pes) = (bench.world, bench.repetitions, bench.world.n_pes());
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let bytes = world.alloc(zeroed::<u8>(1 << 20))?;
    let words = words.on(world.pe(0)?);
    let (line, barrier, first) =
        (word_at(world, words.index(0)), FutexBarrier::on(world, words), world.my_pe() == 0);
    let from: *const u8 = near(bytes.on(bench.other()).ptr(world)).cast();
    let mut buffers = Buffers::new(pes);
    let mut records = Vec::new();
    for case in cases() {
        let apart = pes == 2 && !bench.site.shared_cores;
        let times = if apart { case.times() } else { 20 };
        let mut into = vec![0_u8; case.read(pes)];
        let limit = || match (apart, case.is_small()) {
            (false, _) => nanoseconds_each(times, || (0..times).for_each(|_| barrier.wait(pes as u32))),
            (true, true) => nanoseconds_each(times, || baseline::round_trips(line, first, times as u64)),
            (true, false) => {
                let copies = nanoseconds_each(times, || {
                    for _ in 0..times {
                        // SAFETY: the object has a mebibyte there, which nobody writes, and `into` fewer.
                        unsafe { baseline::memcpy(into.as_mut_ptr(), from, into.len()) };
                        std::hint::black_box(&mut into);
                    }
                });
                world.barrier_all();
                copies
            }
        };
        if !apart && !case.is_small() {
            continue;
        }
        let samples = Samples::alternate(repetitions, || run(world, case, &mut buffers, times), limit);
        let compared = match apart {
            true => {
                "a collective, against a round trip of a cache line (up to 64 bytes), or memcpy of what is read of the other PE; time for each"
            }
            false => "a collective, against a plain futex barrier of as many processes; time for each",
        };
        records.push(bench.record(&format!("collective {}", case.name(pes)), compared, samples));
    }
    Ok(records)
}

/// Our collectives against theirs. PE 0 brings the peer.
fn beside_a_peer(bench: &mut Bench<'_>) -> Records {
    let (world, repetitions) = (bench.world, bench.repetitions);
    let mut peer = bench.beside.pop();
    let library = peer.as_ref().map_or_else(String::new, |peer| peer.library().to_owned());
    let compared = format!("a collective, against that of {library}; time for each");
    let (mut records, mut buffers) = (Vec::new(), Buffers::new(world.n_pes()));
    for case in cases() {
        let name = format!("collective-oshmem {}", case.name(2));
        let refused = peer.as_mut().and_then(|peer| peer.check(&case.request()).err());
        // Both PEs measure it, or none.
        let mut works = u8::from(refused.is_none() && (world.my_pe() != 0 || peer.is_some()));
        world.min(&mut works);
        let ours = || run(world, case, &mut buffers, case.times());
        let samples = match (&mut peer, refused) {
            (_, Some(reason)) => Err(reason),
            _ if works == 0 => continue,
            (Some(peer), None) => peer.against(&case.request(), repetitions, ours),
            (None, None) => {
                // This PE sleeps in the next collective of ours while the peer is measured.
                Samples::alternate(repetitions, ours, || 1.0);
                continue;
            }
        };
        match samples {
            Ok(samples) => records.push(bench.record(&name, &compared, samples)),
            Err(reason) => {
                peer = peer.filter(|_| !reason.is_final());
                bench.fail(&name, Peer::OshmemMicro, reason);
            }
        }
    }
    Ok(records)
}

/// A collective, as cases and requests to a peer name it: `barrier`; `broadcast`, from each PE in turn; `sum` of `f64`;
/// `fcollect`; `alltoall`.
pub(crate) const OPERATIONS: [&str; 5] = ["barrier", "broadcast", "sum", "fcollect", "alltoall"];

/// A collective and how much it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CollectiveCase {
    /// One of [`OPERATIONS`].
    pub(crate) operation: &'static str,
    /// Bytes that one PE contributes; of an alltoall, those for each PE.
    pub(crate) bytes: usize,
}

/// All cases.
pub(crate) fn cases() -> impl Iterator<Item = CollectiveCase> {
    OPERATIONS.into_iter().flat_map(|operation| {
        let sizes: &[usize] = match operation {
            "barrier" => &[0],
            "broadcast" | "sum" => &[8, 4 << 10, 64 << 10, 1 << 20],
            _ => &[8, 4 << 10, 64 << 10],
        };
        sizes.iter().map(move |&bytes| CollectiveCase { operation, bytes })
    })
}

impl CollectiveCase {
    /// The name of the case on so many PEs: `sum/8/2`.
    fn name(self, pes: usize) -> String {
        format!("{}/{}/{pes}", self.operation, self.bytes)
    }

    /// Whether it takes the time of messages, and not of copies.
    const fn is_small(self) -> bool {
        self.bytes <= 64
    }

    /// Collectives in one sample.
    const fn times(self) -> usize {
        if self.is_small() { 500 } else { (4 << 20) / (self.bytes + 4096) / 4 + 4 }
    }

    /// Bytes that a PE reads of others.
    fn read(self, pes: usize) -> usize {
        match self.operation {
            "barrier" => 0,
            "broadcast" => self.bytes,
            _ => self.bytes * (pes - 1),
        }
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

    /// What asks a peer for it, on two PEs.
    pub(crate) fn request(self) -> Request {
        let numbers = format!("{} {}", self.bytes, self.times());
        Request { case: self.name(2), operation: self.operation, numbers }
    }
}

/// What collectives work on.
pub(crate) struct Buffers {
    mine: Vec<f64>,
    all: Vec<f64>,
}

impl Buffers {
    /// For all cases, on so many PEs.
    pub(crate) fn new(pes: usize) -> Self {
        let most = (1 << 20) / size_of::<f64>() * pes;
        Self { mine: vec![0.0; most], all: vec![0.0; most] }
    }
}

/// Nanoseconds of one of `times` collectives of all PEs, which call it.
pub(crate) fn run<L: ThreadLevel>(
    world: &World<L>,
    case: CollectiveCase,
    buffers: &mut Buffers,
    times: usize,
) -> f64 {
    let (pes, items) = (world.n_pes(), case.bytes / size_of::<f64>());
    let Buffers { mine, all } = buffers;
    let roots: Vec<_> = world.pes().iter().collect();
    let mut turn = 0;
    // Words are compared outside of what is measured.
    let one: fn(&World<L>, &mut [f64], &mut [f64], Pe) = match case.operation {
        "barrier" => |world, _, _, _| world.barrier_all(),
        "broadcast" => |world, mine, _, root| world.broadcast(mine, root),
        "sum" => |world, mine, _, _| world.sum(mine),
        "fcollect" => |world, mine, all, _| world.fcollect(&*mine, all),
        _ => |world, mine, all, _| world.alltoall(&*mine, all),
    };
    let given = if case.operation == "alltoall" { items * pes } else { items };
    let written = [false, true].map(|is_root| case.written(pes, is_root));
    let mut one = || {
        turn += 1;
        // In turn, so that each waits for the data of the one before: otherwise the root would run ahead.
        let root = roots[turn % pes];
        let written = written[usize::from(root.number() == world.my_pe())];
        bytemuck::cast_slice_mut(&mut mine[..written]).fill((turn % 100) as u8);
        one(world, &mut mine[..given], &mut all[..items * pes], root);
    };
    // The PEs come together, and the caches belonged to somebody else.
    (0..4).for_each(|_| one());
    world.barrier_all();
    nanoseconds_each(times, || (0..times).for_each(|_| one()))
}

/// The same on symmetric objects of as many elements as [`Buffers`], in place.
pub(crate) fn run_direct<L: ThreadLevel>(
    world: &World<L>,
    case: CollectiveCase,
    (given, taken): (&SymBox<[f64]>, &SymBox<[f64]>),
    times: usize,
) -> f64 {
    let (pes, me, items) = (world.n_pes(), world.my_pe(), case.bytes / size_of::<f64>());
    let roots: Vec<_> = world.pes().iter().collect();
    let (whole, all) = (given.here(world).index(..items * pes), taken.here(world).index(..items * pes));
    let one = given.here(world).index(..items);
    let own = near(given.on(roots[me]).index(..items * pes).ptr(world)).cast::<f64>();
    let written = [false, true].map(|is_root| case.written(pes, is_root));
    let mut turn = 0;
    let mut collective = || {
        turn += 1;
        let root = roots[turn % pes];
        let written = written[usize::from(root.number() == me)];
        // SAFETY: the own copy has as many elements, of which any bytes are a value; other PEs read and write them
        // in collectives, between the meetings of which this PE is in one as well.
        unsafe { own.write_bytes((turn % 100) as u8, written) };
        match case.operation {
            "broadcast" => world.broadcast(one, root),
            "sum" => world.sum(one),
            "fcollect" => world.fcollect(&one, all),
            _ => world.alltoall(&whole, all),
        }
    };
    (0..4).for_each(|_| collective());
    world.barrier_all();
    nanoseconds_each(times, || (0..times).for_each(|_| collective()))
}
