//! A provider opened by hand, and memory that another process may reach through it.

use std::ffi::c_void;
use std::sync::Arc;

use memmap2::MmapMut;
use shmem_core::libfabric::bindings::{
    FI_ATOMIC, FI_MR_ALLOCATED, FI_MR_LOCAL, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_READ, FI_REMOTE_READ,
    FI_REMOTE_WRITE, FI_RMA, FI_WRITE, fi_addr_t,
};
use shmem_core::libfabric::{Addresses, Domain, Hints, Library, LibraryError, Refused, Registration};

use super::Lane;

/// The key under which memory is registered where the provider takes ours.
const KEY: u64 = 0xBA5E;

/// Bytes of a [`card`](Bare::card) at most.
pub(crate) const CARD: usize = 256;

/// Why the bare program cannot run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BareError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error("{call} of provider `{provider}` failed: {why}")]
    Call { call: &'static str, provider: String, why: String },
    #[error("no memory to measure with: {0}")]
    Memory(#[from] std::io::Error),
    /// What another process said of itself is not what this one says of itself.
    #[error("a PE said {0} bytes of itself, which is no address and no key")]
    Card(usize),
}

/// A provider with a domain and a table of addresses, and memory that is registered with it.
///
/// One for each process; its endpoints are [`Lane`]s.
#[derive(Debug)]
pub(crate) struct Bare {
    provider: String,
    inject_size: usize,
    memory: Memory,
    addresses: Arc<Addresses>,
}

/// Memory that is registered. Fields are closed in order.
#[derive(Debug)]
struct Memory {
    registration: Registration,
    /// Mapped for as long as it is registered; reached through the pointer alone.
    _map: MmapMut,
    start: *mut u8,
    bytes: usize,
    /// What other processes count from.
    base: u64,
    /// What the provider wants to be told of it.
    description: *mut c_void,
}

// SAFETY: the memory belongs to no thread; it is read and written through the pointer, by whoever the measure says.
unsafe impl Send for Memory {}
// SAFETY: the memory belongs to no thread; it is read and written through the pointer, by whoever the measure says.
unsafe impl Sync for Memory {}

/// Another process, as an operation names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(super) address: fi_addr_t,
    /// What its memory begins at: an address, or 0 where providers count from the start.
    pub(super) base: u64,
    pub(super) key: u64,
}

impl Bare {
    /// Opens a provider of a libfabric, or the system's, on an interface, or on the first that it names, and
    /// registers `bytes` bytes.
    pub(crate) fn open(
        library: Option<&str>,
        provider: &str,
        interface: Option<&str>,
        bytes: usize,
    ) -> Result<Arc<Self>, BareError> {
        // SAFETY: who runs the measurement names its libfabric.
        let library = unsafe { Library::load(library) }?;
        let failed = |refused| BareError::new(library, provider, refused);
        let asked = Hints {
            capabilities: u64::from(FI_RMA | FI_ATOMIC),
            registration: FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
            provider: Some(provider),
            ..Hints::default()
        };
        let offers = library.offers(&asked).map_err(failed)?;
        let domain = offers.on(interface).and_then(Domain::open).map_err(failed)?;
        let addresses = Addresses::open(&domain, 0).map_err(failed)?;
        let mut map = MmapMut::map_anon(bytes)?;
        let start = map.as_mut_ptr();
        let access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
        // SAFETY: unmapped behind the registration (`Memory`), and reached through pointers alone.
        let registration =
            unsafe { Registration::new(&domain, (start, bytes), access, KEY) }.map_err(failed)?;
        let entry = domain.entry();
        let counts_addresses = entry.domain().mr_mode.cast_unsigned() & FI_MR_VIRT_ADDR != 0;
        let base = if counts_addresses { start as u64 } else { 0 };
        let description = registration.description();
        let memory = Memory { registration, _map: map, start, bytes, base, description };
        let (provider, inject_size) = (provider.to_owned(), entry.transmit().inject_size);
        Ok(Arc::new(Self { provider, inject_size, memory, addresses }))
    }

    /// What other processes need to reach this one through `lane`.
    pub(crate) fn card(&self, lane: &Lane) -> Result<Vec<u8>, BareError> {
        let (base, key) = (self.memory.base, self.memory.registration.key());
        let name = lane.name()?;
        let card = [&[name.len() as u8][..], &base.to_le_bytes(), &key.to_le_bytes(), &name].concat();
        if card.len() > CARD { Err(BareError::Card(card.len())) } else { Ok(card) }
    }

    /// Takes the card of another process; what lies behind it does not count.
    pub(crate) fn meet(&self, card: &[u8]) -> Result<Peer, BareError> {
        let malformed = || BareError::Card(card.len());
        let ([length], rest) = card.split_first_chunk().ok_or_else(malformed)?;
        let (base, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
        let (key, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
        let name = rest.get(..usize::from(*length)).ok_or_else(malformed)?;
        // SAFETY: an address, whole, as an endpoint of the same provider in another process gave it.
        let address = unsafe { self.addresses.insert(name) }.map_err(|refused| self.failed(refused))?;
        Ok(Peer { address, base: u64::from_le_bytes(*base), key: u64::from_le_bytes(*key) })
    }

    /// Bytes that are registered.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes
    }

    /// Where `bytes` bytes at an offset lie.
    #[inline]
    pub(super) fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset + bytes <= self.memory.bytes, "{bytes} bytes at {offset} of {}", self.memory.bytes);
        self.memory.start.wrapping_add(offset)
    }

    /// The word at an offset, as it is now.
    pub(crate) fn word(&self, offset: usize) -> u64 {
        let word: *const u64 = self.at(offset, 8).cast();
        assert!(word.is_aligned(), "the word at {offset} is not aligned");
        // SAFETY: mapped and aligned. Volatile: others change it.
        unsafe { word.read_volatile() }
    }

    /// Sets so many bytes from an offset on.
    pub(super) fn fill(&self, offset: usize, bytes: usize, value: u8) {
        // SAFETY: mapped (`at`), and reached through pointers only; no operation that reads them is under way.
        unsafe { self.at(offset, bytes).write_bytes(value, bytes) };
    }

    /// Sets the word at an offset.
    pub(super) fn set_word(&self, offset: usize, value: u64) {
        let word: *mut u64 = self.at(offset, 8).cast();
        assert!(word.is_aligned(), "the word at {offset} is not aligned");
        // SAFETY: mapped, aligned, and reached through pointers only. Volatile: the provider reads it.
        unsafe { word.write_volatile(value) };
    }

    /// The addresses that endpoints are to know.
    pub(super) fn addresses(&self) -> &Arc<Addresses> {
        &self.addresses
    }

    /// What the provider wants to be told of local memory.
    pub(super) fn descriptor(&self) -> *mut c_void {
        self.memory.description
    }

    /// Bytes that it may be handed without their being kept.
    pub(super) fn inject_size(&self) -> usize {
        self.inject_size
    }

    /// The error of a call that was refused.
    pub(super) fn failed(&self, refused: Refused) -> BareError {
        BareError::new(self.addresses.domain().library(), &self.provider, refused)
    }

    /// The error of an operation that has given `answer`.
    pub(super) fn gone_wrong(&self, call: &'static str, answer: i64) -> BareError {
        let why = self.addresses.domain().library().describe(answer);
        BareError::Call { call, provider: self.provider.clone(), why }
    }
}

impl BareError {
    fn new(library: &Library, provider: &str, refused: Refused) -> Self {
        Self::Call { call: refused.call, provider: provider.to_owned(), why: refused.describe(library) }
    }
}
