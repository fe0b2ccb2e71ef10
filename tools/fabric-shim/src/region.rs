//! Memory registrations, and their keys.

use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::ptr::{null_mut, without_provenance, without_provenance_mut};
use std::sync::Arc;

use shmem_core::exclusion::Mutex;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::demand::demands;
use crate::endpoint::Endpoint;
use crate::object::{Object, ObjectState, called, close, failure, identity, table};
use crate::shared::{NO_KEY, Registration, Shared, made_up};

pub(crate) struct Region {
    domain: Arc<Shared>,
    facts: Registration,
    requested_key: u64,
    bound: Mutex<Option<u16>>,
}

impl ObjectState for Region {
    type Seen = fid_mr;

    fn close(&self, address: usize, close: impl FnOnce() -> c_int) -> c_int {
        let result = close();
        if result == 0 {
            self.domain.regions.remove(address);
        }
        result
    }
}

/// Registers memory of the user. Returns the shim's object, or an error code of libfabric.
///
/// # Safety
///
/// The memory must stay mapped while it is registered.
pub(crate) unsafe fn register(
    domain: &Arc<Shared>,
    facts: Registration,
    requested_key: u64,
    context: *mut c_void,
) -> Result<*mut fid_mr, c_int> {
    if demands().mr_allocated {
        must_exist(&facts.range);
    }
    if demands().mlock && !lock(&facts.range) {
        return Err(failure(FI_ENOMEM));
    }
    let fid = identity(FI_CLASS_MR, context, table!(fi_ops { close: close::<Region>, bind, control }));
    let region =
        Region { domain: Arc::clone(domain), facts: facts.clone(), requested_key, bound: Mutex::default() };
    let made = Object::hand_out(fid_mr { fid, mem_desc: null_mut(), key: NO_KEY }, null_mut(), region);
    // SAFETY: the object was just made, and nobody else has its address.
    unsafe { (*made).mem_desc = made.cast() };
    let result = match domain.regions.add(made.addr(), facts) {
        false => failure(FI_ENOMEM),
        true if demands().mr_endpoint => 0,
        // SAFETY: the object was just made, with this type.
        true => enable(unsafe { Object::behind(made) }),
    };
    if result != 0 {
        // SAFETY: the object was just made, with this type, and the user has not got its address.
        unsafe { close::<Region>(made.cast()) };
        return Err(result);
    }
    Ok(made)
}

/// Registers the memory with the real domain, under the provider's key or the user's.
fn enable(region: &Object<Region>) -> c_int {
    let port = region.bound.lock();
    if demands().mr_endpoint && port.is_none() {
        violation!(
            "FI_MR_ENDPOINT",
            "memory is enabled that is bound to no endpoint; fi_mr_bind comes before fi_mr_enable"
        );
    }
    if !region.real().is_null() {
        return 0;
    }
    let key = match demands().mr_prov_key {
        true => made_up(port.unwrap_or(0)),
        false => region.requested_key,
    };
    if let Some(bytes @ ..8) = demands().key_size
        && key >> (8 * bytes) != 0
    {
        violation!("key_size", "the key {key:#x} is asked for; mr_key_size of the domain is {bytes} bytes");
    }
    let Registration { range, access, .. } = &region.facts;
    // The real library counts remote addresses from the start of the registered range. With `FABRIC_SHIM=mr_virt_addr`, users pass
    // virtual addresses, so the range is registered from address 0. The target then checks no lower bound.
    let start = if demands().mr_virt_addr { 0 } else { range.start };
    let (domain, from, bytes) = (region.domain.real.as_ptr(), without_provenance(start), range.end - start);
    let mut real = null_mut();
    // SAFETY: the domain is open, and the user keeps the memory mapped while it is registered.
    let result = unsafe { calls::mr_reg(domain, from, bytes, *access, 0, key, 0, &raw mut real, null_mut()) };
    if result == 0 {
        region.stand_for(real);
        // SAFETY: the user does not read the key before this call has returned.
        unsafe { (*region.seen()).key = key };
        region.domain.regions.enable(region.seen().addr());
    }
    result
}

/// Ends the process unless all pages of a range are mapped.
fn must_exist(range: &Range<usize>) {
    const PAGE: usize = 4096;
    let start = range.start / PAGE * PAGE;
    let pages = (range.end - start).div_ceil(PAGE);
    let mut resident = vec![0_u8; pages];
    let into = resident.as_mut_ptr().cast();
    // SAFETY: `mincore` accesses no memory but `resident`, which has a byte for each page.
    if unsafe { libc::mincore(without_provenance_mut(start), pages * PAGE, into) } != 0 {
        violation!("FI_MR_ALLOCATED", "{range:#x?} is registered, and not all of it is mapped");
    }
}

/// Locks memory, and returns whether the kernel allows it. The kernel unlocks memory when it is unmapped.
fn lock(range: &Range<usize>) -> bool {
    // SAFETY: `mlock` pins pages. It does not change their contents.
    unsafe { libc::mlock(without_provenance(range.start), range.len()) == 0 }
}

called! {
    fn bind(region: Region as fid, to: *mut fid, _flags: u64) -> c_int {
        // SAFETY: the user passes an open object of the shim.
        let class = unsafe { (*to).fclass };
        if !demands().mr_endpoint || class != FI_CLASS_EP as usize {
            return failure(FI_ENOSYS);
        }
        // SAFETY: `to` is open (user), and the shim makes every object of class `FI_CLASS_EP` as an `Arc<Endpoint>`.
        let endpoint = unsafe { Object::<Arc<Endpoint>>::behind(to) };
        *region.bound.lock() = Some(endpoint.port());
        0
    }

    fn control(region: Region as fid, command: c_int, _argument: *mut c_void) -> c_int {
        if !demands().mr_endpoint || command.cast_unsigned() != FI_ENABLE {
            return failure(FI_ENOSYS);
        }
        enable(region)
    }
}
