//! Operations that are kept for later, and who hands them over: whoever reads a queue or a counter that is bound to
//! their endpoint.
//!
//! A provider with manual progress does its work inside such calls. So does the shim, and it touches an endpoint
//! only inside calls on what is bound to it, which is what libfabric's threading levels allow.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;

use crate::below;
use crate::object::{Real, refusal};
use crate::operation::Operation;

/// What is kept for an endpoint; `None`: it is closed.
pub(crate) struct Kept {
    pub(crate) real: Real<fid_ep>,
    operations: Mutex<Option<Vec<Operation>>>,
    /// Somebody has made progress since this was looked at.
    pub(crate) progressed: AtomicBool,
}

impl Kept {
    pub(crate) fn new(real: *mut fid_ep) -> Self {
        Self {
            real: Real::new(real),
            operations: Mutex::new(Some(Vec::new())),
            progressed: AtomicBool::default(),
        }
    }

    pub(crate) fn add(&self, operation: Operation) {
        if let Some(operations) = &mut *self.operations.lock() {
            operations.push(operation);
        }
    }

    /// Gives some of what is kept to the real library, in any order.
    fn progress(&self) {
        self.progressed.store(true, Ordering::Relaxed);
        let mut operations = self.operations.lock();
        let Some(operations) = &mut *operations else { return };
        for _ in 0..operations.len() {
            if below(2) == 0 {
                continue;
            }
            let chosen = below(operations.len());
            // SAFETY: the endpoint is open, and the operation has not completed: its buffers are there.
            let result = unsafe { operations[chosen].issue(self.real.as_ptr()) };
            match result {
                0 => drop(operations.swap_remove(chosen)),
                again if again == refusal(FI_EAGAIN) => return,
                error => {
                    let call = operations[chosen].call;
                    violation!("reorder", "{call} failed with {error} when its turn came");
                }
            }
        }
    }

    /// Closes the endpoint by `close`; what is still kept is lost, as what a provider has queued.
    pub(crate) fn close(&self, close: impl FnOnce() -> c_int) -> c_int {
        let mut operations = self.operations.lock();
        let result = close();
        if result == 0 {
            *operations = None;
        }
        result
    }
}

/// What is kept for the endpoints that a queue or a counter is bound to.
#[derive(Default)]
pub(crate) struct Served(Mutex<Vec<Weak<Kept>>>);

impl Served {
    /// Adds that of an endpoint; a second time changes nothing.
    pub(crate) fn add(&self, kept: &Arc<Kept>) {
        let mut served = self.0.lock();
        served.retain(|known| known.strong_count() > 0);
        if !served.iter().any(|known| known.as_ptr() == Arc::as_ptr(kept)) {
            served.push(Arc::downgrade(kept));
        }
    }

    /// Does the work of one call: some of what is kept is given to the real endpoints.
    pub(crate) fn progress(&self) {
        self.all().iter().for_each(|kept| kept.progress());
    }

    pub(crate) fn is_behind(&self) -> bool {
        self.all().iter().any(|kept| kept.operations.lock().as_ref().is_some_and(|all| !all.is_empty()))
    }

    fn all(&self) -> Vec<Arc<Kept>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
