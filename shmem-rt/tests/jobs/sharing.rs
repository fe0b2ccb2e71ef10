//! PEs that share a CPU.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use shmem::prelude::*;

/// How often the calling thread has slept.
fn sleeps() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

/// They neither keep each other from running nor have the kernel wake them each time: what others on the CPU do may
/// disturb a run.
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
