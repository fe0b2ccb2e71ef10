//! Atomic operations on 64-bit words by the bare program.

use std::ptr;

use shmem_core::libfabric::bindings::{
    FI_ATOMIC_WRITE, FI_CSWAP, FI_DELIVERY_COMPLETE, FI_INJECT, FI_SUM, FI_UINT64, fi_ioc, fi_msg_atomic,
    fi_op, fi_rma_ioc,
};

use super::{Lane, Peer};

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicKind {
    /// Adds, and gives nothing.
    Add,
    /// Adds, and gives what was there.
    FetchAdd,
    /// Writes, and gives what was there.
    Swap,
    /// Writes if what is there is what is expected, and gives what was there.
    CompareSwap,
}

impl AtomicKind {
    fn op(self) -> fi_op {
        match self {
            Self::Add | Self::FetchAdd => FI_SUM,
            Self::Swap => FI_ATOMIC_WRITE,
            Self::CompareSwap => FI_CSWAP,
        }
    }
}

impl Lane {
    /// Changes the word at `there` in the peer's memory by that at `here`. What was there comes to the word behind
    /// the one at `here`; what is expected to be there stands behind that.
    ///
    /// # Panics
    ///
    /// As [`put`](Self::put).
    #[inline]
    pub fn atomic(&self, kind: AtomicKind, to: &Peer, there: usize, here: usize) {
        let bare = self.bare();
        let word = |at: usize| fi_ioc { addr: bare.at(at, 8).cast(), count: 1 };
        let (operand, mut result, compare) = (word(here), word(here + 8), word(here + 16));
        let (mut of_operand, mut of_result) = (bare.descriptor(), bare.descriptor());
        let mut of_compare = bare.descriptor();
        let rma = fi_rma_ioc { addr: to.base + there as u64, count: 1, key: to.key };
        let message = fi_msg_atomic {
            msg_iov: &raw const operand,
            desc: &raw mut of_operand,
            iov_count: 1,
            addr: to.address,
            rma_iov: &raw const rma,
            rma_iov_count: 1,
            datatype: FI_UINT64,
            op: kind.op(),
            context: ptr::null_mut(),
            data: 0,
        };
        let poster = self.endpoint();
        match kind {
            AtomicKind::Add => {
                let inject = if bare.inject_size() < 8 { 0 } else { FI_INJECT };
                let flags = u64::from(FI_DELIVERY_COMPLETE | inject);
                // SAFETY: the message names aligned words of registered memory, here and there.
                self.issue("fi_atomicmsg", || unsafe { poster.atomicmsg(&message, flags) });
            }
            AtomicKind::FetchAdd | AtomicKind::Swap => {
                self.issue("fi_fetch_atomicmsg", || {
                    // SAFETY: the message names aligned words of registered memory, here and there; the result
                    // is a word of registered memory, too.
                    unsafe { poster.fetch_atomicmsg(&message, (&mut result, &mut of_result), 0) }
                });
            }
            AtomicKind::CompareSwap => {
                self.issue("fi_compare_atomicmsg", || {
                    // SAFETY: the message names aligned words of registered memory, here and there; so
                    // is the result, and what is expected is read during the call.
                    unsafe {
                        poster.compare_atomicmsg(
                            &message,
                            (&compare, &mut of_compare),
                            (&mut result, &mut of_result),
                            0,
                        )
                    }
                });
            }
        }
    }
}
