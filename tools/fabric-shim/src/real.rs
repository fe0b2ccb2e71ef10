//! Objects of the real library.

use core::ptr::NonNull;

use shmem_core::libfabric::Library;

use crate::violation::violation;

/// The library behind the shim, loaded with the first call.
pub(crate) fn library() -> &'static Library {
    let named = std::env::var("FABRIC_SHIM_LIBRARY").ok();
    // SAFETY: who sets the environment names the library that is behind the shim.
    unsafe { Library::load(named.as_deref()) }
        .unwrap_or_else(|error| violation("FABRIC_SHIM_LIBRARY", format_args!("{error}")))
}

/// An object that the real library has opened, and that is open for as long as this value is used.
///
/// Threads share it: the application has chosen a threading level of libfabric, and the shim calls an object
/// only while the application calls it, or one that is bound to it.
#[derive(Debug)]
pub(crate) struct Real<T>(NonNull<T>);

// SAFETY: objects of libfabric belong to no thread; who calls them when is the application's promise.
unsafe impl<T> Send for Real<T> {}
// SAFETY: objects of libfabric belong to no thread; who calls them when is the application's promise.
unsafe impl<T> Sync for Real<T> {}

impl<T> Clone for Real<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Real<T> {}

impl<T> Real<T> {
    /// What an opening call has returned.
    pub(crate) fn new(object: *mut T) -> Self {
        Self(NonNull::new(object).expect("libfabric has opened an object"))
    }

    /// For calls.
    pub(crate) fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }
}

/// An error as calls of libfabric return it.
pub(crate) const fn failure(code: u32) -> i32 {
    -(code.cast_signed())
}

/// An error as calls that move data return it.
pub(crate) const fn refusal(code: u32) -> isize {
    failure(code) as isize
}
