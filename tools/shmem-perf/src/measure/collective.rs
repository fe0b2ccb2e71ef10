//! What collectives cost: against what a machine needs for them at least, and against another library.

use std::sync::atomic::AtomicU64;

use shmem::thread::ThreadLevel;
use shmem::{World, zeroed};
use shmem_core::object::On;

use crate::baseline::{self, FutexBarrier, near};
use crate::bench::{self, Bench, Records};
use crate::beside::Beside;
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::barrier::LIMIT_WORDS;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::{names, words};
use crate::peers::{Peer, PeerError, Request, Running};
use crate::runner::Runner;
use crate::samples::{Samples, nanoseconds_each};
use crate::task::{Done, Task};

/// What collectives cost.
pub const MEASURE: Measure = Measure {
    name: "collective",
    about: "Collectives, against a round trip of a cache line or memcpy; and in turn with those of Open MPI's OpenSHMEM where \
            it is installed",
    run: |runner, _| measure(runner),
    tasks: &[COLLECTIVE, BESIDE_A_PEER],
    cases: &[
        cases(
            &["collective"],
            "operation/bytes/PEs",
            "`barrier_all`, `broadcast` (each PE in turn), `sum`, `fcollect`, `alltoall`",
            "2 PEs with a core each: a round trip of a cache line up to 64 bytes, else `memcpy` of what is read of the other PE; \
             PEs that share cores: a plain futex barrier",
        ),
        cases(
            &["collective-oshmem"],
            "operation/bytes/PEs",
            "the same",
            "those of Open MPI's OpenSHMEM, in turn, where `oshcc` and `oshrun` are",
        ),
    ],
    goal: |case| {
        // Small ones: one meeting, and no more.
        goal_of(case, |name| match name {
            Name::Collective(_, bytes, _) => (bytes <= SMALL).then_some(Goal::Ratio(2.5)),
            Name::Oshmem(_, bytes, _) => (bytes <= SMALL).then_some(Goal::Ratio(1.0)),
        })
    },
    again: again::<Name>,
    guards: &[Guard {
        cases: || {
            use Operation::{Alltoall, Broadcast, Fcollect, Sum};
            let small =
                |operation| Guarded::side_by_side(Name::Collective(operation, 8, 2), Bound::Eased(4.0));
            [Broadcast, Sum, Fcollect, Alltoall].map(small).into()
        },
        ..Guard::of("collective", |runner| runner.jobs(&COLLECTIVE, 2))
    }],
    ..Measure::PLAIN
};

const COLLECTIVE: Task =
    Task { name: "collective", pe: |_, repetitions| bench::run(repetitions, collectives) };
const BESIDE_A_PEER: Task = Task {
    name: "collective-peer",
    pe: |given, repetitions| bench::with_peers(given, repetitions, beside_a_peer),
};

names! {
    Collective(operation: Operation, bytes: usize, pes: usize) = "collective": [operation / bytes / pes];
    Oshmem(operation: Operation, bytes: usize, pes: usize) = "collective-oshmem": [operation / bytes / pes];
}

/// Measures collectives, and compares those of two PEs with another library's if it is there.
fn measure(runner: &mut Runner) -> Done {
    runner.jobs(&COLLECTIVE, 2)?;
    runner.jobs(&COLLECTIVE, 4)?;
    let Some(programs) = runner.programs(&[Peer::OshmemMicro])? else { return Ok(()) };
    let job = runner.job(&BESIDE_A_PEER, 2, &[]).beside(&programs);
    runner.repeat(&job)
}

/// Each case that fits the PEs.
fn collectives(bench: &Bench<'_>) -> Records {
    let Bench { world, repetitions, site } = bench;
    let words = world.alloc(zeroed::<u64>(LIMIT_WORDS))?;
    let bytes = world.alloc(zeroed::<u8>(1 << 20))?;
    let (words, bytes) = (words.on(world.pe(0)?), bytes.on(bench.other()));
    let mut buffers = Buffers::new(site.pes);
    let mut records = Vec::new();
    for case in CASES {
        let apart = site.pes == 2 && !site.shared_cores;
        let (samples, compared) = if apart {
            let samples = against_machine(world, case, &mut buffers, (words, bytes), *repetitions);
            (
                samples,
                "a collective, against a round trip of a cache line (up to 64 bytes), or memcpy of what is read of the other PE; time for each",
            )
        } else if case.is_small() {
            let samples = against_futex(world, case, &mut buffers, words, *repetitions);
            (samples, "a collective, against a plain futex barrier of as many processes; time for each")
        } else {
            continue;
        };
        let name = Name::Collective(case.operation, case.bytes, site.pes);
        records.push(bench.record(&name, compared, samples));
    }
    Ok(records)
}

/// Our collectives against theirs. PE 0 brings the peer.
fn beside_a_peer(bench: &Bench<'_>, mut beside: Option<Beside>) -> Records {
    let world = bench.world;
    let mut peer = beside.as_mut().and_then(|beside| beside.running.pop());
    let library = peer.as_ref().map_or_else(String::new, |peer| peer.library().to_owned());
    let compared = format!("a collective, against that of {library}; time for each");
    let (mut records, mut buffers) = (Vec::new(), Buffers::new(world.n_pes()));
    for case in CASES {
        // Both PEs go on, or none.
        let mut there = u8::from(peer.is_some());
        world.broadcast(&mut there, world.pe(0)?);
        if there == 0 {
            break;
        }
        let name = Name::Oshmem(case.operation, case.bytes, world.n_pes());
        match against_peer(world, case, &mut buffers, peer.as_mut(), bench.repetitions) {
            Ok(Some(samples)) => records.push(bench.record(&name, &compared, samples)),
            Ok(None) => {}
            Err(reason) if reason.is_final() => {
                if let (Some(beside), Some(peer)) = (&beside, peer.take()) {
                    beside.lose(peer.peer(), reason);
                }
            }
            Err(reason) => eprintln!("shmem-perf: {name}: {reason}"),
        }
    }
    Ok(records)
}

words! {
    /// A collective, as cases and requests to a peer name it.
    Operation {
        /// `barrier_all`.
        Barrier = "barrier",
        /// `broadcast`, from each PE in turn.
        Broadcast = "broadcast",
        /// `sum` of `f64`.
        Sum = "sum",
        /// `fcollect`.
        Fcollect = "fcollect",
        /// `alltoall`.
        Alltoall = "alltoall",
    }
}

/// A collective and how much it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveCase {
    /// Which one.
    pub operation: Operation,
    /// Bytes that one PE contributes; of an alltoall, those for each PE.
    pub bytes: usize,
}

/// All cases.
pub const CASES: [CollectiveCase; 15] = {
    use Operation::{Alltoall, Barrier, Broadcast, Fcollect, Sum};
    const fn of(operation: Operation, bytes: usize) -> CollectiveCase {
        CollectiveCase { operation, bytes }
    }
    [
        of(Barrier, 0),
        of(Broadcast, 8),
        of(Broadcast, 4 << 10),
        of(Broadcast, 64 << 10),
        of(Broadcast, 1 << 20),
        of(Sum, 8),
        of(Sum, 4 << 10),
        of(Sum, 64 << 10),
        of(Sum, 1 << 20),
        of(Fcollect, 8),
        of(Fcollect, 4 << 10),
        of(Fcollect, 64 << 10),
        of(Alltoall, 8),
        of(Alltoall, 4 << 10),
        of(Alltoall, 64 << 10),
    ]
};

/// Bytes up to which a collective is compared with the transfer of a line.
const SMALL: usize = 64;

impl CollectiveCase {
    /// The name of the case on so many PEs: `sum/8/2`.
    pub fn name(self, pes: usize) -> String {
        format!("{}/{}/{pes}", self.operation.name(), self.bytes)
    }

    /// Whether it takes the time of messages, and not of copies.
    pub const fn is_small(self) -> bool {
        self.bytes <= SMALL
    }

    /// Collectives in one sample.
    const fn times(self) -> usize {
        if self.is_small() { 500 } else { (4 << 20) / (self.bytes + 4096) / 4 + 4 }
    }

    /// Bytes that a PE reads of others.
    const fn read(self, pes: usize) -> usize {
        match self.operation {
            Operation::Barrier => 0,
            Operation::Broadcast => self.bytes,
            Operation::Sum | Operation::Fcollect | Operation::Alltoall => self.bytes * (pes - 1),
        }
    }

    /// Elements that a PE contributes, and writes anew before each collective, as the peers do (`micro.h`): what never
    /// changes would lie in the caches of those who read it.
    pub(crate) fn written(self, pes: usize, is_root: bool) -> usize {
        let items = self.bytes / size_of::<f64>();
        match self.operation {
            Operation::Barrier => 0,
            Operation::Broadcast => items * usize::from(is_root),
            Operation::Sum | Operation::Fcollect => items,
            Operation::Alltoall => items * pes,
        }
    }

    /// What asks a peer for it, on two PEs.
    pub fn request(self) -> Request {
        let numbers = format!("{} {}", self.bytes, self.times());
        Request { case: self.name(2), operation: self.operation.name(), numbers }
    }
}

/// What collectives work on.
#[derive(Debug)]
pub struct Buffers {
    mine: Vec<f64>,
    all: Vec<f64>,
}

impl Buffers {
    /// For all cases, on so many PEs.
    pub fn new(pes: usize) -> Self {
        let most = CASES.iter().map(|case| case.bytes / size_of::<f64>()).max().unwrap_or_default();
        Self { mine: vec![0.0; most * pes], all: vec![0.0; most * pes] }
    }
}

/// Collectives of two PEs with a core each: small ones against a round trip of a cache line between them,
/// others against `memcpy` of what is read of the other PE; nanoseconds for each. Both PEs call it; `words`
/// lies on one of them, and `bytes` on the other PE has as many as the largest case.
///
/// # Panics
///
/// If `words` or `bytes` is not on this node, or too short.
pub fn against_machine<L: ThreadLevel>(
    world: &World<L>,
    case: CollectiveCase,
    buffers: &mut Buffers,
    (words, bytes): (On<'_, [u64]>, On<'_, [u8]>),
    repetitions: usize,
) -> Samples {
    let first = world.my_pe() == 0;
    let line = near(words.index(0).ptr(world));
    // SAFETY: the place holds an aligned word and lives while the world does; whatever else the program
    // does with it, no reference says that it does not change.
    let line = unsafe { AtomicU64::from_ptr(line) };
    let read = case.read(world.n_pes());
    let from: *const u8 = near(bytes.index(..read).ptr(world)).cast();
    let mut into = vec![0_u8; read];
    let times = case.times();
    let limit = || {
        if case.is_small() {
            return nanoseconds_each(times, || baseline::round_trips(line, first, times as u64));
        }
        let copies = nanoseconds_each(times, || {
            for _ in 0..times {
                // SAFETY: `from` has `read` bytes, which nobody writes, and `into` as many.
                unsafe { baseline::memcpy(into.as_mut_ptr(), from, read) };
                std::hint::black_box(&mut into);
            }
        });
        world.barrier_all();
        copies
    };
    Samples::alternate(repetitions, || run(world, case, buffers, times), limit)
}

/// Small collectives of PEs that share cores, against a plain barrier of as many processes that sleep in the
/// kernel; nanoseconds for each. All PEs call it; `words` lies on one of them.
///
/// # Panics
///
/// If `words` is not on this node, has fewer than [`LIMIT_WORDS`], or does not start a cache line.
pub fn against_futex<L: ThreadLevel>(
    world: &World<L>,
    case: CollectiveCase,
    buffers: &mut Buffers,
    words: On<'_, [u64]>,
    repetitions: usize,
) -> Samples {
    const TIMES: usize = 20;
    let barrier = FutexBarrier::at(near(words.index(..LIMIT_WORDS).ptr(world)).cast());
    let pes = world.n_pes() as u32;
    let limit = || nanoseconds_each(TIMES, || (0..TIMES).for_each(|_| barrier.wait(pes)));
    Samples::alternate(repetitions, || run(world, case, buffers, TIMES), limit)
}

/// Collectives of two PEs against a peer's, in turn; nanoseconds for each. Both PEs call it, and the first one
/// brings the peer and gets the samples.
///
/// # Errors
///
/// If the peer does not answer, or its collective does not give what it should; on the first PE.
pub fn against_peer<L: ThreadLevel>(
    world: &World<L>,
    case: CollectiveCase,
    buffers: &mut Buffers,
    mut peer: Option<&mut Running>,
    repetitions: usize,
) -> Result<Option<Samples>, PeerError> {
    let request = case.request();
    let refused = peer.as_mut().and_then(|peer| peer.check(&request).err());
    let mut works = u8::from(refused.is_none());
    world.min(&mut works);
    if works == 0 {
        return refused.map_or(Ok(None), Err);
    }
    let ours = || run(world, case, buffers, case.times());
    match peer {
        Some(peer) => peer.against(&request, repetitions, ours).map(Some),
        None => {
            // This PE sleeps in the next collective of ours while the peer is measured.
            Samples::alternate(repetitions, ours, || 1.0);
            Ok(None)
        }
    }
}

/// Nanoseconds of one of `times` collectives of all PEs, which call it.
pub fn run<L: ThreadLevel>(
    world: &World<L>,
    case: CollectiveCase,
    buffers: &mut Buffers,
    times: usize,
) -> f64 {
    let (pes, items) = (world.n_pes(), case.bytes / size_of::<f64>());
    let Buffers { mine, all } = buffers;
    let roots: Vec<_> = world.pes().iter().collect();
    let mut turn = 0;
    let mut one = || {
        turn += 1;
        // In turn, so that each waits for the data of the one before: otherwise the root would run ahead.
        let root = roots[turn % pes];
        bytemuck::cast_slice_mut(&mut mine[..case.written(pes, root.number() == world.my_pe())])
            .fill((turn % 100) as u8);
        match case.operation {
            Operation::Barrier => world.barrier_all(),
            Operation::Broadcast => world.broadcast(&mut mine[..items], root),
            Operation::Sum => world.sum(&mut mine[..items]),
            Operation::Fcollect => world.fcollect(&mine[..items], &mut all[..items * pes]),
            Operation::Alltoall => world.alltoall(&mine[..items * pes], &mut all[..items * pes]),
        }
    };
    // The PEs come together, and the caches belonged to somebody else.
    (0..4).for_each(|_| one());
    world.barrier_all();
    nanoseconds_each(times, || (0..times).for_each(|_| one()))
}
