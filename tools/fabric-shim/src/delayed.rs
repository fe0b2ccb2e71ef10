//! Delayed operations of an endpoint. They reach the real endpoint in calls that read one of its queues or counters.
//!
//! A provider with manual progress works inside such calls. So does the shim, because libfabric's threading levels allow the use of
//! an endpoint only inside calls on objects that are bound to it.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;

use crate::below;
use crate::object::{Real, refusal};
use crate::operation::Operation;

pub(crate) struct Delayed {
    pub(crate) real: Real<fid_ep>,
    /// The delayed operations of an endpoint; `None` once the endpoint is closed.
    operations: Mutex<Option<Vec<Operation>>>,
    /// Whether a queue or a counter of the endpoint was read since the flag was last cleared.
    pub(crate) progressed: AtomicBool,
}

impl Delayed {
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

    /// Passes some of the delayed operations to the real endpoint, in random order.
    fn progress(&self) {
        self.progressed.store(true, Ordering::Relaxed);
        let mut operations = self.operations.lock();
        let Some(operations) = &mut *operations else { return };
        for _ in 0..operations.len() {
            if below(2) == 0 {
                continue;
            }
            let chosen = below(operations.len());
            // SAFETY: the endpoint is open, as `operations` is not `None`. The user keeps buffers of incomplete operations.
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

    /// Closes the real endpoint by `close`. Delayed operations are lost, as are those in a provider's queue.
    pub(crate) fn close(&self, close: impl FnOnce() -> c_int) -> c_int {
        let mut operations = self.operations.lock();
        let result = close();
        if result == 0 {
            *operations = None;
        }
        result
    }
}

/// The endpoints that are bound to a queue or a counter, by their delayed operations.
#[derive(Default)]
pub(crate) struct Served(Mutex<Vec<Weak<Delayed>>>);

impl Served {
    pub(crate) fn add(&self, kept: &Arc<Delayed>) {
        let mut served = self.0.lock();
        served.retain(|known| known.strong_count() > 0);
        if !served.iter().any(|known| known.as_ptr() == Arc::as_ptr(kept)) {
            served.push(Arc::downgrade(kept));
        }
    }

    /// Passes some delayed operations of each bound endpoint to the real library.
    pub(crate) fn progress(&self) {
        self.all().iter().for_each(|kept| kept.progress());
    }

    pub(crate) fn is_behind(&self) -> bool {
        self.all().iter().any(|kept| kept.operations.lock().as_ref().is_some_and(|all| !all.is_empty()))
    }

    fn all(&self) -> Vec<Arc<Delayed>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }
}
