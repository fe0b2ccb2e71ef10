//! Counters.

use core::ffi::{c_int, c_void};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::progress::Served;
use crate::real::{Real, Wrapper};

/// A counter.
#[repr(C)]
pub(crate) struct Counter {
    seen: fid_cntr,
    real: Real<fid_cntr>,
    served: Served,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Counter {
    type Seen = fid_cntr;
}

static BASE: fi_ops = fi_ops {
    size: size_of::<fi_ops>(),
    close: Some(close),
    bind: None,
    control: Some(control),
    ops_open: None,
    tostr: None,
    ops_set: None,
};

static OPERATIONS: fi_ops_cntr = fi_ops_cntr {
    size: size_of::<fi_ops_cntr>(),
    read: Some(read),
    readerr: Some(readerr),
    add: None,
    set: None,
    wait: None,
    adderr: None,
    seterr: None,
};

impl Counter {
    /// Stands for a real one.
    pub(crate) fn new(real: Real<fid_cntr>, context: *mut c_void) -> Self {
        let base = (&raw const BASE).cast_mut();
        let fid = fid { fclass: FI_CLASS_CNTR as usize, context, ops: base };
        let seen = fid_cntr { fid, ops: (&raw const OPERATIONS).cast_mut() };
        Self { seen, real, served: Served::default() }
    }

    /// The real one.
    pub(crate) fn real(&self) -> Real<fid_cntr> {
        self.real
    }

    /// The endpoints that it is bound to.
    pub(crate) fn served(&self) -> &Served {
        &self.served
    }
}

unsafe extern "C" fn close(counter: *mut fid) -> c_int {
    let counter = counter.cast();
    // SAFETY: libfabric calls this with a counter of the shim's, which is open.
    let real = unsafe { Counter::behind(counter) }.real;
    // SAFETY: an open counter, which nobody uses afterwards.
    let result = unsafe { calls::close(real.as_ptr().cast()) };
    if result == 0 {
        // SAFETY: as above.
        drop(unsafe { Counter::reclaim(counter) });
    }
    result
}

unsafe extern "C" fn control(counter: *mut fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: libfabric calls this with a counter of the shim's, which is open.
    let counter = unsafe { Counter::behind(counter.cast()) };
    // SAFETY: an open counter, and the user's argument.
    unsafe { calls::control(counter.real.as_ptr().cast(), command.cast_unsigned(), argument) }
}

unsafe extern "C" fn read(counter: *mut fid_cntr) -> u64 {
    // SAFETY: libfabric calls this with a counter of the shim's, which is open.
    let counter = unsafe { Counter::behind(counter) };
    counter.served.progress();
    // SAFETY: an open counter.
    unsafe { calls::cntr_read(counter.real.as_ptr()) }
}

unsafe extern "C" fn readerr(counter: *mut fid_cntr) -> u64 {
    // SAFETY: libfabric calls this with a counter of the shim's, which is open.
    let counter = unsafe { Counter::behind(counter) };
    // SAFETY: an open counter.
    unsafe { calls::cntr_readerr(counter.real.as_ptr()) }
}
