//! What users see when a job goes wrong: one message, a code, and no hang.
//!
//! What PEs that do different things are told, on a node and between nodes, is in `agreement`.

use std::path::PathBuf;
use std::time::Duration;

use shmem::launch::{Failure, Launch, Outcome};
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{Lock, TeamConfig};
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

/// What a PE says whose thread-locals are destroyed.
const DESTROYED: &str = "a thread-local was destroyed";

/// What an exit of the program destroys, and no end that the library makes: transfers may still write there.
struct Kept;

impl Drop for Kept {
    fn drop(&mut self) {
        eprintln!("{DESTROYED}");
    }
}

/// The programs.
fn run(scenario: &str, world: &mut World) {
    let me = world.my_pe();
    match scenario {
        "different order on a team" => {
            let team = world.team().split_by(world, Some(me as u64 % 2), 0, &TeamConfig::default());
            let team = team.unwrap().unwrap();
            let mut value = 1_u32;
            if me == 3 {
                team.max(world, &mut value);
            }
            team.sum(world, &mut value);
            team.max(world, &mut value);
        }
        "holder dies" => {
            if me == 1 {
                std::mem::forget(world.lock(&LOCK));
            }
            world.barrier_all();
            others_wait_for(1, world);
            if me == 1 {
                die();
            }
            drop(world.lock(&LOCK));
        }
        "long lock" => {
            let held = (me == 1).then(|| world.lock(&LOCK));
            world.barrier_all();
            if held.is_some() {
                std::thread::sleep(Duration::from_millis(1500));
            }
            drop(held);
            if me != 1 {
                drop(world.lock(&LOCK));
            }
        }
        "panic inside local of a team" => {
            let team = world.team().split_by(world, Some(me as u64 % 2), 0, &TeamConfig::default());
            let team = team.unwrap().unwrap();
            let object = team.alloc(world, [0_u64; 4]).unwrap();
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                object.local(world, &team, |_| assert!(me != 2, "the body fails"));
            }));
        }
        "caught panic inside local" => {
            // Catching it does not give the world back: other PEs still hold references.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                world.local(&GRID, |_| assert!(me != 0, "the body fails"));
            }));
        }
        "collective inside an operation" => _ = world.reduce(1_u64, |a, _| world.sum(a)),
        "caught panic in first elements" => {
            // Caught, PE 0 would make the array again while the others wait for it to have made it.
            for _ in 0..2 {
                let element = |[i]: [usize; 1]| {
                    assert!((me, i) != (0, 50), "this element fails");
                    i as u64
                };
                let make = || world.array([100]).from_fn(element).map(drop);
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(make));
            }
        }
        "killed inside local" => world.local(&GRID, |_| {
            if me == 1 {
                die();
            }
        }),
        "killed in a barrier" => {
            others_wait_for(1, world);
            if me == 1 {
                die();
            }
            world.barrier_all();
        }
        "panic" => {
            others_wait_for(1, world);
            assert!(me != 1, "out of range");
            READY.wait_until(world, eq(1));
        }
        "exit" => {
            others_wait_for(0, world);
            if me == 0 {
                std::process::exit(0);
            }
            world.barrier_all();
        }
        "long waits" => {
            if me == 0 {
                std::thread::sleep(Duration::from_millis(1500));
                world.signal_set(READY.on(world.pe(1).unwrap()), 1);
            } else if me == 1 {
                READY.wait_until(world, eq(1));
            }
            world.barrier_all();
        }
        "debug" => {
            // Dropped at once; the next allocation takes it back.
            drop(world.alloc([0_u8; 100]).unwrap());
            let _ = world.malloc(64).unwrap();
        }
        "global exit" if me == 1 => {
            print!("unfinished");
            world.global_exit(7)
        }
        "global exit with a locked stream" if me == 1 => {
            let (locked, is_locked) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let _held = std::io::stdout().lock();
                locked.send(()).unwrap();
                loop {
                    std::thread::park();
                }
            });
            is_locked.recv().unwrap();
            world.global_exit(7)
        }
        "global exit" | "global exit with a locked stream" => world.barrier_all(),
        "partitions in a loop" => {
            for _ in 0..2 {
                world.create_partition("SIZE=1M:KIND=FASTMEM:POLICY=PREFERRED").unwrap();
            }
        }
        "nothing" => world.barrier_all(),
        other => panic!("there is no scenario {other}"),
    }
}

/// On one PE, returns when all others have come to where they wait; on those, at once.
fn others_wait_for(one: usize, world: &World) {
    let one = world.pe(one).unwrap();
    if one == world.me() {
        world.pes().iter().filter(|pe| *pe != one).for_each(|pe| crate::pes::wait_for(world, pe));
    } else {
        crate::pes::go(world, one);
    }
}

fn die() -> ! {
    let pid = rustix::process::getpid();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    unreachable!()
}

/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    thread_local!(static KEPT: Kept = const { Kept });
    if let Some(scenario) = scenario::named() {
        KEPT.with(|_| ());
        let mut world = shmem::init::<Single>().unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::exit(3)
        });
        run(&scenario, &mut world);
    }
}

fn job(scenario: &str, pes: usize) -> Launch {
    scenario::job("failure", scenario, pes)
}

/// Runs a job that must fail, and not because its time is over; gives also what was said, by the launcher and by all PEs.
/// The PE that has ended it has destroyed nothing.
#[track_caller]
fn fails(job: Launch) -> (Outcome, String) {
    let outcome = job.run().unwrap();
    assert!(outcome.code != 0 && outcome.failure != Some(Failure::TimedOut), "{}", outcome.report);
    if let Some(Failure::Aborted { pe, .. }) = outcome.failure {
        let said = said_by(&outcome, pe);
        assert!(!said.contains(DESTROYED), "{said}{}", outcome.report);
    }
    let said = outcome.report.clone() + &scenario::said(&outcome);
    (outcome, said)
}

/// Scenarios of so many PEs: what their end is called in the report, and what else is said, by anybody.
#[track_caller]
fn all_fail(code: Option<u8>, cases: &[(&str, usize, &[&str], &[&str])]) {
    for (scenario, pes, reported, others) in cases {
        let (outcome, said) = fails(job(scenario, *pes));
        assert!(code.is_none_or(|code| outcome.code == code), "{scenario}: {}: {said}", outcome.code);
        assert_says(&outcome.report, reported);
        assert_says(&said, others);
    }
}

#[test]
fn members_of_a_team_in_different_collectives_are_named() {
    for meeting in ["auto", "lines", "counter"] {
        let (Outcome { report, .. }, _) =
            fails(job("different order on a team", 4).env("SHMEM_BARRIER_ALGORITHM", meeting));
        assert_says(&report, &["PE 1 is in `sum(1 x u32)` at", "PE 3 is in `max(1 x u32)` at"]);
        let others = ["PE 0 is", "PE 2 is"];
        assert!(!others.iter().any(|pe| report.contains(pe)), "they are in another team: {report}");
    }
}

#[test]
fn a_dead_pe_ends_the_job_and_those_who_waited_for_it_are_told_of() {
    let killed = "was killed by signal 9 (SIGKILL)";
    all_fail(
        Some(137),
        &[
            ("holder dies", 3, &["PE 1", killed, "wait in `lock(LOCK, held by"], &[]),
            (
                "killed in a barrier",
                3,
                &["PE 1", killed, "PEs 0, 2 wait in `barrier` at", "tests/jobs/failure.rs:"],
                &[],
            ),
            (
                "killed inside local",
                3,
                &["PE 1", killed, "PEs 0, 2 wait in `the end of local(GRID)` at"],
                &[],
            ),
        ],
    );
    let left = "exited with code 0 before it left the job";
    all_fail(None, &[("exit", 2, &["PE 0", left, "PE 1 waits in `barrier` at"], &[DESTROYED])]);
}

#[test]
fn a_panic_ends_the_job_even_when_caught_where_others_cannot_go_on() {
    let inside = "a panic inside `local(GRID)` at";
    all_fail(
        Some(101),
        &[
            ("panic", 2, &["PE 1"], &["out of range", "PE 0 waits in `wait_until(READY == 1, is 0)` at"]),
            ("caught panic inside local", 3, &["PE 0"], &["the body fails", inside, "ends the job"]),
            (
                "panic inside local of a team",
                4,
                &[],
                &[
                    "the body fails",
                    "a panic inside `local(4 x u64, allocated by a team at",
                    "failure.rs:",
                    "ends the job",
                ],
            ),
            (
                "caught panic in first elements",
                3,
                &[],
                &["this element fails", "a panic in the first elements of the array at", "ends the job"],
            ),
            (
                "collective inside an operation",
                2,
                &[],
                &["no collective can begin inside another one", "a panic inside the operation of `reduce("],
            ),
        ],
    );
}

#[test]
fn a_long_wait_for_a_lock_says_who_holds_it_and_since_where() {
    one_of(5, |_| {
        let outcome = succeeds(job("long lock", 3).env("SHMEM_WAIT_WARN", "0.4"));
        [0, 2].into_iter().try_for_each(|pe| {
            let waits = format!("PE {pe} has waited 0.");
            let holds = "in `lock(LOCK, held by PE 1 since shmem-rt/tests/jobs/failure.rs:";
            says(&said_by(&outcome, pe), &[&waits, holds])
        })
    });
}

#[test]
fn a_global_exit_ends_the_job_behind_what_was_printed() {
    let (outcome, _) = fails(job("global exit", 2));
    let printed = String::from_utf8_lossy(&outcome.outputs[1].out);
    assert!(outcome.code == 7 && printed.ends_with("unfinished"), "{}{printed}", outcome.report);
    let (outcome, _) = fails(job("global exit with a locked stream", 2));
    assert!(matches!(outcome.failure, Some(Failure::Aborted { pe: 1, code: 7, .. })), "{}", outcome.report);
}

#[test]
fn a_long_wait_says_who_where_and_for_whom() {
    one_of(5, |_| {
        let outcome = succeeds(job("long waits", 3).env("SHMEM_WAIT_WARN", "0.4"));
        says(
            &said_by(&outcome, 1),
            &[
                "PE 1 has waited 0.",
                "in `wait_until(READY == 1, is 0)` at",
                "PE 0 (in its own code)",
                "PE 2 (in `barrier` at",
            ],
        )?;
        says(
            &said_by(&outcome, 2),
            &[
                "PE 2 has waited 0.",
                "in `barrier` at",
                "for PE 0 (in its own code); PE 1 (in `wait_until(READY == 1, is 0)` at",
            ],
        )
    });
    let quiet = said_by(&succeeds(job("long waits", 3).env("SHMEM_WAIT_WARN", "0")), 1);
    assert!(!quiet.contains("has waited"), "{quiet}");
}

#[test]
fn debugging_says_where_each_pe_is_and_what_its_heaps_held() {
    let outcome = succeeds(job("debug", 2).env("SHMEM_DEBUG", "1"));
    for pe in 0..2 {
        let end =
            format!("PE {pe} has reached the end; heap of `default`: at most 128 bytes used, now 64 bytes");
        assert_says(&said_by(&outcome, pe), &[&format!("shmem: PE {pe} is process "), &end]);
    }
}

/// A script between the launcher and PE 1 only.
fn only_on_pe_1(setting: &str, name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.sh", std::process::id()));
    let text = format!("#!/bin/sh\nif [ \"$SHMRUN_PE\" = 1 ]; then export {setting}; fi\nexec \"$@\"\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn pes_with_different_environments_do_not_start() {
    for (name, setting, parts) in [
        ("size", "SHMEM_SYMMETRIC_SIZE=8M", ["partition 1", "8M", "64M"]),
        ("observers", "SHMEM_CHECK=1", ["asked to observe", "SHMEM_CHECK", "nothing"]),
        ("storage", "SHMEM_ARRAY_STORAGE=multi", ["storage of arrays that name none", "multi", "by size"]),
        ("teams", "SHMEM_TEAM_SIZE=1M", ["memory of teams", "1M", "64M"]),
        ("barrier", "SHMEM_BARRIER_ALGORITHM=counter", ["barrier of a node", "counter", "auto"]),
        (
            "collectives",
            "SHMEM_COLLECTIVE_ALGORITHM=reduce:meetings",
            ["ways of collectives", "reduce:meetings", "auto"],
        ),
    ] {
        let script = only_on_pe_1(setting, name);
        let (outcome, _) = fails(scenario::below(Launch::new(&script, 2), "failure", "nothing"));
        std::fs::remove_file(script).unwrap();
        assert_says(&outcome.report, &["do not agree on the layout of symmetric memory"]);
        assert_says(&outcome.report, &parts);
        assert_says(&outcome.report, &["same binary with the same SHMEM_ variables"]);
    }
}

#[test]
fn limits_of_the_process_are_named_with_what_to_lower() {
    let limited = |limit: &str| {
        let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        scenario::below(Launch::new("sh", 2).args(["-c", &script]), "failure", "nothing")
    };
    let (_, said) = fails(limited("-v 4000000"));
    assert_says(&said, &["(ulimit -v, RLIMIT_AS) is about 3.8G", "raise the limit, lower SHMEM_LATER_SIZE"]);
    let (_, said) =
        fails(limited("-v 4000000").env("SHMEM_LATER_SIZE", "0").env("SHMEM_SYMMETRIC_SIZE", "5G"));
    assert_says(&said, &["lower partition 1", "(5G of these)"]);
    succeeds(limited("-v 4000000").env("SHMEM_LATER_SIZE", "0"));
    let (_, said) = fails(limited("-f 1000"));
    assert_says(&said, &["(ulimit -f, RLIMIT_FSIZE)", "raise the limit"]);
}

/// Whether this machine has what others have not.
fn has_fast_memory() -> bool {
    let has = !Machine::default().topology().of_kind(Kind::FastMem, 0).is_empty();
    if has {
        eprintln!("skipped: this machine has fast memory");
    }
    has
}

#[test]
fn a_kind_of_memory_that_is_only_preferred_is_missed_once_a_partition_or_not_at_all() {
    if has_fast_memory() {
        return;
    }
    for (scenario, warn, lines) in
        [("nothing", "1", 1), ("nothing", "0", 0), ("partitions in a loop", "1", 3)]
    {
        let job = job(scenario, 3).env("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1M:KIND=F:POLICY=P");
        let said = scenario::said(&succeeds(job.env("SHMEM_PARTITION_WARN", warn)));
        assert_eq!(said.matches("KIND=FASTMEM: this machine has none").count(), lines, "{said}");
    }
}

#[test]
fn a_malformed_environment_is_one_error() {
    for (key, value, parts) in [
        ("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1M:KIND=F:POLICY=M", &["this machine has none"][..]),
        ("SHMEM_MAX_RESOURCES", "1", &["2 PEs on a node need 2 endpoints, one each, and may have 1; raise"]),
        ("SHMEM_SYMMETRIC_PARTITION1", "SIZE=900T", &["900T"]),
        (
            "SHMEM_TEAM_SIZE",
            "1000000T",
            &[
                "lower SHMEM_TEAM_SIZE, the memory of teams",
                "1000000T of these",
                " at most, does not have that much left",
            ],
        ),
        (
            "SHMEM_TEAM_SIZE",
            "9000000T",
            &["SHMEM_TEAM_SIZE, the memory of teams: ", "9000000T are asked for", "lower it"],
        ),
        ("SHMEM_LATER_SIZE", "1000000T", &["lower SHMEM_LATER_SIZE, the addresses", "1000000T of these"]),
        ("SHMEM_LATER_SIZE", "9000000T", &["SHMEM_LATER_SIZE, the addresses", "9000000T", "lower it"]),
        ("SHMEM_WAIT_WARN", "soon", &["SHMEM_WAIT_WARN=soon", "number of seconds"]),
    ] {
        if value.ends_with("KIND=F:POLICY=M") && has_fast_memory() {
            continue;
        }
        let (outcome, said) = fails(job("nothing", 2).env(key, value));
        assert_says(&said, parts);
        assert!(outcome.code < 100, "an error, not a crash: {said}");
    }
}
