//! State that all endpoints of a PE share: the domain of one interface, and the addresses of all PEs.
//!
//! An address is entered in the provider's table when its PE is first addressed, because in a large job most pairs of PEs never
//! communicate. If the provider must know the address of each sender, all addresses are entered at the start.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::error::OfiError;
use super::interface::Offer;
use super::job_secret::Secret;
use super::keys::JobKeys;
use super::provider::Demands;
use super::sparse::Sparse;
use crate::exclusion::Mutex;
use crate::libfabric::bindings::fi_addr_t;
use crate::libfabric::{self, Addresses, Info, Library, Refused};

pub(super) struct Domain {
    pub(super) addresses: Arc<Addresses>,
    pub(super) told: OnceLock<AddressTable>,
    entries: Entries,
    entering: Mutex<()>,
    pub(super) provider: String,
    pub(super) interface: String,
    pub(super) demands: Demands,
    pub(super) job_keys: JobKeys,
}

/// For each PE, the index of its address in the provider's table plus one; 0: the address is not entered yet.
pub(super) type Entries = Sparse<AtomicU64>;

impl Domain {
    pub(super) fn open(
        (info, offer, demands): (Info, Offer, Demands),
        pes: usize,
        secret: Secret,
    ) -> Result<Self, OfiError> {
        let Offer { provider, interface, .. } = offer;
        let entry = info.first();
        let refused = |refused| OfiError::refused(entry.library(), &provider, refused);
        let opened = libfabric::Domain::open(entry).map_err(refused)?;
        // A small table is enough at first, because it grows when more addresses are entered.
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

    /// The index of a PE's address in the provider's table, if the address was entered.
    #[inline(always)]
    pub(super) fn entered(&self, pe: usize) -> Option<fi_addr_t> {
        self.entries.get(pe)?.load(Ordering::Acquire).checked_sub(1)
    }

    /// Enters the address of a PE in the provider's table, and returns its index; `None`: the PE has no address.
    pub(super) fn enter(&self, pe: usize) -> Result<Option<fi_addr_t>, OfiError> {
        let Some(address) = self.told.get().and_then(|told| told.of(pe)) else { return Ok(None) };
        let _entering = self.entering.lock();
        if let Some(found) = self.entered(pe) {
            return Ok(Some(found));
        }
        // SAFETY: `address` has the length of this provider's addresses (`connect`), and is one of them, because the caller of
        // `connect` has promised results of `address_in`.
        let found = unsafe { self.addresses.insert(address) };
        let found = found.map_err(|refused| self.refused(refused))?;
        self.entries.entry(pe).store(found + 1, Ordering::Release);
        Ok(Some(found))
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

    /// The address of a PE as text, for reports.
    pub(super) fn place_of(&self, pe: usize) -> String {
        // Entered first, because ofi_rxm crashes when it describes an index that does not exist.
        let found = self.entered(pe).or_else(|| self.enter(pe).ok().flatten());
        // SAFETY: `found` is an index that the table has returned (`enter`).
        let place = found.and_then(|found| unsafe { self.addresses.describe(found) });
        place.unwrap_or_else(|| "an unknown address".to_owned())
    }
}

/// The addresses of all PEs of a job, by number, all of one length; zeroes: no address. The PEs of a node may share the memory.
pub struct AddressTable {
    bytes: Box<dyn AsRef<[u8]> + Send + Sync>,
    pub(super) each: usize,
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

/// The error that another PE uses another provider, or addresses of another length.
pub(super) fn elsewhere(pe: usize, theirs: &str, own: &[u8]) -> OfiError {
    OfiError(format!(
        "PE {pe} is reached by {theirs}, and this one by {}: name a provider and a network that all hosts have \
         (SHMEM_OFI_PROVIDER, SHMEM_OFI_INTERFACE)",
        describe(own)
    ))
}

/// Describes the provider and the address length of a result of [`Ofi::address`](super::Ofi::address), for error texts.
pub(super) fn describe(said: &[u8]) -> String {
    let mut parts = said.splitn(2, |byte| *byte == 0);
    let provider = String::from_utf8_lossy(parts.next().unwrap_or_default());
    format!("{provider} with addresses of {} bytes", parts.next().unwrap_or_default().len())
}

/// Initial capacity of the provider's table, if addresses are entered on first use.
const FEW: usize = 64;
