//! Checked mode: each kind of mistake, planted and found with the lines of both calls, and remedies, in which nothing is found.
//! (Nor is it in all programs of `ordered`: `ci/check.sh`.)

use std::path::Path;
use std::time::Duration;

use shmem::launch::Outcome;
use shmem::prelude::*;
use shmem::thread::{Multiple, Private, Single};
use shmem::{SignalOp, TeamConfig};

use crate::scenario;

#[symmetric]
static DATA: [u64; 64];
#[symmetric]
static FLAG: Signal;
#[symmetric]
static TURN: Atomic<u64>;
/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    if let Some(scenario) = scenario::named() {
        let mut world = shmem::init::<Single>().unwrap();
        run(&scenario, &mut world);
    }
}

/// Variable with a file that PE 0 makes when it has done its part.
const DONE: &str = "CHECK_DONE";

/// Later than what PE 0 does, by no means that the library could see.
fn later() {
    let done = std::env::var_os(DONE).unwrap();
    while !Path::new(&done).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn run(scenario: &str, world: &mut World) {
    let me = world.my_pe();
    let one = world.pe(1).unwrap();
    match (scenario, me) {
        ("early flag" | "fenced flag" | "flag of another context", 0) => {
            let ctx = world.create_ctx::<Private>().unwrap();
            world.put(DATA.on(one).index(..8), &[1; 8]); // early: put
            if scenario == "fenced flag" {
                world.fence();
            }
            match scenario {
                "early flag" | "fenced flag" => world.signal_set(FLAG.on(one), 1), // early: flag
                _ => ctx.bind(world).signal_set(FLAG.on(one), 1),                  // early: flag of another
            }
        }
        ("early flag" | "fenced flag" | "flag of another context", 1) => {
            FLAG.wait_until(world, eq(1)); // early: wait
            DATA.here(world).index(3).load(); // early: read
        }
        ("ring" | "fenced ring", 0) => {
            for slot in 0..4 {
                let place = DATA.on(one).index(8 * slot..8 * slot + 8);
                world.put_signal(place, &[1; 8], FLAG.on(one), SignalOp::Add(1)); // ring: put
                if scenario == "fenced ring" {
                    world.fence();
                }
            }
        }
        ("ring" | "fenced ring", 1) => {
            later();
            for slot in 0..4 {
                FLAG.wait_until(world, ge(slot as u64 + 1)); // ring: wait
                DATA.here(world).index(8 * slot).load(); // ring: read
            }
        }
        ("two puts", 0) => world.p(DATA.on(one).index(5), 1), // race: first
        ("two puts", 2) => {
            later();
            world.put(DATA.on(one).index(4..6), &[2; 2]); // race: second
        }
        ("two columns", 0) => world.iput(DATA.on(one).index(..), &[1; 8], 8, 1, 8),
        ("two columns", 2) => world.iput(DATA.on(one).index(1..), &[1; 7], 8, 1, 7),
        ("put and store", 0) => world.p(DATA.on(one).index(5), 1), // store: first a put
        ("put and store", 1) => {
            later();
            DATA.here(world).index(5).store(2); // store: then this
        }
        ("in turn", me) => {
            // Each PE writes when the one before has, through two more words and without a barrier.
            let zero = world.pe(0).unwrap();
            while world.fetch(TURN.on(zero)) != me as u64 {}
            world.p(DATA.on(one).index(5), me as u64);
            world.quiet();
            world.inc(TURN.on(zero));
        }
        ("sync is not quiet", 0) => {
            world.p(DATA.on(one).index(5), 1); // sync: put
            world.sync_all();
        }
        ("sync is not quiet", _) => {
            world.sync_all();
            if me == 1 {
                DATA.here(world).index(5).load(); // sync: read
            }
        }
        ("source in flight" | "source at rest", 0) => {
            world.put_from(DATA.on(one).index(..8), DATA.here(world).index(8..16)); // reuse: source
            if scenario == "source at rest" {
                world.quiet();
            }
            DATA.here(world).index(9).store(1); // reuse: store
        }
        ("destination in flight", 0) => {
            world.get_into(DATA.here(world).index(..8), DATA.on(one).index(..8)); // reuse: destination
            DATA.here(world).index(1).load(); // reuse: load
        }
        ("two teams" | "two teams in order", _) => {
            let all = |world: &World| {
                let pes = world.n_pes();
                world.team().split_strided(world, 0, 1, pes, &TeamConfig::default()).unwrap().unwrap()
            };
            let (first, second) = (all(world), all(world));
            if me == 2 && scenario == "two teams" {
                second.sync(world); // teams: second
                first.sync(world);
            } else {
                first.sync(world); // teams: first
                second.sync(world);
            }
        }
        _ => {}
    }
    if me == 0 {
        std::fs::write(std::env::var_os(DONE).unwrap(), "").unwrap();
    }
}

fn job(scenario: &str, choice: &str) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let job = scenario::job("check", scenario, 3).env("SHMEM_CHECK", choice);
    job.env(DONE, directory.path().join("done").to_str().unwrap()).run().unwrap()
}

/// The lines that were said of mistakes.
fn reports(outcome: &Outcome) -> Vec<String> {
    let said = scenario::said(outcome);
    let reports = said.lines().filter(|line| line.contains("shmem: check: ") && !line.contains("warning"));
    reports.map(str::to_owned).collect()
}

/// The line of this file that ends with a remark, as reports name it.
fn line(remark: &str) -> String {
    let ending = format!("// {remark}");
    let found: Vec<_> =
        include_str!("check.rs").lines().enumerate().filter(|(_, line)| line.ends_with(&ending)).collect();
    assert_eq!(found.len(), 1, "{remark}");
    format!("{}:{}", file!(), found[0].0 + 1)
}

/// A scenario has one mistake: its report holds these parts.
#[track_caller]
fn finds(scenario: &str, parts: &[&str]) {
    let outcome = job(scenario, "1");
    let reports = reports(&outcome);
    assert_eq!(reports.len(), 1, "{scenario}: {reports:#?} {}", outcome.report);
    scenario::assert_says(&reports[0], parts);
    assert_eq!(outcome.code, 1, "a mistake is an error of the job");
    assert!(outcome.report.contains("SHMEM_CHECK found 1 mistake, reported above"), "{}", outcome.report);
}

#[track_caller]
fn finds_nothing(scenario: &str) {
    let outcome = job(scenario, "1");
    assert!(outcome.code == 0 && reports(&outcome).is_empty(), "{scenario}: {:#?}", reports(&outcome));
}

#[test]
fn a_flag_in_front_of_its_data() {
    let (put, wait, read) = (line("early: put"), line("early: wait"), line("early: read"));
    let data =
        ["PE 0 in `put` at ", &put, "PE 1 in `here load` at ", &read, "`wait_until` at ", &wait, "DATA"];
    let flag = format!("`signal_set` at {}", line("early: flag"));
    finds("early flag", &[data.as_slice(), &[&flag, "call fence() between"]].concat());
    let flag = format!("`signal_set` at {}", line("early: flag of another"));
    finds("flag of another context", &[data.as_slice(), &[&flag]].concat());
    finds_nothing("fenced flag");
}

#[test]
fn a_signal_says_nothing_of_other_puts() {
    let [put, wait, read] = ["put", "wait", "read"].map(|call| line(&format!("ring: {call}")));
    let calls = [
        format!("PE 0 in `put_signal` at {put}"),
        format!("PE 1 in `here load` at {read}"),
        format!("`wait_until` at {wait}"),
    ];
    let both = "a signal orders its own data and what lies behind the last fence";
    finds("ring", &[&calls[0], &calls[1], &calls[2], "DATA", both]);
    finds_nothing("fenced ring");
}

/// Each of two threads comes to collectives of its own team, on PE 0 to the one first, on PE 1 to the other.
#[shmem::test(pes = 2, env("SHMEM_CHECK" = "abort"))]
fn threads_are_in_collectives_of_their_own_teams(world: &mut World<Multiple>) {
    let (world, me) = (&*world, world.my_pe());
    let team = world.team().split_strided(world, 0, 1, 2, &TeamConfig::default()).unwrap().unwrap();
    // Whatever the order is, it is right; this one has been taken for a circle.
    let later = || std::thread::sleep(Duration::from_millis(200));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if me == 1 {
                later();
            }
            drop(world.alloc(shmem::zeroed::<u8>(100)).unwrap());
        });
        if me == 0 {
            later();
        }
        team.barrier(world);
    });
}

#[test]
fn two_accesses_that_nothing_orders() {
    for (scenario, [first, second], lines) in [
        ("two puts", ["PE 0 in `p`", "PE 2 in `put`"], ["race: first", "race: second"]),
        (
            "put and store",
            ["PE 0 in `p`", "PE 1 in `here store`"],
            ["store: first a put", "store: then this"],
        ),
        ("sync is not quiet", ["PE 0 in `p`", "PE 1 in `here load`"], ["sync: put", "sync: read"]),
    ] {
        let [one, other] = lines.map(line);
        let calls = [format!("{first} at {one}"), format!("{second} at {other}")];
        finds(scenario, &[&calls[0], &calls[1], "nothing orders them", "of PE 1"]);
    }
    ["two columns", "in turn"].into_iter().for_each(finds_nothing);
}

#[test]
fn a_buffer_in_flight() {
    for (scenario, (then, does), (first, may)) in [
        ("source in flight", ("store", "writes"), ("put_nbi", "read")),
        ("destination in flight", ("load", "reads"), ("get_nbi", "write")),
    ] {
        let begun = scenario.split(' ').next().unwrap();
        let [begun, used] = [begun, then].map(|call| line(&format!("reuse: {call}")));
        let used = format!("PE 0 in `here {then}` at {used} {does} a buffer");
        finds(scenario, &[&used, &format!("PE 0 in `{first}` at {begun} may still {may}")]);
    }
    finds_nothing("source at rest");
}

#[test]
fn collectives_of_two_teams_in_different_orders() {
    let outcome = job("two teams", "1");
    let [first, second] = ["teams: first", "teams: second"].map(line);
    let parts =
        ["collectives in different orders", "PE 2 is in `sync` at ", &first, &second, "waits for PE 2"];
    scenario::assert_says(&outcome.report, &parts);
    assert_eq!(outcome.code, 1);
    finds_nothing("two teams in order");
}

#[test]
fn the_first_mistake_may_end_the_job() {
    let outcome = job("two puts", "abort");
    assert_eq!((outcome.code, reports(&outcome).len()), (1, 0));
    let parts = ["PE 2", "check: ", &line("race: first"), &line("race: second")];
    scenario::assert_says(&outcome.report, &parts);
}
