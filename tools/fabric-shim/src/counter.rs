//! Counters.

use core::ffi::c_void;
use std::sync::Arc;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::at_once::Count;
use crate::object::{Standing, Wrapper, close, control, identity, table};
use crate::progress::Served;
use crate::real::Real;

/// A counter.
#[repr(C)]
pub(crate) struct Counter {
    seen: fid_cntr,
    real: Real<fid_cntr>,
    served: Served,
    at_once: Arc<Count>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Counter {
    type Seen = fid_cntr;
}

impl Standing for Counter {
    fn real(&self) -> Real<fid_cntr> {
        self.real
    }
}

static BASE: fi_ops = table!(fi_ops { close: close::<Counter>, control: control::<Counter> });

static OPERATIONS: fi_ops_cntr = table!(fi_ops_cntr { read, readerr });

impl Counter {
    /// Stands for a real one.
    pub(crate) fn new(real: Real<fid_cntr>, context: *mut c_void) -> Self {
        let fid = identity(FI_CLASS_CNTR, context, &BASE);
        let seen = fid_cntr { fid, ops: (&raw const OPERATIONS).cast_mut() };
        Self { seen, real, served: Served::default(), at_once: Arc::default() }
    }

    /// The endpoints that it is bound to.
    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    /// What it counts of writes that are complete at once.
    pub(crate) fn at_once(&self) -> &Arc<Count> {
        &self.at_once
    }
}

unsafe extern "C" fn read(counter: *mut fid_cntr) -> u64 {
    // SAFETY: libfabric calls this with a counter of the shim's, which is open.
    let counter = unsafe { Counter::behind(counter) };
    counter.at_once.total(|| {
        counter.served.progress();
        // SAFETY: an open counter.
        unsafe { calls::cntr_read(counter.real.as_ptr()) }
    })
}

unsafe extern "C" fn readerr(counter: *mut fid_cntr) -> u64 {
    // SAFETY: libfabric calls this with a counter of the shim's, which is open.
    let counter = unsafe { Counter::behind(counter) };
    // SAFETY: an open counter.
    unsafe { calls::cntr_readerr(counter.real.as_ptr()) }
}
