//! Operations of the provider, in libfabric's form.

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

/// Memory of this PE, with the provider's descriptor for it.
#[derive(Clone, Copy)]
pub(super) struct LocalMemory {
    pub(super) from: *mut u8,
    pub(super) description: *mut c_void,
}

impl RemoteMemory {
    pub(super) fn plus(self, bytes: usize) -> Self {
        Self { address: self.address.wrapping_add(bytes as u64), ..self }
    }

    /// Starts a write of local bytes to this remote memory, or a read from it. `flags` are further flags of a write. With
    /// `FI_REMOTE_CQ_DATA`, the target's queue reports the write with `data`.
    ///
    /// # Safety
    ///
    /// The posting must belong to a unit. The local bytes must be readable (for a read, writable) until the operation is complete,
    /// or, if injected, until this returns. The remote memory must be registered memory of the peer.
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
            // SAFETY: the posting's context is null, or stays with its record or buffer. The rest is the caller's promise.
            return unsafe { calls::writemsg(endpoint, message, posting.flags | u64::from(flags)) };
        }
        // A complete read is delivered even without the flag.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        // SAFETY: the posting's context is null, or stays with its record or buffer. The rest is the caller's promise.
        unsafe { calls::readmsg(endpoint, message, flags) }
    }

    /// Starts a change or a read of a word. Its old value is written to `result`, if given. `operands` are the operand, then the
    /// value to compare with. `flags` are further flags, used only without `result`.
    ///
    /// # Safety
    ///
    /// As [`transfer`](Self::transfer), for an aligned word. `result` must be writable for the word's width until completion.
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
            // SAFETY: the posting's context is null, or stays with its record or buffer. The rest is the caller's promise.
            return unsafe { calls::atomicmsg(endpoint, message, posting.flags | u64::from(flags)) };
        };
        let (mut before, mut described) = (place(result.from), result.description);
        // Without the flag, because a result that has arrived proves delivery, and cxi refuses the flag.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        if word.op != FI_CSWAP {
            // SAFETY: the posting's context is null, or stays with its record or buffer. The rest is the caller's promise.
            return unsafe {
                calls::fetch_atomicmsg(endpoint, message, &raw mut before, &raw mut described, 1, flags)
            };
        }
        let (compared, description) = (&raw const compared, &raw mut compared_description);
        let (before, described) = (&raw mut before, &raw mut described);
        // SAFETY: the posting's context is null, or stays with its record or buffer. The rest is the caller's promise.
        unsafe {
            calls::compare_atomicmsg(endpoint, message, compared, description, 1, before, described, 1, flags)
        }
    }
}

/// An atomic operation in libfabric's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) datatype: fi_datatype,
    pub(super) op: fi_op,
    /// The operand, then the value to compare with.
    pub(super) operands: [u64; 2],
}

impl Word {
    /// Converts an operation. `None`: float sums, all minima and all maxima, which the engine does alike over all providers.
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
        // In little-endian order, an operand of 32 bits is at the start of the 64 bits that hold it.
        const { assert!(cfg!(target_endian = "little"), "operands of 32 bits lie in 64") };
        Some(Self { datatype, op, operands })
    }
}
