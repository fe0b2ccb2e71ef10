//! Which provider, and what it asks for.
//!
//! libfabric offers an entry for each provider, interface and form of address. The first in [`PREFERRED`] that
//! fits is taken: what a provider demands of memory, keys and operations is data that the rest of the
//! transport follows ([`Demands`]), so no provider has code of its own.

use core::ffi::{CStr, c_char};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use super::error::OfiError;
use super::interface::{Bus, Nearness, Offer, is_virtual, node_of};
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
    /// Where the PE runs, for the choice among several interfaces of one network.
    pub near: Nearness,
}

/// Providers by preference. What is not in the list comes after it.
const PREFERRED: [&str; 8] =
    ["cxi", "efa", "psm3", "verbs;ofi_rxm", "opx", "tcp;ofi_rxm", "sockets", "udp;ofi_rxd"];

/// Providers that are taken only if they are named, because they reach no other host or do not do what they
/// say (`net` offers atomics and refuses each).
const NAMED_ONLY: [&str; 5] = ["shm", "sm2", "lnx", "net", "net;ofi_rxm"];

/// Providers whose atomics are delivered whole only if they give a result: `shm` gives the operand's buffer back
/// twice where delivery is asked of one that gives none, and then two operations have it.
const RESULTS_ONLY: [&str; 2] = ["shm", "sm2"];

/// Providers whose atomics are not even tried: `udp;ofi_rxd` dies of those that give a result, while it connects.
const UNTRIED: [&str; 1] = ["udp;ofi_rxd"];

/// Providers that have a connection, which is a file descriptor, between each two endpoints that talk.
const CONNECTING: [&str; 5] = ["tcp;ofi_rxm", "tcp", "sockets", "net", "net;ofi_rxm"];

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
    /// Bytes that an operation may carry so that its source is free at once.
    pub(super) inject: usize,
    /// Bytes of the longest message.
    pub(super) max_message: usize,
    /// Operations that an endpoint takes at a time.
    pub(super) queue: usize,
    /// Receives that an endpoint takes at a time.
    pub(super) receives: usize,
    /// Endpoints that a domain has.
    pub(super) endpoints: usize,
    /// Pieces of memory that an operation may have on either side.
    pub(super) pieces: usize,
    /// Connections are file descriptors.
    pub(super) connects: bool,
    /// Atomics are to give a result, needed or not.
    pub(super) results: bool,
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
        let lists = lists(library);
        let entries: Vec<Entry> = read(&lists);
        let mut wanted: Vec<&Entry> = entries.iter().filter(|entry| entry.is_wanted(options)).collect();
        let best = (0..wanted.len()).min_by_key(|number| wanted[*number].rank());
        let offers: Vec<Offer> = wanted.iter().map(|entry| entry.offer.clone()).collect();
        let best = best.map(|best| wanted.swap_remove(options.near.choose(&offers, best)));
        let Some(best) = best else {
            let (major, minor) = library.version();
            let mut offered: Vec<_> = entries.iter().map(|entry| entry.offer.to_string()).collect();
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
        let Offer { provider, interface, .. } = best.offer.clone();
        Ok(Self { library, info, demands: best.demands(), provider, domain: interface })
    }
}

/// Everything that libfabric offers, once each, and which of it a PE takes, if any fits.
///
/// # Errors
///
/// If there is no libfabric.
pub fn offers(options: &Options) -> Result<(Vec<Offer>, Option<Offer>), OfiError> {
    let library = Library::load(options.library.as_deref())?;
    let lists = lists(library);
    let mut offers: Vec<Offer> = Vec::new();
    for Entry { offer, .. } in read(&lists) {
        if !offers.iter().any(|known| Offer { atomics: known.atomics, ..offer.clone() } == *known) {
            offers.push(offer);
        }
    }
    let chosen = Chosen::find(options).ok();
    let is_chosen = |offer: &&Offer| {
        chosen.as_ref().is_some_and(|one| one.provider == offer.provider && one.domain == offer.interface)
    };
    let chosen = offers.iter().find(is_chosen).cloned();
    Ok((offers, chosen))
}

/// What there is with atomic operations, and what there is without.
fn lists(library: &'static Library) -> [Option<Info>; 2] {
    [FI_ATOMIC, 0].map(|atomics| library.info(&hints(library, atomics)).ok())
}

/// The entries of lists, which must live as long as what is given.
fn read(lists: &[Option<Info>; 2]) -> Vec<Entry> {
    lists.iter().flatten().flat_map(Info::entries).map(Entry::read).collect()
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
    hints
}

/// An entry of libfabric's list, read.
struct Entry {
    info: *const fi_info,
    offer: Offer,
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
        let network = unsafe { text(fabric.name) };
        // SAFETY: as above.
        let interface = unsafe { text(domain) };
        // SAFETY: an address of the form and length that the entry names, or none.
        let address = unsafe { address(info.src_addr.cast(), info.src_addrlen) };
        // SAFETY: an entry of a list that lives.
        let bus = unsafe { bus(info.nic) };
        let node = node_of(Path::new("/"), &interface, bus);
        let atomics = info.caps & u64::from(FI_ATOMIC) != 0;
        let is_virtual = is_virtual(Path::new("/"), &interface);
        let offer = Offer { provider, interface, network, address, node, is_virtual, atomics };
        Self { info: entry, offer }
    }

    fn is_wanted(&self, options: &Options) -> bool {
        let Offer { provider, interface, address, .. } = &self.offer;
        let provider = match &options.provider {
            // `tcp` names `tcp;ofi_rxm`, too.
            Some(name) => provider == name || provider.split(';').next() == Some(name),
            None => !NAMED_ONLY.contains(&provider.as_str()),
        };
        let interface = options
            .interface
            .as_ref()
            .is_none_or(|name| interface == name || address.is_some_and(|address| lies_in(address, name)));
        provider && interface
    }

    /// The lowest is the best. libfabric's own order decides between equals.
    fn rank(&self) -> (usize, bool, u32, bool) {
        let preference = PREFERRED.iter().position(|name| *name == self.offer.provider);
        let far = match self.offer.address {
            None => 0,
            Some(IpAddr::V4(address)) if !address.is_loopback() => 0,
            Some(IpAddr::V6(address)) if !address.is_loopback() && !address.is_unicast_link_local() => 1,
            // Reaches this host only, or needs to be told which link.
            Some(_) => 2,
        };
        (preference.unwrap_or(PREFERRED.len()), !self.offer.atomics, far, self.offer.is_virtual)
    }

    fn demands(&self) -> Demands {
        // SAFETY: an entry of a list that lives.
        let info = unsafe { &*self.info };
        // SAFETY: an entry that `fi_getinfo` gives has all attributes.
        let domain = unsafe { &*info.domain_attr };
        // SAFETY: as above.
        let transmit = unsafe { &*info.tx_attr };
        // SAFETY: as above.
        let receive = unsafe { &*info.rx_attr };
        // SAFETY: as above.
        let endpoint = unsafe { &*info.ep_attr };
        let registration = domain.mr_mode.cast_unsigned();
        Demands {
            local: registration & FI_MR_LOCAL != 0,
            virtual_addresses: registration & FI_MR_VIRT_ADDR != 0,
            provider_keys: registration & FI_MR_PROV_KEY != 0,
            endpoint_bound: registration & FI_MR_ENDPOINT != 0,
            inject: transmit.inject_size,
            max_message: endpoint.max_msg_size,
            queue: transmit.size,
            receives: receive.size.max(1),
            endpoints: domain.ep_cnt,
            pieces: transmit.iov_limit.min(transmit.rma_iov_limit),
            connects: CONNECTING.contains(&self.offer.provider.as_str()),
            results: RESULTS_ONLY.contains(&self.offer.provider.as_str()),
            atomics: self.offer.atomics && !UNTRIED.contains(&self.offer.provider.as_str()),
        }
    }
}

/// Where a network interface is on the bus, if libfabric says so.
///
/// # Safety
///
/// It must be null, or that of an entry of a list that lives.
unsafe fn bus(nic: *const fid_nic) -> Option<Bus> {
    if nic.is_null() {
        return None;
    }
    // SAFETY: an interface of an entry that lives (caller).
    let bus = unsafe { (*nic).bus_attr };
    if bus.is_null() {
        return None;
    }
    // SAFETY: what an interface has of its bus lives as long as it.
    let bus = unsafe { &*bus };
    if bus.bus_type != FI_BUS_PCI {
        return None;
    }
    // SAFETY: that of a PCI bus, as its type says.
    let pci = unsafe { bus.attr.pci };
    Some((pci.domain_id, pci.bus_id, pci.device_id, pci.function_id))
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
