//! Domains: what opens the objects of one.

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
use crate::object::{self, Standing, Wrapper, close, identity, table};
use crate::queue::Queue;
use crate::real::{Real, failure};
use crate::region::Region;
use crate::regions::Regions;
use crate::shared::Shared;
use crate::violation::violation;

/// A domain.
#[repr(C)]
pub(crate) struct Domain {
    seen: fid_domain,
    core: Arc<Shared>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Domain {
    type Seen = fid_domain;
}

impl Standing for Domain {
    fn real(&self) -> Real<fid_domain> {
        self.core.real
    }
}

static BASE: fi_ops = table!(fi_ops { close: close::<Domain> });

static OPERATIONS: fi_ops_domain = table!(fi_ops_domain { av_open, cq_open, endpoint, cntr_open });

static MEMORY: fi_ops_mr = table!(fi_ops_mr { regattr });

impl Domain {
    /// Stands for a real one.
    pub(crate) fn new(
        real: Real<fid_domain>,
        context: *mut c_void,
        info: &Parts<'_>,
        demands: &'static Demands,
    ) -> Self {
        let core = Shared {
            real,
            demands,
            managed: info.domain.resource_mgmt != FI_RM_DISABLED,
            regions: Regions::new(demands),
            contexts: Contexts::new(demands.context),
            endpoints: AtomicUsize::new(0),
            enabled: AtomicUsize::new(0),
        };
        let fid = identity(FI_CLASS_DOMAIN, context, &BASE);
        let mr = (&raw const MEMORY).cast_mut();
        let seen = fid_domain { fid, ops: (&raw const OPERATIONS).cast_mut(), mr };
        Self { seen, core: Arc::new(core) }
    }

    /// What its objects share.
    pub(crate) fn core(&self) -> &Arc<Shared> {
        &self.core
    }
}

unsafe extern "C" fn av_open(
    domain: *mut fid_domain,
    attributes: *mut fi_av_attr,
    av: *mut *mut fid_av,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let domain = unsafe { Domain::behind(domain) };
    // SAFETY: an open domain, and the user's attributes.
    let call = |real: *mut _| unsafe { calls::av_open(domain.core.real.as_ptr(), attributes, real, context) };
    // SAFETY: a place for the answer (user).
    unsafe { object::open(av, call, |real| Addresses::new(real, context)) }
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
    // SAFETY: an open domain, and the user's attributes.
    let call = |real: *mut _| unsafe { calls::cq_open(domain.core.real.as_ptr(), attributes, real, context) };
    let stand = |real| {
        // SAFETY: attributes of the user's.
        Queue::new(real, context, unsafe { &*attributes }, domain.core.clone())
    };
    // SAFETY: a place for the answer (user).
    unsafe { object::open(queue, call, stand) }
}

unsafe extern "C" fn cntr_open(
    domain: *mut fid_domain,
    attributes: *mut fi_cntr_attr,
    counter: *mut *mut fid_cntr,
    context: *mut c_void,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let domain = unsafe { Domain::behind(domain) };
    // SAFETY: an open domain, and the user's attributes.
    let call =
        |real: *mut _| unsafe { calls::cntr_open(domain.core.real.as_ptr(), attributes, real, context) };
    // SAFETY: a place for the answer (user).
    unsafe { object::open(counter, call, |real| Counter::new(real, context)) }
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
    // SAFETY: an open domain, and an entry as the library has filled it in.
    let call = |real: *mut _| unsafe { calls::endpoint(core.real.as_ptr(), wanted.as_ptr(), real, context) };
    let stand = |real| {
        // SAFETY: the copy has all parts, and nobody else has it.
        let parts = unsafe { Parts::of(wanted.as_ptr()) };
        Endpoint::new(real, context, &parts, core.clone())
    };
    // SAFETY: a place for the answer (user).
    unsafe { object::open(endpoint, call, stand) }
}

unsafe extern "C" fn regattr(
    domain: *mut fid,
    attributes: *const fi_mr_attr,
    flags: u64,
    region: *mut *mut fid_mr,
) -> c_int {
    // SAFETY: libfabric calls this with a domain of the shim's, which is open.
    let domain = unsafe { Domain::behind(domain.cast()) }.core();
    // SAFETY: the user's attributes.
    let attributes = unsafe { &*attributes };
    // SAFETY: the user registers its own memory, and counts its ranges.
    match unsafe { Region::register(domain, attributes, flags) } {
        Ok(made) => {
            // SAFETY: a place for the answer (user).
            unsafe { region.write(made) };
            0
        }
        Err(error) => error,
    }
}
