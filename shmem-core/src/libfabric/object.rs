//! An open object, and refused calls.

use core::ffi::c_int;
use core::ptr::NonNull;

use super::bindings::{FI_ENOMEM, fid};
use super::calls;

/// A call of libfabric that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The function.
    pub call: &'static str,
    /// The error number of libfabric, positive.
    pub code: c_int,
}

/// An open object, closed when it is dropped. Every object starts with a `fid`.
#[derive(Debug)]
pub(super) struct Object<T>(NonNull<T>);

// SAFETY: objects belong to no thread: all come from a domain that any thread may use (FI_THREAD_SAFE, `Hints`).
unsafe impl<T> Send for Object<T> {}
// SAFETY: objects belong to no thread: all come from a domain that any thread may use (FI_THREAD_SAFE, `Hints`).
unsafe impl<T> Sync for Object<T> {}

impl Refused {
    /// The error of a call, with libfabric's number, positive.
    pub(crate) const fn of(call: &'static str, code: c_int) -> Self {
        Self { call, code }
    }

    /// The result of a call that returns 0 or a negative error.
    pub(super) fn unless_done(call: &'static str, answer: c_int) -> Result<(), Self> {
        if answer == 0 { Ok(()) } else { Err(Self::of(call, -answer)) }
    }
}

impl<T> Object<T> {
    /// The object that a call opens.
    ///
    /// # Safety
    ///
    /// If `open` returns 0, it must have written an object that starts with a `fid`, is open, and is closed by nobody else.
    /// Objects that it is made from, or bound to later, must be open for as long as it lives.
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
        // SAFETY: open until now, starts with a `fid`, and closed by nobody else (`open`). The answer is ignored: a failed close
        // cannot be repaired.
        unsafe { calls::close(self.fid()) };
    }
}
