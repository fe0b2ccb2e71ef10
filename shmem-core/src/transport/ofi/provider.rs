//! The choice of the provider, and its demands.
//!
//! libfabric offers an entry for each provider, interface and form of address. The first provider of [`KNOWN`] that fits is chosen.
//! The transport follows its [`Demands`], so no provider has code of its own.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use ipnet::IpNet;

use super::engine::Limits;
use super::error::OfiError;
use super::interface::{Nearness, Offer, is_virtual, node_of};
use super::lent_buffers;
use super::strided::Row;
use crate::libfabric::bindings::*;
use crate::libfabric::{Hints, Info, InfoEntry, Library};

/// Options of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// File name of libfabric; `None`: the system's library.
    pub library: Option<String>,
    /// Name of the provider; `None`: the first that fits.
    pub provider: Option<String>,
    /// Name of the interface (its domain), or its network (`10.1.0.0/16`), or several with commas; `None`: the first that fits.
    pub interface: Option<String>,
    /// Upper limit on the time in which an operation in flight makes no progress; `None`: no limit.
    pub timeout: Option<core::time::Duration>,
    /// Whether there is a core for each thread that waits, so that it may spin.
    pub spins: bool,
    /// Location of the PE, to choose among interfaces of one network.
    pub near: Nearness,
}

/// Properties that a provider does not report. `docs/fabrics.md` has a table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    name: &'static str,
    /// Whether two endpoints that communicate have a connection, which needs a file descriptor.
    pub(super) connects: bool,
    /// Whether messages from a PE whose address was not entered are accepted, so that addresses are entered on first use.
    /// `udp;ofi_rxd` crashes on such messages. Other providers are untested.
    pub(super) late: bool,
    /// Whether the provider's atomics are never used. `udp;ofi_rxd` crashes on an atomic with a result while it connects. `shm`
    /// frees the operand's buffer twice if an atomic without a result requests delivery.
    is_untried: bool,
    pub(super) limits: Limits,
    pub(super) row: Row,
}

/// Known providers, best first: the first that is offered is chosen. Other providers are chosen only by name, because they reach no
/// other host, break promises (`net` offers atomics and refuses each), or are unknown.
const KNOWN: [Known; 9] = [
    Known::of("cxi", Row { byte: 40, ..Row::HARDWARE }),
    Known::of("efa", Row { latency: 15_000_000, operation: 600_000, ..Row::HARDWARE }),
    Known::of("psm3", Row { operation: 400_000, ..Row::HARDWARE }),
    Known { late: true, ..Known::of("verbs;ofi_rxm", Row::HARDWARE) },
    Known::of("opx", Row::HARDWARE),
    Known { connects: true, late: true, limits: OVER_TCP, ..Known::of("tcp;ofi_rxm", Row::TCP) },
    Known {
        connects: true,
        late: true,
        ..Known::of("sockets", Row { latency: 10_000_000, operation: 9_000_000, ..Row::TCP })
    },
    Known {
        is_untried: true,
        ..Known::of("udp;ofi_rxd", Row { latency: 7_500_000, operation: 5_000_000, byte: 4_000, ..Row::TCP })
    },
    Known { connects: true, ..Known::of("tcp", Row::TCP) },
];

/// The provider `shm`, which reaches this host only.
const SHM: Known = Known {
    is_untried: true,
    ..Known::of("shm", Row { latency: 1_000_000, engine: 500_000, operation: 700_000, byte: 100, ..Row::TCP })
};

/// Limits for ofi_rxm, which sends messages of at most 16 KiB eagerly. Longer ones are read by the receiver, which takes one more
/// round trip, and needs a key. Over tcp, these keys are consecutive numbers, which anybody can guess.
const OF_RXM: Limits = Limits { message: 16 << 10, ..Limits::DEFAULT };

/// Limits over tcp, where writes to bounce slots (buffers that the target lends) are faster than ofi_rxm's messages, short and
/// long.
const OVER_TCP: Limits = Limits { grants: lent_buffers::MOST, slot: 65 << 10, ..OF_RXM };

impl Known {
    const fn of(name: &'static str, row: Row) -> Self {
        let bytes = name.as_bytes();
        let is_rxm = bytes.len() > 3 && matches!(bytes.split_at(bytes.len() - 3).1, b"rxm");
        Self {
            name,
            connects: false,
            late: false,
            is_untried: false,
            limits: if is_rxm { OF_RXM } else { Limits::DEFAULT },
            row,
        }
    }

    pub(super) fn about(provider: &str) -> Self {
        let mut all = KNOWN.into_iter().chain([SHM, Known { name: "sm2", ..SHM }]);
        all.find(|known| known.name == provider).unwrap_or_else(|| {
            // A layer over a known provider has that provider's costs.
            let core = provider.split(';').next();
            let like = KNOWN.into_iter().find(|known| known.name.split(';').next() == core);
            let name = if provider.ends_with("ofi_rxm") { "ofi_rxm" } else { "" };
            Self::of(name, like.map_or(Row::HARDWARE, |known| known.row))
        })
    }
}

/// Modes of memory registration that the transport supports.
const MR_MODES: u32 = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

/// The demands of a provider, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Demands {
    /// Whether local memory must be registered.
    pub(super) local: bool,
    /// Whether remote memory is addressed by virtual addresses of its owner, and not from 0 on.
    pub(super) virtual_addresses: bool,
    pub(super) provider_keys: bool,
    pub(super) endpoint_bound: bool,
    /// Upper limit on the bytes of an injected operation.
    pub(super) inject: usize,
    pub(super) max_message: usize,
    /// Upper limit on an endpoint's operations in flight.
    pub(super) queue: usize,
    /// Upper limit on an endpoint's posted receives.
    pub(super) receives: usize,
    pub(super) endpoints: usize,
    pub(super) key: usize,
    /// Bytes of data that a write may carry to the target's queue.
    pub(super) cq_data: usize,
    /// Properties that the provider does not report.
    pub(super) known: Known,
    /// Whether the provider's atomics are tested, and used if they pass: they are offered, and not known to fail
    /// (`Known::is_untried`).
    pub(super) atomics: bool,
}

impl Demands {
    fn of(entry: InfoEntry<'_>, offer: &Offer) -> Self {
        let (domain, transmit, known) = (entry.domain(), entry.transmit(), Known::about(&offer.provider));
        let asks = |mode: u32| domain.mr_mode.cast_unsigned() & mode != 0;
        Self {
            local: asks(FI_MR_LOCAL),
            virtual_addresses: asks(FI_MR_VIRT_ADDR),
            provider_keys: asks(FI_MR_PROV_KEY),
            endpoint_bound: asks(FI_MR_ENDPOINT),
            inject: transmit.inject_size,
            max_message: entry.endpoint().max_msg_size,
            queue: transmit.size,
            receives: entry.receive().size.max(1),
            endpoints: domain.ep_cnt,
            key: domain.mr_key_size,
            cq_data: domain.cq_data_size,
            atomics: offer.atomics && !known.is_untried,
            known,
        }
    }

    /// Chooses a provider and an interface. Returns a copy of libfabric's entry for them, the offer that the entry describes, and
    /// the provider's demands.
    ///
    /// # Safety
    ///
    /// As [`Ofi::open`](super::Ofi::open).
    pub(super) unsafe fn find(options: &Options) -> Result<(Info, Offer, Self), OfiError> {
        // SAFETY: the caller's promise.
        let library = unsafe { Library::load(options.library.as_deref()) }?;
        let lists = lists(library);
        let entries = read(&lists);
        let Some(Offered { entry, offer, .. }) = choose(&entries, options) else {
            let (major, minor) = library.version();
            let named =
                [("SHMEM_OFI_PROVIDER", &options.provider), ("SHMEM_OFI_INTERFACE", &options.interface)];
            let named = named.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
            let asked: Vec<_> = ["RDM endpoints with RMA".to_owned()].into_iter().chain(named).collect();
            let mut offered: Vec<_> = entries.iter().map(|entry| entry.offer.to_string()).collect();
            offered.sort();
            offered.dedup();
            let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
            return Err(OfiError(format!(
                "no provider of libfabric {major}.{minor} fits {}; here are: {offered}. Name one with SHMEM_OFI_PROVIDER and an \
                 interface of it with SHMEM_OFI_INTERFACE, or unset both",
                asked.join(", ")
            )));
        };
        Ok((entry.copy(), offer.clone(), Self::of(*entry, offer)))
    }
}

/// Returns all offers of libfabric, and the offer that a PE chooses, if any fits.
///
/// # Errors
///
/// If there is no libfabric.
///
/// # Safety
///
/// The library that the options name must be libfabric.
pub unsafe fn offers(options: &Options) -> Result<(Vec<Offer>, Option<Offer>), OfiError> {
    // SAFETY: the caller's promise.
    let library = unsafe { Library::load(options.library.as_deref()) }?;
    let lists = lists(library);
    let entries = read(&lists);
    let chosen = choose(&entries, options).map(|Offered { offer, .. }| (&offer.provider, &offer.interface));
    let mut offers: Vec<Offer> = Vec::new();
    for Offered { offer, .. } in &entries {
        if !offers.iter().any(|known| Offer { atomics: known.atomics, ..offer.clone() } == *known) {
            offers.push(offer.clone());
        }
    }
    let chosen = offers.iter().find(|offer| chosen == Some((&offer.provider, &offer.interface))).cloned();
    Ok((offers, chosen))
}

/// The entry that a PE chooses, if any fits.
fn choose<'e, 'l>(entries: &'e [Offered<'l>], options: &Options) -> Option<&'e Offered<'l>> {
    let wanted: Vec<_> = entries.iter().filter(|entry| entry.is_wanted(options)).collect();
    let best = (0..wanted.len()).min_by_key(|number| wanted[*number].rank())?;
    let offers: Vec<Offer> = wanted.iter().map(|entry| entry.offer.clone()).collect();
    let lists = options.interface.as_ref().is_some_and(|names| names.contains(','));
    Some(wanted[options.near.choose(&offers, best, lists)])
}

/// libfabric's entries for endpoints with atomic operations, and for those without.
fn lists(library: &'static Library) -> [Option<Info>; 2] {
    [FI_ATOMIC, 0].map(|atomics| {
        let asked = Hints {
            capabilities: u64::from(FI_MSG | FI_RMA | atomics),
            mode: FI_CONTEXT | FI_CONTEXT2,
            registration: MR_MODES,
            resources: FI_RM_ENABLED,
            ..Hints::default()
        };
        library.offers(&asked).ok()
    })
}

fn read(lists: &[Option<Info>; 2]) -> Vec<Offered<'_>> {
    lists.iter().flatten().flat_map(Info::entries).map(Offered::read).collect()
}

struct Offered<'l> {
    entry: InfoEntry<'l>,
    offer: Offer,
}

impl<'l> Offered<'l> {
    fn read(entry: InfoEntry<'l>) -> Self {
        let (provider, network, interface) = (entry.provider(), entry.network(), entry.interface());
        let address = address(entry.address());
        let node = node_of(Path::new("/"), &interface, entry.pci());
        let atomics = entry.capabilities() & u64::from(FI_ATOMIC) != 0;
        let is_virtual = is_virtual(Path::new("/"), &interface);
        Self { entry, offer: Offer { provider, interface, network, address, node, is_virtual, atomics } }
    }

    fn is_wanted(&self, options: &Options) -> bool {
        let Offer { provider, interface, address, .. } = &self.offer;
        let provider = match &options.provider {
            // `tcp` names `tcp;ofi_rxm`, too.
            Some(name) => provider == name || provider.split(';').next() == Some(name),
            None => KNOWN.iter().any(|known| known.name == provider),
        };
        let is_named =
            |name: &str| interface == name || address.is_some_and(|address| lies_in(address, name));
        let interface =
            options.interface.as_ref().is_none_or(|names| names.split(',').map(str::trim).any(is_named));
        provider && interface
    }

    /// Rank of an offer: the lowest is the best. libfabric's order decides between equal ranks.
    fn rank(&self) -> (usize, bool, u32, bool) {
        let preference = KNOWN.iter().position(|known| known.name == self.offer.provider);
        let reach = match self.offer.address {
            None => 0,
            Some(IpAddr::V4(address)) if !address.is_loopback() => 0,
            Some(IpAddr::V6(address)) if !address.is_loopback() && !address.is_unicast_link_local() => 1,
            // Last in rank: a loopback address reaches this host only, and a link-local one needs the name of its link.
            Some(_) => 2,
        };
        (preference.unwrap_or(KNOWN.len()), !self.offer.atomics, reach, self.offer.is_virtual)
    }
}

/// The IP address in a socket address, if any.
fn address(bytes: &[u8]) -> Option<IpAddr> {
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

/// Whether an address is in `network`, which is a network such as `10.1.0.0/16`, or one address.
fn lies_in(address: IpAddr, network: &str) -> bool {
    let network = network.parse::<IpNet>().or_else(|_| network.parse::<IpAddr>().map(IpNet::from));
    network.is_ok_and(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layer over a known provider has its costs, an unknown provider is hardware; and the document has the table.
    #[test]
    fn properties_of_providers_are_documented() {
        let known = |name| Known::about(name);
        assert!(!known("something new").connects && known("something new").row == Row::HARDWARE);
        assert_eq!(known("another;ofi_rxm").limits, OF_RXM);
        // A package has no documents.
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/fabrics.md");
        let Ok(text) = std::fs::read_to_string(file) else { return };
        for (number, known) in KNOWN.iter().chain([&SHM]).enumerate() {
            let yes = |is: bool| if is { " yes" } else { "" };
            let taken =
                if number < KNOWN.len() { (number + 1).to_string() } else { "if it is named".to_owned() };
            let atomics = if known.is_untried { " not tried" } else { "" };
            let Limits { message, grants, .. } = known.limits;
            let line = format!(
                "| `{}` | {taken} |{} |{} |{atomics} | {} |{} |",
                known.name,
                yes(known.connects),
                yes(known.late),
                message >> 10,
                yes(grants > 0)
            );
            assert!(text.contains(&line), "docs/fabrics.md lacks: {line}");
        }
    }
}
