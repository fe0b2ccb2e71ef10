//! A unit: an endpoint, its completion queue and its counter.
//!
//! Every operation asks for delivery to be complete before it counts (`FI_DELIVERY_COMPLETE`): otherwise a
//! provider may count what still lies in a buffer of its own. Operations are counted; those that keep a record
//! are reported as well. So what a unit has started is complete when the [tally](super::tally) says so, whoever
//! looks.
//!
//! A unit has a lock. Where the [`Lane`](crate::transport::Lane) says that one thread uses it, nobody but the
//! progress thread ever meets that thread there, and only while it is elsewhere: the lock costs two
//! instructions on a line of its own. In return any thread may wait for what another has started.

use core::sync::atomic::{AtomicU64, Ordering};
use std::os::fd::BorrowedFd;
use std::sync::MutexGuard;

use super::addressed::Addressed;
use super::domain::Domain;
use super::error::OfiError;
use super::record::{Free, Records};
use super::tally::Tally;
use super::{buffers, loans};
use crate::exclusion::Mutex;
use crate::libfabric::bindings::FI_EADDRINUSE;
use crate::libfabric::{Endpoint, Refused, Registration, Reports};

/// Records of a unit: most operations under way whose completion is reported.
pub(super) const RECORDS: usize = 256;

/// How often an endpoint is opened whose port was taken. Providers that choose from a range look which is free before they
/// listen at it, and every process in the same order: PEs that start together on a host choose the same.
const TRIES: usize = 64;

/// A unit. Fields are closed in order.
#[repr(align(128))]
pub(super) struct Unit {
    pub(super) endpoint: Endpoint,
    pub(super) registered: Option<Registration>,
    pub(super) records: Records,
    pub(super) free: Mutex<Free>,
    pub(super) tally: Tally,
    pub(super) addressed: Addressed,
    /// Looks of the program's own threads at what has come: it changes while one of them polls.
    pub(super) looks: AtomicU64,
}

impl Unit {
    /// Opens an endpoint. `wakes`: whether a thread is to sleep on its queue.
    pub(super) fn open(domain: &Domain, wakes: bool) -> Result<Self, OfiError> {
        let own = 2 * RECORDS + buffers::COMPLETIONS + loans::COMPLETIONS;
        let entries = domain.demands.queue.saturating_add(own);
        let open = || Endpoint::open(domain.addresses(), entries, wakes, Reports::Asked);
        let mut endpoint = open();
        for _ in 1..TRIES {
            match &endpoint {
                Err(refused) if refused.code == FI_EADDRINUSE.cast_signed() => endpoint = open(),
                _ => break,
            }
        }
        let endpoint = endpoint.map_err(|refused| domain.refused(refused))?;
        let records = Records::new(RECORDS)?;
        let registered = match domain.demands.local {
            true => {
                // SAFETY: the records are dropped after it.
                let registered = unsafe { domain.register_local(records.memory()) };
                Some(registered.map_err(|error| domain.refused(Refused::of("fi_mr_reg", error)))?)
            }
            false => None,
        };
        let free = Mutex::new(Free::new(RECORDS));
        let (tally, addressed, looks) = (Tally::default(), Addressed::default(), AtomicU64::new(0));
        Ok(Self { endpoint, registered, records, free, tally, addressed, looks })
    }

    /// Readable when something has arrived, if there is such a thing.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.endpoint.descriptor()
    }

    /// How often threads of the program have looked.
    pub(super) fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// Not a read-modify-write: a look that is lost among others does not matter.
    #[inline(always)]
    pub(super) fn looked(&self) {
        self.looks.store(self.looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Calls the provider while nobody else does.
    pub(super) fn exclusively<R>(&self, call: impl FnOnce() -> R) -> R {
        let _held = self.lock();
        call()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Free> {
        self.free.lock()
    }
}
