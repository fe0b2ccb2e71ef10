//! A call that moves data, as a value that the shim checks, delays, and passes to the real endpoint.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::slice;

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

/// The name of the libfabric function that a user has called to move data.
pub(crate) type Call = &'static str;
pub(crate) const SEND: Call = "fi_sendmsg";
pub(crate) const RECEIVE: Call = "fi_recv";
pub(crate) const WRITE: Call = "fi_writemsg";
pub(crate) const READ: Call = "fi_readmsg";
pub(crate) const ATOMIC: Call = "fi_atomicmsg";
pub(crate) const FETCH_ATOMIC: Call = "fi_fetch_atomicmsg";
pub(crate) const COMPARE_ATOMIC: Call = "fi_compare_atomicmsg";

/// Elements that an atomic gets as arguments: (list, descriptors or null, count).
pub(crate) type Elements = (*const fi_ioc, *mut *mut c_void, usize);

#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) parts: Vec<iovec>,
    /// The descriptors of the buffers; empty if the user passes none.
    descriptors: Vec<usize>,
}

impl Buffers {
    /// Converts a list of buffers or of elements to buffers in bytes.
    ///
    /// # Safety
    ///
    /// There must be `count` entries at `parts`, and at `descriptors` unless it is null.
    unsafe fn of<T>(
        (parts, descriptors, count): (*const T, *mut *mut c_void, usize),
        as_bytes: impl Fn(&T) -> iovec,
    ) -> Self {
        // SAFETY: there are `count` entries at `parts` (caller).
        let parts = unsafe { list(parts, count) }.iter().map(as_bytes).collect();
        // SAFETY: there are `count` descriptors, or the pointer is null (caller).
        let descriptors = unsafe { list(descriptors, count) };
        Self { parts, descriptors: descriptors.iter().map(|descriptor| descriptor.addr()).collect() }
    }

    /// Returns each buffer that is not empty with its descriptor, or with 0 if it has none.
    pub(crate) fn described(&self) -> impl Iterator<Item = (&iovec, usize)> {
        let descriptors = self.descriptors.iter().copied().chain(core::iter::repeat(0));
        self.parts.iter().zip(descriptors).filter(|(part, _)| part.iov_len > 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.iov_len).sum()
    }

    /// Converts the buffers to elements of `bytes` bytes, as atomics expect them.
    fn as_elements(&self, bytes: usize) -> Vec<fi_ioc> {
        self.parts.iter().map(|part| fi_ioc { addr: part.iov_base, count: part.iov_len / bytes }).collect()
    }
}

struct Element {
    datatype: fi_datatype,
    operation: fi_op,
    bytes: usize,
}

pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) local: Buffers,
    pub(crate) compare: Buffers,
    pub(crate) result: Buffers,
    pub(crate) remote: Vec<fi_rma_iov>,
    element: Element,
    pub(crate) peer: fi_addr_t,
    pub(crate) context: *mut c_void,
    data: u64,
    pub(crate) flags: u64,
    /// Operands that replace the user's local buffers: a copy, because those may be gone when a delayed operation is issued; or the
    /// zeroes of a lost update.
    own: Vec<u8>,
}

// SAFETY: the user keeps the buffers until completion, and libfabric's calls are not bound to a thread.
unsafe impl Send for Operation {}

impl Operation {
    /// Makes an operation without buffers and without remote memory.
    fn new(call: Call, peer: fi_addr_t, context: *mut c_void, (data, flags): (u64, u64)) -> Self {
        let (local, compare, result) = Default::default();
        let element = Element { datatype: 0, operation: 0, bytes: 1 };
        let (remote, own) = (Vec::new(), Vec::new());
        Self { call, local, compare, result, remote, element, peer, context, data, flags, own }
    }

    /// Makes an operation from the arguments of a send, a receive, a read or a write. Sends and receives have no remote memory.
    ///
    /// # Safety
    ///
    /// The message must fulfil the rules of libfabric's manual page. The user must keep the buffers until completion.
    pub(crate) unsafe fn transfer(call: Call, message: *const fi_msg_rma, flags: u64) -> Self {
        // SAFETY: the message is valid (caller).
        let message = unsafe { &*message };
        // SAFETY: the message has `iov_count` local buffers, and as many descriptors or none (caller).
        let local = unsafe { Buffers::of((message.msg_iov, message.desc, message.iov_count), |part| *part) };
        // SAFETY: the message has `rma_iov_count` remote ranges (caller).
        let remote = unsafe { list(message.rma_iov, message.rma_iov_count) }.to_vec();
        let said = (message.data, flags);
        Self { local, remote, ..Self::new(call, message.addr, message.context, said) }
    }

    /// Makes an operation from the arguments of an atomic: `compare` is compared with, and `result` gets old values.
    ///
    /// # Safety
    ///
    /// The message must fulfil the rules of libfabric's manual page, and lists must have as many elements as they count. The user
    /// must keep the buffers until completion.
    pub(crate) unsafe fn atomic(
        call: Call,
        message: *const fi_msg_atomic,
        compare: Elements,
        result: Elements,
        flags: u64,
    ) -> Self {
        // SAFETY: the message is valid (caller).
        let message = unsafe { &*message };
        let bytes = size_of_element(message.datatype);
        let as_bytes = |part: &fi_ioc| iovec { iov_base: part.addr, iov_len: part.count * bytes };
        // SAFETY: each list has as many elements as its count says (caller).
        let buffers = |elements| unsafe { Buffers::of(elements, as_bytes) };
        // SAFETY: the message has `rma_iov_count` remote ranges (caller).
        let remote = unsafe { list(message.rma_iov, message.rma_iov_count) }.iter();
        let remote =
            remote.map(|part| fi_rma_iov { addr: part.addr, len: part.count * bytes, key: part.key });
        Self {
            local: buffers((message.msg_iov, message.desc, message.iov_count)),
            compare: buffers(compare),
            result: buffers(result),
            remote: remote.collect(),
            element: Element { datatype: message.datatype, operation: message.op, bytes },
            ..Self::new(call, message.addr, message.context, (message.data, flags))
        }
    }

    pub(crate) fn is_atomic(&self) -> bool {
        self.call == ATOMIC || self.fetches()
    }

    /// Returns whether this is an atomic that returns the old value.
    pub(crate) fn fetches(&self) -> bool {
        [FETCH_ATOMIC, COMPARE_ATOMIC].contains(&self.call)
    }

    /// Returns the access right that local buffers need in their registration.
    pub(crate) fn access(&self) -> u32 {
        match self.call {
            SEND => FI_SEND,
            RECEIVE => FI_RECV,
            READ => FI_READ,
            _ => FI_WRITE,
        }
    }

    /// Returns whether this is an atomic that writes to remote memory.
    pub(crate) fn is_update(&self) -> bool {
        self.is_atomic() && self.element.operation != FI_ATOMIC_READ
    }

    /// Turns an update into the addition of 0. Completion and result stay the same.
    pub(crate) fn lose_update(&mut self) {
        self.element.operation = FI_SUM;
        if self.call == COMPARE_ATOMIC {
            (self.call, self.compare) = (FETCH_ATOMIC, Buffers::default());
        }
        self.own = vec![0; self.local.len()];
        self.use_own();
    }

    /// Copies the source of an injected operation, because the user may change the source after the call.
    pub(crate) fn keep_injected(&mut self) {
        if self.flags & u64::from(FI_INJECT) == 0 || !self.own.is_empty() {
            return;
        }
        for part in &self.local.parts {
            // SAFETY: local buffers are readable until the call returns (user).
            let bytes = unsafe { list(part.iov_base.cast::<u8>(), part.iov_len) };
            self.own.extend_from_slice(bytes);
        }
        self.use_own();
    }

    fn use_own(&mut self) {
        let part = iovec { iov_base: self.own.as_mut_ptr().cast(), iov_len: self.own.len() };
        self.local = Buffers { parts: vec![part], descriptors: Vec::new() };
    }

    /// Passes the call to the real endpoint, without descriptors, because that endpoint needs none. Before the call returns, the
    /// endpoint copies operands of atomics and sources of injected operations.
    ///
    /// # Safety
    ///
    /// The endpoint must be open. The buffers must stay valid until completion, as libfabric requires.
    pub(crate) unsafe fn issue(&self, endpoint: *mut fid_ep) -> isize {
        if self.is_atomic() {
            // SAFETY: the endpoint is open, and the buffers stay valid (caller).
            return unsafe { self.issue_atomic(endpoint) };
        }
        let Self { peer: addr, context, data, flags, .. } = *self;
        let (msg_iov, desc, iov_count) = (self.local.parts.as_ptr(), null_mut(), self.local.parts.len());
        let (rma_iov, rma_iov_count) = (self.remote.as_ptr(), self.remote.len());
        match self.call {
            RECEIVE => {
                let iovec { iov_base, iov_len } = self.local.parts[0];
                // SAFETY: the endpoint is open, and the buffer stays valid (caller).
                unsafe { calls::recv(endpoint, iov_base, iov_len, null_mut(), addr, context) }
            }
            SEND => {
                let message = fi_msg { msg_iov, desc, iov_count, addr, context, data };
                // SAFETY: the endpoint is open, and the buffers stay valid (caller).
                unsafe { calls::sendmsg(endpoint, &raw const message, flags) }
            }
            _ => {
                let call = if self.call == READ { calls::readmsg } else { calls::writemsg };
                let message =
                    fi_msg_rma { msg_iov, desc, iov_count, addr, rma_iov, rma_iov_count, context, data };
                // SAFETY: the endpoint is open, and the buffers stay valid (caller).
                unsafe { call(endpoint, &raw const message, flags) }
            }
        }
    }

    /// Passes an atomic to the real endpoint.
    ///
    /// # Safety
    ///
    /// The rules of [`Operation::issue`] must be kept.
    unsafe fn issue_atomic(&self, endpoint: *mut fid_ep) -> isize {
        let Element { datatype, operation, bytes } = self.element;
        let (local, compare) = (self.local.as_elements(bytes), self.compare.as_elements(bytes));
        let mut result = self.result.as_elements(bytes);
        let part = |part: &fi_rma_iov| fi_rma_ioc { addr: part.addr, count: part.len / bytes, key: part.key };
        let remote: Vec<_> = self.remote.iter().map(part).collect();
        let message = fi_msg_atomic {
            msg_iov: local.as_ptr(),
            desc: null_mut(),
            iov_count: local.len(),
            addr: self.peer,
            rma_iov: remote.as_ptr(),
            rma_iov_count: remote.len(),
            datatype,
            op: operation,
            context: self.context,
            data: self.data,
        };
        let (message, none, flags) = (&raw const message, null_mut(), self.flags);
        let (results, most) = (result.as_mut_ptr(), result.len());
        match self.call {
            // SAFETY: the endpoint is open, and the buffers stay valid (caller).
            FETCH_ATOMIC => unsafe { calls::fetch_atomicmsg(endpoint, message, results, none, most, flags) },
            // SAFETY: the endpoint is open, and the buffers stay valid (caller).
            COMPARE_ATOMIC => unsafe {
                let (with, parts) = (compare.as_ptr(), compare.len());
                calls::compare_atomicmsg(endpoint, message, with, none, parts, results, none, most, flags)
            },
            // SAFETY: the endpoint is open, and the buffers stay valid (caller).
            _ => unsafe { calls::atomicmsg(endpoint, message, flags) },
        }
    }
}

fn size_of_element(datatype: fi_datatype) -> usize {
    const BYTES: [usize; 14] = [1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 16, 32];
    BYTES.get(datatype as usize).copied().unwrap_or(16)
}

/// Returns the `count` entries at an address; an empty slice if the address is null.
///
/// # Safety
///
/// Unless `start` is null, there must be `count` entries, which nobody changes while the result is used.
pub(crate) unsafe fn list<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if count == 0 || start.is_null() {
        return &[];
    }
    // SAFETY: there are `count` entries, which nobody changes (caller).
    unsafe { slice::from_raw_parts(start, count) }
}
