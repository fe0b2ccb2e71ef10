//! Open objects of libfabric, and the error of a refused call.

use core::ffi::c_int;
use core::ptr::NonNull;

use super::bindings::{FI_ENOMEM, fid};
use super::calls;

/// A call of libfabric that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Name of the function that was called.
    pub call: &'static str,
    /// The error number of libfabric, positive.
    pub code: c_int,
}

/// An open object of libfabric, closed when it is dropped. Every object starts with a `fid`.
#[derive(Debug)]
pub(super) struct Object<T>(NonNull<T>);

// SAFETY: objects belong to no thread, because all come from a domain that any thread may use (`FI_THREAD_SAFE`, `Hints`).
unsafe impl<T> Send for Object<T> {}
// SAFETY: objects belong to no thread, because all come from a domain that any thread may use (`FI_THREAD_SAFE`, `Hints`).
unsafe impl<T> Sync for Object<T> {}

impl Refused {
    /// The error of `call` with libfabric's positive number `code`.
    pub(crate) const fn of(call: &'static str, code: c_int) -> Self {
        Self { call, code }
    }

    /// Converts the answer of `call`, which is 0 or a negative error.
    pub(super) fn unless_done(call: &'static str, answer: c_int) -> Result<(), Self> {
        if answer == 0 { Ok(()) } else { Err(Self::of(call, -answer)) }
    }
}

impl<T> Object<T> {
    /// Opens an object by `open`, which writes its address and returns 0, or returns a negative error.
    ///
    /// # Safety
    ///
    /// If `open` returns 0, the object that it has written must start with a `fid`, be open, and be closed by nobody else. All
    /// objects from which it is made, or to which it is bound later, must stay open for as long as it lives.
    pub(super) unsafe fn open(
        call: &'static str,
        open: impl FnOnce(*mut *mut T) -> c_int,
    ) -> Result<Self, Refused> {
        let mut object = core::ptr::null_mut();
        Refused::unless_done(call, open(&raw mut object))?;
        NonNull::new(object).map(Self).ok_or(Refused::of(call, FI_ENOMEM.cast_signed()))
    }

    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    pub(super) fn fid(&self) -> *mut fid {
        self.0.as_ptr().cast()
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: the object is still open, starts with a `fid`, and is closed by nobody else (`open`). The answer is ignored,
        // because a failed close cannot be repaired.
        unsafe { calls::close(self.fid()) };
    }
}
