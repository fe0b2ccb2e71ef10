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

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::addressed::Addressed;
use super::domain::{Domain, made};
use super::error::OfiError;
use super::object::Object;
use super::record::{Free, Records};
use super::tally::Tally;
use super::{buffers, loans};
use crate::libfabric::bindings::*;
use crate::libfabric::calls;

/// Records of a unit: most operations under way whose completion is reported.
pub(super) const RECORDS: usize = 256;

/// A unit. Fields are closed in order.
#[repr(align(128))]
pub(super) struct Unit {
    pub(super) endpoint: Object<fid_ep>,
    pub(super) counter: Object<fid_cntr>,
    pub(super) queue: Object<fid_cq>,
    pub(super) registered: Option<Object<fid_mr>>,
    pub(super) records: Records,
    pub(super) free: Mutex<Free>,
    pub(super) tally: Tally,
    pub(super) addressed: Addressed,
    /// Looks of the program's own threads at what has come: it changes while one of them polls.
    pub(super) looks: AtomicU64,
    /// What becomes readable when something arrives, where the provider has that.
    pub(super) arrival: Option<RawFd>,
}

impl Unit {
    /// Opens an endpoint. `wakes`: whether a thread is to sleep on its queue.
    ///
    /// # Safety
    ///
    /// The domain must outlive the unit.
    pub(super) unsafe fn open(domain: &Domain, wakes: bool) -> Result<Self, OfiError> {
        let refused = |call| move |error| domain.refused(call, error);
        // SAFETY: all zeroes ask for nothing.
        let mut attributes: fi_cq_attr = unsafe { core::mem::zeroed() };
        attributes.format = FI_CQ_FORMAT_DATA;
        attributes.wait_obj = if wakes { FI_WAIT_FD } else { FI_WAIT_NONE };
        attributes.size = 2 * RECORDS + domain.demands.queue + buffers::COMPLETIONS + loans::COMPLETIONS;
        let queue = made(|queue| {
            // SAFETY: an open domain; the attributes are read during the call.
            unsafe { calls::cq_open(domain.raw(), &raw mut attributes, queue, core::ptr::null_mut()) }
        });
        // SAFETY: it was opened just now, from a domain that outlives it (caller).
        let queue = unsafe { Object::new(queue.map_err(refused("fi_cq_open"))?) };
        // SAFETY: all zeroes ask for nothing.
        let mut attributes: fi_cntr_attr = unsafe { core::mem::zeroed() };
        attributes.events = FI_CNTR_EVENTS_COMP;
        attributes.wait_obj = FI_WAIT_NONE;
        let counter = made(|counter| {
            // SAFETY: as for the queue.
            unsafe { calls::cntr_open(domain.raw(), &raw mut attributes, counter, core::ptr::null_mut()) }
        });
        // SAFETY: as for the queue.
        let counter = unsafe { Object::new(counter.map_err(refused("fi_cntr_open"))?) };
        let endpoint = made(|endpoint| {
            // SAFETY: an open domain, and the entry that it was opened by.
            unsafe { calls::endpoint(domain.raw(), domain.entry(), endpoint, core::ptr::null_mut()) }
        });
        // SAFETY: as for the queue; what it is bound to below is closed after it.
        let endpoint: Object<fid_ep> = unsafe { Object::new(endpoint.map_err(refused("fi_endpoint"))?) };
        let selective = u64::from(FI_TRANSMIT) | FI_SELECTIVE_COMPLETION;
        let bindings = [
            (domain.addresses().raw().cast::<fid>(), 0),
            (queue.raw().cast(), selective),
            (queue.raw().cast(), u64::from(FI_RECV)),
            (counter.raw().cast(), u64::from(FI_READ | FI_WRITE)),
        ];
        for (to, flags) in bindings {
            // SAFETY: open objects of one domain, and an endpoint that is not enabled yet.
            let error = unsafe { calls::bind(endpoint.raw().cast(), to, flags) };
            if error != 0 {
                return Err(domain.refused("fi_ep_bind", -error));
            }
        }
        // SAFETY: an endpoint with all that it needs.
        let error = unsafe { calls::control(endpoint.raw().cast(), FI_ENABLE, core::ptr::null_mut()) };
        if error != 0 {
            return Err(domain.refused("fi_enable", -error));
        }
        let records = Records::new(RECORDS)?;
        let registered = match domain.demands.local {
            true => {
                // SAFETY: the records are dropped after it.
                let registered = unsafe { domain.register_local(records.memory()) };
                Some(registered.map_err(refused("fi_mr_reg"))?)
            }
            false => None,
        };
        let arrival = wakes.then(|| descriptor_of(&queue)).transpose().map_err(refused("fi_control"))?;
        let free = Mutex::new(Free::new(RECORDS));
        let (tally, addressed, looks) = (Tally::default(), Addressed::default(), AtomicU64::new(0));
        Ok(Self { endpoint, counter, queue, registered, records, free, tally, addressed, looks, arrival })
    }

    pub(super) fn endpoint(&self) -> &Object<fid_ep> {
        &self.endpoint
    }

    /// Readable when something has arrived, if there is such a thing.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: it belongs to the queue, which is open for as long as the unit.
        self.arrival.map(|descriptor| unsafe { BorrowedFd::borrow_raw(descriptor) })
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
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes readable when a queue has something.
fn descriptor_of(queue: &Object<fid_cq>) -> Result<RawFd, c_int> {
    let mut descriptor: RawFd = -1;
    let to = (&raw mut descriptor).cast();
    // SAFETY: an open queue that was asked for a descriptor, and room for one.
    match unsafe { calls::control(queue.raw().cast(), FI_GETWAIT, to) } {
        0 => Ok(descriptor),
        error => Err(-error),
    }
}
