//! What a PE keeps for the others of its job: its own memory, counted where it is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use shmem::prelude::*;

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

/// What a PE has of its own, and what it keeps for each PE of its job, itself included. The first is of this machine:
/// names, lists of CPUs and of memory. Of the second, two thirds are what the PE has said of its memory.
const OWN: u64 = 36_700;
const FOR_EACH: u64 = 942;

/// As the formula says, but for what differs from machine to machine.
fn keeps_what_the_formula_says(world: &mut World) {
    let live = LIVE.load(Ordering::Relaxed) as u64;
    let says = OWN + FOR_EACH * world.n_pes() as u64;
    assert!(live.abs_diff(says) <= says / 12, "{live} bytes for {} PEs, and not {says}", world.n_pes());
}

macro_rules! jobs {
    ($($name:ident: $pes:literal;)*) => {$(
        #[shmem::test(pes = $pes, env("SHMEM_TRANSPORT" = "shm"))]
        fn $name(world: &mut World) {
            keeps_what_the_formula_says(world);
        }
    )*};
}
jobs! {
    of_2: 2;
    of_8: 8;
    of_32: 32;
    of_64: 64;
}
