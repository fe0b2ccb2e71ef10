//! Objects of the shim's, as their users see them: a structure of libfabric's, with tables of calls, in front of what
//! only the shim knows.

use core::ffi::{c_int, c_void};

use shmem_core::libfabric::bindings::{fi_ops, fid};
use shmem_core::libfabric::calls;

use crate::real::Real;

/// A table of libfabric's with these calls. It has none of the others.
macro_rules! table {
    ($table:ident { $($call:ident $(: $function:expr)?),* $(,)? }) => {
        $table {
            size: size_of::<$table>(),
            $($call: Some($crate::object::table!(@ $call $($function)?)),)*
            // SAFETY: of numbers and optional functions: all zeroes are a value, with none of them.
            ..unsafe { core::mem::zeroed() }
        }
    };
    (@ $call:ident) => { $call };
    (@ $call:ident $function:expr) => { $function };
}
pub(crate) use table;

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

/// An object of the shim that stands for one real object, from the start to the end.
pub(crate) trait Standing: Wrapper {
    /// The real one.
    fn real(&self) -> Real<Self::Seen>;
}

/// What users see of every object.
pub(crate) fn identity(class: u32, context: *mut c_void, base: &'static fi_ops) -> fid {
    fid { fclass: class as usize, context, ops: core::ptr::from_ref(base).cast_mut() }
}

/// Opens a real object by `call`, and hands out what `stand` makes to stand for it.
///
/// # Safety
///
/// There must be a place for the answer.
pub(crate) unsafe fn open<W: Wrapper>(
    place: *mut *mut W::Seen,
    call: impl FnOnce(*mut *mut W::Seen) -> c_int,
    stand: impl FnOnce(Real<W::Seen>) -> W,
) -> c_int {
    let mut real = core::ptr::null_mut();
    let result = call(&raw mut real);
    if result == 0 {
        let opened = stand(Real::new(real)).hand_out();
        // SAFETY: the caller's promise.
        unsafe { place.write(opened) };
    }
    result
}

/// `fi_close`.
pub(crate) unsafe extern "C" fn close<S: Standing>(object: *mut fid) -> c_int {
    let object = object.cast();
    // SAFETY: libfabric calls this with an object of this type, which is open.
    let real = unsafe { S::behind(object) }.real();
    // SAFETY: an open object, which nobody uses afterwards.
    let result = unsafe { calls::close(real.as_ptr().cast()) };
    if result == 0 {
        // SAFETY: libfabric calls this with an object of this type, which nobody uses afterwards.
        drop(unsafe { S::reclaim(object) });
    }
    result
}

/// `fi_control`, left to the real object.
pub(crate) unsafe extern "C" fn control<S: Standing>(
    object: *mut fid,
    command: c_int,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with an object of this type, which is open.
    let real = unsafe { S::behind(object.cast()) }.real();
    // SAFETY: an open object, and the user's argument.
    unsafe { calls::control(real.as_ptr().cast(), command.cast_unsigned(), argument) }
}
