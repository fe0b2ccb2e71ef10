//! The shim's fabrics and domains. Domains open all other objects.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;
use std::sync::Arc;

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::{VERSION, calls};

use crate::address;
use crate::demand::demands;
use crate::endpoint::Endpoint;
use crate::information;
use crate::object::{Object, ObjectState, Real, called, close, failure, identity, open, table};
use crate::queue::{Counter, Queue};
use crate::region;
use crate::shared::{Registration, Shared};

/// A fabric. The shim keeps no state for it.
pub(crate) struct Fabric;

impl ObjectState for Fabric {
    type Seen = fid_fabric;
}

impl Fabric {
    /// Returns a new fabric: the structure for users, and the shim's state.
    pub(crate) fn new(context: *mut c_void) -> (fid_fabric, Self) {
        let fid = identity(FI_CLASS_FABRIC, context, table!(fi_ops { close: close::<Fabric> }));
        let ops = table!(fi_ops_fabric { domain, trywait });
        (fid_fabric { fid, ops, api_version: VERSION }, Self)
    }
}

called! {
    fn domain(fabric: Fabric as fid_fabric, info: *mut fi_info, place: *mut *mut fid_domain, context: *mut c_void) -> c_int {
        // SAFETY: the user passes an `fi_info` that the shim has offered.
        let mut wanted = unsafe { information::returned(info) };
        let managed = wanted.parts().domain.resource_mgmt != FI_RM_DISABLED;
        // SAFETY: the fabric is open, and `wanted` is a copy of an entry that the real library has filled in.
        let call = |real: *mut _| unsafe { calls::domain(fabric.real(), wanted.as_ptr(), real, context) };
        let stand = |real| {
            let (regions, contexts, endpoints, enabled) = Default::default();
            let shared = Shared { real: Real::new(real), managed, regions, contexts, endpoints, enabled };
            let fid = identity(FI_CLASS_DOMAIN, context, table!(fi_ops { close: close::<Arc<Shared>> }));
            let ops = table!(fi_ops_domain { av_open, cq_open, endpoint, cntr_open });
            (fid_domain { fid, ops, mr: table!(fi_ops_mr { reg }) }, Arc::new(shared))
        };
        // SAFETY: `place` is writable (user).
        unsafe { open(place, call, stand) }
    }

    // `fi_trywait`: fails with `EAGAIN` while the shim delays a completion or an operation of one of the queues.
    fn trywait(fabric: Fabric as fid_fabric, queues: *mut *mut fid, count: c_int) -> c_int {
        for at in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the user passes `count` pointers at `queues`.
            let queue = unsafe { *queues.wrapping_add(at) };
            // SAFETY: the user passes open objects of the shim.
            let class = unsafe { (*queue).fclass };
            if class != FI_CLASS_CQ as usize {
                return failure(FI_EINVAL);
            }
            // SAFETY: the object is open (user), and the shim makes every object of class `FI_CLASS_CQ` as an `Arc<Queue>`.
            let queue = unsafe { Object::<Arc<Queue>>::behind(queue) };
            if queue.is_behind() {
                return failure(FI_EAGAIN);
            }
            let mut real: *mut fid = queue.real().cast();
            // SAFETY: the fabric is open, and `real` is an open queue of the fabric.
            let result = unsafe { calls::trywait(fabric.real(), &raw mut real, 1) };
            if result != 0 {
                return result;
            }
        }
        0
    }

    fn av_open(domain: Arc<Shared> as fid_domain, attributes: *mut fi_av_attr, place: *mut *mut fid_av, context: *mut c_void) -> c_int {
        // SAFETY: the domain is open, and `attributes` is the user's, unchanged.
        let call = |real: *mut _| unsafe { calls::av_open(domain.real(), attributes, real, context) };
        // SAFETY: `place` is writable (user).
        unsafe { open(place, call, |_| address::vector(context)) }
    }

    fn cq_open(domain: Arc<Shared> as fid_domain, attributes: *mut fi_cq_attr, place: *mut *mut fid_cq, context: *mut c_void) -> c_int {
        // SAFETY: the user passes valid attributes, which nobody else uses during the call.
        let &mut fi_cq_attr { wait_obj, format, size, .. } = unsafe { &mut *attributes };
        if format != FI_CQ_FORMAT_DATA || demands().no_wait && wait_obj != FI_WAIT_NONE {
            return failure(FI_ENOSYS);
        }
        // SAFETY: the domain is open, and `attributes` is valid (user).
        let call = |real: *mut _| unsafe { calls::cq_open(domain.real(), attributes, real, context) };
        // SAFETY: `place` is writable (user).
        unsafe { open(place, call, |real| Queue::new(real, context, size, domain)) }
    }

    fn cntr_open(domain: Arc<Shared> as fid_domain, attributes: *mut fi_cntr_attr, place: *mut *mut fid_cntr, context: *mut c_void) -> c_int {
        // SAFETY: the domain is open, and `attributes` is the user's, unchanged.
        let call = |real: *mut _| unsafe { calls::cntr_open(domain.real(), attributes, real, context) };
        // SAFETY: `place` is writable (user).
        unsafe { open(place, call, |_| Counter::new(context)) }
    }

    fn endpoint(domain: Arc<Shared> as fid_domain, info: *mut fi_info, place: *mut *mut fid_ep, context: *mut c_void) -> c_int {
        if let Some(most) = demands().endpoints
            && domain.endpoints.load(Ordering::Relaxed) >= most
        {
            violation!("endpoints", "an endpoint more than the {most} that ep_cnt of the domain allows");
        }
        // SAFETY: the user passes an `fi_info` that the shim has offered.
        let mut wanted = unsafe { information::returned(info) };
        let entry = wanted.as_ptr();
        // SAFETY: the domain is open, and `entry` is a copy of an entry that the real library has filled in.
        let call = |real: *mut _| unsafe { calls::endpoint(domain.real(), entry, real, context) };
        // SAFETY: `place` is writable (user).
        unsafe { open(place, call, |real| Endpoint::new(real, context, &wanted.parts(), domain)) }
    }

    fn reg(domain: Arc<Shared> as fid_domain, start: *const c_void, bytes: usize, access: u64, _offset: u64, requested_key: u64,
        _flags: u64, place: *mut *mut fid_mr, context: *mut c_void) -> c_int
    {
        let range = start.addr()..start.addr().saturating_add(bytes);
        let facts = Registration { range, access, enabled: false };
        // SAFETY: the user keeps the memory mapped until the registration is closed.
        match unsafe { region::register(domain, facts, requested_key, context) } {
            Ok(made) => {
                // SAFETY: `place` is writable (user).
                unsafe { place.write(made) };
                0
            }
            Err(error) => error,
        }
    }
}
