//! Objects of the shim: each is a structure of libfabric, with tables of functions, which users see, followed by the shim's state.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ops::Deref;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use shmem_core::libfabric::bindings::{fi_ops, fid};
use shmem_core::libfabric::{Library, calls};

/// Makes a static table of libfabric with the given functions. Its other entries are null.
macro_rules! table {
    ($table:ident { $($call:ident $(: $function:expr)?),* }) => {{
        static TABLE: $table = $table {
            size: size_of::<$table>(),
            $($call: Some($crate::object::table!(@ $call $($function)?)),)*
            // SAFETY: the table consists of integers and optional function pointers, for which zero is valid.
            ..unsafe { core::mem::zeroed() }
        };
        (&raw const TABLE).cast_mut()
    }};
    (@ $call:ident) => { $call };
    (@ $call:ident $function:expr) => { $function };
}
pub(crate) use table;

/// Defines functions of tables. Users call them with the address of an object of the shim; the body gets the shim's state.
macro_rules! called {
    ($(fn $call:ident($object:ident: $kind:ty as $seen:ty $(, $argument:ident: $type:ty)*) -> $result:ty $body:block)*) => {$(
        unsafe extern "C" fn $call(object: *mut $seen $(, $argument: $type)*) -> $result {
            // SAFETY: users call the functions of a table with its object only, which is open and of this type.
            let $object = unsafe { $crate::object::Object::<$kind>::behind(object) };
            $body
        }
    )*};
}
pub(crate) use called;

/// An object of the shim, which stands for an object of the real library. Users have the address of its first field.
#[repr(C)]
pub(crate) struct Object<K: ObjectState> {
    seen: UnsafeCell<K::Seen>,
    real: Real<K::Seen>,
    state: K,
}

/// The shim's state for an object. `Seen` is the structure of libfabric that users see.
pub(crate) trait ObjectState: Sized {
    type Seen;

    /// Closes the real object by `close`, and removes what the shim keeps elsewhere for the object at `address`.
    fn close(&self, _address: usize, close: impl FnOnce() -> c_int) -> c_int {
        close()
    }
}

/// A pointer to an object of the real library, which is open as long as this value is in use; null before it is opened.
///
/// Threads share the pointer. The shim obeys the user's threading level of libfabric, because it calls the real object only inside
/// the user's calls on the object, or on an object that is bound to it.
pub(crate) struct Real<T>(AtomicPtr<T>);

impl<T> Real<T> {
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
    /// Makes an object, which lives until it is closed. Returns its address for users.
    pub(crate) fn hand_out(seen: K::Seen, real: *mut K::Seen, state: K) -> *mut K::Seen {
        let object = Self { seen: UnsafeCell::new(seen), real: Real::new(real), state };
        Box::into_raw(Box::new(object)).cast()
    }

    /// Returns the shim's object at an address that a user has passed.
    ///
    /// # Safety
    ///
    /// The address must come from [`Object::hand_out`] of this type. The object must stay open while the result is used.
    pub(crate) unsafe fn behind<'a, S>(seen: *mut S) -> &'a Self {
        // SAFETY: `seen` is the address of the first field of an open object of this type (caller), which is `repr(C)`.
        unsafe { &*seen.cast::<Self>() }
    }

    pub(crate) fn real(&self) -> *mut K::Seen {
        self.real.as_ptr()
    }

    pub(crate) fn stand_for(&self, real: *mut K::Seen) {
        self.real.0.store(real, Ordering::Relaxed);
    }

    pub(crate) fn seen(&self) -> *mut K::Seen {
        self.seen.get()
    }
}

/// Returns the `fid` with which every structure of libfabric begins.
pub(crate) fn identity(class: u32, context: *mut c_void, ops: *mut fi_ops) -> fid {
    fid { fclass: class as usize, context, ops }
}

/// Opens a real object by `call`, makes the shim's object for it by `stand`, and writes that object's address to `place`.
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
        // SAFETY: `place` is writable (caller).
        unsafe { place.write(Object::hand_out(seen, real, state)) };
    }
    result
}

/// `fi_close` of the shim's objects.
pub(crate) unsafe extern "C" fn close<K: ObjectState>(object: *mut fid) -> c_int {
    // SAFETY: users call this function by the table of an open object of this type.
    let open = unsafe { Object::<K>::behind(object) };
    let result = open.close(object.addr(), || match open.real() {
        real if real.is_null() => 0,
        // SAFETY: the real object is open, and nobody uses it after it was closed.
        real => unsafe { calls::close(real.cast()) },
    });
    if result == 0 {
        // SAFETY: `hand_out` has made the object from a box of this type, and the user does not use it after it was closed.
        drop(unsafe { Box::from_raw(object.cast::<Object<K>>()) });
    }
    result
}

/// Returns the real library. The first call loads it.
pub(crate) fn library() -> &'static Library {
    // SAFETY: the loaded library is the system's libfabric, whose initialisers are sound.
    unsafe { Library::load(None) }.unwrap_or_else(|error| violation!("library", "{error}"))
}

/// Converts an error code to the return value of libfabric's calls.
pub(crate) const fn failure(code: u32) -> i32 {
    -(code.cast_signed())
}

/// Converts an error code to the return value of calls that move data.
pub(crate) const fn refusal(code: u32) -> isize {
    failure(code) as isize
}
