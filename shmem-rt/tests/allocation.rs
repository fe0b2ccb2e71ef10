//! No operation allocates, also not those that go on after they return; nor does a collective, on one node, besides the list that
//! is its result, and what a PE that sleeps says of itself. Between nodes few do, as docs/scale.md says.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use shmem::prelude::*;

/// The system's allocator, counted.
struct Counted;

thread_local! {
    /// Of this thread: the one that runs tests allocates when it likes.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LONG: Cell<usize> = const { Cell::new(0) };
}

/// Bytes of the longest text in which a PE that sleeps says what it waits for. It may sleep in any collective; its data are longer.
const TEXT: usize = 256;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: all of it is the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LONG.set(LONG.get() + usize::from(layout.size() > TEXT));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[symmetric]
static ROW: [u64; 64];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static ARRIVED: Signal;

/// Every kind of operation, once.
fn operations(world: &World, other: Pe, source: &[u64; 64]) {
    let (mut into, mut before, mut some) = ([0; 64], 0, [0_u64; 8]);
    world.scope(|s| {
        s.put(ROW.on(other), source);
        s.put(ROW.on(other).index(..32), &source[..32]);
        s.p(ROW.on(other).index(3), 7);
        s.iput(ROW.on(other).index(..), source, 4, 2, 8);
        strided!(s, ROW@other[..; 8] = source[..8]);
        s.fetch_add(&mut before, COUNT.on(other), 1);
        s.add(COUNT.on(other), 1);
        s.fence();
        s.put_signal(ROW.on(other), source, ARRIVED.on(other), SignalOp::Add(1));
        s.quiet_pe(other);
        s.get(&mut into, ROW.on(other));
        strided!(s, some[..] = ROW@other[..; 8]);
        s.quiet();
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
/// Elements of each PE: of little data, of more than is brought at once, and of what is moved in pieces.
const LENGTHS: [usize; 5] = [1, 20, 100, 3000, 20_000];
const MOST: usize = LENGTHS[4] * PES;

#[symmetric]
static GIVEN: [u64; MOST];
#[symmetric]
static TAKEN: [u64; MOST];

/// An item that is no number.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Wide([u64; 7]);

/// Every collective once, on objects and on memory of the program, with so many elements of each member. `made` is told what
/// each has allocated.
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
        sum_to(given, root);
        sum_to(&mut into[..len], root);
        xor_to(given, root);
        reduce_to(given, root, u64::wrapping_mul);
        fcollect_to(&given, all_taken, root);
        fcollect_to(&source[..len], &mut *into, root);
        scatter_from(&all_given, taken, root);
        scatter_from(source, &mut into[..len], root);
        sum_scatter(&all_given, taken);
        sum_scatter(source, &mut into[..len]);
        reduce_scatter(&all_given, taken, u64::wrapping_mul);
        reduce(Wide([1; 7]), widen);
        reduce(&mut into[..len], u64::wrapping_mul);
        reduce_inscan(&mut into[..len], u64::wrapping_mul);
        reduce_exscan(Wide([2; 7]), widen);
        min_at(&given);
        max_at(source);
    }
}

#[shmem::test(pes = 3)]
fn collectives_do_not_allocate(world: &mut World) {
    let mut lists = [vec![1; MOST], vec![2; MOST]];
    for len in LENGTHS {
        collectives(world, len, &mut lists, &mut |_, _| ());
        collectives(world, len, &mut lists, &mut |call, allocations| {
            assert_eq!(allocations, 0, "`{call}` of {len} elements");
        });
    }
}

/// Between nodes: what goes with the words of meetings, and what comes in chunks.
#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "ofi"))]
fn collectives_between_nodes_do_not_allocate(world: &mut World) {
    let mut lists = [vec![1; MOST], vec![2; MOST]];
    for len in LENGTHS {
        collectives(world, len, &mut lists, &mut |_, _| ());
        collectives(world, len, &mut lists, &mut |call, allocations| {
            let has_lists =
                ["alltoalls", "sum_scatter", "reduce_scatter"].iter().any(|name| call.starts_with(name));
            // What goes through windows lies where it is.
            let comes_in_chunks = len == LENGTHS[4] && !call.contains("scan");
            // Of what is combined for one there is a copy.
            let for_one = ["sum_to", "xor_to", "reduce_to"].iter().any(|name| call.starts_with(name));
            let has_copy = for_one && len > LENGTHS[2];
            let may = has_lists || has_copy || call.contains("given") && !comes_in_chunks;
            assert!(allocations <= if may { 2 } else { 0 }, "{allocations} by `{call}` of {len} elements");
        });
    }
}
