//! Objects of the shim: a structure of libfabric with tables of functions, which users see, then the shim's state.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ops::Deref;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use shmem_core::libfabric::bindings::{fi_ops, fid};
use shmem_core::libfabric::{Library, calls};

/// A static table of libfabric with these functions; the others are null.
macro_rules! table {
    ($table:ident { $($call:ident $(: $function:expr)?),* }) => {{
        static TABLE: $table = $table {
            size: size_of::<$table>(),
            $($call: Some($crate::object::table!(@ $call $($function)?)),)*
            // SAFETY: numbers and optional functions, for which all zeroes are valid.
            ..unsafe { core::mem::zeroed() }
        };
        (&raw const TABLE).cast_mut()
    }};
    (@ $call:ident) => { $call };
    (@ $call:ident $function:expr) => { $function };
}
pub(crate) use table;

/// Functions of tables. Users call them with the address of an object of the kind.
macro_rules! called {
    ($(fn $call:ident($object:ident: $kind:ty as $seen:ty $(, $argument:ident: $type:ty)*) -> $result:ty $body:block)*) => {$(
        unsafe extern "C" fn $call(object: *mut $seen $(, $argument: $type)*) -> $result {
            // SAFETY: libfabric calls this with an object of the shim's of this kind, which is open.
            let $object = unsafe { $crate::object::Object::<$kind>::behind(object) };
            $body
        }
    )*};
}
pub(crate) use called;

/// An object that stands for a real one. Users see its first field.
#[repr(C)]
pub(crate) struct Object<K: ObjectState> {
    seen: UnsafeCell<K::Seen>,
    real: Real<K::Seen>,
    state: K,
}

/// The shim's state for an object.
pub(crate) trait ObjectState: Sized {
    type Seen;

    /// Closes the real object by `close`, and removes the shim's state for the object at `address`.
    fn close(&self, _address: usize, close: impl FnOnce() -> c_int) -> c_int {
        close()
    }
}

/// An object of the real library, which is open while this is used, or null before it is opened.
///
/// Threads share it: the application has chosen a threading level of libfabric, and the shim calls an object
/// only while the application calls it, or an object that is bound to it.
pub(crate) struct Real<T>(AtomicPtr<T>);

impl<T> Real<T> {
    /// The object that a call has opened.
    pub(crate) fn new(object: *mut T) -> Self {
        Self(AtomicPtr::new(object))
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.load(Ordering::Relaxed)
    }
}

impl<K: ObjectState> Deref for Object<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.state
    }
}

impl<K: ObjectState> Object<K> {
    /// A new object, which lives until it is closed. Returns its address for users.
    pub(crate) fn hand_out(seen: K::Seen, real: *mut K::Seen, state: K) -> *mut K::Seen {
        let object = Self { seen: UnsafeCell::new(seen), real: Real::new(real), state };
        Box::into_raw(Box::new(object)).cast()
    }

    /// The object at an address that a user has passed.
    ///
    /// # Safety
    ///
    /// The address must come from [`Object::hand_out`] of this type, and the object not be closed while the result is used.
    pub(crate) unsafe fn behind<'a, S>(seen: *mut S) -> &'a Self {
        // SAFETY: users have the address of the first field of such an object, which is open (caller).
        unsafe { &*seen.cast::<Self>() }
    }

    pub(crate) fn real(&self) -> *mut K::Seen {
        self.real.as_ptr()
    }

    /// Sets the real object, which was opened later.
    pub(crate) fn stand_for(&self, real: *mut K::Seen) {
        self.real.0.store(real, Ordering::Relaxed);
    }

    pub(crate) fn seen(&self) -> *mut K::Seen {
        self.seen.get()
    }
}

/// The first field of every structure of libfabric.
pub(crate) fn identity(class: u32, context: *mut c_void, ops: *mut fi_ops) -> fid {
    fid { fclass: class as usize, context, ops }
}

/// Opens a real object by `call`, and writes the object that `stand` makes for it to `place`.
///
/// # Safety
///
/// `place` must be writable.
pub(crate) unsafe fn open<K: ObjectState>(
    place: *mut *mut K::Seen,
    call: impl FnOnce(*mut *mut K::Seen) -> c_int,
    stand: impl FnOnce(*mut K::Seen) -> (K::Seen, K),
) -> c_int {
    let mut real = null_mut();
    let result = call(&raw mut real);
    if result == 0 {
        let (seen, state) = stand(real);
        // SAFETY: the caller's promise.
        unsafe { place.write(Object::hand_out(seen, real, state)) };
    }
    result
}

/// `fi_close`.
pub(crate) unsafe extern "C" fn close<K: ObjectState>(object: *mut fid) -> c_int {
    // SAFETY: libfabric calls this with an object of this type, which is open.
    let open = unsafe { Object::<K>::behind(object) };
    let result = open.close(object.addr(), || match open.real() {
        real if real.is_null() => 0,
        // SAFETY: an open object, which nobody uses afterwards.
        real => unsafe { calls::close(real.cast()) },
    });
    if result == 0 {
        // SAFETY: `hand_out` has made it from a box of this type, and nobody uses it afterwards (user).
        drop(unsafe { Box::from_raw(object.cast::<Object<K>>()) });
    }
    result
}

/// The library behind the shim, loaded with the first call.
pub(crate) fn library() -> &'static Library {
    // SAFETY: loads the system's libfabric.
    unsafe { Library::load(None) }.unwrap_or_else(|error| violation!("library", "{error}"))
}

/// An error as calls of libfabric return it.
pub(crate) const fn failure(code: u32) -> i32 {
    -(code.cast_signed())
}

/// An error as calls that move data return it.
pub(crate) const fn refusal(code: u32) -> isize {
    failure(code) as isize
}
