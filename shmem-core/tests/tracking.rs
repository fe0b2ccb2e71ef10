//! Tracking allocates nothing per operation: every allocation of this process is counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use shmem_core::context::tracking::{Descriptor, NullProvider, OUTSTANDING, Tracking, Unit};

const LARGE: usize = Tracking::LARGE;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator, and a counter.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

// One test: another thread's allocations would be counted, too.
#[test]
fn operations_and_quiet_allocate_nothing() {
    let (mut memory, source) = (vec![0_u8; LARGE], vec![1_u8; LARGE]);
    for tracking in [Tracking::Events, Tracking::Hybrid, Tracking::Counter] {
        // SAFETY: the memory lives longer, and nobody else uses it.
        let provider = unsafe { NullProvider::new(memory.as_mut_ptr(), LARGE) };
        // SAFETY: used by this thread only.
        let unit = unsafe { Unit::unlocked(provider, tracking) };
        let (a, b) = (unit.open().unwrap(), unit.open().unwrap());
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for round in 0..10 * OUTSTANDING {
            for (stream, bytes) in [(&a, 8), (&b, LARGE)] {
                let descriptor = Descriptor { pe: 1, segment: 1, offset: 0, source: source.as_ptr(), bytes };
                // SAFETY: the source lives longer, and the target is `memory`.
                unsafe { stream.put(&descriptor) };
            }
            if round % 100 == 0 {
                a.quiet();
            }
        }
        a.quiet();
        b.quiet();
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "{tracking:?}");
    }
}
