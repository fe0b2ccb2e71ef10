//! Offers of providers (`fi_info`).

use core::ffi::{CStr, c_char};
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::bindings::*;
use super::library::{Library, VERSION};
use super::object::Refused;
use crate::loader::keep_signal_handlers;

/// Requirements that offers must meet. In addition, endpoints are always connectionless (`FI_EP_RDM`), usable by any thread
/// (`FI_THREAD_SAFE`), and make progress in calls (`FI_PROGRESS_MANUAL`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints<'a> {
    /// Capabilities that endpoints must have, such as `FI_RMA`.
    pub capabilities: u64,
    /// Modes that the caller supports, such as `FI_CONTEXT`.
    pub mode: u64,
    /// Modes of memory registration that the caller supports, such as `FI_MR_LOCAL`.
    pub registration: u32,
    /// Whether the provider guards queues against overruns.
    pub resources: fi_resource_mgmt,
    /// Name of the provider; `None`: any provider.
    pub provider: Option<&'a CStr>,
}

/// A list of one or more entries, allocated by libfabric, read-only, and freed when this value is dropped.
#[derive(Debug)]
pub struct Info {
    library: &'static Library,
    first: NonNull<fi_info>,
}

// SAFETY: the entries are plain data, which belongs to no thread.
unsafe impl Send for Info {}
// SAFETY: shared entries are only read.
unsafe impl Sync for Info {}

/// One entry: an interface of a provider, and its attributes.
#[derive(Clone, Copy, Debug)]
pub struct InfoEntry<'i> {
    library: &'static Library,
    /// An entry with all its attributes, made by `fi_getinfo` or copied.
    info: NonNull<fi_info>,
    list: PhantomData<&'i Info>,
}

impl Library {
    /// Returns the offers that meet the requirements, best first.
    ///
    /// # Errors
    ///
    /// The error of libfabric: `FI_ENODATA` if no offer fits.
    pub fn offers(&'static self, asked: &Hints<'_>) -> Result<Info, Refused> {
        let refused = |code| Refused::of("fi_getinfo", code);
        // SAFETY: a null pointer requests an empty entry.
        let hints = unsafe { (self.symbols().fi_dupinfo)(core::ptr::null()) };
        let hints = NonNull::new(hints).ok_or(refused(FI_ENOMEM.cast_signed()))?;
        let hints = Info { library: self, first: hints };
        hints.fill_in(asked).ok_or(refused(FI_ENOMEM.cast_signed()))?;
        let mut list = core::ptr::null_mut();
        let (node, service) = (core::ptr::null(), core::ptr::null());
        let getinfo = self.symbols().fi_getinfo;
        // SAFETY: null node and service ask for no address. The hints are libfabric's, and `list` has room for the answer.
        let ask = || unsafe { getinfo(VERSION, node, service, 0, hints.first.as_ptr(), &raw mut list) };
        // The first call loads providers, whose libraries may install signal handlers.
        // SAFETY: providers install handlers of their own, and do not free handlers of others.
        let answer = unsafe { keep_signal_handlers(ask) };
        Refused::unless_done("fi_getinfo", answer)?;
        let first = NonNull::new(list).ok_or(refused(FI_ENODATA.cast_signed()))?;
        Ok(Info { library: self, first })
    }
}

impl Info {
    /// The first entry of the list.
    pub fn first(&self) -> InfoEntry<'_> {
        InfoEntry { library: self.library, info: self.first, list: PhantomData }
    }

    /// All entries of the list.
    pub fn entries(&self) -> impl Iterator<Item = InfoEntry<'_>> {
        core::iter::successors(Some(self.first()), |entry| {
            let info = NonNull::new(entry.info().next)?;
            Some(InfoEntry { info, ..*entry })
        })
    }

    /// Writes requirements to the first entry, which is empty and not shared yet. Returns `None` if memory is exhausted.
    fn fill_in(&self, asked: &Hints<'_>) -> Option<()> {
        // SAFETY: libfabric has just made the entry, and nobody else has it.
        let info = unsafe { &mut *self.first.as_ptr() };
        info.caps = asked.capabilities;
        info.mode = asked.mode;
        // SAFETY: `fi_dupinfo` allocates each kind of attributes separately, and nobody else has them.
        let endpoint = unsafe { &mut *info.ep_attr };
        endpoint.type_ = FI_EP_RDM;
        // SAFETY: `fi_dupinfo` allocates each kind of attributes separately, and nobody else has them.
        let domain = unsafe { &mut *info.domain_attr };
        domain.threading = FI_THREAD_SAFE;
        domain.data_progress = FI_PROGRESS_MANUAL;
        domain.resource_mgmt = asked.resources;
        domain.mr_mode = asked.registration.cast_signed();
        if let Some(provider) = asked.provider {
            // SAFETY: `fi_dupinfo` allocates each kind of attributes separately, and nobody else has them.
            let fabric = unsafe { &mut *info.fabric_attr };
            // SAFETY: the name ends with a zero. libfabric frees the copy with the entry.
            fabric.prov_name = NonNull::new(unsafe { libc::strdup(provider.as_ptr()) })?.as_ptr();
        }
        Some(())
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: libfabric has made the list, which is freed once.
        unsafe { (self.library.symbols().fi_freeinfo)(self.first.as_ptr()) };
    }
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $visibility:vis $name:ident = $field:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        $visibility fn $name(self) -> &'i $type {
            // SAFETY: every entry has all attributes (see the field `info`), which live as long as its list.
            unsafe { &*self.info().$field }
        }
    )*};
}

impl<'i> InfoEntry<'i> {
    /// A copy of this entry alone.
    ///
    /// # Panics
    ///
    /// If libfabric is out of memory.
    pub fn copy(self) -> Info {
        // SAFETY: the entry belongs to a list that lives.
        let info = unsafe { (self.library.symbols().fi_dupinfo)(self.info.as_ptr()) };
        let first = NonNull::new(info).expect("libfabric has memory for a copy of a fi_info");
        Info { library: self.library, first }
    }

    /// The libfabric that made the entry.
    pub fn library(self) -> &'static Library {
        self.library
    }

    /// Capabilities of the endpoints that are offered.
    pub fn capabilities(self) -> u64 {
        self.info().caps
    }

    /// The provider's name.
    pub fn provider(self) -> String {
        // SAFETY: the name is null, or a string of an entry that lives.
        unsafe { text(self.fabric().prov_name) }
    }

    /// The network's name.
    pub fn network(self) -> String {
        // SAFETY: the name is null, or a string of an entry that lives.
        unsafe { text(self.fabric().name) }
    }

    /// The interface's name.
    pub fn interface(self) -> String {
        // SAFETY: the name is null, or a string of an entry that lives.
        unsafe { text(self.domain().name) }
    }

    /// The address of the interface in the provider's format. Empty if libfabric reports none.
    pub fn address(self) -> &'i [u8] {
        let info = self.info();
        if info.src_addr.is_null() {
            return &[];
        }
        // SAFETY: the address is not null, and has `src_addrlen` bytes, which live as long as the entry.
        unsafe { core::slice::from_raw_parts(info.src_addr.cast(), info.src_addrlen) }
    }

    /// The format of the provider's addresses.
    pub fn address_format(self) -> u32 {
        self.info().addr_format
    }

    /// The PCI address of the interface: domain, bus, device and function, if libfabric reports it.
    pub fn pci(self) -> Option<(u16, u8, u8, u8)> {
        // SAFETY: the pointer is null, or points to the NIC of an entry that lives.
        let nic = unsafe { self.info().nic.as_ref() }?;
        // SAFETY: the pointer is null, or points to bus attributes that live as long as the NIC.
        let bus = unsafe { nic.bus_attr.as_ref() }?;
        if bus.bus_type != FI_BUS_PCI {
            return None;
        }
        // SAFETY: `bus_type` says that the union has the attributes of PCI.
        let pci = unsafe { bus.attr.pci };
        Some((pci.domain_id, pci.bus_id, pci.device_id, pci.function_id))
    }

    attributes! {
        /// Properties and demands of domains.
        pub domain = domain_attr: fi_domain_attr;
        /// Properties of endpoints.
        pub endpoint = ep_attr: fi_ep_attr;
        /// Limits of outgoing operations.
        pub transmit = tx_attr: fi_tx_attr;
        /// Limits of receives.
        pub receive = rx_attr: fi_rx_attr;
        /// Names of the provider and its network.
        fabric = fabric_attr: fi_fabric_attr;
    }

    pub(super) fn fabric_attributes(self) -> *mut fi_fabric_attr {
        self.info().fabric_attr
    }

    fn info(self) -> &'i fi_info {
        // SAFETY: the entry belongs to a list that lives and that nobody changes.
        unsafe { self.info.as_ref() }
    }

    pub(super) fn as_ptr(self) -> *mut fi_info {
        self.info.as_ptr()
    }
}

/// Copies a C string of libfabric. A null pointer gives an empty string.
///
/// # Safety
///
/// `text` must be null, or end with a zero.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: `text` is not null, and ends with a zero (caller).
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
