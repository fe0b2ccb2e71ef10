//! Operations, as they are handed to the provider.

use core::ffi::c_void;

use super::port::Posting;
use crate::libfabric::bindings::*;
use crate::transport::{AtomicOp, Width};

/// Memory of another PE.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) peer: fi_addr_t,
    pub(super) address: u64,
    pub(super) key: u64,
}

/// Memory of this PE.
#[derive(Clone, Copy)]
pub(super) struct Local {
    pub(super) from: *mut u8,
    pub(super) description: *mut c_void,
}

impl Target {
    /// The same, so many bytes on.
    pub(super) fn plus(self, bytes: usize) -> Self {
        Self { address: self.address.wrapping_add(bytes as u64), ..self }
    }

    /// Writes bytes.
    ///
    /// # Safety
    ///
    /// The posting must be one of a unit; the local bytes be readable until the operation is complete, or until it
    /// is handed over if it is injected; the target be registered memory of the peer.
    #[inline(always)]
    pub(super) unsafe fn write(self, posting: &Posting<'_>, local: Local, bytes: usize, flags: u32) -> isize {
        let (mut description, memory) = (local.description, vector(local.from, bytes));
        let remote = fi_rma_iov { addr: self.address, len: bytes, key: self.key };
        let message = self.message(posting, &memory, &mut description, &remote);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.writemsg(&message, posting.flags | u64::from(flags)) }
    }

    /// Writes bytes, and tells the peer when they are there.
    ///
    /// # Safety
    ///
    /// As [`write`](Self::write).
    pub(super) unsafe fn write_told(
        self,
        posting: &Posting<'_>,
        local: Local,
        bytes: usize,
        told: u64,
    ) -> isize {
        let (mut description, memory) = (local.description, vector(local.from, bytes));
        let remote = fi_rma_iov { addr: self.address, len: bytes, key: self.key };
        let message = fi_msg_rma { data: told, ..self.message(posting, &memory, &mut description, &remote) };
        let flags = posting.flags | u64::from(FI_REMOTE_CQ_DATA);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.writemsg(&message, flags) }
    }

    /// Writes bytes of the posting's record to here and others to another place of the peer, and tells the peer when all are
    /// there. It is complete when the local bytes are free.
    ///
    /// # Safety
    ///
    /// As [`write`](Self::write), for both.
    pub(super) unsafe fn write_both_told(
        self,
        posting: &Posting<'_>,
        (local, bytes): (Local, usize),
        (other, other_local, other_bytes): (Self, Local, usize),
        told: u64,
    ) -> isize {
        let mut descriptions = [local.description, other_local.description];
        let memory = [vector(local.from, bytes), vector(other_local.from, other_bytes)];
        let remote = [
            fi_rma_iov { addr: self.address, len: bytes, key: self.key },
            fi_rma_iov { addr: other.address, len: other_bytes, key: other.key },
        ];
        let message = fi_msg_rma {
            msg_iov: memory.as_ptr(),
            desc: descriptions.as_mut_ptr(),
            iov_count: memory.len(),
            addr: self.peer,
            rma_iov: remote.as_ptr(),
            rma_iov_count: remote.len(),
            context: posting.context,
            data: told,
        };
        // That it is delivered is what the peer answers, who is told.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE) | u64::from(FI_REMOTE_CQ_DATA);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.writemsg(&message, flags) }
    }

    /// Reads bytes.
    ///
    /// # Safety
    ///
    /// As [`write`](Self::write), and the local bytes be writable.
    #[inline(always)]
    pub(super) unsafe fn read(self, posting: &Posting<'_>, local: Local, bytes: usize) -> isize {
        let (mut description, memory) = (local.description, vector(local.from, bytes));
        let remote = fi_rma_iov { addr: self.address, len: bytes, key: self.key };
        let message = self.message(posting, &memory, &mut description, &remote);
        // Whoever has read has the bytes: delivery is what a read is.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.readmsg(&message, flags) }
    }

    #[inline(always)]
    fn message(
        self,
        posting: &Posting<'_>,
        memory: &libc::iovec,
        description: &mut *mut c_void,
        remote: &fi_rma_iov,
    ) -> fi_msg_rma {
        fi_msg_rma {
            msg_iov: memory,
            desc: description,
            iov_count: 1,
            addr: self.peer,
            rma_iov: remote,
            rma_iov_count: 1,
            context: posting.context,
            data: 0,
        }
    }

    /// Writes pieces of this PE's memory to pieces of the peer's, which lie at distances from here; together each
    /// side has as many bytes.
    ///
    /// # Safety
    ///
    /// As [`write`](Self::write), for each piece.
    pub(super) unsafe fn write_list(self, posting: &Posting<'_>, list: &List<'_>) -> isize {
        let mut pieces = Pieces::new();
        let message = self.list(posting, list, &mut pieces);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.writemsg(&message, posting.flags) }
    }

    /// Reads pieces, as [`write_list`](Self::write_list) writes them.
    ///
    /// # Safety
    ///
    /// As [`read`](Self::read), for each piece.
    pub(super) unsafe fn read_list(self, posting: &Posting<'_>, list: &List<'_>) -> isize {
        let mut pieces = Pieces::new();
        let message = self.list(posting, list, &mut pieces);
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.readmsg(&message, flags) }
    }

    fn list(self, posting: &Posting<'_>, list: &List<'_>, pieces: &mut Pieces) -> fi_msg_rma {
        for (to, from) in pieces.local.iter_mut().zip(list.local) {
            *to = vector(from.from, from.bytes);
        }
        for (to, (at, bytes)) in pieces.remote.iter_mut().zip(list.remote) {
            *to = fi_rma_iov { addr: self.plus(*at).address, len: *bytes, key: self.key };
        }
        pieces.descriptions.fill(list.description);
        fi_msg_rma {
            msg_iov: pieces.local.as_ptr(),
            desc: pieces.descriptions.as_mut_ptr(),
            iov_count: list.local.len(),
            addr: self.peer,
            rma_iov: pieces.remote.as_ptr(),
            rma_iov_count: list.remote.len(),
            context: posting.context,
            data: 0,
        }
    }

    /// Changes a word.
    ///
    /// # Safety
    ///
    /// As [`write`](Self::write), of a word that is aligned.
    #[inline(always)]
    pub(super) unsafe fn update(self, posting: &Posting<'_>, local: Local, word: Word, flags: u32) -> isize {
        let (mut description, memory) = (local.description, fi_ioc { addr: local.from.cast(), count: 1 });
        let remote = fi_rma_ioc { addr: self.address, count: 1, key: self.key };
        let message = self.atomic(posting, &memory, &mut description, &remote, word);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.atomicmsg(&message, posting.flags | u64::from(flags)) }
    }

    /// Changes a word and gives what was there, or only reads it. The operands lie at the start of the local
    /// memory: what is written or added, then what is compared.
    ///
    /// # Safety
    ///
    /// As [`update`](Self::update); `result` be writable for the word's width until the operation is complete.
    #[inline(always)]
    pub(super) unsafe fn fetch(
        self,
        posting: &Posting<'_>,
        operands: Local,
        result: Local,
        word: Word,
    ) -> isize {
        let (mut description, memory) =
            (operands.description, fi_ioc { addr: operands.from.cast(), count: 1 });
        let remote = fi_rma_ioc { addr: self.address, count: 1, key: self.key };
        let message = self.atomic(posting, &memory, &mut description, &remote, word);
        let mut before = fi_ioc { addr: result.from.cast(), count: 1 };
        let mut result_description = result.description;
        let to = (&mut before, &mut result_description);
        // Whoever has what was there knows that it is delivered; cxi refuses to be asked for it here.
        let flags = posting.flags & !u64::from(FI_DELIVERY_COMPLETE);
        if word.op != FI_CSWAP {
            // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
            return unsafe { posting.endpoint.fetch_atomicmsg(&message, to, flags) };
        }
        let compared = fi_ioc { addr: operands.from.wrapping_add(8).cast(), count: 1 };
        let mut compared_description = operands.description;
        let compare = (&compared, &mut compared_description);
        // SAFETY: a posting's context stays with its record or buffer, or is none; the rest is the caller's promise.
        unsafe { posting.endpoint.compare_atomicmsg(&message, compare, to, flags) }
    }

    #[inline(always)]
    fn atomic(
        self,
        posting: &Posting<'_>,
        memory: &fi_ioc,
        description: &mut *mut c_void,
        remote: &fi_rma_ioc,
        word: Word,
    ) -> fi_msg_atomic {
        fi_msg_atomic {
            msg_iov: memory,
            desc: description,
            iov_count: 1,
            addr: self.peer,
            rma_iov: remote,
            rma_iov_count: 1,
            datatype: word.datatype,
            op: word.op,
            context: posting.context,
            data: 0,
        }
    }
}

/// Most pieces of an operation, whatever a provider allows.
pub(super) const MOST_VECTORS: usize = 8;

/// A piece of this PE's memory.
#[derive(Clone, Copy)]
pub(super) struct Vector {
    pub(super) from: *mut u8,
    pub(super) bytes: usize,
}

/// The vectors of an operation, at most [`MOST_VECTORS`] on each side.
pub(super) struct List<'a> {
    pub(super) local: &'a [Vector],
    pub(super) description: *mut c_void,
    /// How far from the target's start, and how long each is.
    pub(super) remote: &'a [(usize, usize)],
}

/// The vectors in libfabric's words.
struct Pieces {
    local: [libc::iovec; MOST_VECTORS],
    descriptions: [*mut c_void; MOST_VECTORS],
    remote: [fi_rma_iov; MOST_VECTORS],
}

impl Pieces {
    fn new() -> Self {
        Self {
            local: [vector(core::ptr::null_mut(), 0); MOST_VECTORS],
            descriptions: [core::ptr::null_mut(); MOST_VECTORS],
            remote: [fi_rma_iov { addr: 0, len: 0, key: 0 }; MOST_VECTORS],
        }
    }
}

/// An atomic operation in libfabric's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) datatype: fi_datatype,
    pub(super) op: fi_op,
    /// What is written, added or masked with, then what is compared.
    pub(super) operands: [u64; 2],
}

impl Word {
    /// None, if it is one of those that are left to the target's engine: what sums and comparisons of floating-point
    /// numbers give, with their NaNs and zeroes, is to be the same everywhere.
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
        // Where the low bytes of a number come first, its low half is the number of half the width.
        const { assert!(cfg!(target_endian = "little"), "operands of 32 bits lie in 64") };
        Some(Self { datatype, op, operands })
    }
}

fn vector(from: *mut u8, bytes: usize) -> libc::iovec {
    libc::iovec { iov_base: from.cast(), iov_len: bytes }
}
