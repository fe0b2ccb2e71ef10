//! fence and quiet.

use core::panic::Location;
use core::sync::atomic::{Ordering, fence};

use crate::endpoint::{Endpoint, Initiator};
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::planted_fault::mutant;

/// Ordering and completion of the operations of a token.
pub trait Order: Initiator {
    /// Orders puts and updates to each PE: earlier ones are delivered before later ones.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline(always)]
    #[track_caller]
    fn fence(&self) {
        fence_through(self.endpoint());
    }

    /// Waits until all operations of this token are visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline(always)]
    #[track_caller]
    fn quiet(&self) {
        quiet_through(self.endpoint(), Location::caller());
    }

    /// Waits until all operations of this token on one PE are visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_quiet`, which takes several PEs.
    #[inline(always)]
    #[track_caller]
    fn quiet_pe(&self, pe: Pe) {
        quiet_pe_through(self.endpoint(), pe);
    }
}

impl<I: Initiator + ?Sized> Order for I {}

/// Orders the operations of an endpoint.
#[inline(always)]
#[track_caller]
pub fn fence_through(endpoint: &Endpoint) {
    fence(Ordering::Release);
    if !endpoint.is_plain() {
        slow(endpoint, Family::Fence, None, Location::caller());
    }
}

#[inline(always)]
pub(super) fn quiet_through(endpoint: &Endpoint, location: &'static Location<'static>) {
    fence(Ordering::SeqCst);
    if !endpoint.is_plain() {
        slow(endpoint, Family::Quiet, None, location);
    }
}

/// Completes the operations of an endpoint on one PE.
#[inline(always)]
#[track_caller]
pub fn quiet_pe_through(endpoint: &Endpoint, pe: Pe) {
    fence(Ordering::SeqCst);
    if !endpoint.is_plain() {
        slow(endpoint, Family::QuietPe, Some(pe), Location::caller());
    }
}

/// Orders or completes operations on one PE, or on all, if there are other nodes or an observer.
#[cold]
#[inline(never)]
fn slow(endpoint: &Endpoint, family: Family, pe: Option<Pe>, location: &'static Location<'static>) {
    let call = Call::new(family, location);
    endpoint.tell(pe.map_or(call, |pe| call.at(pe, 0, 0, 0)), || {
        let Some(far) = endpoint.far_if_any() else { return };
        match (family, pe) {
            (Family::Fence, _) if !mutant("fence-forgotten") => far.transport.fence(far.channel),
            (Family::Quiet, _) if !mutant("quiet-forgotten") => far.transport.quiet(far.channel),
            (_, Some(pe)) if pe.on_node().is_none() && !mutant("quiet-of-one-pe-forgotten") => {
                far.transport.quiet_pe(far.channel, pe);
            }
            _ => {}
        }
    });
}
