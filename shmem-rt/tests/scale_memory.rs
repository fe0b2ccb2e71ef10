//! What a PE keeps for the others of its job, counted where it is allocated, and what its node keeps once for all of its PEs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
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
const FOR_EACH: u64 = 88;

/// What a PE has of its own, at most: names, lists of CPUs and of memory, which differ from machine to machine.
const MOST_OF_ITS_OWN: u64 = 100_000;

/// What a node keeps once for each PE of the job: its place in the list of all.
const OF_THE_NODE: u64 = 8;

const JOBS: [u64; 4] = [2, 8, 32, 64];

const PE: &str = "SCALE_MEMORY_PE";

/// Not a test by itself: the copies of this binary that are PEs say in it what they keep, and what they share that nobody can
/// change: which file that is, and how many bytes of addresses it takes.
#[test]
fn program() {
    if std::env::var_os(PE).is_some() {
        let before = LIVE.load(Ordering::Relaxed);
        let world = shmem::init::<Single>().unwrap();
        let kept = LIVE.load(Ordering::Relaxed) - before;
        for (file, bytes) in sealed() {
            println!("\nshares {file} {bytes}");
        }
        println!("\nkeeps {kept}");
        drop(world);
    }
}

/// Memory of the library that is mapped for reading only.
fn sealed() -> Vec<(String, u64)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let sealed = maps.lines().filter(|line| line.contains(" r--p ") && line.contains("memfd:shmem"));
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next().unwrap().split_once('-').unwrap();
        let address = |text| u64::from_str_radix(text, 16).unwrap();
        (words.nth(3).unwrap().to_owned(), address(end) - address(start))
    };
    sealed.map(of).collect()
}

/// What the PEs of a job on one node keep.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// By the PE that keeps most.
    by_pe: u64,
    /// Once for all of them, in whole pages.
    by_node: u64,
    /// All of it.
    together: u64,
}

fn kept(pes: u64) -> Kept {
    let job = Launch::new(std::env::current_exe().unwrap(), pes as usize)
        .args(["--exact", "program", "--nocapture", "--test-threads=1"])
        .env(PE, "1")
        .env("SHMEM_TRANSPORT", "shm")
        .capture_output()
        .timeout(Duration::from_secs(300));
    let outcome = job.run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.report);
    let said: Vec<_> =
        outcome.outputs.iter().map(|output| String::from_utf8_lossy(&output.out).into_owned()).collect();
    let mut shared = BTreeMap::new();
    let kept = said.iter().map(|said| {
        for line in said.lines().filter_map(|line| line.strip_prefix("shares ")) {
            let (file, bytes) = line.split_once(' ').unwrap();
            shared.insert(file.to_owned(), bytes.parse::<u64>().unwrap());
        }
        let line = said.lines().find_map(|line| line.strip_prefix("keeps ")?.parse::<u64>().ok());
        line.unwrap_or_else(|| panic!("it does not say what it keeps: {said}"))
    });
    let kept: Vec<u64> = kept.collect();
    let by_node = shared.values().sum();
    Kept { by_pe: *kept.iter().max().unwrap(), by_node, together: kept.iter().sum::<u64>() + by_node }
}

#[test]
fn what_a_pe_and_its_node_keep_grows_as_the_formula_says() {
    let kept = JOBS.map(kept);
    for (pes, Kept { by_pe, by_node, together }) in JOBS.iter().zip(kept) {
        println!("{pes} PEs: {by_pe} bytes each, {by_node} once for the node, {together} together");
        let pages = (OF_THE_NODE * pes).next_multiple_of(rustix::param::page_size() as u64);
        assert_eq!(by_node, pages, "one list of {pes} PEs, in memory that all of them share");
    }
    let growth: Vec<u64> =
        (1..JOBS.len()).map(|k| (kept[k].by_pe - kept[k - 1].by_pe) / (JOBS[k] - JOBS[k - 1])).collect();
    let is_near = |growth: u64, says: u64| growth.abs_diff(says) <= says / 6;
    println!("{growth:?} bytes for each PE more");
    assert!(kept[0].by_pe < MOST_OF_ITS_OWN, "{kept:?}");
    // From the second job on: the first growth is hidden by what is kept once.
    assert!(is_near(growth[2], growth[1]), "in proportion to the number of PEs: {growth:?} bytes for each");
    if Machine::default().topology().nodes().len() == 1 {
        assert!(is_near(growth[2], FOR_EACH), "{growth:?} bytes for each PE, and not {FOR_EACH}");
    }
}
