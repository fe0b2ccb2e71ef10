//! The tables of an endpoint.

use core::ffi::{c_int, c_void};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use super::Endpoint;
use crate::at_once;
use crate::demand::Atomics;
use crate::object::{self, Standing, Wrapper, identity, table};
use crate::operation::{Buffers, Call, Operation, size_of_element};
use crate::real::failure;

static BASE: fi_ops = table!(fi_ops { close, bind, control });

static GENERAL: fi_ops_ep = table!(fi_ops_ep {});

static ADDRESS: fi_ops_cm = table!(fi_ops_cm { getname });

static MESSAGES: fi_ops_msg = table!(fi_ops_msg { recv, sendmsg });

static REMOTE: fi_ops_rma = table!(fi_ops_rma { readmsg, writemsg });

static ATOMICS: fi_ops_atomic = table!(fi_ops_atomic {
    writemsg: atomicmsg,
    readwritemsg: fetch_atomicmsg,
    compwritemsg: compare_atomicmsg,
    writevalid: atomicvalid,
    readwritevalid: fetch_atomicvalid,
    compwritevalid: compare_atomicvalid
});

/// What users see of an endpoint.
pub(super) fn endpoint(context: *mut c_void) -> fid_ep {
    fid_ep {
        fid: identity(FI_CLASS_EP, context, &BASE),
        ops: (&raw const GENERAL).cast_mut(),
        cm: (&raw const ADDRESS).cast_mut(),
        msg: (&raw const MESSAGES).cast_mut(),
        rma: (&raw const REMOTE).cast_mut(),
        tagged: core::ptr::null_mut(),
        atomic: (&raw const ATOMICS).cast_mut(),
        collective: core::ptr::null_mut(),
    }
}

unsafe extern "C" fn control(endpoint: *mut fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let core = unsafe { Endpoint::behind(endpoint.cast()) }.core();
    if command.cast_unsigned() == FI_ENABLE && core.is_taken() {
        return failure(FI_EADDRINUSE);
    }
    // SAFETY: an endpoint of the shim's, which is open, and the user's argument.
    unsafe { object::control::<Endpoint>(endpoint, command, argument) }
}

unsafe extern "C" fn close(endpoint: *mut fid) -> c_int {
    let endpoint = endpoint.cast();
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let core = unsafe { Endpoint::behind(endpoint) }.core().clone();
    // SAFETY: nobody uses it afterwards (user).
    let result = unsafe { core.close() };
    if result == 0 {
        // SAFETY: nobody uses it afterwards (user).
        drop(unsafe { Endpoint::reclaim(endpoint) });
    }
    result
}

unsafe extern "C" fn bind(endpoint: *mut fid, to: *mut fid, flags: u64) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let endpoint = unsafe { Endpoint::behind(endpoint.cast()) };
    // SAFETY: an open object (user).
    unsafe { endpoint.bind(to, flags) }
}

unsafe extern "C" fn getname(endpoint: *mut fid, address: *mut c_void, length: *mut usize) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let real = unsafe { Endpoint::behind(endpoint.cast()) }.real();
    // SAFETY: an open endpoint, and the user's place for the address.
    unsafe { calls::getname(real.as_ptr(), address, length) }
}

unsafe extern "C" fn recv(
    endpoint: *mut fid_ep,
    buffer: *mut c_void,
    length: usize,
    descriptor: *mut c_void,
    peer: fi_addr_t,
    context: *mut c_void,
) -> isize {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
    let core = unsafe { Endpoint::behind(endpoint) }.core();
    let local = Buffers::one(buffer, length, descriptor);
    // SAFETY: the user keeps the buffer until completion.
    unsafe { core.take(Operation::receive(local, peer, context, core.receive_flags)) }
}

unsafe extern "C" fn sendmsg(endpoint: *mut fid_ep, message: *const fi_msg, flags: u64) -> isize {
    // SAFETY: a message of the user's.
    let operation = unsafe { Operation::message(message, flags) };
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open; the user keeps the buffers
    // until completion.
    unsafe { take(endpoint, operation) }
}

unsafe extern "C" fn readmsg(endpoint: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    // SAFETY: a message of the user's.
    let operation = unsafe { Operation::remote(Call::Read, message, flags) };
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open; the user keeps the buffers
    // until completion.
    unsafe { take(endpoint, operation) }
}

unsafe extern "C" fn writemsg(endpoint: *mut fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
    if at_once::is_on() {
        // SAFETY: libfabric calls this with an endpoint of the shim's, which is open.
        let core = unsafe { Endpoint::behind(endpoint) }.core();
        // SAFETY: a message of the user's.
        return unsafe { core.write_at_once(message, flags) };
    }
    // SAFETY: a message of the user's.
    let operation = unsafe { Operation::remote(Call::Write, message, flags) };
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open; the user keeps the buffers
    // until completion.
    unsafe { take(endpoint, operation) }
}

unsafe extern "C" fn atomicmsg(endpoint: *mut fid_ep, message: *const fi_msg_atomic, flags: u64) -> isize {
    // SAFETY: a message of the user's.
    let operation = unsafe { Operation::atomic(Call::Atomic, message, flags) };
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open; the user keeps the buffers
    // until completion.
    unsafe { take(endpoint, operation) }
}

unsafe extern "C" fn fetch_atomicmsg(
    endpoint: *mut fid_ep,
    message: *const fi_msg_atomic,
    results: *mut fi_ioc,
    result_descriptors: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: a message of the user's.
    let operation = unsafe { Operation::atomic(Call::FetchAtomic, message, flags) };
    // SAFETY: as many results as the user counts.
    let operation = unsafe { operation.with_result(results, result_descriptors, result_count) };
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open; the user keeps the buffers
    // until completion.
    unsafe { take(endpoint, operation) }
}

unsafe extern "C" fn compare_atomicmsg(
    endpoint: *mut fid_ep,
    message: *const fi_msg_atomic,
    compares: *const fi_ioc,
    compare_descriptors: *mut *mut c_void,
    compare_count: usize,
    results: *mut fi_ioc,
    result_descriptors: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    // SAFETY: a message of the user's.
    let operation = unsafe { Operation::atomic(Call::CompareAtomic, message, flags) };
    // SAFETY: as many results as the user counts.
    let operation = unsafe { operation.with_result(results, result_descriptors, result_count) };
    // SAFETY: as many operands as the user counts.
    let operation = unsafe { operation.with_compare(compares, compare_descriptors, compare_count) };
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open; the user keeps the buffers
    // until completion.
    unsafe { take(endpoint, operation) }
}

/// # Safety
///
/// For libfabric's calls, with an endpoint of the shim's, which is open, and a user who keeps the buffers until
/// completion.
unsafe fn take(endpoint: *mut fid_ep, operation: Operation) -> isize {
    // SAFETY: the caller's promise.
    let core = unsafe { Endpoint::behind(endpoint) }.core();
    // SAFETY: the caller's promise.
    unsafe { core.take(operation) }
}

/// How libfabric asks whether there is an atomic.
type Valid = unsafe fn(*mut fid_ep, fi_datatype, fi_op, *mut usize) -> c_int;

unsafe extern "C" fn atomicvalid(
    endpoint: *mut fid_ep,
    datatype: fi_datatype,
    operation: fi_op,
    count: *mut usize,
) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open, and a place for the count.
    unsafe { valid(calls::atomicvalid, endpoint, datatype, operation, count) }
}

unsafe extern "C" fn fetch_atomicvalid(
    endpoint: *mut fid_ep,
    datatype: fi_datatype,
    operation: fi_op,
    count: *mut usize,
) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open, and a place for the count.
    unsafe { valid(calls::fetch_atomicvalid, endpoint, datatype, operation, count) }
}

unsafe extern "C" fn compare_atomicvalid(
    endpoint: *mut fid_ep,
    datatype: fi_datatype,
    operation: fi_op,
    count: *mut usize,
) -> c_int {
    // SAFETY: libfabric calls this with an endpoint of the shim's, which is open, and a place for the count.
    unsafe { valid(calls::compare_atomicvalid, endpoint, datatype, operation, count) }
}

/// # Safety
///
/// For libfabric's calls, with an endpoint of the shim's, which is open, and a place for the count.
unsafe fn valid(
    ask: Valid,
    endpoint: *mut fid_ep,
    datatype: fi_datatype,
    operation: fi_op,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let core = unsafe { Endpoint::behind(endpoint) }.core();
    if core.domain.demands.atomics == Atomics::None {
        return failure(FI_EOPNOTSUPP);
    }
    // SAFETY: an open endpoint, and a place for the count.
    let result = unsafe { ask(core.real.as_ptr(), datatype, operation, count) };
    if result == 0 {
        let most = core.limits.message / size_of_element(datatype);
        // SAFETY: the place for the count, which the library has filled in.
        let count = unsafe { &mut *count };
        *count = most.min(*count);
    }
    result
}
