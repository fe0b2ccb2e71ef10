//! The demands of `FABRIC_SHIM`, in `fi_info`. The shim adds them to the offers of the real library, and removes them from the
//! offers that users pass back to open objects.
//!
//! A demand is a bit that a provider sets in an offer, or a limit that the provider lowers. As a real provider, the shim offers
//! nothing to a user whose hints do not accept a demand. Since this looks like a missing network, the shim prints the reason.

use core::ffi::{CStr, c_int};
use core::ptr::null_mut;

use shmem_core::libfabric::bindings::*;

use crate::demand::demands;
use crate::object::{failure, library};

/// The real provider that the shim calls.
const PROVIDER: &CStr = c"tcp;ofi_rxm";

/// Capabilities that the shim does not offer, because it lacks their calls.
const LEFT_OUT: u64 = (FI_TAGGED | FI_COLLECTIVE | FI_MULTI_RECV) as u64;

/// The only message order that `FABRIC_SHIM=reorder` keeps: sends after sends.
const KEPT_ORDER: u64 = FI_ORDER_SAS as u64;

/// An `fi_info` that the real library has allocated. Dropping this value frees the `fi_info` and its parts.
pub(crate) struct Owned(*mut fi_info);

/// An `fi_info` and its parts. Each part is an allocation of its own.
pub(crate) struct Parts<'a> {
    pub(crate) info: &'a mut fi_info,
    pub(crate) tx: &'a mut fi_tx_attr,
    pub(crate) rx: &'a mut fi_rx_attr,
    pub(crate) endpoint: &'a mut fi_ep_attr,
    pub(crate) domain: &'a mut fi_domain_attr,
    pub(crate) fabric: &'a mut fi_fabric_attr,
}

impl Owned {
    /// Copies an `fi_info`; returns an empty one if `entry` is null.
    ///
    /// # Safety
    ///
    /// `entry` must be null, or an `fi_info` that the real library has allocated.
    unsafe fn copy_of(entry: *const fi_info) -> Self {
        // SAFETY: `entry` is null, or was allocated by the real library (caller).
        let copy = unsafe { (library().symbols().fi_dupinfo)(entry) };
        assert!(!copy.is_null(), "libfabric has no memory for a fi_info");
        Self(copy)
    }

    pub(crate) fn as_ptr(&self) -> *mut fi_info {
        self.0
    }

    pub(crate) fn parts(&mut self) -> Parts<'_> {
        // SAFETY: the real library has allocated the entry with all its parts, and `self` alone has it.
        unsafe { Parts::of(self.0) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the real library has allocated the entry, and only this line frees it.
        unsafe { (library().symbols().fi_freeinfo)(self.0) };
    }
}

impl Parts<'_> {
    /// Borrows an entry and its parts.
    ///
    /// # Safety
    ///
    /// libfabric must have allocated the entry with all its parts, and nobody else may use them during the borrow.
    unsafe fn of(info: *mut fi_info) -> Self {
        // SAFETY: the entry is valid, and nobody else uses it (caller).
        let info = unsafe { &mut *info };
        Self {
            // SAFETY: the part is valid (caller). Each part is an allocation of its own.
            tx: unsafe { &mut *info.tx_attr },
            // SAFETY: the part is valid (caller).
            rx: unsafe { &mut *info.rx_attr },
            // SAFETY: the part is valid (caller).
            endpoint: unsafe { &mut *info.ep_attr },
            // SAFETY: the part is valid (caller).
            domain: unsafe { &mut *info.domain_attr },
            // SAFETY: the part is valid (caller).
            fabric: unsafe { &mut *info.fabric_attr },
            info,
        }
    }

    /// Returns the first demand of `FABRIC_SHIM` that these hints do not accept, by its name in the shim's error text.
    fn refuses(&self) -> Option<&'static str> {
        let (demands, caps, name) = (demands(), self.info.caps, self.fabric.prov_name);
        let offered = self.domain.mr_mode.cast_unsigned();
        let modes = memory_modes().map(|(asked, bit, name)| (asked && offered & bit == 0, name));
        let context = if context_mode() == FI_CONTEXT { "FI_CONTEXT" } else { "FI_CONTEXT2" };
        let is_ordered = (self.tx.msg_order | self.rx.msg_order) & !KEPT_ORDER != 0;
        // SAFETY: the name is not null, and the user's provider names are C strings.
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

    /// Adds the demands of `FABRIC_SHIM` to this offer. `wanted` are the user's hints.
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
        // Not the minimum of both limits, because the real library reports 0 for "no limit".
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
        // Pointers to open objects of the real library are removed, because users must see objects of the shim alone.
        self.fabric.fabric = null_mut();
        self.domain.domain = null_mut();
    }

    /// Removes the demands of `FABRIC_SHIM`, which the real library does not know.
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

/// Returns the demands that are bits of libfabric's `mr_mode`: (whether it is demanded, its bit, its name).
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

/// Converts the user's hints to hints for the real library. Fails if the hints do not accept a demand.
///
/// # Safety
///
/// `hints` must be null, or an entry that the real library has allocated with all its parts.
pub(crate) unsafe fn wanted(hints: *const fi_info) -> Result<Owned, c_int> {
    // SAFETY: `hints` is null, or was allocated by the real library (caller).
    let mut wanted = unsafe { Owned::copy_of(hints) };
    let mut parts = wanted.parts();
    if let Some(refused) = parts.refuses() {
        eprintln!("fabric-shim: nothing is offered: the hints do not accept {refused}");
        return Err(failure(FI_ENODATA));
    }
    parts.relax();
    (parts.fabric.fabric, parts.domain.domain) = (null_mut(), null_mut());
    if parts.fabric.prov_name.is_null() {
        // `fi_freeinfo` frees the copied name with the entry.
        // SAFETY: `PROVIDER` is a C string.
        parts.fabric.prov_name = unsafe { libc::strdup(PROVIDER.as_ptr()) };
    }
    Ok(wanted)
}

/// Converts the real library's list of offers to offers for the user, in place.
///
/// # Safety
///
/// The real library must have allocated the list, and nobody else may use it during the call.
pub(crate) unsafe fn offer(list: *mut fi_info, wanted: &mut Owned) {
    let (mut entry, wanted) = (list, wanted.parts());
    while !entry.is_null() {
        // SAFETY: `entry` is an entry of the list (caller).
        let mut parts = unsafe { Parts::of(entry) };
        parts.demand(&wanted);
        entry = parts.info.next;
    }
}

/// Converts an offer that the user passes back to an entry for the real library, which opens a domain or an endpoint by it.
///
/// # Safety
///
/// `entry` must be an entry that the shim has offered, or a copy of it.
pub(crate) unsafe fn returned(entry: *const fi_info) -> Owned {
    // SAFETY: `entry` was allocated by the real library, as all offers and their copies are (caller).
    let mut entry = unsafe { Owned::copy_of(entry) };
    entry.parts().relax();
    entry
}
