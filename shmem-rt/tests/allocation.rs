//! No operation allocates, also not those that go on after they return.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use shmem::prelude::*;

/// The system's allocator, counted.
struct Counted;

thread_local! {
    /// Of this thread: the one that runs tests allocates when it likes.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: all of it is the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
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
