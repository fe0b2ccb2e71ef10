//! Strided transfers beside other libraries: a part of `strided`.

use shmem::zeroed;

use crate::bench::{self, Bench, Records};
use crate::beside::Beside;
use crate::goal::Goal;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::name::{names, words};
use crate::peers::Peer;
use crate::runner::Runner;
use crate::strided::Direction;
use crate::strided::peers::own::{self, Own};
use crate::strided::peers::{Arrays, Kind, TransferName, compare};
use crate::task::{Done, Task};

/// What strided transfers cost beside other libraries.
pub const MEASURE: Measure = Measure {
    name: "peers",
    usual: false,
    tasks: &[STRIDED_PEERS, STRIDED_OWN],
    cases: &[
        cases(
            &["peers"],
            "peer/shape/stride",
            "`iput`, or `ibput` for blocks; `a1`: our loop of puts",
            "the same transfer by Open MPI's MPI and OpenSHMEM; `a1`: their loop of puts",
        ),
        cases(
            &["strided-own"],
            "library/direction/stride/elements",
            "`iput`, `iget` of ours; `shmem_double_iput`, `_iget`; `MPI_Put`, `MPI_Get` with vector types",
            "a loop of the same library's put or get for each element",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Transfer(Kind::Mpi, transfer) => Some(Goal::Ratio(match transfer.stride() {
                2 => 1.0 / 4.0,
                // A power of two.
                128 => 1.0 / 1.2,
                _ => 1.0,
            })),
            Name::Transfer(Kind::A1, _) => Some(Goal::Ratio(1.0)),
            Name::Transfer(Kind::Oshmem, transfer) => {
                (transfer.shape() == "column").then_some(Goal::Ratio(1.0 / 9.0))
            }
            Name::Own(..) => None,
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

const STRIDED_PEERS: Task = Task {
    name: "strided-peers",
    pe: |given, repetitions| bench::with_peers(given, repetitions, |bench, peers| bench.peers(peers)),
};
const STRIDED_OWN: Task = Task {
    name: "strided-own",
    pe: |given, repetitions| bench::with_peers(given, repetitions, |bench, peers| bench.own(peers)),
};

names! {
    Transfer(kind: Kind, transfer: TransferName) = "peers": [kind / transfer];
    Own(library: Library, direction: Direction, stride: usize, elements: usize) = "strided-own": [library / direction / stride / elements];
}

words! {
    /// Whose routines and loops.
    Library { Ours = "ours", Oshmem = "oshmem", Mpi = "mpi" }
}

/// Our routines against theirs. Nothing is measured where none of them is there.
pub(crate) fn beside(runner: &mut Runner) -> Done {
    let Some(programs) = runner.programs(&Peer::STRIDED)? else { return Ok(()) };
    runner.repeat(&runner.job(&STRIDED_PEERS, 2, &[heap()]).beside(&programs))
}

/// The strided routines of each library against its own loop of puts or gets; ours are always there.
pub(crate) fn own_loops(runner: &mut Runner, peers: &[Peer]) -> Done {
    let programs = runner.programs(peers)?;
    let job = runner.job(&STRIDED_OWN, 2, &[heap()]);
    let job = match &programs {
        Some(programs) => job.beside(programs),
        None => job,
    };
    runner.repeat(&job)
}

fn heap() -> (String, String) {
    ("SHMEM_SYMMETRIC_SIZE".to_owned(), "32M".to_owned())
}

impl Bench<'_> {
    /// Our routines against theirs. PE 0 brings the peers.
    fn peers(&self, beside: Option<Beside>) -> Records {
        self.with_arrays(|arrays| {
            Ok(self.alone(|| {
                let mut records = Vec::new();
                let Some(mut beside) = beside else { return records };
                for mut peer in std::mem::take(&mut beside.running) {
                    let library = peer.library().to_owned();
                    for comparison in compare(self.world, arrays, &mut peer, self.repetitions) {
                        let name = Name::Transfer(comparison.kind(), comparison.transfer.name);
                        let compared = comparison.compared(&library);
                        match comparison.samples {
                            Ok(samples) => {
                                records.push(self.record(&name, &compared, samples));
                            }
                            Err(reason) if reason.is_final() => beside.lose(peer.peer(), reason),
                            Err(reason) => eprintln!("shmem-perf: {name}: {reason}"),
                        }
                    }
                }
                records
            }))
        })
    }

    /// The strided routines of each library against its own loop of puts or gets.
    fn own(&self, beside: Option<Beside>) -> Records {
        self.with_arrays(|arrays| {
            Ok(self.alone(|| {
                let mut records = Vec::new();
                let mut add = |library, compared: &str, Own { column, samples }: Own| {
                    let own::Column { direction, stride, elements } = column;
                    let name = Name::Own(library, direction, stride, elements);
                    match samples {
                        Ok(samples) => {
                            records.push(self.record(&name, compared, samples));
                        }
                        Err(reason) => eprintln!("shmem-perf: {name}: {reason}"),
                    }
                };
                let compared = own::compared(None);
                own::ours(self.world, arrays, self.repetitions)
                    .into_iter()
                    .for_each(|own| add(Library::Ours, &compared, own));
                for mut peer in beside.into_iter().flat_map(|beside| beside.running) {
                    let compared = own::compared(Some((peer.peer(), peer.library())));
                    let library = if peer.peer() == Peer::Mpi { Library::Mpi } else { Library::Oshmem };
                    let all = own::theirs(&mut peer, self.repetitions);
                    all.into_iter().for_each(|own| add(library, &compared, own));
                }
                records
            }))
        })
    }

    /// Measures with arrays of both PEs.
    fn with_arrays(&self, measure: impl FnOnce(Arrays<'_>) -> Records) -> Records {
        let world = self.world;
        let to = world.alloc(zeroed::<f64>(Arrays::DOUBLES))?;
        let source = world.alloc(zeroed::<f64>(Arrays::DOUBLES))?;
        // SAFETY: this PE's copy of `source` is written by nobody: no PE has a place on it but this
        // reference, until it is freed with the job.
        let from = unsafe { source.here(world).as_ref() };
        measure(Arrays::new(world, to.on(self.other()), from))
    }
}
