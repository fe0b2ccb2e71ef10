//! How this process handles the kernel's signals: kept as the program has it while libraries are loaded.
//!
//! Initialisers of libraries take signals for themselves. That of PSM, which libfabric loads, takes SEGV, BUS, ILL, ABRT, INT
//! and TERM, and exits with code 1 when one comes: handlers of the program are gone, and a crash looks like an exit. So each
//! call that may load a library is made inside [`keep`]. Functions that a library registers with `atexit` stay, because C has
//! no call that removes one.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;

/// Makes a call that may load libraries. Behind it, dispositions of signals, and the mask and the alternate stack of the
/// calling thread, are as before. What another thread changes meanwhile is undone, too.
///
/// # Safety
///
/// Handlers of signals, and an alternate stack of this thread, that are there before the call must be there behind it.
pub unsafe fn keep<R>(call: impl FnOnce() -> R) -> R {
    let before = Dispositions::now();
    let result = call();
    before.restore();
    result
}

/// What a process and one of its threads have decided about signals.
struct Dispositions {
    /// By the signal's number. Signals that the C library keeps for itself have none.
    actions: Vec<(c_int, libc::sigaction)>,
    mask: libc::sigset_t,
    stack: libc::stack_t,
}

impl Dispositions {
    fn now() -> Self {
        let mut mask = MaybeUninit::zeroed();
        // SAFETY: without a new mask nothing is changed, and there is room for the present one.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr()) };
        let mut stack = MaybeUninit::zeroed();
        // SAFETY: without a new stack nothing is changed, and there is room for the present one.
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
            // One that has not changed is left alone: to set it again would drop a pending signal that it ignores.
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
    // SAFETY: without a new disposition nothing is changed, and there is room for the present one.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: numbers and an optional function, which zeroes initialise.
    (answer == 0).then(|| unsafe { action.assume_init() })
}
