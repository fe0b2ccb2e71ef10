//! Micro-benchmarks beside those of other libraries.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::{Args, FromArgMatches};
use shmem::prelude::*;
use shmem::{value, zeroed};

use crate::bench::{self, Bench, Records};
use crate::beside::Beside;
use crate::case::Record;
use crate::goal::Goal;
use crate::guard::{Bound, Guard, Guarded};
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::micro::{self, Comparison, MicroCase, Objects, Operation, Ours, Places};
use crate::name::{listed, names};
use crate::peers::{self, Peer, PeerError, Programs};
use crate::runner::Runner;
use crate::task::{Done, Task};

/// What the usual operations cost beside other libraries.
pub const MEASURE: Measure = Measure {
    name: "micro",
    about: "The usual micro-benchmarks between two PEs, by the definitions of the OSU benchmarks: in turn with C over `mmap`, and \
            with Open MPI's OpenSHMEM and MPI and the Rust crate lamellar where they are installed",
    options: Options::augment_args,
    run: |runner, options| {
        let Options { quick, collectives, beside } = Options::from_arg_matches(options)?;
        let cases = match (collectives, quick) {
            (true, _) => &COLLECTIVES,
            (false, true) => &QUICK,
            (false, false) => &MICRO,
        };
        measure(runner, if beside.is_empty() { &Peer::MICRO } else { &beside }, cases)
    },
    usual: false,
    tasks: &[MICRO, QUICK, COLLECTIVES],
    cases: &[cases(
        &["micro"],
        "operation/bytes/peer",
        "the usual micro-benchmarks of two PEs; bandwidths: time for each byte; rate: for each message; `-direct`: collectives on \
         symmetric objects, beside the same of the peers",
        "the same by C over `mmap`, OpenSHMEM, MPI and lamellar",
    )],
    goal: |case| goal_of(case, |Name::Micro(operation, bytes, peer)| goal(operation, bytes, peer)),
    again: again::<Name>,
    guards: &[Guard {
        jobs: 1,
        possible: || match Programs::build(&[Peer::Floor], BRIEF).map_err(|why| why.to_string())?.missing() {
            [] => Ok(()),
            [missing, ..] => Err(missing.to_string()),
        },
        cases: || {
            let floor = micro::TWO_SIDED.into_iter().filter(|case| case.operation.is_collective());
            let floor = floor.map(|MicroCase { operation, bytes }| (operation, bytes, Peer::Floor));
            let held = floor.filter(|(operation, bytes, peer)| goal(*operation, *bytes, *peer).is_some());
            held.map(|(operation, bytes, peer)| {
                // Of a broadcast both PEs copy at the same time where the floor has one copy: on cores that are two threads
                // of one they take that from each other.
                let allowance = if operation == Operation::Broadcast { 2.0 } else { 1.5 };
                Guarded::side_by_side(Name::Micro(operation, bytes, peer), Bound::Eased(allowance))
            })
            .collect()
        },
        ..Guard::of("micro --collectives --beside floor", |runner| {
            measure(runner, &[Peer::Floor], &COLLECTIVES)
        })
    }],
};

pub(crate) const MICRO: Task = Task {
    name: "micro",
    pe: |given, repetitions| {
        bench::with_peers(given, repetitions, |bench, peers| bench.micro(peers, |_| true))
    },
};
pub(crate) const QUICK: Task = Task {
    name: "micro-quick",
    pe: |given, repetitions| {
        bench::with_peers(given, repetitions, |bench, peers| bench.micro(peers, MicroCase::is_quick))
    },
};
const COLLECTIVES: Task = Task {
    name: "micro-collectives",
    pe: |given, repetitions| {
        let chosen = |case: MicroCase| case.operation.is_collective();
        bench::with_peers(given, repetitions, |bench, peers| bench.micro(peers, chosen))
    },
};

names! {
    Micro(operation: Operation, bytes: usize, peer: Peer) = "micro": [operation / bytes / peer];
}

listed!(Operation, Operation::ALL);
listed!(Peer, Peer::ALL);

#[derive(Args, Clone, Debug)]
struct Options {
    /// Fewer sizes, and nothing is built that takes long.
    #[arg(long)]
    quick: bool,
    /// Collectives only, in all sizes.
    #[arg(long, conflicts_with = "quick")]
    collectives: bool,
    /// Beside these only: floor (C over `mmap`), oshmem-micro, mpi-micro, lamellar. Of the last one a first run
    /// builds some two hundred packages.
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',', value_parser = peer)]
    beside: Vec<Peer>,
}

/// How long a peer may take to be built where time is short: long enough for C, and for what was built before.
const BRIEF: Duration = Duration::from_secs(8);

/// A peer with micro-benchmarks, by its name.
fn peer(name: &str) -> Result<Peer, String> {
    let found = Peer::MICRO.into_iter().find(|peer| peer.name() == name);
    found.ok_or_else(|| format!("it is one of {}", Peer::MICRO.map(Peer::name).join(", ")))
}

/// What collectives ought to reach. The floor copies once what is private to the program, which needs two copies here, side
/// by side; libraries are held to what is symmetric, as theirs is.
fn goal(operation: Operation, bytes: usize, peer: Peer) -> Option<Goal> {
    use Operation::{
        Alltoall, AlltoallDirect, Broadcast, BroadcastDirect, Fcollect, FcollectDirect, Sum, SumDirect,
    };
    const KIB_4: usize = 4 << 10;
    const KIB_64: usize = 64 << 10;
    const MIB: usize = 1 << 20;
    let most = match (peer, operation, bytes) {
        (Peer::Floor, Broadcast, KIB_4) => 1.5,
        (Peer::Floor, Broadcast, KIB_64) => 1.4,
        (Peer::Floor, Broadcast, MIB) => 1.3,
        (Peer::Floor, Sum, KIB_4) => 1.7,
        (Peer::Floor, Sum, KIB_64 | MIB) => 1.5,
        (Peer::Floor, Alltoall | Fcollect, KIB_4 | KIB_64 | MIB) => 1.6,
        (Peer::Floor, SumDirect, KIB_64..) => 1.0,
        (Peer::Floor, BroadcastDirect | AlltoallDirect | FcollectDirect, KIB_64..) => 1.1,
        (
            Peer::OshmemMicro | Peer::MpiMicro,
            BroadcastDirect | SumDirect | AlltoallDirect | FcollectDirect,
            _,
        ) => 1.0,
        _ => return None,
    };
    Some(Goal::Ratio(most))
}

/// Measures beside some peers what a task has: all cases, or some.
pub(crate) fn measure(runner: &mut Runner, peers: &[Peer], task: &Task) -> Done {
    let patience = if task.name == MICRO.name { peers::PATIENCE } else { BRIEF };
    let Some(programs) = runner.programs_within(peers, patience)? else { return Ok(()) };
    let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), "48M".to_owned());
    let job = runner.job(task, 2, &[heap]).beside(&programs);
    runner.repeat(&job)
}

impl Bench<'_> {
    /// Ours and all peers in turn. PE 0 brings the peers.
    fn micro(&self, beside: Option<Beside>, chosen: impl Fn(MicroCase) -> bool) -> Records {
        let world = self.world;
        let bytes = world.alloc(zeroed::<u8>(Places::BYTES))?;
        let word = world.alloc(value(Atomic::new(0_u64)))?;
        let done = world.alloc(value(0_u64))?;
        let objects = Objects::new(world)?;
        let places = Places { bytes: bytes.on(self.other()), word: word.on(self.other()) };
        let mut beside = Sieve { beside, refused: BTreeSet::new() };
        let mut ours = Ours::new(world, places, &objects);
        let chosen = |case: &MicroCase| chosen(*case);
        let mut records = Vec::new();
        world.barrier_all();
        if world.my_pe() == 0 {
            for case in micro::ONE_SIDED.into_iter().filter(chosen) {
                records.extend(self.compare(&mut beside, case, || ours.time(case)));
            }
            world.p(done.on(self.other()), 1);
        } else {
            // Absent, as the peers' second processes are, and not asleep in the library: an update would wake it.
            while done.here(world).load() == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        for case in micro::TWO_SIDED.into_iter().filter(chosen) {
            world.barrier_all();
            records.extend(self.compare(&mut beside, case, || {
                // What the peers do in between is waited for outside of what is measured.
                world.barrier_all();
                ours.time(case)
            }));
        }
        // A table for each peer.
        records.sort_by(|a, b| a.compared.cmp(&b.compared));
        Ok(records)
    }

    /// The pairs of a case with each peer; of those PEs that bring none, only our part is done.
    fn compare(&self, sieve: &mut Sieve, case: MicroCase, ours: impl FnMut() -> f64) -> Vec<Record> {
        let mut none = Vec::new();
        let running = sieve.beside.as_mut().map_or(&mut none, |beside| &mut beside.running);
        let libraries: Vec<String> = running.iter().map(|peer| peer.library().to_owned()).collect();
        let mut records = Vec::new();
        let comparisons = micro::beside(running, case, self.repetitions, ours);
        for (Comparison { peer, samples }, library) in comparisons.into_iter().zip(libraries) {
            let name = Name::Micro(case.operation, case.bytes, peer);
            let compared = format!("ours against {library}; time for each operation, message or byte");
            match samples {
                Ok(samples) => {
                    records.push(self.record_in(case.unit(), &name, &compared, samples));
                }
                Err(reason) => sieve.fail(peer, case, reason),
            }
        }
        records
    }
}

/// The peers that still answer.
struct Sieve {
    beside: Option<Beside>,
    /// What was said: a peer that lacks an operation lacks it in all sizes.
    refused: BTreeSet<String>,
}

impl Sieve {
    fn fail(&mut self, peer: Peer, case: MicroCase, reason: PeerError) {
        let Some(beside) = &mut self.beside else { return };
        match reason {
            PeerError::Refused { fault, .. } => {
                let said = format!("peer {peer}: {}: {fault}", case.operation.name());
                if self.refused.insert(said.clone()) {
                    eprintln!("shmem-perf: {said}");
                }
            }
            reason if reason.is_final() => {
                beside.lose(peer, reason);
                beside.running.retain(|running| running.peer() != peer);
            }
            reason => eprintln!("shmem-perf: {}/{peer}: {reason}", case.name()),
        }
    }
}
