//! Loading of C libraries at run time: builds need none of them, and a site's own libraries are used.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use std::ffi::CString;

use crate::dispositions;

/// A loaded library. It is never unloaded: its threads and exit handlers outlive any use.
#[derive(Clone, Copy, Debug)]
pub struct Loaded(NonNull<c_void>);

// SAFETY: a handle of the loader, for any thread.
unsafe impl Send for Loaded {}
// SAFETY: a handle of the loader, for concurrent use.
unsafe impl Sync for Loaded {}

const NO_LOADER: &str =
    "this program is linked statically as a whole, and has no loader for libraries: link it without -static";

/// Whether this program has a loader for libraries. In a static program, the C library crashes when it loads one.
fn has_loader() -> bool {
    // SAFETY: reads a number that the kernel passed to the program.
    unsafe { libc::getauxval(libc::AT_BASE) != 0 }
}

/// Why a library or function cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(String);

impl Loaded {
    /// Loads a library by path, or by a name that the loader searches.
    /// Fails, with the loader's message, if it cannot be loaded.
    ///
    /// # Safety
    ///
    /// The library's initialisers must be sound to run.
    pub unsafe fn open(name: &str) -> Result<Self, LoadError> {
        if !has_loader() {
            return Err(LoadError(NO_LOADER.to_owned()));
        }
        let file = CString::new(name).map_err(|_| LoadError("its name has a zero in it".to_owned()))?;
        // SAFETY: a string that ends with a zero; the initialisers are sound to run (caller).
        let load = || unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        // SAFETY: initialisers install their own handlers, and free no others.
        let handle = unsafe { dispositions::keep(load) };
        NonNull::new(handle).map(Self).ok_or_else(LoadError::last)
    }

    /// A function by name and version; by name alone without `version`, or if the loader or the library has no versions.
    /// Fails, with the loader's message, if there is no such function.
    ///
    /// # Safety
    ///
    /// `F` must be the function pointer type of the function with that name and version.
    pub unsafe fn function<F: Copy>(self, name: &CStr, version: Option<&CStr>) -> Result<F, LoadError> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let mut found = core::ptr::null_mut();
        #[cfg(target_env = "gnu")]
        if let Some(version) = version {
            // SAFETY: a library that stays open, and strings that end with a zero.
            found = unsafe { libc::dlvsym(self.0.as_ptr(), name.as_ptr(), version.as_ptr()) };
        }
        #[cfg(not(target_env = "gnu"))]
        let _ = version;
        if found.is_null() {
            // SAFETY: a library that stays open, and a string that ends with a zero.
            found = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) };
        }
        if found.is_null() {
            return Err(LoadError::last());
        }
        // SAFETY: equal sizes (asserted), not null, and of the right type (caller).
        Ok(unsafe { core::mem::transmute_copy::<*mut c_void, F>(&found) })
    }
}

impl LoadError {
    /// The loader's message on its last failure.
    fn last() -> Self {
        // SAFETY: no arguments; a text of this thread, valid until its next call of the loader, or none.
        let text = unsafe { libc::dlerror() };
        if text.is_null() {
            return Self("the loader gives no reason".to_owned());
        }
        // SAFETY: not null: a string that ends with a zero, copied before this thread's next loader call.
        Self(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
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
