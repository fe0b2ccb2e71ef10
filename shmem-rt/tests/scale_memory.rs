//! What a PE keeps for the others of its job: its own memory, counted where it is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use shmem::launch::Launch;
use shmem::thread::Single;
use shmem_core::memory::Machine;

/// The system's allocator, and how much of it is in use.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is one of the system's allocator, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a PE keeps for each PE of its job, all of which are its neighbours: what is the same for all of them, as what they were
/// given of memory, it keeps once.
const FOR_EACH: u64 = 98;

/// What a PE has of its own, at most: names, lists of CPUs and of memory, which differ from machine to machine.
const MOST_OF_ITS_OWN: u64 = 200_000;

const JOBS: [u64; 4] = [2, 8, 32, 64];

const PE: &str = "SCALE_MEMORY_PE";

/// Not a test by itself: the copies of this binary that are PEs say in it what they keep.
#[test]
fn program() {
    if std::env::var_os(PE).is_some() {
        let world = shmem::init::<Single>().unwrap();
        println!("\nkeeps {}", LIVE.load(Ordering::Relaxed));
        drop(world);
    }
}

/// What the PE of a job that keeps most keeps.
fn kept(pes: u64) -> u64 {
    let job = Launch::new(std::env::current_exe().unwrap(), pes as usize)
        .args(["--exact", "program", "--nocapture", "--test-threads=1"])
        .env(PE, "1")
        .env("SHMEM_TRANSPORT", "shm")
        .capture_output()
        .timeout(Duration::from_secs(300));
    let outcome = job.run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.report);
    let said = outcome.outputs.iter().map(|output| String::from_utf8_lossy(&output.out));
    let kept = said.map(|said| {
        let line = said.lines().find_map(|line| line.strip_prefix("keeps ")?.parse::<u64>().ok());
        line.unwrap_or_else(|| panic!("it does not say what it keeps: {said}"))
    });
    kept.max().unwrap()
}

#[test]
fn what_a_pe_keeps_grows_as_the_formula_says() {
    let kept = JOBS.map(kept);
    let growth: Vec<u64> =
        (1..JOBS.len()).map(|k| (kept[k] - kept[k - 1]) / (JOBS[k] - JOBS[k - 1])).collect();
    let is_near = |growth: u64, says: u64| growth.abs_diff(says) <= says / 6;
    println!("{kept:?} bytes in jobs of {JOBS:?} PEs: {growth:?} for each");
    assert!(kept[0] < MOST_OF_ITS_OWN, "{kept:?} bytes");
    // From the second job on: the first growth is hidden by what is kept once.
    assert!(is_near(growth[2], growth[1]), "in proportion to the number of PEs: {growth:?} bytes for each");
    if Machine::default().topology().nodes().len() == 1 {
        assert!(is_near(growth[2], FOR_EACH), "{growth:?} bytes for each PE, and not {FOR_EACH}");
    }
}
