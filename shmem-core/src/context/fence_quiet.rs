//! The operations `fence` and `quiet`.

use core::panic::Location;
use core::sync::atomic::{Ordering, fence};

use crate::endpoint::{Endpoint, Initiator};
use crate::observe::{Call, Family};
use crate::pe::Pe;
use crate::planted_fault::mutant;

/// Ordering and completion of the operations that a token (a world, context or session) has issued.
pub trait Order: Initiator {
    /// Orders puts and updates per PE: those before the fence are delivered before those after the fence.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline(always)]
    #[track_caller]
    fn fence(&self) {
        fence_through(self.endpoint());
    }

    /// Blocks until all operations of this token are visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline(always)]
    #[track_caller]
    fn quiet(&self) {
        quiet_through(self.endpoint(), Location::caller());
    }

    /// Blocks until all operations that this token issued to `pe` are visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_quiet`. (That routine has a list of PEs as its argument.)
    #[inline(always)]
    #[track_caller]
    fn quiet_pe(&self, pe: Pe) {
        quiet_pe_through(self.endpoint(), pe);
    }
}

impl<I: Initiator + ?Sized> Order for I {}

/// A `fence` of the operations of an endpoint.
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

/// Blocks until the operations that an endpoint issued to `pe` are complete.
#[inline(always)]
#[track_caller]
pub fn quiet_pe_through(endpoint: &Endpoint, pe: Pe) {
    fence(Ordering::SeqCst);
    if !endpoint.is_plain() {
        slow(endpoint, Family::QuietPe, Some(pe), Location::caller());
    }
}

/// A fence or quiet (`family`) of operations to `pe`, or to all PEs if `None`. Needed only if the job has other nodes or an
/// observer (such as a trace).
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
