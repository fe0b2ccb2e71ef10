//! The symbols of a libfabric.

use core::ffi::{c_char, c_int, c_void};

use shmem_core::libfabric::bindings::{fi_fabric_attr, fi_info, fid_fabric};

use crate::domain::Fabric;
use crate::object::{library, open};
use crate::{immediate_completion, information};

/// `fi_getinfo`: the real library's answer, with the demands.
///
/// # Safety
///
/// As libfabric's `fi_getinfo`; hints must come from [`fi_dupinfo`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_getinfo(
    version: u32,
    node: *const c_char,
    service: *const c_char,
    flags: u64,
    hints: *const fi_info,
    info: *mut *mut fi_info,
) -> c_int {
    // SAFETY: hints are null or a list of the real library's (caller).
    let mut wanted = match unsafe { information::wanted(hints) } {
        Ok(wanted) => wanted,
        Err(error) => return error,
    };
    let getinfo = library().symbols().fi_getinfo;
    // SAFETY: the caller's arguments, and hints of the library's own.
    let result = unsafe { getinfo(version, node, service, flags, wanted.as_ptr(), info) };
    if result == 0 {
        // SAFETY: `info` is valid (caller).
        let list = unsafe { *info };
        // SAFETY: the library has just made the list.
        unsafe { information::offer(list, &mut wanted) };
    }
    result
}

/// `fi_fabric`.
///
/// # Safety
///
/// As libfabric's; the attributes must come from [`fi_getinfo`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_fabric(
    attributes: *mut fi_fabric_attr,
    fabric: *mut *mut fid_fabric,
    context: *mut c_void,
) -> c_int {
    // SAFETY: attributes that the real library has filled in (caller).
    let call = |real: *mut _| unsafe { (library().symbols().fi_fabric)(attributes, real, context) };
    // SAFETY: `fabric` is writable (caller).
    unsafe { open(fabric, call, |_| Fabric::new(context)) }
}

/// Functions that call the real library.
macro_rules! real {
    ($($name:ident($($argument:ident: $type:ty)?) $(-> $result:ty)?;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        ///
        /// As libfabric's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type)?) $(-> $result)? {
            // SAFETY: arguments go on unchanged, under the caller's promise, which is libfabric's; all lists that the shim hands out
            // are the real library's.
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

/// Switches writes that are complete at once on (not 0) or off (0). Not a function of libfabric. No operation may be in flight.
#[unsafe(no_mangle)]
pub extern "C" fn fabric_shim_at_once(on: c_int) {
    immediate_completion::switch(on != 0);
}
