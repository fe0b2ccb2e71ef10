//! How much memory a thread takes at a time, for tests: what others send must not decide about it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, and counters.
struct Measured;

thread_local! {
    /// Bytes that this thread has, and the most that it had.
    static NOW: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Measured = Measured;

// SAFETY: all of it is the system's allocator.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.get().wrapping_add(layout.size());
        NOW.set(now);
        MOST.set(MOST.get().max(now));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // A thread may give back what another one has taken.
        NOW.set(NOW.get().saturating_sub(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
    }
}

/// The most bytes that `work` has at a time.
pub(crate) fn most<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.get();
    MOST.set(before);
    let done = work();
    (done, MOST.get() - before)
}

#[test]
fn what_is_allocated_is_seen() {
    let (kept, most) = most(|| {
        drop(vec![1_u8; 5000]);
        vec![1_u8; 1000]
    });
    assert_eq!((kept.len(), most), (1000, 5000));
}
