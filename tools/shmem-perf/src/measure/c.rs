//! What the routines of the C library cost.

use std::path::Path;

use super::micro::{self, MicroCase};
use super::{At, Cases, Measure, row};
use crate::bench::{Bench, Records};
use crate::case::{Record, Site};
use crate::goal::Goal;
use crate::jobs::{Asked, JobError};
use crate::peers::{PATIENCE, Peer, PeerError, Programs, Request, Running};
use crate::runner::Runner;
use crate::samples::{Samples, milliseconds};
use crate::task::{Done, Task};
use crate::{affinity, sources};

pub(crate) const MEASURE: Measure = Measure {
    name: "c",
    about: "The C library, which is made first: its routines in turn with the same calls in Rust, and with those of Open MPI's \
            OpenSHMEM where that is installed",
    run: |runner, _| measure(runner, &PROGRAMS),
    usual: false,
    tasks: &[C],
    rows: ROWS,
    ..Measure::PLAIN
};

#[rustfmt::skip]
const ROWS: &[Cases] = &[
    row("c | routine/number/oshmem | a call of a program in C, one behind the other: `p8`, `put8` to lines of the heap; \
         `fetch-add`; `iput` of 1024 doubles so many doubles apart | the same program with Open MPI's OpenSHMEM",
        &[("c p8|put8/*/oshmem", At::Anywhere, Goal::Ratio(0.3)), ("c iput/*/oshmem", At::Anywhere, Goal::Ratio(0.2))]),
    row("c | put8-global/heap | `put8` to a global of a program in C | the same to the heap",
        &[("c put8-global/heap", At::Anywhere, Goal::RatioPlus(1.0, 0.5))]),
    row("c | operation/bytes/rust | what `micro` has, by a program in C | the same by a program in Rust",
        &[("c fetch-add/*/rust", At::Anywhere, Goal::RatioPlus(1.0, 2.0)), ("c barrier/*/rust", At::Anywhere, Goal::Ratio(1.1)),
        ("c put/4096../rust", At::Anywhere, Goal::Ratio(1.03))]),
    row("c | `wake`, `wake-plain`/futex | PEs outnumber cores, and each but one sleeps in `shmem_long_wait_until`: one step \
         of a word that goes round by `shmem_long_p`; the longest of 8 from the plain store of a thread until its own PE goes \
         on | the same by the kernel's wait and wake alone", &[("c wake/futex", At::Anywhere, Goal::AtMost(50.0)),
        ("c wake-plain/futex", At::Anywhere, Goal::AtMost(1100.0))]),
    row("c | start/PEs/rust | `examples/c/hello.c` from start to end | `examples/hello.rs`, by the same launcher",
        &[("c start/*/rust", At::Anywhere, Goal::RatioPlus(1.0, 0.5))]),
];

const C: Task = Task::near("c", c);

/// What the programs of single routines call, and the number that it takes.
const ROUTINES: [(&str, usize); 7] =
    [("p8", 8), ("put8", 8), ("fetch-add", 8), ("iput", 1), ("iput", 2), ("iput", 128), ("iput", 129)];

fn request(operation: &'static str, number: usize) -> Request {
    let times = if operation == "iput" { 30 } else { 20_000 };
    Request { case: format!("{operation}/{number}"), operation, numbers: format!("{number} {times}") }
}

/// What asks a program for each routine.
#[cfg(test)]
pub(crate) fn requests() -> impl Iterator<Item = Request> {
    ROUTINES.into_iter().map(|(routine, number)| request(routine, number))
}

/// PEs of the programs that are started.
const STARTED: usize = 4;

/// The programs of the C library, and one of Open MPI's.
pub(crate) const PROGRAMS: [Peer; 5] =
    [Peer::Library, Peer::Routines, Peer::Waking, Peer::Hello, Peer::OshmemRoutines];

/// Measures what some of the programs show.
pub(crate) fn measure(runner: &mut Runner, programs: &[Peer]) -> Done {
    let Some(programs) = runner.programs(programs, PATIENCE)? else { return Ok(()) };
    runner.repeat(&runner.job(&C, 2, &[("SHMEM_SYMMETRIC_SIZE", "48M".to_owned())]).beside(&programs))?;
    wakes(runner, &programs)?;
    starts(runner, &programs)
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
            "c wake/futex",
            asked("wake", STEPS),
            asked("futex", STEPS),
            "one step of a word that goes round by puts",
        ),
        (
            "c wake-plain/futex",
            asked("wake-plain", STORES),
            asked("futex-plain", STORES),
            "a plain store of a thread until its PE goes on, the longest of 8,",
        ),
    ];
    let mut records = Vec::new();
    for (name, ours, kernel, what) in cases {
        waking.check(&ours)?;
        waking.check(&kernel)?;
        let pair = || Ok::<_, PeerError>((waking.sample(&ours)? / 1e3, waking.sample(&kernel)? / 1e3));
        let samples = Samples::tried(runner.repetitions, pair)?;
        let compared = format!("{what} against the kernel's wait and wake alone, PEs outnumber cores");
        records.push(Record::new(&site, name, "us", &compared, samples));
    }
    runner.show(records);
    Ok(())
}

/// Measures starts of a program in C and of the same in Rust, by the same launcher.
fn starts(runner: &mut Runner, programs: &Programs) -> Done {
    let Some(c) = Programs::of(Peer::Hello, programs.directory()) else { return Ok(()) };
    let rust = sources::built("hello", &["-p", "shmem-examples", "--bin", "hello"])?;
    let job = Asked { pes: STARTED, ..Asked::default() };
    let start = |program: &Path| {
        let (milliseconds, ended) = milliseconds(|| job.run_program(program));
        ended.map(|_| milliseconds)
    };
    // What they are read from is in memory then.
    start(&c)?;
    start(&rust)?;
    let samples = Samples::tried(runner.repetitions, || Ok::<_, JobError>((start(&c)?, start(&rust)?)))?;
    let cores = affinity::allowed()?.len();
    let site = Site { shared_cores: STARTED > cores, ..Site::near(STARTED) };
    let compared = "start and end of a hello in C against one in Rust";
    runner.show(vec![Record::new(&site, &format!("c start/{STARTED}/rust"), "ms", compared, samples)]);
    Ok(())
}

/// Rounds of a sample.
const STEPS: usize = 50;

/// Stores of a sample.
const STORES: usize = 8;

/// PE 0 brings the programs in C: those of single routines of both libraries, and the micro-benchmarks.
fn c(bench: &mut Bench<'_>) -> Records {
    let (library, mut others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut bench.beside).into_iter().partition(|running| running.peer() == Peer::Library);
    bench.beside = library;
    let mut records = routines(bench, &mut others);
    // Those in which C and Rust do the same in the same order.
    let is_shared =
        |case: MicroCase| !matches!(case.operation, "histogram" | "index-gather") && !case.is_direct();
    records.extend(micro::in_turn(bench, is_shared, |bench, case, ours| {
        let mut records = Vec::new();
        for (peer, _, found) in micro::beside(bench, case, ours) {
            let name = format!("c {}/rust", case.name());
            match found {
                Ok(samples) => {
                    let compared =
                        "a program in C against the same in Rust; time for each operation, message or byte";
                    let turned = samples.map(|rust, c| (c, rust));
                    records.push(bench.record_in(case.unit(), &name, compared, turned));
                }
                Err(reason) => bench.fail(&name, peer, reason),
            }
        }
        records
    })?);
    Ok(records)
}

/// Single routines: of both libraries, and to a global beside the heap.
fn routines(bench: &Bench<'_>, programs: &mut [Running]) -> Vec<Record> {
    let (ours, theirs): (Vec<_>, Vec<_>) =
        programs.iter_mut().partition(|running| running.peer() == Peer::Routines);
    let (mut ours, mut theirs) = (ours.into_iter().next(), theirs.into_iter().next());
    let Some(ours) = &mut ours else { return Vec::new() };
    let mut records = Vec::new();
    let mut add = |name: &str, compared: &str, samples: Result<Samples, PeerError>| match samples {
        Ok(samples) => records.push(bench.record(name, compared, samples)),
        Err(reason) => eprintln!("shmem-perf: {name}: {reason}"),
    };
    for (routine, number) in ROUTINES {
        let Some(theirs) = &mut theirs else { break };
        let asked = request(routine, number);
        let samples = ours.check(&asked).and_then(|()| theirs.check(&asked)).and_then(|()| {
            Samples::tried(bench.repetitions, || Ok((ours.sample(&asked)?, theirs.sample(&asked)?)))
        });
        let compared = format!("single routines in C against {}", theirs.library());
        add(&format!("c {routine}/{number}/oshmem"), &compared, samples);
    }
    let (global, heap) = (request("put8-global", 8), request("put8", 8));
    let pair = |ours: &mut Running| {
        Samples::tried(bench.repetitions, || Ok((ours.sample(&global)?, ours.sample(&heap)?)))
    };
    let samples = ours.check(&global).and_then(|()| pair(ours));
    add("c put8-global/heap", "a put to a global in C against one to the heap", samples);
    records
}
