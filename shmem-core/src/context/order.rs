//! fence and quiet.

use core::panic::Location;
use core::sync::atomic::{Ordering, fence};

use crate::endpoint::{Endpoint, Initiator};
use crate::observe::{Call, Family};

/// Ordering and completion of what a token has issued.
pub trait Order: Initiator {
    /// Orders puts and updates to each PE: those issued before are delivered before those after.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline(always)]
    #[track_caller]
    fn fence(&self) {
        fence(Ordering::Release);
        if !self.endpoint().is_plain() {
            fence_slow(self.endpoint(), Location::caller());
        }
    }

    /// Waits until all that this token has issued is visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline(always)]
    #[track_caller]
    fn quiet(&self) {
        fence(Ordering::SeqCst);
        if !self.endpoint().is_plain() {
            quiet_slow(self.endpoint(), Location::caller());
        }
    }
}

impl<I: Initiator + ?Sized> Order for I {}

#[cold]
#[inline(never)]
fn fence_slow(endpoint: &Endpoint, location: &'static Location<'static>) {
    endpoint.tell(Call::new(Family::Fence, location), || {
        if let Some(far) = endpoint.far_if_any() {
            far.transport.fence(far.channel);
        }
    });
}

#[cold]
#[inline(never)]
fn quiet_slow(endpoint: &Endpoint, location: &'static Location<'static>) {
    endpoint.tell(Call::new(Family::Quiet, location), || {
        if let Some(far) = endpoint.far_if_any() {
            far.transport.quiet(far.channel);
        }
    });
}
