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
        let peers = (0..pes).map(|_| AtomicU64::new(FI_ADDR_NOTAVAIL)).collect();
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

    /// The address of an endpoint, for other PEs: behind the provider's name, which must be theirs, too.
    pub(super) fn address_of(&self, endpoint: &Object<fid_ep>) -> Result<Vec<u8>, OfiError> {
        let mut bytes = vec![0; ADDRESS_BYTES];
        let mut length = bytes.len();
        // SAFETY: an enabled endpoint, and room for as many bytes as `length` says.
        let error = unsafe { calls::getname(endpoint.raw(), bytes.as_mut_ptr().cast(), &raw mut length) };
        if error != 0 {
            return Err(self.refused("fi_getname", -error));
        }
        bytes.truncate(length);
        Ok([self.provider.as_bytes(), &[0], &bytes].concat())
    }

    /// PEs that are reached through the fabric.
    pub(super) fn peers_known(&self) -> usize {
        self.peers.iter().filter(|peer| peer.load(Ordering::Relaxed) != FI_ADDR_NOTAVAIL).count()
    }

    /// Learns where a PE is, by what [`address_of`](Self::address_of) has given there, and `own` here.
    pub(super) fn learn(&self, pe: usize, said: &[u8], own: &[u8]) -> Result<(), OfiError> {
        let head = self.provider.len() + 1;
        // The provider reads as many bytes as its addresses have.
        let address = match said.get(head..) {
            Some(address) if said.len() == own.len() && said[..head] == own[..head] => address,
            _ => return Err(OfiError::Elsewhere { pe, theirs: describe(said), ours: describe(own) }),
        };
        let mut found = FI_ADDR_NOTAVAIL;
        let (from, to) = (address.as_ptr().cast::<c_void>(), &raw mut found);
        // SAFETY: an address that an endpoint of the same provider has given, as long as ours; one is inserted.
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
        let unknown = || "an unknown address".to_owned();
        // ofi_rxm does not survive being asked for what is not there.
        if self.peer(pe) == FI_ADDR_NOTAVAIL {
            return unknown();
        }
        let (mut raw, mut raw_length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let (mut text, mut length) = ([0_u8; ADDRESS_BYTES], ADDRESS_BYTES);
        let (to, addresses) = (raw.as_mut_ptr().cast::<c_void>(), self.addresses.raw());
        // SAFETY: an open table, and room for as many bytes as is said.
        if unsafe { calls::av_lookup(addresses, self.peer(pe), to, &raw mut raw_length) } != 0 {
            return unknown();
        }
        let to = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: an address that the table has given, and room for as many bytes as is said.
        unsafe { calls::av_straddr(addresses, raw.as_ptr().cast(), to, &raw mut length) };
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}

/// The provider and the kind of addresses in what a PE says of where it is.
fn describe(said: &[u8]) -> String {
    let mut parts = said.splitn(2, |byte| *byte == 0);
    let provider = String::from_utf8_lossy(parts.next().unwrap_or_default());
    format!("{provider} with addresses of {} bytes", parts.next().unwrap_or_default().len())
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

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::provider::Options;
    use super::*;

    fn options(provider: &str) -> Options {
        let (provider, interface) = (Some(provider.to_owned()), Some("lo".to_owned()));
        Options { provider, interface, ..Options::default() }
    }

    #[test]
    fn libfabric_is_not_asked_for_pes_that_it_does_not_know() {
        match Chosen::find(&options("tcp;ofi_rxm")) {
            Ok(chosen) => {
                assert_eq!(Domain::open(chosen, 2).unwrap().place_of(1), "an unknown address");
            }
            Err(why) => eprintln!("skipped: {why}"),
        }
    }

    #[test]
    fn addresses_of_another_provider_or_length_are_refused() {
        let domain = match Chosen::find(&options("tcp;ofi_rxm")) {
            Ok(chosen) => Domain::open(chosen, 4).unwrap(),
            Err(why) => return eprintln!("skipped: {why}"),
        };
        let four = |port: u8| [2, 0, 0, port, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let of = |provider: &str, address: &[u8]| [provider.as_bytes(), &[0], address].concat();
        let own = of("tcp;ofi_rxm", &four(1));
        assert_eq!(domain.learn(1, &of("tcp;ofi_rxm", &four(2)), &own), Ok(()));
        let theirs = [
            of("sockets", &four(2)),
            of("tcp;ofi_rxm", &[four(2).as_slice(), &four(2)].concat()),
            of("tcp;ofi_rxm", &[2]),
            b"tcp;of".to_vec(),
            Vec::new(),
        ];
        for said in theirs {
            let error = domain.learn(3, &said, &own).unwrap_err().to_string();
            assert!(error.starts_with("PE 3 is reached by ") && error.contains(&describe(&own)), "{error}");
        }
        assert_eq!(domain.place_of(3), "an unknown address");
    }
}
