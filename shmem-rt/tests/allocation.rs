//! Allocations by operations and collectives, and the memory that a PE and a node keep for each PE of the job. Operations do not
//! allocate. Collectives on one node allocate only their result, and the text that a sleeping PE prints about its wait. Few
//! collectives between nodes allocate more (docs/scale.md).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use shmem::launch::Launch;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem_core::memory::Machine;

/// The system's allocator, with counters.
struct Counted;

/// Bytes that all threads have allocated and not freed.
static LIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Number of allocations of this thread. (The main thread of the tests allocates, too.)
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LONG: Cell<usize> = const { Cell::new(0) };
}

/// Upper limit on the bytes of the text that a sleeping PE prints about its wait. Data of collectives are longer.
const TEXT: usize = 256;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: each call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LONG.set(LONG.get() + usize::from(layout.size() > TEXT));
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller fulfils the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller fulfils the rules of `dealloc`.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[symmetric]
static ROW: [u64; 64];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static ARRIVED: Signal;

fn operations(world: &World, other: Pe, source: &[u64; 64]) {
    let (mut into, mut before, mut some) = ([0; 64], 0, [0_u64; 8]);
    world.scope(|s| {
        s.put(ROW.on(other), source);
        s.put(ROW.on(other).index(..32), &source[..32]);
        world.p(ROW.on(other).index(3), 7);
        strided!(s, ROW@other[..; 8] = source[..8]);
        s.fetch_add(&mut before, COUNT.on(other), 1);
        world.add(COUNT.on(other), 1);
        world.fence();
        s.put_signal(ROW.on(other), source, ARRIVED.on(other), SignalOp::Add(1));
        world.quiet_pe(other);
        s.get(&mut into, ROW.on(other));
        strided!(s, some[..] = ROW@other[..; 8]);
        world.quiet();
    });
    world.put_signal(ROW.on(other), source, ARRIVED.on(other), SignalOp::Add(1));
    world.put_from(ROW.on(other), ROW.here(world));
    world.get_into(ROW.here(world), ROW.on(other));
    world.quiet();
    world.fetch_add(COUNT.on(other), 1);
    world.put(ROW.on(other), source);
    world.fence();
}

#[shmem::test(pes = 2)]
fn operations_do_not_allocate(world: &mut World) {
    let other = world.pe(1 - world.my_pe()).unwrap();
    let source = [1; 64];
    operations(world, other, &source);
    let buffer = vec![2_u64; 64];
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        operations(world, other, &source);
    }
    let buffer = world.put_owned(ROW.on(other).index(..), buffer).wait();
    let buffer = world.get_owned(buffer, ROW.on(other).index(..)).wait();
    let after = ALLOCATIONS.get();
    assert_eq!((after - before, buffer.len()), (0, 64));
    world.barrier_all();
}

const PES: usize = 3;
/// Elements of each PE. Short data travel with the barrier round, longer data through staging buffers, the longest in chunks.
const LENGTHS: [usize; 5] = [1, 20, 100, 3000, 20_000];
const MOST: usize = LENGTHS[4] * PES;

#[symmetric]
static GIVEN: [u64; MOST];
#[symmetric]
static TAKEN: [u64; MOST];

/// An item type that is no number.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Wide([u64; 7]);

/// Calls each collective on objects and on private memory, with `len` elements of each member. Passes the name of each call and its
/// number of allocations to `made`.
fn collectives(world: &World, len: usize, lists: &mut [Vec<u64>; 2], made: &mut dyn FnMut(&str, usize)) {
    let (team, root) = (world.team(), world.pes()[1]);
    let (given, all_given) = (GIVEN.here(world).index(..len), GIVEN.here(world).index(..len * PES));
    let (taken, all_taken) = (TAKEN.here(world).index(..len), TAKEN.here(world).index(..len * PES));
    let [source, into] = lists;
    let (source, into) = (&source[..len * PES], &mut into[..len * PES]);
    let widen = |a: Wide, b: Wide| Wide(std::array::from_fn(|k| a.0[k].wrapping_add(b.0[k])));
    macro_rules! each {
        ($($call:ident($($argument:expr),*);)*) => {$(
            let before = LONG.get();
            let result = team.$call(world, $($argument),*);
            made(stringify!($call($($argument),*)), LONG.get() - before);
            _ = result;
        )*};
    }
    each! {
        barrier();
        sync();
        broadcast(given, root);
        broadcast(&mut into[..len], root);
        sum(1.5);
        sum((1, 0.5));
        sum(given);
        sum(&mut into[..len]);
        min(given);
        and(given);
        and(true);
        sum_inscan(given);
        sum_exscan(given);
        sum_exscan(&mut into[..len]);
        fcollect(&given, all_taken);
        fcollect(&source[..len], &mut *into);
        collect_into(&given, all_taken);
        collect_into(&source[..len], &mut *into);
        alltoall(&all_given, all_taken);
        alltoall(source, &mut *into);
        alltoalls(&all_given, 2, all_taken, 3, len / 3);
        alltoalls(source, 3, &mut *into, 2, len / 3);
        reduce_scatter(source, &mut into[..len], u64::wrapping_add);
        reduce_scatter(&all_given, taken, u64::wrapping_mul);
        reduce(Wide([1; 7]), widen);
        reduce(&mut into[..len], u64::wrapping_mul);
    }
}

/// Calls each collective twice with each length. The second call may make at most `may` allocations.
fn allocate_at_most(world: &World, may: impl Fn(&str, usize) -> usize) {
    let mut lists = [vec![1; MOST], vec![2; MOST]];
    for len in LENGTHS {
        collectives(world, len, &mut lists, &mut |_, _| ());
        collectives(world, len, &mut lists, &mut |call, allocations| {
            assert!(allocations <= may(call, len), "{allocations} by `{call}` of {len} elements");
        });
    }
}

#[shmem::test(pes = 3)]
fn collectives_do_not_allocate(world: &mut World) {
    allocate_at_most(world, |_, _| 0);
}

#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "ofi"))]
fn collectives_between_nodes_do_not_allocate(world: &mut World) {
    allocate_at_most(world, |call, len| {
        let is_of = |names: &[&str]| names.iter().any(|name| call.starts_with(name));
        let has_lists = is_of(&["alltoalls", "reduce_scatter"]);
        // Chunks are received through buffers, by a list of steps, which is allocated.
        let comes_in_chunks = len == LENGTHS[4] && !call.contains("scan");
        match comes_in_chunks {
            true => 12,
            false if has_lists || call.contains("given") => 2,
            false => 0,
        }
    });
}

/// Bytes that a PE keeps for each PE on its node.
const FOR_EACH: u64 = 88;

/// Upper limit on the bytes that a PE keeps in any job: names, lists of CPUs, lists of memory.
const MOST_OF_ITS_OWN: u64 = 100_000;

/// Bytes that a node keeps for each PE of the job: an entry in the list of all PEs.
const OF_THE_NODE: u64 = 8;

const JOBS: [u64; 4] = [2, 8, 32, 64];

const PE: &str = "ALLOCATION_PE";

/// The program of the PEs, and no test by itself. Prints the bytes that a PE keeps, and read-only mappings that PEs share.
#[test]
fn program() {
    if std::env::var_os(PE).is_some() {
        let before = LIVE.load(Ordering::Relaxed);
        let world = shmem::init::<Single>().unwrap();
        let kept = LIVE.load(Ordering::Relaxed) - before;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        for line in maps.lines().filter(|line| line.contains(" r--p ") && line.contains("memfd:shmem")) {
            println!("\nshares {line}");
        }
        println!("\nkeeps {kept}");
        drop(world);
    }
}

/// Returns the largest number of bytes that a PE keeps, and the bytes that the node keeps once, in whole pages.
fn kept(pes: u64) -> [u64; 2] {
    let job = Launch::new(std::env::current_exe().unwrap(), pes as usize)
        .args(["--exact", "program", "--nocapture", "--test-threads=1"])
        .env(PE, "1")
        .env("SHMEM_TRANSPORT", "shm")
        .capture_output()
        .timeout(Duration::from_secs(300));
    let outcome = job.run().unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.report);
    let (mut most, mut shared) = (0, BTreeMap::new());
    for output in &outcome.outputs {
        let said = String::from_utf8_lossy(&output.out);
        for line in said.lines().filter_map(|line| line.strip_prefix("shares ")) {
            // The same inode means the same memory.
            let words: Vec<_> = line.split_whitespace().collect();
            let (start, end) = words[0].split_once('-').unwrap();
            let address = |text| u64::from_str_radix(text, 16).unwrap();
            shared.insert(words[4].to_owned(), address(end) - address(start));
        }
        let kept = said.lines().find_map(|line| line.strip_prefix("keeps ")?.parse::<u64>().ok());
        most = most.max(kept.unwrap_or_else(|| panic!("it does not say what it keeps: {said}")));
    }
    [most, shared.values().sum()]
}

#[test]
fn what_a_pe_and_its_node_keep_grows_as_the_formula_says() {
    let kept = JOBS.map(kept);
    for (pes, [by_pe, by_node]) in JOBS.iter().zip(kept) {
        println!("{pes} PEs: {by_pe} bytes each, {by_node} once for the node");
        let pages = (OF_THE_NODE * pes).next_multiple_of(rustix::param::page_size() as u64);
        assert_eq!(by_node, pages, "one list of {pes} PEs, in memory that all of them share");
    }
    assert!(kept[0][0] < MOST_OF_ITS_OWN, "{kept:?}");
    let growth = [0, 1, 2].map(|k| (kept[k + 1][0] - kept[k][0]) / (JOBS[k + 1] - JOBS[k]));
    let is_near = |growth: u64, says: u64| growth.abs_diff(says) <= says / 6;
    // The first growth is not compared, because it includes memory that is kept once.
    assert!(is_near(growth[2], growth[1]), "in proportion to the number of PEs: {growth:?} bytes for each");
    if Machine::default().topology().nodes().len() == 1 {
        assert!(is_near(growth[2], FOR_EACH), "{growth:?} bytes for each PE, and not {FOR_EACH}");
    }
}
