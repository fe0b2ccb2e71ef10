//! Demands in `fi_info`: added to offers for the user, removed for the real library.
//!
//! A demand is a bit that a provider sets in an offer, or a limit that it lowers. A user whose hints do not accept a bit is offered
//! nothing, as by a real provider. Since that looks like a missing network, the shim prints the reason.

use core::ffi::{CStr, c_int};
use core::ptr::null_mut;

use shmem_core::libfabric::bindings::*;

use crate::demand::demands;
use crate::object::{failure, library};

/// The provider that stands behind the shim.
const PROVIDER: &CStr = c"tcp;ofi_rxm";

/// Capabilities without calls in the shim.
const LEFT_OUT: u64 = (FI_TAGGED | FI_COLLECTIVE | FI_MULTI_RECV) as u64;

/// The order that is kept although operations are reordered: of sends.
const KEPT_ORDER: u64 = FI_ORDER_SAS as u64;

/// An entry of the real library with all its parts, freed with this value.
pub(crate) struct Owned(*mut fi_info);

/// An entry and its parts, which are separate allocations of libfabric.
pub(crate) struct Parts<'a> {
    pub(crate) info: &'a mut fi_info,
    pub(crate) tx: &'a mut fi_tx_attr,
    pub(crate) rx: &'a mut fi_rx_attr,
    pub(crate) endpoint: &'a mut fi_ep_attr,
    pub(crate) domain: &'a mut fi_domain_attr,
    pub(crate) fabric: &'a mut fi_fabric_attr,
}

impl Owned {
    /// A copy of an entry; an empty entry if it is null.
    ///
    /// # Safety
    ///
    /// The entry must be null, or one of the real library's.
    unsafe fn copy_of(entry: *const fi_info) -> Self {
        // SAFETY: the caller's promise.
        let copy = unsafe { (library().symbols().fi_dupinfo)(entry) };
        assert!(!copy.is_null(), "libfabric has no memory for a fi_info");
        Self(copy)
    }

    pub(crate) fn as_ptr(&self) -> *mut fi_info {
        self.0
    }

    pub(crate) fn parts(&mut self) -> Parts<'_> {
        // SAFETY: an entry of the library's with all its parts, which nobody else has.
        unsafe { Parts::of(self.0) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the library has made it, and it is freed once.
        unsafe { (library().symbols().fi_freeinfo)(self.0) };
    }
}

impl Parts<'_> {
    /// The parts of an entry.
    ///
    /// # Safety
    ///
    /// The entry must be one that libfabric has made, with all its parts, and nobody else use it meanwhile.
    unsafe fn of(info: *mut fi_info) -> Self {
        // SAFETY: the caller's promise.
        let info = unsafe { &mut *info };
        Self {
            // SAFETY: the caller's promise; the parts are allocations of their own.
            tx: unsafe { &mut *info.tx_attr },
            // SAFETY: the caller's promise.
            rx: unsafe { &mut *info.rx_attr },
            // SAFETY: the caller's promise.
            endpoint: unsafe { &mut *info.ep_attr },
            // SAFETY: the caller's promise.
            domain: unsafe { &mut *info.domain_attr },
            // SAFETY: the caller's promise.
            fabric: unsafe { &mut *info.fabric_attr },
            info,
        }
    }

    /// The first demand that these hints do not accept.
    fn refuses(&self) -> Option<&'static str> {
        let (demands, caps, name) = (demands(), self.info.caps, self.fabric.prov_name);
        let offered = self.domain.mr_mode.cast_unsigned();
        let modes = memory_modes().map(|(asked, bit, name)| (asked && offered & bit == 0, name));
        let context = if context_mode() == FI_CONTEXT { "FI_CONTEXT" } else { "FI_CONTEXT2" };
        let is_ordered = (self.tx.msg_order | self.rx.msg_order) & !KEPT_ORDER != 0;
        // SAFETY: a name of a provider ends with a zero.
        let is_other = !name.is_null() && unsafe { CStr::from_ptr(name) } != PROVIDER;
        let others = [
            (self.info.mode & context_mode() != context_mode(), context),
            (demands.no_atomics && caps & u64::from(FI_ATOMIC) != 0, "that there is no FI_ATOMIC"),
            (caps & LEFT_OUT != 0, "that there are no tagged, collective or multi-receive operations"),
            (demands.reorder && is_ordered, "that nothing is ordered but sends among each other"),
            (is_other, "the provider tcp;ofi_rxm"),
        ];
        modes.into_iter().chain(others).find(|(refuses, _)| *refuses).map(|(_, what)| what)
    }

    /// Adds the demands to an offer.
    fn demand(&mut self, wanted: &Parts<'_>) {
        let demands = demands();
        for (_, bit, _) in memory_modes().iter().filter(|(asked, ..)| *asked) {
            self.domain.mr_mode |= bit.cast_signed();
        }
        self.info.mode |= context_mode();
        let without = LEFT_OUT | if demands.no_atomics { u64::from(FI_ATOMIC) } else { 0 };
        for caps in [&mut self.info.caps, &mut self.tx.caps, &mut self.rx.caps, &mut self.domain.caps] {
            *caps &= !without;
        }
        for (limit, to) in [
            (&mut self.endpoint.max_msg_size, demands.max_msg),
            (&mut self.tx.iov_limit, demands.iov),
            (&mut self.rx.iov_limit, demands.iov),
            (&mut self.tx.rma_iov_limit, demands.rma_iov),
            (&mut self.tx.inject_size, demands.inject),
            (&mut self.tx.size, demands.cq),
            (&mut self.rx.size, demands.cq),
            (&mut self.domain.ep_cnt, demands.endpoints),
            (&mut self.domain.mr_key_size, demands.key_size),
        ] {
            *limit = to.map_or(*limit, |to| to.min(*limit));
        }
        // The real library reports 0 if it has no limit.
        self.domain.mr_cnt = demands.registrations.unwrap_or(self.domain.mr_cnt);
        if demands.cq.is_some() && wanted.domain.resource_mgmt != FI_RM_ENABLED {
            self.domain.resource_mgmt = FI_RM_DISABLED;
        }
        if demands.reorder {
            self.tx.msg_order = wanted.tx.msg_order & KEPT_ORDER;
            self.rx.msg_order = wanted.rx.msg_order & KEPT_ORDER;
            (self.tx.comp_order, self.rx.comp_order) = (0, 0);
            self.endpoint.max_order_raw_size = 0;
            self.endpoint.max_order_war_size = 0;
            self.endpoint.max_order_waw_size = 0;
        }
        // Objects that the real library has open already are not for the user.
        self.fabric.fabric = null_mut();
        self.domain.domain = null_mut();
    }

    /// Removes demands that the real library does not have.
    fn relax(&mut self) {
        for (_, bit, _) in memory_modes() {
            self.domain.mr_mode &= !bit.cast_signed();
        }
        if demands().registrations.is_some() {
            self.domain.mr_cnt = 0;
        }
        for mode in [&mut self.info.mode, &mut self.tx.mode, &mut self.rx.mode, &mut self.domain.mode] {
            *mode &= !(FI_CONTEXT | FI_CONTEXT2);
        }
    }
}

/// The demands in libfabric's `mr_mode`: whether each is there, its bit, and its name.
fn memory_modes() -> [(bool, u32, &'static str); 5] {
    let demands = demands();
    [
        (demands.mr_prov_key, FI_MR_PROV_KEY, "FI_MR_PROV_KEY"),
        (demands.mr_endpoint, FI_MR_ENDPOINT, "FI_MR_ENDPOINT"),
        (demands.mr_local, FI_MR_LOCAL, "FI_MR_LOCAL"),
        (demands.mr_virt_addr, FI_MR_VIRT_ADDR, "FI_MR_VIRT_ADDR"),
        (demands.mr_allocated, FI_MR_ALLOCATED, "FI_MR_ALLOCATED"),
    ]
}

fn context_mode() -> u64 {
    match demands().words() {
        None => 0,
        Some(4) => FI_CONTEXT,
        Some(_) => FI_CONTEXT2,
    }
}

/// The hints for the real library.
///
/// # Safety
///
/// The hints must be null, or an entry of the real library's with all its parts.
pub(crate) unsafe fn wanted(hints: *const fi_info) -> Result<Owned, c_int> {
    // SAFETY: the caller's promise.
    let mut wanted = unsafe { Owned::copy_of(hints) };
    let mut parts = wanted.parts();
    if let Some(refused) = parts.refuses() {
        eprintln!("fabric-shim: nothing is offered: the hints do not accept {refused}");
        return Err(failure(FI_ENODATA));
    }
    parts.relax();
    (parts.fabric.fabric, parts.domain.domain) = (null_mut(), null_mut());
    if parts.fabric.prov_name.is_null() {
        // Freed with the entry.
        // SAFETY: a text that ends with a zero.
        parts.fabric.prov_name = unsafe { libc::strdup(PROVIDER.as_ptr()) };
    }
    Ok(wanted)
}

/// Turns the list of the real library into offers for the user.
///
/// # Safety
///
/// The list must be one of the real library's, which nobody else uses meanwhile.
pub(crate) unsafe fn offer(list: *mut fi_info, wanted: &mut Owned) {
    let (mut entry, wanted) = (list, wanted.parts());
    while !entry.is_null() {
        // SAFETY: an entry of the list (caller).
        let mut parts = unsafe { Parts::of(entry) };
        parts.demand(&wanted);
        entry = parts.info.next;
    }
}

/// An offer as an entry of the real library, for opening a domain or an endpoint.
///
/// # Safety
///
/// The entry must be one that the shim has offered, or a copy.
pub(crate) unsafe fn returned(entry: *const fi_info) -> Owned {
    // SAFETY: the caller's promise.
    let mut entry = unsafe { Owned::copy_of(entry) };
    entry.parts().relax();
    entry
}
