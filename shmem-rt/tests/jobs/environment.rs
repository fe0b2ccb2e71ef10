//! Jobs in unusual environments. They start, or end with one error text and without a panic.

use std::process::Command;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use shmem::launch::{Bind, Failure, Launch};
use shmem::prelude::*;
use shmem::thread::Single;

use crate::scenario;

#[symmetric]
static WORDS: [u64; 64];

#[test]
fn scenario() {
    if scenario::named().is_none() {
        return;
    }
    let mut world = shmem::init::<Single>().unwrap_or_else(|error| {
        eprintln!("refused: {error}");
        std::process::exit(2);
    });
    let next = world.pe((world.my_pe() + 1) % world.n_pes()).unwrap();
    // Uses what most variables configure: the heap, arrays, strided transfers.
    let array = world.array([100]).zeroed::<u8>();
    world.iput(WORDS.on(next).index(..), &[7; 16], 4, 1, 16);
    world.barrier_all();
    drop(array);
    world.local(&WORDS, |words| assert!((0..64).all(|at| words[at] == if at % 4 == 0 { 7 } else { 0 })));
}

#[test]
fn programs_run_under_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: no valgrind here");
        return;
    }
    for tool in [&["--tool=memcheck", "--error-exitcode=9"][..], &["--tool=callgrind"], &["--tool=helgrind"]]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("--callgrind-out-file={}/%p", folder.path().display());
        let tool = Launch::new("valgrind", 2).args(tool).args((tool == ["--tool=callgrind"]).then_some(file));
        scenario::succeeds(scenario::below(tool, "environment", "all").timeout(Duration::from_secs(300)));
    }
}

fn job() -> Launch {
    scenario::job("environment", "all", 2)
}

#[test]
fn the_cpus_of_pes_are_shown() {
    let outcome = scenario::succeeds(job().env("SHMEM_INFO", "1").bind(Bind::Core));
    let said = scenario::said_by(&outcome, 0);
    let line = said.lines().find_map(|line| line.strip_prefix("shmem: CPUs of the PEs of this host: "));
    let sets = line.expect(&said).split("; ").map(|set| set.split_once(": ").unwrap());
    let (pes, cpus): (Vec<&str>, Vec<&str>) = sets.unzip();
    let is_one = shmem_launch::cpus::allowed().unwrap().len() == 1;
    assert_eq!(pes, if is_one { &["PEs 0, 1"][..] } else { &["PE 0", "PE 1"] }, "{said}");
    assert!(cpus.iter().all(|cpu| cpu.parse::<usize>().is_ok()), "{said}");
    assert!(said.contains("\nshmem: SHMEM_BIND=share\n"), "{said}");
}

#[test]
fn every_environment_that_is_kept_is_a_job_or_one_message() {
    let corpus = include_str!("../../../shmem-launch/tests/environment/corpus.txt");
    let mut refused = 0;
    for part in corpus.split("\n\n") {
        let lines: Vec<_> = part.lines().filter(|line| !line.starts_with('#')).collect();
        if lines.is_empty() {
            continue;
        }
        let mut job = job();
        for line in &lines {
            let (name, value) = line.split_once('=').unwrap();
            job = job.env(name, value);
        }
        let outcome = job.run().unwrap();
        let printed = outcome.outputs.iter().flat_map(|one| [&one.out, &one.err]);
        let printed: String = printed.map(|bytes| String::from_utf8_lossy(bytes)).collect();
        let said = format!("{lines:?}: {:?}\n{}{printed}", outcome.failure, outcome.report);
        assert!(!said.contains("panicked"), "{said}");
        if outcome.code == 0 {
            continue;
        }
        refused += 1;
        // Before PEs join the job, each PE prints the error. Later, one PE prints it for all.
        let (alone, together) =
            (printed.contains("refused: "), outcome.report.matches("ended the job with code").count());
        assert!(alone || together == 1, "{said}");
        assert!(outcome.code < 100 && !matches!(outcome.failure, Some(Failure::TimedOut)), "{said}");
    }
    assert!(refused > 20, "{refused}");
}

fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

/// PEs on one CPU yield to each other in barriers, and rarely sleep. Other processes may disturb a run.
#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "shm"))]
fn whoever_waits_yields_to_the_pe_on_its_cpu(world: &mut World) {
    const BARRIERS: u64 = 500;
    if world.pes().iter().any(|pe| pe.on_node().is_none()) {
        return;
    }
    let allowed = sched_getaffinity(None).unwrap();
    if allowed.count() < 2 {
        return eprintln!("skipped: PEs that outnumber the CPUs yield, whoever runs where");
    }
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap());
    sched_setaffinity(None, &one).unwrap();
    let run = || {
        let before = sleeps();
        (0..BARRIERS).for_each(|_| world.barrier_all());
        world.max(sleeps() - before)
    };
    let slept: Vec<u64> = (0..10).map(|_| run()).collect();
    assert!(
        slept.iter().any(|slept| *slept < BARRIERS / 10),
        "in {BARRIERS} barriers PEs slept {slept:?} times"
    );
}
