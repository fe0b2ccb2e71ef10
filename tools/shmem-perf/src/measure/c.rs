//! What the routines of the C library cost.

use std::path::Path;
use std::time::Instant;

use shmem::launch::Bind;
use shmem::prelude::*;
use shmem::{value, zeroed};

use crate::bench::{self, Bench, Records};
use crate::beside::Beside;
use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::jobs::Asked;
use crate::measure::form::{Measure, again, cases, goal_of};
use crate::micro::{self, MicroCase, Objects, Operation, Ours, Places};
use crate::name::{names, words};
use crate::peers::{Peer, PeerError, Programs, Request, Running};
use crate::runner::Runner;
use crate::samples::Samples;
use crate::task::{Done, Task};
use crate::{affinity, sources};

/// What the routines of the C library cost.
pub const MEASURE: Measure = Measure {
    name: "c",
    about: "The C library, which is made first: its routines in turn with the same calls in Rust, and with those of Open MPI's \
            OpenSHMEM where that is installed",
    run: |runner, _| measure(runner, &PROGRAMS),
    usual: false,
    tasks: &[C],
    cases: &[
        cases(
            &["c"],
            "routine/number/oshmem",
            "a call of a program in C, one behind the other: `p8`, `put8` to lines of the heap; `fetch-add`; `iput` of 1024 \
             doubles so many doubles apart",
            "the same program with Open MPI's OpenSHMEM",
        ),
        cases(&["c"], "put8-global/heap", "`put8` to a global of a program in C", "the same to the heap"),
        cases(
            &["c"],
            "operation/bytes/rust",
            "what `micro` has, by a program in C",
            "the same by a program in Rust",
        ),
        cases(
            &["c"],
            "`wake`, `wake-plain`/futex",
            "PEs outnumber cores, and each but one sleeps in `shmem_long_wait_until`: one step of a word that goes round by \
             `shmem_long_p`; the longest of 8 from the plain store of a thread until its own PE goes on",
            "the same by the kernel's wait and wake alone",
        ),
        cases(
            &["c"],
            "start/PEs/rust",
            "`examples/c/hello.c` from start to end",
            "`examples/hello.rs`, by the same launcher",
        ),
    ],
    goal: |case| {
        goal_of(case, |name| match name {
            Name::Oshmem(Routine::P8 | Routine::Put8, _) => Some(Goal::Ratio(0.3)),
            Name::Oshmem(Routine::Iput, _) => Some(Goal::Ratio(0.2)),
            Name::Global => Some(Goal::RatioPlus(1.0, 0.5)),
            Name::Rust(Operation::FetchAdd, _) => Some(Goal::RatioPlus(1.0, 2.0)),
            Name::Rust(Operation::Barrier, _) => Some(Goal::Ratio(1.1)),
            Name::Rust(Operation::Put, 4096..) => Some(Goal::Ratio(1.03)),
            Name::Wake => Some(Goal::AtMost(50.0)),
            Name::WakePlain => Some(Goal::AtMost(1100.0)),
            Name::Start(_) => Some(Goal::RatioPlus(1.0, 0.5)),
            Name::Oshmem(..) | Name::Rust(..) => None,
        })
    },
    again: again::<Name>,
    ..Measure::PLAIN
};

const C: Task = Task {
    name: "c",
    pe: |given, repetitions| bench::with_peers(given, repetitions, |bench, peers| bench.c(peers)),
};

names! {
    Global = "c": ["put8-global" / "heap"];
    Wake = "c": ["wake" / "futex"];
    WakePlain = "c": ["wake-plain" / "futex"];
    Start(pes: usize) = "c": ["start" / pes / "rust"];
    Oshmem(routine: Routine, number: usize) = "c": [routine / number / "oshmem"];
    Rust(operation: Operation, bytes: usize) = "c": [operation / bytes / "rust"];
}

words! {
    /// What the programs of single routines call.
    Routine { P8 = "p8", Put8 = "put8", Put8Global = "put8-global", FetchAdd = "fetch-add", Iput = "iput" }
}

/// What is called, and the number that it takes.
const ROUTINES: [(Routine, usize); 7] = [
    (Routine::P8, 8),
    (Routine::Put8, 8),
    (Routine::FetchAdd, 8),
    (Routine::Iput, 1),
    (Routine::Iput, 2),
    (Routine::Iput, 128),
    (Routine::Iput, 129),
];

fn request(routine: Routine, number: usize) -> Request {
    let operation = routine.name();
    let times = if routine == Routine::Iput { 30 } else { 20_000 };
    Request { case: format!("{operation}/{number}"), operation, numbers: format!("{number} {times}") }
}

/// What asks a program for each routine.
#[cfg(test)]
pub(crate) fn requests() -> impl Iterator<Item = Request> {
    ROUTINES.into_iter().map(|(routine, number)| request(routine, number))
}

/// Those in which C and Rust do the same in the same order.
fn is_shared(case: MicroCase) -> bool {
    !matches!(
        case.operation,
        Operation::Histogram
            | Operation::IndexGather
            | Operation::BroadcastDirect
            | Operation::SumDirect
            | Operation::FcollectDirect
            | Operation::AlltoallDirect
    )
}

/// PEs of the programs that are started.
pub(crate) const STARTED: usize = 4;

/// The programs of the C library, and one of Open MPI's.
pub(crate) const PROGRAMS: [Peer; 5] =
    [Peer::Library, Peer::Routines, Peer::Waking, Peer::Hello, Peer::OshmemRoutines];

/// Measures what some of the programs show.
pub(crate) fn measure(runner: &mut Runner, programs: &[Peer]) -> Done {
    let Some(programs) = runner.programs(programs)? else { return Ok(()) };
    calls(runner, &programs)?;
    wakes(runner, &programs)?;
    starts(runner, &programs)
}

/// Measures what calls cost between two PEs.
fn calls(runner: &mut Runner, programs: &Programs) -> Done {
    let heap = ("SHMEM_SYMMETRIC_SIZE".to_owned(), "48M".to_owned());
    let job = runner.job(&C, 2, &[heap]).beside(programs);
    runner.repeat(&job)
}

/// Measures how PEs wake each other where they outnumber cores, by a program that runs alone.
fn wakes(runner: &mut Runner, programs: &Programs) -> Done {
    let Some(mut waking) = Running::start(Peer::Waking, programs.directory())? else { return Ok(()) };
    let processes = Peer::Waking.processes(affinity::allowed()?.len());
    let site = Site { shared_cores: true, ..Site::near(processes) };
    let asked = |operation: &'static str, times: usize| Request {
        case: format!("{operation}/{processes}"),
        operation,
        numbers: format!("{processes} {times}"),
    };
    let cases = [
        (
            Name::Wake,
            asked("wake", STEPS),
            asked("futex", STEPS),
            "one step of a word that goes round by puts",
        ),
        (
            Name::WakePlain,
            asked("wake-plain", STORES),
            asked("futex-plain", STORES),
            "a plain store of a thread until its PE goes on, the longest of 8,",
        ),
    ];
    let mut records = Vec::new();
    for (name, ours, kernel, what) in cases {
        waking.check(&ours)?;
        waking.check(&kernel)?;
        let samples =
            pairs(runner.repetitions, || Ok((waking.sample(&ours)? / 1e3, waking.sample(&kernel)? / 1e3)))?;
        let compared = format!("{what} against the kernel's wait and wake alone, PEs outnumber cores");
        records.push(Record::new(&site, &name, "us", compared, samples));
    }
    runner.show(records);
    Ok(())
}

/// Measures starts of a program in C and of the same in Rust, by the same launcher.
fn starts(runner: &mut Runner, programs: &Programs) -> Done {
    let Some(c) = Programs::of(Peer::Hello, programs.directory()) else { return Ok(()) };
    let rust = sources::built("hello", &["-p", "shmem-examples", "--bin", "hello"])?;
    let job = Asked { pes: STARTED, args: Vec::new(), variables: Vec::new(), bind: Bind::None, hosts: None };
    let milliseconds = |program: &Path| {
        let start = Instant::now();
        job.run_program(program).map(|_| start.elapsed().as_secs_f64() * 1e3)
    };
    // What they are read from is in memory then.
    milliseconds(&c)?;
    milliseconds(&rust)?;
    let mut samples = Samples::new();
    for _ in 0..runner.repetitions {
        samples.push(milliseconds(&c)?, milliseconds(&rust)?);
    }
    let cores = affinity::allowed()?.len();
    let site = Site { shared_cores: STARTED > cores, ..Site::near(STARTED) };
    let compared = "start and end of a hello in C against one in Rust";
    runner.show(vec![Record::new(&site, &Name::Start(STARTED), "ms", compared, samples)]);
    Ok(())
}

/// Rounds of a sample.
const STEPS: usize = 50;

/// Stores of a sample.
const STORES: usize = 8;

impl Bench<'_> {
    /// PE 0 brings the programs in C.
    fn c(&self, beside: Option<Beside>) -> Records {
        let world = self.world;
        let mut programs = InC::of(beside);
        let mut records = Vec::new();
        if world.my_pe() == 0 {
            records.extend(programs.routines(self.repetitions).into_iter().filter_map(
                |(name, compared, samples)| match samples {
                    Ok(samples) => Some(self.record(&name, &compared, samples)),
                    Err(reason) => {
                        eprintln!("shmem-perf: c: {name}: {reason}");
                        None
                    }
                },
            ));
        }
        let bytes = world.alloc(zeroed::<u8>(Places::BYTES))?;
        let word = world.alloc(value(Atomic::new(0_u64)))?;
        let done = world.alloc(value(0_u64))?;
        let objects = Objects::new(world)?;
        let places = Places { bytes: bytes.on(self.other()), word: word.on(self.other()) };
        let mut ours = Ours::new(world, places, &objects);
        world.barrier_all();
        if world.my_pe() == 0 {
            for case in micro::ONE_SIDED.into_iter().filter(|case| is_shared(*case)) {
                records.extend(self.beside_rust(&mut programs, case, || ours.time(case)));
            }
            world.p(done.on(self.other()), 1);
        } else {
            // Absent, as the second process of the program in C is.
            while done.here(world).load() == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        for case in micro::TWO_SIDED.into_iter().filter(|case| is_shared(*case)) {
            world.barrier_all();
            records.extend(self.beside_rust(&mut programs, case, || {
                // What the programs in C do in between is waited for outside of what is measured.
                world.barrier_all();
                ours.time(case)
            }));
        }
        Ok(records)
    }

    /// The program in C against ours in Rust; of PEs that bring none only our part is done.
    fn beside_rust(&self, programs: &mut InC, case: MicroCase, rust: impl FnMut() -> f64) -> Option<Record> {
        let library = programs.library.as_mut_slice();
        let comparison = micro::beside(library, case, self.repetitions, rust).pop()?;
        let name = Name::Rust(case.operation, case.bytes);
        match comparison.samples {
            Ok(samples) => {
                let compared =
                    "a program in C against the same in Rust; time for each operation, message or byte";
                Some(self.record_in(case.unit(), &name, compared, samples.turned()))
            }
            Err(reason) => {
                eprintln!("shmem-perf: c: {name}: {reason}");
                if reason.is_final() {
                    programs.library.clear();
                }
                None
            }
        }
    }
}

/// The programs in C that run beside PE 0.
struct InC {
    /// The micro-benchmarks of the C library, if they run.
    library: Vec<Running>,
    /// Its single routines.
    routines: Option<Running>,
    /// Those of Open MPI.
    oshmem: Option<Running>,
}

/// What came out, and what was compared.
type Outcome = (Name, String, Result<Samples, PeerError>);

impl InC {
    fn of(beside: Option<Beside>) -> Self {
        let mut programs = Self { library: Vec::new(), routines: None, oshmem: None };
        for running in beside.into_iter().flat_map(|beside| beside.running) {
            match running.peer() {
                Peer::Library => programs.library.push(running),
                Peer::Routines => programs.routines = Some(running),
                _ => programs.oshmem = Some(running),
            }
        }
        programs
    }

    /// Single routines: of both libraries, and to a global beside the heap.
    fn routines(&mut self, repetitions: usize) -> Vec<Outcome> {
        let Some(ours) = &mut self.routines else { return Vec::new() };
        let mut outcomes = Vec::new();
        if let Some(theirs) = &mut self.oshmem {
            let compared = format!("single routines in C against {}", theirs.library());
            for (routine, number) in ROUTINES {
                let request = request(routine, number);
                let checked = ours.check(&request).and_then(|()| theirs.check(&request));
                let samples = checked.and_then(|()| {
                    pairs(repetitions, || Ok((ours.sample(&request)?, theirs.sample(&request)?)))
                });
                outcomes.push((Name::Oshmem(routine, number), compared.clone(), samples));
            }
        }
        let (global, heap) = (request(Routine::Put8Global, 8), request(Routine::Put8, 8));
        let samples = ours
            .check(&global)
            .and_then(|()| pairs(repetitions, || Ok((ours.sample(&global)?, ours.sample(&heap)?))));
        outcomes.push((Name::Global, "a put to a global in C against one to the heap".to_owned(), samples));
        outcomes
    }
}

/// So many pairs, unless one fails.
fn pairs(
    repetitions: usize,
    mut pair: impl FnMut() -> Result<(f64, f64), PeerError>,
) -> Result<Samples, PeerError> {
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let (cost, limit) = pair()?;
        samples.push(cost, limit);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::undone;

    #[test]
    fn names_are_read_as_they_are_written() {
        undone([
            (Name::Global, "put8-global/heap"),
            (Name::Wake, "wake/futex"),
            (Name::WakePlain, "wake-plain/futex"),
            (Name::Start(4), "start/4/rust"),
            (Name::Oshmem(Routine::Iput, 129), "iput/129/oshmem"),
            (Name::Oshmem(Routine::FetchAdd, 8), "fetch-add/8/oshmem"),
            (Name::Rust(Operation::FetchAdd, 8), "fetch-add/8/rust"),
            (Name::Rust(Operation::Put, 4096), "put/4096/rust"),
        ]);
    }
}
