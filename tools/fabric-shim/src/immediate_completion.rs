//! Writes that are complete at once, for measures of a library without its network.
//!
//! A measure switches this on ([`fabric_shim_at_once`](crate::export::fabric_shim_at_once)) when no operation is in flight, and off
//! again before other processes need this one. While it is on, a write copies its bytes to memory of the shim, and is complete
//! before the call returns: in the counter of its endpoint and, if it is to be reported, in its queue. Nothing is sent or received:
//! queues and counters do not call the real library. Other calls are unchanged.

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

/// Copies the bytes of a write.
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
            // By a copy whose time does not depend on the address.
            // SAFETY: readable (caller), and no part of the sink, which only this function knows and which has as many bytes.
            unsafe { shared::copy(sink.as_mut_ptr(), part.iov_base.cast(), part.iov_len) };
        }
        core::hint::black_box(sink);
    });
}

/// The counter of an endpoint, with writes that were complete at once.
#[derive(Default)]
pub(crate) struct Count {
    own: AtomicU64,
    /// The last value of the real counter. Constant while writes are complete at once, as nothing is in flight there.
    real: AtomicU64,
}

impl Count {
    pub(crate) fn add(&self) {
        self.own.fetch_add(1, Ordering::Release);
    }

    /// The number of complete operations; `real` reads the real counter.
    pub(crate) fn total(&self, real: impl FnOnce() -> u64) -> u64 {
        if !is_on() {
            self.real.store(real(), Ordering::Relaxed);
        }
        self.real.load(Ordering::Relaxed) + self.own.load(Ordering::Acquire)
    }
}
