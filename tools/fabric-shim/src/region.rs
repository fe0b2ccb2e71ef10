//! Registered memory: its key, and from when on it may be used.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ops::Range;
use std::sync::{Arc, Mutex};

use libc::iovec;
use shmem_core::libfabric::bindings::*;
use shmem_core::libfabric::calls;

use crate::endpoint::Endpoint;
use crate::key::{Key, NO_KEY};
use crate::object::{Wrapper, identity, table};
use crate::real::{Real, failure};
use crate::regions::Facts;
use crate::shared::Shared;
use crate::violation::violation;

/// A registration.
#[repr(C)]
pub(crate) struct Region {
    /// Written before the region is handed out, and when it is enabled, which its user waits for.
    seen: UnsafeCell<fid_mr>,
    domain: Arc<Shared>,
    state: Mutex<State>,
}

// SAFETY: `repr(C)`, and the first field is what is seen: a cell has the layout of what it holds.
unsafe impl Wrapper for Region {
    type Seen = fid_mr;
}

/// What a registration has come to.
struct State {
    memory: Vec<iovec>,
    access: u64,
    requested_key: u64,
    flags: u64,
    /// The port of the endpoint that it is bound to.
    bound: Option<u16>,
    real: Option<Real<fid_mr>>,
}

static BASE: fi_ops = table!(fi_ops { close, bind, control });

impl Region {
    /// Registers memory of the user's, or says why not.
    ///
    /// # Safety
    ///
    /// The attributes must have as many ranges as they count, and the memory stay while it is registered.
    pub(crate) unsafe fn register(
        domain: &Arc<Shared>,
        attributes: &fi_mr_attr,
        flags: u64,
    ) -> Result<*mut fid_mr, c_int> {
        // SAFETY: as many ranges as are counted (caller).
        let memory = unsafe { core::slice::from_raw_parts(attributes.mr_iov, attributes.iov_count) }.to_vec();
        let ranges: Vec<_> = memory
            .iter()
            .map(|part| part.iov_base.addr()..part.iov_base.addr().saturating_add(part.iov_len))
            .collect();
        if domain.demands.allocated {
            ranges.iter().for_each(must_exist);
        }
        if domain.demands.mlock && !ranges.iter().all(lock) {
            return Err(failure(FI_ENOMEM));
        }
        let fid = identity(FI_CLASS_MR, attributes.context, &BASE);
        let made = Self {
            seen: UnsafeCell::new(fid_mr { fid, mem_desc: core::ptr::null_mut(), key: NO_KEY }),
            domain: domain.clone(),
            state: Mutex::new(State {
                memory,
                access: attributes.access,
                requested_key: attributes.requested_key,
                flags,
                bound: None,
                real: None,
            }),
        }
        .hand_out();
        // SAFETY: just made, and nobody else has it.
        unsafe { (*made).mem_desc = made.cast() };
        let facts = Facts { ranges, access: attributes.access, enabled: false };
        let enabled = match domain.regions.add(made.addr(), facts) {
            false => failure(FI_ENOMEM),
            true if domain.demands.endpoint => 0,
            // SAFETY: just made, of this type.
            true => unsafe { Self::behind(made) }.enable(),
        };
        if enabled != 0 {
            domain.regions.remove(made.addr());
            // SAFETY: just made, of this type, and not handed out.
            drop(unsafe { Self::reclaim(made) });
            return Err(enabled);
        }
        Ok(made)
    }

    /// Registers with the real domain, under the key that is then to be used.
    fn enable(&self) -> c_int {
        let demands = self.domain.demands;
        let mut state = self.state.lock().expect("a panic ends the process");
        let port = state.bound;
        if demands.endpoint && port.is_none() {
            violation(
                "FI_MR_ENDPOINT",
                "memory is enabled that is bound to no endpoint; fi_mr_bind comes before fi_mr_enable",
            );
        }
        if state.real.is_some() {
            return 0;
        }
        let key = match demands.prov_key {
            true => Key::new(port.unwrap_or(0), demands.key_size).number(),
            false => state.requested_key,
        };
        if let Some(bytes @ ..8) = demands.key_size
            && key >> (8 * bytes) != 0
        {
            violation(
                "key_size",
                format_args!("the key {key:#x} is asked for; mr_key_size of the domain is {bytes} bytes"),
            );
        }
        // SAFETY: plain data, for which all zeroes are what libfabric takes for "nothing".
        let mut attributes: fi_mr_attr = unsafe { core::mem::zeroed() };
        // The real library counts remote addresses from the start of what is registered. So they become those of
        // the process where that is address 0; the target then has no lower bound, which is the price.
        let memory = match demands.virt_addr {
            true => state.memory.iter().map(from_zero).collect(),
            false => state.memory.clone(),
        };
        attributes.mr_iov = memory.as_ptr();
        attributes.iov_count = state.memory.len();
        attributes.access = state.access;
        attributes.requested_key = key;
        let mut real = core::ptr::null_mut();
        // SAFETY: an open domain, and memory that its user registers.
        let result = unsafe {
            calls::mr_regattr(self.domain.real.as_ptr(), &raw const attributes, state.flags, &raw mut real)
        };
        if result == 0 {
            state.real = Some(Real::new(real));
            // SAFETY: the user reads the key after this call has returned.
            unsafe { (*self.seen.get()).key = key };
            self.domain.regions.enable(core::ptr::from_ref(self).addr());
        }
        result
    }
}

/// All addresses up to the end of a range.
fn from_zero(part: &iovec) -> iovec {
    iovec { iov_base: core::ptr::null_mut(), iov_len: part.iov_base.addr().saturating_add(part.iov_len) }
}

/// Ends the process unless all pages of a range are mapped.
fn must_exist(range: &Range<usize>) {
    const PAGE: usize = 4096;
    let start = range.start / PAGE * PAGE;
    let pages = (range.end - start).div_ceil(PAGE);
    let mut resident = vec![0_u8; pages];
    // SAFETY: the call looks at no memory but the result, which has a byte for each page.
    let result = unsafe {
        libc::mincore(core::ptr::without_provenance_mut(start), pages * PAGE, resident.as_mut_ptr().cast())
    };
    if result != 0 {
        violation("FI_MR_ALLOCATED", format_args!("{range:#x?} is registered, and not all of it is mapped"));
    }
}

/// Whether the kernel lets memory be locked. It is unlocked when it is unmapped.
fn lock(range: &Range<usize>) -> bool {
    let start = core::ptr::without_provenance(range.start);
    // SAFETY: the call changes where the kernel may put the pages, and nothing that the program sees.
    unsafe { libc::mlock(start, range.len()) == 0 }
}

unsafe extern "C" fn bind(region: *mut fid, to: *mut fid, _flags: u64) -> c_int {
    // SAFETY: libfabric calls this with a registration of the shim's, which is open.
    let region = unsafe { Region::behind(region.cast()) };
    // SAFETY: an object of the shim's, which is open (user).
    let class = unsafe { (*to).fclass };
    if !region.domain.demands.endpoint || class != FI_CLASS_EP as usize {
        return failure(FI_ENOSYS);
    }
    // SAFETY: of that class, the shim hands out its own only.
    let endpoint = unsafe { Endpoint::behind(to.cast()) };
    region.state.lock().expect("a panic ends the process").bound = Some(endpoint.core().port());
    0
}

unsafe extern "C" fn control(region: *mut fid, command: c_int, _argument: *mut c_void) -> c_int {
    // SAFETY: libfabric calls this with a registration of the shim's, which is open.
    let region = unsafe { Region::behind(region.cast()) };
    if !region.domain.demands.endpoint || command.cast_unsigned() != FI_ENABLE {
        return failure(FI_ENOSYS);
    }
    region.enable()
}

unsafe extern "C" fn close(region: *mut fid) -> c_int {
    let region: *mut fid_mr = region.cast();
    // SAFETY: libfabric calls this with a registration of the shim's, which is open.
    let open = unsafe { Region::behind(region) };
    let real = open.state.lock().expect("a panic ends the process").real;
    let result = match real {
        // SAFETY: an open registration, which nobody uses afterwards.
        Some(real) => unsafe { calls::close(real.as_ptr().cast()) },
        None => 0,
    };
    if result == 0 {
        open.domain.regions.remove(region.addr());
        // SAFETY: an open registration, which nobody uses afterwards.
        drop(unsafe { Region::reclaim(region) });
    }
    result
}
