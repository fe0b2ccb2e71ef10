//! Loads C libraries at run time, so that builds need none of them, and a site's own libraries are used.
//!
//! Initialisers of libraries may install signal handlers. PSM, which libfabric loads, handles SEGV, BUS, ILL, ABRT, INT and TERM,
//! and exits with code 1 at such a signal. Then the program's handlers are lost, and a crash looks like an exit. So each call that
//! may load a library is made inside [`keep_signal_handlers`].

use core::ffi::{CStr, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use std::ffi::CString;

/// A loaded library. It is never unloaded, because its threads and exit handlers may run until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Loaded(NonNull<c_void>);

// SAFETY: any thread may use a handle of the loader.
unsafe impl Send for Loaded {}
// SAFETY: several threads may use a handle of the loader at the same time.
unsafe impl Sync for Loaded {}

const NO_LOADER: &str =
    "this program is linked statically as a whole, and has no loader for libraries: link it without -static";

/// Whether this program has a loader for libraries. A static program has none, and its C library would crash when loading one.
fn has_loader() -> bool {
    // SAFETY: reads a number that the kernel passed to the program.
    unsafe { libc::getauxval(libc::AT_BASE) != 0 }
}

/// The reason why a library or function cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(String);

impl Loaded {
    /// Loads a library by path, or by a name that the loader searches.
    /// Fails, with the loader's error text, if the library cannot be loaded.
    ///
    /// # Safety
    ///
    /// The library's initialisers must be sound to run.
    pub unsafe fn open(name: &str) -> Result<Self, LoadError> {
        if !has_loader() {
            return Err(LoadError(NO_LOADER.to_owned()));
        }
        let file = CString::new(name).map_err(|_| LoadError("its name has a zero in it".to_owned()))?;
        // SAFETY: `file` ends with a zero, and the initialisers are sound to run (caller).
        let load = || unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        // SAFETY: initialisers install handlers of their own library, and free no older handlers.
        let handle = unsafe { keep_signal_handlers(load) };
        NonNull::new(handle).map(Self).ok_or_else(LoadError::last)
    }

    /// Returns the function with this name and version. Without `version`, or if the loader or the library has no versions, the
    /// name alone decides.
    /// Fails, with the loader's error text, if there is no such function.
    ///
    /// # Safety
    ///
    /// `F` must be the function pointer type of the function with that name and version.
    pub unsafe fn function<F: Copy>(self, name: &CStr, version: Option<&CStr>) -> Result<F, LoadError> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let mut found = ptr::null_mut();
        #[cfg(target_env = "gnu")]
        if let Some(version) = version {
            // SAFETY: the library stays open, and both strings end with a zero.
            found = unsafe { libc::dlvsym(self.0.as_ptr(), name.as_ptr(), version.as_ptr()) };
        }
        #[cfg(not(target_env = "gnu"))]
        let _ = version;
        if found.is_null() {
            // SAFETY: the library stays open, and the string ends with a zero.
            found = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) };
        }
        if found.is_null() {
            return Err(LoadError::last());
        }
        // SAFETY: both types have equal sizes (asserted), the pointer is not null, and `F` is the function's type (caller).
        Ok(unsafe { core::mem::transmute_copy::<*mut c_void, F>(&found) })
    }
}

impl LoadError {
    /// The loader's error text for its last failure.
    fn last() -> Self {
        // SAFETY: takes no arguments. Returns null, or a text that is valid until this thread's next call of the loader.
        let text = unsafe { libc::dlerror() };
        if text.is_null() {
            return Self("the loader gives no reason".to_owned());
        }
        // SAFETY: `text` is not null, ends with a zero, and is copied before this thread's next call of the loader.
        Self(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

/// Makes a call that may load libraries. Then restores the process's signal dispositions, and the calling thread's signal mask and
/// alternate stack. This also undoes changes that other threads made meanwhile. Functions that a library registered with `atexit`
/// stay, because C has no call that removes one.
///
/// # Safety
///
/// Signal handlers, and this thread's alternate stack, that exist before the call must still be valid after it.
pub unsafe fn keep_signal_handlers<R>(call: impl FnOnce() -> R) -> R {
    let before = Dispositions::now();
    let result = call();
    before.restore();
    result
}

/// Signal settings of a process and one of its threads.
pub(crate) struct Dispositions {
    /// Dispositions by signal number, without the C library's own signals.
    pub(crate) actions: Vec<(c_int, libc::sigaction)>,
    pub(crate) mask: libc::sigset_t,
    pub(crate) stack: libc::stack_t,
}

impl Dispositions {
    pub(crate) fn now() -> Self {
        let mut mask = MaybeUninit::zeroed();
        // SAFETY: without a new mask the call changes nothing; `mask` can store the current mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr()) };
        let mut stack = MaybeUninit::zeroed();
        // SAFETY: without a new stack the call changes nothing; `stack` can store the current stack.
        unsafe { libc::sigaltstack(ptr::null(), stack.as_mut_ptr()) };
        Self {
            actions: (1..=libc::SIGRTMAX()).filter_map(|signal| Some((signal, action(signal)?))).collect(),
            // SAFETY: a mask consists of numbers, which are initialised to zero.
            mask: unsafe { mask.assume_init() },
            // SAFETY: a stack consists of numbers and an address, which are initialised to zero.
            stack: unsafe { stack.assume_init() },
        }
    }

    fn restore(&self) {
        for (signal, before) in &self.actions {
            // Skips unchanged dispositions, because setting a disposition that ignores its signal would drop a pending signal.
            let is_as_before = |now: libc::sigaction| {
                now.sa_sigaction == before.sa_sigaction
                    && now.sa_flags == before.sa_flags
                    && (1..=libc::SIGRTMAX())
                        .all(|signal| is_in(&now.sa_mask, signal) == is_in(&before.sa_mask, signal))
            };
            if !action(*signal).is_some_and(is_as_before) {
                // SAFETY: the process had the disposition `before` for this signal, and its handler still exists
                // (`keep_signal_handlers`).
                unsafe { libc::sigaction(*signal, before, ptr::null_mut()) };
            }
        }
        // SAFETY: this thread had this mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut()) };
        // SAFETY: this thread had this stack, which still exists (`keep_signal_handlers`).
        unsafe { libc::sigaltstack(&raw const self.stack, ptr::null_mut()) };
    }
}

pub(crate) fn is_in(set: &libc::sigset_t, signal: c_int) -> bool {
    // SAFETY: `set` is initialised and only read, and `signal` is the number of a signal.
    unsafe { libc::sigismember(set, signal) == 1 }
}

fn action(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::zeroed();
    // SAFETY: without a new disposition the call changes nothing; `action` can store the current disposition.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: a disposition consists of numbers and an optional function, which are initialised to zero.
    (answer == 0).then(|| unsafe { action.assume_init() })
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        // SAFETY: the program's own C library, whose initialisers have run.
        let library = unsafe { Loaded::open("libc.so.6") }.unwrap();
        type Getpid = unsafe extern "C" fn() -> i32;
        // SAFETY: there is no such function: nothing has a type.
        let error = unsafe { library.function::<Getpid>(c"no_such_function", None) }.unwrap_err();
        assert!(error.to_string().contains("no_such_function"), "{error}");
        // SAFETY: there is no such file: nothing runs.
        let error = unsafe { Loaded::open("no-such-library.so") }.unwrap_err();
        assert!(error.to_string().contains("no-such-library.so"), "{error}");
        // SAFETY: nothing is loaded.
        assert_eq!(unsafe { Loaded::open("a\0b") }.unwrap_err().to_string(), "its name has a zero in it");
    }
}
