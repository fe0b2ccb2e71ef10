//! Tables of function pointers in the structure of an endpoint (`fid_ep`), and the functions.

use core::ffi::{c_int, c_void};
use core::ptr::{null, null_mut};
use std::sync::Arc;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use super::Endpoint;
use crate::immediate_completion;
use crate::object::{called, close, failure, identity, table};
use crate::operation::{
    ATOMIC, COMPARE_ATOMIC, Call, Elements, FETCH_ATOMIC, Operation, READ, RECEIVE, SEND, WRITE,
};

/// Returns the structure of an endpoint that users see.
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
            compwritemsg: compare_atomicmsg
        }),
        collective: null_mut(),
    }
}

called! {
    fn getname(endpoint: Arc<Endpoint> as fid_ep, address: *mut c_void, length: *mut usize) -> c_int {
        // SAFETY: the endpoint is open. The other arguments are the user's, unchanged.
        unsafe { calls::getname(endpoint.real(), address, length) }
    }

    fn control(endpoint: Arc<Endpoint> as fid, command: c_int, argument: *mut c_void) -> c_int {
        if command.cast_unsigned() == FI_ENABLE && endpoint.is_taken() {
            return failure(FI_EADDRINUSE);
        }
        // SAFETY: the endpoint is open. The other arguments are the user's, unchanged.
        unsafe { calls::control(endpoint.real().cast(), command, argument) }
    }

    fn bind(endpoint: Arc<Endpoint> as fid, to: *mut fid, flags: u64) -> c_int {
        // SAFETY: the user binds an open object.
        unsafe { endpoint.bind(to, flags) }
    }

    fn recv(endpoint: Arc<Endpoint> as fid_ep, iov_base: *mut c_void, iov_len: usize, descriptor: *mut c_void, addr: fi_addr_t,
        context: *mut c_void) -> isize
    {
        let (part, mut descriptor) = (libc::iovec { iov_base, iov_len }, descriptor);
        let desc = &raw mut descriptor;
        let message = to_no_memory(&fi_msg { msg_iov: &raw const part, desc, iov_count: 1, addr, context, data: 0 });
        // SAFETY: `message` names one buffer, which the user keeps until completion, and one descriptor.
        unsafe { endpoint.transfer(RECEIVE, &raw const message, endpoint.receive_flags) }
    }

    fn sendmsg(endpoint: Arc<Endpoint> as fid_ep, message: *const fi_msg, flags: u64) -> isize {
        // SAFETY: the user passes a valid message.
        let message = to_no_memory(unsafe { &*message });
        // SAFETY: the user passes a valid message, and keeps the buffers until completion.
        unsafe { endpoint.transfer(SEND, &raw const message, flags) }
    }

    fn readmsg(endpoint: Arc<Endpoint> as fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
        // SAFETY: the user passes a valid message, and keeps the buffers until completion.
        unsafe { endpoint.transfer(READ, message, flags) }
    }

    fn writemsg(endpoint: Arc<Endpoint> as fid_ep, message: *const fi_msg_rma, flags: u64) -> isize {
        // SAFETY: the user passes a valid message, and keeps the buffers until completion.
        unsafe { endpoint.transfer(WRITE, message, flags) }
    }

    fn atomicmsg(endpoint: Arc<Endpoint> as fid_ep, message: *const fi_msg_atomic, flags: u64) -> isize {
        // SAFETY: the user passes a valid message, and keeps the buffers until completion.
        endpoint.take(unsafe { Operation::atomic(ATOMIC, message, NONE, NONE, flags) })
    }

    fn fetch_atomicmsg(endpoint: Arc<Endpoint> as fid_ep, message: *const fi_msg_atomic, results: *mut fi_ioc,
        descriptors: *mut *mut c_void, count: usize, flags: u64) -> isize
    {
        let results = (results.cast_const(), descriptors, count);
        // SAFETY: the user passes a valid message and `count` results, and keeps the buffers until completion.
        endpoint.take(unsafe { Operation::atomic(FETCH_ATOMIC, message, NONE, results, flags) })
    }

    fn compare_atomicmsg(endpoint: Arc<Endpoint> as fid_ep, message: *const fi_msg_atomic, compares: *const fi_ioc,
        compare_descriptors: *mut *mut c_void, compare_count: usize, results: *mut fi_ioc, descriptors: *mut *mut c_void,
        count: usize, flags: u64) -> isize
    {
        let compares = (compares, compare_descriptors, compare_count);
        let results = (results.cast_const(), descriptors, count);
        // SAFETY: the user passes a valid message, operands and results, and keeps the buffers until completion.
        endpoint.take(unsafe { Operation::atomic(COMPARE_ATOMIC, message, compares, results, flags) })
    }
}

const NONE: Elements = (null(), null_mut(), 0);

/// Converts a message of a send or a receive to an RMA message without remote memory.
fn to_no_memory(message: &fi_msg) -> fi_msg_rma {
    let fi_msg { msg_iov, desc, iov_count, addr, context, data } = *message;
    fi_msg_rma { msg_iov, desc, iov_count, addr, rma_iov: null(), rma_iov_count: 0, context, data }
}

impl Endpoint {
    /// Carries out a send, a receive, a read or a write.
    ///
    /// # Safety
    ///
    /// The message must fulfil the rules of libfabric's manual page. The user must keep the buffers until completion.
    unsafe fn transfer(&self, call: Call, message: *const fi_msg_rma, flags: u64) -> isize {
        if call == WRITE && immediate_completion::is_on() {
            // SAFETY: the message fulfils libfabric's rules (caller).
            return unsafe { self.write_at_once(message, flags) };
        }
        // SAFETY: the message fulfils libfabric's rules, and the user keeps the buffers (caller).
        self.take(unsafe { Operation::transfer(call, message, flags) })
    }
}
