//! Objects of the real library.

use core::ptr::NonNull;

use shmem_core::libfabric::Library;

use crate::violation::violation;

/// The library behind the shim, loaded with the first call.
pub(crate) fn library() -> &'static Library {
    let named = std::env::var("FABRIC_SHIM_LIBRARY").ok();
    Library::load(named.as_deref())
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
// SAFETY: as above.
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

/// An object of the shim that stands for a real one: `repr(C)`, and begins with the structure of libfabric
/// that its user sees.
///
/// # Safety
///
/// The type must be `repr(C)` and its first field be of type `Seen`.
pub(crate) unsafe trait Wrapper: Sized {
    /// The structure that users see.
    type Seen;

    /// The address that users get. The object lives until [`Wrapper::reclaim`].
    fn hand_out(self) -> *mut Self::Seen {
        Box::into_raw(Box::new(self)).cast()
    }

    /// The object behind an address that a user gives back.
    ///
    /// # Safety
    ///
    /// The address must come from [`Wrapper::hand_out`] of this type and not be reclaimed while the result is used.
    unsafe fn behind<'a>(seen: *mut Self::Seen) -> &'a Self {
        // SAFETY: the structure is the first field of such an object (trait), which lives (caller).
        unsafe { &*seen.cast::<Self>() }
    }

    /// Takes the object back, to drop it.
    ///
    /// # Safety
    ///
    /// As [`Wrapper::behind`], and nobody uses the address afterwards.
    unsafe fn reclaim(seen: *mut Self::Seen) -> Box<Self> {
        // SAFETY: `hand_out` made it from a box of this type; taken back once (caller).
        unsafe { Box::from_raw(seen.cast::<Self>()) }
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
