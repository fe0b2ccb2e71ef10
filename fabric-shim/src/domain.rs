//! Domains, and what the objects of one share.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::address::Addresses;
use crate::context::Contexts;
use crate::counter::Counter;
use crate::demand::Demands;
use crate::endpoint::Endpoint;
use crate::information::{self, Parts};
use crate::queue::Queue;
use crate::real::{Real, Wrapper, failure};
use crate::region::{self, Regions};
use crate::violation::violation;

/// A domain.
#[repr(C)]
pub(crate) struct Domain {
    seen: fid_domain,
    core: Arc<Core>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Domain {
    type Seen = fid_domain;
}

/// What the objects of a domain share.
#[derive(Debug)]
pub(crate) struct Core {
    /// The real domain.
    pub(crate) real: Real<fid_domain>,
    /// What is demanded.
    pub(crate) demands: &'static Demands,
    /// The provider guards queues against overruns.
    pub(crate) managed: bool,
    /// The memory that is registered.
    pub(crate) regions: Regions,
    /// The contexts in flight.
    pub(crate) contexts: Contexts,
    /// How many endpoints are open.
    pub(crate) endpoints: AtomicUsize,
}

static BASE: fi_ops = fi_ops {
    size: size_of::<fi_ops>(),
    close: Some(close),
    bind: None,
    control: None,
    ops_open: None,
    tostr: None,
    ops_set: None,
};

static OPERATIONS: fi_ops_domain = fi_ops_domain {
    size: size_of::<fi_ops_domain>(),
    av_open: Some(av_open),
    cq_open: Some(cq_open),
    endpoint: Some(endpoint),
    scalable_ep: None,
    cntr_open: Some(cntr_open),
    poll_open: None,
    stx_ctx: None,
    srx_ctx: None,
    query_atomic: None,
    query_collective: None,
    endpoint2: None,
};

impl Domain {
    /// Stands for a real one.
    pub(crate) fn new(
        real: Real<fid_domain>,
        context: *mut c_void,
        info: &Parts<'_>,
        demands: &'static Demands,
    ) -> Self {
        let core = Core {
            real,
            demands,
            managed: info.domain.resource_mgmt != FI_RM_DISABLED,
            regions: Regions::new(demands),
            contexts: Contexts::new(demands.context),
            endpoints: AtomicUsize::new(0),
        };
        let base = (&raw const BASE).cast_mut();
        let fid = fid { fclass: FI_CLASS_DOMAIN as usize, context, ops: base };
        let mr = (&raw const region::OPERATIONS).cast_mut();
        let seen = fid_domain { fid, ops: (&raw const OPERATIONS).cast_mut(), mr };
        Self { seen, core: Arc::new(core) }
    }

    /// What its objects share.
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }
}

unsafe extern "C" fn close(domain: *mut fid) -> c_int {
    let domain = domain.cast();
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let real = unsafe { Domain::behind(domain) }.core.real;
    // SAFETY: an open domain, which nobody uses afterwards.
    let result = unsafe { calls::close(real.as_ptr().cast()) };
    if result == 0 {
        // SAFETY: as above.
        drop(unsafe { Domain::reclaim(domain) });
    }
    result
}

unsafe extern "C" fn av_open(
    domain: *mut fid_domain,
    attributes: *mut fi_av_attr,
    av: *mut *mut fid_av,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let domain = unsafe { Domain::behind(domain) };
    let mut real = core::ptr::null_mut();
    // SAFETY: an open domain, and the user's attributes.
    let result = unsafe { calls::av_open(domain.core.real.as_ptr(), attributes, &raw mut real, context) };
    if result == 0 {
        let opened = Addresses::new(Real::new(real), context).hand_out();
        // SAFETY: a place for the answer (user).
        unsafe { av.write(opened) };
    }
    result
}

unsafe extern "C" fn cq_open(
    domain: *mut fid_domain,
    attributes: *mut fi_cq_attr,
    queue: *mut *mut fid_cq,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let domain = unsafe { Domain::behind(domain) };
    // SAFETY: attributes of the user's.
    let wait = unsafe { (*attributes).wait_obj };
    if domain.core.demands.no_wait && wait != FI_WAIT_NONE {
        return failure(FI_ENOSYS);
    }
    let mut real = core::ptr::null_mut();
    // SAFETY: an open domain, and the user's attributes.
    let result = unsafe { calls::cq_open(domain.core.real.as_ptr(), attributes, &raw mut real, context) };
    if result == 0 {
        // SAFETY: attributes of the user's.
        let attributes = unsafe { &*attributes };
        let opened = Queue::new(Real::new(real), context, attributes, domain.core.clone()).hand_out();
        // SAFETY: a place for the answer (user).
        unsafe { queue.write(opened) };
    }
    result
}

unsafe extern "C" fn cntr_open(
    domain: *mut fid_domain,
    attributes: *mut fi_cntr_attr,
    counter: *mut *mut fid_cntr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let domain = unsafe { Domain::behind(domain) };
    let mut real = core::ptr::null_mut();
    // SAFETY: an open domain, and the user's attributes.
    let result = unsafe { calls::cntr_open(domain.core.real.as_ptr(), attributes, &raw mut real, context) };
    if result == 0 {
        let opened = Counter::new(Real::new(real), context).hand_out();
        // SAFETY: a place for the answer (user).
        unsafe { counter.write(opened) };
    }
    result
}

unsafe extern "C" fn endpoint(
    domain: *mut fid_domain,
    info: *mut fi_info,
    endpoint: *mut *mut fid_ep,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let core = unsafe { Domain::behind(domain) }.core();
    if let Some(most) = core.demands.endpoints
        && core.endpoints.load(Ordering::Relaxed) >= most
    {
        violation(
            "endpoints",
            format_args!("an endpoint more than the {most} that ep_cnt of the domain allows"),
        );
    }
    // SAFETY: an entry that the shim has offered (user).
    let wanted = unsafe { information::returned(info, core.demands) };
    let mut real = core::ptr::null_mut();
    // SAFETY: an open domain, and an entry as the library has filled it in.
    let result = unsafe { calls::endpoint(core.real.as_ptr(), wanted.as_ptr(), &raw mut real, context) };
    if result == 0 {
        // SAFETY: the copy has all parts, and nobody else has it.
        let parts = unsafe { Parts::of(wanted.as_ptr()) };
        let opened = Endpoint::new(Real::new(real), context, &parts, core.clone()).hand_out();
        // SAFETY: a place for the answer (user).
        unsafe { endpoint.write(opened) };
    }
    result
}
