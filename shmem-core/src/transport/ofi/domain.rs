//! State that all endpoints of a PE share: one interface's domain, and addresses of all PEs.
//!
//! An address is entered in the provider's table when its PE is first addressed: in a large job most pairs of PEs never
//! communicate. Some providers must know the address of each sender: all addresses are then entered at the start.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::error::OfiError;
use super::keys::JobKeys;
use super::provider::{Chosen, Demands};
use super::secret::Secret;
use super::sparse::Sparse;
use crate::exclusion::Mutex;
use crate::libfabric::bindings::fi_addr_t;
use crate::libfabric::{self, Addresses, Endpoint, Library, Refused};

#[derive(Debug)]
pub(super) struct Domain {
    pub(super) addresses: Arc<Addresses>,
    told: OnceLock<AddressTable>,
    entries: Entries,
    entering: Mutex<()>,
    pub(super) provider: String,
    pub(super) interface: String,
    pub(super) demands: Demands,
    pub(super) job_keys: JobKeys,
}

/// For each PE, index in the provider's table plus one; 0: its address is not entered yet.
pub(super) type Entries = Sparse<AtomicU64>;

impl Domain {
    pub(super) fn open(chosen: Chosen, pes: usize, secret: Secret) -> Result<Self, OfiError> {
        let Chosen { info, provider, domain: interface, demands } = chosen;
        let entry = info.first();
        let refused = |refused| OfiError::refused(entry.library(), &provider, refused);
        let opened = libfabric::Domain::open(entry).map_err(refused)?;
        // The table grows when addresses are entered later.
        let at_first = if demands.known.late { pes.min(FEW) } else { pes };
        let addresses = Addresses::open(&opened, at_first).map_err(refused)?;
        let (told, entries, entering) = (OnceLock::new(), Entries::new(pes), Mutex::default());
        let job_keys = JobKeys::new(secret, demands.key);
        Ok(Self { addresses, told, entries, entering, provider, interface, demands, job_keys })
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

    /// The provider's index of a PE, if its address was entered.
    #[inline(always)]
    pub(super) fn entered(&self, pe: usize) -> Option<fi_addr_t> {
        self.entries.get(pe)?.load(Ordering::Acquire).checked_sub(1)
    }

    /// Enters the address of a PE, and returns its index; `None`: the PE has no address.
    pub(super) fn enter(&self, pe: usize) -> Result<Option<fi_addr_t>, OfiError> {
        let Some(address) = self.told.get().and_then(|told| told.of(pe)) else { return Ok(None) };
        let _entering = self.entering.lock();
        if let Some(found) = self.entered(pe) {
            return Ok(Some(found));
        }
        // SAFETY: it has the length of an address here (`tell`), and is an address of the same provider: the caller of `tell` has
        // promised results of `address_in`.
        let found = unsafe { self.addresses.insert(address) };
        let found = found.map_err(|refused| self.refused(refused))?;
        self.entries.entry(pe).store(found + 1, Ordering::Release);
        Ok(Some(found))
    }

    /// The provider's name and the address of an endpoint, for [`address_in`](Self::address_in) on other PEs.
    pub(super) fn address_of(&self, endpoint: &Endpoint) -> Result<Vec<u8>, OfiError> {
        let name = endpoint.name().map_err(|refused| self.refused(refused))?;
        Ok([self.provider.as_bytes(), &[0], &name].concat())
    }

    /// Whether a PE has an address. Providers crash when they are asked to send to a PE without one.
    #[inline(always)]
    pub(super) fn knows(&self, pe: usize) -> bool {
        self.entered(pe).is_some() || self.told.get().is_some_and(|told| told.of(pe).is_some())
    }

    /// The number of PEs that are reached through the fabric.
    pub(super) fn peers_known(&self) -> usize {
        self.told.get().map_or(0, AddressTable::count)
    }

    /// The address in `said`, the result of [`address_of`](Self::address_of) on PE `pe`; `own` is the result here.
    pub(super) fn address_in<'s>(&self, pe: usize, said: &'s [u8], own: &[u8]) -> Result<&'s [u8], OfiError> {
        let head = self.provider.len() + 1;
        // Lengths must be equal: the provider reads as many bytes as an address of its own has.
        match said.get(head..) {
            Some(address) if said.len() == own.len() && said[..head] == own[..head] => Ok(address),
            _ => Err(elsewhere(pe, &describe(said), own)),
        }
    }

    /// Stores the addresses of all PEs, once. `own` is the result of [`address_of`](Self::address_of) here.
    ///
    /// # Safety
    ///
    /// Each address must be a result of [`address_in`](Self::address_in).
    pub(super) unsafe fn tell(&self, told: AddressTable, own: &[u8]) -> Result<(), OfiError> {
        let each = own.len() - self.provider.len() - 1;
        if told.each() != each {
            return Err(elsewhere(0, &format!("addresses of {} bytes", told.each()), own));
        }
        let told = self.told.get_or_init(|| told);
        if self.demands.known.late {
            return Ok(());
        }
        (0..told.len()).try_for_each(|pe| self.enter(pe).map(drop))
    }

    /// The address of a PE, for reports.
    pub(super) fn place_of(&self, pe: usize) -> String {
        // ofi_rxm crashes when asked for an entry that does not exist.
        let found = self.entered(pe).or_else(|| self.enter(pe).ok().flatten());
        // SAFETY: an entry that the table has returned (`enter`).
        let place = found.and_then(|found| unsafe { self.addresses.describe(found) });
        place.unwrap_or_else(|| "an unknown address".to_owned())
    }
}

/// The addresses of all PEs of a job, by number, all of one length, in memory that the PEs of a node may share. Zeroes: no address.
pub struct AddressTable {
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    each: usize,
}

impl AddressTable {
    /// Makes a table of consecutive addresses of `each` bytes.
    ///
    /// # Panics
    ///
    /// If `each` is 0.
    pub fn new(bytes: Box<dyn AsRef<[u8]> + Send + Sync>, each: usize) -> Self {
        assert!(each > 0, "an address has some bytes");
        Self { bytes, each }
    }

    pub(super) fn each(&self) -> usize {
        self.each
    }

    /// The address of a PE, if it has one.
    pub(super) fn of(&self, pe: usize) -> Option<&[u8]> {
        let address = (*self.bytes).as_ref().chunks_exact(self.each).nth(pe)?;
        address.iter().any(|byte| *byte != 0).then_some(address)
    }

    /// The number of PEs, with an address or without.
    pub(super) fn len(&self) -> usize {
        (*self.bytes).as_ref().len() / self.each
    }

    pub(super) fn count(&self) -> usize {
        (0..self.len()).filter(|pe| self.of(*pe).is_some()).count()
    }
}

impl fmt::Debug for AddressTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressTable").field("each", &self.each).finish_non_exhaustive()
    }
}

/// The error that another PE uses another provider, or addresses of another length.
fn elsewhere(pe: usize, theirs: &str, own: &[u8]) -> OfiError {
    OfiError::Unusable(format!(
        "PE {pe} is reached by {theirs}, and this one by {}: name a provider and a network that all hosts have \
         (SHMEM_OFI_PROVIDER, SHMEM_OFI_INTERFACE)",
        describe(own)
    ))
}

/// The provider and the length of the address in a result of [`Domain::address_of`].
fn describe(said: &[u8]) -> String {
    let mut parts = said.splitn(2, |byte| *byte == 0);
    let provider = String::from_utf8_lossy(parts.next().unwrap_or_default());
    format!("{provider} with addresses of {} bytes", parts.next().unwrap_or_default().len())
}

/// Room for addresses at the start, if they are entered one by one.
const FEW: usize = 64;

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::provider::Options;
    use super::*;

    #[test]
    fn addresses_of_another_provider_or_length_are_refused() {
        let (provider, interface) = (Some("tcp;ofi_rxm".to_owned()), Some("lo".to_owned()));
        let options = Options { provider, interface, ..Options::default() };
        // SAFETY: no library is named: the system's.
        let domain = match unsafe { Chosen::find(&options) } {
            Ok(chosen) => Domain::open(chosen, 4, Secret::of_bytes([1; Secret::BYTES])).unwrap(),
            Err(why) => return eprintln!("skipped: {why}"),
        };
        // libfabric is not asked for an entry that it does not have.
        assert_eq!(domain.place_of(1), "an unknown address");
        let four = |port: u8| [2, 0, 0, port, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let of = |provider: &str, address: &[u8]| [provider.as_bytes(), &[0], address].concat();
        let own = of("tcp;ofi_rxm", &four(1));
        let said = of("tcp;ofi_rxm", &four(2));
        assert_eq!(domain.address_in(1, &said, &own), Ok(&four(2)[..]));
        let theirs = [
            of("sockets", &four(2)),
            of("tcp;ofi_rxm", &[four(2).as_slice(), &four(2)].concat()),
            of("tcp;ofi_rxm", &[2]),
            b"tcp;of".to_vec(),
            Vec::new(),
        ];
        for said in theirs {
            let error = domain.address_in(3, &said, &own).unwrap_err().to_string();
            assert!(error.starts_with("PE 3 is reached by ") && error.contains(&describe(&own)), "{error}");
        }
        let cut = AddressTable::new(Box::new(vec![1; 60]), 15);
        // SAFETY: it is refused.
        let error = unsafe { domain.tell(cut, &own) }.unwrap_err().to_string();
        assert!(error.contains("addresses of 15 bytes"), "{error}");
        let told = [[0; 16], four(2), [0; 16], [0; 16]].concat();
        // SAFETY: `address_in` has found it.
        unsafe { domain.tell(AddressTable::new(Box::new(told), 16), &own) }.unwrap();
        assert_eq!((domain.peers_known(), domain.knows(1), domain.knows(3)), (1, true, false));
        assert_eq!(domain.entered(1), None, "nobody has addressed it");
        assert_eq!(domain.place_of(3), "an unknown address");
        assert!(domain.place_of(1).contains("127.0.0.1"), "{}", domain.place_of(1));
        assert!(domain.entered(1).is_some());
    }
}
