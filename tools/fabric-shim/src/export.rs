//! The symbols of libfabric that the shim exports.

use core::ffi::{c_char, c_int, c_void};

use shmem_core::libfabric::bindings::{fi_fabric_attr, fi_info, fid_fabric};

use crate::domain::Fabric;
use crate::object::{library, open};
use crate::{immediate_completion, information};

/// `fi_getinfo`: returns the real library's offers, to which the shim adds the demands of `FABRIC_SHIM`.
///
/// # Safety
///
/// The rules of libfabric's `fi_getinfo` must be kept. `hints` must be null or come from [`fi_dupinfo`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_getinfo(
    version: u32,
    node: *const c_char,
    service: *const c_char,
    flags: u64,
    hints: *const fi_info,
    info: *mut *mut fi_info,
) -> c_int {
    // SAFETY: `hints` is null, or an entry that the real library has allocated (caller).
    let mut wanted = match unsafe { information::wanted(hints) } {
        Ok(wanted) => wanted,
        Err(error) => return error,
    };
    let getinfo = library().symbols().fi_getinfo;
    // SAFETY: `wanted` was allocated by the real library. The other arguments are the caller's, unchanged.
    let result = unsafe { getinfo(version, node, service, flags, wanted.as_ptr(), info) };
    if result == 0 {
        // SAFETY: `info` is readable (caller).
        let list = unsafe { *info };
        // SAFETY: the real library has just allocated the list, and nobody else has it yet.
        unsafe { information::offer(list, &mut wanted) };
    }
    result
}

/// Opens a fabric of the shim, as libfabric's `fi_fabric` opens a real one.
///
/// # Safety
///
/// The rules of libfabric's `fi_fabric` must be kept. The attributes must come from [`fi_getinfo`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_fabric(
    attributes: *mut fi_fabric_attr,
    fabric: *mut *mut fid_fabric,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the real library has filled in the attributes (caller).
    let call = |real: *mut _| unsafe { (library().symbols().fi_fabric)(attributes, real, context) };
    // SAFETY: `fabric` is writable (caller).
    unsafe { open(fabric, call, |_| Fabric::new(context)) }
}

/// Defines functions that only call the real library.
macro_rules! real {
    ($($name:ident($($argument:ident: $type:ty)?) $(-> $result:ty)?;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        ///
        /// The rules of the libfabric function of the same name must be kept.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type)?) $(-> $result)? {
            // SAFETY: the caller fulfils libfabric's rules, and passes an `fi_info` of the real library, because the shim hands out
            // no others.
            unsafe { (library().symbols().$name)($($argument)?) }
        }
    )*};
}
real! {
    fi_freeinfo(info: *mut fi_info);
    fi_dupinfo(info: *const fi_info) -> *mut fi_info;
    fi_version() -> u32;
    fi_strerror(error: c_int) -> *const c_char;
}

/// Switches the mode in which RMA writes complete at once (0: off, else on). No operation may be in flight. libfabric has no such
/// call.
#[unsafe(no_mangle)]
pub extern "C" fn fabric_shim_at_once(on: c_int) {
    immediate_completion::switch(on != 0);
}
