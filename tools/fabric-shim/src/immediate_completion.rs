//! RMA writes that complete before the call returns. With them a benchmark measures the cost of a library without its network.
//!
//! A benchmark calls [`fabric_shim_at_once`](crate::export::fabric_shim_at_once) to switch this mode on and off, while no operation
//! is in flight. A write then copies its bytes to memory of the shim, is counted by the endpoint's counter and, if it asked for a
//! completion, is reported by the endpoint's queue. Queues and counters do not call the real library, so nothing is sent or
//! received. Other calls are unchanged.

use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use shmem_core::shared;

static IS_ON: AtomicBool = AtomicBool::new(false);

pub(crate) fn switch(on: bool) {
    IS_ON.store(on, Ordering::SeqCst);
}

#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Acquire)
}

thread_local! {
    static SINK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Copies the local buffers of a write into the shim's memory, which nobody reads.
///
/// # Safety
///
/// The local buffers must be readable.
pub(crate) unsafe fn copy(local: &[libc::iovec]) {
    SINK.with_borrow_mut(|sink| {
        for part in local {
            if sink.len() < part.iov_len {
                sink.resize(part.iov_len, 0);
            }
            // Copies to one place only, because the time of `shared::copy` does not depend on the address.
            // SAFETY: `part` is readable (caller). `sink` is at least as long, and only this function has it: no overlap.
            unsafe { shared::copy(sink.as_mut_ptr(), part.iov_base.cast(), part.iov_len) };
        }
        core::hint::black_box(sink);
    });
}

/// The completion counter of an endpoint, including writes that were complete at once.
#[derive(Default)]
pub(crate) struct Count {
    own: AtomicU64,
    /// Last value of the real counter. It is constant while writes complete at once, because no operation is in flight then.
    real: AtomicU64,
}

impl Count {
    pub(crate) fn add(&self) {
        self.own.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of complete operations. `real` reads the real counter.
    pub(crate) fn total(&self, real: impl FnOnce() -> u64) -> u64 {
        if !is_on() {
            self.real.store(real(), Ordering::Relaxed);
        }
        self.real.load(Ordering::Relaxed) + self.own.load(Ordering::Acquire)
    }
}
