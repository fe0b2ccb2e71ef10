//! The functions that libfabric's headers define inline: a call through the table that an object carries.
//!
//! Named as in the headers, without `fi_`; documented there. Each is one indirect call.

use core::ffi::{c_char, c_int, c_void};

use super::bindings::*;

/// The result of calling a function that the object's table does not contain, or whose table it does not have: `-FI_ENOSYS`. An
/// endpoint opened without atomics may have no table of them.
const NOT_THERE: i32 = -38;

/// An entry of a table, if both are there. The table is not borrowed: an older libfabric has a shorter one.
macro_rules! entry {
    ($table:expr, $entry:ident) => {{
        let table = $table;
        if table.is_null() {
            None
        } else {
            // SAFETY: not null: a table of libfabric's, of an open object (caller), which has this entry since 1.14.
            unsafe { (*table).$entry }
        }
    }};
}

/// Functions that call an entry of a table of the object that is their first argument.
macro_rules! calls {
    ($($name:ident: $entry:ident of $($table:ident).+ ($object:ident: $type:ty $(, $argument:ident: $of:ty)*) -> $result:ty;)*) => {$(
        #[doc = concat!("`fi_", stringify!($name), "`.")]
        ///
        /// # Safety
        ///
        /// The object must be open, and the arguments be as the manual page of libfabric asks.
        #[inline(always)]
        #[allow(clippy::too_many_arguments, reason = "libfabric's own")]
        pub unsafe fn $name($object: *mut $type $(, $argument: $of)*) -> $result {
            // SAFETY: an open object (caller).
            let table = unsafe { (*$object).$($table).+ };
            match entry!(table, $entry) {
                // SAFETY: the caller's promise.
                Some(call) => unsafe { call($object.cast() $(, $argument)*) },
                None => NOT_THERE as $result,
            }
        }
    )*};
}

calls! {
    close: close of ops (object: fid) -> c_int;
    bind: bind of ops (object: fid, to: *mut fid, flags: u64) -> c_int;
    control: control of ops (object: fid, command: c_int, argument: *mut c_void) -> c_int;

    domain: domain of ops (fabric: fid_fabric, info: *mut fi_info, domain: *mut *mut fid_domain, context: *mut c_void) -> c_int;
    trywait: trywait of ops (fabric: fid_fabric, fids: *mut *mut fid, count: c_int) -> c_int;

    av_open: av_open of ops (domain: fid_domain, attr: *mut fi_av_attr, av: *mut *mut fid_av, context: *mut c_void) -> c_int;
    cq_open: cq_open of ops (domain: fid_domain, attr: *mut fi_cq_attr, cq: *mut *mut fid_cq, context: *mut c_void) -> c_int;
    cntr_open: cntr_open of ops (domain: fid_domain, attr: *mut fi_cntr_attr, cntr: *mut *mut fid_cntr, context: *mut c_void) -> c_int;
    endpoint: endpoint of ops (domain: fid_domain, info: *mut fi_info, ep: *mut *mut fid_ep, context: *mut c_void) -> c_int;
    mr_regattr: regattr of mr (domain: fid_domain, attr: *const fi_mr_attr, flags: u64, mr: *mut *mut fid_mr) -> c_int;

    av_insert: insert of ops (av: fid_av, addr: *const c_void, count: usize, fi_addr: *mut fi_addr_t, flags: u64, context: *mut c_void) -> c_int;
    av_lookup: lookup of ops (av: fid_av, fi_addr: fi_addr_t, addr: *mut c_void, addrlen: *mut usize) -> c_int;

    getname: getname of cm (ep: fid_ep, addr: *mut c_void, addrlen: *mut usize) -> c_int;

    recv: recv of msg (ep: fid_ep, buf: *mut c_void, len: usize, desc: *mut c_void, src_addr: fi_addr_t, context: *mut c_void) -> isize;
    sendmsg: sendmsg of msg (ep: fid_ep, msg: *const fi_msg, flags: u64) -> isize;
    readmsg: readmsg of rma (ep: fid_ep, msg: *const fi_msg_rma, flags: u64) -> isize;
    writemsg: writemsg of rma (ep: fid_ep, msg: *const fi_msg_rma, flags: u64) -> isize;
    atomicmsg: writemsg of atomic (ep: fid_ep, msg: *const fi_msg_atomic, flags: u64) -> isize;
    fetch_atomicmsg: readwritemsg of atomic (ep: fid_ep, msg: *const fi_msg_atomic, resultv: *mut fi_ioc, result_desc: *mut *mut c_void, result_count: usize, flags: u64) -> isize;
    compare_atomicmsg: compwritemsg of atomic (ep: fid_ep, msg: *const fi_msg_atomic, comparev: *const fi_ioc, compare_desc: *mut *mut c_void, compare_count: usize, resultv: *mut fi_ioc, result_desc: *mut *mut c_void, result_count: usize, flags: u64) -> isize;

    cq_read: read of ops (cq: fid_cq, buf: *mut c_void, count: usize) -> isize;
    cq_readerr: readerr of ops (cq: fid_cq, buf: *mut fi_cq_err_entry, flags: u64) -> isize;
    cntr_read: read of ops (cntr: fid_cntr) -> u64;
}

/// `fi_av_straddr`.
///
/// # Safety
///
/// As the other functions of this module.
pub unsafe fn av_straddr(
    av: *mut fid_av,
    addr: *const c_void,
    buf: *mut c_char,
    len: *mut usize,
) -> *const c_char {
    // SAFETY: an open object (caller).
    let table = unsafe { (*av).ops };
    match entry!(table, straddr) {
        // SAFETY: the caller's promise.
        Some(call) => unsafe { call(av, addr, buf, len) },
        None => core::ptr::null(),
    }
}
