//! Who hands over what endpoints keep for later: whoever reads a queue or a counter that is bound to them.
//!
//! A provider with manual progress does its work inside such calls. So does the shim, and it touches an endpoint
//! only inside calls on what is bound to it, which is what libfabric's threading levels allow.

use core::fmt::Debug;
use std::sync::{Arc, Mutex, Weak};

/// What keeps operations for later.
pub(crate) trait Keeps: Debug + Send + Sync {
    /// Gives some of what is kept to the real library, in any order.
    fn progress(&self);

    /// Whether something is kept.
    fn is_behind(&self) -> bool;
}

/// The endpoints that a queue or a counter is bound to.
#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<Vec<Weak<dyn Keeps>>>);

impl Served {
    /// Adds an endpoint; a second time changes nothing.
    pub(crate) fn add(&self, endpoint: Arc<dyn Keeps>) {
        let mut served = self.0.lock().expect("a panic ends the process");
        served.retain(|known| known.strong_count() > 0);
        if !served.iter().any(|known| core::ptr::addr_eq(known.as_ptr(), Arc::as_ptr(&endpoint))) {
            served.push(Arc::downgrade(&endpoint));
        }
    }

    /// Does the work of one call: some of what the endpoints keep is given to the real ones.
    pub(crate) fn progress(&self) {
        for endpoint in self.endpoints() {
            endpoint.progress();
        }
    }

    /// Whether there is more to do.
    pub(crate) fn is_behind(&self) -> bool {
        self.endpoints().iter().any(|endpoint| endpoint.is_behind())
    }

    fn endpoints(&self) -> Vec<Arc<dyn Keeps>> {
        let served = self.0.lock().expect("a panic ends the process");
        served.iter().filter_map(Weak::upgrade).collect()
    }
}
