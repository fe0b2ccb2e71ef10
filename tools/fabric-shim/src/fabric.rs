//! Fabrics.

use core::ffi::{c_int, c_void};

use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::counter::Counter;
use crate::demand::Demands;
use crate::domain::Domain;
use crate::information;
use crate::object::{self, Standing, Wrapper, close, identity, table};
use crate::queue::Queue;
use crate::real::{Real, failure};

/// A fabric.
#[repr(C)]
pub(crate) struct Fabric {
    seen: fid_fabric,
    real: Real<fid_fabric>,
}

// SAFETY: `repr(C)`, and the first field is what is seen.
unsafe impl Wrapper for Fabric {
    type Seen = fid_fabric;
}

impl Standing for Fabric {
    fn real(&self) -> Real<fid_fabric> {
        self.real
    }
}

static BASE: fi_ops = table!(fi_ops { close: close::<Fabric> });

static OPERATIONS: fi_ops_fabric = table!(fi_ops_fabric { domain, trywait });

impl Fabric {
    /// Stands for a real one.
    pub(crate) fn new(real: Real<fid_fabric>, context: *mut c_void) -> Self {
        // SAFETY: the library has just opened it.
        let api_version = unsafe { (*real.as_ptr()).api_version };
        let fid = identity(FI_CLASS_FABRIC, context, &BASE);
        Self { seen: fid_fabric { fid, ops: (&raw const OPERATIONS).cast_mut(), api_version }, real }
    }
}

unsafe extern "C" fn domain(
    fabric: *mut fid_fabric,
    info: *mut fi_info,
    domain: *mut *mut fid_domain,
    context: *mut c_void,
) -> c_int {
    let demands = Demands::of_process();
    // SAFETY: libfabric calls this with a fabric of the shim's, which is open.
    let fabric = unsafe { Fabric::behind(fabric) };
    // SAFETY: an entry that the shim has offered (user).
    let wanted = unsafe { information::returned(info, demands) };
    // SAFETY: an open fabric, and an entry as the library has filled it in.
    let call = |real: *mut _| unsafe { calls::domain(fabric.real.as_ptr(), wanted.as_ptr(), real, context) };
    let stand = |real| {
        // SAFETY: the copy has all parts, and nobody else has it.
        let parts = unsafe { information::Parts::of(wanted.as_ptr()) };
        Domain::new(real, context, &parts, demands)
    };
    // SAFETY: a place for the answer (user).
    unsafe { object::open(domain, call, stand) }
}

/// Whether it is safe to sleep on the wait objects of these queues and counters: not while the shim itself keeps
/// something that belongs to them.
unsafe extern "C" fn trywait(fabric: *mut fid_fabric, fids: *mut *mut fid, count: c_int) -> c_int {
    // SAFETY: libfabric calls this with a fabric of the shim's, which is open.
    let fabric = unsafe { Fabric::behind(fabric) };
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as many objects as are counted (user).
    let fids = unsafe { core::slice::from_raw_parts(fids, count) };
    let mut real = Vec::with_capacity(count);
    for object in fids.iter().copied() {
        // SAFETY: an object of the shim's, which is open (user).
        let class = unsafe { (*object).fclass };
        if class == FI_CLASS_CQ as usize {
            // SAFETY: of that class, the shim hands out its own only.
            let queue = unsafe { Queue::behind(object.cast()) };
            if queue.core().is_behind() {
                return failure(FI_EAGAIN);
            }
            real.push(queue.real().as_ptr().cast());
        } else if class == FI_CLASS_CNTR as usize {
            // SAFETY: of that class, the shim hands out its own only.
            let counter = unsafe { Counter::behind(object.cast()) };
            if counter.served().is_behind() {
                return failure(FI_EAGAIN);
            }
            real.push(counter.real().as_ptr().cast());
        } else {
            return failure(FI_EINVAL);
        }
    }
    let count = c_int::try_from(real.len()).expect("as many as were given");
    // SAFETY: open objects.
    unsafe { calls::trywait(fabric.real.as_ptr(), real.as_mut_ptr(), count) }
}
