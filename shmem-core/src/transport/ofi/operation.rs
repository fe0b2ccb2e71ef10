//! Operations of the provider: their messages in libfabric's form.

use core::ffi::c_void;

use super::posting::Posting;
use crate::libfabric::bindings::*;
use crate::libfabric::calls;
use crate::transport::{AtomicOp, Width};

#[derive(Clone, Copy)]
pub(super) struct RemoteMemory {
    pub(super) peer: fi_addr_t,
    pub(super) address: u64,
    pub(super) key: u64,
}

/// Memory of this PE, with the provider's descriptor.
#[derive(Clone, Copy)]
pub(super) struct LocalMemory {
    pub(super) from: *mut u8,
    pub(super) description: *mut c_void,
}

impl RemoteMemory {
    pub(super) fn plus(self, bytes: usize) -> Self {
        Self { address: self.address.wrapping_add(bytes as u64), ..self }
    }

    /// Writes bytes there, or reads bytes from there. `flags` are further flags of a write. With `FI_REMOTE_CQ_DATA`, the target's
    /// queue reports the write with `data`.
    ///
    /// # Safety
    ///
    /// The posting must be one of a unit; the local bytes be readable, for a read writable, until the operation is complete, or, if
    /// injected, until this returns; the target be registered memory of the peer.
    #[inline(always)]
    pub(super) unsafe fn transfer(
        self,
        posting: &Posting<'_>,
        is_write: bool,
        local: LocalMemory,
        bytes: usize,
        (flags, data): (u32, u64),
    ) -> isize {
        let mut description = local.description;
        let memory = libc::iovec { iov_base: local.from.cast(), iov_len: bytes };
        let remote = fi_rma_iov { addr: self.address, len: bytes, key: self.key };
        let message = &fi_msg_rma {
            msg_iov: &raw const memory,
            desc: &raw mut description,
            iov_count: 1,
            addr: self.peer,
            rma_iov: &raw const remote,
            rma_iov_count: 1,
            context: posting.context,
            data,
        };
        let endpoint = posting.endpoint.as_ptr();
        if is_write {
            // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
            return unsafe { calls::writemsg(endpoint, message, posting.flags | u64::from(flags)) };
        }
        // A complete read is always delivered.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { calls::readmsg(endpoint, message, flags) }
    }

    /// Changes or reads a word, and writes its old value to `result`, if given. `operands` is the operand, then the value to
    /// compare with; `flags` are further flags, without `result` only.
    ///
    /// # Safety
    ///
    /// As [`transfer`](Self::transfer), of a word that is aligned; `result` be writable for the word's width until the operation is
    /// complete.
    #[inline(always)]
    pub(super) unsafe fn change(
        self,
        posting: &Posting<'_>,
        operands: LocalMemory,
        result: Option<LocalMemory>,
        word: Word,
        flags: u32,
    ) -> isize {
        let place = |from: *mut u8| fi_ioc { addr: from.cast(), count: 1 };
        let (memory, compared) = (place(operands.from), place(operands.from.wrapping_add(8)));
        let (mut description, mut compared_description) = (operands.description, operands.description);
        let remote = fi_rma_ioc { addr: self.address, count: 1, key: self.key };
        let endpoint = posting.endpoint.as_ptr();
        let message = &fi_msg_atomic {
            msg_iov: &raw const memory,
            desc: &raw mut description,
            iov_count: 1,
            addr: self.peer,
            rma_iov: &raw const remote,
            rma_iov_count: 1,
            datatype: word.datatype,
            op: word.op,
            context: posting.context,
            data: 0,
        };
        let Some(result) = result else {
            // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
            return unsafe { calls::atomicmsg(endpoint, message, posting.flags | u64::from(flags)) };
        };
        let (mut before, mut described) = (place(result.from), result.description);
        // An operation with its result here is delivered; cxi refuses the flag.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        if word.op != FI_CSWAP {
            // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
            return unsafe {
                calls::fetch_atomicmsg(endpoint, message, &raw mut before, &raw mut described, 1, flags)
            };
        }
        let (compared, description) = (&raw const compared, &raw mut compared_description);
        let (before, described) = (&raw mut before, &raw mut described);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe {
            calls::compare_atomicmsg(endpoint, message, compared, description, 1, before, described, 1, flags)
        }
    }
}

/// An atomic operation in libfabric's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) datatype: fi_datatype,
    pub(super) op: fi_op,
    /// The operand, then the value to compare with.
    pub(super) operands: [u64; 2],
}

impl Word {
    /// Returns `None` for operations of the target's engine: results of floating-point sums and comparisons, with their NaNs and
    /// zeroes, must be the same over all providers.
    pub(super) fn of(width: Width, op: AtomicOp) -> Option<Self> {
        let datatype = match width {
            Width::W4 => FI_UINT32,
            Width::W8 => FI_UINT64,
        };
        let (op, operands) = match op {
            AtomicOp::Fetch => (FI_ATOMIC_READ, [0; 2]),
            AtomicOp::Set(value) | AtomicOp::Swap(value) => (FI_ATOMIC_WRITE, [value, 0]),
            AtomicOp::CompareSwap { expected, desired } => (FI_CSWAP, [desired, expected]),
            AtomicOp::Add(value) => (FI_SUM, [value, 0]),
            AtomicOp::And(value) => (FI_BAND, [value, 0]),
            AtomicOp::Or(value) => (FI_BOR, [value, 0]),
            AtomicOp::Xor(value) => (FI_BXOR, [value, 0]),
            AtomicOp::AddFloat(_) | AtomicOp::Min(..) | AtomicOp::Max(..) => return None,
        };
        // In little-endian order the low half of a number comes first.
        const { assert!(cfg!(target_endian = "little"), "operands of 32 bits lie in 64") };
        Some(Self { datatype, op, operands })
    }
}
