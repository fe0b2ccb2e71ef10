//! fence and quiet.

use core::panic::Location;
use core::sync::atomic::{Ordering, fence};

use crate::endpoint::{Endpoint, Initiator};
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::primitive::mutant;

/// Ordering and completion of what a token has issued.
pub trait Order: Initiator {
    /// Orders puts and updates to each PE: those issued before are delivered before those after.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline(always)]
    #[track_caller]
    fn fence(&self) {
        fence_through(self.endpoint());
    }

    /// Waits until all that this token has issued is visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline(always)]
    #[track_caller]
    fn quiet(&self) {
        quiet_through(self.endpoint(), Location::caller());
    }

    /// Waits until all that this token has issued for one PE is visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_quiet`, which takes several PEs.
    #[inline(always)]
    #[track_caller]
    fn quiet_pe(&self, pe: Pe) {
        quiet_pe_through(self.endpoint(), pe);
    }
}

impl<I: Initiator + ?Sized> Order for I {}

/// Orders what an endpoint has issued.
#[inline(always)]
#[track_caller]
pub fn fence_through(endpoint: &Endpoint) {
    fence(Ordering::Release);
    if !endpoint.is_plain() {
        fence_slow(endpoint, Location::caller());
    }
}

#[inline(always)]
pub(super) fn quiet_through(endpoint: &Endpoint, location: &'static Location<'static>) {
    fence(Ordering::SeqCst);
    if !endpoint.is_plain() {
        quiet_slow(endpoint, location);
    }
}

/// Completes what an endpoint has issued for one PE.
#[inline(always)]
#[track_caller]
pub fn quiet_pe_through(endpoint: &Endpoint, pe: Pe) {
    fence(Ordering::SeqCst);
    if !endpoint.is_plain() {
        quiet_pe_slow(endpoint, pe, Location::caller());
    }
}

#[cold]
#[inline(never)]
fn fence_slow(endpoint: &Endpoint, location: &'static Location<'static>) {
    endpoint.tell(Call::new(Family::Fence, location), || {
        if let Some(far) = endpoint.far_if_any()
            && !mutant("fence-forgotten")
        {
            far.transport.fence(far.channel);
        }
    });
}

#[cold]
#[inline(never)]
fn quiet_slow(endpoint: &Endpoint, location: &'static Location<'static>) {
    endpoint.tell(Call::new(Family::Quiet, location), || {
        if let Some(far) = endpoint.far_if_any()
            && !mutant("quiet-forgotten")
        {
            far.transport.quiet(far.channel);
        }
    });
}

#[cold]
#[inline(never)]
fn quiet_pe_slow(endpoint: &Endpoint, pe: Pe, location: &'static Location<'static>) {
    endpoint.tell(Call::new(Family::QuietPe, location).at(pe, 0, 0, 0), || {
        if let Some(far) = endpoint.far_if_any()
            && pe.on_node().is_none()
            && !mutant("quiet-of-one-pe-forgotten")
        {
            far.transport.quiet_pe(far.channel, pe);
        }
    });
}
