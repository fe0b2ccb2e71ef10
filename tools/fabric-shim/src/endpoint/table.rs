//! The tables of an endpoint.

use core::ffi::{c_int, c_void};
use core::ptr::{null, null_mut};
use std::sync::Arc;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use super::Endpoint;
use crate::at_once;
use crate::demand::demands;
use crate::object::{self, Object, close, failure, identity, left, table};
use crate::operation::{
    ATOMIC, COMPARE_ATOMIC, Call, Elements, FETCH_ATOMIC, Operation, READ, RECEIVE, SEND, WRITE,
    size_of_element,
};

/// What users see of an endpoint.
pub(super) fn seen(context: *mut c_void) -> fid_ep {
    let ops = table!(fi_ops { close: close::<Arc<Endpoint>>, bind, control });
    fid_ep {
        fid: identity(FI_CLASS_EP, context, ops),
        ops: table!(fi_ops_ep {}),
        cm: table!(fi_ops_cm { getname }),
        msg: table!(fi_ops_msg { recv, sendmsg }),
        rma: table!(fi_ops_rma { readmsg, writemsg }),
        tagged: null_mut(),
        atomic: table!(fi_ops_atomic {
            writemsg: atomicmsg,
            readwritemsg: fetch_atomicmsg,
            compwritemsg: compare_atomicmsg,
            writevalid: valid::<0>,
            readwritevalid: valid::<1>,
            compwritevalid: valid::<2>
        }),
        collective: null_mut(),
    }
}

unsafe extern "C" fn control(endpoint: *mut fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let open = unsafe { Object::<Arc<Endpoint>>::behind(endpoint) };
    if command.cast_unsigned() == FI_ENABLE && open.is_taken() {
        return failure(FI_EADDRINUSE);
    }
    // SAFETY: an endpoint of the shim's, which is open, and the user's argument.
    unsafe { object::control::<Arc<Endpoint>>(endpoint, command, argument) }
}

unsafe extern "C" fn bind(endpoint: *mut fid, to: *mut fid, flags: u64) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let endpoint = unsafe { Object::<Arc<Endpoint>>::behind(endpoint) };
    // SAFETY: an open object (user).
    unsafe { endpoint.bind(to, flags) }
}

left! {
    getname of Arc<Endpoint>: fid(address: *mut c_void, length: *mut usize) -> c_int;
}

/// # Safety
///
/// For libfabric's calls, with an endpoint of the shim's, which is open, and a message of a user who keeps the buffers until
/// completion.
unsafe fn transfer(call: Call, endpoint: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    // SAFETY: the caller's promise.
    let endpoint = unsafe { Object::<Arc<Endpoint>>::behind(endpoint) };
    // SAFETY: the caller's promise.
    let message = unsafe { &*message };
    if call == WRITE && at_once::is_on() {
        // SAFETY: the caller's promise.
        return unsafe { endpoint.write_at_once(message, flags) };
    }
    // SAFETY: the caller's promise.
    let operation = unsafe { Operation::transfer(call, message, flags) };
    // SAFETY: the caller's promise.
    unsafe { endpoint.take(operation) }
}

unsafe extern "C" fn recv(
    endpoint: *mut fid_ep,
    iov_base: *mut c_void,
    iov_len: usize,
    mut descriptor: *mut c_void,
    addr: fi_addr_t,
    context: *mut c_void,
) -> isize {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let flags = unsafe { Object::<Arc<Endpoint>>::behind(endpoint) }.receive_flags;
    let (part, desc) = (libc::iovec { iov_base, iov_len }, &raw mut descriptor);
    let message = fi_msg { msg_iov: &raw const part, desc, iov_count: 1, addr, context, data: 0 };
    // SAFETY: such an endpoint, and a list of one buffer, which the user keeps until completion, and its descriptor.
    unsafe { transfer(RECEIVE, endpoint, &to_no_memory(&message), flags) }
}

unsafe extern "C" fn sendmsg(endpoint: *mut fid_ep, message: *const fi_msg, flags: u64) -> isize {
    // SAFETY: a message of the user's.
    let message = to_no_memory(unsafe { &*message });
    // SAFETY: an endpoint of the shim's, which is open; the user keeps the buffers until completion.
    unsafe { transfer(SEND, endpoint, &message, flags) }
}

/// A message as one to remote memory, of which it names none.
fn to_no_memory(message: &fi_msg) -> fi_msg_rma {
    let fi_msg { msg_iov, desc, iov_count, addr, context, data } = *message;
    fi_msg_rma { msg_iov, desc, iov_count, addr, rma_iov: null(), rma_iov_count: 0, context, data }
}

unsafe extern "C" fn readmsg(endpoint: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    // SAFETY: an endpoint of the shim's, which is open, and a message of a user who keeps the buffers until completion.
    unsafe { transfer(READ, endpoint, message, flags) }
}

unsafe extern "C" fn writemsg(endpoint: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    // SAFETY: an endpoint of the shim's, which is open, and a message of a user who keeps the buffers until completion.
    unsafe { transfer(WRITE, endpoint, message, flags) }
}

/// No elements.
const NONE: Elements = (null(), null_mut(), 0);

unsafe extern "C" fn atomicmsg(endpoint: *mut fid_ep, message: *const fi_msg_atomic, flags: u64) -> isize {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open, and a message of the user's.
    unsafe { atomic(ATOMIC, endpoint, message, [NONE, NONE], flags) }
}

unsafe extern "C" fn fetch_atomicmsg(
    endpoint: *mut fid_ep,
    message: *const fi_msg_atomic,
    results: *mut fi_ioc,
    descriptors: *mut *mut c_void,
    count: usize,
    flags: u64,
) -> isize {
    let results = (results.cast_const(), descriptors, count);
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open, and a message of the user's.
    unsafe { atomic(FETCH_ATOMIC, endpoint, message, [NONE, results], flags) }
}

unsafe extern "C" fn compare_atomicmsg(
    endpoint: *mut fid_ep,
    message: *const fi_msg_atomic,
    compares: *const fi_ioc,
    compare_descriptors: *mut *mut c_void,
    compare_count: usize,
    results: *mut fi_ioc,
    descriptors: *mut *mut c_void,
    count: usize,
    flags: u64,
) -> isize {
    let lists = [(compares, compare_descriptors, compare_count), (results.cast_const(), descriptors, count)];
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open, and a message of the user's.
    unsafe { atomic(COMPARE_ATOMIC, endpoint, message, lists, flags) }
}

/// # Safety
///
/// For libfabric's calls, with an endpoint of the shim's, which is open, and a message and elements of a user who keeps the
/// buffers until completion.
unsafe fn atomic(
    call: Call,
    endpoint: *mut fid_ep,
    message: *const fi_msg_atomic,
    [compares, results]: [Elements; 2],
    flags: u64,
) -> isize {
    // SAFETY: the caller's promise.
    let message = unsafe { &*message };
    // SAFETY: the caller's promise.
    let operation = unsafe { Operation::atomic(call, message, compares, results, flags) };
    // SAFETY: the caller's promise.
    let endpoint = unsafe { Object::<Arc<Endpoint>>::behind(endpoint) };
    // SAFETY: the caller's promise.
    unsafe { endpoint.take(operation) }
}

/// How libfabric asks whether there is an atomic.
type Valid = unsafe fn(*mut fid_ep, fi_datatype, fi_op, *mut usize) -> c_int;

/// One that gives nothing, one that fetches, one that compares.
const VALID: [Valid; 3] = [calls::atomicvalid, calls::fetch_atomicvalid, calls::compare_atomicvalid];

unsafe extern "C" fn valid<const KIND: usize>(
    endpoint: *mut fid_ep,
    datatype: fi_datatype,
    operation: fi_op,
    count: *mut usize,
) -> c_int {
    if demands().no_atomics {
        return failure(FI_EOPNOTSUPP);
    }
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let endpoint = unsafe { Object::<Arc<Endpoint>>::behind(endpoint) };
    // SAFETY: an open endpoint, and a place for the count (user).
    let result = unsafe { VALID[KIND](endpoint.real(), datatype, operation, count) };
    if result == 0 {
        let most = endpoint.limits.message / size_of_element(datatype);
        // SAFETY: the place for the count, which the library has filled in.
        let count = unsafe { &mut *count };
        *count = most.min(*count);
    }
    result
}
