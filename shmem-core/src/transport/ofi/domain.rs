//! What all endpoints of a PE share: the domain of one interface, the addresses of all PEs, registered
//! memory.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::error::OfiError;
use super::names::Names;
use super::provider::{Chosen, Demands};
use super::secret::Secret;
use crate::libfabric::bindings::fi_addr_t;
use crate::libfabric::{self, Addresses, Endpoint, Library, Refused};

/// The domain.
#[derive(Debug)]
pub(super) struct Domain {
    addresses: Arc<Addresses>,
    /// Where each PE is found in `addresses`.
    peers: Box<[AtomicU64]>,
    pub(super) provider: String,
    pub(super) interface: String,
    pub(super) demands: Demands,
    /// What memory is registered under.
    pub(super) names: Names,
}

impl Domain {
    /// Bytes for each PE.
    pub(super) const FOR_EACH_PE: usize = size_of::<AtomicU64>();

    pub(super) fn open(chosen: Chosen, pes: usize, secret: Secret) -> Result<Self, OfiError> {
        let Chosen { info, provider, domain: interface, demands } = chosen;
        let entry = info.first();
        let refused = |refused| OfiError::refused(entry.library(), &provider, refused);
        let opened = libfabric::Domain::open(entry).map_err(refused)?;
        let addresses = Addresses::open(&opened, pes.min(Addresses::MOST_AT_FIRST)).map_err(refused)?;
        let peers = peers(pes);
        let names = Names::new(secret, demands.key);
        Ok(Self { addresses, peers, provider, interface, demands, names })
    }

    pub(super) fn refused(&self, refused: Refused) -> OfiError {
        OfiError::refused(self.library(), &self.provider, refused)
    }

    pub(super) fn library(&self) -> &'static Library {
        self.opened().library()
    }

    pub(super) fn opened(&self) -> &Arc<libfabric::Domain> {
        self.addresses.domain()
    }

    /// The addresses that endpoints are to know.
    pub(super) fn addresses(&self) -> &Arc<Addresses> {
        &self.addresses
    }

    /// How a PE is addressed.
    #[inline(always)]
    pub(super) fn peer(&self, pe: usize) -> fi_addr_t {
        self.peers[pe].load(Ordering::Relaxed)
    }

    /// The address of an endpoint, for other PEs: behind the provider's name, which must be theirs, too.
    pub(super) fn address_of(&self, endpoint: &Endpoint) -> Result<Vec<u8>, OfiError> {
        let name = endpoint.name().map_err(|refused| self.refused(refused))?;
        Ok([self.provider.as_bytes(), &[0], &name].concat())
    }

    /// Whether it is known where a PE is. Providers do not survive being asked to send to where nobody is.
    #[inline(always)]
    pub(super) fn knows(&self, pe: usize) -> bool {
        self.peer(pe) != FI_ADDR_NOTAVAIL
    }

    /// PEs that are reached through the fabric.
    pub(super) fn peers_known(&self) -> usize {
        (0..self.peers.len()).filter(|pe| self.knows(*pe)).count()
    }

    /// Learns where a PE is, by what [`address_of`](Self::address_of) has given there, and `own` here.
    pub(super) fn learn(&self, pe: usize, said: &[u8], own: &[u8]) -> Result<(), OfiError> {
        let head = self.provider.len() + 1;
        // The provider reads as many bytes as its addresses have.
        let address = match said.get(head..) {
            Some(address) if said.len() == own.len() && said[..head] == own[..head] => address,
            _ => return Err(OfiError::Elsewhere { pe, theirs: describe(said), ours: describe(own) }),
        };
        // SAFETY: as long as the address of an endpoint here, of the same provider, and not cut short.
        let found = unsafe { self.addresses.insert(address) };
        let found = found.map_err(|refused| self.refused(refused))?;
        self.peers[pe].store(found, Ordering::Relaxed);
        Ok(())
    }

    /// Where a PE is, for messages.
    pub(super) fn place_of(&self, pe: usize) -> String {
        let unknown = || "an unknown address".to_owned();
        // ofi_rxm does not survive being asked for what is not there.
        if !self.knows(pe) {
            return unknown();
        }
        // SAFETY: an address that the table has given (`learn`).
        unsafe { self.addresses.describe(self.peer(pe)) }.unwrap_or_else(unknown)
    }
}

/// Where each PE is found: nowhere yet.
pub(super) fn peers(pes: usize) -> Box<[AtomicU64]> {
    (0..pes).map(|_| AtomicU64::new(FI_ADDR_NOTAVAIL)).collect()
}

/// The provider and the kind of addresses in what a PE says of where it is.
fn describe(said: &[u8]) -> String {
    let mut parts = said.splitn(2, |byte| *byte == 0);
    let provider = String::from_utf8_lossy(parts.next().unwrap_or_default());
    format!("{provider} with addresses of {} bytes", parts.next().unwrap_or_default().len())
}

/// `FI_ADDR_NOTAVAIL`, which bindgen leaves out: a number with a cast.
const FI_ADDR_NOTAVAIL: fi_addr_t = u64::MAX;

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::provider::Options;
    use super::*;

    fn secret() -> Secret {
        Secret::of_bytes([1; Secret::BYTES])
    }

    fn options(provider: &str) -> Options {
        let (provider, interface) = (Some(provider.to_owned()), Some("lo".to_owned()));
        Options { provider, interface, ..Options::default() }
    }

    #[test]
    fn libfabric_is_not_asked_for_pes_that_it_does_not_know() {
        // SAFETY: no library is named: the system's.
        match unsafe { Chosen::find(&options("tcp;ofi_rxm")) } {
            Ok(chosen) => {
                assert_eq!(Domain::open(chosen, 2, secret()).unwrap().place_of(1), "an unknown address");
            }
            Err(why) => eprintln!("skipped: {why}"),
        }
    }

    #[test]
    fn addresses_of_another_provider_or_length_are_refused() {
        // SAFETY: no library is named: the system's.
        let domain = match unsafe { Chosen::find(&options("tcp;ofi_rxm")) } {
            Ok(chosen) => Domain::open(chosen, 4, secret()).unwrap(),
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
