//! What all endpoints of a PE share: the domain of one interface, the addresses of all PEs, registered
//! memory.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use super::error::OfiError;
use super::object::Object;
use super::provider::{Chosen, Demands};
use crate::libfabric::bindings::*;
use crate::libfabric::{Info, Library, calls};

/// Most bytes of an endpoint's address.
const ADDRESS_BYTES: usize = 256;

/// The domain. Fields are closed in order.
#[derive(Debug)]
pub(super) struct Domain {
    addresses: Object<fid_av>,
    domain: Object<fid_domain>,
    fabric: Object<fid_fabric>,
    info: Info,
    /// Where each PE is found in `addresses`.
    peers: Box<[AtomicU64]>,
    pub(super) library: &'static Library,
    pub(super) provider: String,
    pub(super) interface: String,
    pub(super) demands: Demands,
}

impl Domain {
    pub(super) fn open(chosen: Chosen, pes: usize) -> Result<Self, OfiError> {
        let Chosen { library, info, provider, domain: interface, demands } = chosen;
        let refused = |call, error| OfiError::refused(library, &provider, call, error);
        let entry = info.as_ptr();
        // SAFETY: the one entry of this list.
        let fabric = unsafe { library.fabric(entry) }.map_err(|error| refused("fi_fabric", error))?;
        // SAFETY: it was opened just now.
        let fabric = unsafe { Object::new(fabric) };
        let domain = made(|domain| {
            // SAFETY: an open fabric, and the entry that it was opened by.
            unsafe { calls::domain(fabric.raw(), entry, domain, core::ptr::null_mut()) }
        });
        // SAFETY: it was opened just now, from a fabric that is closed after it.
        let domain = unsafe { Object::new(domain.map_err(|error| refused("fi_domain", error))?) };
        // SAFETY: all zeroes ask for nothing.
        let mut attributes: fi_av_attr = unsafe { core::mem::zeroed() };
        attributes.type_ = FI_AV_TABLE;
        attributes.count = pes;
        let addresses = made(|addresses| {
            // SAFETY: an open domain; the attributes are read during the call.
            unsafe { calls::av_open(domain.raw(), &raw mut attributes, addresses, core::ptr::null_mut()) }
        });
        // SAFETY: it was opened just now, from a domain that is closed after it.
        let addresses = unsafe { Object::new(addresses.map_err(|error| refused("fi_av_open", error))?) };
        let peers = (0..pes).map(|_| AtomicU64::new(u64::MAX)).collect();
        Ok(Self { addresses, domain, fabric, info, peers, library, provider, interface, demands })
    }

    pub(super) fn refused(&self, call: &'static str, error: c_int) -> OfiError {
        OfiError::refused(self.library, &self.provider, call, error)
    }

    pub(super) fn raw(&self) -> *mut fid_domain {
        self.domain.raw()
    }

    pub(super) fn fabric(&self) -> *mut fid_fabric {
        self.fabric.raw()
    }

    pub(super) fn entry(&self) -> *mut fi_info {
        self.info.as_ptr()
    }

    /// The addresses, to bind endpoints to.
    pub(super) fn addresses(&self) -> &Object<fid_av> {
        &self.addresses
    }

    /// How a PE is addressed.
    #[inline(always)]
    pub(super) fn peer(&self, pe: usize) -> fi_addr_t {
        self.peers[pe].load(Ordering::Relaxed)
    }

    /// The address of an endpoint, for other PEs.
    pub(super) fn address_of(&self, endpoint: &Object<fid_ep>) -> Result<Vec<u8>, OfiError> {
        let mut bytes = vec![0; ADDRESS_BYTES];
        let mut length = bytes.len();
        // SAFETY: an enabled endpoint, and room for as many bytes as `length` says.
        let error = unsafe { calls::getname(endpoint.raw(), bytes.as_mut_ptr().cast(), &raw mut length) };
        if error != 0 {
            return Err(self.refused("fi_getname", -error));
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// PEs that are reached through the fabric.
    pub(super) fn peers_known(&self) -> usize {
        self.peers.iter().filter(|peer| peer.load(Ordering::Relaxed) != FI_ADDR_NOTAVAIL).count()
    }

    /// Learns where a PE is.
    pub(super) fn learn(&self, pe: usize, address: &[u8]) -> Result<(), OfiError> {
        let mut found = FI_ADDR_NOTAVAIL;
        let (from, to) = (address.as_ptr().cast::<c_void>(), &raw mut found);
        // SAFETY: an address that an endpoint of the same provider has given; one is inserted.
        let inserted =
            unsafe { calls::av_insert(self.addresses.raw(), from, 1, to, 0, core::ptr::null_mut()) };
        if inserted != 1 {
            return Err(self.refused("fi_av_insert", if inserted < 0 { -inserted } else { libc::EINVAL }));
        }
        self.peers[pe].store(found, Ordering::Relaxed);
        Ok(())
    }

    /// Where a PE is, for messages.
    pub(super) fn place_of(&self, pe: usize) -> String {
        let (mut raw, mut raw_length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let (mut text, mut length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let (to, addresses) = (raw.as_mut_ptr().cast::<c_void>(), self.addresses.raw());
        // SAFETY: an open table, and room for as many bytes as is said.
        if unsafe { calls::av_lookup(addresses, self.peer(pe), to, &raw mut raw_length) } != 0 {
            return "an unknown address".to_owned();
        }
        let to = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: an address that the table has given, and room for as many bytes as is said.
        unsafe { calls::av_straddr(addresses, raw.as_ptr().cast(), to, &raw mut length) };
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}

/// What a call of libfabric makes.
pub(super) fn made<T>(make: impl FnOnce(*mut *mut T) -> c_int) -> Result<*mut T, c_int> {
    let mut object = core::ptr::null_mut();
    match make(&raw mut object) {
        0 => Ok(object),
        error => Err(-error),
    }
}

/// `FI_ADDR_NOTAVAIL`, which bindgen leaves out: a number with a cast.
const FI_ADDR_NOTAVAIL: fi_addr_t = u64::MAX;
