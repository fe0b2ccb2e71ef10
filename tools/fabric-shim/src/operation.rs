//! One call that moves data: taken apart, checked, kept for later, given to the real endpoint.

use core::ffi::c_void;
use core::slice;

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::real::Real;

/// The calls that move data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Send,
    Receive,
    Write,
    Read,
    Atomic,
    FetchAtomic,
    CompareAtomic,
}

impl Call {
    /// Its name in libfabric.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Send => "fi_sendmsg",
            Self::Receive => "fi_recv",
            Self::Write => "fi_writemsg",
            Self::Read => "fi_readmsg",
            Self::Atomic => "fi_atomicmsg",
            Self::FetchAtomic => "fi_fetch_atomicmsg",
            Self::CompareAtomic => "fi_compare_atomicmsg",
        }
    }

    /// Whether it is an atomic.
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::FetchAtomic | Self::CompareAtomic)
    }

    /// The access to its first local buffers that their registration must allow.
    pub(crate) fn access(self) -> u32 {
        match self {
            Self::Send => FI_SEND,
            Self::Receive => FI_RECV,
            Self::Read => FI_READ,
            Self::Write | Self::Atomic | Self::FetchAtomic | Self::CompareAtomic => FI_WRITE,
        }
    }
}

/// Local buffers and what their user gives as their descriptors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) parts: Vec<iovec>,
    /// Empty where none are given.
    descriptors: Vec<usize>,
}

impl Buffers {
    /// Buffers of bytes.
    ///
    /// # Safety
    ///
    /// As many parts, and descriptors where they are given, must be at the addresses.
    pub(crate) unsafe fn bytes(parts: *const iovec, descriptors: *mut *mut c_void, count: usize) -> Self {
        // SAFETY: the caller's promise.
        let parts = unsafe { list(parts, count) }.to_vec();
        // SAFETY: the caller's promise.
        Self { parts, descriptors: unsafe { addresses(descriptors, count) } }
    }

    /// Buffers of elements.
    ///
    /// # Safety
    ///
    /// As [`Buffers::bytes`].
    unsafe fn elements(
        parts: *const fi_ioc,
        descriptors: *mut *mut c_void,
        count: usize,
        bytes: usize,
    ) -> Self {
        // SAFETY: the caller's promise.
        let parts = unsafe { list(parts, count) };
        let parts =
            parts.iter().map(|part| iovec { iov_base: part.addr, iov_len: part.count * bytes }).collect();
        // SAFETY: the caller's promise.
        Self { parts, descriptors: unsafe { addresses(descriptors, count) } }
    }

    /// One buffer.
    pub(crate) fn one(base: *mut c_void, length: usize, descriptor: *mut c_void) -> Self {
        Self { parts: vec![iovec { iov_base: base, iov_len: length }], descriptors: vec![descriptor.addr()] }
    }

    /// Each part with its descriptor, or 0.
    pub(crate) fn described(&self) -> impl Iterator<Item = (&iovec, usize)> {
        let descriptors = self.descriptors.iter().copied().chain(core::iter::repeat(0));
        self.parts.iter().zip(descriptors).filter(|(part, _)| part.iov_len > 0)
    }

    /// Their bytes.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.iov_len).sum()
    }

    /// As the calls of atomics take them.
    fn as_elements(&self, bytes: usize) -> Vec<fi_ioc> {
        self.parts.iter().map(|part| fi_ioc { addr: part.iov_base, count: part.iov_len / bytes }).collect()
    }
}

/// What an atomic works on.
#[derive(Clone, Copy, Debug)]
struct Element {
    datatype: fi_datatype,
    operation: fi_op,
    bytes: usize,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) local: Buffers,
    pub(crate) compare: Buffers,
    pub(crate) result: Buffers,
    pub(crate) remote: Vec<fi_rma_iov>,
    element: Option<Element>,
    pub(crate) peer: fi_addr_t,
    pub(crate) context: *mut c_void,
    data: u64,
    pub(crate) flags: u64,
    /// What the local buffers are replaced by, where the user's may have gone.
    own: Vec<u8>,
}

// SAFETY: the buffers are the user's, who keeps them until completion; libfabric's calls belong to no thread.
unsafe impl Send for Operation {}

impl Operation {
    fn new(call: Call, local: Buffers, peer: fi_addr_t, context: *mut c_void, flags: u64) -> Self {
        Self {
            call,
            local,
            compare: Buffers::default(),
            result: Buffers::default(),
            remote: Vec::new(),
            element: None,
            peer,
            context,
            data: 0,
            flags,
            own: Vec::new(),
        }
    }

    /// A receive of one buffer.
    pub(crate) fn receive(local: Buffers, peer: fi_addr_t, context: *mut c_void, flags: u64) -> Self {
        Self::new(Call::Receive, local, peer, context, flags)
    }

    /// A send.
    ///
    /// # Safety
    ///
    /// The message must be as libfabric's manual page asks.
    pub(crate) unsafe fn message(message: *const fi_msg, flags: u64) -> Self {
        // SAFETY: the caller's promise.
        let message = unsafe { &*message };
        // SAFETY: the caller's promise.
        let local = unsafe { Buffers::bytes(message.msg_iov, message.desc, message.iov_count) };
        let mut operation = Self::new(Call::Send, local, message.addr, message.context, flags);
        operation.data = message.data;
        operation
    }

    /// A write or a read.
    ///
    /// # Safety
    ///
    /// The message must be as libfabric's manual page asks.
    pub(crate) unsafe fn remote(call: Call, message: *const fi_msg_rma, flags: u64) -> Self {
        // SAFETY: the caller's promise.
        let message = unsafe { &*message };
        // SAFETY: the caller's promise.
        let local = unsafe { Buffers::bytes(message.msg_iov, message.desc, message.iov_count) };
        let mut operation = Self::new(call, local, message.addr, message.context, flags);
        // SAFETY: the caller's promise.
        operation.remote = unsafe { list(message.rma_iov, message.rma_iov_count) }.to_vec();
        operation.data = message.data;
        operation
    }

    /// An atomic. Its results and what is compared are added by the caller.
    ///
    /// # Safety
    ///
    /// The message must be as libfabric's manual page asks.
    pub(crate) unsafe fn atomic(call: Call, message: *const fi_msg_atomic, flags: u64) -> Self {
        // SAFETY: the caller's promise.
        let message = unsafe { &*message };
        let bytes = size_of_element(message.datatype);
        // SAFETY: the caller's promise.
        let local = unsafe { Buffers::elements(message.msg_iov, message.desc, message.iov_count, bytes) };
        let mut operation = Self::new(call, local, message.addr, message.context, flags);
        // SAFETY: the caller's promise.
        let remote = unsafe { list(message.rma_iov, message.rma_iov_count) };
        operation.remote = remote
            .iter()
            .map(|part| fi_rma_iov { addr: part.addr, len: part.count * bytes, key: part.key })
            .collect();
        operation.data = message.data;
        operation.element = Some(Element { datatype: message.datatype, operation: message.op, bytes });
        operation
    }

    /// Where the results of an atomic go.
    ///
    /// # Safety
    ///
    /// As [`Buffers::bytes`].
    pub(crate) unsafe fn with_result(
        mut self,
        parts: *const fi_ioc,
        descriptors: *mut *mut c_void,
        count: usize,
    ) -> Self {
        // SAFETY: the caller's promise.
        self.result = unsafe { Buffers::elements(parts, descriptors, count, self.element_bytes()) };
        self
    }

    /// What an atomic compares with.
    ///
    /// # Safety
    ///
    /// As [`Buffers::bytes`].
    pub(crate) unsafe fn with_compare(
        mut self,
        parts: *const fi_ioc,
        descriptors: *mut *mut c_void,
        count: usize,
    ) -> Self {
        // SAFETY: the caller's promise.
        self.compare = unsafe { Buffers::elements(parts, descriptors, count, self.element_bytes()) };
        self
    }

    fn element_bytes(&self) -> usize {
        self.element.map_or(1, |element| element.bytes)
    }

    /// Whether an atomic changes what it works on.
    pub(crate) fn is_update(&self) -> bool {
        self.element.is_some_and(|element| element.operation != FI_ATOMIC_READ)
    }

    /// Makes an update one that changes nothing, and still completes and fetches as before.
    pub(crate) fn lose_update(&mut self) {
        let Some(element) = &mut self.element else { return };
        element.operation = FI_SUM;
        if self.call == Call::CompareAtomic {
            self.call = Call::FetchAtomic;
            self.compare = Buffers::default();
        }
        self.own = vec![0; self.local.len()];
        self.use_own();
    }

    /// Copies what is injected: its user may change it as soon as the call has returned.
    pub(crate) fn keep_injected(&mut self) {
        if self.flags & u64::from(FI_INJECT) == 0 || !self.own.is_empty() {
            return;
        }
        for part in &self.local.parts {
            // SAFETY: a local buffer of a call that has not returned (user).
            let bytes = unsafe { list(part.iov_base.cast::<u8>(), part.iov_len) };
            self.own.extend_from_slice(bytes);
        }
        self.use_own();
    }

    fn use_own(&mut self) {
        let part = iovec { iov_base: self.own.as_mut_ptr().cast(), iov_len: self.own.len() };
        self.local = Buffers { parts: vec![part], descriptors: Vec::new() };
    }

    /// Gives the call to the real endpoint. Descriptors stay behind: it has asked for none. It copies the operands
    /// of atomics and what is injected before it returns.
    ///
    /// # Safety
    ///
    /// The endpoint must be open, and the buffers stay as libfabric asks until completion.
    pub(crate) unsafe fn issue(&self, endpoint: Real<fid_ep>) -> isize {
        let endpoint = endpoint.as_ptr();
        let none = core::ptr::null_mut::<*mut c_void>();
        if self.call.is_atomic() {
            // SAFETY: the caller's promise.
            return unsafe { self.issue_atomic(endpoint) };
        }
        let (parts, count) = (self.local.parts.as_ptr(), self.local.parts.len());
        match self.call {
            Call::Receive => {
                let part = &self.local.parts[0];
                let none = core::ptr::null_mut();
                // SAFETY: an open endpoint, and a buffer that its user keeps (caller).
                unsafe { calls::recv(endpoint, part.iov_base, part.iov_len, none, self.peer, self.context) }
            }
            Call::Send => {
                let (addr, context, data) = (self.peer, self.context, self.data);
                let message = fi_msg { msg_iov: parts, desc: none, iov_count: count, addr, context, data };
                // SAFETY: an open endpoint, and buffers that their user keeps (caller).
                unsafe { calls::sendmsg(endpoint, &raw const message, self.flags) }
            }
            _ => {
                let message = fi_msg_rma {
                    msg_iov: parts,
                    desc: none,
                    iov_count: count,
                    addr: self.peer,
                    rma_iov: self.remote.as_ptr(),
                    rma_iov_count: self.remote.len(),
                    context: self.context,
                    data: self.data,
                };
                let call = if self.call == Call::Read { calls::readmsg } else { calls::writemsg };
                // SAFETY: an open endpoint, and buffers that their user keeps (caller).
                unsafe { call(endpoint, &raw const message, self.flags) }
            }
        }
    }

    /// As [`Operation::issue`], for atomics.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn issue_atomic(&self, endpoint: *mut fid_ep) -> isize {
        let none = core::ptr::null_mut::<*mut c_void>();
        let Element { datatype, operation, bytes } = self.element.expect("an atomic has elements");
        let local = self.local.as_elements(bytes);
        let compare = self.compare.as_elements(bytes);
        let mut result = self.result.as_elements(bytes);
        let remote = self.remote.iter();
        let remote: Vec<_> = remote
            .map(|part| fi_rma_ioc { addr: part.addr, count: part.len / bytes, key: part.key })
            .collect();
        let message = fi_msg_atomic {
            msg_iov: local.as_ptr(),
            desc: none,
            iov_count: local.len(),
            addr: self.peer,
            rma_iov: remote.as_ptr(),
            rma_iov_count: remote.len(),
            datatype,
            op: operation,
            context: self.context,
            data: self.data,
        };
        let (message, flags) = (&raw const message, self.flags);
        let (results, most) = (result.as_mut_ptr(), result.len());
        match self.call {
            // SAFETY: an open endpoint, and buffers that their user keeps (caller).
            Call::FetchAtomic => unsafe {
                calls::fetch_atomicmsg(endpoint, message, results, none, most, flags)
            },
            // SAFETY: an open endpoint, and buffers that their user keeps (caller).
            Call::CompareAtomic => unsafe {
                let (with, parts) = (compare.as_ptr(), compare.len());
                calls::compare_atomicmsg(endpoint, message, with, none, parts, results, none, most, flags)
            },
            // SAFETY: an open endpoint, and buffers that their user keeps (caller).
            _ => unsafe { calls::atomicmsg(endpoint, message, flags) },
        }
    }
}

/// Bytes of an element.
pub(crate) fn size_of_element(datatype: fi_datatype) -> usize {
    const BYTES: [usize; 14] = [1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 16, 32];
    BYTES.get(datatype as usize).copied().unwrap_or(16)
}

/// The list at an address; none where there are no entries.
///
/// # Safety
///
/// There must be as many entries, which nobody changes while the result is used.
pub(crate) unsafe fn list<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if count == 0 || start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(start, count) }
}

/// Descriptors, as numbers.
///
/// # Safety
///
/// As [`list`].
unsafe fn addresses(descriptors: *mut *mut c_void, count: usize) -> Vec<usize> {
    // SAFETY: the caller's promise.
    unsafe { list(descriptors, count) }.iter().map(|descriptor| descriptor.addr()).collect()
}
