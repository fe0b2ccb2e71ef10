//! fence and quiet.

use core::sync::atomic::{Ordering, fence};

use crate::endpoint::Initiator;

/// Ordering and completion of what a token has issued.
pub trait Order: Initiator {
    /// Orders puts and updates to each PE: those issued before are delivered before those after.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fence`.
    #[inline]
    fn fence(&self) {
        fence(Ordering::Release);
        if let Some(far) = self.endpoint().far_if_any() {
            far.transport.fence(far.channel);
        }
    }

    /// Waits until all that this token has issued is visible to every PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_quiet`.
    #[inline]
    fn quiet(&self) {
        fence(Ordering::SeqCst);
        if let Some(far) = self.endpoint().far_if_any() {
            far.transport.quiet(far.channel);
        }
    }
}

impl<I: Initiator + ?Sized> Order for I {}
