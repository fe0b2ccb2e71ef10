//! fence and quiet.

use core::sync::atomic::{Ordering, fence};

use crate::endpoint::{Endpoint, Initiator};
use crate::pe::Pe;

/// Ordering and completion of what a token has issued.
pub trait Order: Initiator {
    /// Orders puts and updates to each PE: those issued before are delivered before those after.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline]
    fn fence(&self) {
        fence_through(self.endpoint());
    }

    /// Waits until all that this token has issued is visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline]
    fn quiet(&self) {
        quiet_through(self.endpoint());
    }

    /// Waits until all that this token has issued for one PE is visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_quiet`, which takes several PEs.
    #[inline]
    fn quiet_pe(&self, pe: Pe) {
        quiet_pe_through(self.endpoint(), pe);
    }
}

impl<I: Initiator + ?Sized> Order for I {}

#[inline]
pub(super) fn fence_through(endpoint: &Endpoint) {
    fence(Ordering::Release);
    if let Some(far) = endpoint.far_if_any() {
        far.transport.fence(far.channel);
    }
}

#[inline]
pub(super) fn quiet_through(endpoint: &Endpoint) {
    fence(Ordering::SeqCst);
    if let Some(far) = endpoint.far_if_any() {
        far.transport.quiet(far.channel);
    }
}

#[inline]
pub(super) fn quiet_pe_through(endpoint: &Endpoint, pe: Pe) {
    fence(Ordering::SeqCst);
    if let Some(far) = endpoint.far_if_any()
        && pe.slot().is_none()
    {
        far.transport.quiet_pe(far.channel, pe);
    }
}
