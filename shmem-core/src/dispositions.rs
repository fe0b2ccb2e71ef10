//! Keeps the process's dispositions of the kernel's signals while libraries are loaded.
//!
//! Initialisers of libraries install handlers. PSM's, which libfabric loads, handles SEGV, BUS, ILL, ABRT, INT and TERM, and
//! exits with code 1 at a signal: the program's handlers are lost, and a crash looks like an exit. So each call that may
//! load a library is made inside [`keep`]. Functions that a library registers with `atexit` stay, because C has no call that
//! removes one.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

/// Makes a call that may load libraries. Then restores the dispositions of signals, and the mask and alternate stack of the
/// calling thread. Changes by other threads meanwhile are undone, too.
///
/// # Safety
///
/// Handlers of signals, and this thread's alternate stack, from before the call must still be valid after it.
pub unsafe fn keep<R>(call: impl FnOnce() -> R) -> R {
    let before = Dispositions::now();
    let result = call();
    before.restore();
    result
}

/// Signal settings of a process and one of its threads.
struct Dispositions {
    /// By the signal's number, without the C library's own signals.
    actions: Vec<(c_int, libc::sigaction)>,
    mask: libc::sigset_t,
    stack: libc::stack_t,
}

impl Dispositions {
    fn now() -> Self {
        let mut mask = MaybeUninit::zeroed();
        // SAFETY: without a new mask nothing changes; `mask` has room for the current mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr()) };
        let mut stack = MaybeUninit::zeroed();
        // SAFETY: without a new stack nothing changes; `stack` has room for the current stack.
        unsafe { libc::sigaltstack(ptr::null(), stack.as_mut_ptr()) };
        Self {
            actions: (1..=libc::SIGRTMAX()).filter_map(|signal| Some((signal, action(signal)?))).collect(),
            // SAFETY: numbers, which zeroes initialise.
            mask: unsafe { mask.assume_init() },
            // SAFETY: numbers and an address, which zeroes initialise.
            stack: unsafe { stack.assume_init() },
        }
    }

    fn restore(&self) {
        for (signal, before) in &self.actions {
            // Skip unchanged dispositions: setting one that ignores its signal would drop a pending signal.
            let is_as_before = |now: libc::sigaction| {
                now.sa_sigaction == before.sa_sigaction
                    && now.sa_flags == before.sa_flags
                    && (1..=libc::SIGRTMAX())
                        .all(|signal| is_in(&now.sa_mask, signal) == is_in(&before.sa_mask, signal))
            };
            if !action(*signal).is_some_and(is_as_before) {
                // SAFETY: a disposition that the process had for this signal; its handler is still there (`keep`).
                unsafe { libc::sigaction(*signal, before, ptr::null_mut()) };
            }
        }
        // SAFETY: a mask that this thread had.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut()) };
        // SAFETY: a stack that this thread had, and that is still there (`keep`).
        unsafe { libc::sigaltstack(&raw const self.stack, ptr::null_mut()) };
    }
}

fn is_in(set: &libc::sigset_t, signal: c_int) -> bool {
    // SAFETY: an initialised set, which is only read, and the number of a signal.
    unsafe { libc::sigismember(set, signal) == 1 }
}

fn action(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::zeroed();
    // SAFETY: without a new disposition nothing changes; `action` has room for the current one.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: numbers and an optional function, which zeroes initialise.
    (answer == 0).then(|| unsafe { action.assume_init() })
}
