//! Atomics, fences and futexes, either of the machine or of `loom`. The choice is made here alone, so that models run the code that
//! ships. Everything in [`sync`](crate::sync) imports its atomics from here.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(not(loom))]
pub(crate) use crate::exclusion::Mutex;
#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use std::time::Duration;

/// In a model, replaces [`exclusion::Mutex`](crate::exclusion::Mutex).
#[cfg(loom)]
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[inline(always)]
pub(crate) fn spin_loop() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    core::hint::spin_loop();
}

/// Orders a read-modify-write before later loads, on all processors. On x86-64 the read-modify-write itself does so.
#[inline(always)]
pub(crate) fn fence_after_rmw() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(all(not(loom), target_arch = "x86_64"))]
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(all(not(loom), not(target_arch = "x86_64")))]
    core::sync::atomic::fence(Ordering::SeqCst);
}

/// Orders plain stores before later loads, on all processors.
///
/// On x86-64 this is a locked instruction that changes nothing. For a fence, compilers emit `mfence`, which waits for more than
/// stores to ordinary memory, and takes ten times as long on some processors.
#[inline(always)]
pub(crate) fn fence_after_store() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(all(not(loom), target_arch = "x86_64", not(any(miri, shmem_words))))]
    // SAFETY: the top of the stack is readable and writable, and keeps its value. Neither the compiler nor the processor moves
    // memory accesses across the instruction: to Rust it is a sequentially consistent fence.
    unsafe {
        core::arch::asm!("lock or dword ptr [rsp], 0", options(nostack));
    }
    #[cfg(all(not(loom), not(all(target_arch = "x86_64", not(any(miri, shmem_words))))))]
    core::sync::atomic::fence(Ordering::SeqCst);
}

/// A 32-bit word that processes can sleep on. All zero bytes are a valid value.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct FutexWord {
    value: AtomicU32,
    #[cfg(loom)]
    queue: (loom::sync::Mutex<()>, loom::sync::Condvar),
}

impl FutexWord {
    #[cfg(any(test, loom))]
    pub(crate) fn new(value: u32) -> Self {
        Self {
            value: AtomicU32::new(value),
            #[cfg(loom)]
            queue: (loom::sync::Mutex::new(()), loom::sync::Condvar::new()),
        }
    }

    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.value.load(order)
    }

    #[inline(always)]
    pub(crate) fn fetch_add(&self, n: u32, order: Ordering) -> u32 {
        self.value.fetch_add(n, order)
    }

    /// Sleeps while the word is `expected`, until the thread is woken or `timeout` has passed. May return early.
    #[cfg(not(loom))]
    pub(crate) fn wait(&self, expected: u32, timeout: Option<Duration>) {
        use rustix::thread::futex;
        let timeout = timeout.map(|t| rustix::time::Timespec {
            tv_sec: t.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: t.subsec_nanos().into(),
        });
        // The outcome (woken, changed, interrupted, timed out) does not matter, because the caller polls.
        let _ = futex::wait(&self.value, futex::Flags::empty(), expected, timeout.as_ref());
    }

    /// Wakes all sleepers on the word, in any process.
    #[cfg(not(loom))]
    pub(crate) fn wake_all(&self) {
        use rustix::thread::futex;
        let _ = futex::wake(&self.value, futex::Flags::empty(), i32::MAX as u32);
    }

    #[cfg(loom)]
    pub(crate) fn wait(&self, expected: u32, _: Option<Duration>) {
        let queue = self.queue.0.lock().unwrap();
        if self.value.load(Ordering::SeqCst) == expected {
            drop(self.queue.1.wait(queue).unwrap());
        }
    }

    #[cfg(loom)]
    pub(crate) fn wake_all(&self) {
        let queue = self.queue.0.lock().unwrap();
        self.queue.1.notify_all();
        drop(queue);
    }
}
