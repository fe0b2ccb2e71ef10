//! Which provider, and what it asks for.
//!
//! libfabric offers an entry for each provider, interface and form of address. The first in [`PREFERRED`] that
//! fits is taken: what a provider demands of memory, keys and operations is data that the rest of the
//! transport follows ([`Demands`]), so no provider has code of its own.

use core::ffi::{CStr, c_char};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::OfiError;
use crate::libfabric::bindings::*;
use crate::libfabric::{Info, Library};

/// How the fabric is to be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The file of libfabric; `None`: the system's.
    pub library: Option<String>,
    /// The provider; `None`: the first that fits.
    pub provider: Option<String>,
    /// The interface, by the name of its domain or as a network (`10.1.0.0/16`); `None`: the first that fits.
    pub interface: Option<String>,
    /// How long something may be outstanding without any progress; `None`: for ever.
    pub timeout: Option<core::time::Duration>,
    /// Whether there is a core for each thread that waits, so that it may spin.
    pub spins: bool,
}

/// Providers by preference. What is not in the list comes after it.
const PREFERRED: [&str; 8] =
    ["cxi", "efa", "psm3", "verbs;ofi_rxm", "opx", "tcp;ofi_rxm", "sockets", "udp;ofi_rxd"];

/// Providers that are taken only if they are named, because they reach no other host or do not do what they
/// say (`net` offers atomics and refuses each).
const NAMED_ONLY: [&str; 5] = ["shm", "sm2", "lnx", "net", "net;ofi_rxm"];

/// What the transport can do for a provider.
const MR_MODES: u32 = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

/// What a provider asks for, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Demands {
    /// Local memory must be registered.
    pub(super) local: bool,
    /// Remote memory is addressed as its owner does, instead of from 0 on.
    pub(super) virtual_addresses: bool,
    /// The provider chooses keys.
    pub(super) provider_keys: bool,
    /// Registered memory is bound to an endpoint.
    pub(super) endpoint_bound: bool,
    /// Each operation has memory of the provider's own.
    pub(super) contexts: bool,
    /// Bytes that an operation may carry so that its source is free at once.
    pub(super) inject: usize,
    /// Bytes of the longest message.
    pub(super) max_message: usize,
    /// Operations that an endpoint takes at a time.
    pub(super) queue: usize,
    /// Endpoints that a domain has.
    pub(super) endpoints: usize,
    /// Whether it has atomics, by what it says.
    pub(super) atomics: bool,
}

/// The entry that was chosen.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) library: &'static Library,
    pub(super) info: Info,
    pub(super) provider: String,
    pub(super) domain: String,
    pub(super) demands: Demands,
}

impl Chosen {
    pub(super) fn find(options: &Options) -> Result<Self, OfiError> {
        let library = Library::load(options.library.as_deref())?;
        let lists = [FI_ATOMIC, 0].map(|atomics| library.info(&hints(library, atomics)));
        let entries = || lists.iter().flatten().flat_map(Info::entries).map(Entry::read);
        let wanted = |entry: &Entry| entry.is_wanted(options);
        let best = entries().filter(wanted).min_by_key(Entry::rank);
        let Some(best) = best else {
            let (major, minor) = library.version();
            let mut offered: Vec<_> = entries().map(|entry| entry.to_string()).collect();
            offered.sort();
            offered.dedup();
            return Err(OfiError::NoProvider {
                version: format!("{major}.{minor}"),
                asked: options.describe(),
                offered: if offered.is_empty() { "none".to_owned() } else { offered.join(", ") },
            });
        };
        let list = lists.iter().flatten().next().unwrap_or_else(|| unreachable!("an entry of some list"));
        // SAFETY: an entry of a list that lives until the end of this function.
        let info = unsafe { list.copy_of(best.info) };
        Ok(Self { library, info, demands: best.demands(), provider: best.provider, domain: best.domain })
    }
}

impl Options {
    fn describe(&self) -> String {
        let named = [("SHMEM_OFI_PROVIDER", &self.provider), ("SHMEM_OFI_INTERFACE", &self.interface)];
        let mut asked = vec!["RDM endpoints with RMA".to_owned()];
        asked.extend(named.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?))));
        asked.join(", ")
    }
}

/// What is asked of every provider.
fn hints(library: &'static Library, atomics: u32) -> Info {
    let hints = library.hints();
    // SAFETY: hints that nobody else knows of.
    let info = unsafe { &mut *hints.as_ptr() };
    info.caps = u64::from(FI_MSG | FI_RMA | atomics);
    info.mode = FI_CONTEXT | FI_CONTEXT2;
    // SAFETY: `fi_dupinfo` allocates all attributes.
    let endpoint = unsafe { &mut *info.ep_attr };
    endpoint.type_ = FI_EP_RDM;
    // SAFETY: as above.
    let domain = unsafe { &mut *info.domain_attr };
    domain.threading = FI_THREAD_SAFE;
    domain.data_progress = FI_PROGRESS_MANUAL;
    domain.resource_mgmt = FI_RM_ENABLED;
    domain.mr_mode = MR_MODES.cast_signed();
    // SAFETY: as above.
    let transmit = unsafe { &mut *info.tx_attr };
    // The engine's messages of one PE to another arrive in order.
    transmit.msg_order = FI_ORDER_SAS.into();
    // SAFETY: as above.
    let receive = unsafe { &mut *info.rx_attr };
    receive.msg_order = FI_ORDER_SAS.into();
    hints
}

/// An entry of libfabric's list, read.
struct Entry {
    info: *const fi_info,
    provider: String,
    domain: String,
    address: Option<IpAddr>,
}

impl Entry {
    fn read(entry: *mut fi_info) -> Self {
        // SAFETY: an entry of a list that lives (`Info::entries`).
        let info = unsafe { &*entry };
        // SAFETY: an entry that `fi_getinfo` gives has all attributes.
        let fabric = unsafe { &*info.fabric_attr };
        // SAFETY: as above.
        let domain = unsafe { (*info.domain_attr).name };
        // SAFETY: a text of libfabric, or none.
        let provider = unsafe { text(fabric.prov_name) };
        // SAFETY: as above.
        let domain = unsafe { text(domain) };
        // SAFETY: an address of the form and length that the entry names, or none.
        let address = unsafe { address(info.src_addr.cast(), info.src_addrlen) };
        Self { info: entry, provider, domain, address }
    }

    fn is_wanted(&self, options: &Options) -> bool {
        let provider = match &options.provider {
            // `tcp` names `tcp;ofi_rxm`, too.
            Some(name) => self.provider == *name || self.provider.split(';').next() == Some(name),
            None => !NAMED_ONLY.contains(&self.provider.as_str()),
        };
        let interface = options.interface.as_ref().is_none_or(|name| {
            self.domain == *name || self.address.is_some_and(|address| lies_in(address, name))
        });
        provider && interface
    }

    /// The lowest is the best. libfabric's own order decides between equals.
    fn rank(&self) -> (usize, bool, u32) {
        let preference = PREFERRED.iter().position(|name| *name == self.provider);
        // SAFETY: an entry of a list that lives.
        let caps = unsafe { (*self.info).caps };
        let far = match self.address {
            None => 0,
            Some(IpAddr::V4(address)) if !address.is_loopback() => 0,
            Some(IpAddr::V6(address)) if !address.is_loopback() && !address.is_unicast_link_local() => 1,
            // Reaches this host only, or needs to be told which link.
            Some(_) => 2,
        };
        (preference.unwrap_or(PREFERRED.len()), caps & u64::from(FI_ATOMIC) == 0, far)
    }

    fn demands(&self) -> Demands {
        // SAFETY: an entry of a list that lives.
        let info = unsafe { &*self.info };
        // SAFETY: an entry that `fi_getinfo` gives has all attributes.
        let domain = unsafe { &*info.domain_attr };
        // SAFETY: as above.
        let transmit = unsafe { &*info.tx_attr };
        // SAFETY: as above.
        let endpoint = unsafe { &*info.ep_attr };
        let registration = domain.mr_mode.cast_unsigned();
        Demands {
            local: registration & FI_MR_LOCAL != 0,
            virtual_addresses: registration & FI_MR_VIRT_ADDR != 0,
            provider_keys: registration & FI_MR_PROV_KEY != 0,
            endpoint_bound: registration & FI_MR_ENDPOINT != 0,
            contexts: (info.mode | transmit.mode) & (FI_CONTEXT | FI_CONTEXT2) != 0,
            inject: transmit.inject_size,
            max_message: endpoint.max_msg_size,
            queue: transmit.size,
            endpoints: domain.ep_cnt,
            atomics: info.caps & u64::from(FI_ATOMIC) != 0,
        }
    }
}

impl core::fmt::Display for Entry {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} on {}", self.provider, self.domain)?;
        self.address.map_or(Ok(()), |address| write!(f, " ({address})"))
    }
}

/// A text of libfabric.
///
/// # Safety
///
/// It must end with a zero, or be null.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The address in a socket's address, if it is one of the internet.
///
/// # Safety
///
/// `bytes` bytes must be readable, or the pointer null.
unsafe fn address(from: *const u8, bytes: usize) -> Option<IpAddr> {
    if from.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { core::slice::from_raw_parts(from, bytes) };
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    match i32::from(family) {
        libc::AF_INET => {
            let four: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(Ipv4Addr::from(four).into())
        }
        libc::AF_INET6 => {
            let sixteen: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(Ipv6Addr::from(sixteen).into())
        }
        _ => None,
    }
}

/// Whether an address lies in a network, `10.1.0.0/16`, or is the address.
fn lies_in(address: IpAddr, network: &str) -> bool {
    let (base, bits) = match network.split_once('/') {
        Some((base, bits)) => (base, bits.parse().ok()),
        None => (network, Some(u32::MAX)),
    };
    let (Ok(base), Some(bits)) = (base.parse(), bits) else { return false };
    let (address, base, width) = match (address, base) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    let host = u32::saturating_sub(width, bits);
    address.checked_shr(host) == base.checked_shr(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_the_addresses_that_share_its_bits() {
        let lies = |address: &str, network| lies_in(address.parse().unwrap(), network);
        assert!(lies("10.77.0.3", "10.77.0.0/24") && lies("10.77.0.3", "10.77.0.3"));
        assert!(!lies("10.78.0.3", "10.77.0.0/24") && lies("10.78.0.3", "0.0.0.0/0"));
        assert!(lies("fd00::1", "fd00::/16") && lies("fd00::1", "::/0") && !lies("fe80::1", "fd00::/16"));
        for none in ["eth0", "10.77.0.0/x", "10.77.0/24", "fd00::/16", ""] {
            assert!(!lies("10.77.0.3", none), "{none}");
        }
    }
}
