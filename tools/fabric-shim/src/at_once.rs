//! Writes that are complete at once: what a library costs when its network costs nothing.
//!
//! Whoever measures switches it on ([`fabric_shim_at_once`](crate::export::fabric_shim_at_once)) when nothing is under way, and
//! off again before anybody else is to hear from this process. Meanwhile a write is what the processor does for one: its bytes
//! are copied, to memory of the shim's, and it is complete before the call returns, in the counter of its endpoint and, if it
//! asks for that, in its queue. Nothing goes out, and nothing that has come is taken in: reading a queue or a counter asks
//! nobody else. All other calls are what they always are.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};

use shmem_core::shared;

/// How often it was switched: odd while it is on.
static SWITCHED: AtomicU64 = AtomicU64::new(0);

pub(crate) fn switch(on: bool) {
    if on != is_on() {
        SWITCHED.fetch_add(1, Ordering::SeqCst);
    }
}

#[inline]
pub(crate) fn is_on() -> bool {
    !SWITCHED.load(Ordering::Acquire).is_multiple_of(2)
}

thread_local! {
    static SINK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Does what the processor does for a write.
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
            // By what takes as long at any address as at any other.
            // SAFETY: readable (caller), and no part of the sink, which only this function knows and which has as many bytes.
            unsafe { shared::copy(sink.as_mut_ptr(), part.iov_base.cast(), part.iov_len) };
        }
        core::hint::black_box(sink);
    });
}

/// What a counter counts of them.
#[derive(Default)]
pub(crate) struct Count {
    own: AtomicU64,
    /// What the real counter has said last, and when that was.
    real: AtomicU64,
    read: AtomicU64,
}

impl Count {
    pub(crate) fn add(&self) {
        self.own.fetch_add(1, Ordering::Release);
    }

    /// All that is complete, with what the real counter says, which is asked once while writes are complete at once: then
    /// nothing is under way there.
    pub(crate) fn total(&self, real: impl FnOnce() -> u64) -> u64 {
        let now = SWITCHED.load(Ordering::Acquire);
        if now.is_multiple_of(2) || self.read.load(Ordering::Acquire) != now {
            self.real.store(real(), Ordering::Relaxed);
            self.read.store(now, Ordering::Release);
        }
        self.real.load(Ordering::Relaxed) + self.own.load(Ordering::Acquire)
    }
}
