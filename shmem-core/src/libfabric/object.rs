//! An open object, and calls that were refused.

use core::ffi::c_int;
use core::ptr::NonNull;

use super::bindings::{FI_ENOMEM, fid};
use super::calls;
use super::library::Library;

/// A call of libfabric that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Which function.
    pub call: &'static str,
    /// The error number of libfabric, positive.
    pub code: c_int,
}

/// An open object, closed when it is dropped. It starts with a `fid`, as every object.
#[derive(Debug)]
pub(super) struct Object<T>(NonNull<T>);

// SAFETY: objects belong to no thread: all come from a domain that was asked for use by any (FI_THREAD_SAFE, `Hints`).
unsafe impl<T> Send for Object<T> {}
// SAFETY: objects belong to no thread: all come from a domain that was asked for use by any (FI_THREAD_SAFE, `Hints`).
unsafe impl<T> Sync for Object<T> {}

impl Refused {
    /// An error number of libfabric's, positive.
    pub(crate) const fn of(call: &'static str, code: c_int) -> Self {
        Self { call, code }
    }

    /// Why, in words of a library.
    pub fn describe(&self, library: &Library) -> String {
        library.describe(self.code.into())
    }

    /// What a call has answered: 0, or a negative error.
    pub(super) fn unless_done(call: &'static str, answer: c_int) -> Result<(), Self> {
        if answer == 0 { Ok(()) } else { Err(Self::of(call, -answer)) }
    }
}

impl<T> Object<T> {
    /// What a call of that name opens.
    ///
    /// # Safety
    ///
    /// Where `open` answers 0 it must have given an object that starts with a `fid`, is open and is closed by nobody else.
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

    /// For calls that take any object.
    pub(super) fn fid(&self) -> *mut fid {
        self.0.as_ptr().cast()
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: open until now, starts with a `fid`, and closed by nobody else (`open`). What a provider says of closing
        // is of no use to anybody: whoever drops an object has done with it.
        unsafe { calls::close(self.fid()) };
    }
}
