//! A job that fails ends with one error text and an exit code. (PEs in different collectives: `agreement`.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use shmem::launch::{Failure, Launch, Outcome};
use shmem::prelude::*;
use shmem::{Lock, Team, TeamConfig};
use shmem_core::memory::Machine;
use shmem_core::partition::Kind;

use crate::attempts::one_of;
use crate::scenario::{self, assert_says, said_by, says, succeeds};

#[symmetric]
static GRID: [f64; 8];
#[symmetric]
static READY: Signal;
#[symmetric]
static LOCK: Lock;

fn die() -> ! {
    let pid = rustix::process::getpid();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    unreachable!()
}

/// Runs a job that must fail before its time limit. Returns its outcome, and the output of the launcher and of the PEs.
#[track_caller]
fn fails(job: Launch) -> (Outcome, String) {
    let outcome = job.run().unwrap();
    assert!(outcome.code != 0 && outcome.failure != Some(Failure::TimedOut), "{}", outcome.report);
    let said = outcome.report.clone() + &scenario::said(&outcome);
    (outcome, said)
}

fn job(program: &str, pes: usize) -> Launch {
    scenario::job("failure", program, pes)
}

/// The PEs' entry: runs the program that the scenario names.
#[test]
fn scenario() {
    let Some(name) = scenario::named() else { return };
    let mut world: World = shmem::init().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(3)
    });
    let failing = FAILING.iter().find(|failing| failing.name == name);
    match (failing, &*name) {
        (Some(failing), _) => (failing.run)(&mut world),
        (_, "global exit") => exits_globally(&world),
        (_, "long wait") => waits_for_long(&world),
        (_, "barrier") => world.barrier_all(),
        (_, "partitions") => (0..2).for_each(|_| {
            world.create_partition("SIZE=1M:KIND=FASTMEM:POLICY=PREFERRED").unwrap();
        }),
        _ => panic!("there is no program {name}"),
    }
}

/// A program that fails: its number of PEs, its exit code, parts of the report, and parts of all output.
struct Failing {
    name: &'static str,
    run: fn(&mut World),
    pes: usize,
    code: u8,
    reported: &'static [&'static str],
    said: &'static [&'static str],
}

macro_rules! failing {
    ($($name:literal |$world:ident| $run:block => $pes:literal, $code:literal, $reported:expr, $said:expr;)*) => {
        const FAILING: &[Failing] = &[$(Failing {
            name: $name,
            run: |$world| $run,
            pes: $pes,
            code: $code,
            reported: &$reported,
            said: &$said,
        }),*];
    };
}

const KILLED: &str = "was killed by signal 9 (SIGKILL)";

failing! {
    "a PE dies, and others wait at the end of a phase" |world| {
        let me = world.my_pe();
        world.local(&GRID, |_| if me == 1 { die() });
    } => 3, 137, ["PE 1", KILLED, "PEs 0, 2 wait in `the end of local(GRID)` at"], [];

    // A caught panic would return the world to the program, while other PEs still have references to its memory.
    "a panic that is caught outside of a phase" |world| {
        let me = world.my_pe();
        let open = || world.local(&GRID, |_| assert!(me != 0, "the body fails"));
        let _ = catch_unwind(AssertUnwindSafe(open));
    } => 3, 101, ["PE 0"], ["the body fails", "a panic inside `local(GRID)` at", "ends the job"];

    "a panic that is caught outside of a phase of a team" |world| {
        let (me, team) = (world.my_pe(), of_two(world));
        let object = team.alloc(world, [0_u64; 4]).unwrap();
        let open = || team.local(world, &object, |_| assert!(me != 2, "the body fails"));
        let _ = catch_unwind(AssertUnwindSafe(open));
    } => 4, 101, [],
        ["the body fails", "a panic inside `local(4 x u64, allocated by a team at", "failure.rs:", "ends the job"];

    // PE 0 would make the array again, while the other PEs wait for the first one.
    "a panic that is caught in first elements" |world| {
        let me = world.my_pe();
        for _ in 0..2 {
            let element = |[i]: [usize; 1]| {
                assert!((me, i) != (0, 50), "this element fails");
                i as u64
            };
            let make = || world.array([100]).from_fn(element).map(drop);
            let _ = catch_unwind(AssertUnwindSafe(make));
        }
    } => 3, 101, [], ["this element fails", "a panic in the first elements of the array at", "ends the job"];

    // PEs 0 and 2 are in another team.
    "members of a team in different collectives" |world| {
        let team = of_two(world);
        if world.my_pe() == 3 {
            team.max(world, 1_u32);
        }
        team.sum(world, 1_u32);
        team.max(world, 1_u32);
    } => 4, 1, ["on what they do: PE 1 is in `sum(team #2 with 2 PEs, 1 x u32)` at", " while PE 3 is in `max(team #2 with 2 PEs, 1 x u32)` at"], [];

    "a collective inside an operation" |world| {
        _ = world.reduce(1_u64, |a, _| world.sum(a));
    } => 2, 101, [], ["no collective can begin inside another one", "a panic inside the operation of `reduce("];
}

fn of_two(world: &World) -> Team {
    let colour = Some(world.my_pe() as u64 % 2);
    world.team().split_by(world, colour, 0, &TeamConfig::default()).unwrap().unwrap()
}

#[test]
fn what_fails_ends_the_job_with_its_code_and_says_where_pes_are() {
    for Failing { name, pes, code, reported, said, .. } in FAILING {
        let (outcome, found) = fails(job(name, *pes));
        assert_eq!(outcome.code, *code, "{name}: {found}");
        assert_says(&outcome.report, reported);
        assert_says(&found, said);
    }
}

fn exits_globally(world: &World) {
    if world.my_pe() == 1 {
        print!("unfinished");
        if std::env::var_os(HELD).is_some() {
            let (locked, is_locked) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let _held = std::io::stdout().lock();
                locked.send(()).unwrap();
                loop {
                    std::thread::park();
                }
            });
            is_locked.recv().unwrap();
        }
        world.global_exit(7);
    }
    world.barrier_all();
}

#[test]
fn a_global_exit_ends_the_job_behind_what_was_printed_and_does_not_wait_for_who_prints() {
    let job = || job("global exit", 2);
    for (job, is_printed) in [(job(), true), (job().env(HELD, "1"), false)] {
        let (outcome, _) = fails(job);
        assert!(
            matches!(outcome.failure, Some(Failure::Aborted { pe: 1, code: 7, .. })),
            "{}",
            outcome.report
        );
        let printed = String::from_utf8_lossy(&outcome.outputs[1].out);
        assert!(printed.ends_with("unfinished") || !is_printed, "{printed}");
    }
}

fn waits_for_long(world: &World) {
    let held = (world.my_pe() == 0).then(|| world.lock(&LOCK));
    world.sync_all();
    match world.my_pe() {
        0 => {
            std::thread::sleep(Duration::from_millis(1500));
            drop(held);
            world.signal_set(READY.on(world.pe(1).unwrap()), 1);
        }
        1 => _ = READY.wait_until(world, eq(1)),
        2 => drop(world.lock(&LOCK)),
        _ => {}
    }
    world.barrier_all();
}

#[test]
fn a_long_wait_says_who_where_and_for_whom() {
    let job = |warn: &str| job("long wait", 4).env("SHMEM_WAIT_WARN", warn).env("SHMEM_DEBUG", "1");
    one_of(5, |_| {
        let outcome = succeeds(job("0.4"));
        let (word, barrier) = ("in `wait_until(READY == 1, is 0)` at", "in `barrier` at");
        let lock = "in `lock(LOCK, held by PE 0 since shmem-rt/tests/jobs/failure.rs:";
        for (pe, parts) in [
            (1, [word, "PE 0 (in its own code)", "PE 2 (in `lock(LOCK", "PE 3 (in `barrier` at"]),
            (2, [lock; 4]),
            (
                3,
                [barrier, "for PE 0 (in its own code); PE 1 (in `wait_until(READY == 1, is 0)` at", lock, ""],
            ),
        ] {
            let said = said_by(&outcome, pe);
            // With `SHMEM_DEBUG`, the text also names the process of each PE.
            says(&said, &[&*format!("PE {pe} has waited 0."), &*format!("shmem: PE {pe} is process ")])?;
            says(&said, &parts)?;
        }
        Ok(())
    });
    let quiet = said_by(&succeeds(job("0")), 1);
    assert!(!quiet.contains("has waited"), "{quiet}");
}

#[test]
fn a_kind_of_memory_that_is_only_preferred_is_missed_once_a_partition_or_not_at_all() {
    if has_fast_memory() {
        return;
    }
    for (program, warn, lines) in [("barrier", "1", 1), ("barrier", "0", 0), ("partitions", "1", 3)] {
        let job = job(program, 3).env("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1M:KIND=F:POLICY=P");
        let said = scenario::said(&succeeds(job.env("SHMEM_PARTITION_WARN", warn)));
        assert_eq!(said.matches("KIND=FASTMEM: this machine has none").count(), lines, "{said}");
    }
}

/// The causes are settings of one PE, settings of all PEs, and limits of the process.
#[test]
fn what_a_job_cannot_start_with_is_one_error() {
    let below = |line: &str| {
        let script = format!("{line}; exec \"$0\" \"$@\"");
        scenario::below(Launch::new("sh", 2).args(["-c", &script]), "failure", "barrier")
    };
    for (line, parts) in REFUSED {
        if line.ends_with("KIND=F:POLICY=M") && has_fast_memory() {
            continue;
        }
        let is_of_one = !line.contains(' ');
        let place = if is_of_one { "[ \"$SHMRUN_PE\" != 1 ] || export " } else { "" };
        let (outcome, said) = fails(below(&format!("{place}{line}")));
        assert_says(&said, parts);
        if is_of_one {
            assert_says(&outcome.report, &["do not agree on the layout of symmetric memory"]);
            assert_says(&outcome.report, &["same binary with the same SHMEM_ variables"]);
        }
        assert!(outcome.code < 100, "an error, not a crash: {said}");
    }
    succeeds(below("ulimit -v 4000000; export SHMEM_DYNAMIC_SIZE=0"));
}

/// (a shell command, or a setting of PE 1 alone; parts of the error text).
const REFUSED: &[(&str, &[&str])] = &[
    ("SHMEM_SYMMETRIC_SIZE=8M", &["partition 1", "8M", "64M"]),
    ("SHMEM_CHECK=1", &["`asked to observe: SHMEM_CHECK`", "`asked to observe: `"]),
    ("SHMEM_ARRAY_STORAGE=multi", &["storage of arrays that name none", "multi", "by size"]),
    ("SHMEM_TEAM_SIZE=1M", &["memory of teams", "1M", "64M"]),
    ("SHMEM_BARRIER_ALGORITHM=counter", &["barrier of a node", "counter", "auto"]),
    ("SHMEM_COLLECTIVE_ALGORITHM=reduce:barriers", &["ways of collectives", "reduce:barriers", "auto"]),
    (
        "ulimit -v 4000000",
        &["(ulimit -v, RLIMIT_AS) is about 3.8G", "raise the limit, lower SHMEM_DYNAMIC_SIZE"],
    ),
    (
        "ulimit -v 4000000; export SHMEM_DYNAMIC_SIZE=0 SHMEM_SYMMETRIC_SIZE=5G",
        &["lower partition 1", "(5G of these)"],
    ),
    ("ulimit -f 1000", &["(ulimit -f, RLIMIT_FSIZE)", "raise the limit"]),
    ("export SHMEM_SYMMETRIC_PARTITION2=SIZE=1M:KIND=F:POLICY=M", &["this machine has none"]),
    ("export SHMEM_MAX_RESOURCES=1", &["2 PEs on a node need 2 endpoints, one each, and may have 1; raise"]),
    ("export SHMEM_SYMMETRIC_PARTITION1=SIZE=900T", &["900T"]),
    (
        "export SHMEM_TEAM_SIZE=1000000T",
        &[
            "lower SHMEM_TEAM_SIZE, the memory of teams",
            "1000000T of these",
            " at most, does not have that much left",
        ],
    ),
    (
        "export SHMEM_TEAM_SIZE=9000000T",
        &["SHMEM_TEAM_SIZE, the memory of teams: ", "9000000T are asked for", "lower it"],
    ),
    ("export SHMEM_DYNAMIC_SIZE=1000000T", &["lower SHMEM_DYNAMIC_SIZE, the addresses", "1000000T of these"]),
    ("export SHMEM_DYNAMIC_SIZE=9000000T", &["SHMEM_DYNAMIC_SIZE, the addresses", "9000000T", "lower it"]),
    ("export SHMEM_WAIT_WARN=soon", &["SHMEM_WAIT_WARN=soon", "number of seconds"]),
];

/// Environment variable of PEs, one of which locks its standard output.
const HELD: &str = "FAILURE_HELD";

fn has_fast_memory() -> bool {
    let has = !Machine::default().topology().of_kind(Kind::FastMem, 0).is_empty();
    if has {
        eprintln!("skipped: this machine has fast memory");
    }
    has
}
